"""The compiled hot path (`native/*.c`); `pycrawl.native.compiled` is this module, or None where it was not built."""

from collections.abc import Callable
from typing import Any

SOURCES: str  # the digest of the C files it was built from (`sources.py`); "": compiled by hand

def words(text: str | bytes, fold: Any = ..., alone: Any = ..., /) -> tuple[bytes, bytes]:
    """Of a text in UTF-8: the hashes of its words, eight bytes each, and for each whether it begins with a digit.

    Without tables (`fingerprint/words.py` has them) the text must be ASCII.
    """

def prints(hashes: Any, size: int, one_in: int, most: int, /) -> tuple[bytes, int, bytes]:
    """Of hashed words: a sketch of so many places, the simhash, and of the windows of four words that are 0 mod
    `one_in`, a power of two, the smallest, up to `most`, distinct and ascending."""

def pairs(hashes: Any, numerals: Any, dropped: Any, most: int, /) -> bytes:
    """The smallest pairs of words in a row, up to `most`, distinct and ascending; words that begin with a digit, or
    whose hash modulo the table's length is marked in `dropped`, are left out before."""

def scan(
    markup: str | bytes,
    hrefs: dict[str, None],
    element: Callable[[str, dict[str, str]], object],
    wants_text: bool,
    content: int,
    anchors: list[str] | None,
    most_anchors: int,
    longest_anchor: int,
    /,
) -> tuple[str, str, bytes, bytes, bytes]:
    """Title, text, main content of a page, this in UTF-8 (`content` 0: not wanted, 1: found by its rules, 2: all text),
    texts and flags of its links as in `Anchors`; empty where they are not wanted. Markup in bytes must be well-formed
    UTF-8.

    Links go into `hrefs`, in the document's order; `element` is called for what else may matter to a crawler: html with
    lang, base, link, meta, iframe, frame, and links with rel=nofollow. `anchors`, if wanted, takes the URLs of the
    first `most_anchors` links that have a place in the text; their texts are cut to `longest_anchor` bytes.
    """

def is_plain_pickle(data: Any, /) -> bool:
    """Is a pickle made of plain values only? `processes/plain_pickle.py` says which those are."""

def scan_body(body: Any, /) -> int:
    """The flags of `body_scan.py`."""

def places_in_runs(keys: Any, runs: list[tuple[int, Any, Any, Any, Any]], /) -> list[bytes]:
    """For each run, the places of those keys (uint64) that it may have, as int64. A run is: the lowest key of a live
    entry, the first keys of its segments, their filters one behind the other, where each begins, and how many bytes it
    has; without filters, the last two are empty."""

def unpack_ids(block: bytes, /) -> tuple[bytes, bytes]:
    """The keys (uint64) and ids (uint32) of a packed block, as `IdEntries.pack` makes it. Raises ValueError for what is
    none."""

def find_ids(
    block: bytes, keys: Any, begin: int, end: int, floor_key: int, floor_id: int, most: int, /
) -> tuple[bytes, bytes] | None:
    """Looks `keys[begin:end]` (uint64, ascending) up in a packed block, among entries behind (floor key, floor id).
    Returns the places in `keys` (int64) and beside them the ids (uint32): at most `most` of each, ascending. None:
    there are none. Raises ValueError for what is no such block, or damaged where it was looked at."""

def pack_ids(keys: Any, ids: Any, /) -> bytes:
    """A block of at most 65,535 keys (uint64), which must ascend, each with an id (uint32)."""

def look_up(hashes: Any, ids: Any, wanted: Any, found: Any, /) -> None:
    """Sets `found[i]` (uint32) to the id of `wanted[i]`, where that is among `hashes` (uint64, ascending), which have
    the `ids` (uint32) beside them. It is quick where hashes are evenly spread."""

def merged_hashes(hashes: Any, ids: Any, more_hashes: Any, more_ids: Any, /) -> tuple[bytes, bytes]:
    """All hashes (uint64) of two ascending arrays in one, and beside them their ids (uint32). Of equal hashes that of
    `more_hashes` is the first."""

def set_entities(entities: dict[str, str], /) -> None: ...
def set_content_rules(*constants: Any) -> None:
    """Takes the constants of `parse/frames.py` and `parse/text.py`, in the order that `parse/html.py` gives them."""

def set_frame_names(*words: Any) -> None:
    """Takes the words of `parse/frame_names.py`, in the order that `parse/html.py` gives them."""

class LinkCache:
    """What links came to, by their text (`parse/link_cache.py` says what the methods do)."""

    def __init__(self, entries: int, first_secret: int, second_secret: int, /) -> None: ...
    def look(
        self, hrefs: list[str], home: str, folder: str, skips_empty: bool, own: int, /
    ) -> tuple[bytes, bytes, list[str]]: ...
    def anchors(
        self,
        hrefs: list[str],
        texts: bytes,
        flags: bytes,
        home: str,
        folder: str,
        skips_empty: bool,
        resolved: dict[str, int],
        links: bytes,
        /,
    ) -> tuple[bytes, bytes, bytes, bytes]: ...
    def add(self, text: str, value: int, /) -> None: ...
