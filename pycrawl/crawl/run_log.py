"""The log of a crawl's runs, log/crawl.log: one line for each event, with date and time."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.foreign.files import open_file
from pycrawl.foreign.visible import visible, visible_text

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class _VisibleLines(logging.Formatter):
    """Events name URLs and quote servers: what they say stays on its line and does nothing to a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name is logging's
        return visible(super().formatMessage(record))

    def formatException(self, ei: _ExcInfo) -> str:  # noqa: N802
        return visible_text(super().formatException(ei))


@contextmanager
def run_log(directory: CrawlDirectory) -> Iterator[None]:
    """Have all events of pycrawl inside this block logged. They go nowhere else: a program that uses pycrawl may have a
    log of its own."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    handle = open_file(directory.path, f"{directory.log.name}/crawl.log", flags)
    logger = logging.getLogger("pycrawl")
    before = logger.level, logger.propagate
    with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as stream:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(_VisibleLines("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S%z"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.level, logger.propagate = before
