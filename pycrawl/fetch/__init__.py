"""Fetching over HTTP: two transports that take the same requests and give the same responses.

`transport.py` defines request, response and settings. `routes.py` finds the way to a server: its addresses (`dns.py`),
which of them may be dialled (`addresses.py`), a proxy (`proxies.py`), and the cookies to send (`cookies.py`).
`curl.py` (with `curl_slot.py`) and `urllib3_transport.py` (with `urllib3_connections.py` and `tunnels.py`) are the two
transports. `decoding.py` undoes the content encoding of a body. `loop.py` is the event loop of a fetcher.
"""

from __future__ import annotations

from importlib import import_module

from pycrawl.config import Config
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.routes import OnDone
from pycrawl.fetch.transport import Transport, TransportSettings, WantsType

_TRANSPORTS = {
    "curl": ("pycrawl.fetch.curl", "CurlTransport"),
    "urllib3": ("pycrawl.fetch.urllib3_transport", "ThreadTransport"),
}


def new_transport(config: Config, loop: Loop, wants_type: WantsType, on_done: OnDone) -> Transport:
    """Make the transport that `crawl.transport` names. The other one's library is not loaded and may be missing."""
    module, name = _TRANSPORTS[config.crawl.transport]
    transport: Transport = getattr(import_module(module), name)(loop, TransportSettings.of(config), wants_type, on_done)
    return transport
