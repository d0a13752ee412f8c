from __future__ import annotations

import gzip
import zlib
from itertools import pairwise

import brotli
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.fetch.decoding import Body

PACKERS = {b"gzip": gzip.compress, b"deflate": zlib.compress, b"br": brotli.compress}


@given(
    st.sampled_from(sorted(PACKERS)),
    st.lists(st.binary(max_size=30), min_size=1, max_size=3),
    st.lists(st.integers(0, 200), max_size=6),
)
def test_a_body_may_come_in_any_pieces(name: bytes, texts: list[bytes], cuts: list[int]) -> None:
    """Also cut in the middle of the two bytes with which a further gzip member begins."""
    members = texts if name == b"gzip" else [b"".join(texts)]
    encoded = b"".join(PACKERS[name](text) for text in members)
    body = Body(name, 1_000)
    places = [0, *sorted(cuts), len(encoded)]
    for start, end in pairwise(places):
        assert body.feed(encoded[start:end])
    assert body.end() == b"".join(texts)
    assert not body.damage


def test_members_byte_by_byte() -> None:
    body = Body(b"gzip", 1_000)
    for byte in gzip.compress(b"one ") + gzip.compress(b"two"):
        assert body.feed(bytes((byte,)))
    assert body.end() == b"one two"
    assert not body.damage
