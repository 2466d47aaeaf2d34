"""What has changed between two crawls: ``scrapy diff A B``.

Both are read page by page, by URL, and laid side by side; what differs goes to disk. So memory does
not grow with the pages, and what is said first may be found last.

| module | what it does |
|---|---|
| ``fields`` | what of a page is compared, and the kinds of differences |
| ``facts`` | a page, reduced to that, and checked |
| ``json_text`` | JSON of any size and layout, value by value |
| ``opening`` | what the user names, as a side |
| ``sides`` | one of the two: a file (``files``) or a crawl (``crawls``) |
| ``merge`` | two sides, side by side |
| ``comparing`` | what has changed on a page |
| ``findings`` | the differences, on disk |
| ``moved`` | which of the pages that are gone are elsewhere now |
| ``comparison`` | all of these, one after the other |
| ``words`` | the differences in words |
| ``as_json``, ``as_csv``, ``as_html`` with ``html_rows`` | … and in files |
"""
