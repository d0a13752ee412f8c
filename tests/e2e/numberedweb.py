"""Hosts whose URLs are numbered or dated: calendars without end, and archives that end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from random import Random

from tests.e2e.trapweb import MISSING, Answer, Host, document, links, prose, with_template, word

# Calendars without end: every page has text of its own.


def _month(year: int, month: int, months: int) -> tuple[int, int]:
    """The month that comes so many months later."""
    years, month = divmod(month - 1 + months, 12)
    return year + years, month + 1


def _page(seed: int, title: str, targets: Iterable[str]) -> Answer:
    text = f"<p>{prose(f'{seed} {title}', 120)}</p>"
    return with_template(f"calendar {seed}", title, text, links(targets, "go"))


def months(
    seed: int,
    way: str,
    first: tuple[int, int] = (2026, 11),
    steps: tuple[int, ...] = (1, -1, 12),
    with_event: bool = False,
) -> Host:
    """A calendar of months, spelled as `way` says with `y` and `m`. The home page links to the month `first`."""
    form = re.sub(r"\\\{([ym])[^}]*\}", r"(?P<\1>[0-9]+)", re.escape(way))
    pattern = re.compile(form)

    def answer(path: str) -> Answer:
        if path in ("/", "/about"):
            return _page(seed, f"Home {path}", [way.format(y=first[0], m=first[1])])
        if with_event and path.startswith("/event/"):
            return _page(seed, path, [])
        found = pattern.fullmatch(path)
        if not found or not 1 <= int(found["m"]) <= 12 or int(found["y"]) < 1:
            return MISSING
        here = int(found["y"]), int(found["m"])
        targets = [way.format(y=y, m=m) for y, m in (_month(*here, step) for step in steps)]
        event = [f"/event/{Random(path).randrange(20)}"] if with_event else []
        return _page(seed, f"{here[1]} of {here[0]}", targets + event)

    return answer


def days(seed: int, way: str, first: date = date(2026, 11, 18)) -> Host:
    """A calendar of days, each with a link to its month: `way` and `way` without its last number."""
    whole = re.compile(re.escape(way).replace(r"\{d:%Y/%m/%d\}", "([0-9]+)/([0-9]+)(?:/([0-9]+))?"))

    def answer(path: str) -> Answer:
        if path in ("/", "/about"):
            return _page(seed, f"Home {path}", [way.format(d=first)])
        found = whole.fullmatch(path)
        if not found:
            return MISSING
        here = date(int(found[1]), int(found[2]), int(found[3] or 1))
        if found[3]:
            targets = [way.format(d=here + timedelta(step)) for step in (-1, 1)]
            targets.append(way.format(d=here).rpartition("/")[0])
        else:
            targets = [way.format(d=here + timedelta(step)) for step in range(28)]
            targets += [way.format(d=here + timedelta(step)).rpartition("/")[0] for step in (-1, 31)]
        return _page(seed, path, targets)

    return answer


def three_views(seed: int) -> Host:
    """A calendar whose months have three views each, which lead to each other."""

    def answer(path: str) -> Answer:
        if path in ("/", "/about"):
            return _page(seed, f"Home {path}", ["/month/2026-11"])
        found = re.fullmatch("/(month|list|grid)/([0-9]+)-([0-9]+)", path)
        if not found:
            return MISSING
        near = [_month(int(found[2]), int(found[3]), step) for step in (0, 1, -1, 12)]
        return _page(seed, path, [f"/{view}/{y}-{m:02}" for view in ("month", "list", "grid") for y, m in near])

    return answer


def weeks_from_now(seed: int) -> Host:
    """Numbers on both sides of 0: weeks before and after this one."""

    def answer(path: str) -> Answer:
        found = re.fullmatch(r"/week[?]offset=(-?[0-9]+)", "/week?offset=0" if path in ("/", "/about") else path)
        if not found:
            return MISSING
        return _page(seed, path, [f"/week?offset={int(found[1]) + step}" for step in (-1, 1, 4)])

    return answer


# Archives that end


def numbered_archive(name: str, pages: int, listed: int = 0, pager: tuple[int, ...] = (-1, 1)) -> dict[str, Answer]:
    """/page/1 … /page/N, each with text of its own, links to some neighbours, and to `listed` articles."""
    made = {"/": with_template(name, "Home", f"<p>{prose(name, 80)}</p>", links(["/page/1"]), navigation=["/"])}
    for number in range(1, pages + 1):
        articles = [f"/article/{word(Random(f'{name} {number} {step}'))}" for step in range(listed)]
        ways = [f"/page/{number + step}" for step in pager if 0 < number + step <= pages]
        text = f"<p>{prose(f'{name} {number}', 60)}</p>"
        made[f"/page/{number}"] = with_template(name, f"Page {number}", text, links(articles + ways), navigation=["/"])
        for one in articles:
            made[one] = with_template(name, one, f"<p>{prose(name + one, 80)}</p>", navigation=["/"])
    return made


def dated_blog(name: str, years: int, per_month: int, lists_all: bool) -> dict[str, Answer]:
    """/2019/03/ and so on: months with links to their neighbours and to their articles, which the home page and other
    articles link to as well. `lists_all`: the home page has all months, else the newest only."""
    all_months = [f"/{year}/{month:02}/" for year in range(2020 - years, 2020) for month in range(1, 13)]
    articles = {
        month: [f"{month}{prose(f'{name} {month} {step}', 3).replace(' ', '-')}" for step in range(per_month)]
        for month in all_months
    }
    in_order = [one for month in all_months for one in articles[month]]
    home = links(in_order[-200:]) + links(all_months if lists_all else all_months[-1:])
    made = {"/": with_template(name, "Home", home, navigation=["/"])}
    for place, month in enumerate(all_months):
        ways = all_months[max(0, place - 1) : place] + all_months[place + 1 : place + 2]
        text = f"<p>{prose(f'{name} {month}', 60)}</p>"
        made[month] = with_template(name, month, text, links(articles[month] + ways), navigation=["/"])
    for place, one in enumerate(in_order):
        related = [in_order[(place * 7 + step) % len(in_order)] for step in (1, 2)]
        made[one] = with_template(name, one, f"<p>{prose(name + one, 80)}</p>", links(related), navigation=["/"])
    return made


def newspaper(name: str, first: date, pages: int, entered_at: int) -> dict[str, Answer]:
    """/archive/1999-03-17 and so on, one page a day with links to the day before and after, and to nothing else."""
    paths = [f"/archive/{first + timedelta(day)}" for day in range(pages)]
    made = {"/": document("Home", f"<p>{prose(name, 80)}</p>", links([paths[entered_at]]))}
    for place, path in enumerate(paths):
        ways = paths[max(0, place - 1) : place] + paths[place + 1 : place + 2]
        made[path] = with_template(name, path, f"<p>{prose(f'{name} {path}', 80)}</p>", links(ways), navigation=["/"])
    return made
