"""What `documents` and `visits` hold in short forms is read as it was written."""

from __future__ import annotations

from email.utils import formatdate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pycrawl.state import documents, schema
from pycrawl.state.database import Database
from pycrawl.state.documents import Document, Visit
from pycrawl.state.figures import by_type
from pycrawl.state.short_columns import long_date, long_type, short_date, short_type

DIGEST = bytes(range(16))
BEFORE = schema.STEPS[: schema.STEPS.index(schema._SHORT_COLUMNS)]


@given(st.integers(0, 250_000_000_000))
def test_dates_take_a_third(seconds: int) -> None:
    text = formatdate(seconds, usegmt=True)
    assert len(short_date(text)) <= 11
    assert long_date(short_date(text)) == text


@given(st.text(max_size=30) | st.from_regex(r"[@=0-9][@=0-9a-f]{0,9}", fullmatch=True))
def test_any_text_is_kept(text: str) -> None:
    assert long_date(short_date(text)) == text
    assert long_type(short_type(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "Wed, 14 Nov 2023 22:13:20 GMT",  # a Tuesday
        "Tue, 14 Nov 2023 22:13:60 GMT",
        "Tue, 14 Nov 2023 25:13:20 GMT",
        "Tue, 31 Nov 2023 22:13:20 GMT",
        "Tue, 14 nov 2023 22:13:20 GMT",
        "Tue, 14 Nov 2023 22:13:20 UTC",
        "Tue, +4 Nov 2023 22:13:20 GMT",
        "Thu, 01 Jan 1969 00:00:00 GMT",
    ],
)
def test_what_is_no_such_date_stays_as_it_is(text: str) -> None:
    assert short_date(text) == text


def row(number: int, content_type: str) -> Document:
    return Document(number, number, number, 0.0, 1, 0, 0, number, 10, DIGEST, content_type, "", "", b"", 0, 0)


def test_rows_are_read_as_written(tmp_path: Path) -> None:
    types = ["text/html; charset=utf-8", "text/html", "1", "=1", "Text/HTML;charset=x", ""]
    database = Database.create(tmp_path / "state.db")
    rows = [row(number, content_type) for number, content_type in enumerate(types, 1)]
    documents.save_documents(database, rows)
    assert list(documents.documents_in_order(database)) == rows
    assert {one.name: one.documents for one in by_type(database)} == {"text/html": 3, "1": 1, "=1": 1, "": 1}
    visits = [
        Visit(1, "fetched", 200, 50.0, 1, "", '"1"', formatdate(1e9, usegmt=True), DIGEST, 1),
        Visit(2, "not-modified", 304, 60.0, 1, "", "", "@5f", b"other", 2),
        Visit(3, "http-4xx", 404, 70.0, 1),
    ]
    documents.save_visits(database, visits)
    assert [documents.visit_of(database, one.url_id) for one in visits] == visits
    assert database.query("SELECT typeof(digest) FROM visits ORDER BY id").fetchall() == [
        ("integer",),
        ("blob",),
        ("blob",),
    ]
    database.close()


def test_what_an_older_release_wrote_is_read_as_it_stands(tmp_path: Path) -> None:
    database = Database.create(tmp_path / "state.db", BEFORE)
    types = ["text/html; charset=utf-8", "1", "=", ""]
    for number, content_type in enumerate(types, 1):
        database.write(
            f"INSERT INTO documents VALUES ({', '.join('?' * len(Document._fields))})", row(number, content_type)
        )
    dates = [formatdate(1e9, usegmt=True), "@5f", ""]
    for number, modified in enumerate(dates, 1):
        database.write(
            "INSERT INTO visits (url_id, outcome, status, visited_at, tries, detail, etag, last_modified, digest,"
            " document_id, since) VALUES (?, 'fetched', 200, 9, 1, '', '', ?, ?, ?, 7)",
            (number, modified, DIGEST, number),
        )
    database.commit()
    database.close()
    database = Database.open(tmp_path / "state.db")
    assert [one.content_type for one in documents.documents_in_order(database)] == types
    assert [one.last_modified for _, one in documents.last_visits(database, ["fetched"], 9)] == []  # no URLs are known
    found = database.query(f"SELECT {documents._VISIT}, {documents.SINCE} FROM visits ORDER BY id").fetchall()
    assert [long_date(one[7]) for one in found] == dates
    assert {(one[8], one[-1]) for one in found} == {(DIGEST, 7.0)}
    database.close()
