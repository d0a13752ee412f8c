"""WebSub (https://www.w3.org/TR/websub/): what a hub is asked, and when again; which pushes are believed."""

from __future__ import annotations

import hmac
import math
from typing import Protocol
from urllib.parse import urlencode

SUBSCRIBE = "subscribe"
UNSUBSCRIBE = "unsubscribe"
_LEASE = 10 * 86_400.0  # seconds that a subscription is asked for
_LONGEST_LEASE = 90 * 86_400.0  # seconds: what a hub grants beyond is renewed by then all the same
_RENEWED_AFTER = 0.8  # of the lease
_LEAST_SECONDS = 60.0  # between two requests for one subscription
_FIRST_WAIT = 3_600.0  # seconds until a hub is asked again that failed, or never checked; each time twice as long
_LONGEST_WAIT = 7 * 86_400.0
_MOST_DOUBLINGS = 20
_DIGESTS = ("sha1", "sha256", "sha384", "sha512")  # WebSub, 8


class Signature(Protocol):
    """A signature that is being checked while the push comes in."""

    def update(self, data: bytes) -> None: ...

    def digest(self) -> bytes: ...


def form(mode: str, topic: str, callback: str, secret: str) -> str:
    """Returns what is sent to a hub."""
    fields = {"hub.mode": mode, "hub.topic": topic, "hub.callback": callback}
    if mode == SUBSCRIBE:
        fields |= {"hub.secret": secret, "hub.lease_seconds": str(int(_LEASE))}
    return urlencode(fields)


def lease(seconds: str) -> float:
    """Returns for how many seconds a subscription holds, by what the hub says: what was asked for if that is no
    number."""
    if not seconds.isascii() or not seconds.isdigit() or len(seconds) > 12:
        return _LEASE
    return min(float(seconds), _LONGEST_LEASE)


def renewal(now: float, seconds: float) -> float:
    """Returns when a subscription that was granted for so many seconds is to be renewed."""
    return now + max(_RENEWED_AFTER * seconds, _LEAST_SECONDS)


def next_try(now: float, failures: int) -> float:
    """Returns when a hub is asked again that has failed so often in a row."""
    return now + min(_FIRST_WAIT * math.ldexp(1.0, min(failures - 1, _MOST_DOUBLINGS)), _LONGEST_WAIT)


def signature(header: str, secret: str) -> tuple[Signature, bytes] | None:
    """Returns the signature to be computed over a push, and what it has to be, by its X-Hub-Signature; None if that
    says nothing that can be checked."""
    method, equals, value = header.strip().partition("=")
    try:
        expected = bytes.fromhex(value)
    except ValueError:
        return None
    if not equals or method.lower() not in _DIGESTS:
        return None
    return hmac.new(secret.encode(), digestmod=method.lower()), expected


def is_right(computed: Signature, expected: bytes) -> bool:
    return hmac.compare_digest(computed.digest(), expected)
