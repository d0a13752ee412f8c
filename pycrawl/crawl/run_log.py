"""The log of a crawl's runs, log/crawl.log: one line for each event, with date and time."""

from __future__ import annotations

import logging
import os
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


def open_run_log(directory: CrawlDirectory) -> None:
    """Have all events of this process logged from now on."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    handle = open_file(directory.path, f"{directory.log.name}/crawl.log", flags)
    handler = logging.StreamHandler(os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace"))
    handler.setFormatter(_VisibleLines("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S%z"))
    logging.basicConfig(handlers=[handler], level=logging.INFO)
