"""Faults of our own while an answer is handled: its URL ends as INTERNAL_ERROR, and the log has the traceback."""

from __future__ import annotations

import logging
import re
import traceback

_MOST_NOTED = 100  # tracebacks of one process: a server that knows of a fault could fill the disk with them
_UNPRINTABLE = re.compile(r"[^\n -~]")

_log = logging.getLogger(__name__)
_noted = 0


def note_fault(url: str, error: Exception) -> str:
    """Write the traceback of `error` to the log. Returns the detail of the URL's outcome, in one line."""
    global _noted
    detail = " ".join(f"{type(error).__name__}: {error}".split())
    if _noted < _MOST_NOTED:
        _noted += 1
        text = f"{url}\n{''.join(traceback.format_exception(error))}"
        _log.error("%s", _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text))
    return detail
