"""A state of an older release, with tables that sorted runs have taken the place of, is brought up to date."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from pycrawl.fingerprint.packed import pack
from pycrawl.fingerprint.page import of_text
from pycrawl.fingerprint.page_prints import SKETCH_SIZE
from pycrawl.fingerprint.shingle import shingles
from pycrawl.fingerprint.sketch import wide_sketch
from pycrawl.fingerprint.words import tokens
from pycrawl.state import documents, links, schema, stores
from pycrawl.state.content_seen import ContentSeen
from pycrawl.state.database import Database
from pycrawl.state.near_seen import NearSeen, prints_of
from pycrawl.state.passages import sharing
from pycrawl.state.runs import one_key, proof

BEFORE = schema.STEPS[: schema.STEPS.index(schema._TO_SORTED_RUNS)]
COUNT = 3_000
TEXTS = {one: " ".join(f"word{(one * word) % 977}" for word in range(1, 200)) for one in (1, 2, 3)}
TEXTS[9] = "three short words"


def hash_of(one: int) -> int:
    return one * 0x9E37_79B9_7F4A_7C15 % 2**64


def older_prints(text: str) -> bytes:
    """Returns what earlier releases stored, with two bytes for each bin of the sketch."""
    return pack(of_text(text))[:-SKETCH_SIZE] + wide_sketch(shingles(tokens(text))).astype("<u2").tobytes()


def old_state(path: Path, count: int = COUNT) -> None:
    database = Database.create(path, BEFORE)
    ids = range(1, count + 1)
    database.write_many(
        "INSERT INTO urls VALUES (?, ?, 1, 0, 0, 1, 0, 0, 0, 0)", ((one, f"http://h/{one}") for one in ids)
    )
    database.write_many(
        "INSERT INTO documents VALUES (?, ?, ?, ?, 1, 0, 0, ?, 0, ?, '', '', '', x'', 0, 0)",
        ((one, one, documents.signed(hash_of(one % 2_000)), one, one, hash_of(one).to_bytes(16, "big")) for one in ids),
    )
    database.write_many(
        "INSERT INTO fingerprints VALUES (?, ?)", ((hash_of(one).to_bytes(16, "big"), one) for one in ids)
    )
    database.write_many(
        "INSERT INTO outlinks VALUES (?, ?)", ((one, np.array([one + 1, 7], "<u4").tobytes()) for one in ids)
    )
    database.write("INSERT INTO passage_runs (level, goes_into) VALUES (0, 0)")
    for first in range(0, count, 500):
        entries = np.array([(key << 32) | (key + 1) for key in range(first, min(first + 500, count))], "<i8")
        database.write(
            "INSERT INTO passage_blocks (run_id, first, entries) VALUES (1, ?, ?)", (int(entries[0]), entries.tobytes())
        )
    database.write_many(
        "INSERT INTO page_prints VALUES (?, ?)", ((one, older_prints(text)) for one, text in TEXTS.items())
    )
    database.commit()
    database.close()


def check(path: Path) -> None:
    database = Database.open(path)
    assert list(proof.faults(database, stores.ALL)) == []
    seen = ContentSeen(database)
    assert [seen.find(hash_of(one).to_bytes(16, "big")) for one in (1, 77, COUNT, COUNT + 1)] == [1, 77, COUNT, 0]
    assert [one.id for one in documents.versions(database, hash_of(5))] == [5, 2_005]
    assert documents.newest_document(database, hash_of(1_999)) == documents.document(database, 1_999)
    assert {one: linked.tolist() for one, linked, _ in links.Links(database).targets_of([1, 9, COUNT + 5])} == {
        1: [2, 7],
        9: [10, 7],
    }
    assert one_key.ids_of(database, stores.INLINKS.number, 12) == [11]
    assert sharing(database, np.array([16 * 41], np.uint64), 10).ids.tolist() == [42]
    assert prints_of(database, np.array(list(TEXTS), np.uint32)).tobytes() == b"".join(
        pack(of_text(text)) for text in TEXTS.values()
    )
    near = NearSeen(database, 0.9)
    near.add(COUNT + 1, pack(of_text(TEXTS[2])))
    assert [(join.document_id, join.near_id) for join in near.close_group()] == [(COUNT + 1, 2)]
    database.close()


def test_everything_is_found_as_before(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    old_state(path)
    check(path)
    check(path)  # what was not committed did not happen


OPEN = "import sys, pathlib, pycrawl.state.database as d; d.Database.open(pathlib.Path(sys.argv[1]))"


def test_killed_meanwhile_it_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    old_state(path)
    for seconds in (0.15, 0.25, 0.3, 0.35, 0.4):
        process = subprocess.Popen([sys.executable, "-c", OPEN, str(path)])
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    check(path)
