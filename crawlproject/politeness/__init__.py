"""When a host may be touched: robots.txt, throttling. The gate itself is the frontier's."""
