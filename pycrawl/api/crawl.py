"""`Crawl`: makes a crawl, runs it, and says how it goes; for scripts, notebooks and threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from pycrawl.api.running import run_crawl
from pycrawl.api.settings import written_settings
from pycrawl.collection.collection import Collection
from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.progress import Ended, Progress, RunLimits
from pycrawl.errors import DirectoryHeld, UsageError
from pycrawl.processes.signals import Interrupts

OnProgress = Callable[[Progress], None]
_NEVER = float("inf")


class Crawl:
    """A crawl's directory. `Crawl(path)` is one that exists, `Crawl.create(path, seeds)` makes one."""

    def __init__(self, path: str | Path) -> None:
        self.directory = CrawlDirectory(Path(path))
        self.directory.config()  # says what is wrong, if there is no crawl
        self._interrupts: Interrupts | None = None  # while a run is going on

    @classmethod
    def create(cls, path: str | Path, seeds: Iterable[str] = (), **settings: Any) -> Crawl:
        """Make a crawl's directory, with seeds and settings as in pycrawl.toml.

        A setting is given by its section (`politeness={"delay": 0.5}`), by its name (`contact="me@example.org"`), or
        by both (`**{"politeness.delay": 0.5}`). Raises ConfigError for one that is wrong, and UsageError if there is a
        crawl already, or if none of the seeds can be used.
        """
        from pycrawl.crawl.creation import Made, check_room, make
        from pycrawl.crawl.seeding import Seeded, add_seeds
        from pycrawl.crawl.session import Session
        from pycrawl.processes.allocation import collected_as_before

        lines = _lines(seeds)
        directory = CrawlDirectory(Path(path))
        check_room(directory)
        if directory.config_file.exists():
            raise UsageError(f"{directory.config_file}: exists already. `pycrawl init` makes a new state for it.")
        changed = written_settings(settings)
        made = Made.of(directory)

        def seed(session: Session) -> Seeded:
            seeded = add_seeds(session, lines, time.time())
            session.commit_last(time.time())
            return seeded

        try:
            with collected_as_before():
                seeded = make(directory, changed, seed)
            if seeded.refused and not (seeded.new or seeded.aside):
                raise UsageError(*(f"{line}: cannot be crawled ({reason})" for line, reason in seeded.examples))
        except BaseException:
            made.undo()
            raise
        return cls(path)

    def __repr__(self) -> str:
        return f"Crawl({str(self.directory.path)!r})"

    @property
    def config(self) -> Config:
        """The settings, as pycrawl.toml says now."""
        return self.directory.config()

    @property
    def collection(self) -> Collection:
        """The pages so far; it works while the crawl runs. Close it when it is not needed any more."""
        return Collection(self.directory.path)

    def add(self, seeds: Iterable[str]) -> None:
        """Add seeds. If the crawl is running, wherever, it takes them in within a second or two."""
        from pycrawl.crawl.seeding import add_seeds
        from pycrawl.crawl.session import Session
        from pycrawl.processes.allocation import collected_as_before

        lines = _lines(seeds)
        try:
            with collected_as_before(), self.directory.hold(), Session(self.directory, self.config) as session:
                add_seeds(session, lines, time.time())
                session.commit_last(time.time())
        except DirectoryHeld:
            self.directory.leave_in_inbox(lines)

    def run(
        self,
        *,
        max_pages: int | None = None,
        max_time: float | str | None = None,
        max_bytes: float | str | None = None,
        max_depth: int | None = None,
        max_requests: int | None = None,
        fetchers: int | None = None,
        recrawl: bool = False,
        on_progress: OnProgress | None = None,
    ) -> Ended:
        """Crawl until nothing is left or a limit is reached, and return how that went.

        Limits are those of `pycrawl crawl`: `max_time` in seconds or as "2h", `max_bytes` as "10 GB". `on_progress` is
        called about twice a second, and at the end. In the main thread, Ctrl-C ends the run, and everything fetched is
        saved; what it was ended by is in `reason` of the result. From another thread, `stop` does that. Raises
        DirectoryHeld if another process or thread crawls there.
        """
        from pycrawl.config import parse_duration, parse_size

        try:
            limits = RunLimits(
                _NEVER if max_pages is None else max_pages,
                _NEVER if max_time is None else parse_duration(max_time),
                _NEVER if max_bytes is None else parse_size(max_bytes),
                _NEVER if max_depth is None else max_depth,
                _NEVER if max_requests is None else max_requests,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        if (
            min(limits.max_pages, limits.max_requests) < 1
            or limits.max_depth < 0
            or (fetchers is not None and fetchers < 1)
        ):
            raise UsageError("expected max_pages, max_requests and fetchers of 1 or more, and max_depth of 0 or more")
        with self.directory.hold():
            self._interrupts = Interrupts()
            try:
                return run_crawl(
                    self.directory, self.config, fetchers, limits, recrawl, lambda: _Watcher(on_progress),
                    self._interrupts,
                )  # fmt: skip
            finally:
                self._interrupts = None

    def stop(self) -> None:
        """Let the run that another thread has begun with this object end: it finishes what is in flight, and saves."""
        if self._interrupts is not None:
            with suppress(OSError, AttributeError):  # it has not quite begun, or has just ended
                self._interrupts.interrupt()

    def stats(self) -> dict[str, Any]:
        """The figures of the crawl, as `pycrawl stats --json` prints them; also while it runs."""
        with self.collection as collection:
            return collection.stats()


class _Watcher:
    """Calls `on_progress`, and says nothing by itself: a program does not want lines on its output."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress

    def __enter__(self) -> _Watcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def show(self, progress: Progress) -> None:
        if self._on_progress is not None:
            self._on_progress(progress)

    def say(self, text: str) -> None:
        pass

    def end(self, ended: Ended, docs: Path) -> None:
        pass


def _lines(seeds: Iterable[str]) -> list[str]:
    if isinstance(seeds, str | Mapping):
        raise UsageError(f"seeds: expected a list of URLs, found {seeds!r}")
    return [str(seed) for seed in seeds]
