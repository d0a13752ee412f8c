"""A call into a plugin: bounded in time, and whatever it raises becomes `PluginFailed`.

Time is bounded by an alarm signal, which ends any Python code; code that loops inside a C library is not ended by it,
but then the whole fetcher is replaced (limits.fetcher_timeout). A plugin that runs out of time again and again is not
asked any more, so that its pages do not hold up others.
"""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

CALL_SECONDS = 5.0  # for one call
_AGAIN_SECONDS = 1.0  # a plugin that caught the alarm gets another one
_MOST_TIMEOUTS = 3  # of one plugin in one process
_LONGEST_REASON = 200  # characters

_timeouts: Counter[str] = Counter()


class PluginFailed(Exception):
    """Says which plugin failed and why, in one line. It stays inside its process."""


class _Alarm(BaseException):
    """Not an Exception: a plugin that catches everything it knows of does not catch this."""


def guarded(name: str, function: Callable[..., Any], *arguments: object, seconds: float = CALL_SECONDS) -> Any:
    """What `function(*arguments)` of the plugin `name` returns. Raises PluginFailed."""
    if _timeouts[name] >= _MOST_TIMEOUTS:
        raise PluginFailed(f"{name}: not asked any more, as it took longer than {seconds:g} s {_MOST_TIMEOUTS} times")
    try:
        if threading.current_thread() is not threading.main_thread():
            return function(*arguments)  # signals reach the main thread only
        before = signal.signal(signal.SIGALRM, _on_alarm)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_SECONDS)
            return function(*arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    except _Alarm:
        _timeouts[name] += 1
        raise PluginFailed(f"{name}: took longer than {seconds:g} s") from None
    except Exception as error:  # whatever a plugin raises is its own fault, and named
        reason = f"{type(error).__name__}: {error}"
        raise PluginFailed(f"{name}: {reason[:_LONGEST_REASON]}") from error


def _on_alarm(number: int, frame: FrameType | None) -> None:
    raise _Alarm
