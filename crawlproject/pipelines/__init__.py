"""Room for item pipelines: a Page passes them before it is written."""
