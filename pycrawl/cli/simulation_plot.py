"""The plot of `pycrawl simulate`: the mean age day by day, one line for each policy, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycrawl.collection.report.charts import text

MARK = "<!-- made by pycrawl simulate -->"
_WIDTH, _HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 170, 30, 40  # margins
_COLOURS = ("#0969da", "#bf8700", "#6e7781", "#cf222e", "#1a7f37")
_MOST_POINTS = 400  # of a line; days beyond are left out evenly
_STEPS = 4  # of the scale


def plot(ages: Mapping[str, Sequence[float]]) -> str:
    """Returns the SVG. `ages`: for each policy, the mean age in days, day by day."""
    highest = max(max(series) for series in ages.values()) or 1.0
    days = max(len(series) for series in ages.values())
    parts = [_scale(highest, days)]
    for place, (name, series) in enumerate(ages.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        step = -(-len(series) // _MOST_POINTS)
        points = " ".join(f"{_x(day, days):.1f},{_y(series[day] / highest):.1f}" for day in range(0, len(series), step))
        below = _TOP + 20 * place + 10
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>'
            f'<rect x="{_WIDTH - _RIGHT + 15}" y="{below - 9}" width="12" height="10" fill="{colour}"/>'
            f'<text x="{_WIDTH - _RIGHT + 33}" y="{below}">{text(name)}</text>'
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        f' font-size="12" role="img" aria-label="Mean age of the collection">{MARK}'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def _scale(highest: float, days: int) -> str:
    lines = "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(step / _STEPS):.1f}" y2="{_y(step / _STEPS):.1f}"'
        f' stroke="#d0d7de"/><text x="{_LEFT - 6}" y="{_y(step / _STEPS) + 4:.1f}" text-anchor="end">'
        f"{highest * step / _STEPS:.3g}</text>"
        for step in range(_STEPS + 1)
    )
    return (
        f'{lines}<text x="{_LEFT}" y="18">mean age, days</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 15}">day 1</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 15}" text-anchor="end">day {days:,}</text>'
    )


def _x(day: int, days: int) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * day / max(days - 1, 1)


def _y(share: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * share
