"""BibTeX files and a language filter for pycrawl."""
