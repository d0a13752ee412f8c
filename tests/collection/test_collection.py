"""`Collection`: documents by URL, by time and one after the other."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from pycrawl import Collection, Crawl
from pycrawl.collection.collection import NoDocument
from pycrawl.collection.fields import FIELDS, as_json
from pycrawl.collection.times import Time, timestamp
from pycrawl.errors import ConfigError, StateError, UsageError
from tests.collection.conftest import Odd
from tests.collection.odd_web import HOME, PAGES, SETTINGS, body_as_stored
from tests.e2e.site import Reply, Site, page


@pytest.mark.parametrize("path", PAGES)
def test_a_document_is_what_was_served(odd: Odd, path: str) -> None:
    kind, body, headers = PAGES[path]
    document = odd.collection[odd.url + path]
    assert document.body == body_as_stored(path)
    assert document.length == len(document.body)
    assert (document.status, document.content_type) == (200, kind)
    if not document.is_copy:
        assert document.header("content-length") == str(len(body))
        assert set(headers.items()) <= set(document.headers)


def test_what_is_read_off_a_page(odd: Odd) -> None:
    latin = odd.collection[odd.url + "/latin"]
    assert (latin.title, latin.language, latin.text) == ("Größe", "de", "Größe\nÄrger")
    assert (latin.charset, latin.declared_charset) == ("windows-1252", "windows-1252")
    home = odd.collection[odd.url]
    assert [(link.url, link.anchor) for link in home.links][: len(PAGES)] == [
        (odd.url + path, f"about {path[1:]}") for path in PAGES
    ]
    assert [link.nofollow for link in home.links].count(True) == 1
    prints = odd.collection[odd.url + "/big"].fingerprints
    assert prints is not None
    assert prints.words > 100_000
    assert odd.collection[odd.url + "/empty"].fingerprints is None


def test_a_redirect_that_was_seen_is_followed(odd: Odd) -> None:
    assert odd.collection[odd.url + "/again"].url == odd.url + "/latin"


def test_what_is_not_there(odd: Odd) -> None:
    assert odd.url + "/nowhere" not in odd.collection
    assert odd.collection.get(odd.url + "/nowhere") is None
    with pytest.raises(KeyError, match="no document is stored"):
        odd.collection[odd.url + "/nowhere"]
    with pytest.raises(NoDocument, match="from before that time"):
        odd.collection.at(odd.url, 5.0)
    with pytest.raises(UsageError, match="not an http or https URL"):
        odd.collection["mailto:me"]
    assert "mailto:me" not in odd.collection
    assert odd.collection.get("mailto:me") is None
    with pytest.raises(TypeError, match="expected a URL as text, found 0"):
        odd.collection[0]  # type: ignore[index]  # what somebody may try


def test_every_document_comes_once_in_every_order(odd: Odd) -> None:
    by_crawl = list(odd.collection)
    assert len(by_crawl) == len(odd.collection) == len(PAGES) + 1
    assert {one.url for one in by_crawl} == {odd.url + path for path in ["/", *PAGES]}
    by_time = list(odd.collection.documents("time"))
    assert by_time == sorted(by_crawl, key=attrgetter("timestamp"))
    assert set(odd.collection.documents("host")) == set(by_crawl)
    with pytest.raises(UsageError, match="order: expected crawl or host or time, found 'size'"):
        odd.collection.documents("size")


def test_filters(odd: Odd) -> None:
    some = odd.collection.documents
    assert {one.url for one in some(language="en")} == {odd.url + "/", odd.url + "/zipped"}
    assert len(list(some(status="2xx"))) == len(odd.collection)
    assert not list(some(status=404))
    assert not list(some(since=time.time() + 1))
    assert len(list(some(until=datetime.now(UTC)))) == len(odd.collection)
    assert len(list(some(host="127.0.0.1"))) == len(odd.collection)
    with pytest.raises(UsageError, match="host: the crawl knows no host"):
        some(host="example.com")
    with pytest.raises(UsageError, match="status: expected a number"):
        some(status="9xx")


def test_copies_and_clusters(odd: Odd) -> None:
    (cluster,) = [[one.url for one in documents] for documents in odd.collection.duplicates]
    assert sorted(cluster) == [odd.url + "/copied", odd.url + "/copy"]
    for dedup in ("exact", "near"):
        for keep in ("oldest", "best"):
            kept = list(odd.collection.documents(dedup=dedup, keep=keep))
            assert len(kept) == len(odd.collection) - 1
    original, copy = (odd.collection[url] for url in cluster)
    assert (original.is_copy, copy.is_copy) == (False, True)
    assert copy.cluster == original.cluster == original.docno != copy.docno


def test_docnos_lead_back(odd: Odd) -> None:
    documents = list(odd.collection)
    assert len({one.docno for one in documents}) == len(documents)
    for document in documents:
        assert odd.collection.by_docno(document.docno) == document
    with pytest.raises(NoDocument):
        odd.collection.by_docno("WTX001-B01-999")
    with pytest.raises(UsageError, match="expected a DOCNO"):
        odd.collection.by_docno("17")


def test_cells_are_fields_headers_and_anchors(odd: Odd) -> None:
    url = odd.url + "/zipped"
    assert odd.collection.cell(url, "title") == "Zipped"
    assert odd.collection.cell(url, "body") == body_as_stored("/zipped")
    assert odd.collection.cell(url, "header:x-odd") == "a  b"
    assert odd.collection.cell(url, "header:x-none") is None
    assert odd.collection.cell(url, f"anchor:{odd.url}/") == "about zipped"
    assert odd.collection.cell(url, f"anchor:{odd.url}/nowhere") is None
    assert odd.collection.cell(url, "title", time.time()) == "Zipped"
    with pytest.raises(NoDocument):
        odd.collection.cell(url, "title", "2001-01-01")
    with pytest.raises(UsageError, match="expected some of url, "):
        odd.collection.cell(url, "colour")


def test_in_links_have_anchors(odd: Odd) -> None:
    (link,) = odd.collection.links.into(odd.url + "/nul")
    assert (link.url, link.anchor) == (odd.url + "/", "about nul")
    assert odd.collection.links.out(odd.url) == odd.collection[odd.url].links


def test_fields_are_values_of_json(odd: Odd) -> None:
    values = as_json(odd.collection[odd.url], FIELDS.values())
    assert values["url"] == odd.url + "/"
    assert values["time"].endswith("Z")
    assert datetime.fromisoformat(values["time"]) == odd.collection[odd.url].time
    assert HOME.startswith(b"<html")


def test_versions_by_time(tmp_path: Path) -> None:
    with Site({"/": page(text="one two three four five")}) as site:
        crawl = Crawl.create(tmp_path / "crawl", [site.url], **SETTINGS, recrawl={"min_interval": 0})
        crawl.run()
        between = time.time()
        site.pages["/"] = Reply("<title>Other</title><p>entirely other words stand here now, and more of them")
        crawl.run(recrawl=True)
        with crawl.collection as collection:
            old, new = collection.versions(site.url)
            assert collection.at(site.url, between) == old
            assert collection[site.url] == new
            assert (old.title, new.title) == ("A page", "Other")
            assert list(collection.documents(newest=True)) == [new]
            assert list(collection.documents()) == [old, new]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (1_800_000_000, 1_800_000_000.0),
        ("1800000000.5", 1_800_000_000.5),
        ("2026-03-01T12:30:00+01:00", datetime(2026, 3, 1, 11, 30, tzinfo=UTC).timestamp()),
        ("2026-03-01 12:30", datetime(2026, 3, 1, 12, 30).timestamp()),
        (datetime(2026, 3, 1, 12, 30), datetime(2026, 3, 1, 12, 30).timestamp()),
        (date(2026, 3, 1), datetime(2026, 3, 1).timestamp()),
        ("2026", datetime(2026, 1, 1).timestamp()),
        ("20260301", datetime(2026, 3, 1).timestamp()),
        ("20260301123000", datetime(2026, 3, 1, 12, 30).timestamp()),
    ],
)
def test_times_are_read_as_people_write_them(given: Time, meant: float) -> None:
    assert timestamp(given) == meant


@pytest.mark.parametrize("given", ["yesterday", "nan", float("nan"), "20261301", "2026-03", "", None])
def test_what_is_no_time(given: Any) -> None:
    with pytest.raises(UsageError, match="expected a time such as"):
        timestamp(given)


def test_how_long_ago_it_was() -> None:
    assert abs(time.time() - 7_200 - timestamp("2h")) < 60


def test_a_closed_collection_says_so(odd: Odd) -> None:
    with Collection(odd.path) as collection:
        assert repr(collection) == f"Collection({str(odd.path)!r})"
    with pytest.raises(StateError, match="was closed"):
        collection[odd.url]
    with pytest.raises(StateError, match="was closed"):
        list(collection)


def test_a_directory_without_a_crawl(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pycrawl init"):
        Collection(tmp_path)
