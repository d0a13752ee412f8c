"""`compact`: superseded versions leave the collection, and bytes that no document points to.

`plan` says what would go, and changes nothing. `compact` begins it in one transaction (`state/leaving.py`); once that
is committed it is final, and whoever opens the crawl for writing carries it on (`forgetting.carry_on`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.dropping import OnStep
from pycrawl.crawl.forgetting import carry_on
from pycrawl.fingerprint.change import change
from pycrawl.model import Change
from pycrawl.policy.versions import superseded
from pycrawl.state import forget_prints, leaving, links
from pycrawl.state.database import Database
from pycrawl.state.leaving import Version
from pycrawl.state.near_seen import packed_prints

_ALL_GRADES = frozenset(Change)
_LOOKED_AT = 1_000  # URLs between two calls of `on_looked`


@dataclass(frozen=True, slots=True)
class Plan:
    """What `compact` removes."""

    superseded: dict[int, int]  # document that goes → the newest of its URL that stays
    urls: int  # URLs that these documents are of
    record_bytes: int  # of the records that go, as other documents share the others
    unused_bytes: int  # that no document points to

    @property
    def is_empty(self) -> bool:
        return not self.superseded and not self.unused_bytes


def plan(database: Database, config: Config, on_looked: Callable[[int], None] = lambda urls: None) -> Plan:
    """Returns what the settings have `compact` remove. `on_looked` is called with the number of URLs looked at."""
    going: dict[int, int] = {}
    records: dict[int, int] = {}  # document that goes and has a record of its own → bytes
    urls = 0
    for looked, versions in enumerate(leaving.versions_by_url(database), 1):
        found = _superseded(database, config, versions)
        urls += bool(found)
        for number, stays in found.items():
            going[versions[number].id] = versions[stays].id
            if not versions[number].duplicate_of:
                records[versions[number].id] = versions[number].length
        if looked % _LOOKED_AT == 0:
            on_looked(looked)
    copies = forget_prints.copies_by_original(database) if records else {}
    freed = sum(length for one, length in records.items() if all(copy in going for copy in copies.get(one, ())))
    return Plan(going, urls, freed, sum(leaving.unused_bytes(database).values()))


def _superseded(database: Database, config: Config, versions: list[Version]) -> dict[int, int]:
    keep = config.recrawl.keep

    def grade(one: int, other: int) -> Change:
        if _ALL_GRADES.issubset(keep):
            return Change.REWRITTEN  # any of them stays
        return change(packed_prints(database, versions[one].id), packed_prints(database, versions[other].id))

    return superseded([version.digest for version in versions], grade, keep, config.recrawl.keep_versions)


def tidy_links(database: Database) -> None:
    """Drop what only superseded versions have linked to or said, where no document goes. The caller holds the
    directory."""
    with database.explained():
        links.tidy(database)
        database.commit()


def compact(directory: CrawlDirectory, database: Database, config: Config, found: Plan, on_step: OnStep) -> None:
    """Carry a plan out. The caller holds the directory, and nothing has changed since the plan was made."""
    with database.explained():
        on_step("state.db: fingerprints")
        leaving.begin_superseded(database, found.superseded, config.content.near_duplicate_threshold)
        database.commit()
        on_step("state.db: begun")
        carry_on(directory, database, config, on_step)
        on_step("state.db: written anew")
        database.purge()
