"""The live view of a running crawl: a table that is redrawn in place."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pycrawl.cli.common import by_count, duration, plural, size
from pycrawl.cli.display import hosts_in_words, last_page, time_left, what_limits
from pycrawl.cli.run_summary import parts_of_pages, summary
from pycrawl.crawl.progress import Ended, Progress
from pycrawl.foreign.visible import visible


class LiveDisplay:
    """Redraws one table in place: for terminals."""

    def __init__(self) -> None:
        self._console = Console()
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> LiveDisplay:
        self._live.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def show(self, progress: Progress) -> None:
        self._live.update(_view(progress), refresh=True)

    def say(self, text: str) -> None:
        self._console.print(Text(visible(text)), soft_wrap=True)

    def end(self, ended: Ended, docs: Path) -> None:
        for line in summary(ended, docs):
            self.say(line)


def _view(progress: Progress) -> Table:
    counts = progress.counts
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold cyan")
    table.add_column()
    queued = plural(progress.front + progress.back, "URL")
    rows = {
        "pages": f"{counts.pages:,}  {progress.pages_per_second:,.1f}/s  {parts_of_pages(counts)}",
        "received": f"{size(counts.bytes)}  {size(progress.bytes_per_second)}/s",
        "queued": f"{queued}  ({progress.front:,} front, {progress.back:,} back)",
        "hosts": hosts_in_words(progress),
        "errors": by_count(counts.errors) or "none",
        "speed": what_limits(progress),
        "time": f"{duration(progress.seconds)}, {time_left(progress)}; {last_page(progress)}",
    }
    for name, text in rows.items():
        table.add_row(name, Text(visible(text)))  # never `from_markup`: nothing that is shown is read as markup
    return table
