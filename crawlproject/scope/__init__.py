"""Which URLs belong to the crawl, and why one does not."""
