"""Where does a URL belong: to the queues, or aside, and for which reason? One answer for links as they come in, and for
all known URLs when the settings have changed."""

from __future__ import annotations

from collections.abc import Callable
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


# A URL as the ledger has it: id, url, host id, depth, hops, ask, aside.
LedgerRow = tuple[int, str, int, int, int, int, int]
# What is known of a host: its key, whether it has a seed, why nothing is asked of it (0: it is wanted).
HostFacts = tuple[str, bool, int]


class Judge:
    """Pure: the same facts of a URL give the same answer, as long as the settings are the same."""

    def __init__(self, config: Config, unwanted: Unwanted) -> None:
        self.scope = Scope(config)
        self._unwanted = unwanted
        self._max_depth = config.crawl.max_depth if config.crawl.max_depth >= 0 else float("inf")
        self._settings = self.scope.settings
        farthest = config.limits.max_redirects
        # Redirects in a row that are not too many for any host.
        self._safe_hops = min([farthest, *(entry.limits.get("max_redirects", farthest) for entry in config.hosts)])
        self._follow_external = config.scope.follow_external
        self._config = config

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
        if ask:
            reason = asks.reason_of(ask, asks.obeyed(self._config, self._settings.of(host_key).politeness))
            if reason is not None:
                return reason.code
        if hops > self._safe_hops and hops > self._settings.of(host_key).limits.max_redirects:
            return _TOO_MANY_REDIRECTS
        return 0

    def host_facts(self, key: str, is_seed: bool) -> HostFacts:
        """What `codes_of` needs to know of a host."""
        reason = self.scope.host_verdict(key)
        return key, is_seed, 0 if reason is None else reason.code

    def codes_of(self, rows: list[LedgerRow], facts_of: Callable[[int], HostFacts]) -> list[int]:
        """As `code_of`, for many: what the scope says of their hosts is asked once a host."""
        path_verdict = self.scope.path_verdict
        unwanted = self._unwanted if self._unwanted else None
        max_depth, safe_hops = self._max_depth, self._safe_hops
        follow_external = self._follow_external
        codes = []
        for _, url, host_id, depth, hops, ask, before in rows:
            key, is_seed, host_code = facts_of(host_id)
            if before == _FORGOTTEN or (unwanted is not None and unwanted.verdict(url, key)):
                codes.append(_FORGOTTEN)
                continue
            if host_code:
                codes.append(host_code)
                continue
            reason = path_verdict(url)
            if reason is not None:
                codes.append(reason.code)
            elif depth > max_depth:
                codes.append(_TOO_DEEP)
            elif not follow_external and not is_seed:
                codes.append(_EXTERNAL)
            elif ask or hops > safe_hops:
                codes.append(self.code_of(url, key, is_seed, depth, hops, ask, 0))
            else:
                codes.append(0)
        return codes
