"""The transport on libcurl's multi interface, driven by our epoll loop.

The life of a request:

1. `submit` finds the server's addresses and checks them (routes.py).
2. `_start` takes an idle slot, sets the options that differ from the slot's last request, and adds its handle.
3. libcurl asks for a time-out of 0; `_turn` then lets it connect, or reuse a connection.
4. libcurl says through `_on_socket` which sockets to watch; each event goes to `socket_action`, which calls the slot
   back with header lines and body.
5. When libcurl reports fewer running handles than were added, `_turn` collects those that ended and builds responses.
"""

from __future__ import annotations

import time
from collections import defaultdict
from functools import lru_cache, partial
from itertools import chain
from resource import RLIMIT_NOFILE, getrlimit

import pycurl

from pycrawl.fetch.curl_slot import Room, Slot, Target, Way
from pycrawl.fetch.dns import Resolver
from pycrawl.fetch.loop import READ, WRITE, Loop, Timer
from pycrawl.fetch.open_connections import OpenConnections
from pycrawl.fetch.proxies import Proxy
from pycrawl.fetch.routes import OnDone, ResolvingTransport, Route
from pycrawl.fetch.transport import (
    Request,
    RequestTerms,
    Response,
    TransportSettings,
    WantsType,
    ca_file,
    common_headers,
    with_own_headers,
)
from pycrawl.model import Outcome

_IDLE_PER_SLOT = 8  # idle connections kept for each slot: a polite crawl pauses between two pages of a host
_LEAST_IDLE = 4096
_RECEIVE_BYTES = 131_072
_BARREN_PER_CHECK = 2  # a transfer is checked for padding each time that it was read so often and no body came
_SUPPRESS_CONNECT_HEADERS = 265  # an option that has no name of its own in pycurl
_WATCHED = {pycurl.POLL_IN: READ, pycurl.POLL_OUT: WRITE, pycurl.POLL_INOUT: READ | WRITE}


def _actions(events: int) -> int:
    """Translate epoll's events into libcurl's; an error or a hang-up (8, 16) becomes CSELECT_ERR."""
    action = pycurl.CSELECT_IN if events & READ else 0
    action |= pycurl.CSELECT_OUT if events & WRITE else 0
    return action | (pycurl.CSELECT_ERR if events & ~(READ | WRITE) else 0)


_ACTIONS = [_actions(events) for events in range(64)]


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@lru_cache(maxsize=16_384)  # of at most some 1,000 bytes each
def _resolve_entry(target: Target, addresses: tuple[str, ...]) -> str:
    return f"{_bracketed(target[0])}:{target[1]}:{','.join(map(_bracketed, addresses))}"


@lru_cache(maxsize=16_384)
def _connect_to(pinned: str) -> list[str]:
    """For libcurl: whatever the host and the port, dial this address. Nobody changes the list."""
    return [f"::{_bracketed(pinned)}:"]


def _header_lines(headers: dict[str, str]) -> list[bytes]:
    """For libcurl, which leaves out a header without a value."""
    return [(f"{name}: {value}" if value else f"{name}:").encode("latin-1") for name, value in headers.items()]


def _idle_connections(slots: int) -> int:
    """How many connections libcurl may keep open; half of the process's file descriptors are left for other uses."""
    return min(max(_LEAST_IDLE, slots * _IDLE_PER_SLOT), max(slots, getrlimit(RLIMIT_NOFILE)[0] // 2))


def _set_proxy(curl: pycurl.Curl, proxy: Proxy) -> None:
    curl.setopt(pycurl.PROXY, proxy.url)
    curl.setopt(_SUPPRESS_CONNECT_HEADERS, 1)
    if proxy.user:
        curl.setopt(pycurl.PROXYUSERNAME, proxy.user)
        curl.setopt(pycurl.PROXYPASSWORD, proxy.password)


class CurlTransport(ResolvingTransport):
    def __init__(
        self,
        loop: Loop,
        settings: TransportSettings,
        wants_type: WantsType,
        on_done: OnDone,
        resolver: Resolver | None = None,
    ) -> None:
        super().__init__(loop, settings, wants_type, on_done, resolver)
        self._room = Room(max(settings.room_bytes, 2 * settings.max_body_bytes))
        self._idle: defaultdict[Way, list[Slot]] = defaultdict(list)
        self._active: dict[pycurl.Curl, Slot] = {}
        self._barren: dict[int, int] = {}  # by watched descriptor: how often it was read and nothing of a body came
        self._open = OpenConnections(loop, self._barren)
        self._unread: set[int] = set()  # descriptors that libcurl goes on to read when it is called at once
        self._targets_active: dict[Target, int] = {}  # how many of `_active` go there
        self._ended: list[Slot] = []  # on their way back to `_idle`
        self._fresh: list[Slot] = []  # added to libcurl, but not started yet
        # The encodings stand here and not in an option of libcurl, which would then decode without marking damage.
        self._headers: dict[RequestTerms, dict[str, str]] = {}  # those that all requests with these terms have
        self._ca_file = ca_file(settings)
        self._turn_due = False  # `_turn` is among the loop's callbacks
        self._kick_due = False  # libcurl asked to be called at once
        self._deadline: float | None = None  # when libcurl wants to be called, and
        self._timer: Timer | None = None  # the timer that is set, for then or
        self._timer_due = 0.0  # for an earlier time
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timeout_wish)
        self._multi.setopt(pycurl.M_MAXCONNECTS, _idle_connections(settings.slots))

    def close(self) -> None:
        super().close()
        self._open.close()
        for curl in self._active:
            self._multi.remove_handle(curl)
        for slot in chain(self._active.values(), *self._idle.values()):
            slot.curl.close()
        self._active.clear()
        self._idle.clear()
        self._multi.close()  # tells `_on_socket` about the idle connections
        if self._timer is not None:
            self._timer.cancel()

    def close_idle(self, address: str) -> None:
        self._open.close_idle(address)

    def _start(self, request: Request, started: float, spent: float, route: Route) -> None:
        if request.connections and route.pinned and not self._open.note_use(route.pinned, route.origin):
            begin = partial(self._begin, request, started, spent, route)
            if self._open.make_room(route.pinned, route.origin, request.connections, begin):
                return
        self._begin(request, started, spent, route)

    def _begin(self, request: Request, started: float, spent: float, route: Route) -> None:
        if self._closed:
            return
        way = (bool(route.pinned), route.proxy)
        idle = self._idle[way]
        slot = idle.pop() if idle else self._new_slot(way)
        slot.request = request
        slot.route = route
        slot.started = started
        curl = slot.curl
        try:
            curl.setopt(pycurl.URL, request.url)
            # A handle keeps the options that pin it, and libcurl needs no list of addresses for a pinned one.
            if slot.led_to is not route:
                self._set_addresses(slot, route)
            terms = request.terms or self._settings
            if slot.terms is not terms:
                self._set_terms(slot, terms)
            if request.headers or request.cookies or slot.has_own_headers:
                headers = with_own_headers(self._headers[terms], request)
                curl.setopt(pycurl.HTTPHEADER, _header_lines(headers))
                slot.has_own_headers = bool(request.headers or request.cookies)
            if request.form or slot.is_post:
                slot.is_post = bool(request.form)
                curl.setopt(*((pycurl.POSTFIELDS, request.form) if request.form else (pycurl.HTTPGET, 1)))
            if request.is_head != slot.is_head:
                slot.is_head = request.is_head
                curl.setopt(pycurl.NOBODY, request.is_head)
                curl.setopt(pycurl.HTTPGET, not request.is_head)
            if spent != slot.spent:
                self._set_timeouts(slot, spent)
            self._multi.add_handle(curl)
        except (pycurl.error, UnicodeError, ValueError) as error:
            idle.append(slot)
            self._fail_soon(request, started, Outcome.INTERNAL_ERROR, f"libcurl refuses the request: {error}")
        else:
            self._active[curl] = slot
            self._fresh.append(slot)
            assert slot.resolved is not None
            self._targets_active[slot.resolved] = self._targets_active.get(slot.resolved, 0) + 1

    def _set_addresses(self, slot: Slot, route: Route) -> None:
        """Tell libcurl which addresses to dial.

        libcurl never reuses a connection that was made for another pinned address (CONNECT_TO); it does not compare
        lists of addresses (RESOLVE).
        """
        slot.led_to = None
        if route.pinned:
            slot.curl.setopt(pycurl.CONNECT_TO, _connect_to(route.pinned))
        if route.proxy is not None:
            self._resolve(slot, (route.proxy.host, route.proxy.port), route.proxy_addresses)
        elif route.pinned:
            self._resolve(slot, (route.pinned, route.origin.port), ())  # libcurl puts it into its cache itself
            slot.led_to = route
        else:
            self._resolve(slot, (route.origin.host, route.origin.port), route.addresses)

    def _resolve(self, slot: Slot, target: Target, addresses: tuple[str, ...]) -> None:
        """Put the resolver's answer into libcurl's own DNS cache.

        Entries never expire, as libcurl would otherwise look at all of them after each transfer. They stay while in
        use, as libcurl dials again from there when a connection breaks. To keep the cache small, each slot removes the
        entry it made for the host before, unless another transfer still goes there.
        """
        last = slot.resolved
        slot.resolved = target
        entries = [_resolve_entry(target, addresses)] if addresses else []
        if last is not None and last != target and last not in self._targets_active:
            entries.insert(0, f"-{_bracketed(last[0])}:{last[1]}")
        slot.curl.setopt(pycurl.RESOLVE, entries)

    def _set_terms(self, slot: Slot, terms: RequestTerms) -> None:
        """Headers and time-outs are to be set by the caller, as those of the last request may differ."""
        if terms not in self._headers:
            self._headers[terms] = common_headers(terms)
        slot.terms = terms
        slot.has_own_headers = True
        slot.spent = -1.0
        slot.curl.setopt(pycurl.USERAGENT, terms.user_agent)
        slot.curl.setopt(pycurl.LOW_SPEED_LIMIT, terms.min_bytes_per_second)
        slot.curl.setopt(pycurl.LOW_SPEED_TIME, max(1, round(terms.slow_seconds)))

    def _set_timeouts(self, slot: Slot, spent: float) -> None:
        """Set the slot's time-outs: those of its terms, less the seconds `spent` on looking the name up."""
        assert slot.terms is not None
        slot.spent = spent
        slot.curl.setopt(pycurl.CONNECTTIMEOUT_MS, max(1, int((slot.terms.connect_timeout - spent) * 1000)))
        slot.curl.setopt(pycurl.TIMEOUT_MS, max(1, int((slot.terms.total_timeout - spent) * 1000)))

    def _new_slot(self, way: Way) -> Slot:
        curl = pycurl.Curl()
        slot = Slot(curl, way, self._guard, self._keeps_body, self._room, self._open.note_opened)
        for option, value in (
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS),
            (pycurl.NETRC, pycurl.NETRC_IGNORED),
            (pycurl.NOPROXY, ""),  # our own choice of proxies goes before libcurl's reading of the environment
            (pycurl.PROXY, ""),
            (pycurl.PATH_AS_IS, 1),
            (pycurl.CAINFO, self._ca_file),
            (pycurl.DNS_CACHE_TIMEOUT, -1),
            (pycurl.BUFFERSIZE, _RECEIVE_BYTES),
            (pycurl.HEADERFUNCTION, slot.lines.append),
            (pycurl.WRITEFUNCTION, slot.on_body),
        ):
            curl.setopt(option, value)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, slot.open_guarded_socket)
        proxy = way[1]
        if proxy is not None:
            _set_proxy(curl, proxy)
        return slot

    def _on_socket(self, what: int, fd: int, multi: object, data: object) -> None:
        if what == pycurl.POLL_REMOVE:
            self._barren.pop(fd, None)
            self._loop.unwatch(fd)
        else:
            if self._open.unmet:
                self._open.meet(fd)
            self._barren.setdefault(fd, 0)
            self._loop.watch(fd, _WATCHED[what], self._on_event)

    def _on_event(self, fd: int, events: int) -> None:
        room = self._room
        received = room.received
        was_due, self._kick_due = self._kick_due, False
        running = self._multi.socket_action(fd, _ACTIONS[events & 63])[1]
        if room.received == received and events & READ and fd in self._barren:
            self._count_barren(fd)
        if self._kick_due:
            self._unread.add(fd)
        else:
            self._kick_due = was_due
        if (running < len(self._active) or room.suspects) and not self._turn_due:
            self._turn_due = True
            self._loop.call_soon(self._turn)

    def _count_barren(self, fd: int) -> None:
        """What was read is no part of a body: of a head, of a handshake, or of nothing that is good for anything."""
        self._barren[fd] += 1
        if not self._barren[fd] % _BARREN_PER_CHECK:
            slots = self._active.values()
            self._room.suspects += [slot for slot in slots if slot.curl.getinfo(pycurl.ACTIVESOCKET) == fd]

    def _on_timeout_wish(self, milliseconds: int) -> None:
        """libcurl asks to be called again in so many milliseconds; -1 cancels. It does so with most events.

        So a timer that is already set for an earlier time stays: when it fires, it is set again for the rest.
        """
        if milliseconds > 0:
            self._deadline = time.monotonic() + milliseconds / 1000
            if self._timer is None or self._timer_due > self._deadline:
                self._set_timer()
        elif milliseconds == 0:
            self._deadline = None
            self._kick_due = True
            if not self._turn_due:
                self._turn_due = True
                self._loop.call_soon(self._turn)
        else:
            self._deadline = None

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        assert self._deadline is not None
        self._timer_due = self._deadline
        self._timer = self._loop.call_later(max(0.0, self._deadline - time.monotonic()), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._deadline > time.monotonic():
            self._set_timer()
        else:
            self._deadline = None
            self._kick_due = True
            self._turn()

    def _turn(self) -> None:
        """After all events of the loop's turn: hand out the responses that are complete, then start new requests.

        Starting many requests at once costs half as much as one by one. `on_done` should therefore only store a
        response and work on it in a later turn: what it submits meanwhile still leaves with this batch.
        """
        if self._closed:
            return
        responses = self._reap()
        # The first of these responses is followed by the first request, most often on the same route: its slot, which
        # is set to that, then lies on top.
        for slot in reversed(self._ended):
            self._idle[slot.way].append(slot)
        self._ended.clear()
        for response in responses:
            self._finish(response)
        self._turn_due = False
        if self._kick_due:
            self._kick_due = False
            self._start_fresh()
            running = self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)[1]
            if self._unread:
                self._count_unread()
            self._turn_due = running < len(self._active) or self._kick_due or bool(self._room.suspects)
        if self._turn_due:
            self._loop.call_soon(self._turn)

    def _count_unread(self) -> None:
        for fd in self._unread & self._barren.keys():
            self._count_barren(fd)
        if not self._kick_due:
            self._unread.clear()

    def _start_fresh(self) -> None:
        now = time.monotonic()
        for slot in self._fresh:
            slot.started = now
        self._fresh.clear()

    def _reap(self) -> list[Response]:
        responses: list[Response] = []
        queued = 1
        while queued:
            queued, succeeded, failed = self._multi.info_read()
            responses += [self._end(curl, 0, "") for curl in succeeded]
            responses += [self._end(curl, code, message) for curl, code, message in failed]
        if self._room.suspects:
            responses += self._end_padded()
        return responses

    def _end_padded(self) -> list[Response]:
        suspects = dict.fromkeys(self._room.suspects)
        self._room.suspects.clear()
        padded = [slot for slot in suspects if slot.curl in self._active and slot.is_to_end()]
        return [self._end(slot.curl, pycurl.E_WRITE_ERROR, "") for slot in padded]

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> Response:
        slot = self._active.pop(curl)
        assert slot.resolved is not None
        others = self._targets_active.pop(slot.resolved) - 1
        if others:
            self._targets_active[slot.resolved] = others
        self._multi.remove_handle(curl)
        response = slot.response(code, message)
        slot.rest()
        self._ended.append(slot)
        return response
