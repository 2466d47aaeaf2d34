"""The site spider: its arguments, seeds and redirects."""
