"""Item pipelines: what is done with a page before it is committed.

- ``duplicates``: records what a page can be compared by (``parameters``). Near-duplicates are found
  at the end of the crawl (``clusters``, ``bands``, ``firsts``) and marked in the outputs
  (``marking``); other items are compared as they arrive (``streaming``). ``minhash`` hands the
  signatures to datasketch.
- ``store``: keeps the body of every response (``blobs``, ``places``, ``remote``) and what came with
  it (``stored``).
"""
