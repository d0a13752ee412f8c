"""What people see of a running crawl: a live view on a terminal (`live_display.py`), elsewhere a plain line every ten
seconds."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Protocol

from pycrawl.cli import output
from pycrawl.cli.common import duration, moment, plural, size
from pycrawl.cli.run_summary import summary
from pycrawl.crawl.progress import Ended, Progress

_PLAIN_SECONDS = 10.0  # between two lines of the plain display
_NOTICEABLE = 0.1  # seconds: a shorter wait is not worth a word
_BUSY = 0.9  # share of its time; a coordinator that works more than this is what limits the speed


class Display(Protocol):
    """What a crawl shows itself on: `show` is called a few times a second while the context is open, `say` and `end`
    while it is not."""

    def __enter__(self) -> Display: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, progress: Progress) -> None: ...

    def say(self, text: str) -> None: ...

    def end(self, ended: Ended, docs: Path) -> None: ...


def open_display(quiet: bool = False) -> Display:
    if quiet:
        return NoDisplay()
    if not sys.stdout.isatty():
        return PlainDisplay()
    from pycrawl.cli.live_display import LiveDisplay  # loads rich, which takes a tenth of a second

    return LiveDisplay()


def what_limits(progress: Progress) -> str:
    """Returns what keeps the crawl from being faster right now, or what it waits for, in one line."""
    if progress.stopping:
        fetches = plural(progress.in_flight, "fetch", "fetches")
        documents = f", {plural(progress.documents, 'document')} to be converted" if progress.documents else ""
        return f"ending ({progress.stopping}): {fetches} open{documents}; Ctrl-C stops at once"
    if progress.in_flight >= progress.slots:
        return f"slots: all {progress.slots} are in use (crawl.slots_per_fetcher)"
    if progress.busy_share > _BUSY:
        return "processor: the coordinator is busy all the time"
    if progress.waiting_hosts and progress.typical_gap > 0:
        return _politeness(progress)
    if progress.in_flight:
        return f"servers: waiting for {plural(progress.in_flight, 'answer')}"
    if progress.documents:
        return f"documents: converting {progress.documents}"
    if progress.failing_hosts and math.isfinite(progress.next_ready_in):
        hosts = plural(progress.failing_hosts, "host that fails", "hosts that fail")
        return f"waiting for {hosts}; the next try is in {duration(progress.next_ready_in)}"
    return "nothing is due now"


def _politeness(progress: Progress) -> str:
    """Returns how many pages a second the pauses allow; hosts that fail or are parked give none."""
    hosts = progress.active_hosts + progress.waiting_hosts
    bound = progress.addresses / progress.typical_gap
    shared = "" if progress.addresses == hosts else f" at {plural(progress.addresses, 'address', 'addresses')}"
    allow = "allows" if hosts == 1 else "allow"
    pages = f"{plural(hosts, 'host')}{shared}, {progress.typical_gap:.3g} s each, {allow} {bound:.3g} pages/s"
    waits = not progress.in_flight and progress.next_ready_in >= _NOTICEABLE
    due = f"; waiting, the next fetch is due in {duration(progress.next_ready_in)}" if waits else ""
    return f"politeness: {pages}{due}"


def last_page(progress: Progress) -> str:
    """Returns when the last page came: "last page 0.3 s ago"."""
    if math.isinf(progress.since_last_page):
        return "no page yet"
    return f"last page {duration(progress.since_last_page)} ago"


def time_left(progress: Progress) -> str:
    """Returns how much is left until the limit on pages or on time, if there is one."""
    if math.isfinite(progress.pages_left):
        text = f"{plural(int(progress.pages_left), 'page')} left"
        if progress.pages_per_second:
            text += f", about {duration(progress.pages_left / progress.pages_per_second)}"
        return text
    if math.isfinite(progress.seconds_left):
        return f"{duration(max(0.0, progress.seconds_left))} left"
    return "until nothing is left"


class NoDisplay:
    """Shows nothing: for cron jobs that are to be heard of only when something is wrong."""

    def __enter__(self) -> NoDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, progress: Progress) -> None:
        pass

    def say(self, text: str) -> None:
        pass

    def end(self, ended: Ended, docs: Path) -> None:
        pass


class PlainDisplay:
    """Prints a line now and then, with date and time: for cron jobs and pipes."""

    def __init__(self) -> None:
        self._shown_at = time.monotonic()

    def __enter__(self) -> PlainDisplay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._shown_at < _PLAIN_SECONDS:
            return
        self._shown_at = now
        self.say(f"{_plain(progress)}; {last_page(progress)}; {what_limits(progress)}")

    def say(self, text: str) -> None:
        output.say(f"{moment(time.time())} {text}")

    def end(self, ended: Ended, docs: Path) -> None:
        for line in summary(ended, docs):
            self.say(line)


def _plain(progress: Progress) -> str:
    counts = progress.counts
    return (
        f"{duration(progress.seconds)}: {plural(counts.pages, 'page')} ({progress.pages_per_second:.1f}/s),"
        f" {size(counts.bytes)} ({size(progress.bytes_per_second)}/s),"
        f" {plural(progress.front + progress.back, 'URL')} queued, {hosts_in_words(progress)},"
        f" {plural(sum(counts.errors.values()), 'error')}"
    )


def hosts_in_words(progress: Progress) -> str:
    """Returns how many hosts are active, wait, fail and are put off."""
    text = f"{plural(progress.active_hosts, 'host')} active, {progress.waiting_hosts:,} waiting"
    text += f", {progress.failing_hosts:,} failing" if progress.failing_hosts else ""
    return text + (f", {progress.parked_hosts:,} put off" if progress.parked_hosts else "")
