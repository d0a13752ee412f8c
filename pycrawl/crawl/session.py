"""The session: state and store of one crawl, opened together and committed together.

What makes it durable is the order: records are appended to the compound files, the files are fsynced, and only then one
transaction commits documents, fingerprints, visits, links, frontier and host times. When a session is opened, compound
files are cut back to what was committed.
"""

from __future__ import annotations

import logging
import random
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from types import TracebackType

import numpy as np

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.forgetting import carry_on
from pycrawl.crawl.judging import OnProgress, judge_anew, let_held_in
from pycrawl.crawl.opening import commit_collection, open_state
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.discovered import Discovered
from pycrawl.frontier.frontier import Frontier
from pycrawl.frontier.judge import Judge
from pycrawl.frontier.sieve import NOTHING_ADDED, Added
from pycrawl.model import RobotsFile, StoredBody
from pycrawl.processes.allocation import collect_rarely, give_freed_memory_back
from pycrawl.state import documents, meta, robots
from pycrawl.state.change_rates import ChangeRates, Observation
from pycrawl.state.content_seen import ContentSeen
from pycrawl.state.counters import Counters
from pycrawl.state.documents import Document, Visit
from pycrawl.state.hosts import Hosts
from pycrawl.state.kinds import Kinds
from pycrawl.state.mirrors import Mirrors
from pycrawl.state.near_join import Join
from pycrawl.state.near_seen import NearSeen
from pycrawl.state.origin_failures import OriginFailure, failure_of, save_failures
from pycrawl.state.passages import Passages
from pycrawl.state.queues import leave_queues
from pycrawl.state.sources import Sources, SourceVisit, source_of
from pycrawl.state.standings import DEEPEST, Standings
from pycrawl.state.subscriptions import Subscriptions
from pycrawl.state.unwanted import Unwanted
from pycrawl.state.url_seen import UrlSeen
from pycrawl.state.visit_ids import visit_ids
from pycrawl.store.compound import CompoundFile, CompoundWriter, PendingSync
from pycrawl.store.recovery import recover
from pycrawl.urls.parts import url_hash

log = logging.getLogger(__name__)

_COPY_SECONDS = 30.0  # between two copies of what URL-seen has only in memory
_UNSAVED_URLS = 1_000_000  # URLs missing from the sorted copy, before it is written again; a start sorts them quickly
_SOURCES_AT_ONCE = 10_000  # sitemaps and feeds that are queued again at once
_SAVED_AT_END = 10_000  # new URLs that make it worth writing the sorted copy at the end of a command


@dataclass(slots=True)
class Group:
    """What one commit makes durable, beside the frontier's own changes. The open group is filled as results come; when
    it is closed, it is written in one transaction."""

    documents: list[Document] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    finished: list[tuple[BackQueue, Entry]] = field(default_factory=list)
    left_queues: list[int] = field(default_factory=list)  # ids of URLs whose pages were imported
    robots: dict[str, RobotsFile] = field(default_factory=dict)
    origin_failures: dict[str, OriginFailure | None] = field(default_factory=dict)  # None: it answers again
    sources: list[SourceVisit] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)  # what the visits of pages have shown of changes
    counts: Counter[str] = field(default_factory=Counter)
    joins: list[Join] = field(default_factory=list)  # near-duplicates among its documents, known when it is closed


class Session:
    """A crawl that is open for writing; the caller must hold its directory."""

    def __init__(
        self,
        directory: CrawlDirectory,
        config: Config,
        chance: random.Random | None = None,
        on_judging: OnProgress = lambda done, total: None,
    ) -> None:
        """Open the crawl, after finishing what an earlier process has begun. If all known URLs have to be judged anew,
        `on_judging` is called with how many are done, and of how many."""
        collect_rarely()
        self.directory = directory
        self.config = config
        self.database, self.aside = open_state(directory)  # `aside`: what an older database did not know, if it is one
        carry_on(directory, self.database, config)
        with self.database.explained():
            self.seed = meta.hash_seed(self.database)
            self.judge = Judge(config, Unwanted(self.database, self.seed))
            judge_anew(self.database, config, self.judge, on_judging)
            let_held_in(self.database)
            self.counters = Counters(self.database)
            self.standings = Standings(self.database)
            self.hosts = Hosts(self.database)
            self.seen = UrlSeen(self.database, self.seed)
            self.content_seen = ContentSeen(self.database)
            self.near_seen = NearSeen(self.database, config.content.near_duplicate_threshold, self._are_versions)
            self.passages = Passages(self.database)
            self.mirrors = Mirrors(self.database)
            self.kinds = Kinds(self.database, config)
            self.sources = Sources(self.database, config)
            self.subscriptions = Subscriptions(self.database)
            self.change_rates = ChangeRates(self.database)
            self.frontier = Frontier(
                self.database, self.hosts, self.counters, self.seen, self.standings, self.judge, self.sources, config,
                chance or random.Random(),
            )  # fmt: skip
            self.frontier.lower(self.mirrors.originals)
            files = [CompoundFile(*row) for row in documents.files(self.database)]
            last = replace(files[-1], closed=documents.is_closed(self.database, files[-1].file_id)) if files else None
            self._next_document = documents.next_document_id(self.database)
        self.recovery = recover(directory.docs, files)
        self._writer = CompoundWriter(directory.docs, config.store.file_size, config.store.compress, last)
        self.discovered = Discovered()
        self.group = Group()
        self._closed: tuple[Group, PendingSync] | None = None
        self._copied_at = time.monotonic()
        self.database.empty_cache()
        give_freed_memory_back()  # half of what it took to read the known URLs

    # Documents

    def store(self, url_id: int, url: str, fetched_at: float, body: StoredBody) -> Document:
        """Append a page to the collection, or point to the record that holds the same bytes. Returns its document,
        which is part of the open group."""
        same = 0 if self.config.content.store_duplicates else self.content_seen.find(body.digest)
        if same:
            document = self._copy(same, url_id, url, fetched_at)
            self.group.counts["duplicates_exact"] += 1
        else:
            location = self._writer.append(body.record)
            document = Document(
                id=self._next_document,
                url_id=url_id,
                url_hash=documents.signed(url_hash(url, self.seed)),
                fetched_at=fetched_at,
                file_id=location.file_id,
                offset=location.offset,
                length=location.length,
                number=location.number,
                body_length=body.body_length,
                digest=body.digest,
                content_type=body.content_type,
                charset=body.charset,
                declared_charset=body.declared_charset,
                escapes=body.escapes,
                truncated=int(body.truncated),
                duplicate_of=0,
                language=body.language,
            )
            self.content_seen.add(body.digest, document.id)
            if body.prints:
                self.near_seen.add(document.id, body.prints)
            if body.passages:
                self.passages.add(document.id, body.passages)
            self.group.counts["pages_stored"] += 1
            self.group.counts["bytes_stored"] += location.length
        self._next_document += 1
        self.group.counts[documents.language_counter(document.language)] += 1
        self.group.documents.append(document)
        return document

    def _copy(self, original_id: int, url_id: int, url: str, fetched_at: float) -> Document:
        original = self._document(original_id)
        return original._replace(
            id=self._next_document,
            url_id=url_id,
            url_hash=documents.signed(url_hash(url, self.seed)),
            fetched_at=fetched_at,
            duplicate_of=original.id,
        )

    def _document(self, document_id: int) -> Document:
        """Returns a document, committed or not."""
        for group in self._unwritten():
            if group.documents and group.documents[0].id <= document_id:
                return group.documents[document_id - group.documents[0].id]
        return documents.document(self.database, document_id)

    def _are_versions(self, one: int, other: int) -> bool:
        """True if both documents are of one URL: a page is no near-duplicate of itself."""
        return self._document(one).url_id == self._document(other).url_id

    def robots_of(self, site: str) -> RobotsFile | None:
        """Returns the robots.txt of an origin as last answered, committed or not; None if it was never asked for."""
        for group in self._unwritten():
            if site in group.robots:
                return group.robots[site]
        return robots.robots_of(self.database, site)

    def origin_failure_of(self, site: str) -> OriginFailure | None:
        """Returns why an origin cannot be asked for pages at present, committed or not; None if it can."""
        for group in self._unwritten():
            if site in group.origin_failures:
                return group.origin_failures[site]
        return failure_of(self.database, site)

    def hub_of(self, feed_id: int) -> tuple[str, str]:
        """Returns the hub that a feed names, and the feed's URL as that knows it, committed or not; empty: none."""
        for group in self._unwritten():
            for visit in reversed(group.sources):
                if visit.url_id == feed_id:
                    return visit.hub, visit.topic
        facts = source_of(self.database, feed_id)
        return (facts.hub, facts.topic) if facts is not None else ("", "")

    def _unwritten(self) -> list[Group]:
        """Returns the groups that are not in the database yet, the newest first."""
        return [self.group] if self._closed is None else [self.group, self._closed[0]]

    # URLs

    def depth_of(self, entry: Entry) -> int:
        """Returns how many links a URL is away from a seed, by the shortest way known by now."""
        depth = self.standings.depth_of(entry.url_id)
        return depth if depth < DEEPEST else entry.depth

    def is_known(self, hash_of_url: int) -> bool:
        """True if the URL was met before. What was discovered since the last `sieve` does not count."""
        return bool(self.seen.look(np.array([hash_of_url], np.uint64)).ids[0])

    def sieve(self, now: float) -> Added:
        """Hand the discovered URLs to the frontier. Returns what became of them."""
        if self.discovered.is_empty:
            return NOTHING_ADDED
        batch, self.discovered = self.discovered, Discovered()
        added = self.frontier.add(batch, now)
        for reason, amount in added.asides.items():
            self.counters.add(f"filtered:{reason}", amount)
        return added

    def queue_due_sources(self, now: float) -> int:
        """Queue the sitemaps and feeds that are to be asked for again by now, and not too many at once. Returns how
        many."""
        due = self.sources.take_due(now, _SOURCES_AT_ONCE)
        if due:
            self.frontier.requeue_sources(due)
        return len(due)

    # Commit

    def commit(self, now: float) -> None:
        """Make everything so far durable, waiting for the disk."""
        if self._closed is not None:
            self.finish_commit()
        self.begin_commit(now).run()
        self.finish_commit()

    def begin_commit(self, now: float) -> PendingSync:
        """Close the group, and begin a new one. The caller runs what this returns, on any thread, and then calls
        `finish_commit`; only one commit may be under way."""
        assert self._closed is None
        # A page must not be committed without its links: it would not be fetched again to find them.
        self.sieve(now)
        pending = self._writer.begin_sync()
        self.group.joins = self.near_seen.close_group()
        self.group.counts["duplicates_near"] += len(self.group.joins)
        self._closed = (self.group, pending)
        self.group = Group()
        self.content_seen.close_group()
        self.hosts.close_group()
        self.kinds.close_group()
        self.passages.close_group()
        return pending

    def finish_commit(self) -> None:
        """Write and commit the closed group. Raises StoreError if its records are not on the disk: what `begin_commit`
        returned must have run."""
        assert self._closed is not None
        group, pending = self._closed
        files = pending.files
        with self.database.explained():
            documents.save_documents(self.database, group.documents)
            documents.save_visits(self.database, group.visits, group.documents)
            self.change_rates.take_in(group.observations)
            self.sources.save_visits(group.sources)
            documents.save_files(
                self.database, [(file.file_id, file.name, file.length, file.records) for file in files]
            )
            self.content_seen.flush()
            self.near_seen.flush()
            self.passages.flush()
            self._find_mirrors(group)
            self.kinds.flush()
            for queue, entry in group.finished:
                self.frontier.finish(queue, entry)
            for site, file in group.robots.items():
                robots.save_robots(self.database, site, file)
            save_failures(self.database, group.origin_failures.items())
            for name, amount in group.counts.items():
                self.counters.add(name, amount)
            self.frontier.flush()
            if group.left_queues:
                leave_queues(self.database, group.left_queues)
            if time.monotonic() - self._copied_at > _COPY_SECONDS:
                self._copy_seen(max(_UNSAVED_URLS, len(self.seen) // 2))
            self.counters.flush()
            if files:
                commit_collection(self.directory, self.database)
            else:
                self.database.commit()
        self._closed = None

    def _find_mirrors(self, group: Group) -> None:
        """Count the copies of the group, and lower the hosts that turn out to be mirrors. To be called in the group's
        transaction, after its documents were written."""
        copies = [(one.id, one.duplicate_of) for one in group.documents if one.duplicate_of]
        copies += [(join.document_id, join.near_id) for join in group.joins]
        for mirror in self.mirrors.count(copies, lambda host_id: self.hosts.get(host_id).pages):
            self.frontier.lower([mirror.host_id])
            log.info(
                "%s is a mirror of %s: %d of %d pages",
                self.hosts.get(mirror.host_id).key,
                self.hosts.get(mirror.original_id).key,
                mirror.shared,
                mirror.pages,
            )

    def _copy_seen(self, least: int) -> None:
        """Write what only memory holds and the next start would have to make again: in-link counts; and sorted copies,
        if at least `least` URLs are not in them."""
        self.seen.flush_inlinks()
        self.standings.save(least)
        self.seen.save_sorted(least)
        meta.set_memory(self.database, self.memory())
        give_freed_memory_back()  # between large and small blocks in use, malloc keeps tens of megabytes
        self._copied_at = time.monotonic()

    def memory(self) -> dict[str, int]:
        """Returns about how many bytes each part of the state holds in memory."""
        return {
            "URLs seen": self.seen.bytes_held(),
            "depths and reasons of URLs": self.standings.bytes_held(),
            "hosts": self.hosts.bytes_held(),
            "content seen": self.content_seen.bytes_held(),
            "near-duplicates": self.near_seen.bytes_held(),
            "passages": self.passages.bytes_held(),
            "visits by URL": visit_ids(self.database).bytes_held(),
            "changes of pages": self.change_rates.bytes_held(),
            "kinds of pages, and what pages said": self.kinds.bytes_held(),
            **self.frontier.bytes_held(),
            "page cache of the database, at most": self.database.bytes_cached(),
        }

    def commit_last(self, now: float) -> None:
        """Make the last commit of a command, with all copies that make the next start quick."""
        self.sieve(now)
        self._copy_seen(_SAVED_AT_END)
        self.standings.settle()
        self.commit(now)

    def close(self) -> None:
        """Close the files and the database. What was not committed is as if it never happened."""
        self._writer.close()
        self.database.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
