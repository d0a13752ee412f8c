"""How fast all hosts with URLs in the back queues may be hit, taken together: for the display of a running crawl."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pycrawl.frontier.back import BackQueue


@dataclass(frozen=True, slots=True)
class HostPace:
    """The hosts that have a back queue and are not parked, at one moment. Each is active, waiting or failing."""

    active: int  # hosts with a fetch in flight
    waiting: int  # hosts without one
    failing: int  # hosts whose last fetch failed: nobody knows when they will answer
    addresses: int  # distinct addresses of the active and waiting hosts; an unknown one counts as one more
    gap: float  # seconds: the pause between two hits that the active and waiting hosts ask for, on average


def host_pace(queues: Iterable[BackQueue], delay: float) -> HostPace:
    """Returns the pace of the hosts of these queues. `delay` (seconds) is its `gap` if no host is active or waiting."""
    active = waiting = failing = 0
    gaps = 0.0
    addresses = set()
    for queue in queues:
        host = queue.host
        if queue.parked or (queue.is_empty and not queue.in_flight):  # its last document is being read
            continue
        if host.failures or queue.asleep:
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
    """Returns the pause of a queue's host in seconds, as long as it answers quickly and well."""
    politeness = queue.settings.politeness
    crawl_delay = queue.host.crawl_delay if politeness.obey_robots else 0.0
    return max(politeness.delay, min(crawl_delay, politeness.max_crawl_delay))
