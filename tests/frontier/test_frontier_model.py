"""The frontier against a simple model: any order of additions, leases, commits and crashes."""

from __future__ import annotations

import copy
import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pycrawl.config import Config, LimitsSection, PolitenessSection, ScopeSection
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.frontier import FrontierBounds
from pycrawl.policy.priority import FRONT_QUEUES
from pycrawl.state.documents import Visit
from pycrawl.state.url_lookup import find_url
from pycrawl.urls.parts import host_key, url_hash
from pycrawl.urls.reasons import Reason
from tests.frontier.crawl_state import SEED, CrawlState, Sizes, pack
from tests.frontier.simple_model import Model, Source, Url

HOSTS = [f"h{number}.example" for number in range(4)]
ADDRESSES = dict(zip(HOSTS, ["192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.3"], strict=True))
OUTCOMES = ("fetched",)
FAILURES = 5  # enough to be parked
MANY_STEPS = 2_000
CHUNK = 8
# Every stretch, cache and chunk so short that its ends are met all the time. With more than one queue for a slot, front
# queues would never keep anything.
BOUNDS = FrontierBounds(queues_per_slot=1, head=3, most_unwritten=7, stretch=4)
SMALL = Sizes(BOUNDS, cached_hosts=2, cached_ids=2, chunk=CHUNK)

urls = st.builds("http://{}/{}".format, st.sampled_from(HOSTS), st.integers(0, 25))
pages = st.lists(urls, unique=True, max_size=12)
depths = st.sampled_from([0, 2, 2, 9, 9, 20])

waits = st.sampled_from([0.0, 0.0, 1.0, 5.0])
HitEnd = tuple[int, str, float, bool, bool | None]  # parked: None if the host stays as it is
hit_ends = st.tuples(
    st.integers(0, 9),  # which lease
    st.sampled_from(["put_back", "retry", "finish", "finish"]),
    st.sampled_from([-5.0, 0.0, 1.0, 3.0]),  # the pause
    st.booleans(),  # was a page fetched?
    st.sampled_from([False, False, True, None]),
)


@st.composite
def sources(draw: st.DrawFn) -> list[Source]:
    """What a batch is gathered from, in the order of discovery."""
    batch: list[Source] = []
    kinds = st.sampled_from(["links", "links", "seeds", "redirect", "popular"])
    for kind in draw(st.lists(kinds, min_size=1, max_size=5)):
        if kind == "seeds":
            batch.append((kind, 0, 0, draw(st.lists(urls, max_size=4)), []))
        elif kind == "redirect":
            batch.append((kind, draw(depths), draw(st.integers(1, 3)), [draw(urls)], []))
        elif kind == "popular":  # many pages link to the same ones
            batch += [("links", 1, 0, [], draw(pages))] * draw(st.sampled_from([3, 4, 12]))
        else:
            page = draw(pages)
            cut = draw(st.integers(0, len(page)))
            batch.append((kind, draw(depths), 0, page[:cut], page[cut:]))
    return batch


def gather(batch: Sequence[Source]) -> Discovered:
    discovered = Discovered()
    for kind, depth, hops, with_text, without in batch:
        if kind == "seeds":
            discovered.add_seeds(with_text, [url_hash(url, SEED) for url in with_text])
        elif kind == "redirect":
            discovered.add_redirect(1, depth, hops, with_text[0], url_hash(with_text[0], SEED))
        else:
            discovered.add_links(1, depth, pack(with_text, without))
    return discovered


class RecordingRandom(random.Random):
    """Remembers which front queues it has chosen."""

    chosen: list[int]

    def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> list[Any]:
        result = super().choices(population, weights, cum_weights=cum_weights, k=k)
        self.chosen += result
        return result


class FrontierMachine(RuleBasedStateMachine):
    template: Path  # a new database, copied for each example

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "state.db"
        shutil.copy(self.template, self.path)
        self.now = 1000.0
        self.leases: dict[str, tuple[BackQueue, Entry]] = {}
        self.finished: list[tuple[str, float]] = []

    def teardown(self) -> None:
        if hasattr(self, "state"):
            self.state.close()
        shutil.rmtree(self.folder)

    @initialize(
        connections=st.integers(1, 2),
        limit=st.sampled_from([0, 0, 2, 5]),
        external=st.booleans(),
        fetchers=st.integers(1, 3),
        slots=st.integers(1, 2),
        seed=st.integers(0, 99),
        first=st.lists(urls, min_size=8, max_size=16),
    )
    def start(
        self, connections: int, limit: int, external: bool, fetchers: int, slots: int, seed: int, first: list[str]
    ) -> None:
        self.config = Config(
            scope=ScopeSection(follow_external=external),
            politeness=PolitenessSection(connections_per_host=connections),
            limits=LimitsSection(max_pages_per_host=limit),
        )
        self.fetchers = fetchers
        self.slots = slots
        self.chance = RecordingRandom(seed)
        self.chance.chosen = []
        self.model = Model(CHUNK, connections, limit or float("inf"), external)
        self.open()
        self.committed = copy.deepcopy(self.model)
        self.add([("seeds", 0, 0, first, [])])
        self.fill(starving=True)

    def open(self) -> None:
        self.state = CrawlState(self.path, self.config, self.chance, sizes=SMALL)
        self.frontier = self.state.frontier
        self.frontier.open_queues(self.fetchers, self.slots, self.now)
        self.leases.clear()
        self.finished.clear()
        self.model.reopened(self.now)

    # In

    @rule(batch=sources(), pull=st.booleans())
    def discover(self, batch: list[Source], pull: bool) -> None:
        self.add(batch)
        if pull:
            self.fill(starving=False)

    def add(self, batch: list[Source]) -> None:
        added = self.frontier.add(gather(batch), self.now)
        new, external = self.model.add(batch)
        assert added.new == new
        assert added.asides[Reason.EXTERNAL] == external

    @rule(starving=st.booleans())
    def fill(self, starving: bool) -> None:
        before = self.frontier.sizes()
        self.chance.chosen.clear()
        self.frontier.fill(starving)
        after = self.frontier.sizes()
        for _ in range(before.front - after.front):
            filled = [number for number, length in enumerate(self.model.front_lengths()) if length]
            self.model.pull(1 + (filled[0] if len(filled) == 1 else self.chance.chosen.pop(0)))
        assert not self.chance.chosen
        wanted = BOUNDS.queues_per_slot * self.slots
        assert after.queues >= (before.queues + wanted if starving else wanted) or not after.front

    @rule(age=st.sampled_from([0.0, 5.0]))
    def requeue(self, age: float) -> None:
        assert self.frontier.requeue_visits("visited_at <= ?", (self.now - age,)) == self.model.requeue(self.now - age)

    # Out

    @rule(fetchers=st.lists(st.integers(0, 2), min_size=1, max_size=4), wait=waits)
    def lease(self, fetchers: list[int], wait: float) -> None:
        self.now += wait
        for fetcher in fetchers:
            self.lease_one(fetcher % self.fetchers)

    @rule(wait=waits)
    def lease_all_due(self, wait: float) -> None:
        self.now += wait
        for _ in range(
            2
        ):  # a queue may move to a fetcher that was asked before, and is leased when that is asked again
            for fetcher in range(self.fetchers):
                while self.lease_one(fetcher):
                    pass
        assert not [key for key in self.model.hosts if self.model.is_due(key, self.now)]

    def lease_one(self, fetcher: int) -> Url | None:
        leased = self.frontier.lease(fetcher, self.now)
        if leased is None:
            return None
        queue, entry = leased
        key = host_key(entry.url)
        assert queue.host.key == key, "a back queue holds URLs of one host"
        assert queue.fetcher == fetcher
        assert self.model.is_due(key, self.now)
        expected = self.model.lease(key)
        assert entry.url == expected.url, "first in, first out within a host"
        assert (entry.url_id, entry.hops) == (expected.id, expected.hops)
        assert entry.depth >= expected.depth, "a shorter way may have been found since it was queued"
        assert (entry.tries, entry.revisit) == (expected.tries, expected.revisit)
        assert entry.url not in self.leases
        self.leases[entry.url] = leased
        return expected

    @precondition(lambda self: self.leases)
    @rule(hits=st.lists(hit_ends, min_size=1, max_size=3))
    def end_leases(self, hits: list[HitEnd]) -> None:
        for hit in hits[: len(self.leases)]:
            self.end_lease(hit)

    def end_lease(self, hit: HitEnd) -> None:
        place, end, gap, is_page, parked = hit
        url = list(self.leases)[place % len(self.leases)]
        queue, entry = self.leases.pop(url)
        host = self.model.hosts[host_key(url)]
        queue.host.address = host.address = ADDRESSES[queue.host.key]
        if is_page:
            queue.host.pages += 1
            host.pages += 1
        if end == "put_back":
            self.frontier.put_back(queue, entry)
            self.model.put_back(url)
        elif end == "retry":
            entry.tries += 1
            self.frontier.retry(queue, entry)
            self.model.retry(url)
        else:
            self.state.finish(queue, entry, Visit(entry.url_id, OUTCOMES[0], 200, self.now, entry.tries))
            self.finished.append((url, self.now))
            self.model.finish(url)
        if parked is not None:
            queue.host.failures = FAILURES * parked
        is_parked = host.parked if parked is None else parked
        if parked is not None:
            (self.frontier.park if parked else self.frontier.unpark)(queue)
        self.frontier.release(queue, self.now + gap)
        self.model.release(url, self.now + gap, queue.host.failures, is_parked)

    # Commit and crash

    @rule(with_inlinks=st.booleans())
    def commit(self, with_inlinks: bool) -> None:
        if with_inlinks:
            self.state.seen.flush_inlinks()
            self.state.seen.save_sorted(10)
            self.model.write_inlinks()
        self.state.commit()
        for url, visited_at in self.finished:
            self.model.commit_finished(url, visited_at)
        self.finished.clear()
        self.check_tables()
        self.committed = copy.deepcopy(self.model)

    @rule()
    def crash(self) -> None:
        self.state.close()
        self.model = copy.deepcopy(self.committed)
        self.open()

    @rule()
    def reopen(self) -> None:
        self.commit(with_inlinks=True)
        self.state.close()
        self.open()

    def check_tables(self) -> None:
        query = self.state.database.query
        totals = dict(query("SELECT name, value FROM counters"))
        known = self.model.urls.values()
        assert dict(query("SELECT url, id FROM urls")) == {one.url: one.id for one in known}
        assert query("SELECT priority, url_id, revisit FROM front ORDER BY url_id").fetchall() == [
            (one.front, one.id, one.revisit) for one in sorted(known, key=lambda one: one.id) if one.front
        ]
        assert query(
            "SELECT hosts.key, seq, url_id, tries, revisit FROM back JOIN hosts ON hosts.id = host_id ORDER BY seq"
        ).fetchall() == [
            (one.host, one.seq, one.id, one.tries, one.revisit)
            for one in sorted(known, key=lambda one: one.seq)
            if one.seq
        ]
        assert dict(query("SELECT key, ready_at FROM hosts")) == {
            key: host.ready_at for key, host in self.model.hosts.items()
        }
        assert {key for (key,) in query("SELECT key FROM hosts WHERE is_seed")} == {
            key for key, host in self.model.hosts.items() if host.is_seed
        }
        assert dict(query("SELECT key, pages FROM hosts")) == {
            key: host.pages for key, host in self.model.hosts.items()
        }
        assert totals.get("urls", 0) == len(known) == len(self.state.seen)
        assert totals.get("back", 0) == query("SELECT count(*) FROM back").fetchone()[0]
        counted = dict(query("SELECT priority, count(*) FROM front GROUP BY 1"))
        assert [totals.get(f"front:{n + 1}", 0) for n in range(FRONT_QUEUES)] == [
            counted.get(n + 1, 0) for n in range(FRONT_QUEUES)
        ]
        for one in known:
            assert find_url(self.state.database, one.url, SEED, CHUNK) == one.id

    # At all times

    @invariant()
    def agrees(self) -> None:
        if not hasattr(self, "state"):
            return
        sizes = self.frontier.sizes()
        waiting = [one for one in self.model.urls.values() if one.seq]
        assert self.frontier.front_lengths() == self.model.front_lengths()
        assert sizes.front == sum(self.model.front_lengths())
        assert sizes.back == len(waiting)
        assert sizes.in_flight == len(self.leases)
        assert sizes.queues + sizes.parked == sum(host.has_queue for host in self.model.hosts.values())
        assert self.frontier.is_finished == self.model.is_finished
        parked = {host.key for host in self.frontier.parked_hosts()}
        for key, host in self.model.hosts.items():
            if host.queue and not host.in_flight:
                assert (key in parked) == (host.parked or not self.model.may_give(host))
        next_due = min(
            (self.model.ready_at(key) for key in self.model.hosts if self.model.is_due(key, float("inf"))),
            default=float("inf"),
        )
        # It may be sooner: a time can stand in the heap that the address, or a second connection, has put off since.
        assert self.frontier.next_ready_at(lambda _: True) <= next_due

    @precondition(lambda self: self.model.urls)
    @rule()
    def drain(self) -> None:
        """To the end: every URL that is left comes out exactly once, host limits apart."""
        for _ in range(MANY_STEPS):
            self.fill(starving=True)
            self.lease_all_due(1000.0)
            while self.leases:
                self.end_lease((0, "finish", 0.0, False, False))
            if self.frontier.is_finished:
                break
        self.commit(with_inlinks=False)
        for one in self.model.urls.values():
            is_stopped = self.model.hosts[one.host].pages >= self.model.limit
            assert one.is_visited or is_stopped or one.is_external


@pytest.fixture
def _template(tmp_path: Path) -> None:
    template = tmp_path / "template.db"
    CrawlState(template, Config(), random.Random(1), create=True, sizes=SMALL).close()
    FrontierMachine.template = template


BOUNDED = settings(
    max_examples=25,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=[Phase.generate],  # to make a failure smaller takes minutes: do it by hand
)


@pytest.mark.usefixtures("_template")
def test_frontier_behaves_like_the_model() -> None:
    run_state_machine_as_test(FrontierMachine, settings=BOUNDED)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("_template")
def test_frontier_behaves_like_the_model_for_long() -> None:
    longer = settings(BOUNDED, max_examples=2_000, stateful_step_count=80, derandomize=False)
    run_state_machine_as_test(FrontierMachine, settings=longer)


class Walk:
    """A crawl of many steps, in the proportions of real ones: queues are longer and older than in short examples."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.machine = FrontierMachine()
        self.machine.start(
            connections=1 + seed % 2,
            limit=chance.choice([0, 0, 20]),
            external=chance.random() < 0.8,
            fetchers=chance.randint(1, 3),
            slots=1 + seed // 2 % 2,
            seed=seed,
            first=[f"http://{host}/" for host in HOSTS],
        )

    def some_urls(self, most: int) -> list[str]:
        some = {f"http://{self.chance.choice(HOSTS)}/{self.chance.randrange(300)}" for _ in range(most)}
        return self.chance.sample(sorted(some), len(some))

    def page(self) -> Source:
        urls = self.some_urls(6)
        cut = self.chance.randrange(len(urls) + 1)
        return ("links", self.chance.choice([2, 9, 9, 20]), 0, urls[:cut], urls[cut:])

    def batch(self) -> list[Source]:
        chance = self.chance
        batch = [self.page() for _ in range(chance.randrange(4))]
        known = list(self.machine.model.urls)
        for popular in chance.sample(known, min(len(known), chance.randrange(3))):
            batch += [("links", 1, 0, [], [popular])] * chance.choice([3, 4, 12])
        if chance.random() < 0.2:
            batch.append(("seeds", 0, 0, self.some_urls(3), []))
        if chance.random() < 0.5:
            batch.append(("redirect", 2, 1, self.some_urls(1), []))
        return batch

    def hit_end(self) -> HitEnd:
        chance = self.chance
        end = chance.choices(["put_back", "retry", "finish"], [1, 1, 4])[0]
        parked = chance.choices([False, True, None], [8, 1, 2])[0]
        return chance.randrange(10), end, chance.choice([0.0, 1.0, 3.0]), chance.random() < 0.5, parked

    def step(self) -> None:
        chance, machine = self.chance, self.machine
        match chance.choices(range(9), [6, 4, 12, 2, 14, 1, 3, 0.5, 0.5])[0]:
            case 0:
                machine.add(self.batch())
            case 1:
                machine.fill(starving=chance.random() < 0.4)
            case 2:
                machine.lease([chance.randrange(3) for _ in range(3)], chance.choice([0.0, 0.0, 1.0, 3.0]))
            case 3:
                machine.lease_all_due(1.0)
            case 4:
                machine.end_leases([self.hit_end() for _ in range(chance.randint(1, 3))])
            case 5:
                machine.requeue(chance.choice([0.0, 5.0]))
            case 6:
                machine.commit(with_inlinks=chance.random() < 0.3)
            case 7:
                machine.crash()
            case _:
                machine.reopen()
        machine.agrees()


@pytest.mark.usefixtures("_template")
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 7, 19, 42, 51, 53, 59, 151, 163])
def test_a_long_walk(seed: int) -> None:
    walk = Walk(seed)
    try:
        for _ in range(400):
            walk.step()
        walk.machine.drain()
    finally:
        walk.machine.teardown()
