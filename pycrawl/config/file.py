"""`pycrawl.toml` as a file: `load` reads one, `example` writes one that explains every key."""

from __future__ import annotations

import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, cast

from pycrawl.config.sections import Config
from pycrawl.errors import ConfigError

CONFIG_NAME = "pycrawl.toml"
_EXAMPLE_WIDTH = 100  # characters; comments are wrapped, so that they can be read in any editor
_PLUGINS = "plugins"


def _sections() -> Iterator[tuple[str, Any]]:
    """The name and the class of each section; `plugins` is none, as it holds whatever its plugins take."""
    for section in fields(Config):
        assert section.default_factory is not MISSING
        if section.name != _PLUGINS:
            yield section.name, cast(Any, section.default_factory)


def load(path: Path) -> Config:
    """Returns the configuration in the file at `path`. Raises ConfigError, which names the file and the key."""
    try:
        text = path.read_text("utf-8-sig")  # some editors put a byte order mark first
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file. Run `pycrawl init` first, or name the crawl's directory with -C."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def parse(text: str, origin: str = CONFIG_NAME) -> Config:
    """Returns the configuration in `text`; `origin` is what error messages call it."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: too many brackets inside each other
        raise ConfigError(f"{origin}: not valid TOML: {error}") from None
    sections = dict(_sections())
    plugins = _plugin_tables(origin, tables.pop(_PLUGINS, {}))
    for name in tables:
        if name not in sections:
            raise ConfigError(f"{origin}: unknown section [{name}]; there are {', '.join(f'[{s}]' for s in sections)}")
    read = {name: _section(origin, name, cls, tables.get(name, {})) for name, cls in sections.items()}
    return Config(**read, plugins=plugins)


def _plugin_tables(origin: str, tables: object) -> dict[str, dict[str, Any]]:
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ConfigError(f"{origin}: expected sections such as [plugins.NAME], found something else under plugins")
    return tables


def _section(origin: str, name: str, cls: Any, table: object) -> Any:
    if not isinstance(table, dict):
        raise ConfigError(f"{origin}: [{name}] must be a section, found {table!r}")
    keys: dict[str, Field[Any]] = {key.name: key for key in fields(cls)}
    values = {}
    for key, value in table.items():
        if key not in keys:
            raise ConfigError(f"{origin}: unknown key {name}.{key}; [{name}] has {', '.join(keys)}")
        try:
            values[key] = keys[key].metadata["read"](value)
        except ValueError as error:
            raise ConfigError(f"{origin}: {name}.{key}: {error}") from None
    return cls(**values)


def example(changed: dict[str, str] | None = None) -> str:
    """Returns the text of a `pycrawl.toml` with every key, its meaning and its default.

    Keys in `changed` ("section.key" → value as TOML) are set; the others are commented out, so that a crawl gets the
    better defaults of a later release.
    """
    changed = changed or {}
    lines = []
    for name, cls in _sections():
        lines += [f"# {cls.__doc__}", f"[{name}]"]
        for key in fields(cls):
            lines += textwrap.wrap(
                key.metadata["doc"], _EXAMPLE_WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
            )
            written = changed.get(f"{name}.{key.name}")
            default = key.metadata["written"] or toml_value(key.default)
            lines.append(f"{key.name} = {written}" if written is not None else f"# {key.name} = {default}")
        lines.append("")
    lines += ["# What a plugin takes; its own documentation says what that is.", "# [plugins.NAME]", ""]
    return "\n".join(lines)


def toml_value(value: object) -> str:
    """Returns a value as it is written in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case tuple():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case _:
            return str(value)
