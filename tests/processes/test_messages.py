"""Messages between processes: what is ours crosses unchanged, and whatever else comes is told apart."""

from __future__ import annotations

import os
import pickle
import random
from enum import Enum
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pycrawl import model
from pycrawl.fingerprint.page_prints import RECORD
from pycrawl.model import FetchResult, Jobs, Outcome, PackedLinks, Results, StoredBody
from pycrawl.processes.messages import BadMessage, pack, size_of, unpack_jobs, unpack_results
from pycrawl.processes.plain_pickle import is_plain, is_plain_slowly
from pycrawl.urls.link_flags import MOST_ANCHORS
from pycrawl.urls.reasons import Reason
from tests.test_model import BODY, JOB, RESULT

TEXT = st.text(max_size=20)
NUMBER = st.integers(0, 2**40)
SECONDS = st.floats(0, 1e9)
CODES = st.sampled_from([0, 1, 4])


ANCHORS = st.lists(st.tuples(st.text("aü €", max_size=40), st.integers(0, 15)), max_size=4).map(
    lambda many: model.PackedAnchors(
        b"1234" * len(many),
        b"87654321" * len(many),
        b"\n".join([text.encode() for text, _ in many]),
        bytes(flags for _, flags in many),
    )
)


@st.composite
def links(draw: st.DrawFn, least: int = 0, most_more: int = 3) -> PackedLinks:
    count = draw(st.integers(least, 5))
    texts = b"\n".join(b"http%s://h%d.example/%d" % (b"s" * (one % 2), one, one) for one in range(count))
    more = 0 if not count else draw(st.integers(0, most_more))
    verdicts = bytes(draw(st.lists(CODES, min_size=count, max_size=count)))
    return PackedLinks(b"12345678" * (count + more), texts, count, verdicts)


BODIES = st.builds(
    StoredBody, st.binary(min_size=1, max_size=50), NUMBER, st.binary(min_size=16, max_size=16), TEXT, TEXT, TEXT,
    st.binary(max_size=9), st.booleans(), st.sampled_from([b"", bytes(RECORD.size)]), st.booleans(),
    st.sampled_from([b"", bytes(16)]),
)  # fmt: skip
LOOKS = st.builds(
    model.CloseLook, TEXT, TEXT, st.sampled_from([b"", bytes(80)]),
    st.lists(st.integers(0, 2**64 - 1), max_size=3).map(tuple), st.sampled_from(model.Closure), NUMBER,
)  # fmt: skip
ROBOTS = st.builds(model.RobotsFile, NUMBER, st.binary(max_size=30), SECONDS, SECONDS, SECONDS)
NAMED = st.builds(
    lambda links, kind, ask, rise: model.Named(kind, links, ask, rise, bytes(6 * links.texts_count)),
    links(1, 0), st.sampled_from([model.Kind.PAGE, model.Kind.SITEMAP]), st.integers(0, 255), st.integers(-8, 8),
)  # fmt: skip
SOURCES = st.builds(
    model.SourceAnswer, st.lists(NAMED, max_size=2).map(tuple),
    st.lists(st.builds(model.EntryDocument, st.just("http://a/f#entry-1"), NUMBER, BODIES), max_size=2).map(tuple),
    st.booleans(), st.sampled_from([b"", bytes(16)]), NUMBER, SECONDS, st.integers(0, 2**24 - 1), st.integers(0, 127),
    st.sampled_from(["", "https://hub.example/"]), TEXT,
)  # fmt: skip
COUNTS = st.dictionaries(st.sampled_from(["not-a-url", "scheme", "too-long"]), NUMBER, max_size=3)
RESULTS = st.builds(
    FetchResult,
    url_id=NUMBER, host_id=NUMBER, kind=st.sampled_from(model.Kind),
    outcome=st.sampled_from([one for one in Outcome if one is not Outcome.REDIRECT]),
    started=SECONDS, ended=SECONDS, fetched_at=SECONDS, status=NUMBER, detail=TEXT, address=TEXT, wire_bytes=NUMBER,
    retry_after=SECONDS, etag=TEXT, last_modified=TEXT, hops=NUMBER, cookies=TEXT,
    location=st.sampled_from(["", "https://a.example/x?y"]), location_hash=st.integers(0, 2**64 - 1),
    location_verdict=CODES, body=st.none() | BODIES, links=links(), anchors=st.none() | ANCHORS,
    withheld=st.lists(st.tuples(st.integers(0, 15), links()), max_size=2).map(tuple), filtered=COUNTS,
    length=st.integers(-1, 2**40),
    robots=st.none() | ROBOTS, close_look=st.none() | LOOKS, source=st.none() | SOURCES,
).map(lambda one: one if one.links.hashes else one._replace(anchors=None))  # fmt: skip
FETCHED = st.builds(model.Fetched, NUMBER, SECONDS, SECONDS)
BATCHES = st.builds(
    Results, st.lists(RESULTS, max_size=3).map(tuple), COUNTS, NUMBER, st.lists(FETCHED, max_size=2).map(tuple)
)


@given(BATCHES)
def test_results_cross_unchanged(batch: Results) -> None:
    assert unpack_results(pack(batch)) == batch
    assert type(unpack_results(memoryview(pack(batch)))) is Results
    for before, after in zip(batch.results, unpack_results(pack(batch)).results, strict=True):
        assert after.outcome is before.outcome
        assert after.kind is before.kind
        assert type(after.links) is PackedLinks


def test_jobs_cross_unchanged() -> None:
    for batch in (Jobs(), Jobs((JOB, JOB._replace(robots=None, kind=model.Kind.PROBE)), True)):
        assert unpack_jobs(pack(batch)) == batch


def test_texts_that_are_members_of_an_enum_cross_as_texts() -> None:
    odd = RESULT._replace(detail=Reason.SCHEME, body=None, filtered={Reason.TOO_LONG: 2, Reason.NOT_HTTP: 1})
    batch = unpack_results(pack(Results((odd, RESULT._replace(body=BODY)))))
    assert batch.results[0] == odd
    assert [type(name) for name in batch.results[0].filtered] == [str, str]
    assert type(batch.results[0].detail) is str


def test_the_size_of_a_result() -> None:
    huge = RESULT._replace(
        body=BODY._replace(record=bytes(1000)), withheld=((1, PackedLinks(bytes(80), bytes(500), 10, b"")),)
    )
    assert 1_500 < size_of(huge) < len(pack(Results((huge,))))


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("/nowhere/to/be/made",)


def plain(**changed: Any) -> bytes:
    """A message of one result in which plain values were replaced, as a fetcher in a bad state could send it."""
    values = pickle.loads(pack(Results((RESULT._replace(body=BODY),))))
    for name, value in changed.items():
        values[0][0][FetchResult._fields.index(name)] = value
    return pickle.dumps(values)


MOST_ROWS = MOST_ANCHORS + 2  # one more than there may be of a page with one link
LINKS_FIELD = [b"12345678", b"http://b/", 1, b"\0"]
REDIRECT = {"outcome": "redirect"}
BAD = {
    "nothing": b"",
    "no pickle": b"rubbish",
    "cut": pack(Results((RESULT,)))[:-5],
    "something else": pickle.dumps([1, 2, 3]),
    "a text": pickle.dumps("text"),
    "a number": pickle.dumps(5),
    "a dict": pickle.dumps({0: 1}),
    "too few": pickle.dumps([[], {}]),
    "too many": pickle.dumps([[], {}, 0, 0]),
    "a call": pickle.dumps(Evil()),
    "a call inside": pickle.dumps([[Evil()], {}, 0]),
    "a class": pickle.dumps([[FetchResult], {}, 0]),
    "our own values": pickle.dumps(Results((RESULT,))),
    "an exception": pickle.dumps(ValueError("x")),
    "jobs": pack(Jobs((JOB,))),
    "an attribute": b"\x80\x04cbuiltins\neval\n.",
    "persistent": b"\x80\x04Px\n.",
    "a result that is a text": pickle.dumps([["x"], {}, 0]),
    "url_id is a text": plain(url_id="1"),
    "url_id is a truth": plain(url_id=True),
    "url_id is huge": plain(url_id=10**4000),
    "url_id is negative": plain(url_id=-1),
    "status is huge": plain(status=2**63),
    "wire_bytes is huge": plain(wire_bytes=2**63),
    "time is no number": plain(ended=float("nan")),
    "time is endless": plain(ended=float("inf")),
    "time is huge": plain(ended=10**400),
    "kind unknown": plain(kind=77),
    "outcome unknown": plain(outcome="eaten"),
    "outcome a list": plain(outcome=[]),
    "detail cannot be written": plain(detail="\udc80"),
    "etag is bytes": plain(etag=b"x"),
    "hashes cut": plain(links=[b"1234567", b"", 0, b""]),
    "more texts than hashes": plain(links=[b"12345678", b"http://a/\nhttp://b/", 2, b"\0\0"]),
    "fewer texts than said": plain(links=[b"12345678" * 2, b"http://a/", 2, b"\0\0"]),
    "more texts than said": plain(links=[b"12345678" * 2, b"http://a/\nhttp://b/", 1, b"\0"]),
    "negative count": plain(links=[b"12345678", b"", -1, b""]),
    "no URL": plain(links=[b"12345678", b"javascript:x", 1, b"\0"]),
    "no path": plain(links=[b"12345678", b"http://a", 1, b"\0"]),
    "no host": plain(links=[b"12345678", b"http:///x", 1, b"\0"]),
    "second is no URL": plain(links=[b"12345678" * 2, b"http://a/\nx", 2, b"\0\0"]),
    "not ASCII": plain(links=[b"12345678", b"http://a/\xff", 1, b"\0"]),
    "verdict unknown": plain(links=[b"12345678", b"http://a/", 1, b"\xfe"]),
    "too few verdicts": plain(links=[b"12345678" * 2, b"http://a/\nhttp://b/", 2, b"\0"]),
    "texts without hashes": plain(links=[b"", b"http://a/", 0, b""]),
    "links missing": plain(links=None),
    "anchors without places": plain(anchors=[b"", b"", b"a", b"\0"]),
    "anchors without text hashes": plain(anchors=[b"1234", b"", b"a", b"\0"]),
    "more anchors than said": plain(anchors=[b"1234", b"12345678", b"a\nb", b"\0"]),
    "anchor not UTF-8": plain(anchors=[b"1234", b"12345678", b"\xff", b"\0"]),
    "flags of an anchor unknown": plain(anchors=[b"1234", b"12345678", b"a", b"\x10"]),
    "too many anchors": plain(
        anchors=[bytes(4 * MOST_ROWS), bytes(8 * MOST_ROWS), b"\n" * (MOST_ROWS - 1), bytes(MOST_ROWS)]
    ),
    "anchors without links": plain(links=[b"", b"", 0, b""], anchors=[b"1234", b"12345678", b"a", b"\0"]),
    "withheld is a dict": plain(withheld={}),
    "a source with a digest that is none": plain(source=[[], [], False, b"12", 0, 0.0, 0, 0, "", ""]),
    "a source whose hub is no URL": plain(source=[[], [], False, b"", 0, 0.0, 0, 0, "javascript:x", ""]),
    "a source with URLs without texts": plain(
        source=[[[0, [b"12345678", b"", 0, b""], 0, 0, b""]], [], False, b"", 0, 0.0, 0, 0, "", ""]
    ),
    "a source with hints of another number of URLs": plain(
        source=[[[0, LINKS_FIELD, 0, 0, bytes(12)]], [], False, b"", 0, 0.0, 0, 0, "", ""]
    ),
    "a source whose hints are rubbish": plain(
        source=[[[0, LINKS_FIELD, 0, 0, b"\xfe" * 6]], [], False, b"", 0, 0.0, 0, 0, "", ""]
    ),
    "withheld of three": plain(withheld=[[1, LINKS_FIELD, 3]]),
    "withheld without number": plain(withheld=[[300, LINKS_FIELD]]),
    "redirect to nowhere": plain(**REDIRECT, location=""),
    "redirect to no URL": plain(**REDIRECT, location="javascript:x"),
    "redirect to two URLs": plain(**REDIRECT, location="http://a/\nhttp://b/"),
    "redirect's hash": plain(**REDIRECT, location="http://a/", location_hash=2**64),
    "redirect's verdict": plain(**REDIRECT, location="http://a/", location_verdict=254),
    "redirect's verdict is huge": plain(**REDIRECT, location="http://a/", location_verdict=2**70),
    "body is a text": plain(body="x"),
    "digest short": plain(body=[*pickle.loads(plain())[0][0][FetchResult._fields.index("body")][:2], b"d", *BODY[3:]]),
    "prints odd": plain(body=list(BODY._replace(prints=b"x"))),
    "passages odd": plain(body=list(BODY._replace(passages=b"x"))),
    "no record": plain(body=list(BODY._replace(record=b""))),
    "type cannot be written": plain(body=list(BODY._replace(content_type="\ud800"))),
    "look odd": plain(close_look=["", "", b"123", [], 0, 0]),
    "look's keys": plain(close_look=["", "", b"", ["x"], 0, 0]),
    "counts are texts": plain(filtered={"x": "y"}),
    "counts of numbers": plain(filtered={1: 1}),
    "counts are negative": plain(filtered={"x": -1}),
    "counts without end": plain(filtered={str(number): 1 for number in range(5_000)}),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_ours(name: str) -> None:
    with pytest.raises(BadMessage):
        unpack_results(BAD[name])


@given(st.binary(max_size=300))
@example(b"\x80\x04\x8c")
def test_rubbish(data: bytes) -> None:
    with pytest.raises(BadMessage):
        unpack_results(data)


def test_a_number_does_not_make_a_table_of_its_size() -> None:
    """LONG_BINPUT: without a look at the opcodes, 64 GB would be taken and filled."""
    with pytest.raises(BadMessage):
        unpack_results(b"\x80\x05]r\xff\xff\xff\xff.")


@settings(deadline=None)  # the machine may be busy
@given(BATCHES)
def test_messages_of_ours_are_plain(batch: Results) -> None:
    data = pack(batch)
    assert is_plain(data)
    assert is_plain_slowly(data)
    for length in range(0, len(data), 1 + len(data) // 200):
        assert is_plain(data[:length]) is is_plain_slowly(data[:length]) is False


@given(BATCHES, st.randoms(use_true_random=False))
def test_a_byte_that_was_changed_raises_nothing_else(batch: Results, chance: random.Random) -> None:
    """What is read all the same is a message of ours, with values in which the coordinator finds nothing odd."""
    data = bytearray(pack(batch))
    data[chance.randrange(len(data))] = chance.randrange(256)
    try:
        found = unpack_results(bytes(data))
    except BadMessage:
        return
    assert unpack_results(pack(found)) == found


def plain_types(hint: Any) -> set[str]:
    """The names of the types that an annotation of a field is made of."""
    if isinstance(hint, UnionType) or get_origin(hint) is not None:
        return {name for one in get_args(hint) if one is not Ellipsis for name in plain_types(one)}
    is_ours = isinstance(hint, type) and (issubclass(hint, Enum) or hasattr(hint, "_fields") or hint is NoneType)
    return set() if is_ours else {hint.__name__}


def test_all_fields_have_types_that_can_cross() -> None:
    for cls in (FetchResult, model.FetchJob, StoredBody, PackedLinks, model.CloseLook, model.RobotsFile, Results, Jobs):
        for hint in get_type_hints(cls).values():
            assert plain_types(hint) <= {"int", "float", "str", "bytes", "bool"}
