"""Settings as a program gives them, into what pycrawl.toml says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pycrawl.config import Config, example, parse, toml_value
from pycrawl.errors import ConfigError

_ORIGIN = "settings"


def written_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Returns "section.key" → value as TOML. Raises ConfigError for a key or value that is none."""
    changed: dict[str, str] = {}
    for name, value in settings.items():
        if name in _sections() and isinstance(value, Mapping):
            changed |= {f"{name}.{key}": _written(f"{name}.{key}", one) for key, one in value.items()}
        else:
            whole = _whole_name(name)
            changed[whole] = _written(whole, value)
    for name in changed:
        section, _, key = name.partition(".")
        if key not in _sections()[section]:
            raise ConfigError(f"{_ORIGIN}: unknown key {name}; [{section}] has {', '.join(_sections()[section])}")
    parse(example(changed), _ORIGIN)
    return changed


def _sections() -> dict[str, list[str]]:
    """Returns section → names of its keys."""
    empty = Config()
    return {
        section.name: [key.name for key in fields(getattr(empty, section.name))]
        for section in fields(Config)
        if is_dataclass(getattr(empty, section.name))
    }


def _whole_name(name: str) -> str:
    """Returns "section.key" for a key that is given with or without its section."""
    section, dot, _ = name.partition(".")
    if dot and section in _sections():
        return name
    found = [section for section, keys in _sections().items() if name in keys]
    if len(found) == 1:
        return f"{found[0]}.{name}"
    if found:
        raise ConfigError(f"{_ORIGIN}: {name} is a key of {' and '.join(found)}: name it with its section")
    raise ConfigError(f"{_ORIGIN}: unknown setting {name!r}; `pycrawl.toml.example` has all of them")


def _written(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_value(str(key))} = {_written(name, one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple | set | frozenset):
        return "[" + ", ".join(_written(name, one) for one in value) + "]"
    if not isinstance(value, bool | int | float | str):
        raise ConfigError(f"{_ORIGIN}: {name}: expected text, a number, a list or a table; found {value!r}")
    if isinstance(value, str) and any(ord(character) < 32 for character in value):
        raise ConfigError(f"{_ORIGIN}: {name}: expected text on one line, found {value!r}")
    return toml_value(value)
