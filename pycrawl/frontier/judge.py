"""Where does a URL belong: to the queues, or aside, and for which reason? One answer for links as they come in, and for
all known URLs when the settings have changed."""

from __future__ import annotations

from typing import Protocol

from pycrawl.config import Config
from pycrawl.urls import asks
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope

_FORGOTTEN = Reason.FORGOTTEN.code
_TOO_DEEP = Reason.TOO_DEEP.code
_EXTERNAL = Reason.EXTERNAL.code
_TOO_MANY_REDIRECTS = Reason.TOO_MANY_REDIRECTS.code


class Unwanted(Protocol):
    """What was removed for good."""

    def __bool__(self) -> bool: ...

    def verdict(self, url: str, host_key: str) -> bool:
        """True if the URL must never be asked for."""


class Judge:
    """Pure: the same facts of a URL give the same answer, as long as the settings are the same."""

    def __init__(self, config: Config, unwanted: Unwanted) -> None:
        self.scope = Scope(config)
        self._unwanted = unwanted
        self._max_depth = config.crawl.max_depth if config.crawl.max_depth >= 0 else float("inf")
        self._max_redirects = config.limits.max_redirects
        self._follow_external = config.scope.follow_external
        self._obeyed = asks.obeyed(config)

    @property
    def needs_seed_hosts(self) -> bool:
        """Whether it matters if a URL's host has a seed."""
        return not self._follow_external

    def code_of(
        self,
        url: str,
        host_key: str,
        is_seed_host: bool,
        depth: int,
        hops: int,
        ask: int,
        scope_code: int | None = None,
    ) -> int:
        """The number of the reason for which the URL stands aside; 0: it is to be asked for.

        `scope_code` is what the scope says of the URL, where that is known already.
        """
        if self._unwanted and self._unwanted.verdict(url, host_key):
            return _FORGOTTEN
        code = self.scope.code_of(url) if scope_code is None else scope_code
        if code:
            return code
        if depth > self._max_depth:
            return _TOO_DEEP
        if not self._follow_external and not is_seed_host:
            return _EXTERNAL
        if ask & self._obeyed:
            reason = asks.reason_of(ask, self._obeyed)
            return reason.code if reason is not None else 0
        return _TOO_MANY_REDIRECTS if hops > self._max_redirects else 0
