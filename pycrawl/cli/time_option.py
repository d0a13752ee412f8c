"""Times that people type: a click callback for options and arguments that take one."""

from __future__ import annotations

import time
from datetime import datetime

import click


def read_time(ctx: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Returns seconds since 1970 for ISO 8601 (without a zone: local time), for seconds since 1970, or for how long ago
    ("12h", "7d")."""
    from pycrawl.config.keys import parse_duration

    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        pass
    try:
        return time.time() - parse_duration(value)
    except ValueError:
        raise click.BadParameter(
            "expected a time such as 2026-03-01, 2026-03-01T12:30 or seconds since 1970, or how long ago it was,"
            f" such as 12h or 7d; found {value!r}"
        ) from None
