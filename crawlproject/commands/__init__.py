"""Commands of this project: ``scrapy crawl``, with errors that fit on a line."""
