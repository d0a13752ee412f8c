"""What all transports do before a request goes out: the host's addresses, and the guard over them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache, partial

from pycrawl.fetch.addresses import is_public
from pycrawl.fetch.dns import Answer, Resolver
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.transport import Origin, Request, Response, TransportSettings, WantsType, origin_of, type_gate
from pycrawl.model import Outcome

OnDone = Callable[[Response], object]


@lru_cache(maxsize=65_536)
def _public_ones(addresses: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(is_public, addresses))


class ResolvingTransport(ABC):
    """Resolves and guards; a subclass sends the request in `_start` and answers it with `_finish`."""

    def __init__(
        self,
        loop: Loop,
        settings: TransportSettings,
        wants_type: WantsType,
        on_done: OnDone,
        resolver: Resolver | None = None,
    ) -> None:
        self.in_flight = 0
        self._loop = loop
        self._settings = settings
        self._keeps_body = type_gate(wants_type)
        self._on_done = on_done
        self._resolver = resolver or Resolver(loop, settings.nameservers, settings.connect_timeout)
        self._closed = False

    def submit(self, request: Request) -> None:
        started = time.monotonic()
        self.in_flight += 1
        try:
            origin = origin_of(request.url)
        except (ValueError, KeyError):
            self._fail_soon(request, started, Outcome.INTERNAL_ERROR, f"not an absolute http(s) URL: {request.url}")
            return
        answer = self._resolver.cached(origin.host)
        if answer is None:
            self._resolver.resolve(origin.host, partial(self._on_answer, request, started, origin))
        else:
            self._guard(request, started, 0.0, origin, answer)

    def close(self) -> None:
        self._closed = True
        self._resolver.close()

    @abstractmethod
    def _start(
        self, request: Request, started: float, spent: float, origin: Origin, addresses: tuple[str, ...]
    ) -> None:
        """Send it to one of `addresses`. It was submitted at `started`; the name look-up took `spent` seconds."""

    def _on_answer(self, request: Request, started: float, origin: Origin, answer: Answer) -> None:
        self._guard(request, started, time.monotonic() - started, origin, answer)

    def _guard(self, request: Request, started: float, spent: float, origin: Origin, answer: Answer) -> None:
        addresses = answer.addresses
        if not self._settings.allow_private:
            addresses = _public_ones(addresses)
        if addresses:
            self._start(request, started, spent, origin, addresses)
        elif answer.addresses:
            address = answer.addresses[0]
            detail = f"{origin.host} is {address}, which is not public"
            self._fail_soon(request, started, Outcome.ADDRESS_REFUSED, detail, address)
        else:
            self._fail_soon(request, started, Outcome.DNS_FAILURE, f"{origin.host}: {answer.error}")

    def _fail_soon(self, request: Request, started: float, outcome: Outcome, detail: str, address: str = "") -> None:
        response = Response(request.key, request.url, started, outcome=outcome, detail=detail, address=address)
        self._loop.call_soon(partial(self._finish, response))

    def _finish(self, response: Response) -> None:
        if not self._closed:
            self.in_flight -= 1
            self._on_done(response)
