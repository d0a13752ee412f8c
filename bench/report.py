"""How long `pycrawl report` takes for a large collection: a crawl's state is multiplied, and its records with it.

    python bench/report.py DIR --documents 1000000

DIR is a crawl, such as the one that `pycrawl demo` makes; it is copied, and left alone. The documents of the copy share
the records of DIR; URLs, visits, near-duplicates and the log of fetches are as many as such a crawl would have.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_URLS_PER_DOCUMENT = 4
_HOSTS = 20_000
_REPORT = "from pycrawl.cli import main; main()"


def multiply(state: Path, documents: int) -> None:
    """Fill the tables with copies of their rows, until there are so many documents."""
    database = sqlite3.connect(state)
    (first, docs, urls) = database.execute(
        "SELECT max(id), count(*), (SELECT max(id) FROM urls) FROM documents"
    ).fetchone()
    database.execute("CREATE TEMP TABLE n (n INTEGER PRIMARY KEY)")
    database.executemany("INSERT INTO n VALUES (?)", ((number,) for number in range(1, documents // docs + 1)))
    database.execute(
        "INSERT OR IGNORE INTO hosts (id, key) WITH RECURSIVE h(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM h WHERE"
        f" i < {1000 + _HOSTS}) SELECT i, 'host' || i || '.example' FROM h"
    )
    for part in range(_URLS_PER_DOCUMENT):
        database.execute(
            "INSERT INTO urls (url, host_id, depth, hops, via, parent_id, found_at, aside, ask)"
            f" SELECT 'http://host' || (1000 + abs(random()) % {_HOSTS}) || '.example/p' || n || '/' || id || '/{part}'"
            ","
            f" 1000 + abs(random()) % {_HOSTS}, abs(random()) % 12, 0, 1, 1, found_at, {part} * (id % 3), 0"
            f" FROM n CROSS JOIN urls WHERE id <= {urls}"
        )
    database.execute(
        "INSERT INTO documents (url_id, url_hash, fetched_at, file_id, offset, length, number, body_length, digest,"
        " content_type, charset, declared_charset, escapes, truncated, duplicate_of)"
        f" SELECT {urls} + abs(random()) % (SELECT max(id) - {urls} FROM urls), random(), fetched_at + n * 1000,"
        " file_id, offset, length, number, body_length, randomblob(16), content_type, charset, declared_charset,"
        f" escapes, truncated, 0 FROM n CROSS JOIN documents WHERE id <= {first}"
    )
    database.execute(
        "INSERT INTO visits (url_id, outcome, status, visited_at, tries, detail, etag, last_modified, digest,"
        " document_id) SELECT url_id, iif(id % 10, 'fetched', 'http-4xx'), iif(id % 10, 200, 404), fetched_at, 1, '',"
        f" '', '', digest, id FROM documents WHERE id > {first} GROUP BY url_id"
    )
    database.execute(
        f"INSERT INTO near SELECT id, id - 1 - id % 7, 0.9 FROM documents WHERE id > {first} AND id % 5 = 0"
    )
    database.commit()
    database.close()


def multiply_log(folder: Path, documents: int) -> None:
    """Repeat the log of fetches, each time later and with other hosts."""
    lines = [line.split("\t") for path in sorted(folder.glob("fetches-*.tsv")) for line in path.open(encoding="utf-8")]
    pages = [line for line in lines if len(line) == 10]
    for number in range(documents // len(pages)):
        with (folder / f"fetches-{number // 40 + 2:06d}.tsv").open("a", encoding="utf-8") as file:
            for line in pages:
                times = [f"{float(at) + number * 1000:.6f}" for at in line[:3]]
                file.write("\t".join([*times, line[3], f"{number % 500}.{line[4]}", line[5], *line[6:]]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pycrawl-report-") as scratch:
        crawl = Path(scratch) / "crawl"
        shutil.copytree(options.directory, crawl)
        multiply(crawl / "state.db", options.documents)
        multiply_log(crawl / "log", options.documents)
        begun = time.monotonic()
        subprocess.run(
            [sys.executable, "-c", _REPORT, "report", "-C", str(crawl), "-o", str(crawl / "report.html")], check=True
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{options.documents:,} documents: {time.monotonic() - begun:.1f} s, {used.ru_utime + used.ru_stime:.1f} s"
            f" of CPU, {used.ru_maxrss / 1000:,.0f} MB"
        )


if __name__ == "__main__":
    main()
