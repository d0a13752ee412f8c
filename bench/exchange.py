"""Do other programs read in the exports what the collection has? All formats, each by a command, for whole crawls.

    python bench/exchange.py DIR…

Each DIR is a crawl, such as `python bench/coverage.py --keep FOLDER` leaves. For each, one line a format; the exit code
is 1 if anything differs.

- TREC Web: every record by a strict reader, and by ir_datasets (as GOV2)
- WARC: `warcio check`; body and headers of every record by warcio and by fastwarc
- JSON lines and Parquet: every field against `Collection`; pandas and DuckDB count and add up the same
- pywb replays pages, where it is installed (`make test-tools`)
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow.parquet
from fastwarc.warc import ArchiveIterator, WarcRecordType
from ir_datasets.datasets.gov2 import Gov2Docs
from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from pycrawl import Collection
from pycrawl.collection.document import Document
from pycrawl.collection.fields import FIELDS, as_json

_RECORD = re.compile(rb"<DOC>\n<DOCNO>(\S+)</DOCNO>\n<DOCHDR>\n(.*?)\n</DOCHDR>\n(.*)</DOC>\n", re.DOTALL)
_END = b"\n</DOC>\n"
_ADDED = "X-Archive-Orig-"


def export(crawl: Path, format_name: str, path: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "pycrawl", "export", "-C", crawl, "--format", format_name, "-o", path, *options]
    subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return path


def strict_trec(collection: Collection, path: Path) -> int:
    """The whole file by a reader that allows nothing but the format. Returns how many records it has."""
    data = gzip.decompress(path.read_bytes())
    at = count = 0
    for document in collection:
        end = data.index(_END, at) + len(_END)
        found = _RECORD.fullmatch(data, at, end)
        assert found, data[at : at + 200]
        assert found[1].decode() == document.docno
        assert found[2].partition(b" ")[0].decode() == document.url
        assert same_text(found[3], document), document
        at, count = end, count + 1
    assert at == len(data)
    return count


def same_text(stored: bytes, document: Document) -> bool:
    """True if a body in a TREC file is the document's, but for what the format cannot hold."""
    plain = document.body.replace(b"\0", b"")
    if document.row.document.escapes:
        stored, plain = stored.lower().replace(b"d0c", b"doc"), plain.lower()
    return stored in (plain, plain + b"\n")


def by_ir_datasets(collection: Collection, path: Path) -> int:
    count = 0
    for doc, document in zip(Gov2Docs(None, None)._docs_ctxt_iter_gov2(path), collection, strict=True):
        assert (doc.doc_id, doc.url) == (document.docno, document.url)
        body = doc.body if doc.body.endswith(b"\n") else doc.body + b"\n"
        assert same_text(body.lstrip(b"\n"), document) or same_text(body, document), document
        count += 1
    return count


def served(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Headers of a WARC record as they were served: under their own names, and without the length that was added."""
    kept = [(name.removeprefix(_ADDED), value) for name, value in headers]
    is_added = any(name.startswith(_ADDED) for name, _ in headers) and headers[-1][0] == "Content-Length"
    return kept[:-1] if is_added else kept


def by_warcio(collection: Collection, path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for record in WarcioIterator(file):
            if record.rec_type == "response":
                document = collection[record.rec_headers.get_header("WARC-Target-URI")]
                assert record.content_stream().read() == document.body, document
                assert served(record.http_headers.headers) == list(document.headers), document
            count += record.rec_type in ("response", "revisit")
    return count


def by_fastwarc(collection: Collection, path: Path) -> int:
    wanted = WarcRecordType.response | WarcRecordType.revisit
    count = 0
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=wanted, verify_digests=True):
            if record.record_type == WarcRecordType.response:
                document = collection[record.headers["WARC-Target-URI"]]
                assert record.reader.read() == document.body, document
                assert served(list(record.http_headers)) == list(document.headers), document
            count += 1
    return count


def by_json(collection: Collection, path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for line, document in zip(file, collection, strict=True):
            assert json.loads(line) == json.loads(json.dumps(as_json(document, FIELDS.values()))), document
            count += 1
    return count


def by_arrow(collection: Collection, path: Path) -> int:
    count = 0
    rows = (row for batch in pyarrow.parquet.ParquetFile(path).iter_batches() for row in batch.to_pylist())
    for row, document in zip(rows, collection, strict=True):
        expected = {**as_json(document, FIELDS.values()), "time": document.time, "body": document.body}
        assert {**row, "json_ld": json.loads(row["json_ld"])} == json_like(expected), document
        count += 1
    return count


def json_like(values: dict[str, Any]) -> dict[str, Any]:
    return {name: [*map(list, value)] if name == "headers" else value for name, value in values.items()}


def check(name: str, run: Callable[[Collection, Path], int], collection: Collection, path: Path) -> bool:
    try:
        count = run(collection, path)
    except (AssertionError, ValueError) as error:
        print(f"    {name}: DIFFERS: {error!r}", flush=True)
        return False
    is_whole = count == len(collection)
    print(f"    {name}: {count:,} of {len(collection):,} documents agree", flush=True)
    return is_whole


def by_pandas(collection: Collection, path: Path) -> int:
    frame = pandas.read_parquet(path, columns=["url", "length"])
    assert int(frame["length"].sum()) == sum(one.length for one in collection)
    return len(frame)


def by_duckdb(collection: Collection, path: Path) -> int:
    table: Any = duckdb.sql(f"SELECT count(*), sum(length) FROM '{path}'")
    ((count, length),) = table.fetchall()
    assert length == sum(one.length for one in collection)
    return int(count)


def check_crawl(crawl: Path, folder: Path) -> bool:
    print(f"{crawl}:", flush=True)
    trec = export(crawl, "trec", folder / "plain.trec.gz")
    gov2 = export(crawl, "trec", folder / "gov2.trec.gz", "--dochdr", "gov2")
    warc = export(crawl, "warc", folder / "pages.warc.gz", "--cdxj")
    jsonl = export(crawl, "jsonl", folder / "pages.jsonl", "--fields", ",".join(FIELDS))
    parquet = export(crawl, "parquet", folder / "pages.parquet", "--fields", ",".join(FIELDS))
    ended = subprocess.run([sys.executable, "-m", "warcio.cli", "check", warc], check=False, capture_output=True)
    print(f"    warcio check: {'passes' if not ended.returncode else ended.stdout.decode()[:500]}", flush=True)
    with Collection(crawl) as collection:
        return all(
            [
                not ended.returncode,
                check("TREC Web, strict reader", strict_trec, collection, trec),
                check("TREC Web, ir_datasets", by_ir_datasets, collection, gov2),
                check("WARC, warcio", by_warcio, collection, warc),
                check("WARC, fastwarc", by_fastwarc, collection, warc),
                check("JSON lines", by_json, collection, jsonl),
                check("Parquet, pyarrow", by_arrow, collection, parquet),
                check("Parquet, pandas", by_pandas, collection, parquet),
                check("Parquet, DuckDB", by_duckdb, collection, parquet),
            ]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("crawls", nargs="+", type=Path)
    options = parser.parse_args()
    are_right = []
    for crawl in options.crawls:
        with tempfile.TemporaryDirectory(prefix="pycrawl-exchange-") as folder:
            are_right.append(check_crawl(crawl, Path(folder)))
    sys.exit(0 if all(are_right) else 1)


if __name__ == "__main__":
    main()
