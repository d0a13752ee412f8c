"""The portable transport: urllib3 in a pool of threads, with the same limits and responses as the curl transport.

`_jobs` is filled by `_start` on the loop's thread and emptied by the threads; each answer goes back through the loop.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass
from functools import partial
from http.client import BadStatusLine, HTTPException, RemoteDisconnected
from queue import SimpleQueue

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import InvalidHeader, ProtocolError
from urllib3.util import create_urllib3_context
from urllib3.util.connection import is_connection_dropped

from pycrawl.fetch.decoding import Body
from pycrawl.fetch.dns import Resolver
from pycrawl.fetch.faults import note_fault
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.open_connections import CLOSING_SECONDS
from pycrawl.fetch.origins import Origin
from pycrawl.fetch.routes import OnDone, ResolvingTransport, Route, body_of, fill
from pycrawl.fetch.transport import (
    DRAINED_BYTES,
    FORM_TYPE,
    Head,
    Request,
    RequestTerms,
    Response,
    TransportSettings,
    WantsType,
    ca_file,
    common_headers,
    with_own_headers,
)
from pycrawl.fetch.urllib3_connections import Connection, new_connection
from pycrawl.fetch.urllib3_reading import Budget, FetchError
from pycrawl.model import Outcome

MOST_THREADS = 64
_IDLE_PER_THREAD = 4
_READ_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class _Job:
    request: Request
    started: float
    spent: float  # seconds, on name look-ups
    route: Route
    terms: RequestTerms


class _Connections:
    """Connections kept alive, least recently used first, and how many are in use; filled and emptied by all threads."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._idle: OrderedDict[Connection, tuple[Origin, str]] = OrderedDict()  # to what, and where pinned
        self._in_use: Counter[str] = Counter()  # by pinned address: requests that are under way
        self._lock = threading.Lock()

    def take(self, route: Route, most: int) -> Connection | None:
        """Returns an idle connection for the route, or None: then a new one is to be made, and idle connections to its
        address are closed, so that no more than `most` are open. The caller owes `leave`."""
        wanted = (route.origin, route.pinned)
        with self._lock:
            self._in_use[route.pinned] += 1
            found = [connection for connection, known in self._idle.items() if known == wanted]
            for connection in found:
                del self._idle[connection]
                if not is_connection_dropped(connection):
                    return connection
                connection.close()
            others = [one for one, known in self._idle.items() if most and route.pinned and known[1] == route.pinned]
            closing = others[: max(0, self._in_use[route.pinned] + len(others) - most)]
            for connection in closing:
                del self._idle[connection]
        for connection in closing:
            _close(connection)
        return None

    def leave(self, route: Route) -> None:
        """End a request that `take` has begun."""
        with self._lock:
            self._in_use[route.pinned] -= 1
            if not self._in_use[route.pinned]:
                del self._in_use[route.pinned]

    def put(self, route: Route, connection: Connection) -> None:
        with self._lock:
            self._idle[connection] = (route.origin, route.pinned)
            if len(self._idle) > self._capacity:
                self._idle.popitem(last=False)[0].close()

    def close_idle(self, address: str) -> None:
        with self._lock:
            closing = [connection for connection, known in self._idle.items() if known[1] == address]
            for connection in closing:
                del self._idle[connection]
                connection.close()

    def close(self) -> None:
        with self._lock:
            self._capacity = 0
            while self._idle:
                self._idle.popitem()[0].close()


def _close(connection: Connection) -> None:
    """Close an idle connection, and wait until its server has done so too, for a second at the most."""
    sock = connection.sock
    until = time.monotonic() + CLOSING_SECONDS
    try:
        if sock is not None:
            sock.shutdown(socket.SHUT_WR)
            while (left := until - time.monotonic()) > 0:
                sock.settimeout(left)
                if not sock.recv(_READ_BYTES):
                    break
    except OSError:  # it is closed already, or the server takes its time
        pass
    connection.close()


class ThreadTransport(ResolvingTransport):
    def __init__(
        self,
        loop: Loop,
        settings: TransportSettings,
        wants_type: WantsType,
        on_done: OnDone,
        resolver: Resolver | None = None,
    ) -> None:
        super().__init__(loop, settings, wants_type, on_done, resolver)
        count = self.most_slots = min(settings.slots, MOST_THREADS)
        self._connections = _Connections(count * _IDLE_PER_THREAD)
        self._context = create_urllib3_context()
        self._context.load_verify_locations(ca_file(settings))
        self._headers: dict[RequestTerms, dict[str, str]] = {}  # those that all requests with these terms have
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True, name=f"fetch-{n}") for n in range(count)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        super().close()
        for _ in self._threads:
            self._jobs.put(None)
        self._connections.close()

    def close_idle(self, address: str) -> None:
        self._connections.close_idle(address)

    def _start(self, request: Request, started: float, spent: float, route: Route) -> None:
        self._jobs.put(_Job(request, started, spent, route, request.terms or self._settings))

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None and not self._closed:
            response = self._fetch(job)
            if not self._closed:
                self._loop.call_soon_threadsafe(partial(self._finish, response))

    def _fetch(self, job: _Job) -> Response:
        response = Response(job.request.key, job.request.url, job.started, cookies=job.request.cookies)
        budget = Budget(job.terms, time.monotonic() - job.spent)  # waiting for a thread is not the host's fault
        try:
            self._exchange(job, budget, response)
        except Exception as error:  # noqa: BLE001 - a thread must answer each job, whatever a library raises
            response.outcome, response.detail = _failure(error, response.url)
        finally:
            self._connections.leave(job.route)
        response.ended = time.monotonic()
        response.fetched_at = time.time()
        response.wire_bytes = budget.wire_bytes
        return response

    def _exchange(self, job: _Job, budget: Budget, response: Response) -> None:
        connection, answer = self._ask(job, budget)
        reusable = False
        try:
            response.address = connection.address
            head = Head(budget.lines)
            if head.fault:
                raise FetchError(Outcome.BAD_RESPONSE, head.fault)
            if job.request.any_type or self._keeps_body(head):
                body = body_of(head, job.terms.max_body_bytes)
                reusable = _read(answer, body, budget)
                fill(response, job.route, head, body)
            else:
                reusable = _drain(answer, head.length, budget)
                fill(response, job.route, head, None)
                response.aborted_by_type = True
        finally:
            answer.close()
            if reusable and connection.sock is not None:
                self._connections.put(job.route, connection)
            else:
                connection.close()

    def _ask(self, job: _Job, budget: Budget) -> tuple[Connection, BaseHTTPResponse]:
        """Send the request and read the head. If the server has closed a kept connection, a new one is made."""
        kept = self._connections.take(job.route, job.request.connections)
        if kept is not None:
            try:
                return kept, self._ask_on(kept, job, budget)
            except ConnectionError:  # RemoteDisconnected is one
                kept.close()
                budget.lines.clear()
            except BaseException:
                kept.close()
                raise
        connection = new_connection(job.route, self._guard, self._context, job.terms.user_agent)
        try:
            return connection, self._ask_on(connection, job, budget)
        except BaseException:
            connection.close()
            raise

    def _ask_on(self, connection: Connection, job: _Job, budget: Budget) -> BaseHTTPResponse:
        connection.prepare(budget, job.route, job.request.is_head)
        if connection.sock is None:
            connection.timeout = budget.connect_seconds()
            connection.connect()
        headers = self._headers_of(job)
        target = "/" + job.request.url.split("/", 3)[3].partition("#")[0]
        proxy = job.route.proxy
        if proxy is not None and proxy.is_http and job.route.origin.scheme == "http":
            target = job.request.url.partition("#")[0]
            if proxy.authorization:
                headers["Proxy-Authorization"] = proxy.authorization
        connection.timeout = job.terms.total_timeout
        connection.request(
            "POST" if job.request.form else "HEAD" if job.request.is_head else "GET",
            target,
            body=job.request.form or None,
            headers=headers,
            preload_content=False,
            decode_content=False,
        )
        budget.open_window()
        return connection.getresponse()

    def _headers_of(self, job: _Job) -> dict[str, str]:
        common = self._headers.get(job.terms)
        if common is None:  # two threads may both make it, and come to the same
            common = self._headers[job.terms] = {"User-Agent": job.terms.user_agent, **common_headers(job.terms)}
        headers = {name: value for name, value in with_own_headers(common, job.request).items() if value}
        return headers | {"Content-Type": FORM_TYPE} if job.request.form else headers


def _read(answer: BaseHTTPResponse, body: Body, budget: Budget) -> bool:
    """Read the body. Returns True if it was read to its end, so that the connection can be used again."""
    while data := answer.read1(_READ_BYTES, decode_content=False):
        budget.take_body(len(data))
        if not body.feed(data):
            return False
    return True


def _drain(answer: BaseHTTPResponse, length: int, budget: Budget) -> bool:
    """Read and drop a short body. Returns True if its end was reached, so that the connection can be used again."""
    left = -1 if length > DRAINED_BYTES else DRAINED_BYTES
    try:
        while left >= 0:
            data = answer.read1(_READ_BYTES, decode_content=False)
            if not data:
                return True
            budget.take_body(len(data))
            left -= len(data)
    except FetchError as error:
        if error.outcome is not Outcome.BAD_RESPONSE:  # padding around what is not wanted anyway
            raise
    return False


def _failure(error: Exception, url: str) -> tuple[Outcome, str]:
    """Returns outcome and detail of a fetch that raised `error`."""
    detail = " ".join(str(error).split()) or type(error).__name__
    match error:
        case FetchError():
            return error.outcome, error.detail
        case ProtocolError():
            return Outcome.CONNECTION_LOST, str(error.args[0])
        case ssl.SSLEOFError() | ConnectionError() | RemoteDisconnected():
            return Outcome.CONNECTION_LOST, detail
        case ssl.SSLError() | ssl.CertificateError():
            return Outcome.TLS_FAILURE, detail
        case TimeoutError():  # only connecting and sending can meet it: reading has its own
            return Outcome.CONNECT_TIMEOUT, detail
        case InvalidHeader():
            return Outcome.BAD_RESPONSE, detail
        case BadStatusLine():
            return Outcome.BAD_RESPONSE, f"not a status line: {detail[:80]}"
        case HTTPException() if "more than" in detail:  # lines of a head, or bytes of a line
            return Outcome.HEADERS_TOO_LARGE, detail
        case HTTPException():
            return Outcome.BAD_RESPONSE, detail
        case OSError():
            return Outcome.CONNECTION_LOST, detail
    return Outcome.INTERNAL_ERROR, note_fault(url, error)
