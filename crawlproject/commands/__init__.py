"""Commands of this project: ``scrapy crawl``, and ``why``, ``frontier``, ``skipped`` to look into
a crawl directory, with errors that fit on a line.
"""
