from __future__ import annotations

import dataclasses
import enum
import pickle

import pytest

from pycrawl import model
from pycrawl.model import CONDUCT, Kind, Outcome

JOB = model.FetchJob(
    url_id=1,
    url="http://a/",
    host_id=2,
    kind=Kind.PAGE,
    depth=3,
    hops=1,
    validators=model.Validators('"tag"', "now", b"d"),
    robots=model.RobotsFile(200, b"", 1.0, 2.0),
)
BODY = model.StoredBody(b"record", 9, b"d" * 16, "text/html", "utf-8", "big5", b"\x01", True)
CLOSE_LOOK = model.CloseLook("/0", "/…", b"12345678", (1, 2), model.Closure.SECTION, 1)
ANCHORS = model.PackedAnchors(b"1234", b"87654321", b"text", b"\x01")
NAMED = model.Named(Kind.PAGE, model.PackedLinks(b"12345678", b"http://b/", 1), 16, -1, bytes(6))
ENTRY = model.EntryDocument("http://a/feed#entry-1", 7, BODY)
SOURCE = model.SourceAnswer((NAMED,), (ENTRY,), False, b"d" * 16, 2, 60.0, 1, 2, "http://hub/", "http://a/feed")
RESULT = model.FetchResult(
    url_id=1,
    host_id=2,
    kind=Kind.PAGE,
    outcome=Outcome.FETCHED,
    started=1.0,
    ended=2.0,
    fetched_at=3.0,
    status=200,
    body=BODY,
    links=model.PackedLinks(b"12345678", b"http://b/", 1),
    anchors=ANCHORS,
    filtered={"external": 2},
    robots=model.RobotsFile(404, b"", 1.0, 2.0),
    close_look=CLOSE_LOOK,
)
VALUES = [
    JOB,
    BODY,
    RESULT,
    ANCHORS,
    CLOSE_LOOK,
    NAMED,
    ENTRY,
    SOURCE,
    CONDUCT[Outcome.TIMEOUT],
    model.NO_LINKS,
    model.NO_VALIDATORS,
    model.RobotsFile(0, b"", 1.0, 2.0),
    model.Fetched(1, 1.0, 2.0),
    model.Results((RESULT,), {"parse": 0.5}, 0, (model.Fetched(1, 1.0, 2.0),)),
    model.Jobs((JOB,), True),
]
CLASSES = [
    one
    for one in vars(model).values()
    if isinstance(one, type) and (dataclasses.is_dataclass(one) or hasattr(one, "_fields"))
]


def test_each_class_has_a_value_here() -> None:
    assert {type(value) for value in VALUES} == set(CLASSES)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_survive_a_pipe(value: object) -> None:
    assert pickle.loads(pickle.dumps(value, pickle.HIGHEST_PROTOCOL)) == value


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values_are_immutable_and_have_no_other_attributes(value: object) -> None:
    names = getattr(value, "_fields", None) or [field.name for field in dataclasses.fields(value)]  # type: ignore[arg-type]
    assert not hasattr(value, "__dict__")
    with pytest.raises(AttributeError):
        setattr(value, names[0], None)


@pytest.mark.parametrize("kind", [Kind, model.Via, model.Closure, Outcome])
def test_members_survive_a_pipe_as_themselves(kind: type[enum.Enum]) -> None:
    for member in kind:
        assert pickle.loads(pickle.dumps(member)) is member


def test_every_outcome_has_its_conduct() -> None:
    assert set(CONDUCT) == set(Outcome)


@pytest.mark.parametrize("outcome", Outcome)
def test_conduct_makes_sense(outcome: Outcome) -> None:
    conduct = CONDUCT[outcome]
    assert not (conduct.retry and conduct.goes_back), "either the URL is at fault or it is not"
    assert not conduct.shuts_origin or (conduct.goes_back and not conduct.slows_host)
    if conduct.retry or conduct.slows_host or (conduct.goes_back and outcome is not Outcome.HELD_BACK):
        assert conduct.is_error
        assert conduct.is_hit
    # Where there is no room, slots get fewer; what is held back is so as another fetch has slowed its host.
    if conduct.goes_back and outcome not in (Outcome.NO_ROOM, Outcome.HELD_BACK):
        assert conduct.slows_host or conduct.shuts_origin, "else the host would be asked for the same URL for ever"


def test_outcomes_are_words_for_users() -> None:
    for outcome in Outcome:
        assert outcome.value == outcome.value.lower()
        assert " " not in outcome.value
