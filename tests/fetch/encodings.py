"""Resources of the fault server whose Content-Encoding is right, wrong, broken, nested or a bomb."""

from __future__ import annotations

import gzip
import random
import zlib
from functools import lru_cache

import brotli

from tests.fetch.faults import PAGE, Visit, fault

BOMB_BYTES = 1_000_000_000


@fault
def gzipped(visit: Visit) -> None:
    visit.answer(gzip.compress(PAGE), b"Content-Encoding: gzip")


@fault
def brotli_coded(visit: Visit) -> None:
    visit.answer(brotli.compress(PAGE), b"Content-Encoding: br")


HUGE_PAGE = b"<html>" + b"a page that compresses well. " * 10_000


@fault
def brotli_coded_well(visit: Visit) -> None:
    visit.answer(brotli.compress(HUGE_PAGE), b"Content-Encoding: br")


@fault
def gzipped_well(visit: Visit) -> None:
    visit.answer(gzip.compress(HUGE_PAGE), b"Content-Encoding: gzip")


@fault
def deflated(visit: Visit) -> None:
    visit.answer(zlib.compress(PAGE), b"Content-Encoding: deflate")


@fault
def deflated_raw(visit: Visit) -> None:
    visit.answer(zlib.compress(PAGE, wbits=-15), b"Content-Encoding: deflate")


@fault
def gzip_of_two_members(visit: Visit) -> None:
    visit.answer(gzip.compress(PAGE[:1000]) + gzip.compress(PAGE[1000:]), b"Content-Encoding: gzip")


@fault
def gzip_and_more(visit: Visit) -> None:
    visit.answer(gzip.compress(PAGE) + b"\r\n<!-- cached -->", b"Content-Encoding: gzip")


@fault
def encoded_twice(visit: Visit) -> None:
    visit.answer(brotli.compress(gzip.compress(PAGE)), b"Content-Encoding: gzip, br")


@fault
def encoded_twice_in_two_lines(visit: Visit) -> None:
    visit.answer(gzip.compress(zlib.compress(PAGE)), b"Content-Encoding: deflate", b"Content-Encoding: x-gzip")


@fault
def encoding_none(visit: Visit) -> None:
    visit.answer(PAGE, b"Content-Encoding: none, identity")


@lru_cache
def deflate_bomb_stream(window_bits: int, content: bytes = b"\0") -> bytes:
    """A megabyte of content ends in a full flush, so that its code can be repeated."""
    megabyte = content * (1_000_000 // len(content))
    packer = zlib.compressobj(9, wbits=window_bits)
    start = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(megabyte) + packer.flush(zlib.Z_FULL_FLUSH)
    return start + block * (BOMB_BYTES // len(megabyte))


@lru_cache
def brotli_bomb_stream() -> bytes:
    packer = brotli.Compressor(quality=1)
    return b"".join(packer.process(bytes(10_000_000)) for _ in range(BOMB_BYTES // 10_000_000)) + bytes(packer.finish())


@fault
def gzip_bomb(visit: Visit) -> None:
    visit.answer(deflate_bomb_stream(31), b"Content-Encoding: gzip")


@fault
def deflate_bomb(visit: Visit) -> None:
    visit.answer(deflate_bomb_stream(15), b"Content-Encoding: deflate")


@fault
def brotli_bomb(visit: Visit) -> None:
    visit.answer(brotli_bomb_stream(), b"Content-Encoding: br")


@fault
def nested_bomb(visit: Visit) -> None:
    visit.answer(gzip.compress(deflate_bomb_stream(31)), b"Content-Encoding: gzip, gzip")


@fault
def hollow_bomb(visit: Visit) -> None:
    """The outer encoding makes a gigabyte of empty blocks for the inner one, which makes nothing of them."""
    visit.answer(deflate_bomb_stream(31, b"\0\0\0\xff\xff"), b"Content-Encoding: deflate, gzip")


@fault
def gzip_endless_and_empty(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n")
    visit.send(gzip.compress(b"")[:10])
    while not visit.server.closing:
        visit.send(b"\0\0\0\xff\xff" * 10_000)


NOISE = random.Random(5).randbytes(40_000)  # compresses to about itself, so that a break can be placed
LETTERS = bytes(byte & 15 for byte in NOISE)  # gets a Huffman code, which a break hits


def damaged(packed: bytes) -> bytes:
    middle = len(packed) // 2
    return packed[:middle] + b"\xff" * 2000 + packed[middle + 2000 :]


@fault
def gzip_truncated(visit: Visit) -> None:
    visit.answer(gzip.compress(PAGE)[:-20], b"Content-Encoding: gzip")


@fault
def deflate_truncated(visit: Visit) -> None:
    visit.answer(zlib.compress(NOISE)[:30_000], b"Content-Encoding: deflate")


@fault
def brotli_truncated(visit: Visit) -> None:
    visit.answer(brotli.compress(NOISE)[:30_000], b"Content-Encoding: br")


@fault
def gzip_wrong_checksum(visit: Visit) -> None:
    visit.answer(gzip.compress(NOISE)[:-8] + bytes(8), b"Content-Encoding: gzip")


@fault
def gzip_broken(visit: Visit) -> None:
    visit.answer(damaged(gzip.compress(LETTERS)), b"Content-Encoding: gzip")


@fault
def brotli_broken(visit: Visit) -> None:
    visit.answer(damaged(brotli.compress(LETTERS, quality=5, lgwin=10)), b"Content-Encoding: br")


@fault
def gzip_garbage(visit: Visit) -> None:
    visit.answer(b"this was never compressed" * 100, b"Content-Encoding: gzip")


@fault
def deflate_garbage(visit: Visit) -> None:
    visit.answer(b"\xff" * 1000, b"Content-Encoding: deflate")


@fault
def brotli_garbage(visit: Visit) -> None:
    visit.answer(b"\xff" * 1000, b"Content-Encoding: br")


@fault
def encoded_once_said_twice(visit: Visit) -> None:
    visit.answer(gzip.compress(PAGE), b"Content-Encoding: gzip, gzip")


@fault
def six_encodings(visit: Visit) -> None:
    visit.answer(PAGE, b"Content-Encoding: " + b", ".join([b"gzip"] * 6))


@fault
def encoded_redirect_garbage(visit: Visit) -> None:
    visit.answer(b"moved", b"Content-Encoding: gzip", b"Location: /ok", status=b"302 Found")


@fault
def encoded_nothing(visit: Visit) -> None:
    visit.answer(b"", b"Content-Encoding: gzip")


@fault
def encoding_unknown(visit: Visit) -> None:
    visit.answer(PAGE, b"Content-Encoding: rot13")
