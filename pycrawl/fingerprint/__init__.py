"""What a text is recognised by, from one tokenisation: exact digest, shingles, sketch, simhash.

    text ─► words ─┬─► text digest                       the same words in the same order?
                   ├─► windows of 4 words ─┬─► sketch    how many windows are shared? (its bands find candidates)
                   │                       └─► 0 mod p   a few fingerprints for an inverted index
                   └─► simhash                           nearly the same words, however ordered?

Everything is the same on every machine and in every version that can read the same state: fingerprints are stored.
"""

from pycrawl.fingerprint.page import PageFingerprints, of_text, of_words
from pycrawl.fingerprint.shingle import SHINGLE_WORDS, select_mod, shingles, windows
from pycrawl.fingerprint.simhash import distances, simhash, simhash_vector
from pycrawl.fingerprint.simhash_index import SimhashIndex
from pycrawl.fingerprint.sketch import (
    BANDS,
    ROWS,
    bands,
    resemblance,
    resemblances,
    sketch,
    unpack_sketch,
)
from pycrawl.fingerprint.words import Words, split, text_digest, tokens
from pycrawl.prints import SKETCH_SIZE

__all__ = [
    "BANDS",
    "ROWS",
    "SHINGLE_WORDS",
    "SKETCH_SIZE",
    "PageFingerprints",
    "SimhashIndex",
    "Words",
    "bands",
    "distances",
    "of_text",
    "of_words",
    "resemblance",
    "resemblances",
    "select_mod",
    "shingles",
    "simhash",
    "simhash_vector",
    "sketch",
    "split",
    "text_digest",
    "tokens",
    "unpack_sketch",
    "windows",
]
