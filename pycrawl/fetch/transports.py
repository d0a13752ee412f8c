"""The seam of transports: which one fetches. Two are built in; others are plugins (group "pycrawl.transports").

A plugin is called with its settings and returns a factory, which is called as `new_transport` calls the built-in ones.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from pycrawl.config import Config
from pycrawl.config.sections import BUILT_IN_TRANSPORTS
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.routes import OnDone
from pycrawl.fetch.transport import Transport, TransportSettings, WantsType

_BUILT_IN = {
    "curl": ("pycrawl.fetch.curl", "CurlTransport"),
    "urllib3": ("pycrawl.fetch.urllib3_transport", "ThreadTransport"),
}

assert tuple(_BUILT_IN) == BUILT_IN_TRANSPORTS

Factory = Callable[[Loop, TransportSettings, WantsType, OnDone], Transport]


def new_transport(config: Config, loop: Loop, wants_type: WantsType, on_done: OnDone) -> Transport:
    """The transport that `crawl.transport` names; the libraries of the others are not loaded, and may be missing."""
    return _factory(config)(loop, TransportSettings.of(config), wants_type, on_done)


def _factory(config: Config) -> Factory:
    name = config.crawl.transport
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name]
        factory: Factory = getattr(import_module(module), attribute)
        return factory
    from pycrawl.plugins import registry

    plugin: Factory = registry.make_or_explain(registry.TRANSPORTS, name, "crawl.transport", config.plugins)
    return plugin
