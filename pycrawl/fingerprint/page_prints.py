"""The fingerprints of a page's text as fetchers send them: a record of fixed length, and the selected passages.

What they mean, `fingerprint/` says. Knows nothing of numpy, which takes a tenth of a second to load, unless there is no
compiled module.
"""

from __future__ import annotations

import struct

import xxhash

from pycrawl.fingerprint.word_table import hashed
from pycrawl.native import compiled

SKETCH_SIZE = 200
ONE_IN = 16  # windows; a power of two. A passage of 100 words has about six of them, and three or more 19 times in 20
MOST_PASSAGES = 128  # kept of a text, the smallest: all of up to some 2,000 words

RECORD = struct.Struct(f"<16sQI{SKETCH_SIZE * 2}s")  # text digest, simhash, words, sketch


def packed(text: str | bytes, seed: int) -> tuple[bytes, bytes]:
    """Record and passages (uint64, distinct, ascending) of a text, which may be given in UTF-8; of one without words
    there are none.

    `seed` is that of the digests of this crawl; the other fingerprints are the same in all crawls.
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
