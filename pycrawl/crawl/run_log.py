"""The log of a crawl's runs, log/crawl.log: one line for each event, with date and time."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TextIO

from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.log_rotation import MOST_EVENT_BYTES, rotate_one
from pycrawl.foreign.files import open_file
from pycrawl.foreign.visible import visible, visible_text

_NAME = "crawl.log"
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
    logger = logging.getLogger("pycrawl")
    before = logger.level, logger.propagate
    handler = _RotatingHandler(directory)
    handler.setFormatter(_VisibleLines("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S%z"))
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        with suppress(OSError):
            handler.stream.close()
        logger.level, logger.propagate = before


class _RotatingHandler(logging.StreamHandler[TextIO]):
    """Writes to log/crawl.log, which begins anew when it is long. An event that cannot be written is lost: a full disk
    stops the crawl by what cannot be stored, which says so."""

    def __init__(self, directory: CrawlDirectory) -> None:
        self._directory = directory
        super().__init__(self._open())

    def _open(self) -> TextIO:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        handle = open_file(self._directory.path, f"{self._directory.log.name}/{_NAME}", flags)
        return os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace")

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        with suppress(OSError):
            if self.stream.tell() > MOST_EVENT_BYTES:
                before = self.stream
                rotate_one(self._directory.log, _NAME)
                self.setStream(self._open())
                before.close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)
