"""Decodes bodies as they arrive, in pieces of bounded size, up to the limit on their length.

Of a compressed stream that breaks or ends too early, all that comes before is kept, and the body is marked as damaged.
Bytes after the end of a stream are ignored.

Input is limited as well as output, as a stream can keep a decoder busy without giving anything: with gzip members or
blocks that are empty, or with an outer encoding that makes megabytes of them from a few bytes. What exceeds a limit
ends the body there, as damage does:

- no layer is longer than a body may be, and one inside another not much longer than what came over the wire: encoded
  data cannot be compressed much further;
- what goes into a decoder is not much longer than what comes out of it;
- a gzip file has at most `MOST_MEMBERS` members.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Protocol

import brotli

MAX_ENCODINGS = 5  # on top of each other: as many as libcurl undoes
PIECE_BYTES = 65_536  # no more than this is decompressed at once, whatever a bomb promises
MOST_MEMBERS = 1_000  # of a gzip file; each costs some microseconds, even if it is empty
_SALVAGED_BYTES = 250_000  # of encoded input are remembered, to decode up to the very byte that breaks
_SLICE_BYTES = 256  # of the chunk that breaks are decoded at once, to find the place
_BARREN_BYTES = 65_536  # of a layer's input may bring nothing
_INPUT_FOR_ONE = 8  # bytes into a decoder for each that comes out: a flush after each byte takes about as many
_INNER_FOR_ONE = 4  # bytes of an inner layer for each that came over the wire
_CRUMB_BYTES = 512  # shorter pieces of a body are joined as they come: an object for each would take more memory
_JOINED_BYTES = 65_536
_LAYER_SLACK = 65_536  # bytes: what cannot be compressed grows a little
_GZIP = 16 + zlib.MAX_WBITS
_GZIP_MAGIC = b"\x1f\x8b"
_RAW_DEFLATE = -zlib.MAX_WBITS
_ZLIB_HEADER_BYTES = 2
_NO_ENCODING = (b"", b"identity", b"none")


class EncodingError(Exception):
    """The body is not what its Content-Encoding says."""


class _LimitError(EncodingError):
    """The body takes more work to decode than it may. What came before was all decoded."""


class Decoder(Protocol):
    window_bytes: int  # memory that it takes at most, besides what it has given

    @property
    def is_complete(self) -> bool:
        """True if the stream has reached its end, or nothing was fed at all."""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the decoded pieces that `data` adds."""


class _Zlib:
    window_bytes = 40_000

    def __init__(self, window_bits: int) -> None:
        self._window_bits = window_bits
        self._members = 1
        self._inflater = zlib.decompressobj(window_bits)
        self._fed = False
        self._behind = b""  # the end of a member: a byte with which another one may begin

    @property
    def is_complete(self) -> bool:
        return self._inflater.eof or not self._fed

    def feed(self, data: bytes) -> Iterator[bytes]:
        data = self._behind + data
        self._behind = b""
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
        """A gzip file is a series of members (RFC 1952, 2.2). What comes behind the last one is ignored."""
        if self._window_bits != _GZIP or not data.startswith(_GZIP_MAGIC):
            self._behind = data if data == _GZIP_MAGIC[:1] else b""
            return False
        self._members += 1
        if self._members > MOST_MEMBERS:
            raise _LimitError(f"more than {MOST_MEMBERS} gzip members")
        self._inflater = zlib.decompressobj(_GZIP)
        return True


class _Deflate:
    """Many servers send "deflate" without the zlib header that RFC 9110, 8.4.1.2 asks for."""

    window_bytes = _Zlib.window_bytes

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
    window_bytes = 1 << 24  # RFC 7932, 9.1

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

    A library call that fails returns nothing of its input. So the input is remembered, and decoded anew when that
    happens.
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

    @property
    def held_bytes(self) -> int:
        """Memory that it takes."""
        remembered = self._fed_bytes if self._fed else 0
        return remembered + min(self._given_bytes, self._decoder.window_bytes)

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._fed_bytes += len(data)
        if self._fed_bytes > _SALVAGED_BYTES:
            self._fed.clear()
        else:
            self._fed.append(data)
        try:
            for piece in self._decoder.feed(data):
                self._given_bytes += len(piece)
                yield piece
        except _LimitError:
            raise
        except EncodingError:
            if not self._fed:
                raise
            yield from self._again()

    def _again(self) -> Iterator[bytes]:
        """Decode all anew, the chunk that failed in slices; then once more, the slice that failed byte by byte."""
        *fine, broken = self._fed
        for size in (_SLICE_BYTES, 1):
            slices = [broken[start : start + size] for start in range(0, len(broken), size)]
            decoded = 0
            try:
                for piece in self._unknown(chain(fine, slices)):
                    if piece is None:
                        decoded += 1
                    else:
                        yield piece
            except EncodingError:
                if size == 1:
                    raise
            else:
                return
            good = decoded - len(fine)
            fine += slices[:good]
            broken = slices[good]

    def _unknown(self, chunks: Iterable[bytes]) -> Iterator[bytes | None]:
        """Decode `chunks` from the start, and yield what was not given yet, and None at the end of each chunk."""
        decoder = self._decoder = self._make()  # the one before is broken, and cannot say if it is complete
        known = self._given_bytes
        for data in chunks:
            for piece in decoder.feed(data):
                if len(piece) > known:
                    self._given_bytes += len(piece) - known
                    yield piece[known:]
                known = max(0, known - len(piece))
            yield None


class _Chain:
    """Encodings on top of each other, the last applied first.

    `_lengths[n]` bytes have gone into decoder n; the last of them is the length of what came out of all.
    """

    def __init__(self, decoders: list[_Salvaging], limit: int) -> None:
        self._decoders = decoders
        self._lengths = [0] * (len(decoders) + 1)
        self._limit = limit

    @property
    def is_complete(self) -> bool:
        return all(decoder.is_complete for decoder in self._decoders)

    @property
    def held_bytes(self) -> int:
        """Memory that it takes, besides what it has given."""
        return sum(decoder.held_bytes for decoder in self._decoders)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yields the decoded pieces that `data` adds."""
        return self._feed(data, 0)

    def _feed(self, data: bytes, stage: int) -> Iterator[bytes]:
        lengths = self._lengths
        lengths[stage] += len(data)
        if stage == len(self._decoders):
            yield data
            return
        if lengths[stage] > self._limit:
            raise _LimitError(f"an encoding is longer than {self._limit} bytes")
        if stage and lengths[stage] > _BARREN_BYTES + _INNER_FOR_ONE * lengths[0]:
            raise _LimitError(f"{lengths[0]} bytes become {lengths[stage]} of another encoding")
        for piece in self._decoders[stage].feed(data):
            yield from self._feed(piece, stage + 1)
        if lengths[stage] > _BARREN_BYTES + _INPUT_FOR_ONE * lengths[stage + 1]:
            raise _LimitError(f"{lengths[stage]} encoded bytes bring {lengths[stage + 1]}")


def decoder_for(encoding: bytes, limit: int) -> _Chain | None:
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

    __slots__ = ("_chunks", "_decoder", "_limit", "damage", "room", "truncated")

    def __init__(self, encoding: bytes, limit: int) -> None:
        self.damage = ""
        self.truncated = False
        self._chunks: list[bytes | bytearray] = []
        self._limit = limit
        self.room = limit  # bytes that it may still grow by
        self._decoder: _Chain | None = None
        if encoding:
            try:
                self._decoder = decoder_for(encoding, limit)
            except EncodingError as error:
                self.damage = str(error)

    @property
    def held_bytes(self) -> int:
        """Memory that it takes."""
        kept = self._limit - self.room
        return kept if self._decoder is None else kept + self._decoder.held_bytes

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
        if len(piece) < _CRUMB_BYTES and self._chunks:
            self._join(piece)
        else:
            self._chunks.append(piece)
        return True

    def _join(self, crumb: bytes) -> None:
        last = self._chunks[-1]
        if isinstance(last, bytearray) and len(last) < _JOINED_BYTES:
            last += crumb
        else:
            self._chunks.append(bytearray(crumb))
