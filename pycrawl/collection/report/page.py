"""The report as one page of HTML, which needs nothing else: no script, no network."""

from __future__ import annotations

from typing import Any

from pycrawl.collection.report.charts import (
    bars,
    card,
    columns,
    examples,
    facts,
    moment,
    number,
    share,
    size,
    table,
    text,
    tiles,
)
from pycrawl.collection.report.style import STYLE

MARK = '<meta name="generator" content="pycrawl report">'  # by which an older report is known, and may be replaced
_MOST_DEPTHS = 31


def page(found: dict[str, Any]) -> str:
    """Returns the report of the figures that `figures.collect` made."""
    name = text(found["directory"] or "crawl")
    first = [_overview(found), _time(found)]
    small = [
        _hosts(found), _status(found), _depths(found), _types(found), _charsets(found), _languages(found),
        _changes(found), _duplicates(found), _politeness(found), _rights(found), _runs(found), _software(found),
    ]  # fmt: skip
    last = [_turned_away(found), _datasheet(found), _settings(found)]
    cards = f'{"".join(first)}<div class="small">{"".join(small)}</div>{"".join(last)}'
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">{MARK}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{name}: report of a crawl</title><style>{STYLE}</style></head><body><main>"
        f"<header><h1>{name}</h1><p>Report of a crawl, made {text(moment(found['made_at']))} by pycrawl"
        f" {text(found['software']['pycrawl'])}</p></header>"
        f"{cards}</main></body></html>\n"
    )


def _overview(found: dict[str, Any]) -> str:
    totals, over = found["totals"], found["time"]
    stored = totals["pages_stored"]
    values = [
        ("documents", number(over["documents"] if over else 0)),
        ("records stored", number(stored)),
        ("of text and markup", size(over["bytes"] if over else 0)),
        ("on the disk", size(totals["bytes_stored"])),
        ("hosts", number(totals["hosts_known"])),
        ("URLs known", number(totals["urls_known"])),
        ("still queued", number(totals["urls_queued"])),
        ("near-duplicates", number(totals["duplicates_near"])),
    ]
    not_kept = sum(totals["not_kept"].values())
    note = (
        f"{number(totals['pages_fetched'])} pages fetched = {number(stored)} stored +"
        f" {number(totals['duplicates_exact'])} exact copies + {number(totals['unchanged'])} unchanged +"
        f" {number(not_kept)} not kept. {number(totals['not_modified'])} more visits found nothing new (status 304)."
    )
    return card("The collection", tiles(values), note)


def _time(found: dict[str, Any]) -> str:
    over = found["time"]
    if over is None:
        return card("Pages over time", '<p class="none">Nothing is stored yet.</p>')
    starts = [over["begin"] + place * over["seconds"] for place in range(len(over["counts"]))]
    form = (
        "%Y-%m-%d" if over["seconds"] >= 86_400 else "%Y-%m-%d %H:%M" if over["seconds"] >= 60 else "%Y-%m-%d %H:%M:%S"
    )
    labels = [
        f"{moment(at, form)}: {number(count)} documents" for at, count in zip(starts, over["counts"], strict=True)
    ]
    ends = [moment(over[end], form) for end in ("first", "last")]
    chart = columns(over["counts"], labels, "documents over time", ends)
    return card("Pages over time", chart, f"Documents fetched in each {_span(over['seconds'])}.")


def _span(seconds: float) -> str:
    for unit, name in ((31_536_000, "year"), (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= unit:
            amount = round(seconds / unit)
            return name if amount == 1 else f"{amount} {name}s"
    return "second"


def _hosts(found: dict[str, Any]) -> str:
    rows = [(row["name"], row["documents"]) for row in found["hosts"]]
    shown = [f"{number(row['documents'])} · {size(row['bytes'])}" for row in found["hosts"]]
    whole = found["time"]["documents"] if found["time"] else 0
    part = share(sum(count for _, count in rows), whole)
    return card("Hosts by size", bars(rows, shown), f"These have {part} of all documents." if rows else "")


def _counted(title: str, counts: dict[str, int], note: str = "", kind: str = "") -> str:
    rows = sorted(counts.items(), key=lambda one: -one[1])
    whole = sum(counts.values())
    return card(title, bars(rows, [f"{number(count)} · {share(count, whole)}" for _, count in rows], kind), note)


def _status(found: dict[str, Any]) -> str:
    return _counted("Answers by status", found["totals"]["status"], "Of all requests for pages, redirects included.")


def _depths(found: dict[str, Any]) -> str:
    counts = {int(depth): count for depth, count in found["depths"].items()}
    if not counts:
        return card("Depth", '<p class="none">Nothing is stored yet.</p>')
    depths = list(range(min(max(counts) + 1, _MOST_DEPTHS)))
    values = [counts.get(depth, 0) for depth in depths]
    labels = [f"{depth} links: {number(value)} documents" for depth, value in zip(depths, values, strict=True)]
    last = f"{depths[-1]} and more" if depths[-1] == _MOST_DEPTHS - 1 else str(depths[-1])
    below = ["0 (seeds)", last] if len(depths) > 1 else ["0 (seeds)"]
    return card("Depth", columns(values, labels, "documents by depth", below), "Links between a page and a seed.")


def _sums(title: str, rows: list[dict[str, Any]], note: str = "") -> str:
    shown = [f"{number(row['documents'])} · {size(row['bytes'])}" for row in rows]
    return card(title, bars([(row["name"], row["documents"]) for row in rows], shown), note)


def _types(found: dict[str, Any]) -> str:
    return _sums("Content types", found["types"])


def _charsets(found: dict[str, Any]) -> str:
    return _sums("Encodings", found["charsets"], "As the text was read, whatever the page declares.")


def _languages(found: dict[str, Any]) -> str:
    rights = found["rights"]
    return _counted(
        "Languages", found["languages"], f"As documents declare them, or as their text reads; {_sampled(rights)}."
    )


def _sampled(rights: dict[str, Any]) -> str:
    read, everything = rights["read"], rights["records"]
    damaged = f" ({number(rights['damaged'])} more could not be read)" if rights["damaged"] else ""
    if read + rights["damaged"] >= everything:
        return f"all {number(read)} records were read{damaged}"
    return f"{number(read)} of {number(everything)} records were read, evenly chosen{damaged}"


def _changes(found: dict[str, Any]) -> str:
    changed = found["totals"]["changed"]
    several = sum(urls for versions, urls in found["versions"].items() if versions != "1")
    note = f"{number(several)} pages have more than one stored version."
    return _counted("Changes found by revisits", changed, note)


def _duplicates(found: dict[str, Any]) -> str:
    clusters, totals = found["clusters"], found["totals"]
    values = [
        ("exact copies", number(totals["duplicates_exact"])),
        ("near-duplicates", number(totals["duplicates_near"])),
        ("clusters", number(clusters["clusters"])),
    ]
    rows = list(clusters["by_size"].items())
    body = tiles(values)
    if rows:
        body += bars([(f"{name} documents", count) for name, count in rows])
        largest = [
            [f'<div class="url">{text(one["url"])}</div>', number(one["documents"])] for one in clusters["largest"]
        ]
        body += table(["largest clusters, by their oldest page", "documents"], largest[:5], 1)
    return card("Duplicates and clusters", body)


def _politeness(found: dict[str, Any]) -> str:
    told = found["politeness"]
    broken = told["early"] + told["crowded"]
    gap = "–" if told["smallest_gap"] is None else f"{told['smallest_gap']:.3f} s"
    verdict = '<span class="good">no rule was broken</span>'
    if broken:
        verdict = f'<span class="warn">{number(broken)} times a rule was broken</span>'
    rows = {
        "audit of the log": verdict,
        "fetches": f"{number(told['fetches'])} from {number(told['hosts'])} hosts at"
        f" {number(told['addresses'])} addresses",
        "smallest gap on a host": gap,
        "most at once on an address": number(told["most_at_once"]),
        "too early": number(told["early"]),
        "robots.txt": f"{number(told['robots_allowed'])} URLs allowed, {number(told['robots_denied'])} denied,"
        f" {number(told['undecided'])} fetched without one",
    }
    return card("Politeness, as audited", facts(rows))


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{text(name)} ({number(count)})" for name, count in counts.items()) or "none"


def _rights(found: dict[str, Any]) -> str:
    rights = found["rights"]
    rows = {
        "robots.txt": f"{number(rights['robots_files'])} files; {number(rights['robots_with_ai_rules'])} name crawlers"
        f" that gather training data: {_listed(rights['ai_agents'])}",
        "kept out by robots.txt": f"{number(found['totals']['robots_denied'])} URLs",
        "not kept as asked (noindex)": f"{number(found['totals']['not_kept'].get('noindex', 0))} pages",
        "X-Robots-Tag": _listed(rights["x_robots_tag"]),
        "robots meta tags": _listed(rights["meta_robots"]),
        "TDM-Reservation": f"{number(rights['tdm_reserved'])} documents",
        "licence links": f"{number(rights['with_licence'])} documents: {_listed(rights['licences'])}",
    }
    note = f"Tags, headers and licences: {_sampled(rights)}. These are signals that were found, not a legal judgement."
    return card("Rights signals", facts(rows), note)


def _turned_away(found: dict[str, Any]) -> str:
    rows = []
    for row in (*found["failed"], *found["aside"]):
        why = f'{text(row["words"] or row["reason"])}<div class="soft">{text(row["reason"])}</div>'
        rows.append([why, examples(row["examples"]), number(row["urls"])])
    links = found["totals"]["filtered"]
    note = f"Links without a usable form, and others that were counted only: {_listed(links)}." if links else ""
    return card("Failed, or turned away", table(["why", "examples", "URLs"], rows, 1), note)


def _datasheet(found: dict[str, Any]) -> str:
    """The questions of a datasheet for datasets that the crawl itself can answer."""
    totals, over, rights = found["totals"], found["time"], found["rights"]
    documents = over["documents"] if over else 0
    when = f"{text(moment(over['first']))} to {text(moment(over['last']))}" if over else "–"
    several = sum(urls for versions, urls in found["versions"].items() if versions != "1")
    rows = {
        "What are the instances?": "Web documents as served: body, response headers, URL and time of each, in TREC Web"
        " records.",
        "How many are there?": f"{number(documents)} documents at {number(sum(found['versions'].values()))} URLs on"
        f" {number(totals['hosts_known'])} hosts; {number(several)} URLs in several versions.",
        "Is it a sample?": "All that links led to from the seeds, within the settings below;"
        f" {number(totals['urls_queued'])} known URLs were not fetched yet,"
        f" {number(sum(totals['urls_aside'].values()))} are left out by the settings.",
        "When was it collected?": when,
        "How was it collected?": f"By pycrawl {text(found['software']['pycrawl'])}, as"
        f" <code>{text(found['user_agent'])}</code>.",
        "Were the rules of robots.txt kept?": text(found["obeys_robots"])
        + f" {number(totals['robots_denied'])} URLs were not fetched because of them.",
        "Are there errors or redundancies?": f"{number(totals['duplicates_exact'])} exact copies (stored once),"
        f" {number(totals['duplicates_near'])} near-duplicates (stored and marked), {number(totals['soft_404'])} error"
        " pages in disguise (not stored).",
        "Under which licences?": f"{number(rights['with_licence'])} of {number(rights['read'])} documents that were"
        " read link to a licence; the others say nothing.",
        "Why, by whom, for which use?": "To be filled in by the people who publish it.",
    }
    return card("Datasheet", facts(rows), "What a datasheet asks, as far as the crawl knows it.")


def _settings(found: dict[str, Any]) -> str:
    rows = [[f"<code>{text(name)}</code>", f"<code>{text(value)}</code>"] for name, value in found["settings"].items()]
    note = "All others are as by default. Values that may be secret are left out."
    return card("Settings", table(["", ""], rows), note)


def _runs(found: dict[str, Any]) -> str:
    rows = [
        [text(moment(run["started_at"])), text(run["ended_by"] or "–"), number(run["pages"])] for run in found["runs"]
    ]
    return card("Last runs", table(["started", "ended by", "pages"], rows, 1))


def _software(found: dict[str, Any]) -> str:
    return card("Software", facts({name: text(version) for name, version in found["software"].items()}))
