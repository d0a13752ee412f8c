"""Loads the model that tells languages when this module is imported: for a server that worker processes are forked off,
so that they share its memory and do not each take a second to load it."""

from pycrawl.parse.language import load_model

load_model()
