"""The runs of one store in the tables `sorted_runs`, `sorted_segments` and `sorted_blocks`, and in memory.

Keys are unsigned; the tables hold them less 2⁶³, which keeps their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pycrawl.errors import StateError
from pycrawl.native import compiled
from pycrawl.state.database import Database
from pycrawl.state.runs import filters
from pycrawl.state.runs.entries import BLOCK_BYTES, I64, U64, Entries
from pycrawl.state.runs.filters import SegmentFilters
from pycrawl.state.runs.packing import DAMAGED

E = TypeVar("E", bound=Entries)

_SIGN = 1 << 63
_BLOCK_BITS = 12  # of a block's id, the lowest: its number in its segment
MOST_BLOCKS = 1 << _BLOCK_BITS  # in a segment
_FENCE = np.dtype("<u8")
BEFORE_ALL = (-1, 0)  # the floor of a run that has lost nothing to another
# For each key, by the level of the run; in all higher levels as in the last. A look-up asks many small runs and a few
# large ones; false answers of the small ones cost as much, and their bits little.
_FILTER_BITS = (24, 12, 12, 8)
_ALL_KEYS = b"\xff"  # in place of the filter of a segment that was written before its store had filters
_READ_AT_ONCE = 256  # blocks that a pass over a whole run has in memory


@dataclass(frozen=True, slots=True)
class Store(Generic[E]):
    """One collection of entries."""

    number: int  # part of the stored format
    name: str
    form: type[E]
    factor: int = 8  # runs of a level that are merged into one of the next
    has_filters: bool = True
    block_bytes: int = BLOCK_BYTES  # of a block, at most; larger ones are written faster, and a look-up reads more


class Segment(NamedTuple):
    """A stretch of a run."""

    id: int
    first: int  # no key in it is lower …
    last: int  # … or higher
    size: int  # entries, when it was written
    fences: U64  # the keys with which its blocks began, when it was written
    filter: bytes


@dataclass(slots=True, eq=False)
class Run:
    """What memory holds of a run. The arrays have one item for each segment, or for each block."""

    id: int
    level: int
    goes_into: int = 0  # the run that it is being merged into; 0: none
    floor: tuple[int, int] = BEFORE_ALL  # (key, id): entries up to this one have moved to the run that it goes into
    segment_ids: list[int] = field(default_factory=list)
    firsts: U64 = field(default_factory=lambda: np.empty(0, np.uint64))  # by segment: no key in it is lower
    lasts: list[int] = field(default_factory=list)  # by segment
    sizes: list[int] = field(default_factory=list)  # by segment: entries
    fences: U64 = field(default_factory=lambda: np.empty(0, np.uint64))  # by block
    block_ids: I64 = field(default_factory=lambda: np.empty(0, np.int64))  # by block
    _filters: SegmentFilters = field(default_factory=SegmentFilters)  # by segment; empty: there are none

    def take_in(self, segments: Sequence[Segment]) -> None:
        """Append segments, in the order of their ids."""
        self.segment_ids += [one.id for one in segments]
        self.firsts = np.append(self.firsts, np.array([one.first for one in segments], np.uint64))
        self.lasts += [one.last for one in segments]
        self.sizes += [one.size for one in segments]
        begins = [one.id << _BLOCK_BITS for one in segments]
        numbers = [np.arange(at, at + len(one.fences)) for at, one in zip(begins, segments, strict=True)]
        self.fences = np.concatenate((self.fences, *(one.fences for one in segments)))
        self.block_ids = np.concatenate((self.block_ids, *numbers))
        self.drop_dead_blocks()
        self._filters.append([one.filter for one in segments if one.filter])

    def drop_dead_blocks(self) -> list[int]:
        """Forget the blocks whose entries have all moved to another run. Returns their ids, which follow each other: a
        segment without live entries is dropped first."""
        if self.floor[0] < 0:
            return []
        # Keys of the floor may go on in the last block that begins below it.
        dead = max(0, int(self.fences.searchsorted(np.uint64(self.floor[0]))) - 1)
        ids: list[int] = self.block_ids[:dead].tolist()
        self.fences, self.block_ids = self.fences[dead:], self.block_ids[dead:]
        return ids

    def drop_first_segment(self) -> int:
        """Forget the first segment. Returns its id."""
        segment_id = self.segment_ids.pop(0)
        count = int(np.count_nonzero(self.block_ids >> _BLOCK_BITS == segment_id))
        self.firsts, self.fences, self.block_ids = self.firsts[1:], self.fences[count:], self.block_ids[count:]
        del self.lasts[0], self.sizes[0]
        if len(self._filters):
            self._filters.drop_first()
        return segment_id

    def __len__(self) -> int:
        return sum(self.sizes)

    def bytes_held(self) -> int:
        return self.fences.nbytes + self.block_ids.nbytes + self._filters.bytes_held()

    def may_have(self, keys: U64) -> I64:
        """Returns the places of those keys of which the run may have live entries: it certainly has none of others."""
        return places_in_runs([self], keys)[0]

    def places_by_numpy(self, keys: U64) -> I64:
        """As `may_have`, which the compiled module does where there is one."""
        if not len(self.fences):
            return np.empty(0, np.int64)
        flags: NDArray[np.bool_] = (keys >= self.firsts[0]) & (keys >= np.uint64(max(self.floor[0], 0)))
        asked = np.flatnonzero(flags)
        if not len(self._filters):
            return asked
        segments = self.firsts.searchsorted(keys[asked], "right") - 1
        flags[:] = False
        flags[asked[self._in_filters(keys[asked], segments)]] = True
        # The ids of one key may go on from the segment before.
        begins = np.flatnonzero((self.firsts[segments] == keys[asked]) & (segments > 0))
        flags[asked[begins[self._in_filters(keys[asked[begins]], segments[begins] - 1)]]] = True
        return np.flatnonzero(flags)

    def columns(self) -> tuple[int, U64, NDArray[np.uint8], I64, I64]:
        """Returns what the compiled module asks of a run (`native/_compiled.pyi`)."""
        firsts = self.firsts if len(self.fences) else self.firsts[:0]
        known = self._filters
        return max(self.floor[0], 0), firsts, known.data, known.starts, known.sizes

    def _in_filters(self, keys: U64, segments: I64) -> I64:
        """Returns the places of the keys that the filters of these segments know."""
        known = self._filters
        return filters.may_have(keys, known.data, known.starts[segments], known.sizes[segments])


def places_in_runs(runs: Sequence[Run], keys: U64) -> list[I64]:
    """Returns for each run the places of those keys of which it may have live entries."""
    if compiled is None:
        return [run.places_by_numpy(keys) for run in runs]
    found = compiled.places_in_runs(keys, [run.columns() for run in runs])
    return [np.frombuffer(places, np.int64) for places in found]


class RunTable(Generic[E]):
    """The runs of a store. Writes are committed by the caller."""

    def __init__(self, database: Database, store: Store[E], with_filters: bool = True) -> None:
        """`with_filters`: False for who asks for a few keys only, and would read more for the filters."""
        self._database = database
        self.store = store
        self._with_filters = with_filters and store.has_filters
        self._runs: list[Run] = []
        self._read_after = -1  # rollbacks of the database, when the runs were read from it; -1: they were not yet

    @property
    def runs(self) -> list[Run]:
        """Returns all runs, the oldest first."""
        if self._read_after != self._database.rollbacks:
            self._load()
        return self._runs

    def _load(self) -> None:
        self._read_after = self._database.rollbacks
        rows = self._database.query(
            "SELECT id, level, goes_into, floor_key, floor_id FROM sorted_runs WHERE store = ? ORDER BY level DESC, id",
            (self.store.number,),
        ).fetchall()
        self._runs = [
            Run(run_id, level, goes_into, BEFORE_ALL if floor_key is None else (floor_key + _SIGN, floor_id))
            for run_id, level, goes_into, floor_key, floor_id in rows
        ]
        column = "filter" if self._with_filters else "x''"
        for run in self._runs:
            segments = self._database.query(
                f"SELECT id, first, last, entries, fences, {column} FROM sorted_segments WHERE run_id = ? ORDER BY id",
                (run.id,),
            )
            no_filter = _ALL_KEYS if self._with_filters else b""
            run.take_in([_segment(no_filter, *row) for row in segments])

    def begin_run(self, level: int) -> Run:
        """Make a new run, without entries. It is the youngest of its level."""
        runs = self.runs
        cursor = self._database.write(
            "INSERT INTO sorted_runs (store, level, goes_into, floor_id) VALUES (?, ?, 0, 0)",
            (self.store.number, level),
        )
        assert cursor.lastrowid is not None
        run = Run(cursor.lastrowid, level)
        runs.append(run)
        runs.sort(key=lambda one: (-one.level, one.id))
        return run

    def append(self, run: Run, entries: E) -> None:
        """Append entries to a run as one segment or more. They must lie behind all that it has."""
        ends = entries.ends(self.store.block_bytes)
        for begin in range(0, len(ends), MOST_BLOCKS):
            cut = [ends[begin - 1] if begin else 0, *ends[begin : begin + MOST_BLOCKS]]
            self._append_segment(run, entries, cut)

    def _append_segment(self, run: Run, entries: E, cut: list[int]) -> None:
        keys = entries.keys[cut[0] : cut[-1]]
        fences = entries.keys[cut[:-1]]
        bits = _FILTER_BITS[min(run.level, len(_FILTER_BITS) - 1)]
        data = filters.made(keys, bits) if self.store.has_filters else b""
        first, last = int(keys[0]), int(keys[-1])
        cursor = self._database.write(
            "INSERT INTO sorted_segments (run_id, first, last, entries, fences, filter) VALUES (?, ?, ?, ?, ?, ?)",
            (run.id, first - _SIGN, last - _SIGN, len(keys), fences.astype(_FENCE).tobytes(), data),
        )
        assert cursor.lastrowid is not None
        base = cursor.lastrowid << _BLOCK_BITS
        self._database.write_many(
            "INSERT INTO sorted_blocks VALUES (?, ?)",
            ((base + number, entries.part(begin, end).pack()) for number, (begin, end) in enumerate(pairwise(cut))),
        )
        run.take_in([Segment(cursor.lastrowid, first, last, len(keys), fences, data if self._with_filters else b"")])

    def goes_into(self, sources: Iterable[Run], target: Run) -> None:
        """Note that runs are being merged into another."""
        for run in sources:
            run.goes_into = target.id
            self._database.write("UPDATE sorted_runs SET goes_into = ? WHERE id = ?", (target.id, run.id))

    def raise_floor(self, run: Run, floor: tuple[int, int]) -> None:
        """Note that all entries up to `floor` have moved to another run, and delete what has no others."""
        run.floor = floor
        while run.segment_ids and run.lasts[0] < floor[0]:
            self._delete_first_segment(run)
        dead = run.drop_dead_blocks()
        if dead:
            self._delete_blocks(dead[0], dead[-1] + 1)
        self._database.write(
            "UPDATE sorted_runs SET floor_key = ?, floor_id = ? WHERE id = ?", (floor[0] - _SIGN, floor[1], run.id)
        )

    def delete(self, run: Run) -> None:
        while run.segment_ids:
            self._delete_first_segment(run)
        self._database.write("DELETE FROM sorted_runs WHERE id = ?", (run.id,))
        self.runs.remove(run)

    def _delete_first_segment(self, run: Run) -> None:
        segment_id = run.drop_first_segment()
        self._delete_blocks(segment_id << _BLOCK_BITS, (segment_id + 1) << _BLOCK_BITS)
        self._database.write("DELETE FROM sorted_segments WHERE id = ?", (segment_id,))

    def _delete_blocks(self, begin: int, end: int) -> None:
        self._database.write("DELETE FROM sorted_blocks WHERE id >= ? AND id < ?", (begin, end))

    def blocks(self, block_ids: Sequence[int]) -> Iterator[tuple[int, E]]:
        """Yields (id, entries) of blocks, in no particular order."""
        for block_id, data in self.stored_blocks(block_ids):
            yield block_id, self.store.form.unpack(data)

    def stored_blocks(self, block_ids: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """Yields (id, bytes) of blocks, in no particular order."""
        return self._database.query_each("SELECT id, data FROM sorted_blocks WHERE id IN ({})", block_ids)

    def read(self, run: Run, begin: int, end: int) -> E:
        """Returns the live entries of a run's blocks from number `begin` to before `end`."""
        ids = run.block_ids[begin:end].tolist()
        found = dict(self.blocks(ids))
        if len(found) < len(ids):
            raise StateError(DAMAGED)
        return self.store.form.joined([self.live(run, found[block_id]) for block_id in ids])

    def portions(self, run: Run) -> Iterator[E]:
        """Yields the live entries of a run in their order, many blocks at a time."""
        for begin in range(0, len(run.block_ids), _READ_AT_ONCE):
            yield self.read(run, begin, begin + _READ_AT_ONCE)

    def live(self, run: Run, entries: E) -> E:
        """Returns those of a block's entries that have not moved to another run."""
        return behind(run.floor, entries)

    def rewrite(self, block_id: int, entries: E) -> None:
        """Replace a block by some of its entries."""
        self._database.write("UPDATE sorted_blocks SET data = ? WHERE id = ?", (entries.pack(), block_id))


def behind(floor: tuple[int, int], entries: E) -> E:
    """Returns the entries that lie behind a floor."""
    if floor[0] < 0 or not len(entries) or int(entries.keys[0]) > floor[0]:
        return entries
    return entries.part(entries.place_after(*floor), len(entries))


def _segment(
    no_filter: bytes, segment_id: int, first: int, last: int, size: int, fences: bytes, data: bytes
) -> Segment:
    marks = np.frombuffer(fences, _FENCE)
    if not 0 < len(marks) <= MOST_BLOCKS:
        raise StateError(DAMAGED)
    return Segment(segment_id, first + _SIGN, last + _SIGN, size, marks, data or no_filter)
