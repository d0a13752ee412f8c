"""How `pycrawl crawl` shares its directory with other runs, and repeats itself: for cron, and in its place."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pycrawl.cli import output
from pycrawl.cli.common import moment
from pycrawl.errors import DirectoryHeld, PycrawlError

if TYPE_CHECKING:
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.processes.signals import Interrupts

IF_RUNNING = ("fail", "skip", "wait")
_POLL_SECONDS = 0.5  # between two looks whether the other run has ended


@contextmanager
def holding(directory: CrawlDirectory, if_running: str, signals: Interrupts | None = None) -> Iterator[bool]:
    """Holds the directory; where another run has it, does what `if_running` says.

    Yields False if the directory is not held, and nothing is to be done: another run has it and is not to be disturbed,
    or a signal came while this one waited. Raises DirectoryHeld with "fail".
    """
    while True:
        try:
            with directory.hold():
                yield True
            return
        except DirectoryHeld:
            if if_running == "fail":
                raise
        if if_running == "skip" or (signals is not None and signals.count):
            yield False
            return
        time.sleep(_POLL_SECONDS)


def repeat(seconds: float, run: Callable[[Interrupts], None], quiet: bool) -> None:
    """Runs again and again, so that `seconds` lie between the starts of two runs, until a signal comes.

    A run that fails is reported, and the next one comes all the same; only what is wrong from the start ends it. Raises
    SystemExit if a signal came during a run; a signal between two runs is an ordinary end.
    """
    from pycrawl.processes.signals import Interrupts

    has_run = False
    with Interrupts() as signals:
        while not signals.count:
            begun = time.monotonic()
            try:
                run(signals)
            except PycrawlError as error:
                if not has_run:
                    raise
                output.complain(*(f"{moment(time.time())} pycrawl: {line}" for line in error.lines))
            has_run = True
            left = begun + seconds - time.monotonic()
            if left > 0 and not signals.count:
                if not quiet:
                    output.say(f"{moment(time.time())} The next run starts {moment(time.time() + left)}.")
                    sys.stdout.flush()
                _sleep(left, signals)


def _sleep(seconds: float, signals: Interrupts) -> None:
    """Sleeps until the time is over or a signal comes."""
    until = time.monotonic() + seconds
    while not signals.count and (left := until - time.monotonic()) > 0:
        select.select([signals.fileno()], [], [], left)
