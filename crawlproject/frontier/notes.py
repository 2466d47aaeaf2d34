"""The names of what a crawl remembers of itself."""

from __future__ import annotations

# The fields that pipelines have added to pages.
ADDED_FIELDS = "added fields"
# The seeds of all runs.
SEEDS = "seeds"
# Hosts that seeds have led to.
WIDENED = "widened"
# When the first run began.
STARTED_AT = "started at"
