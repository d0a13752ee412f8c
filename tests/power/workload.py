"""What is recorded: a crawl with all that writes. `init`, a crawl that is cut short by a limit, one with `add` beside
it, a recrawl of a web that has changed, `forget`, and a crawl behind it."""

from __future__ import annotations

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
    "recrawl": {"min_interval": 0},
}
OK = 200
_SECONDS = 0.005  # that an answer takes, so that a run has many commits
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
        served = {path: self._text(path) for path in (*self.plain, *self.private, *self.added)}
        served |= {f"/near/{number}": page(text=text) for number, text in enumerate(family.texts)}
        served |= {f"/copy/{number}": served[self.private[number]] for number in range(2)}
        served |= {"/shared": shared, "/broken": Reply(status=500)}
        served["/held"] = replace(self._text("/held"), before=after(self.is_free, RUN_SECONDS))
        served["/moved"] = Reply(status=302, headers={"Location": self.plain[0]})
        linked = [path for path in served if path not in self.added]
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
        """The URLs of all pages that a whole crawl stores, copies included, those aside that only `add` finds."""
        return {
            site.url + path
            for site in self.sites
            for path, reply in site.pages.items()
            if reply.status == OK and path not in self.added
        }

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

    def all(self) -> None:
        self.init()
        self.crawl("--max-pages", "10")
        self.crawl_and_add()
        self.recrawl()
        self.forget()
        self.recrawl()

    def run(self, command: str, *arguments: str) -> None:
        _check(self.start(command, *arguments))

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


def _check(running: subprocess.Popen[str]) -> None:
    told, _ = running.communicate(timeout=RUN_SECONDS)
    assert running.returncode == 0, told
