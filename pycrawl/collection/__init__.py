"""What reads a crawl: `verify`, `audit`, near-duplicates. Nothing here writes."""
