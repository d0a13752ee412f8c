"""The settings of a single host: those of the sections, and what the entries of `[[host]]` that name it change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycrawl.config import Config, LimitsSection, PolitenessSection
from pycrawl.config.headers import Headers, merged
from pycrawl.config.host_entries import entry_words
from pycrawl.urls.host_list import HostList
from pycrawl.urls.parts import host_key

_HOSTS_KEPT = 65_536  # hosts whose settings are remembered


@dataclass(frozen=True, slots=True, eq=False)
class HostSettings:
    """What holds for a host. Hosts named by the same entries share one object: what is made from it can be kept by
    it."""

    politeness: PolitenessSection
    limits: LimitsSection
    headers: Headers  # one with an empty value is not sent

    @classmethod
    def of(cls, config: Config) -> HostSettings:
        """Returns what holds for a host that no entry names."""
        return cls(config.politeness, config.limits, config.headers)


class SettingsByHost:
    """Finds the settings of hosts. A crawl without entries has one object for all, which costs nothing to find."""

    __slots__ = ("_by_entries", "_by_key", "_config", "_names", "common")

    def __init__(self, config: Config) -> None:
        """Raises ConfigError if an entry's name is no host."""
        self.common = HostSettings.of(config)
        self._config = config
        self._names = [
            HostList(f"{entry_words(number, entry.name)}: name", [entry.name])
            for number, entry in enumerate(config.hosts, 1)
        ]
        self._by_key: dict[str, HostSettings] = {}
        self._by_entries: dict[tuple[int, ...], HostSettings] = {(): self.common}

    def of(self, key: str) -> HostSettings:
        """Returns the settings of the host with this `host_key`."""
        if not self._names:
            return self.common
        found = self._by_key.get(key)
        return found if found is not None else self._find(key)

    def of_url(self, url: str) -> HostSettings:
        """Returns the settings of the host of a normalised URL."""
        return self.of(host_key(url)) if self._names else self.common

    def _find(self, key: str) -> HostSettings:
        numbers = tuple(number for number, names in enumerate(self._names) if key in names)
        found = self._by_entries.get(numbers)
        if found is None:
            found = self._by_entries[numbers] = self._joined(numbers)
        if len(self._by_key) >= _HOSTS_KEPT:
            self._by_key.clear()
        self._by_key[key] = found
        return found

    def _joined(self, numbers: tuple[int, ...]) -> HostSettings:
        politeness, limits, headers = self.common.politeness, self.common.limits, self.common.headers
        for number in numbers:
            entry = self._config.hosts[number]
            politeness = replace(politeness, **entry.politeness)
            limits = replace(limits, **entry.limits)
            headers = merged(headers, entry.headers)
        return HostSettings(politeness, limits, headers)
