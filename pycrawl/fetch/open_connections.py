"""The connections that libcurl has open, in use or idle, by the address that they lead to.

libcurl keeps idle connections by host and port, and says nothing of them. Politeness counts open connections by
address: before another one is made, an idle one has to go. A socket is known here from its making on; libcurl works on
a duplicate of it, which is recognised by its inode.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Container
from contextlib import suppress
from functools import partial

from pycrawl.fetch.loop import READ, Loop, Timer
from pycrawl.fetch.origins import Origin

CLOSING_SECONDS = 1.0  # for a server to close its side; then the connection counts as closed all the same
IDLE_SECONDS = 60.0  # an idle connection is closed after this time
_SWEEP_SECONDS = 15.0
_RECEIVE_BYTES = 65_536
_UNKNOWN = -1


class _Connection:
    __slots__ = ("address", "descriptor", "inode", "origin", "used_at")

    def __init__(self, address: str, origin: Origin, inode: int) -> None:
        self.address = address
        self.origin = origin
        self.inode = inode
        self.descriptor = _UNKNOWN  # libcurl's
        self.used_at = time.monotonic()

    @property
    def is_open(self) -> bool:
        if self.descriptor == _UNKNOWN:
            return time.monotonic() - self.used_at < IDLE_SECONDS  # libcurl has not begun to watch it
        try:
            return os.fstat(self.descriptor).st_ino == self.inode
        except OSError:
            return False


class OpenConnections:
    """`watched` holds the descriptors that libcurl watches, which are those in use."""

    def __init__(self, loop: Loop, watched: Container[int]) -> None:
        self._loop = loop
        self._watched = watched
        self._at: dict[str, list[_Connection]] = {}  # by address
        self.unmet: dict[int, _Connection] = {}  # by inode: those whose descriptor is not known yet
        self._sweeping: Timer = loop.call_later(_SWEEP_SECONDS, self._sweep)

    def note_opened(self, descriptor: int, address: str, origin: Origin) -> None:
        """A socket was made, and will be connected to the address."""
        connection = _Connection(address, origin, os.fstat(descriptor).st_ino)
        others = [other for other in self._at.get(address, ()) if other.is_open]
        self._at[address] = [*others, connection]
        self.unmet[connection.inode] = connection

    def meet(self, descriptor: int) -> None:
        """libcurl watches the descriptor: it may be a duplicate of a socket in `unmet`."""
        connection = self.unmet.pop(os.fstat(descriptor).st_ino, None)
        if connection is not None:
            connection.descriptor = descriptor

    def note_use(self, address: str, origin: Origin) -> bool:
        """A request to the origin is sent to the address. Returns True in the usual case, in which no room has to be
        made for it: it has the address's only connection for itself, or makes its first."""
        connections = self._at.get(address)
        if not connections:
            return True
        if len(connections) > 1 or connections[0].origin != origin:
            return False
        connections[0].used_at = time.monotonic()
        return True

    def make_room(self, address: str, origin: Origin, most: int, then: Callable[[], None]) -> bool:
        """Close idle connections to the address, so that a request to the origin makes them no more than `most`.

        Returns False if none has to be closed. If True, `then` is called once they are closed.
        """
        connections = [connection for connection in self._at.get(address, ()) if connection.is_open]
        idle = [one for one in connections if self._is_idle(one)]
        reusable = next((one for one in idle if one.origin == origin), None)
        surplus = len(connections) - most + (reusable is None)
        closing = [one for one in idle if one is not reusable][: max(surplus, 0)]
        self._at[address] = [one for one in connections if one not in closing]
        if closing:
            self._close(closing, then)
        return bool(closing)

    def close_idle(self, address: str) -> None:
        """Close all idle connections to an address."""
        connections = self._at.pop(address, [])
        idle = [one for one in connections if self._is_idle(one) and one.is_open]
        self._at[address] = [one for one in connections if one not in idle]
        self._close(idle, lambda: None)

    def _is_idle(self, connection: _Connection) -> bool:
        """True if nothing is under way on the connection. One that libcurl does not watch yet is about to be made."""
        return connection.descriptor != _UNKNOWN and connection.descriptor not in self._watched

    def close(self) -> None:
        self._sweeping.cancel()

    def _close(self, connections: list[_Connection], then: Callable[[], None]) -> None:
        """End the sending side of connections; when the servers have closed theirs, or after a second, call `then`."""
        left = set(connections)

        def closed(connection: _Connection) -> None:
            left.discard(connection)
            if not left:
                then()

        for connection in connections:
            _Closing(self._loop, connection.descriptor, partial(closed, connection))

    def _sweep(self) -> None:
        """Forget closed connections, and close those that have been idle for long."""
        before = time.monotonic() - IDLE_SECONDS
        self.unmet = {inode: one for inode, one in self.unmet.items() if one.is_open}
        for address, connections in list(self._at.items()):
            kept = [one for one in connections if one.is_open]
            old = [one for one in kept if one.used_at < before and one.descriptor not in self._watched]
            self._at[address] = [one for one in kept if one not in old]
            if not self._at[address]:
                del self._at[address]
            self._close(old, lambda: None)
        self._sweeping = self._loop.call_later(_SWEEP_SECONDS, self._sweep)


class _Closing:
    """Closes one connection under libcurl, which notices it when it next looks for a connection to use."""

    def __init__(self, loop: Loop, descriptor: int, then: Callable[[], None]) -> None:
        self._loop = loop
        self._then = then
        self._socket = socket.socket(fileno=os.dup(descriptor))
        self._socket.setblocking(False)
        self._timer = loop.call_later(CLOSING_SECONDS, self._end)
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:  # it is closed already
            loop.call_soon(self._end)
        else:
            loop.watch(self._socket.fileno(), READ, self._on_event)

    def _on_event(self, descriptor: int, events: int) -> None:
        try:
            if self._socket.recv(_RECEIVE_BYTES):
                return
        except BlockingIOError:
            return
        except OSError:
            pass
        self._end()

    def _end(self) -> None:
        if self._socket.fileno() < 0:
            return
        self._timer.cancel()
        self._loop.unwatch(self._socket.fileno())
        with suppress(OSError):  # the other side has closed it
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._then()
