"""Looks up the addresses of host names without blocking: c-ares works in its own thread, answers arrive on the loop.

`_cache` holds every answer and every failure, the least recently used first; an entry is used until it `expires`.
"""

from __future__ import annotations

import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pycares

from pycrawl.errors import ConfigError
from pycrawl.fetch.loop import Loop, Timer

MIN_TTL = 30.0  # seconds; with a shorter one, every page of a host would be looked up again
MAX_TTL = 86_400.0
FAILURE_TTL = 30.0
CACHED_HOSTS = 50_000
MOST_ADDRESSES = 16  # of a name, that are kept and tried; an answer may have thousands
_TRIES = 3
_FIRST_TRY_SHARE = 5  # c-ares doubles its patience with each try: 1 + 2 + … of these parts fit into the time-out
_AI_NOSORT = 0x80  # c-ares would open a socket per address to rank them; we put IPv4 first
_FLUSH_EVERY = 10_000  # look-ups after which c-ares empties its own cache, which has no bound but an hour
_LOOPBACK = ("127.0.0.1", "::1")
# c-ares says that it could not contact a server as soon as a socket could not be used, which now and then happens once.
# So it is asked again after these pauses, in seconds.
_PAUSES_AFTER_REFUSAL = (0.05, 0.5)


@dataclass(frozen=True, slots=True)
class Answer:
    """The addresses of a host, IPv4 first. If there are none, the look-up failed and `error` says why."""

    addresses: tuple[str, ...]
    expires: float  # by the resolver's clock
    error: str = ""


OnAnswer = Callable[[Answer], object]


class _Lookup:
    """A look-up under way, and the callbacks that wait for it."""

    __slots__ = ("refusals", "timer", "waiting")

    def __init__(self, timer: Timer) -> None:
        self.timer = timer
        self.refusals = 0  # how often no server could be contacted
        self.waiting: list[OnAnswer] = []


class Resolver:
    """`nameservers` are addresses with an optional port; empty means the system's. /etc/hosts is asked first."""

    def __init__(
        self,
        loop: Loop,
        nameservers: tuple[str, ...] = (),
        timeout: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        capacity: int = CACHED_HOSTS,
    ) -> None:
        self._loop = loop
        self._timeout = timeout
        self._clock = clock
        self._capacity = capacity
        self._cache: OrderedDict[str, Answer] = OrderedDict()
        self._lookups: dict[str, _Lookup] = {}
        self._asked = 0
        try:
            self._channel = pycares.Channel(
                flags=pycares.ARES_FLAG_NOSEARCH,  # a public name must not become one of the local domain
                timeout=timeout / _FIRST_TRY_SHARE,
                tries=_TRIES,
                servers=list(nameservers) or None,
                lookups="fb",
            )
        except pycares.AresError as error:
            raise ConfigError(
                f"crawl.nameservers: expected addresses, found {', '.join(nameservers)} ({error})"
            ) from None

    def cached(self, host: str) -> Answer | None:
        """Returns the answer for `host` if it is known without a look-up, else None."""
        answer = self._cache.get(host)
        if answer is None:
            known = without_dns(host)
            return self._keep(host, known, MAX_TTL) if known else None
        if answer.expires <= self._clock():
            del self._cache[host]
            return None
        self._cache.move_to_end(host)
        return answer

    def resolve(self, host: str, on_answer: OnAnswer) -> None:
        """Look `host` up and call `on_answer` from the loop, within the time-out. Joins a look-up that is under way."""
        answer = self.cached(host)
        if answer is not None:
            self._loop.call_soon(partial(on_answer, answer))
            return
        lookup = self._lookups.get(host)
        if lookup is None:
            lookup = self._look_up(host)
        lookup.waiting.append(on_answer)

    def close(self) -> None:
        """Give up all look-ups; no callback is called any more."""
        for lookup in self._lookups.values():
            lookup.timer.cancel()
        self._lookups.clear()
        self._channel.close()

    def _look_up(self, host: str) -> _Lookup:
        timer = self._loop.call_later(self._timeout, partial(self._fail, host, f"no answer within {self._timeout:g} s"))
        lookup = self._lookups[host] = _Lookup(timer)
        self._ask(host)
        return lookup

    def _ask(self, host: str) -> None:
        hand_over = partial(self._hand_over, host)
        self._asked += 1
        if self._asked % _FLUSH_EVERY == 0:
            self._channel.reinit()
        try:
            self._channel.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=_AI_NOSORT, callback=hand_over)
        except (ValueError, UnicodeError) as error:  # not a name at all
            self._loop.call_soon(partial(self._fail, host, str(error)))

    def _ask_again(self, host: str, lookup: _Lookup) -> None:
        if self._lookups.get(host) is lookup:  # not given up meanwhile
            self._ask(host)

    def _hand_over(self, host: str, result: Any, error: int | None) -> None:
        """Pass the result on to the loop. Runs in the thread of c-ares."""
        self._loop.call_soon_threadsafe(partial(self._on_result, host, result, error))

    def _on_result(self, host: str, result: Any, error: int | None) -> None:
        lookup = self._lookups.get(host)
        if error == pycares.errno.ARES_ETIMEOUT and lookup is not None:
            self._ask(host)  # c-ares waits for as long as the last answers took; how long we wait, our timer says
            return
        if (
            error == pycares.errno.ARES_ECONNREFUSED
            and lookup is not None
            and lookup.refusals < len(_PAUSES_AFTER_REFUSAL)
        ):
            pause = _PAUSES_AFTER_REFUSAL[lookup.refusals]
            lookup.refusals += 1
            self._loop.call_later(pause, partial(self._ask_again, host, lookup))
            return
        if error is not None or not result.nodes:
            self._fail(host, str(pycares.errno.strerror(error)) if error is not None else "the name has no address")
            return
        nodes = sorted(result.nodes, key=lambda node: node.family == socket.AF_INET6)  # stable: the server's order
        addresses = tuple(dict.fromkeys(node.addr[0].decode("ascii") for node in nodes))[:MOST_ADDRESSES]
        ttl = min([node.ttl for node in nodes] + [cname.ttl for cname in result.cnames])
        self._finish(host, self._keep(host, addresses, min(max(float(ttl), MIN_TTL), MAX_TTL)))

    def _fail(self, host: str, reason: str) -> None:
        if host in self._lookups:  # not one that timed out before
            self._finish(host, self._keep(host, (), FAILURE_TTL, reason))

    def _keep(self, host: str, addresses: tuple[str, ...], ttl: float, error: str = "") -> Answer:
        answer = self._cache[host] = Answer(addresses, self._clock() + ttl, error)
        self._cache.move_to_end(host)
        if len(self._cache) > self._capacity:
            self._cache.popitem(last=False)
        return answer

    def _finish(self, host: str, answer: Answer) -> None:
        lookup = self._lookups.pop(host, None)
        if lookup is not None:
            lookup.timer.cancel()
            for on_answer in lookup.waiting:
                on_answer(answer)


def without_dns(host: str) -> tuple[str, ...]:
    """Returns the addresses of an IP literal or of localhost (RFC 6761, 6.3), for which no DNS is needed; else ()."""
    name = host.lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return _LOOPBACK
    try:
        if ":" in name:
            return (socket.inet_ntop(socket.AF_INET6, socket.inet_pton(socket.AF_INET6, name.partition("%")[0])),)
        if name.rpartition(".")[2][:1].isdigit():  # no top-level domain starts so: 127.1, 0x7f.1 and 2130706433 too
            return (socket.inet_ntoa(socket.inet_aton(name)),)
    except OSError:
        return ()
    return ()
