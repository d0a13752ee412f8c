"""Decides whether a URL is queued or stands aside, and for which reason. The same rules judge links as they come in,
and all known URLs when the settings have changed."""

from __future__ import annotations

from collections.abc import Mapping
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
    """The URLs that `pycrawl forget` removed for good (`state/unwanted.py`); true if there are any."""

    def __bool__(self) -> bool: ...

    def verdict(self, url: str, host_key: str) -> bool:
        """True if the URL must never be asked for."""


# A row of `urls`: id, url, host id, depth, hops, ask, aside.
LedgerRow = tuple[int, str, int, int, int, int, int]
# What `codes_of` needs of a host: its key; True if it has a seed; the code of the reason for which the scope turns all
# its URLs away (0: it does not).
HostFacts = tuple[str, bool, int]


class Judge:
    """Judges URLs under the settings of one run. Pure: the same facts of a URL always get the same answer."""

    def __init__(self, config: Config, unwanted: Unwanted) -> None:
        self.scope = Scope(config)
        self._unwanted = unwanted
        self._max_depth = config.crawl.max_depth if config.crawl.max_depth >= 0 else float("inf")
        self._settings = self.scope.settings
        farthest = config.limits.max_redirects
        # So many redirects in a row are allowed on every host: no settings of a host have to be looked up.
        self._safe_hops = min([farthest, *(entry.limits.get("max_redirects", farthest) for entry in config.hosts)])
        self._follow_external = config.scope.follow_external
        self._config = config

    @property
    def needs_seed_hosts(self) -> bool:
        """True if the answer depends on whether the URL's host has a seed."""
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
        """Returns the code of the reason for which the URL stands aside; 0 if it is to be asked for.

        `hops`: redirects in a row that led to it; `ask`: bits of `urls/asks.py`; `scope_code`: the scope's code for the
        URL, where the caller knows it already.
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
        """Returns what `codes_of` needs to know of the host `key`."""
        reason = self.scope.host_verdict(key)
        return key, is_seed, 0 if reason is None else reason.code

    def codes_of(self, rows: list[LedgerRow], facts: Mapping[int, HostFacts]) -> list[int]:
        """Returns the `code_of` each row; `facts`: the `host_facts` of the rows' hosts, by id. It goes through all rows
        with one rule after another, which is faster. A URL that was forgotten stays so: its text is not there to be
        judged by."""
        unwanted = self._unwanted if self._unwanted else None
        codes = [facts[row[2]][2] for row in rows]
        for place, row in enumerate(rows):
            if row[6] == _FORGOTTEN or (unwanted is not None and unwanted.verdict(row[1], facts[row[2]][0])):
                codes[place] = _FORGOTTEN
        left = [place for place, code in enumerate(codes) if not code]
        for place, code in zip(left, self.scope.path_codes([rows[place][1] for place in left]), strict=True):
            codes[place] = code
        self._judge_ways(rows, facts, codes)
        return codes

    def _judge_ways(self, rows: list[LedgerRow], facts: Mapping[int, HostFacts], codes: list[int]) -> None:
        """Judge the rows that the scope lets in, whose code is 0, by how they were found: fill in their codes."""
        max_depth, safe_hops, follow_external = self._max_depth, self._safe_hops, self._follow_external
        for place, (_, url, host_id, depth, hops, ask, _) in enumerate(rows):
            if (depth > max_depth or ask or hops > safe_hops or not follow_external) and not codes[place]:
                key, is_seed, _ = facts[host_id]
                codes[place] = self.code_of(url, key, is_seed, depth, hops, ask, 0)
