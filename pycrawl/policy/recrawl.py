"""Which pages should be asked for again? An index for each page, and the pages with the highest.

    age        what a visit takes off the mean age of the collection; a page's age is the time since its first change
               that is not in the collection. It grows without bounds, so that every page has its turn.
    freshness  what a visit adds to the share of pages that are current. It is at most w/λ: pages that change faster
               than they can be visited are given up.
    uniform    the time since the last visit.
    fixed      the same, but only pages that were not visited for the fixed interval are due.

The first two follow from the change rate λ of the page, the time τ since its last visit and its importance w. With
x = λτ and H(x) = 1 − e^(−x)(1 + x) they are wτ²(1/2 − H(x)/x²) and wτH(x)/x.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pycrawl.model import Policy

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_SMALL = 0.05  # below it a power series is used, as differences of nearly equal numbers would be left
_LARGEST = 1e150  # of x; its square can still be computed
_AT_ONCE = 1 << 18  # pages whose indexes are computed at once
_BEFORE_ALL = 1e60  # higher than the index of a page can be


class Pages(NamedTuple):
    """Some pages, one element of each array for each; times and rates are in the same unit of time."""

    ids: Places
    rates: npt.NDArray[np.floating]  # expected changes per unit of time
    waits: npt.NDArray[np.floating]  # time since the last visit
    weights: npt.NDArray[np.floating]  # importance, times the probability that the page changes at all
    hosts: npt.NDArray[np.integer] | None = None  # ids; None: it does not matter where the pages are
    is_overdue: npt.NDArray[np.bool_] | None = None  # these go before all others; None: no page does

    def part(self, which: slice) -> Pages:
        hosts = None if self.hosts is None else self.hosts[which]
        is_overdue = None if self.is_overdue is None else self.is_overdue[which]
        return Pages(self.ids[which], self.rates[which], self.waits[which], self.weights[which], hosts, is_overdue)


def indexes(policy: Policy, pages: Pages, interval: float = 0.0) -> Numbers:
    """Returns the index of each page; pages with a negative one are not due. `interval`: that of the policy `fixed`."""
    waits = np.maximum(np.asarray(pages.waits, float), 0.0)
    if policy is Policy.UNIFORM:
        return np.asarray(waits, float)
    if policy is Policy.FIXED:
        return np.where(waits >= interval, waits, -1.0)
    with np.errstate(over="ignore"):
        x = np.clip(np.asarray(pages.rates, float) * waits, 0.0, _LARGEST)
    weights = np.asarray(pages.weights, float)
    if policy is Policy.AGE:
        return np.asarray(weights * waits * waits * _age_part(x), float)
    return np.asarray(weights * waits * _freshness_part(x), float)


def _age_part(x: Numbers) -> Numbers:
    """Returns 1/2 − H(x)/x²: about x/3 for small x, and nearly 1/2 for large."""
    small, large = np.minimum(x, _SMALL), np.maximum(x, _SMALL)
    series = small * (1 / 3 - small * (1 / 8 - small * (1 / 30 - small * (1 / 144 - small / 840))))
    return np.where(x < _SMALL, series, 0.5 - _h(large) / (large * large))


def _freshness_part(x: Numbers) -> Numbers:
    """Returns H(x)/x: about x/2 for small x, greatest near 1.8, and nearly 1/x for large."""
    small, large = np.minimum(x, _SMALL), np.maximum(x, _SMALL)
    series = small * (1 / 2 - small * (1 / 3 - small * (1 / 8 - small * (1 / 30 - small / 144))))
    return np.where(x < _SMALL, series, _h(large) / large)


def _h(x: Numbers) -> Numbers:
    return np.asarray(-np.expm1(-x) - x * np.exp(-x), float)


Room = Callable[[Places], Places]  # ids of hosts → how many pages each can give


def chosen(
    policy: Policy, batches: Iterable[Pages], most: int, interval: float = 0.0, room: Room | None = None
) -> Places:
    """Returns the ids of the pages to ask for, at most so many, that with the highest index first.

    The batches are read once; besides one of them, memory is needed for about twice `most` pages. Of pages with equal
    indexes the one with the smaller id comes first. `room`: a host gets no more pages than that; the pages with the
    next highest indexes take their places.
    """
    best = _Best(most, room)
    for batch in batches:
        for start in range(0, len(batch.ids), _AT_ONCE):
            part = batch.part(slice(start, start + _AT_ONCE))
            found = indexes(policy, part, interval)
            if part.is_overdue is not None:
                found = np.where(part.is_overdue & (found >= 0), _BEFORE_ALL * (1.0 + part.waits), found)
            best.add(part.ids, found, np.zeros(len(found), np.int64) if part.hosts is None else part.hosts)
    return best.ids()


class _Best:
    """The ids with the highest indexes so far. Whatever is below the least of them is dropped as it comes."""

    def __init__(self, most: int, room: Room | None) -> None:
        self._most = most
        self._room = room
        self._parts: list[tuple[Places, Numbers, Places]] = []  # ids, indexes, hosts
        self._held = 0
        self._least = 0.0

    def add(self, ids: Places, found: Numbers, hosts: npt.NDArray[np.integer]) -> None:
        kept = np.nonzero(found >= self._least)[0]
        self._parts.append((ids[kept].astype(np.int64), found[kept], hosts[kept].astype(np.int64)))
        self._held += len(kept)
        if self._held > 2 * self._most + _AT_ONCE:
            self._shrink()

    def _shrink(self) -> None:
        """Drops all but the best; of those that are equal to the last one, those with the smallest ids stay."""
        ids, found, hosts = (np.concatenate(column) for column in zip(*self._parts, strict=True))
        if self._room is not None:
            kept = _with_room(ids, found, hosts, self._room)
            ids, found, hosts = ids[kept], found[kept], hosts[kept]
        if 0 < self._most < len(ids):
            self._least = float(np.partition(found, len(found) - self._most)[len(found) - self._most])
            above, equal = np.nonzero(found > self._least)[0], np.nonzero(found == self._least)[0]
            equal = equal[np.argsort(ids[equal], kind="stable")][: self._most - len(above)]
            kept = np.concatenate([above, equal])
            ids, found, hosts = ids[kept], found[kept], hosts[kept]
        self._parts, self._held = [(ids, found, hosts)], len(ids)

    def ids(self) -> Places:
        if not self._parts or self._most <= 0:
            return np.empty(0, np.int64)
        self._shrink()
        ids, found, _ = self._parts[0]
        return ids[np.lexsort((ids, -found))]


def _with_room(ids: Places, found: Numbers, hosts: Places, room: Room) -> Places:
    """Returns the places of the pages that stay if each host keeps its best ones only, as many as it has room for. What
    goes now could not have been chosen later: a page's place among those of its host can only fall."""
    order = np.lexsort((ids, -found, hosts))
    names, starts, counts = np.unique(hosts[order], return_index=True, return_counts=True)
    ranks = np.arange(len(order)) - np.repeat(starts, counts)
    return np.asarray(order[ranks < np.repeat(room(names), counts)], np.int64)
