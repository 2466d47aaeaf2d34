"""When a host may be requested: robots.txt, throttling, overload. The gate is in frontier/."""
