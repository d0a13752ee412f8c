"""A file that a command makes for its user: a report, a plot. Only an older one of the same kind is replaced."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from pathlib import Path

from pycrawl.errors import PycrawlError, StoppedByLimit, UsageError

_MARK_WITHIN = 2_000  # bytes from the start of a file, in which its mark stands


def check(target: Path, mark: str, kind: str) -> None:
    """Raises UsageError if the file cannot be written there. `mark`: what stands near the start of all files of this
    `kind` ("report")."""
    try:
        if target.is_dir():
            raise UsageError(f"{target}: expected the name of a file, found a folder")
        if not target.parent.is_dir():
            raise UsageError(f"{target}: there is no folder {target.parent}")
        if target.exists():
            with target.open("rb") as file:
                if mark.encode() not in file.read(_MARK_WITHIN):
                    raise UsageError(f"{target}: exists, and is no {kind} of pycrawl; it is not overwritten")
    except OSError as error:
        raise UsageError(f"{target}: {error.strerror}") from None


def write(target: Path, written: str) -> None:
    """Writes the whole file under a name of its own first, so that no half of one is ever there."""
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with open(handle, "w", encoding="utf-8") as file:
            file.write(written)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise StoppedByLimit(f"{target}: the disk is full; nothing was written") from None
        raise PycrawlError(f"{target}: {error.strerror}") from None
