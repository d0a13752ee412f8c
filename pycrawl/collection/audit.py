"""Was the crawl polite? The answer, from the crawl's own log of fetches (`fetch_log.py`).

The log is read in portions. The times of a long one go into temporary files, those of a host or an address into one of
them, so that memory holds a part of them at a time.
"""

from __future__ import annotations

import heapq
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from pycrawl.config import Config
from pycrawl.crawl.fetch_log import FetchLine, read, size_of
from pycrawl.model import Outcome
from pycrawl.urls.host_settings import SettingsByHost

_EARLY_SECONDS = 0.001  # clocks are read in two processes
_MOST_SHOWN = 1_000
_LINES_AT_ONCE = 10_000
_PART_BYTES = 150_000_000  # of the log: about a million fetches, which take 150 MB of memory
_MOST_PARTS = 64

# A fetch, as seen from its host or its address.
_TIMES = np.dtype([("name", "<u4"), ("connections", "<u4"), ("started", "<f8"), ("ended", "<f8")])

Times = NDArray[np.void]
I64 = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Place:
    """A host or an address, and how it was treated."""

    name: str
    fetches: int
    smallest_gap: float | None  # seconds from the end of a fetch to the start of the next; None: only one fetch
    most_at_once: int
    is_crowded: bool  # more at once than each of the hosts that were being fetched from allows


@dataclass(frozen=True, slots=True)
class Early:
    """A fetch that began before it was due."""

    url: str
    seconds: float


@dataclass(frozen=True, slots=True)
class RobotsFileUse:
    """How many decisions rest on one robots.txt."""

    digest: str
    allowed: int
    denied: int


@dataclass(frozen=True, slots=True)
class Audit:
    fetches: int
    hosts: tuple[Place, ...]
    addresses: tuple[Place, ...]
    early: tuple[Early, ...]
    robots: tuple[RobotsFileUse, ...]
    undecided: int  # pages fetched without a robots.txt to decide on

    @property
    def most_at_once(self) -> int:
        return max((place.most_at_once for place in self.addresses), default=0)

    @property
    def smallest_gap(self) -> float | None:
        gaps = [place.smallest_gap for place in self.hosts if place.smallest_gap is not None]
        return min(gaps, default=None)


def audit(log_folder: Path, config: Config) -> Audit:
    """Measures the fetches in the log by the settings of today."""
    settings = SettingsByHost(config)
    parts = min(_MOST_PARTS, 1 + size_of(log_folder) // _PART_BYTES)
    fetches = undecided = 0
    early: list[Early] = []
    allowed: Counter[str] = Counter()
    denied: Counter[str] = Counter()
    with _Places(parts) as hosts, _Places(parts) as addresses:
        for lines in _portions(read(log_folder)):
            hits = [line for line in lines if line.outcome != Outcome.ROBOTS_DENIED]
            denied.update(line.robots for line in lines if line.outcome == Outcome.ROBOTS_DENIED)
            pages = [line.robots for line in hits if line.kind in ("page", "head")]
            allowed.update(pages)
            fetches += len(hits)
            early += [
                Early(line.url, line.due - line.started) for line in hits if line.started < line.due - _EARLY_SECONDS
            ]
            early = heapq.nlargest(_MOST_SHOWN, early, attrgetter("seconds"))
            connections = [settings.of(line.host).politeness.connections_per_host for line in hits]
            hosts.add([line.host for line in hits], connections, hits)
            addresses.add([line.address for line in hits], connections, hits)
        undecided = allowed.pop("", 0)
        return Audit(
            fetches=fetches,
            hosts=tuple(hosts.measured()),
            addresses=tuple(addresses.measured()),
            early=tuple(early),
            robots=tuple(RobotsFileUse(one, allowed[one], denied[one]) for one in sorted({*allowed, *denied})),
            undecided=undecided,
        )


def _portions(lines: Iterator[FetchLine]) -> Iterator[list[FetchLine]]:
    while portion := list(islice(lines, _LINES_AT_ONCE)):
        yield portion


class _Places:
    """The fetches of all hosts, or of all addresses: those of one are in one part."""

    def __init__(self, parts: int) -> None:
        self._numbers: dict[str, int] = {}  # name → its number
        self._files: list[IO[bytes]] = [tempfile.TemporaryFile() for _ in range(parts)]  # noqa: SIM115  # see __exit__

    def __enter__(self) -> _Places:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def add(self, names: Iterable[str], connections: Sequence[int], hits: Sequence[FetchLine]) -> None:
        """Take in fetches. Those of a name that is empty do not count."""
        numbers = self._numbers
        times = np.empty(len(hits), _TIMES)
        times["name"] = [numbers.setdefault(name, len(numbers)) for name in names]
        times["connections"] = connections
        times["started"] = [line.started for line in hits]
        times["ended"] = [line.ended for line in hits]
        if "" in numbers:
            times = times[times["name"] != numbers[""]]
        part_of = times["name"] % len(self._files)
        for part, file in enumerate(self._files):
            file.write(times[part_of == part].tobytes())

    def measured(self) -> Iterator[Place]:
        """Yields the hosts or addresses by name."""
        names = list(self._numbers)
        found: list[Place] = []
        for file in self._files:
            file.seek(0)
            times = np.frombuffer(file.read(), _TIMES)
            if len(times):
                found += _measured(names, times)
        return iter(sorted(found, key=attrgetter("name")))


def _measured(names: list[str], times: Times) -> Iterator[Place]:
    times = times[np.lexsort((times["started"], times["name"]))]
    firsts = np.flatnonzero(np.diff(times["name"], prepend=times["name"][0] + np.uint32(1)))
    counts = np.diff(firsts, append=len(times))
    gaps = np.minimum.reduceat(_gaps(times, firsts), firsts)
    # A start and an end for each fetch; an end at the very moment of a start comes first: the two did not overlap.
    step = np.repeat(np.array([1, -1], np.int64), len(times))
    events = np.lexsort((step, np.concatenate((times["started"], times["ended"])), np.tile(times["name"], 2)))
    step, connections = step[events], np.tile(times["connections"], 2)[events]
    at_once = np.cumsum(step)  # of each name apart, as starts and ends of a name add up to nothing
    most = np.maximum.reduceat(at_once, 2 * firsts)
    is_crowded = np.maximum.reduceat((step > 0) & (at_once > _allowed(step, connections)), 2 * firsts)
    numbers = times["name"][firsts].tolist()
    columns = (numbers, counts.tolist(), gaps.tolist(), most.tolist(), is_crowded.tolist())
    for number, count, gap, at_most, crowded in zip(*columns, strict=True):
        yield Place(names[number], count, gap if count > 1 else None, at_most, crowded)


def _gaps(times: Times, firsts: I64) -> NDArray[np.float64]:
    """Returns the time from the last end of all earlier fetches of a name to each start; infinite for the first."""
    by_end = times["ended"].argsort(kind="stable")
    rank = np.empty(len(times), np.int64)
    rank[by_end] = np.arange(len(times))
    # Names ascend, so the highest number up to here is one of the same name.
    latest = np.maximum.accumulate(times["name"].astype(np.int64) * len(times) + rank) % len(times)
    gaps = np.full(len(times), np.inf)
    gaps[1:] = times["started"][1:] - times["ended"][by_end[latest[:-1]]]
    gaps[firsts] = np.inf
    return gaps


def _allowed(step: I64, connections: NDArray[np.uint32]) -> I64:
    """Returns for each event how many fetches the strictest host allows of those that are being fetched from."""
    allowed = np.full(len(step), np.iinfo(np.int64).max)
    for number in np.unique(connections)[::-1].tolist():
        is_open = np.cumsum(np.where(connections == number, step, 0)) > 0
        allowed[is_open] = number
    return allowed
