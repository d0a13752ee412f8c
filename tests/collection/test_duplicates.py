"""Search and discovery over a collection that was stored by the session, without a network."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import pytest
import xxhash

from pycrawl.collection.duplicates import (
    DEFAULT_BOUNDS,
    Discovery,
    Listed,
    SearchBounds,
    Searcher,
    SearchResult,
    TextReader,
    discover,
    jaccard,
)
from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.seeding import add_seeds
from pycrawl.crawl.session import Session
from pycrawl.fingerprint.page_prints import packed
from pycrawl.model import StoredBody
from pycrawl.parse.parsers import Parsers
from pycrawl.record import trec_web
from pycrawl.state import meta
from pycrawl.state.database import Database
from pycrawl.state.documents import document
from pycrawl.store.reader import RecordReader
from tests.near_texts import edited, make_text, shingle_set

THRESHOLD = 0.9
TEXTS = TextReader(Parsers({}), "auto")
SHARE = 0.1
PLAIN = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
_Listed = TypeVar("_Listed", bound=Listed)


class Collection:
    """Pages by name, stored in this order: documents 1, 2 …"""

    def __init__(self, path: Path, pages: dict[str, tuple[bytes, str]], group: int = 3) -> None:
        self.directory = CrawlDirectory(path)
        path.mkdir()
        database = Database.create(self.directory.state)
        meta.write_first(database, 0.0)
        database.commit()
        database.close()
        with Session(self.directory, Config()) as session:
            urls = [f"http://h.example/{name}" for name in pages]
            add_seeds(session, urls, 0.0)
            for number, (url, (body, content_type)) in enumerate(zip(urls, pages.values(), strict=True), 1):
                session.store(number, url, float(number), self._stored(session.seed, url, body, content_type))
                if number % group == 0:
                    session.commit(0.0)
            session.commit_last(0.0)
        self.database = Database.open_readonly(self.directory.state)

    def _stored(self, seed: int, url: str, body: bytes, content_type: str) -> StoredBody:
        record, escapes = trec_web.encode(url, "127.0.0.1", 0.0, content_type, b"HTTP/1.1 200 OK", [], body, "wt10g")
        prints, passages = packed(TEXTS.text_of(body, content_type), seed)
        return StoredBody(
            record=trec_web.pack(record),
            body_length=len(body),
            digest=xxhash.xxh3_128_digest(body, seed),
            content_type=content_type,
            escapes=escapes,
            prints=prints,
            passages=passages,
        )

    def discover(self, threshold: float = THRESHOLD) -> Discovery:
        return discover(self.database, threshold, lambda done, total: None)

    def names(self, discovery: Discovery) -> list[list[str]]:
        return [[member.url.rpartition("/")[2] for member in cluster.members] for cluster in discovery.clusters]


def plain(text: str) -> tuple[bytes, str]:
    return text.encode(), PLAIN


def framed(text: str, frame: str) -> tuple[bytes, str]:
    links = "".join(f'<li><a href="/{word}">{word}</a></li>' for word in frame.split())
    markup = f"<!DOCTYPE html><title>{frame}</title><nav><ul>{links}</ul></nav><article><p>{text}</p></article>"
    return markup.encode(), HTML


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    dice = random.Random(1)
    text, other = make_text(dice, 400), make_text(dice, 300)
    pages = {
        "base": plain(text),
        "empty": plain(""),
        "other": plain(other),
        "near": plain(edited(dice, text, 0.96)),
        "copy": plain(text),
        "far": plain(edited(dice, text, 0.7)),
        "framed": framed(text, "home news sport weather"),
        "reframed": framed(other, "start books music films about"),
        "empty-copy": plain(""),
        "alone": plain(make_text(dice, 300)),
        "copy-of-near": plain(""),
    }
    pages["copy-of-near"] = pages["near"]
    made = Collection(tmp_path_factory.mktemp("dups") / "crawl", pages)
    yield made
    made.database.close()


def test_all_clusters_with_their_representatives(collection: Collection) -> None:
    discovery = collection.discover()
    assert collection.names(discovery) == [
        ["base", "near", "copy", "framed", "copy-of-near"],
        ["empty", "empty-copy"],
        ["other", "reframed"],
    ]
    assert (discovery.documents, discovery.compared, discovery.exact, discovery.near) == (11, 7, 3, 3)
    members = {member.url.rpartition("/")[2]: member for cluster in discovery.clusters for member in cluster.members}
    assert {name for name, member in members.items() if member.is_exact} == {"copy", "copy-of-near", "empty-copy"}
    assert members["framed"].resemblance == members["reframed"].resemblance == 1.0
    assert members["near"].resemblance == members["copy-of-near"].resemblance == pytest.approx(0.96, abs=0.05)


def test_the_crawl_has_found_the_same(collection: Collection) -> None:
    joined = collection.database.query("SELECT document_id, near_id FROM near ORDER BY document_id").fetchall()
    assert joined == [(4, 1), (7, 1), (8, 3)]
    counted = dict(collection.database.query("SELECT name, value FROM counters WHERE name LIKE 'duplicates%'"))
    assert counted == {"duplicates_exact": 3, "duplicates_near": 3}


def test_a_lower_threshold_finds_more(collection: Collection) -> None:
    assert "far" in collection.names(collection.discover(0.65))[0]
    assert "near" not in collection.names(collection.discover(1.0))[0]


def test_progress_is_told(collection: Collection) -> None:
    told: list[tuple[int, int]] = []
    discover(collection.database, THRESHOLD, lambda done, total: told.append((done, total)))
    assert told[-1] == (7, 7)


def test_an_empty_collection(tmp_path: Path) -> None:
    collection = Collection(tmp_path / "crawl", {})
    discovery = collection.discover()
    assert (discovery.clusters, discovery.documents, discovery.near) == ((), 0, 0)
    collection.database.close()


def test_search_lists_copies_and_true_resemblance(collection: Collection) -> None:
    with RecordReader(collection.directory.docs) as reader:
        searcher = Searcher(collection.database, reader, TEXTS, THRESHOLD, SHARE)
        assert searcher.find("") == SearchResult()
        text = searcher.text(document(collection.database, 1))
        found = searcher.find(text, apart_from=1).near
        near = searcher.text(document(collection.database, 4))
    assert [(one.url.rpartition("/")[2], one.copy_of) for one in found] == [
        ("copy", 1),
        ("framed", 0),
        ("near", 0),
        ("copy-of-near", 4),
    ]
    assert [one.true for one in found[:2]] == [1.0, 1.0]
    assert found[0].simhash_distance == 0
    assert found[2].true == found[3].true == jaccard(text, near)
    assert found[2].estimate == pytest.approx(jaccard(text, near), abs=0.06)


# Passages


class Library:
    """A collection whose documents contain parts of each other in known amounts."""

    def __init__(self, path: Path) -> None:
        dice = random.Random(2)
        self.release = make_text(dice, 200)
        self.book = make_text(dice, 40_000)  # more than its selected fingerprints are kept of
        words = self.release.split()
        quotation = " ".join(words[20:140])
        shuffled = words.copy()
        dice.shuffle(shuffled)
        frame = make_text(dice, 100)
        self.pages = {
            "release": plain(self.release),
            "article": plain(f"{make_text(dice, 300)} {self.release} {make_text(dice, 300)}"),
            "article-copy": plain(""),
            "quotation": plain(f"{make_text(dice, 100)} {quotation} {make_text(dice, 100)}"),
            "part": plain(" ".join(words[:150])),
            "mention": plain(f"{make_text(dice, 2_000)} {' '.join(words[:18])}"),
            "near": plain(edited(dice, self.release, 0.97)),
            "shuffled": plain(" ".join(shuffled)),
            "book": plain(self.book),
            "alone": plain(make_text(dice, 300)),
            **{f"framed-{number}": plain(f"{make_text(dice, 60)} {frame}") for number in range(30)},
        }
        self.pages["article-copy"] = self.pages["article"]
        self.frame = frame
        self.collection = Collection(path, self.pages, group=4)
        self.database = self.collection.database

    def ask(
        self, text: str, named: str = "", share: float = SHARE, bounds: SearchBounds = DEFAULT_BOUNDS
    ) -> SearchResult:
        asked = list(self.pages).index(named) + 1 if named else 0
        with RecordReader(self.collection.directory.docs) as reader:
            return Searcher(self.database, reader, TEXTS, THRESHOLD, share, bounds).find(text, asked)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    made = Library(tmp_path_factory.mktemp("passages") / "crawl")
    yield made
    made.database.close()


def named(found: list[_Listed]) -> dict[str, _Listed]:
    return {one.url.rpartition("/")[2]: one for one in found}


def test_what_contains_the_text_or_is_contained_in_it(library: Library) -> None:
    answer = library.ask(library.release, "release")
    assert [one.url.rpartition("/")[2] for one in answer.near] == ["near"]
    found = named(answer.sharing)
    assert list(found) == ["article", "article-copy", "part", "quotation"], "the largest share first"
    windows = shingle_set(library.release)
    for name, one in found.items():
        theirs = shingle_set(library.pages[name][0].decode())
        assert one.shared == len(windows & theirs)
        assert one.of_asked == pytest.approx(one.shared / len(windows))
        assert one.of_it == pytest.approx(one.shared / len(theirs))
    assert found["article"].of_asked == found["part"].of_it == 1.0
    assert found["article-copy"].copy_of == found["article"].document_id
    assert [one.url.rpartition("/")[2] for one in answer.reordered] == ["shuffled"]
    assert (answer.reordered[0].simhash_distance, answer.reordered[0].words) == (0, 1.0)
    assert answer.unread == 0


def test_the_share_can_be_chosen(library: Library) -> None:
    assert list(named(library.ask(library.release, share=0.9).sharing)) == ["article", "article-copy", "part"]
    assert "near" in named(library.ask(library.release, share=0.9).near)


def test_from_the_other_side(library: Library) -> None:
    article = library.pages["article"][0].decode()
    answer = library.ask(article, "article")
    found = named(answer.sharing)
    assert {"release", "near", "part", "quotation"} == set(found)
    assert found["release"].of_it == 1.0
    assert found["release"].of_asked == pytest.approx(0.25, abs=0.02)
    assert [one.url.rpartition("/")[2] for one in answer.near] == ["article-copy"], "itself apart"


def test_a_chapter_of_a_long_text(library: Library) -> None:
    chapter = " ".join(library.book.split()[20_000:21_500])
    (found,) = library.ask(chapter).sharing
    assert found.url.endswith("/book")
    assert found.of_asked == 1.0


def test_a_short_text_is_found_too(library: Library) -> None:
    words = library.release.split()
    short = [" ".join(words[begin : begin + 40]) for begin in range(0, 160, 40)]
    found = [set(named(library.ask(text).sharing)) for text in short]
    assert sum("article" in names for names in found) >= 3


def test_what_many_documents_have_is_passed_over(library: Library) -> None:
    text = f"{make_text(random.Random(3), 60)} {library.frame}"
    assert len(library.ask(text).sharing) == 30
    assert library.ask(text, bounds=SearchBounds(common=29)).sharing == []


def test_only_so_many_texts_are_read(library: Library) -> None:
    answer = library.ask(library.release, "release", bounds=SearchBounds(compared=2))
    found = named(answer.sharing)
    assert len(found) == 3, "two, and a copy of one"
    assert "article" in found
    assert answer.unread == 1
    assert library.ask(library.release, "release", bounds=SearchBounds(reordered=0)).reordered == []


def test_true_resemblance() -> None:
    assert jaccard("", "") == 1.0
    assert jaccard("a b c d e", "") == 0.0
    assert jaccard("a b c d e", "A, b; c: d. E!") == 1.0
    assert jaccard("a b c d e", "a b c d f") == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (b"some words", "text/plain", "some words"),
        ("Grüße".encode("latin-1"), "text/plain; charset=iso-8859-1", "Grüße"),
        (b"%PDF-1.4", "application/pdf", ""),
    ],
)
def test_the_text_of_other_types(body: bytes, content_type: str, text: str) -> None:
    assert TEXTS.text_of(body, content_type) == text
