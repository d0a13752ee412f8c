"""The audit of the log of fetches, against one that looks at all moments one after the other."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.collection import audit
from pycrawl.collection.audit import Place
from pycrawl.config import Config
from pycrawl.config.sections import HostEntry
from pycrawl.crawl.fetch_log import FetchLine, FetchLog

ALLOWED = {"a.test": 1, "b.test": 2, "c.test": 3}
CONFIG = Config(hosts=tuple(HostEntry(name, {"connections_per_host": most}) for name, most in ALLOWED.items()))
TIMES = st.integers(0, 9)
HITS = st.lists(
    st.tuples(st.sampled_from(sorted(ALLOWED)), st.sampled_from(["", "192.0.2.1", "192.0.2.2"]), TIMES, TIMES, TIMES),
    max_size=12,
)


def line(host: str, address: str, due: int, started: int, took: int, robots: str = "") -> FetchLine:
    url = f"http://{host}/{due}/{started}"
    return FetchLine(due, started, started + took, "page", host, address, 200, "fetched", robots, url)


def place(name: str, hits: list[FetchLine]) -> Place:
    """What a host or an address was treated like, in the plainest way."""
    hits = sorted(hits, key=lambda hit: hit.started)
    gaps = [later.started - max(one.ended for one in hits[:number]) for number, later in enumerate(hits) if number]
    events = sorted(
        [(hit.started, 1, hit) for hit in hits] + [(hit.ended, -1, hit) for hit in hits], key=lambda one: one[:2]
    )
    at_once: Counter[str] = Counter()
    most, crowded = 0, False
    for _, step, hit in events:
        at_once[hit.host] += step
        most = max(most, at_once.total())
        named = [ALLOWED[host] for host, count in at_once.items() if count > 0]
        crowded |= step > 0 and bool(named) and at_once.total() > min(named)
    return Place(name, len(hits), min(gaps, default=None), most, crowded)


@pytest.mark.parametrize("part_bytes", [1_000_000, 100])
@given(HITS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_gaps_and_crowds(part_bytes: int, told: list[tuple[str, str, int, int, int]]) -> None:
    hits = [line(*one) for one in told]
    with TemporaryDirectory() as folder, patch.object(audit, "_PART_BYTES", part_bytes):
        log = FetchLog(Path(folder))
        for hit in hits:
            log.write(hit)
        log.close()
        found = audit.audit(Path(folder), CONFIG)
    assert found.fetches == len(hits)
    for places, names in ((found.hosts, [hit.host for hit in hits]), (found.addresses, [hit.address for hit in hits])):
        expected = [
            place(name, [hit for hit, own in zip(hits, names, strict=True) if own == name])
            for name in sorted({*names} - {""})
        ]
        assert list(places) == expected
    early = sorted((hit.due - hit.started for hit in hits if hit.due > hit.started), reverse=True)
    assert [one.seconds for one in found.early] == early
    assert found.undecided == len(hits)


def test_robots_files(tmp_path: Path) -> None:
    log = FetchLog(tmp_path)
    for robots, outcome in (("x", "fetched"), ("x", "robots-denied"), ("y", "robots-denied"), ("x", "fetched")):
        log.write(line("a.test", "192.0.2.1", 0, 1, 1, robots)._replace(outcome=outcome))
    log.write(line("a.test", "192.0.2.1", 0, 1, 1)._replace(kind="robots"))
    log.close()
    found = audit.audit(tmp_path, CONFIG)
    assert [(one.digest, one.allowed, one.denied) for one in found.robots] == [("x", 2, 1), ("y", 0, 1)]
    assert (found.fetches, found.undecided) == (3, 0)
