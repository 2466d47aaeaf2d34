"""What sites say of their own URLs: sitemaps and feeds."""
