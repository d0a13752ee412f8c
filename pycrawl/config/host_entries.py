"""`[[host]]` in `pycrawl.toml`: settings that hold for some hosts only, read like those of the sections."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any

from pycrawl.config.headers import Headers, header_table
from pycrawl.config.sections import HostEntry, LimitsSection, PolitenessSection
from pycrawl.errors import ConfigError

_NAME = "name"
_HEADERS = "headers"
_OF_THE_RUN = ("max_errors", "fetcher_timeout")  # keys of [limits] that say nothing of a host


def _keys_of(section: Any) -> dict[str, Field[Any]]:
    return {key.name: key for key in fields(section) if key.name not in _OF_THE_RUN}


_POLITENESS = _keys_of(PolitenessSection)
_LIMITS = _keys_of(LimitsSection)


def read_entries(origin: str, tables: object) -> tuple[HostEntry, ...]:
    """Returns the entries in the order of the file. Raises ConfigError, which names the entry and the key."""
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ConfigError(f"{origin}: settings of single hosts begin with [[host]], in two pairs of brackets")
    return tuple(_entry(origin, number, table) for number, table in enumerate(tables, 1))


def entry_words(number: int, name: str) -> str:
    """What error messages call an entry; the first one is number 1."""
    return f'[[host]] number {number} ("{name}")'


def _entry(origin: str, number: int, table: dict[str, Any]) -> HostEntry:
    name = table.get(_NAME)
    if not isinstance(name, str) or not name.strip():
        found = "none" if name is None else repr(name)
        raise ConfigError(
            f'{origin}: [[host]] number {number}: name: expected a host such as "www.example.com" or "*.example.com", '
            f"found {found}"
        )
    where = f"{origin}: {entry_words(number, name)}"
    politeness: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    headers: Headers = ()
    for key, value in table.items():
        try:
            if key in _POLITENESS:
                politeness[key] = _POLITENESS[key].metadata["read"](value)
            elif key in _LIMITS:
                limits[key] = _LIMITS[key].metadata["read"](value)
            elif key == _HEADERS:
                headers = header_table(value)
            elif key in _OF_THE_RUN:
                raise ConfigError(f"{where}: {key} holds for the whole run; it can only be set in [limits]")
            elif key != _NAME:
                known = ", ".join((_NAME, *_POLITENESS, *_LIMITS, _HEADERS))
                raise ConfigError(f"{where}: unknown key {key}; a [[host]] has {known}")
        except ValueError as error:
            raise ConfigError(f"{where}: {key}: {error}") from None
    return HostEntry(name, politeness, limits, headers)
