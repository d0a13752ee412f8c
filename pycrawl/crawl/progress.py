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
    """What this run has done so far. `pages` = `stored` + `duplicates` + `unchanged` + all of `not_kept`."""

    pages: int = 0  # 2xx answers
    stored: int = 0
    duplicates: int = 0  # exact copies of stored pages
    unchanged: int = 0  # the same bytes as on the last visit
    not_kept: dict[str, int] = field(default_factory=dict)  # 2xx answers that are none of these, by outcome
    not_modified: int = 0  # 304 answers
    new: int = 0  # URLs that have their first document
    changed: int = 0  # URLs that have another document than before
    gone: int = 0  # URLs with a document that answer 404 or 410 now, and did not before
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
    failing_hosts: int  # hosts whose last fetch failed; they get more time, and are neither active nor waiting
    parked_hosts: int
    addresses: int  # of the active and waiting hosts: hosts that share one share its pauses
    next_ready_in: float  # seconds until the next host may be hit; 0 when one may be hit now; infinity: none is due
    slots: int  # fetches that may be open at once
    typical_gap: float  # seconds: the pause of the active and waiting hosts, on average
    since_last_page: float  # seconds since a 2xx answer came; infinity: none yet
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
    failing_hosts: int  # those of the parked ones that do not answer; the others have given all the pages they may
    next_try_at: float | None  # when the first of the failing ones may be asked again, seconds since the epoch
    queued: int  # those held included
    held: int  # URLs deeper than --max-depth: they wait for another run
    fetchers_replaced: int
    cpu_seconds: dict[str, float]  # by stage, all processes
