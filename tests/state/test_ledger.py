"""Where a URL stands: one expression over `urls`, `visits`, `held` and `hosts` decides."""

from __future__ import annotations

import pytest

from pycrawl.model import CONDUCT, Outcome
from pycrawl.state import documents
from pycrawl.state.database import Database
from pycrawl.state.documents import Visit
from pycrawl.state.ledger import PASSING, Filter, State, all_reasons, standing, standings, words_of
from pycrawl.state.urls_table import redirects_to
from pycrawl.urls.reasons import Reason

NOW = 1000.0
ASIDE = {
    Outcome.ROBOTS_DENIED,
    Outcome.TRAP,
    Outcome.UNWANTED_TYPE,
    Outcome.UNWANTED_LANGUAGE,
    Outcome.SOFT_404,
    Outcome.SOURCE_LIMIT,
}


def add_url(state: Database, url_id: int, aside: int = 0, host_id: int = 1) -> None:
    state.write("INSERT OR IGNORE INTO hosts (id, key) VALUES (?, ?)", (host_id, f"h{host_id}.example"))
    state.write(
        "INSERT INTO urls (id, url, host_id, depth, hops, via, parent_id, found_at, aside)"
        " VALUES (?, ?, ?, 0, 0, 0, 0, 0, ?)",
        (url_id, f"http://h{host_id}.example/{url_id}", host_id, aside),
    )


def visit(state: Database, url_id: int, outcome: Outcome, status: int = 0, document_id: int = 0) -> None:
    documents.save_visits(state, [Visit(url_id, outcome.value, status, NOW, 1, document_id=document_id)])


@pytest.mark.parametrize("outcome", Outcome)
@pytest.mark.parametrize("document_id", [0, 7])
def test_every_outcome_has_a_state(state: Database, outcome: Outcome, document_id: int) -> None:
    add_url(state, 1)
    visit(state, 1, outcome, 403 if outcome is Outcome.CLIENT_ERROR else 0, document_id)
    one = standing(state, 1)
    if outcome in ASIDE:
        expected = State.ASIDE
    elif CONDUCT[outcome].is_error and not document_id:
        expected = State.FAILED
    else:
        expected = State.DONE
    assert (one.state, one.reason) == (expected, outcome.value)
    is_older = outcome not in ASIDE and CONDUCT[outcome].is_error and document_id
    assert one.words == words_of(outcome.value) + ("; what is stored of it is older" if is_older else "")


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_was_stored_can_be_gone(state: Database, status: int) -> None:
    add_url(state, 1)
    visit(state, 1, Outcome.CLIENT_ERROR, status)
    assert standing(state, 1).state == State.FAILED
    visit(state, 1, Outcome.CLIENT_ERROR, status, 7)
    assert standing(state, 1).state == State.GONE


@pytest.mark.parametrize("reason", [reason for reason in Reason if reason.code])
def test_a_reason_to_stand_aside_is_stronger_than_a_visit(state: Database, reason: Reason) -> None:
    add_url(state, 1, reason.code)
    visit(state, 1, Outcome.FETCHED, 200, 7)
    one = standing(state, 1)
    assert (one.state, one.reason, one.setting, one.words) == (State.ASIDE, reason.value, reason.setting, reason.words)


def test_what_is_queued_and_why(state: Database) -> None:
    for url_id in (1, 2, 3):
        add_url(state, url_id)
    add_url(state, 4, host_id=2)
    visit(state, 2, Outcome.FETCHED, 200, 7)
    state.write("UPDATE visits SET requeued = 1 WHERE url_id = 2")
    state.write("INSERT INTO held VALUES (3, 1, 0)")
    state.write("UPDATE hosts SET failures = 1, trouble = 'dns-failure', ready_at = ? WHERE id = 2", (NOW + 1,))
    rows = list(standings(state, Filter(state="queued")))
    assert [(one.url_id, one.reason) for one in rows] == [(1, "new"), (2, "again"), (3, "held"), (4, "dns-failure")]
    assert [one.url_id for one in standings(state, Filter(due_at=NOW))] == [1, 2]
    assert [one.url_id for one in standings(state, Filter(due_at=NOW + 1))] == [1, 2, 4]
    state.write("UPDATE hosts SET failures = 0 WHERE id = 2")
    assert standing(state, 4).reason == "new", "the trouble is over"


def test_filters_are_joined(state: Database) -> None:
    for url_id in range(1, 5):
        add_url(state, url_id, Reason.EXTERNAL.code if url_id % 2 else Reason.HOST_DENIED.code, (url_id + 1) // 2)
    assert [one.url_id for one in standings(state, Filter(reason="external"))] == [1, 3]
    assert [one.url_id for one in standings(state, Filter(reason="external", host_ids=(2,)))] == [3]
    assert list(standings(state, Filter(reason="external", state="done"))) == []
    assert [one.url_id for one in standings(state, Filter(), 2)] == [1, 2]


def test_visits_know_since_when_they_end_alike(state: Database) -> None:
    add_url(state, 1)
    for at, status in ((1.0, 404), (2.0, 404), (3.0, 410), (4.0, 410)):
        documents.save_visits(state, [Visit(1, Outcome.CLIENT_ERROR.value, status, at, 1)])
    one = standing(state, 1)
    assert (one.visited_at, one.since) == (4.0, 3.0)


def test_redirects_are_found_by_their_target(state: Database) -> None:
    for url_id in (1, 2, 3):
        add_url(state, url_id)
    target = "http://h1.example/3"
    documents.save_visits(state, [Visit(1, "redirect", 301, NOW, 1, target), Visit(2, "http-4xx", 404, NOW, 1, target)])
    assert redirects_to(state, target, 10) == ["http://h1.example/1"]
    plan = state.query(
        "EXPLAIN QUERY PLAN SELECT url_id FROM visits WHERE outcome = 'redirect' AND detail = ?", (target,)
    ).fetchall()
    assert "visits_by_target" in str(plan)


def test_what_may_pass_is_no_fault_of_the_page() -> None:
    assert {
        Outcome.DNS_FAILURE,
        Outcome.CONNECT_FAILED,
        Outcome.TIMEOUT,
        Outcome.TOO_BUSY,
        Outcome.SERVER_ERROR,
    } <= set(PASSING)
    assert not {Outcome.CLIENT_ERROR, Outcome.FETCHED, Outcome.ROBOTS_DENIED, Outcome.BAD_RESPONSE} & set(PASSING)


def test_all_reasons_are_words_of_states() -> None:
    assert {"external", "http-4xx", "new", "held", "forgotten"} <= set(all_reasons())
    assert "not-http" not in all_reasons(), "such links are not kept"
