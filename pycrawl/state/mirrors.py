"""Mirrors: hosts most of whose pages are copies of pages of one other host. Their new URLs wait behind those of others.

When two such hosts are crawled at once, each page counts as a copy on the host that was asked second, which may be
either. So copies are counted in both directions, and the host with more copies is the mirror.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pycrawl.state.database import Database

LEAST_PAGES = 10  # of a host: with fewer, a few shared pages would make it a mirror
LEAST_SHARE = 0.8  # of a host's pages that must be shared with the other host


@dataclass(frozen=True, slots=True)
class Mirror:
    """A host that was found to mirror another: a row of `mirrors`."""

    host_id: int
    original_id: int  # the host that it mirrors
    shared: int  # pages that the two hosts share
    pages: int  # pages of the mirror when it was found


class Mirrors:
    """Counts copies between hosts, and tells which hosts are mirrors. `originals`: mirror → host that it mirrors."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.originals: dict[int, int] = dict(database.query("SELECT host_id, original_id FROM mirrors"))

    def count(self, copies: Iterable[tuple[int, int]], pages_of: Callable[[int], int]) -> list[Mirror]:
        """Count copies, given as pairs (document, document that it is a copy of). Returns the mirrors found by it.

        To be called in the transaction that commits the documents, after they were written. `pages_of(host id)` returns
        how many pages were fetched from a host.
        """
        hosts = Counter(pair for copy in copies if (pair := self._hosts_of(*copy)) is not None)
        found = []
        for (host_id, original_id), amount in hosts.items():
            self._database.write(
                "INSERT INTO host_copies VALUES (?, ?, ?)"
                " ON CONFLICT (host_id, original_id) DO UPDATE SET pages = pages + excluded.pages",
                (host_id, original_id, amount),
            )
            mirror = self._judge(host_id, original_id, pages_of)
            if mirror is not None and mirror.host_id not in self.originals:
                self.originals[mirror.host_id] = mirror.original_id
                self._database.write(
                    "INSERT INTO mirrors VALUES (?, ?, ?, ?)",
                    (mirror.host_id, mirror.original_id, mirror.shared, mirror.pages),
                )
                found.append(mirror)
        return found

    def _hosts_of(self, document_id: int, original_id: int) -> tuple[int, int] | None:
        """Returns the hosts of two documents; None if they are on one host."""
        (host_id,), (of_id,) = (
            self._database.query(
                "SELECT host_id FROM urls WHERE id = (SELECT url_id FROM documents WHERE id = ?)", (one,)
            ).fetchone()
            for one in (document_id, original_id)
        )
        return (host_id, of_id) if host_id != of_id else None

    def _judge(self, one: int, other: int, pages_of: Callable[[int], int]) -> Mirror | None:
        """Returns which of two hosts is a mirror of the other; None if neither is."""
        by_one, by_other = self._copies(one, other), self._copies(other, one)
        shared = by_one + by_other
        likely = [
            (copies, host_id, original_id, pages)
            for copies, host_id, original_id in ((by_one, one, other), (by_other, other, one))
            if (pages := pages_of(host_id)) >= LEAST_PAGES and shared >= LEAST_SHARE * pages
        ]
        if not likely or other in self._ends(one) or one in self._ends(other):
            return None
        _, host_id, original_id, pages = max(likely)
        return Mirror(host_id, original_id, min(shared, pages), pages)

    def _ends(self, host_id: int) -> set[int]:
        """Returns the host that this one mirrors, the host that that one mirrors, and so on. None of these may become a
        mirror of this host: mirrors must not form a circle."""
        ends: set[int] = set()
        while (original := self.originals.get(host_id)) is not None and original not in ends:
            ends.add(original)
            host_id = original
        return ends

    def _copies(self, host_id: int, original_id: int) -> int:
        row = self._database.query(
            "SELECT pages FROM host_copies WHERE host_id = ? AND original_id = ?", (host_id, original_id)
        ).fetchone()
        return int(row[0]) if row else 0


def mirrors(database: Database) -> list[tuple[str, str, int, int]]:
    """Returns (mirror, original, pages shared, pages of the mirror) with the hosts' names, as they were found."""
    return database.query(
        "SELECT one.key, other.key, shared, mirrors.pages FROM mirrors JOIN hosts AS one ON one.id = host_id"
        " JOIN hosts AS other ON other.id = original_id ORDER BY host_id"
    ).fetchall()


def original_of(database: Database, host_id: int) -> str | None:
    """Returns the name of the host that this one is a mirror of; None if it is no mirror."""
    row = database.query(
        "SELECT key FROM hosts WHERE id = (SELECT original_id FROM mirrors WHERE host_id = ?)", (host_id,)
    ).fetchone()
    return str(row[0]) if row else None
