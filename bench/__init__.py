"""``./scripts/bench``: how fast the crawler is, compared with others, on this machine."""
