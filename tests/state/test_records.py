"""The small tables: meta and runs, counters, documents, visits, files, fingerprints."""

from __future__ import annotations

import pytest

from pycrawl.errors import StateError
from pycrawl.state import documents, meta
from pycrawl.state.content_seen import ContentSeen
from pycrawl.state.counters import Counters, family, totals
from pycrawl.state.database import Database
from pycrawl.state.documents import Document, Visit
from pycrawl.state.meta import RunRow

TOP = 2**64 - 1
DOCUMENT = Document(
    id=1,
    url_id=5,
    url_hash=documents.signed(TOP),
    fetched_at=100.25,
    file_id=1,
    offset=0,
    length=10,
    number=1,
    body_length=400,
    digest=b"d" * 16,
    content_type="text/html",
    charset="utf-8",
    declared_charset="windows-1252",
    escapes=b"\x00",
    truncated=1,
    duplicate_of=0,
)


def test_a_crawl_has_a_secret_and_a_date(state: Database) -> None:
    meta.write_first(state, 1234.5)
    assert meta.created_at(state) == 1234.5
    seed = meta.hash_seed(state)
    assert isinstance(seed, int)
    assert 0 <= seed < 2**63


def test_a_database_without_a_crawl_says_so(state: Database) -> None:
    with pytest.raises(StateError, match=r"state\.db: holds no crawl"):
        meta.hash_seed(state)


def test_runs(state: Database) -> None:
    assert meta.last_run(state) is None
    first = meta.start_run(state, 10.0, 77)
    assert meta.last_run(state) == RunRow(10.0, None, 77, 0, 10.0, "")
    meta.update_run(state, first, 5, 11.0)
    meta.end_run(state, first, 12.0, "max-pages")
    assert meta.last_run(state) == RunRow(10.0, 12.0, 77, 5, 11.0, "max-pages")
    assert meta.start_run(state, 20.0, 78) > first
    assert meta.last_run(state) == RunRow(20.0, None, 78, 0, 20.0, "")


def test_counters_add_up_over_flushes(state: Database) -> None:
    counters = Counters(state)
    counters.flush()
    assert totals(state) == {}
    for amount in (1, 5, -2):
        counters.add("pages", amount)
        counters.add("status:200")
        counters.flush()
    again = Counters(state)
    again.add("pages")
    assert totals(state) == {"pages": 4, "status:200": 3}
    again.flush()
    assert totals(state)["pages"] == 5


def test_a_family_is_named_by_what_stands_before_the_colon() -> None:
    assert family({"status:404": 1, "status:200": 2, "statuses:1": 3, "status": 4}, "status") == {"200": 2, "404": 1}


@pytest.mark.parametrize("url_hash", [0, 1, 2**63 - 1, 2**63, TOP])
def test_hashes_of_all_64_bits_are_found_again(state: Database, url_hash: int) -> None:
    documents.save_documents(state, [DOCUMENT._replace(url_hash=documents.signed(url_hash))])
    found = documents.newest_document(state, url_hash)
    assert found is not None
    assert found.id == 1
    assert documents.newest_document(state, url_hash ^ 1) is None


def test_the_document_that_was_current_at_a_time(state: Database) -> None:
    assert documents.next_document_id(state) == 1
    later = DOCUMENT._replace(id=2, fetched_at=200.0, truncated=0)
    copy = DOCUMENT._replace(id=3, fetched_at=300.0, duplicate_of=1)
    documents.save_documents(state, [DOCUMENT, later, copy])
    assert documents.next_document_id(state) == 4
    found = {
        at: getattr(documents.newest_document(state, TOP, at), "id", None) for at in (None, 99.0, 100.25, 250.0, 300.0)
    }
    assert found == {None: 3, 99.0: None, 100.25: 1, 250.0: 2, 300.0: 3}
    assert [one.id for one in documents.documents_in_order(state)] == [1, 2]
    assert documents.document(state, 1) == DOCUMENT


def test_the_last_visit_replaces_the_one_before(state: Database) -> None:
    assert documents.visit_of(state, 5) is None
    documents.save_visits(state, [Visit(5, "timeout", 0, 10.0, 3, "after 60 s")])
    last = Visit(5, "fetched", 200, 20.0, 1, "", '"tag"', "yesterday", b"digest", 9)
    documents.save_visits(state, [last])
    assert documents.visit_of(state, 5) == last


def test_files_grow(state: Database) -> None:
    documents.save_files(state, [(1, "WTX001/B01.gz", 10, 1)])
    documents.save_files(state, [(1, "WTX001/B01.gz", 30, 3), (2, "WTX001/B02.gz", 5, 1)])
    assert documents.files(state) == [(1, "WTX001/B01.gz", 30, 3), (2, "WTX001/B02.gz", 5, 1)]
    assert documents.file_name(state, 2) == "WTX001/B02.gz"


def save_documents(state: Database, *digests: bytes) -> None:
    documents.save_documents(
        state, [DOCUMENT._replace(id=number, digest=digest) for number, digest in enumerate(digests, 1)]
    )


def test_a_digest_is_known_at_once_and_written_with_its_group(state: Database) -> None:
    save_documents(state, b"one", b"two")
    seen = ContentSeen(state)
    assert seen.find(b"one") == 0
    seen.add(b"one", 1)
    seen.close_group()
    seen.add(b"two", 2)
    seen.add(b"one", 3)
    assert seen.find(b"two") == 2
    seen.flush()
    assert (ContentSeen(state).find(b"one"), ContentSeen(state).find(b"two")) == (1, 0)
    seen.close_group()
    seen.flush()
    assert ContentSeen(state).find(b"one") == 1
    assert ContentSeen(state).find(b"two") == 2


def test_a_batch_of_digests_is_looked_up_at_once(state: Database) -> None:
    seen = ContentSeen(state)
    digests = [number.to_bytes(16, "big") for number in range(300)]  # with equal beginnings
    save_documents(state, *digests[::2])
    for number, digest in enumerate(digests[::2], 1):
        seen.add(digest, number)
    seen.close_group()
    seen.flush()
    seen.look(digests)
    assert [seen.find(digest) for digest in digests] == [0 if at % 2 else at // 2 + 1 for at in range(300)]
    seen.add(digests[1], 400)
    assert seen.find(digests[1]) == 400, "met in the same batch"
    seen.close_group()
    assert seen.find(digests[1]) == 400
    seen.flush()
    assert seen.find(digests[1]) == 400, "what was looked up before a commit is not believed after it"
