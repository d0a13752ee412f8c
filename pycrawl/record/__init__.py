"""A TREC Web record: bytes to values and back."""
