"""What people see of a running crawl: a live view on a terminal, elsewhere a plain line every ten seconds."""

from __future__ import annotations

import math
import time
from pathlib import Path
from types import TracebackType
from typing import Protocol

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pycrawl.cli.common import duration, plural, size
from pycrawl.crawl.progress import Ended, Progress, RunLimits

_PLAIN_SECONDS = 10.0  # between two lines of the plain display
_BUSY = 0.9  # share of its time; a coordinator that works more than this is what limits the speed
_ENDINGS = {
    "finished": "Finished: nothing is left to fetch",
    "max-pages": "Stopped at --max-pages",
    "max-time": "Stopped at --max-time",
    "max-bytes": "Stopped at --max-bytes",
    "interrupted": "Interrupted; everything is saved. `pycrawl crawl` continues from here",
}


class Display(Protocol):
    """What a crawl shows itself on: `show` is called a few times a second, `end` once, after the context is left."""

    def __enter__(self) -> Display: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def show(self, progress: Progress) -> None: ...

    def end(self, ended: Ended, docs: Path) -> None: ...


def open_display(limits: RunLimits) -> Display:
    console = Console()
    return LiveDisplay(console, limits) if console.is_terminal else PlainDisplay()


def what_limits(progress: Progress) -> str:
    """Returns what keeps the crawl from being faster right now, in one line."""
    if progress.stopping:
        fetches = plural(progress.in_flight, "fetch", "fetches")
        return f"ending ({progress.stopping}): {fetches} open; Ctrl-C stops at once"
    if progress.in_flight >= progress.slots:
        return f"slots: all {progress.slots} are in use (crawl.slots_per_fetcher)"
    if progress.busy_share > _BUSY:
        return "processor: the coordinator is busy all the time"
    hosts = progress.active_hosts + progress.waiting_hosts
    if hosts and progress.waiting_hosts and progress.typical_gap > 0:
        bound = hosts / progress.typical_gap
        text = f"politeness: {plural(hosts, 'host')} at {progress.typical_gap:.3g} s each allow {bound:.3g} pages/s"
        if not progress.in_flight:
            text += f"; the next fetch is due in {duration(progress.next_ready_in)}"
        return text
    if progress.in_flight:
        return f"servers: waiting for {plural(progress.in_flight, 'answer')}"
    return "nothing is due now"


def time_left(progress: Progress) -> str:
    """Returns how much is left until the limit on pages or on time, if there is one."""
    if math.isfinite(progress.pages_left):
        text = f"{progress.pages_left:,.0f} pages left"
        if progress.pages_per_second:
            text += f", about {duration(progress.pages_left / progress.pages_per_second)}"
        return text
    if math.isfinite(progress.seconds_left):
        return f"{duration(max(0.0, progress.seconds_left))} left"
    return "until nothing is left"


class PlainDisplay:
    """Prints a line now and then: for cron jobs and pipes."""

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
        counts = progress.counts
        click.echo(
            f"{duration(progress.seconds)}: {plural(counts.pages, 'page')} ({progress.pages_per_second:.1f}/s),"
            f" {size(counts.bytes)} ({size(progress.bytes_per_second)}/s), {progress.front + progress.back:,} queued,"
            f" {progress.active_hosts:,} hosts active, {progress.waiting_hosts:,} waiting,"
            f" {sum(counts.errors.values()):,} errors; {what_limits(progress)}"
        )

    def end(self, ended: Ended, docs: Path) -> None:
        for line in summary(ended, docs):
            click.echo(line)


class LiveDisplay:
    """Redraws one table in place: for terminals."""

    def __init__(self, console: Console, limits: RunLimits) -> None:
        self._console = console
        self._limits = limits
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> LiveDisplay:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, progress: Progress) -> None:
        self._live.update(_view(progress), refresh=True)

    def end(self, ended: Ended, docs: Path) -> None:
        for line in summary(ended, docs):
            self._console.print(line, highlight=False)


def _view(progress: Progress) -> Table:
    counts = progress.counts
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold cyan")
    table.add_column()
    stored = f"{counts.stored:,} stored"
    stored += f", {counts.duplicates:,} copies" if counts.duplicates else ""
    stored += f", {counts.not_modified:,} not modified" if counts.not_modified else ""
    parked = f", {progress.parked_hosts:,} parked" if progress.parked_hosts else ""
    rows = {
        "pages": f"{counts.pages:,}  [bold]{progress.pages_per_second:,.1f}/s[/]  {stored}",
        "received": f"{size(counts.bytes)}  {size(progress.bytes_per_second)}/s",
        "queued": f"{progress.front + progress.back:,} URLs  ({progress.front:,} front, {progress.back:,} back)",
        "hosts": f"{progress.active_hosts:,} active, {progress.waiting_hosts:,} waiting{parked}",
        "errors": _errors(counts.errors),
        "speed": what_limits(progress),
        "time": f"{duration(progress.seconds)}, {time_left(progress)}",
    }
    for name, text in rows.items():
        table.add_row(name, Text.from_markup(text))
    return table


def _errors(errors: dict[str, int]) -> str:
    if not errors:
        return "none"
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(errors.items(), key=lambda one: -one[1]))


def summary(ended: Ended, docs: Path) -> list[str]:
    """Returns the lines that are printed when a run has ended."""
    counts = ended.counts
    rate = counts.pages / ended.seconds if ended.seconds else 0.0
    lines = [
        f"{_ENDINGS.get(ended.reason, ended.reason)}.",
        f"{plural(counts.pages, 'page')} in {duration(ended.seconds)} ({rate:,.1f}/s), {size(counts.bytes)}:"
        f" {counts.stored:,} stored, {counts.duplicates:,} copies, {counts.not_modified:,} not modified,"
        f" {counts.robots_denied:,} denied by robots.txt, {counts.failed_urls:,} failed.",
    ]
    if counts.errors:
        lines.append(f"Failed fetches: {_errors(counts.errors)}.")
    if counts.unread:
        types = ", ".join(f"{name} ({count:,})" for name, count in sorted(counts.unread.items()))
        lines.append(f"Stored unread, as no parser for these types is installed: {types}.")
    if ended.fetchers_replaced:
        lines.append(
            f"{plural(ended.fetchers_replaced, 'fetcher')} died and had to be replaced; log/fetchers.log says why."
        )
    if ended.queued:
        parked = f", {plural(ended.parked_hosts, 'host')} put off until later" if ended.parked_hosts else ""
        lines.append(f"{plural(ended.queued, 'URL')} still queued{parked}.")
    lines.append(f"The collection is in {docs}.")
    return lines
