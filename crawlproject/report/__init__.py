"""What crawls have to say to readers: the report of one, what has changed between two (``diff``).

``survey`` reads a crawl directory, one module for each theme makes lists of it (``lists``), and
``document`` writes them into the page in ``page/``. ``exporter`` is the door for ``-O``.
"""
