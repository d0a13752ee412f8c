"""What is known of texts after documents were forgotten: as if they had never been there."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from pycrawl.fingerprint.packed import pack
from pycrawl.fingerprint.page import of_text
from pycrawl.state.content_seen import ContentSeen, keys_of
from pycrawl.state.counters import totals
from pycrawl.state.database import Database
from pycrawl.state.documents import Document, save_documents
from pycrawl.state.forget_prints import drop_digests, drop_near, drop_passages, near_documents
from pycrawl.state.near_seen import NearSeen
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import MergeSizes
from pycrawl.state.stores import CONTENT, PASSAGES
from tests.near_texts import make_family
from tests.state.test_passages import Indexed

THRESHOLD = 0.9
SMALL = MergeSizes(blocks_read=1, merged_for_each=1, least_merged=10)  # merges are under way most of the time


# Passages


@pytest.mark.parametrize("seed", range(5))
def test_passages_of_forgotten_documents_are_gone_and_merging_goes_on(tmp_path: Path, seed: int) -> None:
    indexed = Indexed(tmp_path / "state.db", seed, SMALL)
    dice = random.Random(seed)
    for _ in range(40):
        indexed.add(dice.randrange(1, 4), dice.randrange(1, 60))
        if dice.random() < 0.3:
            gone = set(dice.sample(range(2, indexed.next_id + 1), dice.randrange(1, indexed.next_id)))
            drop_passages(indexed.database, gone)
            for documents in indexed.model.values():
                documents -= gone
            indexed.check_order()
            indexed.check_all()
        indexed.database.commit()
    drop_passages(indexed.database, set(range(1, indexed.next_id)))
    assert sum(map(len, IdRuns(indexed.database, PASSAGES).portions())) == 0
    indexed.database.close()


# Near-duplicates


def joined(state: Database, texts: dict[int, str]) -> list[tuple[int, int, float]]:
    """Enter documents as a crawl does. Returns what is near to what."""
    near_seen = NearSeen(state, THRESHOLD)
    for document_id, text in sorted(texts.items()):
        near_seen.add(document_id, pack(of_text(text)))
    near_seen.close_group()
    near_seen.flush()
    return near_rows(state)


def near_rows(state: Database) -> list[tuple[int, int, float]]:
    return state.query("SELECT * FROM near ORDER BY document_id").fetchall()


@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_those_of_what_stays(state: Database, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    texts: dict[int, str] = {}
    for _ in range(6):
        family = make_family(dice, 200, (0.97, 0.95, 0.93, 0.91, 0.6))
        for text in (*family.texts, family.texts[1]):
            texts[len(texts) + 1] = text
    before = joined(state, texts)
    state.write("INSERT OR REPLACE INTO counters VALUES ('duplicates_near', ?)", (len(before),))
    gone = set(dice.sample(sorted(texts), 12)) | {1, 2}
    stay = near_documents(state, gone)
    assert stay
    assert not stay & gone
    drop_near(state, gone, THRESHOLD)
    fresh = Database.create(tmp_path / "fresh.db")
    assert near_rows(state) == joined(fresh, {one: text for one, text in texts.items() if one not in gone})
    assert totals(state)["duplicates_near"] == len(near_rows(state))
    new = {len(texts) + 1: texts[1]}  # the next crawl still finds what resembles it
    assert [row[1] for row in joined(state, new) if row[0] == len(texts) + 1] == [
        row[1] for row in joined(fresh, new) if row[0] == len(texts) + 1
    ]
    fresh.close()


# Exact copies


def document(document_id: int, digest: bytes, duplicate_of: int = 0) -> Document:
    return Document(
        document_id, document_id, 0, 0.0, 1, 0, 0, document_id, 0, digest, "", "", "", b"", 0, duplicate_of
    )  # fmt: skip


def test_another_record_with_the_same_bytes_takes_the_place(state: Database) -> None:
    save_documents(state, [document(1, b"a"), document(2, b"b"), document(3, b"a"), document(4, b"b", 2)])
    content = IdRuns(state, CONTENT)
    content.insert(keys_of([b"a", b"b", b"a"]), np.array([1, 2, 3], np.uint32))
    content.flush()
    drop_digests(state, {1, 2})
    assert (ContentSeen(state).find(b"a"), ContentSeen(state).find(b"b")) == (3, 0)
    state.write("DELETE FROM documents WHERE id < 3")
    drop_digests(state, {3})
    assert ContentSeen(state).find(b"a") == 0
    assert sum(map(len, content.portions())) == 0
