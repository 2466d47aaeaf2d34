"""Pipelines: what is done with a page before it is committed.

- ``store``: keeps the body of every answer (``blobs``, ``places``, ``remote``) and what came with
  it (``stored``).
"""
