"""What is recorded: a crawl with all that writes. `init`, a crawl that is cut short by a limit, one with `add` beside
it, recrawls of a web that has changed, `import`, damage and `verify --repair`, an older state.db that is put back,
`compact`, `forget`, and a crawl behind it."""

from __future__ import annotations

import gzip
import hashlib
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from types import TracebackType

from tests.e2e.crawling import FAST, RUN_SECONDS, Settings, merged, toml
from tests.e2e.site import Reply, Site, after, page
from tests.near_texts import make_family, make_text
from tests.power.recording import CHECKOUT, Recording

SETTINGS: Settings = {
    "traps": {"novelty": False, "soft_404": False},
    "store": {"file_size": 6_000},
    "recrawl": {"min_interval": 0, "keep_versions": 1},
}
OK = 200
_SECONDS = 0.005  # that an answer takes, so that a run has many commits
_DAMAGED_BYTES = 40  # more than a header of gzip, less than a record
_DAMAGE = """
import os, sys
handle = os.open(sys.argv[1], os.O_RDWR)
os.pwrite(handle, bytes.fromhex(sys.argv[3]), int(sys.argv[2]))
os.fsync(handle)
"""
# As after days in which nothing ran: all that the crawl has written is on the disk when an older database comes back.
_PUT_BACK = """
import os, sys
folder, saved = sys.argv[1:]
for name in ("committed", "state.db"):
    handle = os.open(f"{folder}/{name}", os.O_RDWR)
    os.fsync(handle)
with open(saved, "rb") as source, open(f"{folder}/back.db", "wb") as target:
    target.write(source.read())
    target.flush()
    os.fsync(target.fileno())
os.rename(f"{folder}/back.db", f"{folder}/state.db")
os.fsync(os.open(folder, os.O_RDONLY))
"""
_CONFIGURE = """
import os, sys
with open(sys.argv[1], "w") as file:
    file.write(sys.argv[2])
    file.flush()
    os.fsync(file.fileno())
"""


class Web:
    """Two hosts: pages with copies and near-duplicates, a private folder, pages that only `add` finds. Every page
    has a second version."""

    def __init__(self, pages: int, chance: random.Random) -> None:
        self._chance = chance
        self.plain = [f"/pages/{number}.html" for number in range(pages)]
        self.private = [f"/private/{number}.html" for number in range(max(3, pages // 10))]
        self.added = [f"/added/{number}.html" for number in range(2)]
        self.imported = [f"/imported/{number}.html" for number in range(max(4, pages // 4))]
        self.is_free = threading.Event()  # until it is set, the page /held is not answered, and a crawl goes on
        self.is_free.set()
        self.sites = [Site({}, f"127.0.0.{number}") for number in (1, 2)]
        shared = page(text=make_text(chance, 60))
        for site in self.sites:
            site.pages |= self._pages(shared)
        first, second = self.sites
        first.pages["/"] = Reply(first.pages["/"].body + f'<a href="{second.url}/">more</a>', seconds=_SECONDS)
        self._stack = ExitStack()

    @property
    def url(self) -> str:
        return self.sites[0].url

    def _pages(self, shared: Reply) -> dict[str, Reply]:
        family = make_family(self._chance, 150, (0.97, 0.95))
        served = {path: self._text(path) for path in (*self.plain, *self.private, *self.added, *self.imported)}
        served |= {f"/near/{number}": page(text=text) for number, text in enumerate(family.texts)}
        served |= {f"/copy/{number}": served[self.private[number]] for number in range(2)}
        served |= {"/shared": shared, "/broken": Reply(status=500)}
        served["/held"] = replace(self._text("/held"), before=after(self.is_free, RUN_SECONDS))
        served["/moved"] = Reply(status=302, headers={"Location": self.plain[0]})
        linked = [path for path in served if path not in (*self.added, *self.imported)]
        hubs = {f"/hub/{begin}": page(*linked[begin : begin + 10]) for begin in range(0, len(linked), 10)}
        served |= hubs
        served["/"] = page(*hubs)
        return {path: replace(one, seconds=_SECONDS) for path, one in served.items()}

    def _text(self, path: str) -> Reply:
        return page(text=f"{path} {make_text(self._chance, 60)}")

    def change(self) -> None:
        """Serve other versions of some pages from now on."""
        for site in self.sites:
            for path in self._chance.sample(self.plain, len(self.plain) // 3):
                site.pages[path] = Reply(self._text(path).body, seconds=_SECONDS)

    def asked(self) -> int:
        """Requests so far."""
        return sum(len(site.asked) for site in self.sites)

    def wanted(self) -> set[str]:
        """The URLs of all pages that a whole crawl stores, copies included, those aside that no page links to."""
        return {
            site.url + path
            for site in self.sites
            for path, reply in site.pages.items()
            if reply.status == OK and path not in (*self.added, *self.imported)
        }

    def archive(self, site: Site) -> tuple[bytes, list[str]]:
        """A WARC of those pages of a site that only `import` brings, and their URLs."""
        records = (_warc_record(site.url + path, site.pages[path].body) for path in self.imported)
        return b"".join(map(gzip.compress, records)), [site.url + path for path in self.imported]

    def __enter__(self) -> Web:
        for site in self.sites:
            self._stack.enter_context(site)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


class Workload:
    """Runs commands in `recording`, and marks there what they have promised."""

    def __init__(self, web: Web, recording: Recording, faults: Sequence[str] = ()) -> None:
        self._web = web
        self._recording = recording
        self._path = recording.root / "crawl"
        self._start = f"from tests.power.launcher import main; main({list(faults)!r})"

    def init(self) -> None:
        self.run("init", "--seed", self._web.url + "/")
        settings = toml(merged(FAST, SETTINGS))
        subprocess.run(
            [sys.executable, "-c", _CONFIGURE, self._path / "pycrawl.toml", settings],
            env=self._recording.environment(), check=True,
        )  # fmt: skip
        self._recording.mark("made")

    def crawl(self, *arguments: str) -> None:
        self.run("crawl", *arguments)

    def failing(self, fail: str, command: str, *arguments: str) -> tuple[int, str]:
        """Run a command on a disk that fails (POWER_FAIL in recorder.c). Returns its exit code, and what it said."""
        running = self.start(command, *arguments, fail=fail)
        told, _ = running.communicate(timeout=RUN_SECONDS)
        return running.returncode, told

    def crawl_and_add(self) -> None:
        """`add` while a crawl runs."""
        before = self._web.asked()
        self._web.is_free.clear()
        running = self.start("crawl")
        try:
            self._until(running, lambda: self._web.asked() > before)
            for path, site in zip(self._web.added, self._web.sites, strict=True):
                self.run("add", site.url + path)
        finally:
            self._web.is_free.set()
        _check(running)

    def recrawl(self) -> None:
        self._web.change()
        self.run("crawl", "--recrawl")

    def forget(self) -> None:
        prefix = self._web.url + "/private/"
        self._recording.mark("forgetting", prefix=prefix)
        self.run("forget", "--prefix", prefix, "--yes")
        self._recording.mark("forgotten", prefix=prefix)

    def imports(self) -> None:
        """`import` of an archive for each site."""
        urls: list[str] = []
        paths = []
        for number, site in enumerate(self._web.sites):
            content, of_site = self._web.archive(site)
            paths.append(self._recording.root.with_name(f"archive-{number}.warc.gz"))
            paths[-1].write_bytes(content)
            urls += of_site
        self.run("import", *map(str, paths))
        self._recording.mark("imported", urls=urls)

    def damage_and_repair(self) -> None:
        """A record is overwritten; `verify --repair`, and a crawl that fetches what was lost."""
        path = max(self._path.glob("docs/*/B*"), key=lambda path: path.stat().st_size)
        rubbish = hashlib.sha512(path.name.encode()).digest()[:_DAMAGED_BYTES].hex()
        self._change("damaged", _DAMAGE, path, path.stat().st_size // 2, rubbish)
        told = self.run("verify", "--repair")
        assert " lost:" in told, told
        self._recording.mark("repaired")
        self.crawl()

    def put_back(self) -> None:
        """A state.db from before a recrawl is put back, so that the next crawl moves newer records aside."""
        saved = self._recording.root.with_name("saved.db")
        saved.write_bytes((self._path / "state.db").read_bytes())
        self.recrawl()
        assert not (self._path / "state.db-wal").exists()
        self._change("put-back", _PUT_BACK, self._path, saved)
        self.crawl("--recrawl")
        assert (self._path / "aside").exists()

    def compact(self) -> None:
        told = self.run("compact")
        assert "removed" in told, told

    def all(self) -> None:
        self.init()
        self.crawl("--max-pages", "10")
        self.crawl_and_add()
        self.recrawl()
        self.imports()
        self.damage_and_repair()
        self.put_back()
        self.recrawl()
        self.compact()
        self.forget()
        self.recrawl()

    def _change(self, what: str, script: str, *arguments: object) -> None:
        """Change the disk by other means than pycrawl, and mark it so."""
        self._recording.mark("changing")
        subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)], env=self._recording.environment(), check=True
        )
        self._recording.mark(what)

    def run(self, command: str, *arguments: str) -> str:
        """Returns what it said."""
        return _check(self.start(command, *arguments))

    def start(self, command: str, *arguments: str, fail: str = "") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", self._start, command, "-C", str(self._path), *arguments],
            env=self._recording.environment(fail), cwd=CHECKOUT, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def _until(self, running: subprocess.Popen[str], condition: Callable[[], bool]) -> None:
        while not condition():
            try:
                running.wait(0.01)
            except subprocess.TimeoutExpired:
                continue
            return


def _warc_record(url: str, body: str) -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}".encode()
    headers = f"WARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: {len(block)}\r\n\r\n"
    return f"WARC/1.0\r\nWARC-Type: response\r\n{headers}".encode() + block + b"\r\n\r\n"


def _check(running: subprocess.Popen[str]) -> str:
    told, _ = running.communicate(timeout=RUN_SECONDS)
    assert running.returncode == 0, told
    return told
