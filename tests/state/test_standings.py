"""Depths and reasons are the same in memory, for a reader beside the crawl and after a crash, settled or not."""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pycrawl.state.database import Database
from pycrawl.state.standings import Standings
from pycrawl.state.urls_table import SHORTER, TRUE_DEPTH, settle_depths

Model = dict[int, tuple[int, int]]  # id → (depth, aside)


def add(database: Database, standings: Standings, model: Model, count: int, depth: int) -> None:
    first = standings.next_id
    standings.append(np.full(count, depth, np.uint8), np.zeros(count, np.uint8))
    database.write_many(
        "INSERT INTO urls VALUES (?, 'u', 1, ?, 0, 1, 0, 0, 0, 0)", [(first + one, depth) for one in range(count)]
    )
    model.update((first + one, (depth, 0)) for one in range(count))


def in_memory(standings: Standings) -> Model:
    return {one: (standings.depth_of(one), standings.aside_of(one)) for one in range(1, standings.next_id)}


def as_read(database: Database) -> Model:
    rows = database.query(f"SELECT id, {TRUE_DEPTH}, aside FROM urls {SHORTER}")
    return {one: (depth, aside) for one, depth, aside in rows}


def in_table(database: Database) -> Model:
    return {one: (depth, aside) for one, depth, aside in database.query("SELECT id, depth, aside FROM urls")}


@pytest.mark.parametrize("seed", range(6))
def test_a_model(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "state.db"
    database = Database.create(path)
    standings = Standings(database, least_settled=40)
    model: Model = {}
    committed: Model = {}
    for _ in range(80):
        if chance.random() < 0.4:
            add(database, standings, model, chance.randrange(1, 30), chance.randrange(5, 20))
        for url_id in chance.sample(list(model), min(len(model), chance.randrange(8))):
            depth, aside = model[url_id]
            model[url_id] = (max(0, depth - chance.randrange(3)), chance.choice((aside, aside, 0, 3)))
            standings.change(url_id, *model[url_id])
        standings.flush()
        assert in_memory(standings) == model
        end = chance.random()
        if end < 0.1:
            standings.settle()
            assert in_table(database) == model
        elif end < 0.2:
            standings.save(least=1)
        if end < 0.8:
            database.commit()
            committed = dict(model)
            with closing(Database.open_readonly(path)) as reader:
                assert as_read(reader) == model
                assert in_memory(Standings(reader)) == model
        elif end > 0.95:  # the process is killed, and another goes on
            database.close()
            database = Database.open(path)
            settle_depths(database)
            standings = Standings(database, least_settled=40)
            model = dict(committed)
            assert in_table(database) == in_memory(standings) == model
    database.close()


def test_many_changes_are_settled_together(state: Database) -> None:
    standings = Standings(state, least_settled=10)
    model: Model = {}
    add(state, standings, model, 50, 9)
    for url_id in range(1, 11):
        standings.change(url_id, 4, 0)
        standings.flush()
    assert {depth for depth, _ in in_table(state).values()} == {9}
    standings.change(11, 4, 0)
    standings.flush()
    assert [one for one, (depth, _) in in_table(state).items() if depth == 4] == list(range(1, 12))
    standings.change(12, 4, 7)
    standings.flush()
    assert in_table(state)[12] == (4, 7), "another reason is there at once"
