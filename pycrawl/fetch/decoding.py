"""Undoing Content-Encoding in bounded pieces, for the transport that has no libcurl to do it.

As with libcurl and browsers, a compressed stream that ends too early counts as far as it goes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli

MAX_ENCODINGS = 5  # on top of each other: as many as libcurl undoes
PIECE_BYTES = 65_536  # no more than this is decompressed at once, whatever a bomb promises
_GZIP = 16 + zlib.MAX_WBITS
_RAW_DEFLATE = -zlib.MAX_WBITS


class EncodingError(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces that `data` adds."""


class _Identity:
    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._inflater = zlib.decompressobj(window_bits)
        self._fed = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = True
        while more and not self._inflater.eof:  # what follows the stream is ignored, as browsers do
            try:
                piece = self._inflater.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                self._retry_raw(error)
                continue
            self._fed = True
            data = self._inflater.unconsumed_tail
            more = bool(data) or len(piece) == PIECE_BYTES  # a full piece may have left some inside
            if piece:
                yield piece

    def _retry_raw(self, error: zlib.error) -> None:
        """Many servers send "deflate" without the zlib header that RFC 9110, 8.4.1.2 asks for."""
        if self._fed or self._window_bits != zlib.MAX_WBITS:
            raise EncodingError(str(error)) from error
        self._window_bits = _RAW_DEFLATE
        self._inflater = zlib.decompressobj(_RAW_DEFLATE)


class _Brotli:
    def __init__(self) -> None:
        self._inflater = brotli.Decompressor()

    def feed(self, data: bytes) -> Iterator[bytes]:
        try:
            piece = self._inflater.process(data, output_buffer_limit=PIECE_BYTES)
            while piece:
                yield piece
                if self._inflater.can_accept_more_data():
                    return
                piece = self._inflater.process(b"", output_buffer_limit=PIECE_BYTES)
        except brotli.error as error:
            raise EncodingError(str(error)) from error


class _Chain:
    """Several encodings on top of each other, the last applied first."""

    def __init__(self, decoders: list[Decoder]) -> None:
        self._decoders = decoders

    def feed(self, data: bytes) -> Iterator[bytes]:
        return self._feed(data, 0)

    def _feed(self, data: bytes, stage: int) -> Iterator[bytes]:
        if stage == len(self._decoders):
            yield data
            return
        for piece in self._decoders[stage].feed(data):
            yield from self._feed(piece, stage + 1)


def decoder_for(encoding: bytes) -> Decoder:
    """The decoder for a Content-Encoding header."""
    names = [name for name in (word.strip().lower() for word in encoding.split(b",")) if name not in (b"", b"identity")]
    if len(names) > MAX_ENCODINGS:
        raise EncodingError(f"{len(names)} content encodings")
    if not names:
        return _Identity()
    return _Chain([_one(name) for name in reversed(names)])


def _one(name: bytes) -> Decoder:
    if name in (b"gzip", b"x-gzip"):
        return _Zlib(_GZIP)
    if name == b"deflate":
        return _Zlib(zlib.MAX_WBITS)
    if name == b"br":
        return _Brotli()
    raise EncodingError(f"unknown content encoding {name.decode('latin-1')!r}")
