"""What all transports share: finding the way to a request's server, checking its addresses, and cookies."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial
from resource import RLIMIT_NOFILE, getrlimit
from typing import NamedTuple

from pycrawl.fetch.addresses import Guard
from pycrawl.fetch.cookies import CookieJar
from pycrawl.fetch.decoding import Body
from pycrawl.fetch.dns import Answer, Resolver, without_dns
from pycrawl.fetch.faults import note_fault
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.origins import Origin, origin_of
from pycrawl.fetch.proxies import NO_PROXIES, Proxy
from pycrawl.fetch.transport import Head, Request, Response, TransportSettings, WantsType, type_gate
from pycrawl.model import Outcome
from pycrawl.urls.normal_form import MAX_HOST_LENGTH

_PROXY_AUTHENTICATION = 407
_ROUTES_KEPT = 16_384
_FILES_PER_SLOT = 2  # descriptors: an open connection, and one that is kept for later

OnDone = Callable[[Response], object]


class Route(NamedTuple):
    """How a request gets to its server. The guard permits all of `addresses`."""

    origin: Origin
    addresses: tuple[str, ...]  # of the server; empty if the proxy looks the name up
    pinned: str = ""  # if set, the only address to dial, on a connection that was made for it
    proxy: Proxy | None = None
    proxy_addresses: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        return self.addresses[0] if self.addresses else ""


def fill(response: Response, route: Route, head: Head, body: Body | None) -> None:
    """Put status, headers and body into `response`. `body` is None if the body was not wanted.

    A 2xx answer whose body cannot be decoded at all becomes BAD_ENCODING. Other answers keep their status and headers,
    as a redirect or an error needs no body.
    """
    if route.proxy is not None and head.status == _PROXY_AUTHENTICATION:
        response.outcome, response.detail = Outcome.CONNECT_FAILED, "the proxy asks for another user or password (407)"
        return
    if body is not None:
        response.body = body.end()
        response.truncated = body.truncated
        response.damaged = bool(body.damage)
        response.detail = body.damage
        if response.damaged and not response.body and 200 <= head.status < 300:
            response.damaged = False
            response.outcome = Outcome.BAD_ENCODING
            return
    response.status = head.status
    response.status_line = head.status_line
    response.headers = head.headers
    response.first_values = head.first_values


def _direct_route(guard: Guard, origin: Origin, address: str) -> Route | None:
    """The route to this address of an origin without a proxy; None if the guard does not permit it."""
    permitted = guard.permitted((address,))
    return Route(origin, permitted, address) if permitted else None


def _refusal(host: str, address: str) -> str:
    where = host if host == address else f"{host} is at {address}, which"
    return f"{where} is a private address; set security.allow_private_addresses = true to crawl it"


def body_of(head: Head, limit: int) -> Body:
    """Returns an empty `Body` that decodes as the Content-Encoding headers of `head` say."""
    return Body(b",".join(head.all_values(b"content-encoding")), limit)


# Called when the route is known: (request, time of submission, seconds spent on name look-ups, route).
Go = Callable[[Request, float, float, Route], None]


class _Errand(NamedTuple):
    """A request whose route is being found."""

    request: Request
    started: float
    origin: Origin
    proxy: Proxy | None
    go: Go


class ResolvingTransport(ABC):
    """Finds the route of each request. A subclass sends the request in `_start` and answers it with `_finish`."""

    def __init__(
        self,
        loop: Loop,
        settings: TransportSettings,
        wants_type: WantsType,
        on_done: OnDone,
        resolver: Resolver | None = None,
    ) -> None:
        self.in_flight = 0
        self.most_slots = getrlimit(RLIMIT_NOFILE)[0] // _FILES_PER_SLOT
        self._loop = loop
        self._settings = settings
        self._keeps_body = type_gate(wants_type)
        self._on_done = on_done
        self._resolver = resolver or Resolver(loop, settings.nameservers, settings.connect_timeout)
        self._proxies = settings.proxies
        self._guard = Guard(settings.allow_private, settings.allow_networks)
        # The guard never changes its mind on an address, so a route that it permitted once holds. What is wrapped is no
        # method: that would hold the transport, which then only the garbage collector could free.
        self._direct_route = lru_cache(_ROUTES_KEPT)(partial(_direct_route, self._guard))
        self._jar = CookieJar() if settings.cookies else None
        self._closed = False

    def submit(self, request: Request) -> None:
        self._set_out(request, self._start)

    def resolve(self, key: int, url: str) -> None:
        self._set_out(Request(key, url), self._tell)

    def close(self) -> None:
        self._closed = True
        self._resolver.close()

    @abstractmethod
    def _start(self, request: Request, started: float, spent: float, route: Route) -> None:
        """Send the request. It was submitted at `started`; its name look-ups took `spent` seconds."""

    def _tell(self, request: Request, started: float, spent: float, route: Route) -> None:
        response = Response(request.key, request.url, started, address=route.address, addresses=route.addresses)
        self._loop.call_soon(partial(self._finish, response))

    def _set_out(self, request: Request, go: Go) -> None:
        started = time.monotonic()
        self.in_flight += 1
        try:
            self._find_way(request, started, go)
        except Exception as error:  # noqa: BLE001 - costs this URL only
            self._fail_by_fault(request, started, error)

    def _find_way(self, request: Request, started: float, go: Go) -> None:
        try:
            origin = origin_of(request.url)
        except ValueError:
            detail = f"not an absolute http(s) URL in its normal form: {request.url}"
            self._fail_soon(request, started, Outcome.INTERNAL_ERROR, detail)
            return
        if len(origin.host) > MAX_HOST_LENGTH:
            detail = f"a host name of {len(origin.host):,} characters"
            self._fail_soon(request, started, Outcome.DNS_FAILURE, detail)
            return
        if self._jar is not None and not request.cookies:
            request = request._replace(cookies=self._jar.header(request.url, time.time()))
        proxy = self._proxies.for_origin(origin) if self._proxies is not NO_PROXIES else None
        if proxy is None and request.address:
            route = self._direct_route(origin, request.address)
            if route is not None:
                go(request, started, 0.0, route)
                return
        errand = _Errand(request, started, origin, proxy, go)
        if request.address and (proxy is None or proxy.takes_addresses):
            self._check(errand, 0.0, (request.address,))
        elif proxy is not None and self._looks_up(proxy):
            self._check_literal(errand, proxy)
        elif (answer := self._resolver.cached(origin.host)) is not None:
            self._on_answer(errand, 0.0, answer)
        else:
            self._resolver.resolve(origin.host, partial(self._on_late_answer, errand))

    def _looks_up(self, proxy: Proxy) -> bool:
        """True if the proxy looks the server's name up: it is a socks5h proxy, or every address is allowed anyway."""
        return proxy.scheme == "socks5h" or (proxy.is_http and self._guard.allows_all)

    def _check_literal(self, errand: _Errand, proxy: Proxy) -> None:
        addresses = without_dns(errand.origin.host)
        if addresses:
            self._check(errand, 0.0, addresses)
        else:
            self._find_proxy(errand, proxy, ())

    def _on_late_answer(self, errand: _Errand, answer: Answer) -> None:
        try:
            self._on_answer(errand, time.monotonic() - errand.started, answer)
        except Exception as error:  # noqa: BLE001 - costs this URL only
            self._fail_by_fault(errand.request, errand.started, error)

    def _on_answer(self, errand: _Errand, spent: float, answer: Answer) -> None:
        if answer.addresses:
            self._check(errand, spent, answer.addresses)
        else:
            detail = f"{errand.origin.host}: {answer.error}"
            self._fail_soon(errand.request, errand.started, Outcome.DNS_FAILURE, detail)

    def _check(self, errand: _Errand, spent: float, addresses: tuple[str, ...]) -> None:
        permitted = self._guard.permitted(addresses)
        if not permitted:
            detail = _refusal(errand.origin.host, addresses[0])
            self._fail_soon(errand.request, errand.started, Outcome.ADDRESS_REFUSED, detail, addresses[0])
        elif errand.proxy is None:
            route = Route(errand.origin, permitted, errand.request.address)
            errand.go(errand.request, errand.started, spent, route)
        else:
            self._find_proxy(errand, errand.proxy, permitted)

    def _find_proxy(self, errand: _Errand, proxy: Proxy, addresses: tuple[str, ...]) -> None:
        self._resolver.resolve(proxy.host, partial(self._on_proxy, errand, proxy, addresses))

    def _on_proxy(self, errand: _Errand, proxy: Proxy, addresses: tuple[str, ...], answer: Answer) -> None:
        if answer.addresses:
            pinned = addresses[0] if proxy.takes_addresses else ""
            route = Route(errand.origin, addresses, pinned, proxy, answer.addresses)
            try:
                errand.go(errand.request, errand.started, time.monotonic() - errand.started, route)
            except Exception as error:  # noqa: BLE001 - costs this URL only
                self._fail_by_fault(errand.request, errand.started, error)
        else:
            detail = f"the proxy {proxy.host}: {answer.error}"
            self._fail_soon(errand.request, errand.started, Outcome.CONNECT_FAILED, detail)

    def _fail_soon(self, request: Request, started: float, outcome: Outcome, detail: str, address: str = "") -> None:
        response = Response(request.key, request.url, started, outcome=outcome, detail=detail, address=address)
        self._loop.call_soon(partial(self._finish, response))

    def _fail_by_fault(self, request: Request, started: float, error: Exception) -> None:
        self._fail_soon(request, started, Outcome.INTERNAL_ERROR, note_fault(request.url, error))

    def _finish(self, response: Response) -> None:
        if not self._closed:
            self.in_flight -= 1
            if self._jar is not None:
                try:
                    self._jar.take(response)
                except Exception as error:  # noqa: BLE001 - costs this URL only
                    detail = note_fault(response.url, error)
                    response = Response(
                        response.key, response.url, response.started, outcome=Outcome.INTERNAL_ERROR, detail=detail
                    )
            self._on_done(response)
