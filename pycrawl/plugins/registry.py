"""Which plugins are installed, and how one is made.

A package offers one as an entry point: group and name, and something that is called with the table `[plugins.NAME]` of
the configuration (a dict, empty if there is none) and returns the plugin. Looking them up takes some 10 ms, so it is
done when one is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pycrawl.errors import ConfigError
from pycrawl.plugins.guard import PluginFailed, guarded

PARSERS = "pycrawl.parsers"
TRANSPORTS = "pycrawl.transports"
FILTERS = "pycrawl.filters"
PRIORITIES = "pycrawl.priorities"
EXPORTS = "pycrawl.exports"

Settings = Mapping[str, Mapping[str, Any]]  # by the plugin's name


def installed(group: str) -> dict[str, EntryPoint]:
    """The plugins of a group by name, in the order of their names."""
    found = {point.name: point for point in entry_points(group=group)}
    return dict(sorted(found.items()))


def find(group: str, name: str, key: str) -> EntryPoint:
    """The plugin that the setting `key` names. Raises ConfigError where it is not installed."""
    known = installed(group)
    if name not in known:
        others = f"installed: {', '.join(known)}" if known else "no such plugin is installed"
        raise ConfigError(f"{key}: no plugin {name!r} is installed for {group} ({others})")
    return known[name]


def make(point: EntryPoint, settings: Settings) -> Any:
    """A plugin with its settings. Raises PluginFailed if it cannot be loaded or does not take them."""
    factory = guarded(point.name, point.load)
    return guarded(point.name, factory, dict(settings.get(point.name, {})))


def make_or_explain(group: str, name: str, key: str, settings: Settings) -> Any:
    """As `find` and `make`, for plugins without which there is nothing to do: what fails is a ConfigError."""
    try:
        return make(find(group, name, key), settings)
    except PluginFailed as failed:
        raise ConfigError(f"{key}: the plugin {failed}") from None
