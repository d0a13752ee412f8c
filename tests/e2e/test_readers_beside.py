"""Programs that read the collection while `compact` and `forget` write its compound files anew."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl import Collection
from pycrawl.collection.document import Document
from pycrawl.errors import StoreError
from pycrawl.record import trec_web
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.site import Reply, Site, page

PAGES = 30
SETTINGS: Settings = {
    "traps": {"novelty": False, "soft_404": False},
    "recrawl": {"min_interval": 0, "keep_versions": 0, "keep": ["cosmetic", "edited", "rewritten"]},
    "store": {"file_size": 9_000},
}
NEWEST_ONLY: Settings = {**SETTINGS, "recrawl": {**SETTINGS["recrawl"], "keep_versions": 1}}


def body(number: int, version: int) -> bytes:
    words = " ".join(f"word{number * number + version * index}" for index in range(60 + number))
    return f"<title>Page {number}, version {version}</title><p>{words}</p>".encode()


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    """Three versions of each page, in several compound files."""
    site = Site({"/": page(*(f"/{number}" for number in range(PAGES)))})
    with site:
        crawl = Crawl.make(tmp_path / "crawl", [site.url + "/"], SETTINGS)
        for version in range(3):
            for number in range(PAGES):
                site.pages[f"/{number}"] = Reply(body(number, version).decode())
            crawl.run("crawl", "--recrawl")
        assert len(crawl.compound_files()) > 2
        yield crawl


def read(document: Document) -> bytes | None:
    """The document's body, which its record as stored agrees with; None if it was removed meanwhile."""
    try:
        whole = trec_web.unpack(document.stored_record)
        assert document.body in whole
    except StoreError as error:
        if "was removed from the collection" not in str(error):
            raise
        return None
    return document.body


def test_rows_that_were_read_before_lead_to_records_that_have_moved(crawl: Crawl) -> None:
    with Collection(crawl.path) as collection:
        before = {one.docno: one.body for one in collection}  # its compound files are open from now on
        documents = list(collection)
        crawl.configure(NEWEST_ONLY)
        crawl.run("compact")
        forgotten = next(one.url for one in documents if one.url.endswith("/7"))
        crawl.run("forget", "--yes", forgotten)
        kept = {docno for docno, _, _ in crawl.records()}
        found = {one.docno: read(one) for one in documents}
        assert kept <= {docno for docno, text in found.items() if text is not None}
        assert all(before[docno] == text for docno, text in found.items() if text is not None)
        assert {one.docno: one.body for one in collection} == {docno: before[docno] for docno in kept}


@pytest.mark.parametrize("command", [["compact"], ["forget", "--yes", "--prefix", "{url}1"]])
def test_an_iteration_goes_on_while_files_are_written_anew(crawl: Crawl, command: list[str]) -> None:
    with Collection(crawl.path) as collection:
        before = {one.docno: one.body for one in collection}
        root = next(one.url for one in collection if one.url.endswith("/"))
        crawl.configure(NEWEST_ONLY)
        words = [word.format(url=root) for word in command]
        process = subprocess.Popen([sys.executable, "-m", "pycrawl", *words, "-C", crawl.path])
        rounds = 0
        while process.poll() is None or not rounds:
            rounds += 1
            for document in collection:
                text = read(document)
                assert text is None or text == before[document.docno]
        assert process.returncode == 0
        assert len(before) > len({one.docno: one.body for one in collection}) > 0
    crawl.verify()
