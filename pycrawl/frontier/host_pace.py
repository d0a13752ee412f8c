"""How fast the hosts with URLs in the back queues may be asked, all together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pycrawl.frontier.back import BackQueue


@dataclass(frozen=True, slots=True)
class HostPace:
    """The hosts with a back queue at one moment, those that are parked apart: each is counted once."""

    active: int  # a fetch is in flight
    waiting: int  # none is
    failing: int  # the last fetch failed: they count here only, as nobody knows when they will answer
    addresses: int  # of the active and waiting ones; a host whose address is not known counts as one
    gap: float  # seconds: the pause that the active and waiting ones ask for, on average


def host_pace(queues: Iterable[BackQueue], delay: float) -> HostPace:
    """`delay` is the pause in seconds that holds where there is no host to ask."""
    active = waiting = failing = 0
    gaps = 0.0
    addresses = set()
    for queue in queues:
        host = queue.host
        if queue.parked:
            continue
        if host.failures:
            failing += 1
            continue
        if queue.in_flight:
            active += 1
        else:
            waiting += 1
        gaps += _usual_gap(queue)
        addresses.add(host.address or host.key)
    able = active + waiting
    return HostPace(active, waiting, failing, len(addresses), gaps / able if able else delay)


def _usual_gap(queue: BackQueue) -> float:
    politeness = queue.settings.politeness
    crawl_delay = queue.host.crawl_delay if politeness.obey_robots else 0.0
    return max(politeness.delay, min(crawl_delay, politeness.max_crawl_delay))
