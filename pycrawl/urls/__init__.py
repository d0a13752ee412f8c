"""URLs: the normal form, the parts of a normalised URL, the scope of a crawl, and the settings of single hosts."""
