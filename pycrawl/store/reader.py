"""Reads records from compound files: one record by its place, or all records of a file in order."""

from __future__ import annotations

import io
import os
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from isal import isal_zlib

from pycrawl.errors import StoreError
from pycrawl.foreign.files import open_file
from pycrawl.record import trec_web
from pycrawl.store.compound import below, failure

MAX_OPEN_FILES = 64
CHUNK_BYTES = 1 << 16

Scanned = tuple[int, int, bytes]  # offset and length in the file, content


class RecordReader:
    """Works while a crawl writes: places and lengths come from the database, so only committed bytes are read."""

    def __init__(
        self,
        root: Path,
        max_open_files: int = MAX_OPEN_FILES,
        chunk_bytes: int = CHUNK_BYTES,
        max_record_bytes: int = trec_web.MAX_RECORD_BYTES,
    ) -> None:
        """`chunk_bytes` are read at once from a file whose records are asked for in order."""
        self._root = root
        self._max_open_files = max_open_files
        self._chunk_bytes = chunk_bytes
        self._max_record_bytes = max_record_bytes
        self._open: OrderedDict[str, BinaryIO] = OrderedDict()  # the least recently used first

    def __enter__(self) -> RecordReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def path(self, file_name: str) -> Path:
        """Returns where a file of the collection is."""
        return self._root / file_name

    def size(self, file_name: str) -> int:
        """Returns the bytes of a file, committed or not; 0 if it is not there."""
        try:
            return os.fstat(self._file(file_name).fileno()).st_size
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise failure(error, self._root / file_name) from error

    def read(self, file_name: str, offset: int, length: int) -> bytes:
        """Returns the uncompressed record that takes `length` bytes of the file from `offset` on."""
        data = self.read_stored(file_name, offset, length)
        try:
            return trec_web.unpack(data) if file_name.endswith(".gz") else data
        except StoreError as error:
            raise StoreError(f"{self._root / file_name}, byte {offset}: {error}") from error

    def read_stored(self, file_name: str, offset: int, length: int) -> bytes:
        """Returns the same as it stands in the file: compressed, if its name ends in ".gz"."""
        try:
            if not 0 <= length <= self._max_record_bytes or offset < 0:
                raise StoreError(
                    f"{self.path(file_name)}: expected the place of a record, found {length} bytes from {offset} on"
                )
            data = os.pread(self._file(file_name).fileno(), length, offset)
        except OSError as error:
            raise failure(error, self.path(file_name)) from error
        if len(data) != length:
            raise StoreError(f"{self.path(file_name)}: expected {length} bytes from {offset} on, found {len(data)}")
        return data

    def records(self, file_name: str, length: int) -> Iterator[Scanned]:
        """Yields each record in the first `length` bytes of the file: its offset and length there, and its plain text.

        Holds one record and one chunk at a time.
        """
        if not length:
            return  # a file that all records have left is not there
        path = self._root / file_name
        scan = _gzip_records if file_name.endswith(".gz") else _plain_records
        try:
            with io.FileIO(open_file(*below(self._root, file_name))) as file:
                yield from scan(path, _chunks(file, path, length, self._chunk_bytes), self._max_record_bytes)
        except OSError as error:
            raise failure(error, path) from error

    def close(self) -> None:
        """Close all open files."""
        while self._open:
            self._open.popitem()[1].close()

    def _file(self, name: str) -> BinaryIO:
        file = self._open.get(name)
        if file is None:
            file = self._open[name] = os.fdopen(open_file(*below(self._root, name)), "rb")
            if len(self._open) > self._max_open_files:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(name)
        return file


def _chunks(file: io.FileIO, path: Path, length: int, chunk_bytes: int) -> Iterator[bytes]:
    left = length
    while left:
        chunk = file.read(min(chunk_bytes, left))
        if not chunk:
            raise StoreError(f"{path}: expected {length} bytes, found {length - left}")
        left -= len(chunk)
        yield chunk


def _gzip_records(path: Path, chunks: Iterator[bytes], most: int) -> Iterator[Scanned]:
    """Yields the records of a compressed file. A record may be several gzip members; it ends with a `</DOC>` line."""
    parts: list[bytes] = []
    begin = size = 0
    tail = b""
    for offset, length, text in _members(path, chunks, most):
        parts.append(text)
        size += len(text)
        tail = (tail + text[-len(trec_web.RECORD_END) :])[-len(trec_web.RECORD_END) :]
        if tail == trec_web.RECORD_END:
            yield begin, offset + length - begin, b"".join(parts)
            parts, begin, size, tail = [], offset + length, 0, b""
        _check_size(path, begin, size, most)
    if parts:
        raise StoreError(f"{path}, byte {begin}: expected </DOC> as the record's last line, found the end of the file")


def _members(path: Path, chunks: Iterator[bytes], most: int) -> Iterator[Scanned]:
    position, data = 0, b""
    while data := data or next(chunks, b""):
        begin, size = position, 0
        parts = []
        inflate = isal_zlib.decompressobj(trec_web.GZIP)
        while not inflate.eof:
            data = data or next(chunks, b"")
            if not data:
                raise StoreError(f"{path}, byte {begin}: expected a whole gzip member, found it cut")
            parts.append(_inflate(path, begin, inflate, data))
            size += len(parts[-1])
            _check_size(path, begin, size, most)
            position += len(data) - len(inflate.unused_data)
            data = inflate.unused_data
        yield begin, position - begin, b"".join(parts)


def _inflate(path: Path, begin: int, inflate: isal_zlib.Decompress, data: bytes) -> bytes:
    try:
        return inflate.decompress(data)  # at most some 1,000 times the chunk's size: bounded memory
    except trec_web.BadStream as error:
        raise StoreError(f"{path}, byte {begin}: not a gzip member: {error}") from None


def _plain_records(path: Path, chunks: Iterator[bytes], most: int) -> Iterator[Scanned]:
    buffer = bytearray()
    begin = searched = 0
    for chunk in chunks:
        buffer += chunk
        while (found := buffer.find(trec_web.RECORD_END, searched)) >= 0:
            length = found + len(trec_web.RECORD_END)
            yield begin, length, bytes(buffer[:length])
            del buffer[:length]
            begin, searched = begin + length, 0
        searched = max(0, len(buffer) - len(trec_web.RECORD_END))
        _check_size(path, begin, len(buffer), most)
    if buffer:
        raise StoreError(f"{path}, byte {begin}: expected </DOC> as the record's last line, found the end of the file")


def _check_size(path: Path, begin: int, size: int, most: int) -> None:
    if size > most:
        raise StoreError(f"{path}, byte {begin}: expected a record of at most {most} bytes")
