"""A queue between two processes that never blocks either of them.

It is a multiprocessing pipe with one writer and one reader. `multiprocessing.Queue` is not used, for two reasons: its
lock dies with a killed process, and every other writer then waits for ever; and its feeder thread fights the event loop
for the interpreter. Here each fetcher has a pipe of its own for each direction, both ends are non-blocking and wait in
the event loop of their process, and a killed writer shows as the end of the pipe.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from pycrawl.processes.messages import MOST_BYTES, BadMessage

_LENGTH = struct.Struct("<Q")
_PIPE_BYTES = 1 << 20
_READ_BYTES = 1 << 20
_READS_AT_ONCE = 64  # of so many bytes, so that one writer cannot keep the reader for ever

T = TypeVar("T")


class Sender(Generic[T]):
    """The writing end. Values that do not fit into the pipe wait here, in order, until `flush`."""

    def __init__(self, connection: Connection, pack: Callable[[T], bytes]) -> None:
        """`pack` makes bytes of a value, for the `unpack` of the receiver."""
        self._connection = connection
        self._pack = pack
        self._unsent: deque[memoryview] = deque()
        os.set_blocking(connection.fileno(), False)
        with contextlib.suppress(OSError):  # a larger pipe saves wake-ups; without it all works the same
            fcntl.fcntl(connection.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def is_waiting(self) -> bool:
        return bool(self._unsent)

    def send(self, value: T) -> None:
        data = self._pack(value)
        if len(data) > MOST_BYTES:
            raise ValueError(f"a message of {len(data)} bytes; the receiver takes {MOST_BYTES} at the most")
        self._unsent.append(memoryview(_LENGTH.pack(len(data)) + data))
        self.flush()

    def flush(self) -> None:
        """Write as much as the pipe takes. Raises BrokenPipeError when the reader is gone."""
        while self._unsent:
            head = self._unsent[0]
            try:
                written = os.write(self._connection.fileno(), head)
            except BlockingIOError:
                return
            if written == len(head):
                self._unsent.popleft()
            else:
                self._unsent[0] = head[written:]

    def close(self) -> None:
        self._connection.close()


class Receiver(Generic[T]):
    """The reading end."""

    def __init__(self, connection: Connection, unpack: Callable[[memoryview], T]) -> None:
        """`unpack` makes a value of bytes, or raises BadMessage: it must be able to read whatever comes."""
        self._connection = connection
        self._unpack = unpack
        self._buffer = bytearray()
        os.set_blocking(connection.fileno(), False)

    def fileno(self) -> int:
        return self._connection.fileno()

    def receive(self) -> list[T]:
        """Returns all values that have arrived whole. Raises EOFError if the writer is gone and none is left, and
        BadMessage if something came that is none of ours; nothing can be read behind that."""
        at_end = self._read()
        values = []
        start = 0
        while len(self._buffer) - start >= _LENGTH.size:
            body = start + _LENGTH.size
            length = _LENGTH.unpack_from(self._buffer, start)[0]
            if length > MOST_BYTES:
                raise BadMessage(f"{length} bytes")
            end = body + length
            if end > len(self._buffer):
                break
            with memoryview(self._buffer) as view, view[body:end] as data:
                values.append(self._unpack(data))
            start = end
        del self._buffer[:start]
        if at_end and not values:
            raise EOFError
        return values

    def _read(self) -> bool:
        """Read what the pipe holds. Returns True at the end of the pipe: the writer has closed it or died."""
        for _ in range(_READS_AT_ONCE):
            try:
                data = os.read(self._connection.fileno(), _READ_BYTES)
            except BlockingIOError:
                return False
            self._buffer += data
            if not data:
                return True
            if len(data) < _READ_BYTES:
                return False
        return False

    def close(self) -> None:
        self._connection.close()
