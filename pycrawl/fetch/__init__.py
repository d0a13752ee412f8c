"""The network: transports, their limits, names and addresses. Fetchers only."""

from __future__ import annotations

from collections.abc import Callable

from pycrawl.config import Config
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.transport import Response, Transport, TransportSettings, WantsType


def open_transport(config: Config, loop: Loop, wants_type: WantsType, on_done: Callable[[Response], None]) -> Transport:
    """The transport that `crawl.transport` names."""
    settings = TransportSettings.of(config)
    if config.crawl.transport == "urllib3":
        from pycrawl.fetch.threads import ThreadTransport  # only one of the two is ever loaded

        return ThreadTransport(loop, settings, wants_type, on_done)
    from pycrawl.fetch.curl import CurlTransport

    return CurlTransport(loop, settings, wants_type, on_done)
