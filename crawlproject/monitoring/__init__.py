"""What is seen of a crawl: live line, summary, log; and for others, snapshots and metrics."""
