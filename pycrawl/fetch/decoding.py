"""Decodes bodies as they arrive, in pieces of bounded size, up to the limit on their length.

Of a compressed stream that breaks or ends too early, all that comes before is kept, and the body is marked as damaged.
Bytes after the end of a stream are ignored. With nested encodings, no layer may be longer than a body may be: one that
is longer is a decompression bomb.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Protocol

import brotli

MAX_ENCODINGS = 5  # on top of each other: as many as libcurl undoes
PIECE_BYTES = 65_536  # no more than this is decompressed at once, whatever a bomb promises
_SALVAGED_BYTES = 1_000_000  # of encoded input are remembered, to decode up to the very byte that breaks
_LAYER_SLACK = 65_536  # bytes: what cannot be compressed grows a little
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"
_RAW_DEFLATE = -zlib.MAX_WBITS
_ZLIB_HEADER_BYTES = 2
_NO_ENCODING = (b"", b"identity", b"none")


class EncodingError(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder(Protocol):
    @property
    def is_complete(self) -> bool:
        """True if the stream has reached its end, or nothing was fed at all."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the decoded pieces that `data` adds."""


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._inflater = zlib.decompressobj(window_bits)
        self._fed = False

    @property
    def is_complete(self) -> bool:
        return self._inflater.eof or not self._fed

    def feed(self, data: bytes) -> Iterator[bytes]:
        more = bool(data) and (not self._inflater.eof or self._next_member(data))
        while more:
            self._fed = True
            try:
                piece = self._inflater.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                raise EncodingError(str(error)) from error
            if piece:
                yield piece
            if self._inflater.eof:
                data = self._inflater.unused_data
                more = self._next_member(data)
            else:
                data = self._inflater.unconsumed_tail
                more = bool(data) or len(piece) == PIECE_BYTES  # a full piece may have left some inside

    def _next_member(self, data: bytes) -> bool:
        """A gzip file is a series of members (RFC 1952, 2.2)."""
        if self._window_bits != _GZIP or not data.startswith(_GZIP_MAGIC):
            return False
        self._inflater = zlib.decompressobj(_GZIP)
        return True


class _Deflate:
    """Many servers send "deflate" without the zlib header that RFC 9110, 8.4.1.2 asks for."""

    def __init__(self) -> None:
        self._start = b""
        self._inner: _Zlib | None = None

    @property
    def is_complete(self) -> bool:
        return self._inner.is_complete if self._inner is not None else not self._start

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._inner is None:
            data = self._start = self._start + data
            if len(data) < _ZLIB_HEADER_BYTES:
                return
            has_header = data[0] & 15 == zlib.DEFLATED and int.from_bytes(data[:2], "big") % 31 == 0  # RFC 1950, 2.2
            self._inner = _Zlib(zlib.MAX_WBITS if has_header else _RAW_DEFLATE)
        yield from self._inner.feed(data)


class _Brotli:
    def __init__(self) -> None:
        self._inflater = brotli.Decompressor()
        self._fed = False

    @property
    def is_complete(self) -> bool:
        return not self._fed or bool(self._inflater.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        if not data or (self._fed and self._inflater.is_finished()):
            return
        self._fed = True
        try:
            piece = self._inflater.process(data, output_buffer_limit=PIECE_BYTES)
            while piece:
                yield piece
                if self._inflater.is_finished():
                    return
                # All input may have gone in and much output still be inside, whatever can_accept_more_data() says.
                piece = self._inflater.process(b"", output_buffer_limit=PIECE_BYTES)
        except brotli.error as error:
            raise EncodingError(str(error)) from error


class _Salvaging:
    """Decodes a stream that breaks up to the byte where it breaks.

    A library call that fails returns nothing of its input. So the input is remembered, and decoded a second time when
    that happens: first the earlier chunks, then the chunk that failed, byte by byte.
    """

    def __init__(self, make: Callable[[], Decoder]) -> None:
        self._make = make
        self._decoder = make()
        self._fed: list[bytes] = []
        self._fed_bytes = 0
        self._given_bytes = 0

    @property
    def is_complete(self) -> bool:
        return self._decoder.is_complete

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._fed.append(data)
        self._fed_bytes += len(data)
        if self._fed_bytes > _SALVAGED_BYTES:
            self._fed.clear()
        try:
            for piece in self._decoder.feed(data):
                self._given_bytes += len(piece)
                yield piece
        except EncodingError:
            if not self._fed:
                raise
            yield from self._again()

    def _again(self) -> Iterator[bytes]:
        self._decoder = self._make()
        known = self._given_bytes
        *earlier, last = self._fed
        for data in chain(earlier, (last[n : n + 1] for n in range(len(last)))):
            for piece in self._decoder.feed(data):
                if len(piece) > known:
                    yield piece[known:]
                known = max(0, known - len(piece))


class _Chain:
    """Encodings on top of each other, the last applied first. `_lengths[n]` bytes have gone into decoder n."""

    def __init__(self, decoders: list[Decoder], limit: int) -> None:
        self._decoders = decoders
        self._lengths = [0] * len(decoders)
        self._limit = limit

    @property
    def is_complete(self) -> bool:
        return all(decoder.is_complete for decoder in self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        return self._feed(data, 0)

    def _feed(self, data: bytes, stage: int) -> Iterator[bytes]:
        if stage == len(self._decoders):
            yield data
            return
        self._lengths[stage] += len(data)
        if self._lengths[stage] > self._limit:
            raise EncodingError(f"a nested encoding is longer than {self._limit} bytes")
        for piece in self._decoders[stage].feed(data):
            yield from self._feed(piece, stage + 1)


def decoder_for(encoding: bytes, limit: int) -> Decoder | None:
    """The decoder for a Content-Encoding header and a content of up to `limit` bytes; None if nothing is encoded."""
    names = [name for name in (word.strip().lower() for word in encoding.split(b",")) if name not in _NO_ENCODING]
    if len(names) > MAX_ENCODINGS:
        raise EncodingError(f"{len(names)} content encodings")
    if not names:
        return None
    return _Chain([_Salvaging(_maker(name)) for name in reversed(names)], limit + _LAYER_SLACK)


def _maker(name: bytes) -> Callable[[], Decoder]:
    if name in (b"gzip", b"x-gzip"):
        return partial(_Zlib, _GZIP)
    if name == b"deflate":
        return _Deflate
    if name == b"br":
        return _Brotli
    raise EncodingError(f"unknown content encoding {name[:40].decode('latin-1')!r}")


class Body:
    """The decoded body as far as received, up to `limit` bytes; `damage` says what is wrong with its encoding."""

    __slots__ = ("_chunks", "_decoder", "damage", "room", "truncated")

    def __init__(self, encoding: bytes, limit: int) -> None:
        self.damage = ""
        self.truncated = False
        self._chunks: list[bytes] = []
        self.room = limit  # bytes that it may still grow by
        self._decoder: Decoder | None = None
        if encoding:
            try:
                self._decoder = decoder_for(encoding, limit)
            except EncodingError as error:
                self.damage = str(error)

    def feed(self, data: bytes) -> bool:
        """Take in received bytes. Returns True if more of the body is wanted."""
        if self._decoder is None:
            return not self.damage and self._keep(data)
        try:
            return all(map(self._keep, self._decoder.feed(data)))
        except EncodingError as error:
            self.damage = str(error)
            return False

    def end(self) -> bytes:
        """Returns the whole body; call it once, when no more bytes will come."""
        if self._decoder is not None and not (self.damage or self.truncated or self._decoder.is_complete):
            self.damage = "the encoded stream ends too early"
        return b"".join(self._chunks)

    def _keep(self, piece: bytes) -> bool:
        if len(piece) > self.room:
            self.truncated = True
            self._chunks.append(piece[: self.room])
            return False
        self.room -= len(piece)
        self._chunks.append(piece)
        return True
