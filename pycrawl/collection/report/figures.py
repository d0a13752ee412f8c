"""The figures of a report, as values that can be written as JSON: what `pycrawl report --json` prints."""

from __future__ import annotations

import math
import platform
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from pycrawl import __version__
from pycrawl.collection import clusters, statistics
from pycrawl.collection.audit import Audit, audit
from pycrawl.collection.clusters import Dedup
from pycrawl.collection.collection import Collection
from pycrawl.collection.report.rights import ai_agents_named, read_sample, top
from pycrawl.config import Config
from pycrawl.model import CONDUCT, Outcome
from pycrawl.native import why_not
from pycrawl.state import document_rows, documents, figures, meta
from pycrawl.state.database import Database
from pycrawl.state.documents import url_and_time
from pycrawl.state.figures import Sum
from pycrawl.state.ledger import words_of
from pycrawl.urls.reasons import Reason

SAMPLE = 2_000  # documents that are read for languages and rights
_STRETCHES = 60  # of the chart of pages over time, at most
_STEPS = (1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000, 31_536_000)
_MOST_HOSTS = 15
_MOST_CLUSTERS = 8
_MOST_RUNS = 10
_MOST_NAMES = 12
_HIDDEN = "…"  # in the place of what may be secret
_PACKAGES = ("pycurl", "urllib3", "ada-url", "protego", "numpy", "isal", "xxhash", "resiliparse", "fastwarc")

OnStep = Callable[[str], None]


def collect(collection: Collection, sample: int = SAMPLE, on_step: OnStep = lambda step: None) -> dict[str, Any]:
    """Returns all figures. `sample`: documents that are read for languages and rights. What the tables say is as of one
    commit, or a few in a row where a crawl runs."""
    database = collection.database
    on_step("counters")
    totals = statistics.collect(database)
    with database.explained(), database.snapshot():
        on_step("documents")
        made = {
            "made_at": time.time(),
            "directory": collection.directory.path.absolute().name,
            "created_at": meta.created_at(database),
            "totals": totals,
            "time": _over_time(database),
            "types": _sums(figures.by_type(database)),
            "charsets": _sums(figures.by_charset(database), "ASCII, or no text"),
            "hosts": _sums(figures.by_host(database, _MOST_HOSTS)),
            "depths": {str(depth): count for depth, count in figures.by_depth(database).items()},
            "versions": {str(number): urls for number, urls in figures.versions(database).items()},
            "runs": [
                {"started_at": started, "ended_at": ended, "pages": pages, "ended_by": by}
                for started, ended, pages, by in figures.all_runs(database, _MOST_RUNS)
            ],
        }
        on_step("URLs")
        made["failed"] = _failed(database)
        made["aside"] = _aside(database)
        on_step("duplicates")
        made["clusters"] = _clusters(database)
    on_step("sample")
    made["rights"], made["languages"] = _rights(collection, sample)
    on_step("log of fetches")
    made["politeness"] = _politeness(collection)
    made["settings"] = settings(collection.config)
    made["user_agent"] = collection.config.user_agent
    made["obeys_robots"] = _obeys_robots(collection.config)
    made["software"] = _software()
    return made


def _over_time(database: Database) -> dict[str, Any] | None:
    span = figures.span(database)
    if span is None:
        return None
    wanted = (span.last - span.first) / _STRETCHES
    seconds = next((step for step in _STEPS if step >= wanted), math.ceil(wanted))
    first = span.first - span.first % seconds
    found = figures.documents_over_time(database, first, seconds)
    counts = [found.get(number, 0) for number in range(max(found) + 1)]
    return {
        "first": span.first, "last": span.last, "documents": span.documents, "bytes": span.bytes,
        "seconds": seconds, "begin": first, "counts": counts,
    }  # fmt: skip


def _sums(found: list[Sum], nameless: str = "not said") -> list[dict[str, Any]]:
    """Returns sums as JSON; those beyond the most frequent are put together."""
    rows: list[dict[str, Any]] = [
        {"name": one.name or nameless, "documents": one.documents, "bytes": one.bytes} for one in found
    ]
    named, rest = rows[:_MOST_HOSTS], rows[_MOST_HOSTS:]
    if rest:
        sums = {key: sum(row[key] for row in rest) for key in ("documents", "bytes")}
        named.append({"name": f"{len(rest):,} others", **sums})
    return named


def _failed(database: Database) -> list[dict[str, Any]]:
    """What failed, and what was turned away when it was asked for, by the outcome of the last visit."""
    kept = {Outcome.FETCHED, Outcome.NOT_MODIFIED, Outcome.REDIRECT}
    rows = [
        {
            "reason": outcome,
            "words": words_of(outcome),
            "urls": count,
            "is_error": outcome in set(Outcome) and CONDUCT[Outcome(outcome)].is_error,
            "examples": examples,
        }
        for outcome, (count, examples) in figures.outcomes(database).items()
        if outcome not in kept
    ]
    return sorted(rows, key=lambda row: -row["urls"])


def _aside(database: Database) -> list[dict[str, Any]]:
    codes = {reason.code: reason for reason in Reason if reason.code}
    rows = []
    for code, (count, examples) in figures.asides(database).items():
        reason = codes.get(code)
        hidden = reason is Reason.FORGOTTEN
        name, words = (reason.value, reason.words) if reason else (str(code), "")
        rows.append({"reason": name, "words": words, "urls": count, "examples": [] if hidden else examples})
    return sorted(rows, key=lambda row: -row["urls"])


def _clusters(database: Database) -> dict[str, Any]:
    """Clusters of exact copies and near-duplicates together: how many of which size, and the largest."""
    roots = clusters.roots(database, Dedup.NEAR)
    sizes = np.bincount(roots) if len(roots) else np.zeros(1, np.int64)
    sizes[0] = 0  # of ids that no document has
    crowded = np.flatnonzero(sizes > 1)
    largest = crowded[np.argsort(-sizes[crowded], kind="stable")][:_MOST_CLUSTERS]
    by_size = Counter(_size_name(int(size)) for size in sizes[crowded])
    return {
        "clusters": len(crowded),
        "documents": int(sizes[crowded].sum()),
        "by_size": {name: by_size[name] for name in ("2", "3–5", "6–10", "11–100", "more than 100") if by_size[name]},
        "largest": [{"url": url_and_time(database, int(root))[0], "documents": int(sizes[root])} for root in largest],
    }


def _size_name(size: int) -> str:
    bounds = ((2, "2"), (5, "3–5"), (10, "6–10"), (100, "11–100"))
    return next((name for most, name in bounds if size <= most), "more than 100")


def _rights(collection: Collection, sample: int) -> tuple[dict[str, Any], dict[str, int]]:
    database = collection.database
    with database.explained():
        ids = figures.sample_ids(database, sample)
        files = figures.robots_files(database)
        found = read_sample(collection.documents_of(document_rows.rows_of(database, ids)))
        everything = documents.count_records(database)
    answered = [body for status, body in files if 200 <= status < 300]
    naming, agents = ai_agents_named(answered)
    return {
        "read": found.read,
        "records": everything,
        "damaged": found.damaged,
        "robots_files": len(answered),
        "robots_asked": len(files),
        "robots_with_ai_rules": naming,
        "ai_agents": agents,
        "x_robots_tag": top(found.header_wishes),
        "meta_robots": top(found.meta_wishes),
        "tdm_reserved": found.tdm_reserved,
        "with_licence": found.with_licence,
        "licences": top(found.licences),
    }, top(found.languages, _MOST_NAMES)


def _politeness(collection: Collection) -> dict[str, Any]:
    """What `pycrawl audit` says."""
    result: Audit = audit(collection.directory.log, collection.config)
    crowded = sum(place.is_crowded for place in (*result.hosts, *result.addresses))
    return {
        "fetches": result.fetches,
        "hosts": len(result.hosts),
        "addresses": len(result.addresses),
        "smallest_gap": result.smallest_gap,
        "most_at_once": result.most_at_once,
        "early": len(result.early),
        "crowded": crowded,
        "robots_allowed": sum(use.allowed for use in result.robots),
        "robots_denied": sum(use.denied for use in result.robots),
        "undecided": result.undecided,
    }


def settings(config: Config) -> dict[str, Any]:
    """Returns the settings that are not as by default; values that may be secret are left out."""
    changed: dict[str, Any] = {}
    default = Config()
    for section in fields(Config):
        if section.name in ("hosts", "plugins"):
            continue
        ours, theirs = getattr(config, section.name), getattr(default, section.name)
        for key in fields(ours):
            value = getattr(ours, key.name)
            if value != getattr(theirs, key.name):
                changed[f"{section.name}.{key.name}"] = _shown(f"{section.name}.{key.name}", value)
    for entry in config.hosts:
        for name, value in {**entry.politeness, **entry.limits}.items():
            changed[f'host "{entry.name}" {name}'] = value
        if entry.headers:
            changed[f'host "{entry.name}" headers'] = _shown("crawl.headers", entry.headers)
    for plugin, table in config.plugins.items():
        changed[f"plugins.{plugin}"] = dict.fromkeys(table, _HIDDEN)
    return changed


def _obeys_robots(config: Config) -> str:
    if not config.politeness.obey_robots:
        return "No: politeness.obey_robots is off."
    others = [entry.name for entry in config.hosts if entry.politeness.get("obey_robots") is False]
    return f"Yes, but not on {', '.join(others)}." if others else "Yes."


def _shown(key: str, value: Any) -> Any:
    if key == "crawl.headers":
        return {name: _HIDDEN for name, _ in value}
    if key == "crawl.proxy" and "@" in value:
        return f"{value.partition('://')[0]}://{_HIDDEN}@{value.rpartition('@')[2]}"
    return list(value) if isinstance(value, tuple) else value


def _software() -> dict[str, str]:
    found = {
        "pycrawl": __version__ + (" (without its compiled module)" if why_not else ""),
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
    }
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
