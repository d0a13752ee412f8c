"""One server process: an epoll loop that answers for its hosts.

Its life: listen on the address of each of its hosts, say "ready" on the control socket, answer requests and commands,
and end when the control socket ends.
"""

from __future__ import annotations

import resource
import select
import socket
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from time import monotonic

from pycrawl.simweb.connection import NO_REQUEST, Connection, Request
from pycrawl.simweb.hosts import address
from pycrawl.simweb.http_answers import Answer, Answers, fault, is_fresh
from pycrawl.simweb.log import ABORTED, LogWriter

MAX_HEAD_BYTES = 16_384
BACKLOG = 512  # connections that wait to be accepted, for each host
SEND_BUFFER = 262_144  # bytes: so that the kernel takes a page in one call
EVENTS_AT_ONCE = 512
SPARE_FILES = 64  # descriptors for all but clients and hosts

_IN, _OUT = select.EPOLLIN, select.EPOLLOUT
_BAD_REQUEST = fault(400, close=True)
_WRONG_METHOD = fault(405, close=True, headers="Allow: GET, HEAD\r\n")
_TOO_LARGE = fault(431, close=True)


class Worker:
    def __init__(self, answers: Answers, control: socket.socket, log: LogWriter | None, numbers: Iterator[int]) -> None:
        """`numbers` are those of its connections."""
        self._answers = answers
        self._control = control
        self._commands = b""  # read from the control socket, not yet a whole line
        self._log = log
        self._epoll = select.epoll()
        self._listeners: dict[int, tuple[socket.socket, int]] = {}  # descriptor → socket, host
        self._connections: dict[int, Connection] = {}  # by descriptor
        self._numbers = numbers
        self._timers: list[tuple[float, int, Connection]] = []  # a heap of answers that are to wait, by due time
        self._pipelined: list[Connection] = []  # answered, with bytes of a further request in the inbox
        self._now = 0.0  # when the events at hand were reported
        self._most_connections = 0

    def run(self, hosts: Iterable[int], port: int) -> None:
        """Until the control socket ends."""
        try:
            self._listen(hosts, port)
        except OSError as error:
            self._control.sendall(f"{error}\n".encode())
            return
        self._control.sendall(b"ready\n")
        self._loop()
        if self._log is not None:
            self._log.flush()

    def _listen(self, hosts: Iterable[int], port: int) -> None:
        hosts = list(hosts)
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most_connections = limit - len(hosts) - SPARE_FILES
        if self._most_connections <= 0:
            raise OSError(f"{limit} open files are too few for {len(hosts)} hosts: `ulimit -n`, or more workers")
        for host in hosts:
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # both are handed on to connections
            listener.bind((address(host), port))
            listener.listen(BACKLOG)
            self._listeners[listener.fileno()] = (listener, host)
            self._epoll.register(listener.fileno(), _IN)

    def _loop(self) -> None:
        self._epoll.register(self._control.fileno(), _IN)
        connections, listeners = self._connections, self._listeners
        while True:
            events = self._epoll.poll(self._patience(), EVENTS_AT_ONCE)
            # A request counts from here, not from its turn: so two that were open at once show as such in the log.
            self._now = monotonic()
            for fd, mask in events:
                connection = connections.get(fd)
                if connection is not None:
                    if mask & _OUT:
                        self._send(connection)
                    else:
                        self._read(connection)
                elif fd in listeners:
                    self._accept(*listeners[fd])
                elif fd == self._control.fileno() and not self._obey():
                    return
            self._send_what_is_due()
            self._take_pipelined()

    # Connections

    def _accept(self, listener: socket.socket, host: int) -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return  # no more, or the client has gone already
            if len(self._connections) >= self._most_connections:
                sock.close()
                continue
            sock.setblocking(False)
            connection = Connection(sock, host, next(self._numbers))
            self._connections[connection.fd] = connection
            self._epoll.register(connection.fd, _IN)

    def _read(self, connection: Connection) -> None:
        try:
            data = connection.socket.recv(MAX_HEAD_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data or len(connection.inbox) > MAX_HEAD_BYTES:
            self._close(connection)
        elif connection.request is None:
            self._take_request(connection, data)
        else:
            connection.inbox += data

    def _close(self, connection: Connection) -> None:
        if connection.request is not None:
            self._note(connection, connection.request, ABORTED, monotonic())
            connection.request = None
        del self._connections[connection.fd]
        connection.socket.close()

    # Requests

    def _take_request(self, connection: Connection, data: bytes) -> None:
        """Answer the next request in the inbox and `data`, if it is whole."""
        if connection.inbox:
            data = connection.inbox + data
        end = data.find(b"\r\n\r\n", 0, MAX_HEAD_BYTES)
        if end >= 0:
            connection.inbox = data[end + 4 :]
            request = Request(data[: end + 2])
            self._answer(connection, request, *self._choose(connection.host, request))
        elif len(data) < MAX_HEAD_BYTES:
            connection.inbox = data
        else:
            self._answer(connection, NO_REQUEST, _TOO_LARGE, _TOO_LARGE.status, _TOO_LARGE.wire)

    def _take_pipelined(self) -> None:
        while self._pipelined:
            connection = self._pipelined.pop()
            if connection.request is None and self._connections.get(connection.fd) is connection:
                self._take_request(connection, b"")

    def _choose(self, host: int, request: Request) -> tuple[Answer, int, bytes]:
        """The answer to a request: with its status and bytes, which are not those of a GET for HEAD and 304."""
        if request.method not in (b"GET", b"HEAD"):
            request.closes = True  # where its body ends is not known
            refusal = _WRONG_METHOD if request.method else _BAD_REQUEST
            return refusal, refusal.status, refusal.wire
        found = self._answers.find(host, request.target)
        if found.not_modified and request.is_conditional:
            conditions = request.header(b"if-none-match"), request.header(b"if-modified-since")
            if is_fresh(found, *conditions):
                return found, 304, found.not_modified
        if request.method == b"HEAD":
            return found, found.status, found.wire[: found.head_bytes]
        return found, found.status, found.wire

    def _answer(self, connection: Connection, request: Request, found: Answer, status: int, wire: bytes) -> None:
        connection.request = request
        connection.started = self._now
        connection.status = status
        connection.outbox = wire
        if found.latency:
            heappush(self._timers, (self._now + found.latency, connection.number, connection))
        else:
            self._send(connection)

    def _patience(self) -> float:
        """Seconds until the next answer is due; -1: for ever."""
        return max(0.0, self._timers[0][0] - monotonic()) if self._timers else -1

    def _send_what_is_due(self) -> None:
        now = monotonic()
        while self._timers and self._timers[0][0] <= now:
            connection = heappop(self._timers)[2]
            if connection.request is not None:
                self._send(connection)

    def _send(self, connection: Connection) -> None:
        outbox = connection.outbox
        now = monotonic()  # before the client can have the last byte: a late clock would shorten its pauses in the log
        try:
            sent = connection.socket.send(outbox)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._close(connection)
            return
        if sent < len(outbox):
            connection.outbox = memoryview(outbox)[sent:]
            self._epoll.modify(connection.fd, _OUT)
            return
        if isinstance(outbox, memoryview):
            self._epoll.modify(connection.fd, _IN)
        self._finish(connection, now)

    def _finish(self, connection: Connection, ended: float) -> None:
        request = connection.request
        assert request is not None
        if self._log is not None:
            self._note(connection, request, connection.status, ended)
        connection.request = None
        connection.outbox = b""
        if request.closes:
            self._close(connection)
        elif connection.inbox:
            self._pipelined.append(connection)

    def _note(self, connection: Connection, request: Request, status: int, ended: float) -> None:
        if self._log is not None:
            method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
            times = connection.started, ended
            agent = request.header(b"user-agent")
            self._log.add((*times, address(connection.host), method, target, status, connection.number, agent))

    # Commands

    def _obey(self) -> bool:
        """Carry out the commands that came; False when no more will come."""
        data = self._control.recv(4096)
        *lines, self._commands = (self._commands + data).split(b"\n")
        for line in lines:
            self._control.sendall(b"ok\n" if self._command(line.split()) else b"unknown command\n")
        return bool(data)

    def _command(self, words: list[bytes]) -> bool:
        match words:
            case [b"version", version] if version.isdigit():
                self._answers.set_version(int(version))
            case [b"flush"] if self._log is not None:
                self._log.flush()
            case [b"clear"] if self._log is not None:
                self._log.clear()
            case _:
                return False
        return True
