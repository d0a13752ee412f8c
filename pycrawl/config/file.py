"""`pycrawl.toml` as a file: `load` reads one, `example` writes one that explains every key."""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import Field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from pycrawl.config.host_entries import read_entries
from pycrawl.config.sections import Config, CrawlSection
from pycrawl.errors import ConfigError
from pycrawl.foreign.files import read_bytes

CONFIG_NAME = "pycrawl.toml"
_MOST_BYTES = 16_000_000  # of the file: room for long lists of hosts
_EXAMPLE_WIDTH = 100  # characters; comments are wrapped, so that they can be read in any editor
# A key of so many parts ("a.b.c …"), in a comment or a string too; no setting is one.
_DEEP_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){200}""")
_PLUGINS = "plugins"
_HOSTS = "host"
_NO_NAME = "mozilla"  # how nearly all begin: the name of a crawler stands further behind


def _sections() -> Iterator[tuple[str, Any]]:
    """The name and the class of each section; `hosts` and `plugins` are none."""
    for section in fields(Config):
        section_class: Any = section.default_factory
        if is_dataclass(section_class):
            yield section.name, section_class


def load(path: Path) -> Config:
    """Returns the configuration in the file at `path`. Raises ConfigError, which names the file and the key."""
    try:
        text = read_bytes(path.parent, path.name, _MOST_BYTES).decode("utf-8-sig")  # some editors put a mark first
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file. Run `pycrawl init` first, or name the crawl's directory with -C."
        ) from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def parse(text: str, origin: str = CONFIG_NAME) -> Config:
    """Returns the configuration in `text`; `origin` is what error messages call it."""
    if _DEEP_KEY.search(text):  # the time for one grows with the square of its length, and more
        raise ConfigError(f"{origin}: not valid TOML for pycrawl: expected keys of a few parts, found one of hundreds")
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # RecursionError: too many brackets inside each other
        raise ConfigError(f"{origin}: not valid TOML: {error}") from None
    sections = dict(_sections())
    plugins = _plugin_tables(origin, tables.pop(_PLUGINS, {}))
    hosts = read_entries(origin, tables.pop(_HOSTS, []))
    for name in tables:
        if name not in sections:
            known = ", ".join(f"[{section}]" for section in sections)
            raise ConfigError(f"{origin}: unknown section [{name}]; there are {known}, [[host]], [plugins.NAME]")
    read = {name: _section(origin, name, cls, tables.get(name, {})) for name, cls in sections.items()}
    read["crawl"] = _checked(origin, read["crawl"], "name" in tables.get("crawl", {}))
    return Config(**read, hosts=hosts, plugins=plugins)


def _checked(origin: str, crawl: CrawlSection, has_name: bool) -> CrawlSection:
    """The section, its name taken from the User-Agent if only that is given. What the keys say must fit together."""
    agent = crawl.user_agent
    if crawl.languages and any(name.lower() == "accept-language" for name, _ in crawl.headers):
        raise ConfigError(f"{origin}: crawl.headers: Accept-Language is set by crawl.languages already")
    if agent and not has_name:
        word = re.match(r"[A-Za-z_-]+(?=[\s/(;]|$)", agent)  # the product token: RFC 9309, 2.2.1
        if word is None or word[0].lower() == _NO_NAME:
            raise ConfigError(
                f"{origin}: crawl.user_agent: set crawl.name too, to the name in it that robots.txt files address; "
                f"found {agent!r}"
            )
        return replace(crawl, name=word[0])
    if agent and crawl.name.lower() not in agent.lower():
        raise ConfigError(
            f"{origin}: crawl.user_agent: expected crawl.name ({crawl.name!r}) in it, as robots.txt files address the "
            f"crawler by that; found {agent!r}"
        )
    return crawl


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
    lines += [*_HOST_EXAMPLE, "# What a plugin takes; its own documentation says what that is.", "# [plugins.NAME]", ""]
    return "\n".join(lines)


_HOST_EXAMPLE = (
    "# Settings for single hosts: any key of [politeness] and [limits] (max_errors and fetcher_timeout apart) and",
    "# headers. The name is written as in scope.allow_hosts; there may be many entries, and later ones go before",
    "# earlier ones, key by key.",
    "#   [[host]]",
    '#   name = "*.example.org"',
    '#   delay = "5s"',
    "",
)


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
