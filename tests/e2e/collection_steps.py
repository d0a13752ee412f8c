"""The steps of a life with a collection: crawl, recrawl, change what is kept, compact, damage and repair, export and
import; and what must be true of pages, versions, links and exports after them.

It goes on where `ledger_steps.py` stops: the same web, the same crawls, with the collection's own commands in between.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pycrawl import Collection
from tests.e2e.crawling import Crawl, Running, merged, pycrawl
from tests.e2e.ledger_model import named_by, reasons
from tests.e2e.ledger_steps import FAILED, Life
from tests.e2e.ledger_web import LedgerWeb

DAMAGED_BYTES = 8  # that one damage overwrites
NO_DAMAGE_FOUND = (0, FAILED)  # `verify --repair`: nothing was wrong, or what was is mended


class CollectionLife(Life):
    """A life in which also the settings on what is kept change."""

    def __init__(self, folder: Path, web: LedgerWeb) -> None:
        super().__init__(folder, web)
        self.folder = folder
        self.kept: dict[str, dict[str, object]] = {}  # settings on what is kept and how, by section
        self.was_damaged = False

    def settings(self) -> dict[str, dict[str, object]]:
        return merged(super().settings(), self.kept)

    def finish(self) -> None:
        super().finish()
        with Collection(self.crawl.path) as collection:
            self._check_pages(collection)
            self._check_versions(collection)
            self._check_links(collection)
        self._check_exports()

    def _check_pages(self, collection: Collection) -> None:
        """Each page is one that was served: these bytes, for this URL, in some version of the web."""
        for document in collection:
            served = self._served(document.url)
            assert document.body in served, self.told(f"{document.url} was never served as {document.body[:80]!r}")

    def _served(self, url: str) -> set[bytes]:
        now, bodies = self.web.version, set()
        for version in range(now + 1):
            self.web.version = version
            bodies.add(self.web.body(url))
        self.web.version = now
        return bodies

    def _check_versions(self, collection: Collection) -> None:
        """Two versions of a page that follow each other differ, and `get` gives the last."""
        for url in self.crawl.documents_by_url():
            versions = collection.versions(url)
            bodies = [version.body for version in versions]
            same = [one == other for one, other in pairwise(bodies)]
            assert not any(same), self.told(f"{url} is stored twice in a row: {[one.time for one in versions]}")
            assert collection[url].body == bodies[-1], self.told(f"{url} is not its last version")

    def _check_links(self, collection: Collection) -> None:
        """Links are those of the newest versions, told from both ends alike."""
        into = defaultdict(set)
        for url in self.crawl.documents_by_url():
            expected = set(named_by(self.web, url)) - {url}
            if not self.web.pages[url].content_type.startswith("text/html"):
                expected = set()
            found = {link.url for link in collection.links.of(url)}
            forgotten = {target for target in expected if self.wishes.has_forgotten(target)}
            assert expected - forgotten <= found <= expected, self.told(
                f"links of {url}: {sorted(found)}, not {sorted(expected)}"
            )
            for target in found:
                into[target].add(url)
        stored = self.crawl.documents_by_url().keys()
        for target, pages in into.items():
            told = {link.url for link in collection.links.into(target) if link.url in stored}
            assert told == pages, self.told(f"links to {target}: {sorted(told)}, not {sorted(pages)}")

    def _check_exports(self) -> None:
        """Another crawl that imports the export has the same pages, and an export of that is the same again."""
        archive = self.folder / "all.warc.gz"
        self.command("export", "--format", "warc", "--force", "-o", str(archive))
        other = Crawl.make(self.folder / "other", ())
        ended = pycrawl("import", "-C", other.path, archive)
        assert ended.returncode == 0, self.told(ended.stdout + ended.stderr)
        there, here = _pages(other.path, self.folder), _pages(self.crawl.path, self.folder)
        assert there == here, self.told(f"an import lacks {here - there} and adds {there - here}")
        other.verify()


def _pages(crawl: Path, folder: Path) -> Counter[tuple[str, str]]:
    """URL and a hash of the text of each document, from an export as JSON lines."""
    lines = folder / "pages.jsonl"
    ended = pycrawl("export", "-C", crawl, "--format", "jsonl", "--fields", "url,text", "--force", "-o", lines)
    assert ended.returncode == 0, ended.stderr
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    return Counter((row["url"], hashlib.md5(row["text"].encode()).hexdigest()) for row in rows)


# The steps


@dataclass(frozen=True, slots=True)
class Keep:
    """A setting on what is kept gets another value."""

    section: str
    key: str
    value: Any

    def take(self, life: Life) -> None:
        assert isinstance(life, CollectionLife)
        life.kept = merged(life.kept, {self.section: {self.key: self.value}})


@dataclass(frozen=True, slots=True)
class Compact:
    def take(self, life: Life) -> None:
        life.command("compact")
        life.crawl.verify()


@dataclass(frozen=True, slots=True)
class KilledCompact:
    """`compact` that is ended by kill -9 some moments after its start; the next command carries it on."""

    milliseconds: int

    def take(self, life: Life) -> None:
        running = life.crawl.start("compact")
        _wait(running, self.milliseconds / 1000)
        running.kill_tree()
        life.command("verify")


@dataclass(frozen=True, slots=True)
class DamageAndRepair:
    """Some bytes of a compound file are overwritten; `verify --repair` has what stood there fetched again."""

    seed: int

    def take(self, life: Life) -> None:
        assert isinstance(life, CollectionLife)
        chance = random.Random(self.seed)
        files = [path for path in life.crawl.compound_files() if path.stat().st_size > DAMAGED_BYTES]
        if not files:
            return
        path = chance.choice(files)
        place = chance.randrange(path.stat().st_size - DAMAGED_BYTES)
        with path.open("r+b") as file:
            file.seek(place)
            file.write(chance.randbytes(DAMAGED_BYTES))
        life.was_damaged = True
        life.command("verify", "--repair", codes=NO_DAMAGE_FOUND)
        life.command("verify", "--deep")


@dataclass(frozen=True, slots=True)
class ImportOwnExport:
    """What was exported is imported again: nothing is added, but what the settings want counts as a seed."""

    def take(self, life: Life) -> None:
        assert isinstance(life, CollectionLife)
        archive = life.folder / "own.warc.gz"
        life.command("export", "--format", "warc", "--force", "-o", str(archive))
        before = life.crawl.documents_by_url()
        life.command("import", str(archive))
        assert life.crawl.documents_by_url() == before, life.told("an import of the own export added something")
        wanted = sorted(url for url in before if not reasons(url, life.rules, life.wishes))
        life.wishes = replace(life.wishes, seeds=(*life.wishes.seeds, *wanted))
        life.crawl.verify()


def _wait(running: Running, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    running.until(lambda: time.monotonic() >= deadline)
