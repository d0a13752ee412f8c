"""How counts are written, and what is said while people wait."""

from __future__ import annotations

import time
from collections.abc import Callable

_PATIENCE_SECONDS = 1.0  # without a word of what is going on


def plural(count: int, one: str, many: str = "") -> str:
    """Writes a count with its noun: "1 page", "2,000 pages"; `many` is the plural where an "s" does not make it."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def judging_progress(say: Callable[[str], None]) -> Callable[[int, int], None]:
    """Says how far the judging of all known URLs is, where that takes longer than a second."""
    begun = time.monotonic()
    shown = [0.0]

    def show(done: int, total: int) -> None:
        now = time.monotonic()
        if done >= total and shown[0]:
            say(f"The settings have changed: {total:,} known URLs were judged anew.")
        elif now - begun > _PATIENCE_SECONDS and now - shown[0] > _PATIENCE_SECONDS:
            shown[0] = now
            say(f"The settings have changed: judging {done:,} of {total:,} known URLs anew …")

    return show
