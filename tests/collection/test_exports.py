"""Exports: what other tools read in them is what the collection has."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastwarc.warc import ArchiveIterator, WarcRecordType
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.checker import Checker

from pycrawl import Collection
from pycrawl.cli import cli
from pycrawl.collection.document import Document
from pycrawl.collection.exports.cdxj import surt
from pycrawl.collection.exports.formats import Options
from pycrawl.collection.exports.rendering import Item
from pycrawl.collection.exports.workers import Workers
from pycrawl.collection.fields import FIELDS, USUAL, as_json
from pycrawl.collection.pages import Link
from pycrawl.errors import PycrawlError, UsageError
from tests.collection.conftest import Odd, module
from tests.collection.odd_web import PAGES, body_as_stored
from tests.e2e.crawling import PROGRAM, pycrawl

KILLS = [3, pytest.param(10, marks=pytest.mark.slow)]


def trec_records(data: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """A strict reader of TREC Web, which knows nothing of ours: yields DOCNO, headers and body."""
    at = 0
    while at < len(data):
        end = data.index(b"\n</DOC>\n", at) + len(b"\n</DOC>\n")
        record = data[at:end]
        found = re.fullmatch(
            rb"<DOC>\n<DOCNO>(\S+)</DOCNO>\n<DOCHDR>\n(.*?)\n</DOCHDR>\n(.*)</DOC>\n", record, re.DOTALL
        )
        assert found, record[:200]
        assert b"\0" not in record
        yield found[1].decode(), found[2], found[3]
        at = end


def same_text(stored: bytes, body: bytes) -> bool:
    """True if a body in a TREC file is this one, but for what the format cannot hold."""
    return (
        stored.rstrip(b"\n").lower().replace(b"<d0c", b"<doc").replace(b"</d0c", b"</doc")
        == body.replace(b"\0", b"").rstrip(b"\n").lower()
    )


@pytest.mark.parametrize("name", ["pages.trec", "pages.trec.gz"])
def test_trec_is_read_by_a_strict_parser(odd: Odd, tmp_path: Path, name: str) -> None:
    done = odd.collection.export(tmp_path / name, "trec")
    data = (tmp_path / name).read_bytes()
    data = gzip.decompress(data) if name.endswith(".gz") else data
    records = {docno: (headers, body) for docno, headers, body in trec_records(data)}
    assert set(records) == {one.docno for one in odd.collection}
    assert done.documents == len(records)
    for document in odd.collection:
        headers, body = records[document.docno]
        assert headers.split(b"\n")[0].split(b" ")[0].decode() == document.url
        assert same_text(body, document.body)


def test_trec_in_utf8_and_for_ir_datasets(odd: Odd, tmp_path: Path) -> None:
    odd.collection.export(tmp_path / "pages.trec", "trec", utf8=True, dochdr="gov2")
    records = {
        headers.split(b"\n")[0].decode(): (headers, body)
        for _, headers, body in trec_records((tmp_path / "pages.trec").read_bytes())
    }
    headers, body = records[odd.url + "/utf16"]
    assert "Grüße 世界" in body.decode()
    assert b"Content-Type: text/html; charset=utf-8\n" in headers
    assert headers.endswith(b"X-Original-Content-Type: text/html; charset=utf-16le")
    assert "Ärger" in records[odd.url + "/latin"][1].decode()


def test_trec_is_read_whole_by_ir_datasets(odd: Odd, tmp_path: Path) -> None:
    gov2 = module("ir_datasets.datasets.gov2")
    odd.collection.export(tmp_path / "pages.trec.gz", "trec", dochdr="gov2")
    docs = list(gov2.Gov2Docs(None, None)._docs_ctxt_iter_gov2(tmp_path / "pages.trec.gz"))
    assert [(doc.doc_id, doc.url) for doc in docs] == [(one.docno, one.url) for one in odd.collection]
    for doc, document in zip(docs, odd.collection, strict=True):
        assert same_text(doc.body, document.body)


def served_headers(document: Document) -> list[tuple[str, str]]:
    """The headers as they were served, without what the export may add."""
    return [(name, value) for name, value in document.headers]


def as_served(headers: list[tuple[str, str]], length: int) -> list[tuple[str, str]]:
    """The headers of a WARC record under the names that they were served with."""
    kept = [(name.removeprefix("X-Archive-Orig-"), value) for name, value in headers]
    names = [name.lower() for name, _ in kept]
    if names.count("content-length") > 1 or any(name.startswith("X-Archive-Orig-") for name, _ in headers):
        kept = kept[:-1] if headers[-1] == ("Content-Length", str(length)) else kept
    return kept


def test_warc_has_the_served_bytes_and_headers(odd: Odd, tmp_path: Path) -> None:
    path = tmp_path / "pages.warc.gz"
    odd.collection.export(path, "warc")
    assert Checker(_CheckArguments(path)).process_all() == 0
    by_url = {one.url: one for one in odd.collection}
    found = set()
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response, verify_digests=True):
            document = by_url[record.headers["WARC-Target-URI"]]
            assert record.reader.read() == document.body
            assert as_served(list(record.http_headers), document.length) == served_headers(document)
            found.add(document.url)
    kinds: dict[str, list[Any]] = {}
    with path.open("rb") as file:
        for record in WarcioIterator(file):
            kinds.setdefault(record.rec_type, []).append(record.rec_headers)
            if record.rec_type == "response":
                document = by_url[record.rec_headers.get_header("WARC-Target-URI")]
                assert record.content_stream().read() == document.body
                assert as_served(record.http_headers.headers, document.length) == served_headers(document)
                assert record.http_headers.get_statuscode() == "200"
    (revisit,) = kinds["revisit"]
    copy = next(one for one in odd.collection if one.is_copy)
    assert revisit.get_header("WARC-Target-URI") == copy.url
    assert revisit.get_header("WARC-Refers-To-Target-URI") in {odd.url + "/copy", odd.url + "/copied"} - {copy.url}
    assert found == set(by_url) - {copy.url}
    assert len(kinds["request"]) == len(kinds["metadata"]) == len(by_url)
    assert len(kinds["warcinfo"]) == 1


class _CheckArguments:
    """What `warcio check -v FILE` gives its checker."""

    def __init__(self, path: Path) -> None:
        self.inputs = [str(path)]
        self.verbose = False


def test_an_index_leads_to_the_records(odd: Odd, tmp_path: Path) -> None:
    done = odd.collection.export(tmp_path / "pages.warc.gz", "warc", cdxj=True, split=100_000)
    assert len(done.files) > 2
    lines = (tmp_path / "pages.cdxj").read_text("ascii").splitlines()
    assert lines == sorted(lines)
    assert len(lines) == len(odd.collection)
    for line in lines:
        key, _, told = line.split(" ", 2)
        place = json.loads(told)
        assert key == surt(place["url"])
        data = (tmp_path / place["filename"]).read_bytes()[int(place["offset"]) :][: int(place["length"])]
        (record,) = WarcioIterator(io.BytesIO(data))
        assert record.rec_headers.get_header("WARC-Target-URI") == place["url"]


@pytest.mark.parametrize("workers", [None, 2])
def test_jsonl_agrees_with_the_collection(odd: Odd, tmp_path: Path, workers: int | None) -> None:
    odd.collection.export(tmp_path / "pages.jsonl", "jsonl", fields=FIELDS, workers=workers)
    lines = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text("utf-8").splitlines()]
    assert lines == [json.loads(json.dumps(as_json(one, FIELDS.values()))) for one in odd.collection]


@pytest.mark.parametrize(
    ("name", "unpack"),
    [
        ("pages.jsonl.gz", gzip.decompress),
        (
            "pages.jsonl.zst",
            lambda data: module("zstandard").ZstdDecompressor().stream_reader(data).read(),
        ),
    ],
)
def test_jsonl_compressed(odd: Odd, tmp_path: Path, name: str, unpack: Callable[[bytes], bytes]) -> None:
    odd.collection.export(tmp_path / name, "jsonl", fields=["url"])
    text = unpack((tmp_path / name).read_bytes()).decode()
    assert [json.loads(line)["url"] for line in text.splitlines()] == [one.url for one in odd.collection]


def test_parquet_agrees_with_the_collection(odd: Odd, tmp_path: Path) -> None:
    parquet = module("pyarrow.parquet")
    odd.collection.export(tmp_path / "pages.parquet", "parquet", fields=FIELDS)
    rows = parquet.read_table(tmp_path / "pages.parquet").to_pylist()
    for row, document in zip(rows, odd.collection, strict=True):
        expected = as_json(document, FIELDS.values())
        assert row.pop("time") == document.time
        assert row.pop("body") == document.body
        row["json_ld"] = json.loads(row["json_ld"])
        assert row == {name: value for name, value in expected.items() if name not in ("time", "body")}


def test_parquet_is_opened_by_pandas_and_duckdb(odd: Odd, tmp_path: Path) -> None:
    module("pyarrow")
    path = tmp_path / "pages.parquet"
    odd.collection.export(path, "parquet")
    pandas = module("pandas")
    assert list(pandas.read_parquet(path)["url"]) == [one.url for one in odd.collection]
    duckdb = module("duckdb")
    assert duckdb.sql(f"SELECT count(*), max(length) FROM '{path}'").fetchall() == [
        (len(odd.collection), max(one.length for one in odd.collection))
    ]


@pytest.mark.parametrize("name", ["links.tsv", "links.parquet"])
def test_links_are_an_edge_list(odd: Odd, tmp_path: Path, name: str) -> None:
    if name.endswith(".parquet"):
        parquet = module("pyarrow.parquet")
    odd.collection.export(tmp_path / name, "links")
    home = odd.url + "/"
    expected = [(home, *_as_row(link)) for link in odd.collection[home].links]
    if name.endswith(".parquet"):
        rows = [tuple(row.values()) for row in parquet.read_table(tmp_path / name).to_pylist()]
    else:
        head, *lines = (tmp_path / name).read_text("utf-8").splitlines()
        assert head == "source\ttarget\tanchor\tnofollow\trel\tplace"
        cells = [line.split("\t") for line in lines]
        rows = [(*line[:3], line[3] == "1", *line[4:]) for line in cells]
    assert rows == expected


def _as_row(link: Link) -> tuple[str | bool | None, ...]:
    return link.url, link.anchor, link.nofollow, " ".join(link.rel), link.place


def test_in_links_are_a_field(odd: Odd, tmp_path: Path) -> None:
    odd.collection.export(tmp_path / "x", "jsonl", fields=["url", "in_links"])
    found = {one["url"]: one["in_links"] for one in map(json.loads, (tmp_path / "x").read_text().splitlines())}
    linked = found[odd.url + "/nul"]
    assert [(one["url"], one["anchor"], one["via"]) for one in linked] == [(odd.url + "/", "about nul", "link")]
    assert [one._asdict() for one in odd.collection[odd.url + "/nul"].in_links] == linked


def test_filters_choose_what_is_exported(odd: Odd, tmp_path: Path) -> None:
    def exported(**conditions: Any) -> list[str]:
        odd.collection.export(tmp_path / "x", "jsonl", fields=["url"], overwrite=True, **conditions)
        return [json.loads(line)["url"] for line in (tmp_path / "x").read_text().splitlines()]

    assert exported(language="de") == [odd.url + "/latin"]
    assert len(exported(dedup="near")) == len(odd.collection) - 1
    assert exported(status="3xx") == []
    assert exported(since=time.time()) == []


def test_wrong_input_is_one_line(odd: Odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    cases = [
        (["--format", "doc", "-o", "x"], "format: expected one of trec, warc, jsonl, parquet, links"),
        (["--format", "jsonl", "--fields", "url,colour", "-o", "x"], "found 'colour'"),
        (["--format", "jsonl", "-o", "there.jsonl"], "there.jsonl: exists already; --force overwrites it"),
        (["--format", "jsonl", "-o", str(tmp_path)], "is a directory; name a file"),
        (["--format", "jsonl", "-o", "pipe", "--force"], "is a device or a pipe"),
        (["--format", "jsonl", "-o", "nowhere/x"], "there is no directory nowhere"),
        (["--format", "trec", "--cdxj", "-o", "x"], "--cdxj: only WARC files"),
        (["--format", "trec", "--compress", "zstd", "-o", "x"], "found zstd"),
        (["--format", "warc", "--utf8", "-o", "x"], "--utf8 and --dochdr: only trec is written anew"),
        (["--format", "trec", "--fields", "url", "-o", "x"], "--fields: only jsonl and parquet have fields"),
        (["--format", "jsonl", "--split", "1MB", "-o", "-"], "--split: only files"),
        (["--format", "jsonl", "--host", "example.com", "-o", "x"], "host: the crawl knows no host 'example.com'"),
        (["--format", "jsonl", "--status", "abc", "-o", "x"], "status: expected a number"),
    ]
    for arguments, words in cases:
        ended = CliRunner().invoke(cli, ["export", "-C", str(odd.path), *arguments])
        assert isinstance(ended.exception, UsageError), ended.output
        (line,) = ended.exception.lines
        assert words in line
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["pipe", "there.jsonl"]


def test_a_missing_package_is_named(odd: Odd, tmp_path: Path) -> None:
    code = "import sys; sys.modules['pyarrow'] = None; from pycrawl.cli import main; main()"
    ended = subprocess.run(
        [PROGRAM[0], "-c", code, "export", "-C", odd.path, "--format", "parquet", "-o", tmp_path / "x.parquet"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "pip install 'pycrawl[parquet]'" in ended.stderr


def test_a_reader_that_goes_away(odd: Odd) -> None:
    with subprocess.Popen(
        [*PROGRAM, "export", "-C", odd.path, "--format", "jsonl", "--workers", "2", "-o", "-"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(100)
        process.stdout.close()
        assert process.stderr.read() == b""
        process.wait()


def test_a_full_disk_leaves_nothing(odd: Odd, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    for name in ("x.jsonl", "x.trec.gz", "x.warc.gz", "x.parquet"):
        format_name = name.split(".")[1]
        if format_name == "parquet":
            module("pyarrow")
        ended = pycrawl("export", "-C", odd.path, "--format", format_name, "-o", tmp_path / name, preexec_fn=limit)
        assert ended.returncode == 4, ended.stderr
        assert "nothing was left under that name" in ended.stderr
        assert list(tmp_path.iterdir()) == []


def test_a_damaged_record_is_named_and_left_out(odd: Odd, tmp_path: Path) -> None:
    shutil.copytree(odd.path, tmp_path / "crawl")
    with Collection(tmp_path / "crawl") as collection:
        row = collection[odd.url + "/latin"].row
        file = collection.directory.docs / row.file_name
        data = bytearray(file.read_bytes())
        data[row.document.offset + row.document.length - 20] ^= 0xFF
        file.write_bytes(data)
        for name in ("x.jsonl", "x.trec", "x.trec.gz", "x.warc.gz"):
            faults: list[str] = []
            done = collection.export(tmp_path / name, name.split(".")[1], on_fault=faults.append)
            assert (done.documents, done.faults) == (len(collection) - 1, 1)
            assert f"{odd.url}/latin: " in faults[0]
    ended = pycrawl("export", "-C", tmp_path / "crawl", "--format", "jsonl", "-o", tmp_path / "y.jsonl")
    assert ended.returncode == 1
    assert f"{odd.url}/latin: " in ended.stderr
    assert len((tmp_path / "y.jsonl").read_text("utf-8").splitlines()) == len(odd.collection) - 1


@pytest.mark.parametrize("kills", KILLS)
def test_killed_exports_leave_no_file(odd: Odd, tmp_path: Path, kills: int) -> None:
    chance = random.Random(15)
    target = tmp_path / "x.warc.gz"
    options = ["--format", "warc", "--workers", "2", "--force", "-o", str(target)]
    arguments = [*PROGRAM, "export", "-C", str(odd.path), *options]
    originals = digests(odd.path)
    began = time.monotonic()
    subprocess.run(arguments, check=True, capture_output=True)
    seconds = time.monotonic() - began
    whole = target.stat().st_size
    for _ in range(kills):
        target.unlink(missing_ok=True)
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, start_new_session=True) as process:
            time.sleep(chance.uniform(0.3, 1.1) * seconds)
            os.killpg(process.pid, signal.SIGKILL)
        assert not target.exists() or abs(target.stat().st_size - whole) < 200
        assert digests(odd.path) == originals
    subprocess.run(arguments, check=True, capture_output=True)
    assert [one.name for one in tmp_path.iterdir()] == [target.name]
    assert Checker(_CheckArguments(target)).process_all() == 0
    assert pycrawl("verify", "--deep", "-C", odd.path).returncode == 0


def digests(crawl: Path) -> dict[str, bytes]:
    """The files of a crawl, but for those that SQLite makes for its readers."""
    files = [crawl / "state.db", crawl / "pycrawl.toml", *crawl.glob("docs/*/*")]
    return {str(file): hashlib.sha256(file.read_bytes()).digest() for file in files}


def test_what_brings_a_worker_down_is_named(odd: Odd) -> None:
    """The other documents of its batch are written."""
    items = [Item(one.row, cluster=one.cluster) for one in odd.collection]
    row = items[3].row
    items[3] = Item(row._replace(document=row.document._replace(file_id="x")))  # type: ignore[arg-type]  # no number
    with Workers(odd.collection.directory.docs, odd.collection.config, Options("jsonl", ("docno",)), 1) as pool:
        (done,) = pool.map([tuple(items)])
    assert done.written == len(items) - 1
    assert done.faults == [f"{row.url}: brought the process down that read it"]


def test_an_unknown_format_from_python(odd: Odd, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format: expected one of"):
        odd.collection.export(tmp_path / "x", "doc")
    with pytest.raises(PycrawlError):
        odd.collection.export(tmp_path / "nowhere" / "x")
    assert set(USUAL) < set(FIELDS)
    assert PAGES["/zipped"][1] != body_as_stored("/zipped")
