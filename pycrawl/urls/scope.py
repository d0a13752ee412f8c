"""Which URLs belong to the crawl, with a reason for each one turned away."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Protocol

from pycrawl.config import CONFIG_NAME, Config
from pycrawl.config.patterns import searcher
from pycrawl.convert.kinds import DOCUMENT_TYPES
from pycrawl.errors import ConfigError
from pycrawl.plugins.guard import PluginFailed, guarded
from pycrawl.urls.host_list import HostList, PrefixList
from pycrawl.urls.host_settings import SettingsByHost
from pycrawl.urls.language_tags import primary_of
from pycrawl.urls.parts import host_key
from pycrawl.urls.ports import REFUSED_PORTS
from pycrawl.urls.reasons import Reason

_HOSTS_KEPT = 16_384  # hosts whose verdicts are remembered
_LONGEST_WORD = 100  # characters that a plugin may say of a URL
_GROUPS = {  # names in scope.content_types → media types
    "pages": frozenset(("text/html", "application/xhtml+xml", "text/plain")),
    "documents": DOCUMENT_TYPES,
    "images": frozenset(("image/*",)),
}
_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]+/(?:\*|[a-z0-9!#$&^_.+-]+)|\*/\*")


class SprawlLimits:
    """Limits on paths and queries that grow. URLs within `few_slashes` and `few_ampersands` need no closer look."""

    _ALWAYS = 3  # slashes: two behind the scheme, one before the path

    __slots__ = ("_parameters", "_repeated", "_segments", "few_ampersands", "few_slashes")

    def __init__(self, config: Config) -> None:
        self._segments = config.traps.max_path_segments or sys.maxsize
        self._repeated = config.traps.max_repeated_segments or sys.maxsize
        self._parameters = config.traps.max_query_parameters or sys.maxsize
        self.few_slashes = min(self._segments, self._repeated) + self._ALWAYS - 1
        self.few_ampersands = self._parameters - 1

    def verdict(self, url: str) -> Reason | None:
        path, _, query = url.partition("?")
        segments = path.split("/")[self._ALWAYS :]
        if len(segments) > self._segments:
            return Reason.TOO_MANY_SEGMENTS
        spare = len(segments) - len(set(segments))
        if spare >= self._repeated and max(Counter(segments).values()) > self._repeated:
            return Reason.REPEATED_SEGMENTS
        return Reason.TOO_MANY_PARAMETERS if query.count("&") >= self._parameters else None


class UrlFilter(Protocol):
    """The seam of URL filters: plugins of the group "pycrawl.filters", asked about URLs that all lists let through."""

    def verdict(self, url: str) -> str | None:
        """None if the normalised URL is wanted, else why not, in a few words."""


def _filter(name: str, config: Config) -> tuple[str, UrlFilter]:
    from pycrawl.plugins import registry

    return name, registry.make_or_explain(registry.FILTERS, name, "scope.filters", config.plugins)


class Scope:
    """The scope of a crawl: `verdict` on normalised URLs, and `wants_type` on Content-Types."""

    def __init__(self, config: Config) -> None:
        scope = config.scope
        self.settings = SettingsByHost(config)
        longest = config.limits.max_url_length
        # Characters: so long may a URL be on any host.
        self._safe_length = min([longest, *(entry.limits.get("max_url_length", longest) for entry in config.hosts)])
        self._sprawl = SprawlLimits(config)
        self._only_start = "" if len(set(scope.schemes)) == 2 else f"{scope.schemes[0]}://"
        self._allow_hosts = HostList("scope.allow_hosts", scope.allow_hosts)
        self._deny_hosts = HostList("scope.deny_hosts", scope.deny_hosts)
        self._allow_prefixes = PrefixList("scope.allow_prefixes", scope.allow_prefixes)
        self._deny_prefixes = PrefixList("scope.deny_prefixes", scope.deny_prefixes)
        self._allow_patterns = scope.allow_patterns
        self._deny_patterns = scope.deny_patterns
        self._refused_ports = REFUSED_PORTS - {str(port) for port in config.security.allow_ports}
        self._lists_hosts = len(self._allow_hosts) + len(self._deny_hosts) > 0
        # By host key. The lists are never changed, so a verdict holds for as long as they do.
        self._host_verdicts: dict[str, Reason | None] = {}
        self._filters = [_filter(name, config) for name in scope.filters]
        self._path_checks = self._new_path_checks()
        self._lists_paths = bool(self._path_checks or self._filters)
        self._types = media_types(scope.content_types)
        self._languages = frozenset(map(primary_of, scope.languages))

    def is_too_long(self, url: str) -> bool:
        return len(url) > self._safe_length and len(url) > self.settings.of_url(url).limits.max_url_length

    def code_of(self, url: str) -> int:
        """The number of the reason for which the URL is turned away, at any depth; 0: it is wanted."""
        reason = self.verdict(url)
        return 0 if reason is None else reason.code

    def host_verdict(self, key: str) -> Reason | None:
        """Why nothing may be asked of the host with this `host_key`, whatever the URL; None: the host is wanted."""
        try:
            return self._host_verdicts[key]
        except KeyError:
            if len(self._host_verdicts) >= _HOSTS_KEPT:
                self._host_verdicts.clear()
            verdict = self._host_verdicts[key] = self._judge_host(key)
            return verdict

    def _judge_host(self, key: str) -> Reason | None:
        if ":" in key and key.rpartition(":")[2] in self._refused_ports:
            return Reason.PORT
        if key in self._deny_hosts:
            return Reason.HOST_DENIED
        return Reason.HOST_NOT_ALLOWED if self._allow_hosts and key not in self._allow_hosts else None

    def verdict(self, url: str) -> Reason | None:
        """None if the normalised URL is wanted, at any depth; else why not: for its host, or for the rest of it."""
        key = host_key(url)
        reason = self.host_verdict(key) if self._lists_hosts or ":" in key else None
        return reason or self.path_verdict(url)

    def path_verdict(self, url: str) -> Reason | None:
        """As `verdict`, for a URL whose host is wanted: where many URLs of few hosts are judged."""
        if len(url) > self._safe_length and self.is_too_long(url):
            return Reason.TOO_LONG
        if url.count("/") > self._sprawl.few_slashes or url.count("&") > self._sprawl.few_ampersands:
            reason = self._sprawl.verdict(url)
            if reason is not None:
                return reason
        if not url.startswith(self._only_start):
            return Reason.SCHEME
        return self._path_listed(url) if self._lists_paths else None

    def path_codes(self, urls: list[str]) -> list[int]:
        """Returns the number of the `path_verdict` on each URL; 0: it is wanted. All URLs are held against one rule
        after another, which is several times faster than one URL after another."""
        slashes, ampersands, longest = self._sprawl.few_slashes, self._sprawl.few_ampersands, self._safe_length
        codes = [0] * len(urls)
        for place, url in enumerate(urls):
            if len(url) > longest or url.count("/") > slashes or url.count("&") > ampersands:
                reason = self.path_verdict(url)
                codes[place] = 0 if reason is None else reason.code
        checks = self._path_checks
        if self._only_start:
            checks = [(Reason.SCHEME, lambda url: not url.startswith(self._only_start)), *checks]
        for reason, is_turned_away in checks:
            turned_away = [place for place, url in enumerate(urls) if is_turned_away(url)]
            for place in turned_away:
                codes[place] = codes[place] or reason.code
        if self._filters:
            for place, url in enumerate(urls):
                if not codes[place]:
                    found = self._filtered(url)[0]
                    codes[place] = 0 if found is None else found.code
        return codes

    def _path_listed(self, url: str) -> Reason | None:
        for reason, is_turned_away in self._path_checks:
            if is_turned_away(url):
                return reason
        return self._filtered(url)[0] if self._filters else None

    def _new_path_checks(self) -> list[tuple[Reason, Callable[[str], object]]]:
        """Those lists that have entries, in the order in which they are asked: a million URLs may be judged by them."""
        checks: list[tuple[Reason, Callable[[str], object]]] = []
        if self._deny_prefixes:
            checks.append((Reason.PREFIX_DENIED, self._deny_prefixes.__contains__))
        if self._allow_prefixes:
            checks.append((Reason.PREFIX_NOT_ALLOWED, lambda url: url not in self._allow_prefixes))
        if self._deny_patterns:
            checks.append((Reason.PATTERN_DENIED, searcher(self._deny_patterns)))
        if self._allow_patterns:
            is_allowed = searcher(self._allow_patterns)
            checks.append((Reason.PATTERN_NOT_ALLOWED, lambda url: not is_allowed(url)))
        return checks

    def _filtered(self, url: str) -> tuple[Reason | None, str]:
        """What the first plugin that turns the URL away says of it, in one line."""
        for name, url_filter in self._filters:
            try:
                said = guarded(name, url_filter.verdict, url)
            except PluginFailed as failed:
                return Reason.PLUGIN_FAILED, str(failed)
            if isinstance(said, str):
                return Reason.FILTERED, f"{name}: {said[:_LONGEST_WORD]}"
            if said is not None:
                return Reason.PLUGIN_FAILED, f"{name}: returned a {type(said).__name__}, not a reason or None"
        return None, ""

    def wants_type(self, content_type: str) -> bool:
        """True if a body with this Content-Type header is wanted. A header that names no type is accepted."""
        media_type = content_type.partition(";")[0].partition(",")[0].strip().lower()
        major, slash, _ = media_type.partition("/")
        return not slash or not self._types.isdisjoint((media_type, f"{major}/*", "*/*"))

    def wants_language(self, tag: str) -> bool:
        """True if a document in this language ("pt-br") is wanted. One whose language is not known is accepted."""
        return not tag or not self._languages or primary_of(tag) in self._languages


def media_types(entries: Iterable[str]) -> frozenset[str]:
    """Returns the media types that `scope.content_types` names, with those of the groups in it."""
    named = {entry.strip().lower() for entry in entries}
    types = named - _GROUPS.keys()
    for entry in types:
        if not _MEDIA_TYPE.fullmatch(entry):
            raise ConfigError(
                f'{CONFIG_NAME}: scope.content_types: expected a type such as "text/html", "text/*" or "*/*", or a '
                f"group ({', '.join(_GROUPS)}); found {entry!r}"
            )
    return frozenset(types.union(*(_GROUPS[name] for name in named & _GROUPS.keys())))
