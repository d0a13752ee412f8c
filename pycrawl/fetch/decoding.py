"""Bodies as they arrive: content decoding in bounded pieces, the limit on their length, and what is wrong with them.

A stream that breaks or ends too early counts as far as it goes, and is marked. What follows a stream's end is ignored.
No layer of nested encodings may grow beyond what the body may: one that does is a bomb.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Protocol

import brotli

MAX_ENCODINGS = 5  # on top of each other: as many as libcurl undoes
PIECE_BYTES = 65_536  # no more than this is decompressed at once, whatever a bomb promises
_BROTLI_BYTES = 512  # fed at once: of a call that fails, nothing is given
_LAYER_SLACK = 65_536  # bytes: what cannot be compressed grows a little
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"
_RAW_DEFLATE = -zlib.MAX_WBITS
_NO_ENCODING = (b"", b"identity", b"none")


class EncodingError(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder(Protocol):
    @property
    def is_complete(self) -> bool:
        """The stream's end has come, or nothing at all."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The pieces that `data` adds."""


class _Zlib:
    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._inflater = zlib.decompressobj(window_bits)
        self._fed = False
        self._gave = False

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
                self._retry_raw(error)
                continue
            self._gave = True
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

    def _retry_raw(self, error: zlib.error) -> None:
        """Many servers send "deflate" without the zlib header that RFC 9110, 8.4.1.2 asks for."""
        if self._gave or self._window_bits != zlib.MAX_WBITS:
            raise EncodingError(str(error)) from error
        self._window_bits = _RAW_DEFLATE
        self._inflater = zlib.decompressobj(_RAW_DEFLATE)


class _Brotli:
    def __init__(self) -> None:
        self._inflater = brotli.Decompressor()
        self._fed = False

    @property
    def is_complete(self) -> bool:
        return not self._fed or bool(self._inflater.is_finished())

    def feed(self, data: bytes) -> Iterator[bytes]:
        for start in range(0, len(data), _BROTLI_BYTES):
            if self._fed and self._inflater.is_finished():
                return
            self._fed = True
            yield from self._feed(data[start : start + _BROTLI_BYTES])

    def _feed(self, data: bytes) -> Iterator[bytes]:
        try:
            piece = self._inflater.process(data, output_buffer_limit=PIECE_BYTES)
            while piece:
                yield piece
                if self._inflater.can_accept_more_data():
                    return
                piece = self._inflater.process(b"", output_buffer_limit=PIECE_BYTES)
        except brotli.error as error:
            self._inflater = brotli.Decompressor()  # the broken one cannot even be asked whether it is finished
            raise EncodingError(str(error)) from error


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
            raise EncodingError(f"over {self._limit} bytes are encoded, for less content")
        for piece in self._decoders[stage].feed(data):
            yield from self._feed(piece, stage + 1)


def decoder_for(encoding: bytes, limit: int) -> Decoder | None:
    """The decoder for a Content-Encoding header and a content of up to `limit` bytes; None if nothing is encoded."""
    names = [name for name in (word.strip().lower() for word in encoding.split(b",")) if name not in _NO_ENCODING]
    if len(names) > MAX_ENCODINGS:
        raise EncodingError(f"{len(names)} content encodings")
    return _Chain([_one(name) for name in reversed(names)], limit + _LAYER_SLACK) if names else None


def _one(name: bytes) -> Decoder:
    if name in (b"gzip", b"x-gzip"):
        return _Zlib(_GZIP)
    if name == b"deflate":
        return _Zlib(zlib.MAX_WBITS)
    if name == b"br":
        return _Brotli()
    raise EncodingError(f"unknown content encoding {name[:40].decode('latin-1')!r}")


class Body:
    """What has come of a body, decoded, up to `limit` bytes; `damage` says in words what is wrong with its encoding."""

    __slots__ = ("_chunks", "_decoder", "_room", "damage", "truncated")

    def __init__(self, encoding: bytes, limit: int) -> None:
        self.damage = ""
        self.truncated = False
        self._chunks: list[bytes] = []
        self._room = limit
        self._decoder: Decoder | None = None
        if encoding:
            try:
                self._decoder = decoder_for(encoding, limit)
            except EncodingError as error:
                self.damage = str(error)

    def feed(self, data: bytes) -> bool:
        """Whether more of it is wanted."""
        if self._decoder is None:
            return not self.damage and self._keep(data)
        try:
            return all(map(self._keep, self._decoder.feed(data)))
        except EncodingError as error:
            self.damage = str(error)
            return False

    def end(self) -> bytes:
        """All of it."""
        if self._decoder is not None and not (self.damage or self.truncated or self._decoder.is_complete):
            self.damage = "the encoded stream ends too early"
        return b"".join(self._chunks)

    def _keep(self, piece: bytes) -> bool:
        if len(piece) > self._room:
            self.truncated = True
            self._chunks.append(piece[: self._room])
            return False
        self._room -= len(piece)
        self._chunks.append(piece)
        return True
