"""Fetching: transports with one face, limits, decoding, names, and the guard over addresses.

`transport.py` says what goes in and out; `base.py` finds the way to a server: its addresses (`dns.py`), the guard over
them (`addresses.py`), a proxy (`proxies.py`), cookies (`cookies.py`); `curl.py` and `threads.py` are the two
transports, `decoding.py` takes the bodies of both; `loop.py` is what everything in a fetcher runs on.
"""

from __future__ import annotations

from importlib import import_module

from pycrawl.config import Config
from pycrawl.fetch.base import OnDone
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.transport import Transport, TransportSettings, WantsType

_TRANSPORTS = {"curl": ("pycrawl.fetch.curl", "CurlTransport"), "urllib3": ("pycrawl.fetch.threads", "ThreadTransport")}


def new_transport(config: Config, loop: Loop, wants_type: WantsType, on_done: OnDone) -> Transport:
    """The transport that `crawl.transport` names; the other one's library is not loaded, and may be missing."""
    module, name = _TRANSPORTS[config.crawl.transport]
    transport: Transport = getattr(import_module(module), name)(loop, TransportSettings.of(config), wants_type, on_done)
    return transport
