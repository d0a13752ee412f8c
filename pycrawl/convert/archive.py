"""Zip archives of documents, read in bounded pieces. Nothing is unpacked to files: names are only looked up."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from pycrawl.convert.simple_page import Trouble, Unconvertible

MOST_UNPACKED = 100 << 20  # bytes of all that is read of one archive
_MOST_ENTRIES = 20_000
_PIECE = 1 << 20  # bytes read at once
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_IS_ENCRYPTED = 0x1  # flag bit of a zip entry


class Archive:
    """A zip file in memory. What its headers say about sizes is not believed: bytes are counted as they come."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):
            refuse_ole(data)
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
            raise Unconvertible(Trouble.DAMAGED, str(error)) from error
        self.names = frozenset(self._zip.namelist())
        if len(self.names) > _MOST_ENTRIES:
            raise Unconvertible(Trouble.TOO_LARGE, f"an archive of {len(self.names)} files")
        self._room = MOST_UNPACKED

    def read(self, name: str) -> bytes:
        """Returns the bytes of a file of the archive. Raises Unconvertible if it is missing, damaged or too large."""
        return b"".join(self._pieces(name))

    def read_if_there(self, name: str) -> bytes:
        """Returns the bytes of a file, or none where there is no such file."""
        return self.read(name) if name in self.names else b""

    def refuse_bomb(self) -> None:
        """Raises Unconvertible if all files of the archive together are too large: for libraries that do not count."""
        room = self._room
        for name in self.names:
            for _ in self._pieces(name):
                pass
        self._room = room

    def _pieces(self, name: str) -> Iterator[bytes]:
        try:
            info = self._zip.getinfo(name)
        except KeyError:
            raise Unconvertible(Trouble.DAMAGED, f"it has no {name}") from None
        if info.flag_bits & _IS_ENCRYPTED:
            raise Unconvertible(Trouble.ENCRYPTED, name)
        try:
            with self._zip.open(info) as file:
                while piece := file.read(min(_PIECE, self._room + 1)):
                    self._room -= len(piece)
                    if self._room < 0:
                        raise Unconvertible(Trouble.TOO_LARGE, f"unpacks to more than {MOST_UNPACKED >> 20} MB")
                    yield piece
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise Unconvertible(Trouble.DAMAGED, f"{name}: {error}") from error


def refuse_ole(data: bytes) -> None:
    """Raises Unconvertible for an OLE file in the place of a zip: Office wraps documents with a password in one."""
    is_encrypted = "EncryptedPackage".encode("utf-16-le") in data
    raise Unconvertible(Trouble.ENCRYPTED if is_encrypted else Trouble.DAMAGED, "an OLE file")


def joined(folder: str, path: str) -> str:
    """Returns the name in the archive that `path` means in a file in `folder`."""
    if path.startswith("/"):
        return posixpath.normpath(path).lstrip("/")
    return posixpath.normpath(posixpath.join(folder, path))
