"""The one spelling of a URL, and the links of a page."""
