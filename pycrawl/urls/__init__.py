"""URLs: the normal form, the parts of a normalised URL, and the scope of a crawl."""
