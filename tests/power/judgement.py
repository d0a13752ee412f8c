"""What a disk after a power cut must hold: exactly what had been counted when the power went.

A commit that has returned counts; the one that is under way may count or not. So the disk must read like the state
behind one of these two, as it would read if the program had only been killed there: every record, every URL with where
it stands, every total. pycrawl's own reading of it, by its commands and by a reader of TREC Web that knows nothing of
the store, is what is compared; no table is.
"""

from __future__ import annotations

import gc
import hashlib
import json
import random
import shutil
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from pycrawl.cli import cli
from pycrawl.collection.verify import verify
from pycrawl.crawl.session import Session
from pycrawl.errors import PycrawlError
from tests.e2e.crawling import Crawl, pycrawl
from tests.power.disk import Cut, Disk, RandomCut, write_image
from tests.power.recording import Recording
from tests.power.workload import Web

Image = dict[str, bytes | None]
CRAWL = "crawl"  # the crawl's directory on the recorded disk
_CHANGES = ("damaged", "put-back")  # the disk was changed by others than pycrawl
_VOLATILE = {"now", "pages_per_second"}  # of `stats --json`


@dataclass(frozen=True, slots=True)
class Facts:
    """What a crawl's directory holds."""

    records: dict[str, tuple[str, str]]  # DOCNO → URL, digest of the body
    bodies: dict[str, str]  # URL → digest of the newest body that `get` finds
    urls: dict[str, Any]  # URL → what `list --json` says of it
    totals: dict[str, Any]  # `stats --json`
    aside: frozenset[str] = frozenset()  # digests of what was moved out of the collection

    def difference(self, other: Facts) -> str:
        """Says in a line what `other` has in another way. It may have more aside: what was only begun to be moved."""
        if self.aside - other.aside:
            return f"aside: {len(self.aside - other.aside)} files lost of {len(self.aside)}"
        for name in ("records", "bodies", "urls", "totals"):
            mine, theirs = getattr(self, name), getattr(other, name)
            missing = sorted(mine.keys() - theirs.keys())
            more = sorted(theirs.keys() - mine.keys())
            changed = sorted(key for key in mine.keys() & theirs.keys() if mine[key] != theirs[key])
            if missing or more or changed:
                example = f"; {mine[changed[0]]} became {theirs[changed[0]]}" if changed else ""
                return (
                    f"{name}: {len(missing)} lost {missing[:3]}, {len(more)} too many {more[:3]},"
                    f" {len(changed)} changed {changed[:3]}{example}"
                )
        return ""


class Loss(Exception):
    """A disk after a power cut does not hold what had been counted, or pycrawl cannot go on with it."""


def open_and_read(image: Image, root: Path, is_damaged: bool = False) -> Facts:
    """Returns what pycrawl finds on a disk, which it opens for writing first, as each run does; one that is damaged, it
    repairs. Raises Loss if it cannot, or if `verify` finds a fault."""
    write_image(image, root)
    thresholds = gc.get_threshold()
    try:
        crawl = Crawl(root / CRAWL)
        try:
            with crawl.directory.hold(), Session(crawl.directory, crawl.directory.config()):
                pass
        except (PycrawlError, OSError) as error:
            raise Loss(f"cannot be opened: {type(error).__name__}: {error}") from error
        if is_damaged:
            _lines(crawl, "verify", "--repair")
        return read(crawl)
    finally:
        shutil.rmtree(root)
        gc.unfreeze()  # a session sets the collector for itself, as if it were the only one of its process
        gc.set_threshold(*thresholds)
        gc.collect()


def read(crawl: Crawl) -> Facts:
    """Returns what a crawl holds, once `verify` finds no fault with it."""
    try:
        faults = [fault for check in verify(crawl.directory, lambda _: None) for fault in check.faults]
        if faults:
            raise Loss(f"verify: {faults[:3]}")
        urls = {line["url"]: line for line in map(json.loads, _lines(crawl, "list", "--json"))}
        bodies = {url: _digest(body) for url, body in crawl.bodies(urls).items()}
        records = list(crawl.records())
    except (AssertionError, PycrawlError, OSError) as error:
        raise Loss(f"{type(error).__name__}: {error}") from error
    by_docno = {docno: (url, _digest(body)) for docno, url, body in records}
    if len(by_docno) != len(records):
        raise Loss("a DOCNO was given out twice")
    totals = json.loads("".join(_lines(crawl, "stats", "--json")))
    aside = frozenset(_digest(path.read_bytes()) for path in crawl.path.glob("aside/*/*/*"))
    return Facts(by_docno, bodies, urls, {key: value for key, value in totals.items() if key not in _VOLATILE}, aside)


def _lines(crawl: Crawl, command: str, *arguments: str) -> list[str]:
    ended = CliRunner().invoke(cli, [command, "-C", str(crawl.path), *arguments])
    if ended.exit_code:
        raise Loss(f"{command}: {ended.output}")
    return ended.stdout.splitlines()


def _digest(body: bytes) -> str:
    return hashlib.sha1(body, usedforsecurity=False).hexdigest()


@dataclass(slots=True)
class Verdict:
    """What came of one power cut."""

    at: int  # which event was the last before it
    kind: str
    loss: str = ""  # empty: none


@dataclass(slots=True)
class Judge:
    """Cuts the power of a recorded run, and looks at what is left."""

    recording: Recording
    web: Web
    folder: Path  # for images
    chance: random.Random
    _commits: list[int] = field(default_factory=list)  # the events behind which a commit had returned
    _promises: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    _facts: dict[int, Facts] = field(default_factory=dict)  # of the events that were asked for
    _first: int = 0  # the event behind which there is a crawl
    _count: int = 0  # events

    def __post_init__(self) -> None:
        disk = Disk(self.recording)
        for event in self.recording.events():
            disk.take(event)
        self._commits = [at for at, mark in disk.marks if mark["what"] == "commit"]
        self._promises = [(at, mark) for at, mark in disk.marks if mark["what"] != "commit"]
        self._first = next(at for at, mark in self._promises if mark["what"] == "made")
        self._count = disk.count

    @property
    def end(self) -> int:
        """The last event."""
        return self._count

    def moments(self, count: int) -> list[int]:
        """Returns events behind which the power goes, in order: half of them anywhere, half where most is at stake;
        none while the disk is changed by others."""
        events = [
            at for at in range(self._first, self._count + 1) if self._last(at, *_CHANGES, "changing")[1] != "changing"
        ]
        return sorted([*self.chance.choices(events, k=count - count // 2), *self.delicate(count // 2)])

    def _last(self, at: int, *whats: str) -> tuple[int, str]:
        """Returns the last of these promises that was given at event `at`: when, which one."""
        return max(
            ((when, mark["what"]) for when, mark in self._promises if when <= at and mark["what"] in whats),
            default=(0, ""),
        )

    def delicate(self, count: int, promise: str = "") -> list[int]:
        """Returns events by which a commit or a command has just returned, in order of chance; of a `promise`
        ("added"), those by which it was given."""
        marks = [at for at, mark in self._promises if promise in ("", mark["what"]) and at >= self._first]
        marks += [at for at in self._commits if at >= self._first and not promise]
        return [self.chance.choice(marks) for _ in range(count)]

    def cut(self, moments: Sequence[int], goes_on: bool = True) -> Iterator[Verdict]:
        """Yields what each cut came to."""
        for at, image, kind in self._images(moments):
            verdict = Verdict(at, kind)
            try:
                self._judge(at, image, goes_on)
            except Loss as loss:
                verdict.loss = str(loss)
            yield verdict

    def _images(self, moments: Sequence[int]) -> Iterator[tuple[int, Image, str]]:
        disk = Disk(self.recording)
        events = self.recording.events()
        for at in moments:
            if at < disk.count:
                disk = Disk(self.recording)
                events = self.recording.events()
            while disk.count < at:
                disk.take(next(events))
            cut = RandomCut(self.chance)
            yield at, disk.image(cut), cut.kind

    def _judge(self, at: int, image: Image, goes_on: bool) -> None:
        found = open_and_read(image, self.folder / "cut", self._is_damaged(at))
        number = bisect_right(self._commits, at)  # commits that had returned
        changed_at, _ = self._last(at, *_CHANGES)
        expected = self._facts_at(max(self._commits[number - 1], changed_at))
        loss = expected.difference(found)
        if loss and (number == len(self._commits) or self._facts_at(self._commits[number]).difference(found)):
            raise Loss(f"after {number} commits: {loss}")
        if goes_on:
            self._go_on(at, image, expected)

    def _is_damaged(self, at: int) -> bool:
        return self._last(at, "damaged", "repaired")[1] == "damaged"

    def _facts_at(self, at: int) -> Facts:
        """Returns what the directory held behind an event, by which a commit had returned, or others had changed it."""
        if at not in self._facts:
            disk = Disk(self.recording)
            for event in self.recording.events():
                if disk.count == at:
                    break
                disk.take(event)
            self._facts[at] = open_and_read(disk.image(Cut()), self.folder / "reference", self._is_damaged(at))
        return self._facts[at]

    def _go_on(self, at: int, image: Image, before: Facts) -> None:
        """The real program goes on with the disk, to the end: nothing that was counted is lost, nothing is there twice,
        and what was promised is kept."""
        root = self.folder / "goes-on"
        write_image(image, root)
        try:
            if self._is_damaged(at):
                _lines(Crawl(root / CRAWL), "verify", "--repair")
            ended = pycrawl("crawl", "-C", root / CRAWL)
            if ended.returncode:
                raise Loss(f"crawl: {ended.stdout}{ended.stderr}")
            after = read(Crawl(root / CRAWL))
        finally:
            shutil.rmtree(root)
        kept = {docno: record for docno, record in after.records.items() if docno in before.records}
        if kept != before.records:
            raise Loss(f"{len(before.records) - len(kept)} records are missing, or others, after the crawl went on")
        self._check(before.urls.keys() - after.urls.keys(), "URLs are lost after the crawl went on")
        self._check(set(before.aside - after.aside), "files are missing that were moved aside")
        marks = [mark for when, mark in self._promises if when <= at]
        is_forgotten = tuple(mark["prefix"] for mark in marks if mark["what"] == "forgetting")
        self._check(
            {url for url in self.web.wanted() if url not in after.bodies and not url.startswith(is_forgotten)},
            "pages are missing at the end",
        )
        imported = {url for mark in marks if mark["what"] == "imported" for url in mark["urls"]}
        self._check(imported - after.bodies.keys(), "pages are missing that were imported")
        added = {mark["url"] for mark in marks if mark["what"] == "added"}
        self._check(added - after.urls.keys(), "URLs that `add` had taken are not known")
        gone = tuple(mark["prefix"] for mark in marks if mark["what"] == "forgotten")
        self._check({url for url in after.urls if url.startswith(gone)}, "URLs are back that were forgotten")

    def _check(self, urls: set[str], what: str) -> None:
        if urls:
            raise Loss(f"{len(urls)} {what}: {sorted(urls)[:3]}")
