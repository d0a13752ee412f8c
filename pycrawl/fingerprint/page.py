"""All fingerprints of a page's text."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.fingerprint.page_prints import RECORD, packed
from pycrawl.fingerprint.shingle import windows
from pycrawl.fingerprint.simhash import simhash
from pycrawl.fingerprint.sketch import pack_sketch, sketch
from pycrawl.fingerprint.words import Words, split
from pycrawl.native import compiled


@dataclass(frozen=True, slots=True)
class PageFingerprints:
    """What fetchers send and state keeps of a text; a page without words says nothing of what it resembles."""

    text_digest: bytes  # 16 bytes
    sketch: bytes  # `unpack_sketch` gives the array
    simhash: int  # 64 bits, unsigned
    words: int

    def __reduce__(self) -> tuple[type[PageFingerprints], tuple[bytes, bytes, int, int]]:
        """As the call of the constructor: four times as fast as what slotted dataclasses do by default."""
        return PageFingerprints, (self.text_digest, self.sketch, self.simhash, self.words)


def of_text(text: str, seed: int = 0) -> PageFingerprints:
    """`seed` is that of the digests of this crawl; the other fingerprints are the same in all crawls."""
    if compiled is not None and (record := packed(text, seed)[0]):
        text_digest, bits, words, values = RECORD.unpack(record)
        return PageFingerprints(text_digest, values, bits, words)
    return of_words(split(text), seed)


def of_words(words: Words, seed: int = 0) -> PageFingerprints:
    """The same, for who has use for the words too."""
    hashes = words.hashes
    return PageFingerprints(words.digest(seed), pack_sketch(sketch(windows(hashes))), simhash(hashes), len(hashes))
