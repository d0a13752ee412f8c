"""What is known of the changes of each page (`policy/page_records.py`), in sorted runs; how far hosts can be believed;
and the priors of the last choice.

Written by the transaction that commits the visits which it comes from. Forgotten URLs leave it; nothing else does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from pycrawl.policy.change_rate import Flags, Prior, Priors, date_is_right, dates_are_believed
from pycrawl.policy.page_records import (
    NO_PRIORS,
    RECORD,
    Found,
    PriorTable,
    Records,
    Seen,
    after_visits,
    chances_of_change,
    fitted_table,
    has_evidence,
)
from pycrawl.policy.recrawl import Numbers, Places
from pycrawl.state import head_marks, recrawl_facts
from pycrawl.state.counters import count
from pycrawl.state.database import Database
from pycrawl.state.head_marks import HeadMarks
from pycrawl.state.runs.fixed_runs import FixedRuns, Rows
from pycrawl.state.stores import CHANGES

_SAMPLE = 200_000  # pages, spread evenly over all, that priors are fitted to, and figures of the whole crawl made from
DECILES = 10  # of the predicted probability of a change, by which predictions are compared with what was found


class Observation(NamedTuple):
    """What one visit has shown of a URL."""

    url_id: int
    host_id: int
    kind: int  # a hash of the kind of URL, from 1 to 65,535
    at: float
    found: Found
    is_page: bool  # the collection has a page of it
    is_new: bool = False  # it was never visited before
    modified: float = math.nan  # the Last-Modified of the answer, in seconds since the epoch
    etag: int = 0  # 1: the same bytes had the same ETag; -1: they had another; 0: not known
    head: int = 0  # 1: a HEAD before told the truth; -1: it did not, or told nothing; 0: there was none, or not known
    marks: HeadMarks | None = None  # of a large page without validators


@dataclass(slots=True)
class Trust:
    """How often a host was right, and how often wrong: a row of `host_trust`."""

    host_id: int
    modified_right: int = 0
    modified_wrong: int = 0
    lastmod_right: int = 0
    lastmod_wrong: int = 0
    etag_right: int = 0
    etag_wrong: int = 0
    head_right: int = 0
    head_wrong: int = 0

    @property
    def believes_modified(self) -> bool:
        return dates_are_believed(self.modified_right, self.modified_wrong)

    @property
    def believes_lastmod(self) -> bool:
        return dates_are_believed(self.lastmod_right, self.lastmod_wrong)

    @property
    def has_useless_etags(self) -> bool:
        """True if the same bytes mostly come with another ETag each time."""
        return self.etag_wrong > 2 + self.etag_right

    def note(self, what: str, is_right: bool) -> None:
        """Count one more answer that was right or wrong; `what`: "modified", "lastmod", "etag" or "head"."""
        name = f"{what}_{'right' if is_right else 'wrong'}"
        setattr(self, name, getattr(self, name) + 1)


_COLUMNS = [field.name for field in fields(Trust)]


class ChangeRates:
    def __init__(self, database: Database, with_filters: bool = True) -> None:
        """`with_filters`: as in `RunTable`."""
        self._database = database
        self._runs = FixedRuns(database, CHANGES, with_filters=with_filters)
        self._priors: PriorTable | None = None
        self._useless_etags: set[int] | None = None  # ids of hosts; None: not read yet
        self._has_marks: bool | None = None  # there are marks of pages; None: not looked for yet

    @property
    def priors(self) -> PriorTable:
        """Returns the priors that the last choice was made with."""
        if self._priors is None:
            self._priors = _read_priors(self._database)
        return self._priors

    # Visits

    def take_in(self, observations: Sequence[Observation]) -> None:
        """Enter what visits have shown, in their order; to be committed by the caller."""
        recrawl_facts.count_revisits(self._database, [one.at for one in observations if not one.is_new])
        marks = [one.marks for one in observations if one.marks is not None]
        head_marks.save_marks(self._database, marks)
        self._has_marks = bool(marks) or self._has_marks
        while observations:
            first: dict[int, Observation] = {}
            later = [one for one in observations if first.setdefault(one.url_id, one) is not one]
            self._take_in_distinct(sorted(first.values()))
            observations = later

    def _take_in_distinct(self, seen: list[Observation]) -> None:
        keys = np.array([one.url_id for one in seen], np.uint64)
        before = self._records_or_zeros(keys, np.array([not one.is_new for one in seen], np.bool_))
        at = np.array([one.at for one in seen])
        found = np.array([one.found for one in seen])
        compared = np.flatnonzero((found <= Found.CHANGED) & (before["visited"] > 0))
        self._compare_with_predictions(before[compared], at[compared], found[compared] == Found.CHANGED)
        after = after_visits(
            before,
            Seen(
                at,
                np.array([one.host_id for one in seen]),
                np.array([one.kind for one in seen]),
                found,
                np.array([one.is_page for one in seen]),
                self._believed_dates(seen, before["visited"].tolist()),
            ),
        )
        self._runs.put(keys, _as_rows(after))

    def _records_or_zeros(self, keys: np.ndarray[tuple[int], np.dtype[np.uint64]], is_known: Places) -> Records:
        """Returns the record of each key, which ascend; zeros where there is none."""
        records = np.zeros(len(keys), RECORD)
        known, rows = self._runs.get(keys[is_known])
        if len(known):
            records[keys.searchsorted(known)] = _as_records(rows)
        return records

    def _compare_with_predictions(self, before: Records, at: Numbers, changed: Places) -> None:
        """Count how many changes were predicted and found, by the decile of the predicted probability."""
        if not len(before):
            return
        predicted = chances_of_change(before, self.priors, at)
        deciles = np.minimum((predicted * DECILES).astype(int), DECILES - 1)
        for decile in np.unique(deciles).tolist():
            here = deciles == decile
            count(self._database, f"predicted:{decile}:visits", int(here.sum()))
            count(self._database, f"predicted:{decile}:changes", int(changed[here].sum()))
            count(self._database, f"predicted:{decile}:millionths", round(float(predicted[here].sum()) * 1e6))

    def _believed_dates(self, seen: list[Observation], visited: list[int]) -> Numbers:
        """Returns for each visit how long ago the page changed last, by a date that is believed; NaN: by none. What the
        visit shows of the host's dates and ETags is counted."""
        trusts = self.trusts({one.host_id for one in seen})
        before = {host_id: replace(trust) for host_id, trust in trusts.items()}
        lastmods = lastmods_of(self._database, [one.url_id for one in seen if one.found <= Found.CHANGED])
        since = np.full(len(seen), math.nan)
        for place, one in enumerate(seen):
            trust = trusts[one.host_id]
            lastmod = lastmods.get(one.url_id, math.nan) if lastmods else math.nan
            # A date that is not known compares with nothing.
            if one.found <= Found.FIRST:
                if lastmod <= one.at and trust.believes_lastmod:
                    since[place] = one.at - lastmod
                if one.modified <= one.at and trust.believes_modified:
                    since[place] = one.at - one.modified
            if one.found <= Found.CHANGED and visited[place]:
                for what, date in (("lastmod", lastmod), ("modified", one.modified)):
                    if not math.isnan(date):
                        is_changed = one.found == Found.CHANGED
                        trust.note(what, date_is_right(one.at - visited[place], is_changed, one.at - date))
            if one.etag:
                trust.note("etag", one.etag > 0)
            if one.head:
                trust.note("head", one.head > 0)
        self._save_trusts([trust for trust in trusts.values() if trust != before[trust.host_id]])
        return since

    # Hosts

    def trusts(self, host_ids: Iterable[int]) -> dict[int, Trust]:
        """Returns how far each of these hosts can be believed."""
        found = {host_id: Trust(host_id) for host_id in host_ids}
        sql = f"SELECT {', '.join(_COLUMNS)} FROM host_trust WHERE host_id IN ({{}})"
        found.update((row[0], Trust(*row)) for row in self._database.query_each(sql, sorted(found)))
        return found

    def has_useless_etags(self, host_id: int) -> bool:
        """True if the host's ETags are not worth asking by: they change although the pages do not."""
        if self._useless_etags is None:
            rows = self._database.query(f"SELECT {', '.join(_COLUMNS)} FROM host_trust WHERE etag_wrong > 0")
            self._useless_etags = {trust.host_id for row in rows if (trust := Trust(*row)).has_useless_etags}
        return host_id in self._useless_etags

    def marks_of(self, url_id: int) -> HeadMarks | None:
        """Returns what a HEAD of a page is compared with; None: the page needs none."""
        if self._has_marks is None:
            self._has_marks = head_marks.are_there(self._database)
        return head_marks.marks_of(self._database, url_id) if self._has_marks else None

    def _save_trusts(self, trusts: Sequence[Trust]) -> None:
        if self._useless_etags is not None:
            self._useless_etags.difference_update(trust.host_id for trust in trusts)
            self._useless_etags.update(trust.host_id for trust in trusts if trust.has_useless_etags)
        rows = [tuple(getattr(trust, name) for name in _COLUMNS) for trust in trusts]
        self._database.write_many(
            f"INSERT OR REPLACE INTO host_trust VALUES ({', '.join('?' * len(_COLUMNS))})",
            rows,
        )

    # The choice

    def records_of(self, url_ids: Sequence[int]) -> dict[int, Records]:
        """Returns URL id → its record, an array of one element, for those of the URLs that have one."""
        keys, rows = self._runs.get(np.array(sorted(url_ids), np.uint64))
        records = _as_records(rows)
        return {key: records[place : place + 1] for place, key in enumerate(keys.tolist())}

    def portions(self) -> Iterator[tuple[Places, Records]]:
        """Yields the ids of all URLs that have a record, in ascending order, with the records, in portions."""
        for portion in self._runs.portions():
            if len(portion):
                yield portion.keys.astype(np.int64), _as_records(portion.rows)

    def sample(self, wanted: Callable[[Records], Flags]) -> tuple[Records, int]:
        """Returns records that are wanted, spread evenly over all of them, and how many are wanted in all. `wanted`:
        returns a flag for each record."""
        step, parts, held, count = 1, [], 0, 0
        for ids, records in self.portions():
            is_wanted = wanted(records)
            count += int(is_wanted.sum())
            is_taken = is_wanted & (ids % step == 0)
            parts.append((ids[is_taken], records[is_taken]))
            held += int(is_taken.sum())
            while held > _SAMPLE:
                step *= 2
                parts = [(some[some % step == 0], those[some % step == 0]) for some, those in parts]
                held = sum(len(those) for _, those in parts)
        return np.concatenate([np.zeros(0, RECORD), *(those for _, those in parts)]), count

    def learn_priors(self) -> PriorTable:
        """Fit the priors to what is known of all pages; to be committed by the caller. Returns them."""
        sample, _ = self.sample(has_evidence)
        self._priors = fitted_table(sample)
        _write_priors(self._database, self._priors)
        return self._priors

    def bytes_held(self) -> int:
        return self._runs.bytes_held()


def remove(database: Database, url_ids: Iterable[int]) -> None:
    """Remove what is known of the changes of URLs; to be committed by the caller."""
    ids = sorted(url_ids)
    FixedRuns(database, CHANGES).remove(np.array(ids, np.uint64))
    head_marks.remove(database, ids)


def lastmods_of(database: Database, url_ids: Iterable[int]) -> dict[int, float]:
    """Returns URL id → when it changed last by a sitemap, for those of the URLs of which one says so."""
    if database.query("SELECT 1 FROM url_hints LIMIT 1").fetchone() is None:
        return {}
    rows = database.query_each("SELECT url_id, lastmod FROM url_hints WHERE lastmod > 0 AND url_id IN ({})", url_ids)
    return {url_id: float(lastmod) for url_id, lastmod in rows}


def lastmods_between(database: Database, first: int, last: int) -> dict[int, float]:
    """As `lastmods_of`, for all URLs with ids from `first` to `last`."""
    rows = database.query(
        "SELECT url_id, lastmod FROM url_hints WHERE lastmod > 0 AND url_id BETWEEN ? AND ?", (first, last)
    )
    return {url_id: float(lastmod) for url_id, lastmod in rows}


def _as_rows(records: Records) -> Rows:
    return records.view(np.uint8).reshape(len(records), RECORD.itemsize)


def _as_records(rows: Rows) -> Records:
    return np.ascontiguousarray(rows).view(RECORD).reshape(len(rows)) if len(rows) else np.zeros(0, RECORD)


def _read_priors(database: Database) -> PriorTable:
    rows = database.query("SELECT group_key, shape, seconds, never FROM change_priors ORDER BY group_key").fetchall()
    if not rows:
        return NO_PRIORS
    columns = np.array([row[1:] for row in rows[1:]], float).reshape(-1, 3)
    return PriorTable(Prior(*rows[0][1:]), np.array([row[0] for row in rows[1:]], np.uint64), Priors(*columns.T))


def _write_priors(database: Database, table: PriorTable) -> None:
    database.write("DELETE FROM change_priors")
    whole = (0, table.whole.shape, table.whole.seconds, table.whole.never)
    rows = zip(table.keys.tolist(), *(column.tolist() for column in table.priors), strict=True)
    database.write_many("INSERT INTO change_priors VALUES (?, ?, ?, ?)", [whole, *rows])
