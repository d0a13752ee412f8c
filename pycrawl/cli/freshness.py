"""What `stats --freshness` and `why` say of the changes of pages."""

from __future__ import annotations

import time
from typing import Any

from pycrawl.cli.common import moment, plural

_DAY = 86_400.0
_UNITS = ((365.0, "years"), (1.0, "days"), (1 / 24, "hours"), (1 / 1_440, "minutes"))  # days each


def freshness_lines(facts: dict[str, Any]) -> list[str]:
    """Returns the lines of `stats --freshness`."""
    now = facts["now"]
    if now is None:
        return ["freshness   no page was visited yet, or none since an older release made this crawl"]
    lines = [f"freshness   {plural(facts['pages'], 'page')}: {_expected(now)}"]
    policies = facts["in_the_long_run"]
    if policies is None:
        lines.append("            no page was visited again in the last week: `pycrawl crawl --recrawl` does")
    else:
        lines.append(f"            in the long run, at {facts['visits_a_day']:,.0f} visits a day as in the last week:")
        lines += [
            f"            {name:<10} {_expected(one)}{' (recrawl.policy)' if name == facts['policy'] else ''}"
            for name, one in policies.items()
        ]
    lines.append("changes     pages by how often they change, as far as visits have shown it:")
    lines += [f"            {count:>10,}  {name}" for name, count in facts["change_rates"].items()]
    lines.append("predicted   changes against those found, by the probability before the visit:")
    lines += [
        f"            {one['from']:>4.0%} to {one['to']:>4.0%}  {one['changes_predicted']:,.1f} predicted,"
        f" {one['changes_found']:,} found in {plural(one['visits'], 'visit')}"
        for one in facts["calibration"]
    ] or ["            no page was visited twice yet"]
    return lines


def _expected(one: dict[str, float]) -> str:
    return f"{one['current']:.1%} current, mean age {_span(one['mean_age_seconds'] / _DAY)}"


def _span(days: float) -> str:
    """Writes a time for people: "3.2 days"."""
    for unit, name in _UNITS:
        if days >= unit:
            return f"{days / unit:,.1f} {name}"
    return f"{days * _DAY:,.0f} seconds"


def recrawl_lines(facts: dict[str, Any]) -> list[str]:
    """Returns the lines of `why` on how often a page changes and when it is visited again."""
    page = facts["recrawl"]
    if page is None or facts["state"] == "aside" or facts["source"]:
        return []
    lines = [f"  changes {_rate(page)}"]
    if page["failures"]:
        lines.append(f"  the last {plural(page['failures'], 'visit')} failed or found it gone: it is asked more rarely")
    return lines if facts["queue"] else [*lines, f"  next recrawl: {_next_visit(page)}"]


def _rate(page: dict[str, Any]) -> str:
    low, high = page["at_least"], page["at_most"]
    rarely = "never" if not low else f"once in {_span(1 / low)}"
    often = f"once in {_span(1 / high)}" if high else "never"
    seen = plural(page["changes_seen"], "change") + " seen"
    quiet = f", none in {_span(page['unchanged_seconds'] / _DAY)} between visits" if page["unchanged_seconds"] else ""
    return f"about once in {_span(1 / page['changes_a_day'])} (nine in ten: {often} to {rarely}; {seen}{quiet})"


def _next_visit(page: dict[str, Any]) -> str:
    at, why = page["next_at"], page["why"]
    if why == "deadly":
        return "never, as it has brought fetchers down"
    if why == "index-is-not-reached":
        return "not foreseen: others need it more under recrawl.policy"
    when = "now" if at <= time.time() else moment(at)
    if why == "all-that-are-due":
        return f"from {when} on (recrawl.min_interval), as recrawls ask for all pages that are due"
    return f"about {when}, if recrawls ask for as many pages as the last: then its index is among the highest"
