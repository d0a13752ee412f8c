"""Sitemaps, feeds and their hubs: which URLs are one, what is known of each, when it is next; and what sitemaps say of
URLs.

A source is a URL of the ledger, queued and visited like any other. The sieve tells of URLs that are named as sources
(`take_in`); each visit is entered with its group (`save_visits`); `take_due` returns those to be queued again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pycrawl.config import Config
from pycrawl.model import Kind, Outcome, Via
from pycrawl.policy.source_visits import Watched
from pycrawl.state.database import Database
from pycrawl.state.documents import newest_document
from pycrawl.urls.hints import Hint, unpacked
from pycrawl.urls.parts import url_hash

NEVER = 9e15  # `next_at` of a source that is queued, or that is not to be asked for again
_LONGEST_CHAIN = 10  # sitemaps that lead to one another
_ALL = 1 << 62

U32 = NDArray[np.uint32]


class SourceFacts(NamedTuple):
    """What is known of one sitemap or feed: a row of `sources`."""

    kind: Kind
    level: int  # index files that led to it
    next_at: float  # seconds since the epoch; `NEVER`: it is queued, or not asked for again
    read_at: float  # when it was last read, or found unchanged; 0: never
    entries: int  # URLs that it named then
    watched: Watched
    hub: str
    topic: str


class SourceVisit(NamedTuple):
    """What a visit changes of a source."""

    url_id: int
    next_at: float
    read_at: float
    entries: int
    watched: Watched
    hub: str = ""
    topic: str = ""


class Sources:
    """The tables `sources`, `source_vouchers` and `url_hints`; one byte for each URL says which ones are sources."""

    def __init__(self, database: Database, config: Config) -> None:
        self._database = database
        self._most = {Kind.SITEMAP: config.sitemaps.max_per_host, Kind.FEED: config.feeds.max_per_host}
        self._most[Kind.HUB] = _ALL  # each feed has one at most
        self._kinds = np.zeros(1, np.uint8)  # by URL id: its kind; 0: it is no source
        for url_id, kind in database.query("SELECT url_id, kind FROM sources"):
            self._mark(url_id, kind)

    def _mark(self, url_id: int, kind: int) -> None:
        if url_id >= len(self._kinds):
            grown = np.zeros(url_id + 1 + len(self._kinds) // 4, np.uint8)
            grown[: len(self._kinds)] = self._kinds
            self._kinds = grown
        self._kinds[url_id] = kind

    def kind_of(self, url_id: int) -> Kind:
        """Returns SITEMAP, FEED or HUB; PAGE if the URL is no source."""
        return Kind(self._kinds[url_id]) if url_id < len(self._kinds) else Kind.PAGE

    def are_sources(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Returns a flag for each URL: True if it is a sitemap or feed."""
        found = np.zeros(len(ids), np.bool_)
        inside = ids < len(self._kinds)
        found[inside] = self._kinds[ids[inside]] != 0
        return found

    def take_in(self, kind: Kind, ids: U32, via: Via, found_in: int, level: int, voucher: str) -> None:
        """Enter URLs that were named as sources. `found_in`: the sitemap that leads to them; 0: none does. `voucher`:
        the host whose robots.txt names them; empty: none does."""
        if voucher:
            self._vouch(ids, voucher)
        new = ids[ids >= len(self._kinds)]
        known = ids[ids < len(self._kinds)]
        new = np.concatenate([new, known[self._kinds[known] == Kind.PAGE]])
        for url_id in dict.fromkeys(new.tolist()):
            self._enter(kind, url_id, via, found_in, level)

    def _enter(self, kind: Kind, url_id: int, via: Via, found_in: int, level: int) -> None:
        self._mark(url_id, kind)
        (count,) = self._database.query(
            "SELECT count(*) FROM sources WHERE host_id = (SELECT host_id FROM urls WHERE id = ?) AND kind = ?",
            (url_id, int(kind)),
        ).fetchone()
        over_limit = via is not Via.SEED and count >= self._most[kind]
        # One that was visited as a page is asked for again, as a source.
        self._database.write(
            "INSERT INTO sources (url_id, kind, host_id, found_in, level, over_limit, next_at)"
            " SELECT id, ?, host_id, ?, ?, ?, iif(visit_id(id), 0, ?)"
            " FROM urls WHERE id = ?",
            (int(kind), found_in, level, over_limit, NEVER, url_id),
        )

    def leave(self, url_id: int, url: str, seed: int) -> None:
        """Note that a source is a page again: its last visit is of the newest document stored, if there is one. To be
        committed by the caller, who asks for it again."""
        self._mark(url_id, Kind.PAGE)
        self._database.write("DELETE FROM sources WHERE url_id = ?", (url_id,))
        newest = newest_document(self._database, url_hash(url, seed))
        self._database.write(
            "UPDATE visits SET etag = '', last_modified = '', document_id = ?, digest = ? WHERE id = visit_id(?)",
            (newest.id, 1, url_id) if newest else (0, b"", url_id),
        )

    def _vouch(self, ids: U32, host: str) -> None:
        """Note that a host's robots.txt names these sitemaps. One that was read before is read again: it may list the
        host's URLs from now on."""
        for url_id in ids.tolist():
            added = self._database.write("INSERT OR IGNORE INTO source_vouchers VALUES (?, ?)", (url_id, host)).rowcount
            if added and self.kind_of(url_id) is Kind.SITEMAP:
                self._read_anew(url_id)

    def _read_anew(self, url_id: int) -> None:
        """Make a sitemap due, with all that it leads to, and forget what says that they have not changed."""
        below = (
            "WITH RECURSIVE below (id) AS (SELECT ? UNION SELECT url_id FROM sources JOIN below ON found_in = below.id)"
        )
        self._database.write(
            f"{below} UPDATE sources SET next_at = 0 WHERE url_id IN (SELECT id FROM below) AND next_at != ?",
            (url_id, NEVER),
        )
        self._database.write(
            f"{below} UPDATE visits SET etag = '', last_modified = '', digest = x''"
            " WHERE id IN (SELECT visit_id(id) FROM below)",
            (url_id,),
        )

    def is_over_limit(self, url_id: int) -> bool:
        """True if the source's host had as many sources of its kind as it may when this one was named."""
        if self.kind_of(url_id) is Kind.PAGE:
            return False
        row = self._database.query("SELECT over_limit FROM sources WHERE url_id = ?", (url_id,)).fetchone()
        return row is not None and bool(row[0])

    def vouchers_of(self, url_id: int) -> tuple[str, ...]:
        """Returns the hosts whose robots.txt names this sitemap, or one that leads to it."""
        hosts: dict[str, None] = {}
        for _ in range(_LONGEST_CHAIN):
            rows = self._database.query("SELECT host FROM source_vouchers WHERE url_id = ? ORDER BY host", (url_id,))
            hosts.update(dict.fromkeys(host for (host,) in rows))
            row = self._database.query("SELECT found_in FROM sources WHERE url_id = ?", (url_id,)).fetchone()
            if row is None or not row[0]:
                break
            url_id = row[0]
        return tuple(hosts)

    def take_due(self, now: float, most: int) -> list[tuple[int, int]]:
        """Returns the sources (id, host id) that are to be asked for again by now, at most `most`. The caller must
        queue them: they count as queued from now on."""
        rows = self._database.query(
            "SELECT sources.url_id, sources.host_id FROM sources JOIN visits ON visits.id = visit_id(sources.url_id)"
            " JOIN urls ON urls.id = sources.url_id"
            " WHERE next_at <= ? AND over_limit = 0 AND requeued = 0 AND aside = 0 ORDER BY next_at LIMIT ?",
            (now, most),
        ).fetchall()
        self._database.write_many(
            "UPDATE sources SET next_at = ? WHERE url_id = ?", [(NEVER, url_id) for url_id, _ in rows]
        )
        return rows

    def let_be_asked(self, url_id: int) -> None:
        """Make a source due that was visited before; one that is queued stays where it is."""
        self._database.write("UPDATE sources SET next_at = 0 WHERE url_id = ?", (url_id,))

    def make_due(self, url_id: int) -> bool:
        """Make a source due at once. Returns False if it is queued or being asked for, and nothing is changed."""
        statement = "UPDATE sources SET next_at = 0 WHERE url_id = ? AND next_at != ?"
        return bool(self._database.write(statement, (url_id, NEVER)).rowcount)

    def save_hints(self, source_id: int, ids: U32, hints: bytes) -> None:
        """Keep what a sitemap says of URLs, where that is new."""
        said = dict(zip(ids.tolist(), unpacked(hints), strict=True))
        before = self._database.query_each(
            "SELECT url_id, lastmod, changefreq, priority FROM url_hints WHERE url_id IN ({})", sorted(said)
        )
        for url_id, *values in list(before):
            if said[url_id] == tuple(values):
                del said[url_id]
        self._database.write_many(
            "INSERT OR REPLACE INTO url_hints VALUES (?, ?, ?, ?, ?)",
            [(url_id, source_id, *hint) for url_id, hint in sorted(said.items())],
        )

    def save_visits(self, visits: Iterable[SourceVisit]) -> None:
        """Write what visits have changed; to be committed with them."""
        self._database.write_many(
            "UPDATE sources SET next_at = ?, read_at = ?, entries = ?, watched = ?, changes = ?, failures = ?,"
            " hub = ?, topic = ? WHERE url_id = ?",
            [
                (
                    visit.next_at, visit.read_at, visit.entries, visit.watched.seconds, visit.watched.changes,
                    visit.watched.failures, visit.hub, visit.topic, visit.url_id,
                )
                for visit in visits
            ],
        )  # fmt: skip


def source_of(database: Database, url_id: int) -> SourceFacts | None:
    """Returns what is known of a sitemap or feed; None if the URL is none."""
    row = database.query(
        "SELECT kind, level, next_at, read_at, entries, watched, changes, failures, hub, topic FROM sources"
        " WHERE url_id = ?",
        (url_id,),
    ).fetchone()
    if row is None:
        return None
    kind, level, next_at, read_at, entries, seconds, changes, failures, hub, topic = row
    watched = Watched(seconds, changes, failures)
    return SourceFacts(Kind(kind), level, next_at, read_at, entries, watched, hub, topic)


def hint_of(database: Database, url_id: int) -> tuple[Hint, int] | None:
    """Returns what a sitemap says of a URL, and the id of the sitemap; None if none says anything."""
    row = database.query(
        "SELECT lastmod, changefreq, priority, source_id FROM url_hints WHERE url_id = ?", (url_id,)
    ).fetchone()
    return (Hint(*row[:3]), row[3]) if row else None


def count_sources(database: Database) -> dict[Kind, tuple[int, int]]:
    """Returns for sitemaps and feeds how many are known, and how many of them have been read."""
    rows = database.query("SELECT kind, count(*), sum(read_at > 0) FROM sources GROUP BY kind")
    return {Kind(kind): (count, read) for kind, count, read in rows}


def all_sources(database: Database, kind: Kind) -> Iterator[tuple[str, SourceFacts]]:
    """Yields (URL, what is known of it) of all sitemaps, or all feeds, in the order of discovery."""
    rows = database.query(
        "SELECT url_id, url FROM sources JOIN urls ON urls.id = url_id WHERE kind = ? ORDER BY url_id", (int(kind),)
    )
    for url_id, url in rows:
        facts = source_of(database, url_id)
        if facts is not None:
            yield url, facts


def let_due_again(database: Database) -> None:
    """Make sources due that were visited, and are neither queued nor due: they stood aside, and may stand no more."""
    database.write(
        "UPDATE sources SET next_at = 0 WHERE next_at = ? AND url_id IN"
        " (SELECT url_id FROM visits WHERE requeued = 0 AND outcome NOT IN (?, ?))",
        (NEVER, str(Outcome.FETCHER_KILLED), str(Outcome.SOURCE_LIMIT)),
    )
