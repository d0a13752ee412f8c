"""What a large state costs: `python bench/ten_million.py [--documents N] [--directory DIR]` (default: 10 million).

A state of so many documents, three times as many known URLs and a host for ten documents is made through the crawl's
own session, as a coordinator does it: URLs are leased, their pages stored with fingerprints, passages, links and texts
of links, their visits and what these show of changes entered, and all is committed in groups of a thousand. Only the
network is left out, and the records are short. A state of 100,000 documents is made beside it, as the measure.

Then it is asked, each time by processes of its own: how long opening takes; what content seen, near-duplicates and URL
seen take for a thousand pages, in both states; how long `stats`, `why` and `get` take; and a crawl goes on with it,
from a server at all loopback addresses, for so many pages: when the first page was asked for, and what memory all
processes took. States that are in --directory already are not made anew. Ten million documents take some 12 GB there.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import shutil
import subprocess
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash
from measure import LOOPBACK, PYCRAWL, Spent, new_crawl, run
from numpy.typing import NDArray

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.session import Session
from pycrawl.fingerprint.page_prints import RECORD
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import Outcome, PackedAnchors, PackedLinks, StoredBody
from pycrawl.policy.page_records import Found
from pycrawl.processes.allocation import give_freed_memory_back
from pycrawl.record import trec_web
from pycrawl.state.change_rates import Observation
from pycrawl.state.content_seen import ContentSeen
from pycrawl.state.documents import Visit
from pycrawl.state.near_seen import NearSeen
from pycrawl.urls.parts import url_hash

PORT = 18_964
REFERENCE = 100_000  # documents of the state that the large one is compared with
URLS_PER_DOCUMENT = 3
DOCUMENTS_PER_HOST = 10
PASSAGES = 40  # of a page of 6 KB
KNOWN_LINKS = 9  # of a page, beside those to new URLs
GROUP = 1_000  # pages of a commit
RESULTS = 50  # pages that come from the fetchers together
PROBED_GROUPS = 30
NEAR_SHARE = 0.1  # of pages that have most of an earlier page's sketch
LEASES_AT_ONCE = 1 << 10
SAID_EVERY = 50  # groups
_SKETCH = 28  # where the sketch begins in the prints of a page
_BODY = b"<title>A page</title><p>Some text."
# What the texts of a page's links have in common with those of all others.
_OTHER_WORDS = (b"next", b"home", *[b"more"] * (URLS_PER_DOCUMENT + KNOWN_LINKS - 3))
_OTHER_DIGESTS = b"".join(map(xxhash.xxh3_64_digest, _OTHER_WORDS))
_PLACES = np.arange(URLS_PER_DOCUMENT + KNOWN_LINKS, dtype=np.uint32).tobytes()
_NO_RELS = bytes(URLS_PER_DOCUMENT + KNOWN_LINKS)


class Web:
    """URLs by number. Each host has every so many of them, so that a page's links lead to many hosts."""

    def __init__(self, documents: int) -> None:
        self.hosts = max(1, documents // DOCUMENTS_PER_HOST)

    def url(self, number: int) -> str:
        host = number % self.hosts
        return (
            f"http://127.{1 + (host >> 16)}.{host >> 8 & 255}.{host & 255}:{PORT}/section/{number // self.hosts}.html"
        )


class Maker:
    """Makes pages, and enters them as a coordinator does. What is random of them is made for a whole group at once."""

    def __init__(self, session: Session, web: Web) -> None:
        self._session = session
        self._web = web
        self._numbers = np.random.default_rng(1)
        self._earlier = self._numbers.integers(0, 1 << 7, (GROUP, RECORD.size), dtype=np.uint8)
        self._now = 1.7e9
        record, _ = trec_web.encode(
            "http://127.1.0.0/", "127.1.0.0", self._now, "text/html", b"HTTP/1.1 200 OK",
            [(b"Content-Type", b"text/html")], _BODY, "wt10g",
        )  # fmt: skip
        self._record = trec_web.pack(record)
        self.urls = 0
        self._hashes = np.empty(URLS_PER_DOCUMENT * GROUP, np.uint64)  # of all URLs, by number; with room

    def begin(self) -> None:
        assert not len(self._session.seen)
        self._session.discovered.add_seeds(*self._named(URLS_PER_DOCUMENT * GROUP))
        self._session.commit(self._now)
        self._session.frontier.open_queues(1, LEASES_AT_ONCE, self._now)

    def _named(self, count: int) -> tuple[list[str], list[int]]:
        """Returns so many new URLs, with their hashes."""
        texts = [self._web.url(number) for number in range(self.urls, self.urls + count)]
        hashes = [url_hash(text, self._session.seed) for text in texts]
        if self.urls + count > len(self._hashes):
            self._hashes = np.append(self._hashes, np.empty(count + len(self._hashes) // 8, np.uint64))
        self._hashes[self.urls : self.urls + count] = hashes
        self.urls += count
        return texts, hashes

    def make_group(self) -> int:
        """Enter some pages, and commit them. Returns how many."""
        session = self._session
        self._now += 1
        leased = self._lease(GROUP)
        bodies = self.bodies(len(leased))
        known = self._hashes[self._numbers.integers(0, self.urls, (len(leased), KNOWN_LINKS))]
        for begin in range(0, len(leased), RESULTS):
            part = slice(begin, begin + RESULTS)
            session.content_seen.look([body.digest for body in bodies[part]])
            for (queue, entry), body, linked in zip(leased[part], bodies[part], known[part], strict=True):
                self._enter(queue, entry, body, linked)
        session.commit(self._now)
        session.frontier.fill(False)
        return len(leased)

    def _lease(self, most: int) -> list[tuple[BackQueue, Entry]]:
        frontier = self._session.frontier
        leased: list[tuple[BackQueue, Entry]] = []
        while len(leased) < most:
            one = frontier.lease(0, self._now)
            if one is None:
                frontier.fill(True)
                one = frontier.lease(0, self._now)
            if one is None:
                break
            leased.append(one)
            frontier.release(one[0], self._now)
        return leased

    def _enter(self, queue: BackQueue, entry: Entry, body: StoredBody, known: NDArray[np.uint64]) -> None:
        session = self._session
        document = session.store(entry.url_id, entry.url, self._now, body)
        visit = Visit(
            entry.url_id, Outcome.FETCHED.value, 200, self._now, 1, "", f'"{entry.url_id:x}-1"',
            "Tue, 14 Nov 2023 22:13:20 GMT", body.digest, document.id,
        )  # fmt: skip
        session.group.visits.append(visit)
        session.group.observations.append(
            Observation(entry.url_id, queue.host.id, 1 + entry.url_id % 99, self._now, Found.FIRST, True, True)
        )
        session.group.finished.append((queue, entry))
        session.group.counts["pages_fetched"] += 1
        self._link(entry.url_id, known)

    def _link(self, url_id: int, known: NDArray[np.uint64]) -> None:
        texts, hashes = self._named(URLS_PER_DOCUMENT)
        packed = np.array(hashes, np.uint64).tobytes() + known.tobytes()
        first = b"to page %d" % (url_id * 7 % 99_991)
        anchors = PackedAnchors(
            _PLACES, xxhash.xxh3_64_digest(first) + _OTHER_DIGESTS, b"\n".join((first, *_OTHER_WORDS)), _NO_RELS
        )
        self._session.discovered.add_page(url_id, anchors)
        self._session.discovered.add_links(url_id, 1, PackedLinks(packed, "\n".join(texts).encode(), len(texts)))

    def bodies(self, count: int) -> list[StoredBody]:
        """Returns new pages. Some have nineteen bins of twenty of the sketch of an earlier one."""
        prints = self._numbers.integers(0, 1 << 7, (count, RECORD.size), dtype=np.uint8)
        near = np.flatnonzero(self._numbers.random(count) < NEAR_SHARE)
        sketches = self._earlier[self._numbers.integers(0, len(self._earlier), len(near)), _SKETCH:]
        bins = self._numbers.integers(0, sketches.shape[1], (len(near), sketches.shape[1] // 20))
        np.put_along_axis(sketches, bins, np.take_along_axis(sketches, bins, 1) ^ 1, 1)
        prints[near, _SKETCH:] = sketches
        self._earlier = np.concatenate((self._earlier, prints))[-GROUP:]
        passages = self._numbers.integers(0, 1 << 60, (count, PASSAGES), dtype=np.uint64) * np.uint64(16)
        passages.sort(axis=1)
        digests = self._numbers.integers(0, 1 << 8, (count, 16), dtype=np.uint8)
        return [
            StoredBody(
                self._record, len(_BODY), digest.tobytes(), "text/html; charset=utf-8",
                prints=own_prints.tobytes(), passages=own_passages.tobytes(),
            )
            for digest, own_prints, own_passages in zip(digests, prints, passages, strict=True)
        ]  # fmt: skip


def make(directory: Path, documents: int) -> None:
    crawl = CrawlDirectory(directory)
    begun = time.monotonic()
    with crawl.hold(), Session(crawl, crawl.config()) as session:
        maker = Maker(session, Web(documents))
        maker.begin()
        made = groups = 0
        while made < documents:
            made += maker.make_group()
            groups += 1
            if groups % SAID_EVERY == 0:
                cpu = time.process_time() / made * 1000
                print(
                    f"{made:>12,} documents {time.monotonic() - begun:>8,.0f} s  {cpu:.3f} ms of CPU each", flush=True
                )
        session.commit_last(time.time())


class Speeds(NamedTuple):
    """CPU seconds, and for opening the wall's too."""

    wall: float
    opened: float
    content: float
    near: float
    urls: float


def speeds(directory: Path) -> Speeds:
    """What opening takes, and each part for `PROBED_GROUPS` groups of pages. Nothing is committed."""
    crawl = CrawlDirectory(directory)
    wall, begun = time.monotonic(), time.process_time()
    with crawl.hold(), Session(crawl, crawl.config()) as session:
        opened, wall = time.process_time() - begun, time.monotonic() - wall
        maker = Maker(session, Web(1))
        source = np.random.default_rng(2)
        known = np.concatenate(session.seen._hashes)
        content_seen = ContentSeen(session.database)
        near_seen = NearSeen(session.database, crawl.config().content.near_duplicate_threshold)
        content = near = urls = 0.0
        next_id = session._next_document
        for group in range(PROBED_GROUPS):
            bodies = maker.bodies(GROUP)
            begun = time.process_time()
            content_seen.look([body.digest for body in bodies])
            for number, body in enumerate(bodies):
                content_seen.find(body.digest)
                content_seen.add(body.digest, next_id + number)
            content_seen.close_group()
            content_seen.flush()
            half = time.process_time()
            for number, body in enumerate(bodies):
                near_seen.add(next_id + number, body.prints)
            near_seen.close_group()
            near_seen.flush()
            done = time.process_time()
            if group:  # the first one reads what all need
                content, near = content + half - begun, near + done - half
            next_id += GROUP
            hashes = np.concatenate(
                (known[source.integers(0, len(known), 6 * GROUP)], source.integers(0, 1 << 63, 6 * GROUP, np.uint64))
            )
            begun = time.process_time()
            looked = session.seen.look(hashes)
            session.seen.insert(looked.hashes[looked.ids == 0])
            urls += time.process_time() - begun if group else 0.0
        session.database.rollback()
    return Speeds(wall, opened, content, near, urls)


# A crawl that goes on


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: Connection | None) -> None:
    global _asked
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            path = head.split(b" ", 2)[1]
            if path == b"/robots.txt":
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            if first is not None and not _asked:
                _asked = True
                first.send(time.monotonic())
            body = b"<title>A page</title><p>" + b" ".join(b"%x" % (hash((path, n)) & 0xFFFF) for n in range(900))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


_asked = False


def serve(ready: Connection) -> None:
    async def run_server() -> None:
        server = await asyncio.start_server(lambda r, w: _answer(r, w, ready), "0.0.0.0", PORT, backlog=1024)
        ready.send(0.0)
        await server.serve_forever()

    asyncio.run(run_server())


def crawl_on(directory: Path, pages: int) -> tuple[float, Spent]:
    """Crawl some more pages. Returns after how many seconds the first one was asked for, and what it took."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    server.start()
    try:
        ours.recv()
        begun = time.monotonic()
        spent = run([*PYCRAWL, "crawl", "-C", str(directory), "--max-pages", str(pages)], stdout=subprocess.DEVNULL)
        first = ours.recv() - begun if ours.poll() else float("inf")
        return first, spent
    finally:
        server.terminate()
        server.join()


def in_a_process(function: object, *arguments: object) -> object:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)  # type: ignore[arg-type]


def made_state(directory: Path, documents: int) -> Path:
    """Returns a directory with so many documents, which is made if it is not there."""
    path = directory / f"documents-{documents}"
    if not path.exists():
        new_crawl(path, [], {**LOOPBACK, "scope.follow_external": "true"})
        in_a_process(make, path, documents)
    return path


def show(directory: Path, documents: int, pages: int) -> None:
    reference, large = (made_state(directory, one) for one in (REFERENCE, documents))
    kept = (large / "state.db").stat().st_size
    print(f"{documents:,} documents, {URLS_PER_DOCUMENT * documents:,} URLs: state.db {kept / documents:,.0f} B each")
    before, after = (in_a_process(speeds, path) for path in (reference, large))
    assert isinstance(before, Speeds)
    assert isinstance(after, Speeds)
    print(f"opened in {after.wall:.2f} s ({after.opened:.2f} s of CPU); {REFERENCE:,}: {before.wall:.2f} s")
    for name, one, other in zip(("content seen", "near-duplicates", "URL seen"), before[2:], after[2:], strict=True):
        each = other / (PROBED_GROUPS - 1) / GROUP * 1e6
        print(f"{name:<16} {each:>7.1f} us of CPU a page, {one / other:.2f} times the speed at {REFERENCE:,}")
    url = Web(documents).url(0)
    for name in ("stats", "why", "get"):
        runs = [
            run([*PYCRAWL, name, "-C", str(large), *([] if name == "stats" else [url])], stdout=subprocess.DEVNULL)
            for _ in range(5)
        ]
        print(
            f"{name:<16} {min(one.seconds for one in runs):.2f} s at best, {min(one.cpu for one in runs):.2f} s of CPU"
        )
    first, spent = crawl_on(large, pages)
    print(
        f"first page asked for after {first:.2f} s; {pages:,} more pages: {spent.peak / 1e6:,.0f} MB, exit {spent.code}"
    )
    print(json.dumps({"documents": documents, "kept": kept, "peak": spent.peak, "first": first, **after._asdict()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000_000)
    parser.add_argument("--pages", type=int, default=3_000, help="that a crawl goes on for")
    parser.add_argument("--directory", type=Path, help="where the states are made, and stay; else they are removed")
    options = parser.parse_args()
    directory = options.directory or Path(tempfile.mkdtemp(prefix="pycrawl-bench-"))
    try:
        show(directory, options.documents, options.pages)
    finally:
        if options.directory is None:
            shutil.rmtree(directory, ignore_errors=True)
        give_freed_memory_back()


if __name__ == "__main__":
    main()
