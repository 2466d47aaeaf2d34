"""From a response to a Page."""
