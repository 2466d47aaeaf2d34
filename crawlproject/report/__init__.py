"""What crawls have to say to readers: what has changed between two of them (``diff``)."""
