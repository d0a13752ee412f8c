"""A crawl's directory and the real program on it, for tests: run it, kill it, and read what it left."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from click.testing import CliRunner

from pycrawl.cli import cli
from pycrawl.collection.verify import verify
from pycrawl.config import toml_value
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.repairing import lost_documents
from pycrawl.record import trec_web
from pycrawl.simweb import LogEntry, SimServer
from pycrawl.state import meta
from pycrawl.state.database import Database
from pycrawl.state.documents import file_name, newest_document
from pycrawl.store.reader import RecordReader
from pycrawl.urls.parts import url_hash
from tests.e2e import forked
from tests.e2e.forked import Forked

PROGRAM = (sys.executable, "-c", "from pycrawl.cli import main; main()")
RUN_SECONDS = 300.0  # for a command to end by itself
POLL_SECONDS = 0.002

Settings = dict[str, dict[str, object]]

# Fast, against servers on loopback: no pause between fetches, and a failing host does not cost seconds. No probes, so
# that servers are asked for nothing but what they have.
FAST: Settings = {
    "crawl": {"fetchers": 1, "slots_per_fetcher": 16, "proxy": "none"},
    "politeness": {"delay": 0, "max_backoff": 0.05, "max_retry_after": 0.05},
    "security": {"allow_private_addresses": True},
    "traps": {"soft_404": False},
}

_RECORD = re.compile(
    rb"<DOC>\n<DOCNO>(\S+)</DOCNO>\n<DOCHDR>\n(\S+)([^\n]*)\n(.*?)\n</DOCHDR>\n(.*?)</DOC>\n", re.DOTALL
)


def toml(settings: Settings) -> str:
    lines = []
    for section, keys in settings.items():
        lines.append(f"[{section}]")
        for key, value in keys.items():
            lines.append(f"{key} = {toml_value(tuple(value) if isinstance(value, list) else value)}")
    return "\n".join(lines) + "\n"


def merged(first: Settings, second: Settings) -> Settings:
    return {name: {**first.get(name, {}), **second.get(name, {})} for name in {**first, **second}}


def pycrawl(*arguments: str | Path, timeout: float = RUN_SECONDS, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; whatever happens, nobody is shown a traceback."""
    line = [*map(str, arguments)]
    if options.keys() <= {"cwd"} and forked.can_be_forked():
        ended = forked.run(line, timeout, **options)
    else:
        ended = subprocess.run(
            [*PROGRAM, *line], capture_output=True, text=True, timeout=timeout, check=False, **options
        )
    assert "Traceback" not in ended.stdout + ended.stderr, ended.stderr
    return ended


@contextmanager
def file_system(path: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own. Skips the test where none can be mounted."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


class Running:
    """A `pycrawl` process that works in the background, the leader of its own process group."""

    def __init__(self, arguments: Iterable[str], output: Path, before: Iterable[str] = ()) -> None:
        self._output = output
        self._process: Forked | subprocess.Popen[bytes]
        first = list(before)
        with output.open("wb") as file, open(os.devnull, "rb") as nothing:
            if not first and forked.can_be_forked():
                files = (nothing.fileno(), file.fileno(), file.fileno())
                self._process = Forked(arguments, None, files, in_session=True)
            else:
                self._process = subprocess.Popen(
                    [*first, *PROGRAM, *arguments],
                    stdin=nothing,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def output(self) -> str:
        text = self._output.read_text("utf-8")
        assert "Traceback" not in text, text
        return text

    def fetchers(self) -> list[psutil.Process]:
        """The fetcher processes that are alive."""
        with suppress(psutil.NoSuchProcess):
            children = psutil.Process(self.pid).children(recursive=True)
            return [child for child in children if _name(child) == "pycrawl-fetcher"]
        return []

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def send_to_group(self, number: signal.Signals) -> None:
        """As a terminal does it: to the coordinator and all its children."""
        os.killpg(self.pid, number)

    def kill_tree(self) -> None:
        """kill -9 of the coordinator and all its children in one call."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()

    def wait(self, timeout: float = RUN_SECONDS) -> int:
        return self._process.wait(timeout)

    def until(self, condition: Callable[[], bool], timeout: float = RUN_SECONDS) -> bool:
        """Wait until the condition holds; False if the process ended before it did."""
        deadline = time.monotonic() + timeout
        while not condition():
            if self.is_over:
                return False
            assert time.monotonic() < deadline, f"waited {timeout:g} s in vain; {self.output()}"
            time.sleep(POLL_SECONDS)
        return True


def _name(process: psutil.Process) -> str:
    try:
        return str(process.name())
    except psutil.Error:
        return ""


class Crawl:
    """A crawl's directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.directory = CrawlDirectory(path)
        self._started: list[Running] = []

    @classmethod
    def make(cls, path: Path, seeds: Iterable[str], settings: Settings | None = None) -> Crawl:
        """`pycrawl init`, without a process of its own."""
        options = [option for seed in seeds for option in ("--seed", seed)]
        made = CliRunner().invoke(cli, ["init", str(path), *options])
        assert made.exit_code == 0, made.output
        crawl = cls(path)
        crawl.configure(settings or {})
        return crawl

    def configure(self, settings: Settings) -> None:
        self.directory.config_file.write_text(toml(merged(FAST, settings)), "utf-8")

    def run(self, command: str, *arguments: str | Path, exit_code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, and expect its exit code."""
        ended = pycrawl(command, "-C", self.path, *arguments)
        assert ended.returncode == exit_code, f"{ended.returncode}: {ended.stdout}{ended.stderr}"
        return ended

    def start(self, command: str, *arguments: str, before: Iterable[str] = ()) -> Running:
        """Run a command in the background; `before` is what starts it, such as `nohup`."""
        output = self.path.with_name(f"{self.path.name}.output-{len(self._started)}")
        running = Running([command, "-C", str(self.path), *arguments], output, before)
        self._started.append(running)
        return running

    def close(self) -> None:
        for running in self._started:
            running.kill_tree()

    # What it left

    def stats(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.run("stats", "--json").stdout)
        return facts

    def why(self, url: str) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.run("why", "--json", url).stdout)
        return facts

    def verify(self) -> None:
        """What `pycrawl verify` does, without a process of its own."""
        faults = [fault for check in verify(self.directory, lambda _: None) for fault in check.faults]
        assert not faults, faults

    def unreadable(self) -> set[str]:
        """The URLs of documents that cannot be read where the database says that they are."""
        with closing(Database.open_readonly(self.directory.state)) as database:
            return {one.url for one in lost_documents(self.directory, database, lambda _: None)}

    def bodies(self, urls: Iterable[str], at: float | None = None) -> dict[str, bytes]:
        """What `pycrawl get` writes, for many URLs; those without a document are left out."""
        database = Database.open_readonly(self.directory.state)
        seed = meta.hash_seed(database)
        found = {}
        with RecordReader(self.directory.docs) as reader:
            for url in urls:
                document = newest_document(database, url_hash(url, seed), at)
                if document is not None:
                    name = file_name(database, document.file_id)
                    plain = reader.read(name, document.offset, document.length)
                    found[url] = trec_web.decode(plain, document.escapes, document.body_length).body
        database.close()
        return found

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Straight from the database, past all of our own code."""
        with closing(sqlite3.connect(f"{self.directory.state.as_uri()}?mode=ro", uri=True)) as database:
            return database.execute(sql).fetchall()

    def documents_by_url(self) -> Counter[str]:
        return Counter(url for (url,) in self.query("SELECT url FROM documents JOIN urls ON urls.id = url_id"))

    def compound_files(self) -> list[Path]:
        return sorted(self.directory.docs.glob("WTX*/B*"))

    def records(self) -> Iterator[tuple[str, str, bytes]]:
        """DOCNO, URL and body of every record, by a reader of the TREC Web format that knows nothing of the store."""
        for path in self.compound_files():
            data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            end = 0
            for match in _RECORD.finditer(data):
                assert match.start() == end, f"{path}: something between two records, byte {end}"
                end = match.end()
                yield match[1].decode(), match[2].decode(), match[5]
            assert end == len(data), f"{path}: something behind the last record"


# The server's side


def url_of(server: SimServer, entry: LogEntry) -> str:
    """The URL that was asked for, as the web writes it."""
    return server.web.page(f"http://{entry.address}:{server.web.settings.port}{entry.path}").url


def pages_served(server: SimServer) -> Counter[str]:
    """URL → 2xx answers, robots.txt apart."""
    return Counter(url_of(server, entry) for entry in answered(server.log()))


def answered(log: Iterable[LogEntry]) -> list[LogEntry]:
    return [entry for entry in log if 200 <= entry.status < 300 and not entry.is_robots]


def assert_holds_the_web(crawl: Crawl, server: SimServer, version: int = 0) -> None:
    """Every page that can be reached is there once, with the bytes that were served, by two ways of reading."""
    web = server.web
    expected = {url: web.page(url).body(version) for url in web.reachable()}
    assert crawl.documents_by_url() == Counter(expected.keys())
    assert crawl.bodies(expected) == expected
    records = list(crawl.records())
    assert {url: body for _, url, body in records} == {url: expected[url] for _, url, _ in records}
    assert Counter(body for _, _, body in records) == Counter(set(expected.values()))
    assert len({docno for docno, _, _ in records}) == len(records)
