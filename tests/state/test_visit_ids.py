"""The visit of a URL is found, whatever happened before: by the crawl that writes it, and by readers beside it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from pycrawl.errors import StateError
from pycrawl.state import documents, schema
from pycrawl.state.database import Database
from pycrawl.state.documents import Visit
from pycrawl.state.visit_ids import drop_visits, faults, visit_ids, visited_of

BEFORE = schema.STEPS[: schema.STEPS.index(schema._VISITS_IN_ORDER)]
URLS = 3_000


def visit(url_id: int, at: float, outcome: str = "fetched", status: int = 200) -> Visit:
    return Visit(url_id, outcome, status, at, 1, f"visit at {at}")


def check(database: Database, model: dict[int, Visit], url_ids: list[int]) -> None:
    assert [documents.visit_of(database, one) for one in url_ids] == [model.get(one) for one in url_ids]
    assert visited_of(database, url_ids) == model.keys() & set(url_ids)
    joined = database.query(
        "SELECT url_id FROM json_each(?) JOIN visits ON visits.id = visit_id(value)", (str(url_ids),)
    )
    assert sorted(url_id for (url_id,) in joined) == sorted(model.keys() & set(url_ids))


@pytest.mark.parametrize("seed", range(4))
def test_a_model(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = tmp_path / "state.db"
    database = Database.create(path)
    model: dict[int, Visit] = {}
    committed: dict[int, Visit] = {}
    with closing(Database.open_readonly(path)) as reader:
        for step in range(60):
            rows = [visit(chance.randrange(1, URLS), step) for _ in range(chance.choice((0, 1, 30, 400)))]
            documents.save_visits(database, rows)
            model.update((row.url_id, row) for row in rows)
            if chance.random() < 0.2:
                gone = chance.sample(range(1, URLS), 100)
                drop_visits(database, gone)
                model = {url_id: one for url_id, one in model.items() if url_id not in gone}
            end = chance.random()
            if end < 0.2:
                database.rollback()
                model = dict(committed)
            elif end < 0.7:
                database.commit()
                committed = dict(model)
            some = chance.sample(range(1, URLS), chance.choice((1, 5, 100)))
            check(database, model, some)
            check(reader, committed, some)
        database.commit()
        assert list(faults(reader)) == []
    database.close()
    with closing(Database.open(path)) as again:
        check(again, model, list(range(1, URLS)))
        assert visit_ids(again).bytes_held() > 0


def test_a_url_visited_twice_in_a_group_has_one_visit(state: Database) -> None:
    documents.save_visits(state, [visit(9, 11.0), visit(4, 12.0), visit(9, 13.0)])
    since = f"SELECT url_id, visited_at, {documents.SINCE} FROM visits"
    assert state.query(f"{since} ORDER BY id").fetchall() == [(9, 13, 11), (4, 12, 12)]
    documents.save_visits(state, [visit(4, 15.0, "http-4xx", 404)])
    assert state.query(f"{since} WHERE id = visit_id(4)").fetchone() == (4, 15, 15)
    documents.save_visits(state, [visit(4, 16.0, "http-4xx", 404), visit(4, 17.0, "http-4xx", 404)])
    assert state.query(f"{since} WHERE id = visit_id(4)").fetchone() == (4, 17, 15)


def test_faults_are_named(state: Database) -> None:
    documents.save_visits(state, [visit(one, 1.0) for one in (7, 8, 9)])
    state.write("UPDATE visits SET url_id = 70 WHERE id = visit_id(7)")
    state.write(
        "INSERT INTO visits (url_id, outcome, status, visited_at, tries, detail, etag, last_modified, digest,"
        " document_id) VALUES (3, '', 0, 0, 0, '', '', '', x'', 0)"
    )
    assert list(faults(state)) == [
        "URL 7 leads to visit 1, which is none of it",
        "visit 4 is not found by its URL 3",
    ]


def old_state(path: Path) -> dict[int, Visit]:
    visits = {one: visit(one, float(one * 7919 % URLS)) for one in range(1, URLS, 2)}
    database = Database.create(path, BEFORE)
    database.write_many(
        "INSERT INTO visits (url_id, outcome, status, visited_at, tries, detail, etag, last_modified, digest,"
        " document_id, unkept, requeued, since) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 5)",
        visits.values(),
    )
    # A recrawl was killed while it entered older visits, at this URL.
    database.write("INSERT OR REPLACE INTO meta VALUES ('changes_missing', ?)", (URLS // 2,))
    database.commit()
    database.close()
    return visits


OPEN = "import sys, pathlib, pycrawl.state.database as d; d.Database.open(pathlib.Path(sys.argv[1]))"


def test_an_older_state_is_brought_up_to_date_though_killed_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    visits = old_state(path)
    for seconds in (0.05, 0.1, 0.15, 0.2, 0.25):
        process = subprocess.Popen([sys.executable, "-c", OPEN, str(path)])
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    for _ in range(2):
        with closing(Database.open(path)) as database:
            check(database, visits, list(range(1, URLS)))
            assert list(faults(database)) == []
            assert database.query("SELECT DISTINCT requeued, since FROM visits").fetchall() == [(1, 5)]
            missing = database.query("SELECT value FROM meta WHERE key = 'changes_missing'").fetchone()
            assert missing == (0,), "visits have other numbers now: it begins anew"


def test_damage_is_told(state: Database) -> None:
    documents.save_visits(state, [visit(7, 1.0)])
    state.write("UPDATE sorted_blocks SET data = x'00'")
    with pytest.raises(StateError, match="sorted entries is damaged"), state.explained():
        documents.visit_of(state, 7)
