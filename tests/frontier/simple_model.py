"""What a frontier should do, said as simply as possible: plain dicts and lists, nothing on disk, no caches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pycrawl.policy.priority import FRONT_QUEUES, priority
from pycrawl.urls.parts import host_key

MOST_INLINKS = 127


@dataclass(slots=True)
class Url:
    id: int
    url: str
    depth: int
    hops: int
    tries: int = 0
    revisit: int = 0
    inlinks: int = 0
    was_pulled: bool = False
    written: tuple[int, bool] = (0, False)  # both of them, as they are on disk
    front: int = 0  # its priority while it waits in a front queue
    seq: int = 0  # its place while it is in a back queue or in flight
    is_external: bool = False  # so that it stands aside
    is_visited: bool = False  # and not put back into a front queue since
    visited_at: float = 0.0

    @property
    def host(self) -> str:
        return host_key(self.url)


@dataclass(slots=True)
class ModelHost:
    is_seed: bool = False
    ready_at: float = 0.0
    pages: int = 0
    failures: int = 0
    queue: list[str] = field(default_factory=list)  # URLs that wait in the back queue, head first
    in_flight: list[str] = field(default_factory=list)
    parked: bool = False
    address: str = ""  # empty until it is known

    @property
    def has_queue(self) -> bool:
        return bool(self.queue or self.in_flight)


@dataclass(slots=True)
class ModelGate:
    """What the hosts of one address share."""

    inside: set[str] = field(default_factory=set)  # URLs in flight
    ready_at: float = 0.0


Source = tuple[
    str, int, int, list[str], list[str]
]  # "seeds", "links" or "redirect"; depth; hops; URLs with text, without


@dataclass(slots=True)
class Model:
    chunk: int  # ids whose in-link counts are written together
    connections: int
    limit: float
    follow_external: bool
    urls: dict[str, Url] = field(default_factory=dict)
    hosts: dict[str, ModelHost] = field(default_factory=dict)
    gates: dict[str, ModelGate] = field(default_factory=dict)
    opened_at: float = 0.0
    dirty_chunks: set[int] = field(default_factory=set)  # of in-link counts
    last_seq: int = 0
    head_seq: int = 0  # the last place that was given at the head of a queue, counting down
    outlinks: list[tuple[str, bool]] = field(default_factory=list)  # of the URL with id 1; the bool: a redirect

    def host(self, key: str) -> ModelHost:
        return self.hosts.setdefault(key, ModelHost())

    def add(self, sources: Sequence[Source]) -> tuple[int, int]:
        """How many URLs are new, how many are turned away as external."""
        by_place = sorted(sources, key=lambda source: source[0] != "seeds")  # seeds come first, else as discovered
        for kind, _, _, with_text, _ in by_place:
            for url in with_text if kind == "seeds" else ():
                self.host(host_key(url)).is_seed = True
        self._let_seed_hosts_in()
        counts = Counter(url for source in sources for url in (*source[3], *source[4]))
        depths = {url: min(source[1] for source in sources if url in (*source[3], *source[4])) for url in counts}
        new: list[str] = []
        external = 0
        for _, _, hops, with_text, _ in by_place:
            for url in with_text:
                self.host(host_key(url))
                if url not in self.urls:
                    one = self.urls[url] = Url(len(self.urls) + 1, url, depths[url], hops)
                    one.is_external = not self.follow_external and not self.host(host_key(url)).is_seed
                    one.front = 0 if one.is_external else priority(one.depth, counts[url])
                    external += one.is_external
                    new.append(url)
        self._note_links_of_first_page(sources)
        self._shorten({url: depth for url, depth in depths.items() if url in self.urls})
        if any(source[0] == "links" for source in sources):
            for url in counts:
                if url in self.urls:
                    self._count_inlinks(url, counts[url])
        return len(new), external

    def _let_seed_hosts_in(self) -> None:
        for one in self.urls.values():
            if one.is_external and self.host(one.host).is_seed:
                one.is_external = False
                one.front = priority(one.depth, 0)

    def _note_links_of_first_page(self, sources: Sequence[Source]) -> None:
        """All batches say that the page with id 1 has brought them."""
        named = [
            (url, kind == "redirect")
            for kind, _, _, texts, others in sources
            if kind != "seeds"
            for url in (*texts, *others)
        ]
        if named:
            self.outlinks = [(url, is_redirect) for url, is_redirect in named if url in self.urls]

    def _shorten(self, ways: dict[str, int]) -> None:
        for url, depth in ways.items():
            one = self.urls[url]
            if depth < one.depth:
                if not one.was_pulled and one.front == priority(one.depth, one.inlinks):
                    one.front = priority(depth, one.inlinks)
                one.depth = depth
                if one.id == 1:
                    self._shorten(
                        {name: depth if is_redirect else depth + 1 for name, is_redirect in self.outlinks[::-1]}
                    )

    def _count_inlinks(self, url: str, count: int) -> None:
        one = self.urls[url]
        before = one.inlinks
        one.inlinks = min(before + count, MOST_INLINKS)
        self.dirty_chunks.add(one.id // self.chunk)
        if before and not one.was_pulled and one.front == priority(one.depth, before):
            one.front = priority(one.depth, one.inlinks)

    def write_inlinks(self) -> None:
        for one in self.urls.values():
            if one.id // self.chunk in self.dirty_chunks:
                one.written = (one.inlinks, one.was_pulled)
        self.dirty_chunks.clear()

    def pull(self, number: int) -> None:
        """From a front queue to the back queue of its host."""
        one = min((one for one in self.urls.values() if one.front == number), key=lambda one: one.id)
        one.front = 0
        one.was_pulled = True
        host = self.hosts[one.host]
        if one.revisit and host.pages >= self.limit:
            # At the head, as behind URLs that the host may not give any more it would never be reached.
            self._open(host)
            self.head_seq -= 1
            one.seq = self.head_seq
            host.queue.insert(0, one.url)
            if not host.failures:
                host.parked = False
        else:
            self._append(one)

    def _open(self, host: ModelHost) -> None:
        if not host.has_queue:
            host.parked = self.is_left_alone(host)

    def _append(self, one: Url) -> None:
        self.last_seq += 1
        one.seq = self.last_seq
        host = self.hosts[one.host]
        self._open(host)
        host.queue.append(one.url)

    def may_give(self, host: ModelHost) -> bool:
        """Whether the URL at the head of its queue may be asked for, as far as max_pages_per_host goes: one that was
        visited before adds no page."""
        is_revisit = bool(host.queue and self.urls[host.queue[0]].revisit)
        return is_revisit or host.pages + len(host.in_flight) < self.limit

    def is_left_alone(self, host: ModelHost) -> bool:
        """It kept failing, and its time had not come when the run began."""
        return host.failures > 0 and host.ready_at > self.opened_at

    def front_lengths(self) -> list[int]:
        counts = Counter(one.front for one in self.urls.values())
        return [counts[number + 1] for number in range(FRONT_QUEUES)]

    def gate(self, host: ModelHost) -> ModelGate:
        return self.gates.setdefault(host.address, ModelGate()) if host.address else ModelGate()

    def ready_at(self, key: str) -> float:
        host = self.hosts[key]
        return max(host.ready_at, self.gate(host).ready_at)

    def is_due(self, key: str, now: float) -> bool:
        host = self.hosts[key]
        connections = self.connections if host.address else 1  # a second one only if it is known where it goes
        has_room = len(host.in_flight) < connections and self.may_give(host)
        is_open = len(self.gate(host).inside) < self.connections
        return bool(host.queue) and has_room and is_open and self.ready_at(key) <= now

    def lease(self, key: str) -> Url:
        host = self.hosts[key]
        url = host.queue.pop(0)
        host.in_flight.append(url)
        if host.address:
            self.gates[host.address].inside.add(url)
        return self.urls[url]

    def put_back(self, url: str) -> None:
        """To its old place, which is not the head if a URL that was leased before it was put back first."""
        queue = self._land(url).queue
        queue.append(url)
        queue.sort(key=lambda other: self.urls[other].seq)

    def retry(self, url: str) -> None:
        self.urls[url].tries += 1
        self._append(self.urls[url])
        self._land(url)

    def finish(self, url: str) -> None:
        self._land(url)

    def commit_finished(self, url: str, visited_at: float) -> None:
        one = self.urls[url]
        one.seq = one.tries = one.revisit = 0
        one.is_visited = True
        one.visited_at = visited_at

    def _land(self, url: str) -> ModelHost:
        host = self.hosts[host_key(url)]
        host.in_flight.remove(url)
        return host

    def release(self, url: str, ready_at: float, failures: int, parked: bool) -> None:
        host = self.hosts[host_key(url)]
        gate = self.gates.get(host.address)
        if gate is not None and url in gate.inside:
            gate.inside.remove(url)
            gate.ready_at = max(gate.ready_at, ready_at)
        host.ready_at = max(host.ready_at, ready_at)
        host.failures = failures
        host.parked = parked and host.has_queue

    def requeue(self, visited_before: float) -> int:
        due = [one for one in self.urls.values() if one.is_visited and one.visited_at <= visited_before]
        for one in due:
            one.is_visited = False
            one.front = priority(one.depth, 0)
            one.revisit = 1
        return len(due)

    def reopened(self, now: float) -> None:
        """Only what is on disk is left: nothing is in flight, and back queues stand in the order of their places."""
        self.opened_at = now
        self.gates.clear()
        self.dirty_chunks.clear()
        for one in self.urls.values():
            one.inlinks, one.was_pulled = one.written
        for key, host in self.hosts.items():
            queue = [one for one in self.urls.values() if one.seq and one.host == key]
            host.queue = [one.url for one in sorted(queue, key=lambda one: one.seq)]
            host.in_flight = []
            host.parked = bool(queue) and self.is_left_alone(host)

    @property
    def is_finished(self) -> bool:
        for host in self.hosts.values():
            if host.in_flight or (host.queue and not host.parked and self.may_give(host)):
                return False
        return not any(one.front for one in self.urls.values())
