"""When a host may be touched: robots.txt, throttling; and the fetch. The gate is the frontier's."""
