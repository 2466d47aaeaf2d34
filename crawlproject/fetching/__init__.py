"""HTTP download handler: connections, resolver, address guard, decoding, size and time limits."""
