"""What a running crawl says of itself: values that the coordinator fills and a display shows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunLimits:
    """When a run stops by itself. Infinity: it does not."""

    max_pages: float = float("inf")  # 2xx answers in this run
    max_seconds: float = float("inf")
    max_bytes: float = float("inf")  # received in this run
    max_depth: float = float("inf")  # links away from a seed; deeper URLs stay queued for another run


@dataclass(slots=True)
class RunCounts:
    """What this run has done so far."""

    pages: int = 0  # 2xx answers
    stored: int = 0
    not_modified: int = 0
    unchanged: int = 0  # revisits that brought the bytes that are stored
    duplicates: int = 0
    bytes: int = 0
    errors: dict[str, int] = field(default_factory=dict)  # failed fetches by outcome
    failed_urls: int = 0  # given up
    robots_denied: int = 0
    unread: dict[str, int] = field(default_factory=dict)  # stored, of media types that nobody reads


@dataclass(frozen=True, slots=True)
class Progress:
    """A look at the run at one moment. Rates are over the last seconds."""

    seconds: float  # since the start
    counts: RunCounts
    pages_per_second: float
    bytes_per_second: float
    front: int  # URLs in the front queues
    back: int  # URLs in the back queues, those in flight included
    in_flight: int
    active_hosts: int  # hosts with a fetch in flight
    waiting_hosts: int  # hosts with URLs that may not be hit yet
    parked_hosts: int
    next_ready_in: float  # seconds until the next host may be hit; 0 when one may be hit now
    slots: int  # fetches that may be open at once
    typical_gap: float  # seconds: the pause of the hosts that wait, on average
    busy_share: float  # of the coordinator's time
    pages_left: float
    seconds_left: float
    stopping: str  # why it is about to end; empty while it goes on


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    reason: str  # "finished", "max-pages", "max-time", "max-bytes", "interrupted"
    counts: RunCounts
    seconds: float
    parked_hosts: int
    queued: int
    fetchers_replaced: int
    cpu_seconds: dict[str, float]  # by stage, all processes
