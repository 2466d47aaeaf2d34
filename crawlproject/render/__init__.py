"""Pages that are made by scripts, as a browser shows them. An extra, off by default.

A page is fetched as every other. If there is nothing to read in it and it looks as if scripts
were to fill it, the answer is given to a Chromium, and links, title and text come from what
the scripts have made of it. The browser has no network: whatever a page asks for comes through
the crawl's own fetch, with its limits, and is part of the page's turn at its host.
"""

# The flag of a response that scripts have had a part in.
RENDERED = "rendered"
# Why a crawl ends whose browser does not start.
NO_BROWSER = "browser"
