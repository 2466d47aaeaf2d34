"""What a user sees of a crawl: the live line, the summary, the log."""
