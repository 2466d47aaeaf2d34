"""Exports: from pages to files.

- ``sitemap_json``: the crawl as one document, sorted: same site, same bytes.
- ``pages_jsonl``: a line a page, as it arrives.
- ``pages_csv``: a table for spreadsheets, sorted.
- ``sitemap_xml``: a sitemap for search engines (sitemaps.org), sorted.
- ``pages_warc``: an archive of all answers, from the store of bodies (``warc_records``,
  ``warc_text``).
- ``pages_parquet``: a table with types (``columns``), sorted.

Below them: ``formats`` (which output is which), ``feeds`` (from the crawl directory to the
formats), ``sorted_pages`` (what the sorted ones share), ``spill`` (sorting on disk) and
``files`` (what a feed's file can do).

A *page* is an item that has a ``url`` and a ``status_code``. Other items, which a team's
spider or pipeline may bring, are never lost: each format says where they go.
"""
