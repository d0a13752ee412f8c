"""Parts of a report as HTML and inline SVG. Every text that comes in is escaped here, and made visible."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from datetime import datetime

from pycrawl.foreign.visible import visible

_SIZE_UNITS = ("bytes", "KB", "MB", "GB", "TB")
_LONGEST = 300  # characters of a text that is shown


def text(value: object) -> str:
    """Returns anything as text that is safe inside HTML, on one line and not too long."""
    shown = visible(str(value))
    return html.escape(shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…")


def number(value: float) -> str:
    return f"{value:,.0f}"


def size(amount: float) -> str:
    for unit in _SIZE_UNITS:
        if amount < 1000 or unit == _SIZE_UNITS[-1]:
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"


def share(part: float, whole: float) -> str:
    if not whole:
        return "0 %"
    percent = 100 * part / whole
    return "< 0.1 %" if 0 < percent < 0.1 else f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def moment(at: float | None, form: str = "%Y-%m-%d %H:%M") -> str:
    return datetime.fromtimestamp(at).astimezone().strftime(form + " %Z").strip() if at else "–"


def card(title: str, body: str, note: str = "") -> str:
    noted = f'<p class="note">{note}</p>' if note else ""
    return f'<section class="card"><h2>{text(title)}</h2>{body}{noted}</section>'


def tiles(values: Sequence[tuple[str, str]]) -> str:
    """Returns large figures with what they mean."""
    made = "".join(f"<div><b>{text(value)}</b><span>{text(name)}</span></div>" for name, value in values)
    return f'<div class="tiles">{made}</div>'


def bars(rows: Sequence[tuple[str, float]], shown: Sequence[str] | None = None, kind: str = "") -> str:
    """Returns a bar for each row, with its name and its value (as `shown`, or the number itself)."""
    if not rows:
        return '<p class="none">None.</p>'
    most = max(value for _, value in rows) or 1
    made = []
    for place, (name, value) in enumerate(rows):
        width = 100 * value / most
        label = shown[place] if shown else number(value)
        made.append(
            f'<li><span class="name" title="{text(name)}">{text(name)}</span><svg class="bar {kind}"'
            ' viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
            f'<rect class="rail" width="100" height="10"/>'
            f'<rect class="fill" width="{width:.2f}" height="10"/></svg><span class="value">{text(label)}</span></li>'
        )
    return f'<ul class="bars">{"".join(made)}</ul>'


def columns(values: Sequence[float], labels: Sequence[str], title: str, below: Sequence[str]) -> str:
    """Returns a column for each value; `labels` are shown when one points at it, `below` stand under the chart."""
    most = max(values, default=0) or 1
    step = 100 / max(len(values), 1)
    rects = "".join(
        f'<rect class="fill" x="{place * step + step * 0.08:.3f}" y="{100 - 100 * value / most:.3f}"'
        f' width="{step * 0.84:.3f}" height="{100 * value / most:.3f}"><title>{text(label)}</title></rect>'
        for place, (value, label) in enumerate(zip(values, labels, strict=True))
        if value
    )
    lines = "".join(f'<line class="grid" x1="0" x2="100" y1="{y}" y2="{y}"/>' for y in (0.2, 50, 99.8))
    scale = f'<div class="scale"><span>{number(most)}</span><span>{number(most / 2)}</span><span>0</span></div>'
    under = "".join(f"<span>{text(label)}</span>" for label in below)
    return (
        f'<figure class="columns">{scale}<svg viewBox="0 0 100 100" preserveAspectRatio="none" role="img"'
        f' aria-label="{text(title)}">{lines}{rects}</svg><div class="below">{under}</div></figure>'
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0) -> str:
    """Returns a table. The cells are HTML already; the last `numbers` columns are numbers."""
    if not rows:
        return '<p class="none">None.</p>'
    first = len(head) - numbers

    def cells(tag: str, row: Sequence[str]) -> str:
        return "".join(
            f"<{tag}{' class=number' if place >= first else ''}>{cell}</{tag}>" for place, cell in enumerate(row)
        )

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    titles = f"<thead><tr>{cells('th', [text(name) for name in head])}</tr></thead>" if any(head) else ""
    return f'<div class="scroll"><table>{titles}{body}</table></div>'


def facts(rows: Mapping[str, str]) -> str:
    """Returns names with what is said of them. The values are HTML already."""
    return f"<dl>{''.join(f'<dt>{text(name)}</dt><dd>{value}</dd>' for name, value in rows.items())}</dl>"


def examples(urls: Sequence[str]) -> str:
    return "".join(f'<div class="url">{text(url)}</div>' for url in urls)
