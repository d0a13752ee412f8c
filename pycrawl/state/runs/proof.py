"""Proof of what `runs/__init__.py` says is true of sorted runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pycrawl.errors import StateError
from pycrawl.state.database import Database
from pycrawl.state.runs.tables import Run, RunTable, Store


def faults(database: Database, stores: Iterable[Store[Any]]) -> Iterator[str]:
    """Yields what is wrong with the runs of stores, in words."""
    for store in stores:
        try:
            table = RunTable(database, store)
            for run in table.runs:
                yield from _faults_of(table, run)
        except StateError as error:
            yield f"{store.name}: {error}"


def _faults_of(table: RunTable[Any], run: Run) -> Iterator[str]:
    name = f"{table.store.name}, run {run.id}"
    if run.goes_into and run.goes_into not in {one.id for one in table.runs if one.level == run.level + 1}:
        yield f"{name}: is merged into a run that is not there"
    before = run.floor
    for number in range(len(run.block_ids)):
        entries = table.read(run, number, number + 1)
        if not len(entries):
            continue
        if not entries.is_sorted() or entries.first() <= before:
            yield f"{name}: entries are out of order in block {number}"
        if int(entries.keys[0]) < int(run.fences[number]):
            yield f"{name}: block {number} begins before its fence"
        if len(run.may_have(entries.keys)) < len(entries):
            yield f"{name}: the filter does not know a key of block {number}"
        before = entries.last()


def count_entries(database: Database, stores: Iterable[Store[Any]]) -> int:
    return sum(len(run) for store in stores for run in RunTable(database, store, with_filters=False).runs)
