"""The progress of a run, as values that the coordinator fills and a display shows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunLimits:
    """When a run stops by itself; a limit of infinity never stops it."""

    max_pages: float = float("inf")  # 2xx answers in this run
    max_seconds: float = float("inf")
    max_bytes: float = float("inf")  # received in this run
    max_depth: float = float("inf")  # links away from a seed; deeper URLs stay queued for another run
    max_requests: float = float("inf")  # of all kinds, in this run: pages, HEADs, robots.txt, probes, sitemaps, feeds


@dataclass(slots=True)
class RunCounts:
    """What this run has done so far. `pages` = `stored` + `duplicates` + `unchanged` + all of `not_kept`."""

    requests: int = 0  # sent, of all kinds
    pages: int = 0  # 2xx answers
    stored: int = 0
    duplicates: int = 0  # exact copies of stored pages
    unchanged: int = 0  # the same bytes as on the last visit
    not_kept: dict[str, int] = field(default_factory=dict)  # 2xx answers that are none of these, by reason
    not_modified: int = 0  # 304 answers
    by_head: int = 0  # pages whose HEAD was as it had been, so that they were not fetched
    new: int = 0  # URLs that got their first document
    changed: int = 0  # URLs with a document that gave other bytes than before
    changes: dict[str, int] = field(default_factory=dict)  # these URLs by how much they had changed (a `Change`)
    gone: int = 0  # URLs with a document that answer 404 or 410 now, and did not before
    bytes: int = 0  # received
    errors: dict[str, int] = field(default_factory=dict)  # outcome → failed fetches
    failed_urls: int = 0  # URLs that were given up
    robots_denied: int = 0  # URLs that robots.txt denied
    unread: dict[str, int] = field(default_factory=dict)  # media type that no parser reads → stored pages
    unconverted: dict[str, int] = field(default_factory=dict)  # what is wrong with a document → stored documents


@dataclass(frozen=True, slots=True)
class Progress:
    """The run at one moment. Rates are averages over the last seconds."""

    seconds: float  # since the start
    counts: RunCounts
    pages_per_second: float
    bytes_per_second: float
    front: int  # URLs in the front queues
    back: int  # URLs in the back queues, those in flight included
    in_flight: int
    documents: int  # that have come and are being converted
    active_hosts: int  # hosts with a fetch in flight
    waiting_hosts: int  # hosts with URLs and no fetch in flight
    failing_hosts: int  # hosts whose last fetch failed; they get more time, and are neither active nor waiting
    parked_hosts: int
    addresses: int  # of the active and waiting hosts: hosts that share one share its pauses
    next_ready_in: float  # seconds until the next host may be hit; 0 when one may be hit now; infinity: none is due
    slots: int  # fetches that may be open at once
    typical_gap: float  # seconds: the pause of the active and waiting hosts, on average
    since_last_page: float  # seconds since a 2xx answer came; infinity: none yet
    busy_share: float  # the share of its time in which the coordinator does not wait for results, 0 to 1
    pages_left: float  # until max_pages
    seconds_left: float  # until max_seconds
    stopping: str  # why the run is about to end; empty while it goes on


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended."""

    reason: str  # "finished", "max-pages", "max-time", "max-bytes", "max-requests", "interrupted"
    counts: RunCounts
    seconds: float
    parked_hosts: int
    failing_hosts: int  # parked hosts that do not answer; the other parked hosts have given all the pages they may
    next_try_at: float | None  # seconds since the epoch: when the first failing host may be asked again; None: none is
    unreachable_robots: int  # origins whose robots.txt cannot be had, so that their URLs wait
    next_robots_at: float | None  # seconds since the epoch: when the first of these is asked for it again
    unreachable_origins: int  # origins that no connection could be made to, so that their URLs wait
    next_origin_at: float | None  # seconds since the epoch: when the first of these is tried again
    queued: int  # URLs left in the queues, those held included
    held: int  # URLs deeper than --max-depth: they wait for another run
    fetchers_replaced: int
    cpu_seconds: dict[str, float]  # stage → CPU seconds, of all processes
