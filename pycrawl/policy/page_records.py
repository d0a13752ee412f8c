"""What is kept of a page for recrawls, in 32 bytes: the evidence of its change rate, its last visits.

Records stand in numpy arrays of the dtype `RECORD`, one element for each page. All functions are pure. Times are in
seconds since the epoch.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pycrawl.config import RecrawlSection
from pycrawl.policy.change_rate import (
    DEFAULT_PRIOR,
    EVIDENCE,
    Evidence,
    Flags,
    Numbers,
    Prior,
    Priors,
    changing,
    fitted,
    rates,
    with_visits,
)
from pycrawl.policy.priority import FRONT_QUEUES, PRIORITIES
from pycrawl.policy.recrawl import Pages, Places

Records = npt.NDArray[np.void]  # of dtype RECORD

RECORD = np.dtype(
    [
        *EVIDENCE.descr,
        ("visited", "<u4"),  # the last visit that told whether the page had changed; 0: none did
        ("asked", "<u4"),  # the last visit, however it ended
        ("host", "<u4"),  # the host's id
        ("kind", "<u2"),  # a hash of the kind of URL, at least 1
        ("failures", "u1"),  # visits in a row that failed, or found the page gone
        ("standing", "u1"),  # a `Standing`
    ]
)
_MOST_FAILURES = 255
_CLOCK_SLACK = 3_600.0  # seconds
_MOST_DOUBLINGS = 12  # a page that was gone at so many visits in a row is asked for as rarely as it gets: in years
_WITHOUT_PAGE = 0.25  # importance of a URL that has no page in the collection, against one that has


class Standing(IntEnum):
    """What the last visits of a URL have shown it to be."""

    PAGE = 0
    OTHER = 1  # no page to keep: a redirect, one that asks not to be kept, another type …
    FAILED = 2  # it never answered well
    GONE = 3  # it was stored, and answers 404 or 410 now
    DEADLY = 4  # it has brought fetchers down, and is never asked for again


class Found(IntEnum):
    """What a visit has shown of a URL."""

    SAME = 0
    CHANGED = 1
    FIRST = 2  # there is nothing to compare it with
    GONE = 3
    NOTHING = 4  # it failed
    DEADLY = 5  # it has brought fetchers down


class Seen(NamedTuple):
    """What visits have shown, one element of each array for each; no URL stands in it twice."""

    at: Numbers
    hosts: Places
    kinds: Places
    found: Places  # a `Found` each
    is_page: Flags  # the collection has a page of it
    since: Numbers  # seconds since the last change, by a date that is believed; NaN: there is none


class Bounds(NamedTuple):
    """Between which times a page is asked for again, in seconds."""

    least: float  # no page is asked for earlier
    most: float  # pages that were not visited for longer go before all others; infinity: none do

    @classmethod
    def of(cls, settings: RecrawlSection) -> Bounds:
        return cls(settings.min_interval, settings.max_interval or float("inf"))


def evidence_of(records: Records) -> Evidence:
    evidence = np.zeros(len(records), EVIDENCE)
    for name in EVIDENCE.names or ():
        evidence[name] = records[name]
    return evidence


def after_visits(records: Records, seen: Seen) -> Records:
    """Returns the records after one more visit to each page. A record of zeros stands for a page that has none yet."""
    after = records.copy()
    tells = seen.found <= Found.FIRST
    is_first = (seen.found == Found.FIRST) | (records["visited"] == 0)
    elapsed = np.where(is_first, np.inf, np.maximum(seen.at - records["visited"], 0.0))
    evidence = with_visits(evidence_of(records), elapsed, seen.found == Found.CHANGED, seen.since)
    for name in EVIDENCE.names or ():
        after[name] = np.where(tells, evidence[name], records[name])
    after["visited"] = np.where(tells, seen.at, records["visited"])
    after["failures"] = np.where(tells, 0, np.minimum(records["failures"].astype(int) + 1, _MOST_FAILURES))
    fails_as_new = np.where(records["asked"] == 0, Standing.FAILED, records["standing"])
    after["standing"] = np.select(
        [tells & seen.is_page, tells, seen.found == Found.GONE, seen.found == Found.DEADLY],
        [Standing.PAGE, Standing.OTHER, Standing.GONE, Standing.DEADLY],
        fails_as_new,
    )
    after["asked"], after["host"], after["kind"] = seen.at, seen.hosts, seen.kinds
    return after


def next_visits(records: Records, least: float) -> Numbers:
    """Returns the time before which each page is not asked for again: `least` seconds after the last visit. After each
    failure in a row, and each visit that found the page gone, that is twice as long."""
    doublings = np.minimum(records["failures"].astype(float), _MOST_DOUBLINGS)
    return np.asarray(records["asked"] + least * np.exp2(doublings), float)


def importance(depths: npt.NDArray[np.uint8], inlinks: npt.NDArray[np.uint8]) -> Numbers:
    """Returns how important each page is, from 1/8 to 1: its priority as a new URL would have it, by the number of
    front queues."""
    table = np.array(PRIORITIES) / FRONT_QUEUES
    deepest, most = (length - 1 for length in table.shape)
    return np.asarray(table[np.minimum(depths, deepest), np.minimum(inlinks, most)], float)


# Priors


class PriorTable(NamedTuple):
    """Priors of the whole crawl, of hosts and of kinds of URLs on hosts."""

    whole: Prior
    keys: npt.NDArray[np.uint64]  # ascending; the host's id times 65,536, and the kind, or 0 for all of the host
    priors: Priors

    def of(self, hosts: Places, kinds: Places) -> Priors:
        """Returns the prior for each page: that of its kind, of its host, or of the whole crawl."""
        found = [np.full(len(hosts), value) for value in (self.whole.shape, self.whole.seconds, self.whole.never)]
        if len(self.keys):
            base = hosts.astype(np.uint64) << np.uint64(16)
            for wanted in (base, base | kinds.astype(np.uint64)):
                places = np.minimum(self.keys.searchsorted(wanted), len(self.keys) - 1)
                (known,) = np.nonzero(self.keys[places] == wanted)
                for column, values in zip(found, self.priors, strict=True):
                    column[known] = values[places[known]]
        return Priors(*found)


NO_PRIORS = PriorTable(DEFAULT_PRIOR, np.empty(0, np.uint64), Priors(*(np.empty(0) for _ in range(3))))
_LEAST_PAGES = 20  # with evidence, before a host or a kind of URLs gets a prior of its own
_MOST_GROUPS = 48  # hosts, and as many kinds, that get one: those with the most pages
_MOST_OF_GROUP = 200  # pages that the prior of a host or kind is fitted to


def fitted_table(sample: Records, before: Prior = DEFAULT_PRIOR) -> PriorTable:
    """Returns the priors that fit a sample of all pages best: the whole crawl's, drawn to `before`; for the hosts with
    the most pages, drawn to that; and for their kinds of URLs, drawn to the host's."""
    evidence = evidence_of(sample)
    whole = fitted(evidence, before)
    hosts = sample["host"].astype(np.uint64) << np.uint64(16)
    by_key: dict[int, Prior] = {}
    for keys in (hosts, hosts | sample["kind"].astype(np.uint64)):
        order = keys.argsort(kind="stable")
        names, starts, sizes = np.unique(keys[order], return_index=True, return_counts=True)
        for group in np.argsort(-sizes, kind="stable")[:_MOST_GROUPS].tolist():
            if sizes[group] < _LEAST_PAGES:
                break
            members = order[starts[group] : starts[group] + sizes[group]]
            above = by_key.get(int(names[group]) >> 16 << 16, whole)
            by_key[int(names[group])] = fitted(evidence[members[:: -(-len(members) // _MOST_OF_GROUP)]], above)
    ordered = sorted(by_key)
    columns = np.array([(by_key[key].shape, by_key[key].seconds, by_key[key].never) for key in ordered]).reshape(-1, 3)
    return PriorTable(whole, np.array(ordered, np.uint64), Priors(*columns.T))


def has_evidence(records: Records) -> Flags:
    return np.asarray((records["quiet"] > 0) | (records["changed"] > 0) | (records["dated"] > 0), bool)


# The choice


def chances_of_change(records: Records, priors: PriorTable, now: Numbers) -> Numbers:
    """Returns the probability that each page has changed since its last visit."""
    prior = priors.of(records["host"], records["kind"])
    evidence = evidence_of(records)
    waits = np.maximum(now - records["visited"], 0.0)
    return np.asarray(-np.expm1(-rates(evidence, prior) * waits) * changing(evidence, prior), float)


def as_pages(
    ids: Places,
    records: Records,
    priors: PriorTable,
    weights: Numbers,
    changed_at: Numbers,
    now: float,
    bounds: Bounds,
) -> Pages:
    """Returns those of the pages that may be asked for, as `recrawl.chosen` takes them.

    `weights`: the importance of each, from 0 to 1. `changed_at`: when it changed last by a sitemap that is believed; 0:
    not known. A page that has changed since its last visit by that counts as one that changes fast.
    """
    # A visit in the future was made before the clock was set back: when it was in truth is not known.
    may_be_asked = (next_visits(records, bounds.least) <= now) | (records["asked"] > now + _CLOCK_SLACK)
    (due,) = np.nonzero(may_be_asked & (records["standing"] != Standing.DEADLY))
    ids, records, weights, changed_at = ids[due], records[due], weights[due], changed_at[due]
    prior = priors.of(records["host"], records["kind"])
    evidence = evidence_of(records)
    last = np.where(records["visited"] > 0, records["visited"], records["asked"]).astype(float)
    waits = np.maximum(now - last, 1.0)
    found, alive = rates(evidence, prior), changing(evidence, prior)
    has_changed = (changed_at > last) & (changed_at <= now)
    standing = records["standing"]
    weights = weights * np.where(has_changed, 1.0, alive) * np.where(standing == Standing.PAGE, 1.0, _WITHOUT_PAGE)
    weights = weights * np.exp2(-np.minimum(records["failures"].astype(float), _MOST_DOUBLINGS))
    is_overdue = (waits > bounds.most) & (standing != Standing.GONE)
    return Pages(
        ids, np.where(has_changed, np.maximum(found, 10.0 / waits), found), waits, weights, records["host"], is_overdue
    )
