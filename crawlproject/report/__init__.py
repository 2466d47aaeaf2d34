"""The report: what came out of a crawl, for people, as one HTML file.

``survey`` reads a crawl directory, one module for each theme makes lists of it (``lists``), and
``document`` writes them into the page in ``page/``. ``exporter`` is the door for ``-O``.
"""
