"""kill -9 of the whole process tree, at random moments and at the delicate ones, and what is left afterwards."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Running, Settings, answered, assert_holds_the_web, url_of

SLOTS = 16  # of one fetcher; there are two
SETTINGS: Settings = {"crawl": {"fetchers": 2, "slots_per_fetcher": SLOTS}, "store": {"file_size": 15_000}}
COMMIT_SECONDS = 1.0
COMMIT_LAG = 10.0  # seconds that a commit may come late on a busy machine


@dataclass(frozen=True, slots=True)
class Target:
    """A run to be killed, and the chance that decides when."""

    crawl: Crawl
    running: Running
    chance: random.Random

    def size(self, path: Path) -> int:
        try:
            return path.stat().st_size
        except FileNotFoundError:
            return -1

    @property
    def wal(self) -> Path:
        return self.crawl.path / "state.db-wal"

    def docs_bytes(self) -> int:
        return sum(self.size(path) for path in self.crawl.compound_files())


def at_random(target: Target) -> None:
    before = target.docs_bytes()
    target.running.until(lambda: target.docs_bytes() > before)
    target.running.until(until(target.chance.uniform(0.0, 1.5)))


def at_the_start(target: Target) -> None:
    """While processes are spawned, the state is opened and the compound files are cut back."""
    target.running.until(until(target.chance.uniform(0.2, 1.2)))


def at_a_new_compound_file(target: Target) -> None:
    before = len(target.crawl.compound_files())
    target.running.until(lambda: len(target.crawl.compound_files()) > before + 1)


def at_a_cut(target: Target) -> None:
    """Recovery: a compound file shrinks, or goes."""
    before = target.docs_bytes()
    target.running.until(lambda: target.docs_bytes() != before)


def at_a_group_commit(target: Target) -> None:
    """The write-ahead log grows: a transaction is being written."""
    for _ in range(2):
        before = target.size(target.wal)
        target.running.until(lambda: target.size(target.wal) > max(before, 0))  # noqa: B023  # called at once


def at_a_checkpoint(target: Target) -> None:
    """The write-ahead log of the run before is taken in and goes, or is written from its start again."""
    before = target.size(target.wal)
    target.running.until(lambda: target.size(target.wal) < before or before < 0)


def between_append_and_commit(target: Target) -> None:
    before = target.docs_bytes()
    target.running.until(lambda: target.docs_bytes() > before)


def until(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


MOMENTS = (
    at_random,
    at_a_group_commit,
    at_a_checkpoint,
    at_a_new_compound_file,
    at_the_start,
    at_a_cut,
    between_append_and_commit,
)


def kill_in_rounds(crawl: Crawl, server: SimServer, rounds: int, chance: random.Random) -> None:
    """After every kill the directory is sound, and in the end it holds the web as if nothing had happened."""
    killed_at = []
    committed: list[set[str]] = []  # URLs, by round
    for number in range(rounds):
        running = crawl.start("crawl")
        moment = MOMENTS[number % len(MOMENTS)]
        moment(Target(crawl, running, chance))
        ended_before = running.is_over
        running.kill_tree()
        killed_at.append(time.monotonic())
        crawl.verify()
        committed.append(set(crawl.documents_by_url()))
        assert not ended_before, f"round {number}: the web is too small for so many rounds"
    crawl.run("crawl")
    crawl.run("verify", "--deep")
    assert_holds_the_web(crawl, server)
    check_fetched_again(server, killed_at, committed)


def check_fetched_again(server: SimServer, killed_at: list[float], committed: list[set[str]]) -> None:
    """Only what was in flight, or in the group that was not committed yet, costs a second fetch."""
    log = answered(server.log())
    last: dict[str, float] = {}
    again = 0
    for entry in log:
        url = url_of(server, entry)
        if url in last:
            again += 1
            kill = next(number for number, time in enumerate(killed_at) if time > last[url])
            assert url not in committed[kill], f"{url} was fetched again, though it was saved"
            assert killed_at[kill] - last[url] < COMMIT_SECONDS + COMMIT_LAG, f"{url} was not saved in time"
        last[url] = entry.started  # the answer may be sent to a client that is dead already
    assert again <= len(killed_at) * (2 * SLOTS + most_between_commits([entry.ended for entry in log]))


def most_between_commits(times: list[float]) -> int:
    times = sorted(times)
    first = 0
    most = 0
    for last, end in enumerate(times):
        while end - times[first] > 2 * COMMIT_SECONDS:  # a commit may come late
            first += 1
        most = max(most, last - first + 1)
    return most


def settings(pages: int, latency: float) -> SimWebSettings:
    return SimWebSettings(
        seed=21, hosts=20, pages=pages, port=0, mean_page_bytes=4_000, host_skew=0.0, error_share=0.04,
        redirect_share=0.05, crawl_delay=0, retry_after=0, latency=latency,
    )  # fmt: skip


def test_killed_in_six_rounds(make_crawl: MakeCrawl) -> None:
    with SimServer(settings(800, 0.1)) as server:
        crawl = make_crawl([server.seed], SETTINGS)
        kill_in_rounds(crawl, server, 6, random.Random(22))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_in_twenty_rounds(make_crawl: MakeCrawl) -> None:
    with SimServer(settings(5_000, 0.1)) as server:
        crawl = make_crawl([server.seed], SETTINGS)
        kill_in_rounds(crawl, server, 20, random.Random(23))
