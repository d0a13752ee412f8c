"""Imports: pages that others have stored come into the collection as fetched ones do, once."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pycrawl import Collection, Crawl
from pycrawl.collection.verify import verify
from pycrawl.crawl.directory import CrawlDirectory
from tests.e2e.crawling import PROGRAM, file_system, pycrawl

# warcio leaves the temporary files open that it makes records in.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PAGES = 400


Headers = list[tuple[str, str]]


def body_of(number: int) -> bytes:
    words = " ".join(random.Random(number).choices("river stone mill night water bridge road".split(), k=60))
    return f"<html lang=en><title>Page {number}</title><p>{words} {number}<a href='/{number + 1}'>next</a>".encode()


def headers_of(number: int) -> list[tuple[str, str]]:
    headers = [("Content-Type", "text/html; charset=utf-8"), ("X-Number", str(number)), ("Set-Cookie", "a=1")]
    return [*headers, ("Set-Cookie", "b=2")] + ([("Content-Encoding", "gzip")] if number % 3 == 0 else [])


def write_warc(path: Path, pages: int) -> None:
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        writer.write_record(writer.create_warcinfo_record("x.warc.gz", {"software": "test"}))
        for number in range(pages):
            body = gzip.compress(body_of(number)) if number % 3 == 0 else body_of(number)
            head = StatusAndHeaders("200 OK", headers_of(number), protocol="HTTP/1.1")
            record = writer.create_warc_record(
                f"http://example.org/{number}",
                "response",
                payload=io.BytesIO(body),
                http_headers=head,
                warc_headers_dict={"WARC-Date": f"2026-01-02T03:{number // 60 % 60:02d}:{number % 60:02d}Z"},
            )
            writer.write_record(record)


@pytest.fixture(scope="module")
def warc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("warc") / "pages.warc.gz"
    write_warc(path, PAGES)
    return path


def imported(crawl: Path, *files: Path, exit_code: int = 0) -> dict[str, Any]:
    ended = pycrawl("import", "-C", crawl, "--json", *files)
    assert ended.returncode == exit_code, ended.stderr
    told: dict[str, Any] = json.loads(ended.stdout)
    return told


def must_be_well(crawl: Path) -> None:
    for check in verify(CrawlDirectory(crawl), lambda record: None):
        assert not check.faults, check


def test_a_warc_comes_back_as_it_was(tmp_path: Path, warc: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    first = imported(crawl, warc)
    assert (first["records"], first["stored"], first["skipped"], first["faults"]) == (PAGES, PAGES, {}, [])
    must_be_well(crawl)
    with Collection(crawl) as collection:
        assert len(collection) == PAGES
        one = collection["http://example.org/7"]
        assert (one.title, one.time.isoformat()) == ("Page 7", "2026-01-02T03:00:07+00:00")
        assert collection.stats()["urls_queued"] == 1  # the link of the last page
        collection.export(tmp_path / "out.warc.gz", "warc")
    seen = 0
    with (tmp_path / "out.warc.gz").open("rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type != "response":
                continue
            number = int(record.rec_headers.get_header("WARC-Target-URI").rpartition("/")[2])
            assert record.content_stream().read() == body_of(number)
            kept = [(name.removeprefix("X-Archive-Orig-"), value) for name, value in record.http_headers.headers]
            assert kept[: len(headers_of(number))] == headers_of(number)
            seen += 1
    assert seen == PAGES
    second = imported(crawl, warc, tmp_path / "out.warc.gz")
    assert (second["stored"], second["copies"]) == (0, 0)
    assert second["skipped"] == {"stored already": 2 * PAGES}
    must_be_well(crawl)


@pytest.mark.parametrize("kills", [3, pytest.param(10, marks=pytest.mark.slow)])
def test_killed_imports_go_on(tmp_path: Path, warc: Path, kills: int) -> None:
    """Killed while it begins, and while it commits: as soon as the first record is in its file, or a little later."""
    chance = random.Random(4)
    for number in range(kills):
        crawl = Crawl.create(tmp_path / f"killed-{number}").directory.path
        with subprocess.Popen(
            [*PROGRAM, "import", "-C", crawl, warc], stdout=subprocess.DEVNULL, start_new_session=True
        ) as process:
            while number and process.poll() is None and not any(crawl.glob("docs/*/*.gz")):
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.1))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        must_be_well(crawl)
        again = imported(crawl, warc)
        must_be_well(crawl)
        with Collection(crawl) as collection:
            assert len(collection) == PAGES == again["stored"] + again["skipped"].get("stored already", 0)
            assert {one.body for one in collection} == {body_of(number) for number in range(PAGES)}


def test_what_is_skipped_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "odd.warc.gz"
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)

        def add(
            url: str, status: str, headers: list[tuple[str, str]], body: bytes = b"", kind: str = "response"
        ) -> None:
            head = StatusAndHeaders(status, headers, protocol="HTTP/1.1") if kind == "response" else None
            writer.write_record(writer.create_warc_record(url, kind, payload=io.BytesIO(body), http_headers=head))

        html = [("Content-Type", "text/html")]
        add("http://example.org/", "200 OK", html, b"<p>a page")
        add("http://example.org/copy", "200 OK", html, b"<p>a page")
        add("http://example.org/gone", "404 Not Found", html, b"<p>no")
        add("http://example.org/old", "301 Moved", [("Location", "/")])
        add("http://example.org/picture", "200 OK", [("Content-Type", "image/png")], b"\x89PNG")
        add("http://denied.example/", "200 OK", html, b"<p>denied")
        add("urn:x", "", [], b"text", "resource")
    crawl = Crawl.create(tmp_path / "crawl", scope={"deny_hosts": ["denied.example"]}).directory.path
    told = imported(crawl, path)
    assert (told["stored"], told["copies"], told["redirects"]) == (1, 1, 1)
    assert told["skipped"] == {
        "http-4xx": 1,
        "unwanted-type": 1,
        "out of scope: host-denied": 1,
        "not a page (resource, conversion, dns …)": 1,
    }
    must_be_well(crawl)
    with Collection(crawl) as collection:
        assert collection["http://example.org/old"].url == "http://example.org/"


TREC = (
    b"<DOC>\n<DOCNO>A-1</DOCNO>\n<DOCHDR>\nhttp://example.org/1 1.2.3.4 19970101013145 text/html 9\n"
    b"HTTP/1.0 200 OK\nContent-Type: text/html\nX-A: b\n</DOCHDR>\n<p>first\n\n</DOC>\n"
    b"<DOC>\n<DOCNO>A-2</DOCNO>\n<DOCHDR>\nhttp://example.org/2\n</DOCHDR>\n<p>second\n</DOC>\n"
)


def write_versions(path: Path, versions: list[tuple[str, str]]) -> None:
    """Writes captures of one page: the day, and the text of its link to /to."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for day, text in versions:
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            body = f"<title>{text}</title><p>{text}<a href='/to'>{text}</a><a href='/{text}'>only here</a>".encode()
            date = {"WARC-Date": f"2026-01-{day}T00:00:00Z"}
            url = "http://example.org/page"
            record = writer.create_warc_record(
                url, "response", payload=io.BytesIO(body), http_headers=head, warc_headers_dict=date
            )
            writer.write_record(record)


@pytest.mark.parametrize(
    ("order", "at_once"), [(("01", "03", "02"), True), (("03", "01", "02"), True), (("03", "01"), False)]
)
def test_links_are_those_of_the_newest_version(tmp_path: Path, order: tuple[str, ...], at_once: bool) -> None:
    """In whatever order an archive has the versions of a page. What only older ones link to is queued."""
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    days = [(day, f"text{day}") for day in order]
    for number, versions in enumerate([days] if at_once else [[one] for one in days]):
        write_versions(tmp_path / f"{number}.warc.gz", versions)
        assert imported(crawl, tmp_path / f"{number}.warc.gz")["stored"] == len(versions)
    must_be_well(crawl)
    with Collection(crawl) as collection:
        assert [link.anchor for link in collection.links.into("http://example.org/to")] == ["text03"]
        out = [link.url.rpartition("/")[2] for link in collection.links.of("http://example.org/page")]
        assert out == ["to", "text03"]
        assert collection["http://example.org/page"].title == "text03"
        assert collection.stats()["urls_queued"] == 1 + len(order)


@pytest.mark.parametrize("at_once", [True, False], ids=["one file", "two files"])
def test_a_copy_is_of_the_version_that_it_names(tmp_path: Path, at_once: bool) -> None:
    """The other page has changed since; the archive leaves out the parts of seconds."""
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    pages, copies = tmp_path / "pages.warc.gz", tmp_path / "copies.warc.gz"
    write_versions(pages, [("01", "text01"), ("03", "text03"), ("05", "text05")])
    with copies.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for day in ("01", "03"):
            date = f"2026-01-{day}T00:00:01.5Z"
            record = writer.create_revisit_record(
                f"http://example.org/copy{day}", "sha1:ABC", "http://example.org/page", date
            )
            writer.write_record(record)
        writer.write_record(writer.create_revisit_record("http://example.org/lost", "sha1:ABC", "http://x.org/", date))
    if at_once:
        pages.write_bytes(pages.read_bytes() + copies.read_bytes())
        told = imported(crawl, pages)
    else:
        imported(crawl, pages)
        told = imported(crawl, copies)
    assert (told["copies"], told["skipped"]) == (2, {"revisit of a page that is not stored": 1})
    must_be_well(crawl)
    with Collection(crawl) as collection:
        for day in ("01", "03"):
            assert collection[f"http://example.org/copy{day}"].title == f"text{day}"


def test_trec_of_others(tmp_path: Path) -> None:
    plain, windows, headless = tmp_path / "a.trec", tmp_path / "b.gz", tmp_path / "c"
    plain.write_bytes(TREC)
    windows.write_bytes(gzip.compress(TREC.replace(b"example.org", b"example.net").replace(b"\n", b"\r\n")))
    headless.write_bytes(b"<DOC>\n<DOCNO>X-1</DOCNO>\n<p>no URL\n</DOC>\n")
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    told = imported(crawl, plain, windows, headless)
    assert (told["records"], told["skipped"]) == (5, {"no DOCHDR, so no URL": 1})
    must_be_well(crawl)
    with Collection(crawl) as collection:
        first = collection["http://example.org/1"]
        assert (first.body, first.time.year, first.header("x-a")) == (b"<p>first\n", 1997, "b")
        assert collection["http://example.net/2"].body.strip() == b"<p>second"


def test_a_trec_file_that_is_cut_gives_what_it_has(tmp_path: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    (tmp_path / "cut.gz").write_bytes(gzip.compress(TREC + random.Random(1).randbytes(1_000))[:-1_000])
    assert imported(crawl, tmp_path / "cut.gz", exit_code=1)["stored"] == 2


def test_a_date_that_is_yet_to_come_counts_as_none(tmp_path: Path) -> None:
    """Else the page would be the newest of its URL for ever."""
    write_versions(tmp_path / "pages.warc.gz", [("01", "one")])
    data = gzip.decompress((tmp_path / "pages.warc.gz").read_bytes())
    (tmp_path / "pages.warc").write_bytes(data.replace(b"2026-01-01", b"9999-12-31"))
    (tmp_path / "pages.trec").write_bytes(TREC.replace(b"19970101013145", b"20990101013145"))
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    told = imported(crawl, tmp_path / "pages.warc", tmp_path / "pages.trec")
    assert (told["stored"], told["skipped"]) == (2, {"no usable date": 1})
    with Collection(crawl) as collection:
        assert collection["http://example.org/1"].time.year == 1970


def test_our_own_trec_adds_nothing(tmp_path: Path, warc: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    imported(crawl, warc)
    with Collection(crawl) as collection:
        collection.export(tmp_path / "out.trec.gz", "trec")
    assert imported(crawl, tmp_path / "out.trec.gz")["skipped"] == {"stored already": PAGES}


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b"", 2, "expected a WARC or a TREC Web file, found neither"),
        (b"\x1f\x8bnothing", 2, "expected a WARC or a TREC Web file"),
        (TREC[:-10], 1, "after record 1: expected </DOC>, found the end of the file"),
        (gzip.compress(TREC)[:-12], 1, "damaged or cut"),
        (
            b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n"
            b"WARC-Date: 2026-01-01T00:00:00Z\r\nContent-Length: 5000\r\n\r\nHTTP/1.1 200 OK\r\n\r\n<p>cut",
            1,
            "expected 5,000 bytes, found",
        ),
    ],
)
def test_files_that_are_cut_or_lie(tmp_path: Path, data: bytes, code: int, words: str) -> None:
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    (tmp_path / "file").write_bytes(data)
    ended = pycrawl("import", "-C", crawl, tmp_path / "file")
    assert ended.returncode == code, ended.stderr
    assert words in ended.stderr
    must_be_well(crawl)


def test_a_truncated_warc_gives_what_it_has(tmp_path: Path, warc: Path) -> None:
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    (tmp_path / "cut.warc.gz").write_bytes(warc.read_bytes()[:-2_000])
    told = imported(crawl, tmp_path / "cut.warc.gz", exit_code=1)
    assert PAGES - 20 < told["stored"] < PAGES
    must_be_well(crawl)


def test_a_full_disk_ends_an_import_which_goes_on_later(tmp_path: Path, warc: Path) -> None:
    with file_system(tmp_path / "disk", 3) as disk:
        crawl = Crawl.create(disk / "crawl").directory.path
        for left in (300_000, 20_000):  # bytes
            (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - left))
            ended = pycrawl("import", "-C", crawl, warc)
            assert ended.returncode == 4, ended.stderr
            assert "full" in ended.stderr
            assert ended.stderr.count("\n") == 1
            (disk / "ballast").unlink()
            must_be_well(crawl)
        imported(crawl, warc)
        must_be_well(crawl)
        with Collection(crawl) as collection:
            assert {one.body for one in collection} == {body_of(number) for number in range(PAGES)}


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("damage", ["too long", "much too long", "too short", "flipped"])
def test_what_is_wrong_in_the_middle_is_named(tmp_path: Path, damage: str, compressed: bool) -> None:
    """A WARC whose third of six pages lies about its length, or is damaged: the others are taken in."""
    write_warc(tmp_path / "good.warc.gz", 6)
    data = (tmp_path / "good.warc.gz").read_bytes()
    starts = [at for at in range(len(data)) if data.startswith(b"\x1f\x8b\x08", at)]
    records = [gzip.decompress(data[a:b]) for a, b in zip(starts, [*starts[1:], len(data)], strict=True)]
    assert len(records) == 7  # warcinfo, and six pages
    length = records[3].partition(b"Content-Length: ")[2].partition(b"\r\n")[0]
    wrong = {"too long": 500, "much too long": 5_000_000, "too short": -100, "flipped": 0}[damage]
    records[3] = records[3].replace(b"Content-Length: " + length, b"Content-Length: %d" % (int(length) + wrong), 1)
    members = [gzip.compress(record) if compressed else record for record in records]
    if damage == "flipped":
        middle = bytearray(members[3])
        middle[len(middle) * 3 // 4] ^= 0xFF
        members[3] = bytes(middle)
    (tmp_path / "bad.warc").write_bytes(b"".join(members))
    crawl = Crawl.create(tmp_path / "crawl").directory.path
    ended = pycrawl("import", "-C", crawl, tmp_path / "bad.warc")
    assert ended.returncode == 1, ended.stdout
    assert "bad.warc: " in ended.stderr
    assert ended.stderr.count("\n") <= 3
    must_be_well(crawl)
    with Collection(crawl) as collection:
        assert {one.url for one in collection} == {f"http://example.org/{number}" for number in (0, 1, 3, 4, 5)}
