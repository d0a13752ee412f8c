"""The fingerprints of a page's text as fetchers send them: a record of fixed length, and the selected passages.

`fingerprint/__init__.py` says what they mean. With the compiled module this does not import numpy, which takes a tenth
of a second to load.
"""

from __future__ import annotations

import struct

import xxhash

from pycrawl.fingerprint.word_table import hashed
from pycrawl.native import compiled

SKETCH_SIZE = 200  # values; part of the stored format
ONE_IN = 16  # windows is selected; a power of two. 100 words have about six such, and three or more 19 times in 20
MOST_PASSAGES = 128  # selected windows kept of a text, the smallest: all of a text of up to some 2,000 words

RECORD = struct.Struct(f"<16sQI{SKETCH_SIZE}s")  # text digest, simhash, words, sketch


def packed(text: str | bytes, seed: int) -> tuple[bytes, bytes]:
    """Returns the record and the passages (uint64, distinct, ascending) of a text, given as str or UTF-8; both are
    empty if it has no words.

    `seed` is the crawl's own, and changes the digest only; all other fingerprints are the same in all crawls.
    """
    if compiled is None:
        from pycrawl.fingerprint.packed import packed_by_numpy

        return packed_by_numpy(text.decode() if isinstance(text, bytes) else text, seed)
    hashes, numerals = hashed(text)
    if not hashes:
        return b"", b""
    sketch, simhash, passages = compiled.prints(hashes, SKETCH_SIZE, ONE_IN, MOST_PASSAGES)
    record = RECORD.pack(xxhash.xxh3_128_digest(hashes, seed), simhash, len(numerals), sketch)
    return record, passages
