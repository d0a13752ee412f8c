"""Reads from the ledger where each URL stands, and why. One SQL expression decides for all readers; nothing is written.

States: queued (the URL waits to be asked for, for the first time or again), done (its last visit ended well, or it is
stored and its last visit failed), aside (a setting, its host's robots.txt or what it answered keeps it out), failed
(its last visit failed and nothing was ever stored), gone (it was stored, and its last visit was answered with 404 or
410).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

from pycrawl.model import CONDUCT, Outcome
from pycrawl.state.database import Database
from pycrawl.state.documents import SINCE
from pycrawl.state.urls_table import SHORTER, TRUE_DEPTH
from pycrawl.urls.reasons import Reason


class State(StrEnum):
    """Where a URL stands. The value is the word of `list --state` and of `why`."""

    QUEUED = "queued"
    DONE = "done"
    ASIDE = "aside"
    FAILED = "failed"
    GONE = "gone"


# Why a URL is queued, if its origin answers. If it does not, the reason is the outcome of its last failure, or its
# host's.
NEW = "new"  # it was never asked for
AGAIN = "again"  # it was visited before
HELD = "held"  # an option of the present run leaves it out
QUEUE_REASONS = (NEW, AGAIN, HELD)

# Outcomes of the last visit that put a URL aside, although the scope wants it.
_ASIDE_OUTCOMES = (
    Outcome.ROBOTS_DENIED,
    Outcome.TRAP,
    Outcome.UNWANTED_TYPE,
    Outcome.UNWANTED_LANGUAGE,
    Outcome.SOFT_404,
    Outcome.SOURCE_LIMIT,
)
_NOT_FOUND = 404
_GONE = 410

# Failures that may pass: those that a run tries again by itself, and those for which the URL is not to blame.
PASSING = tuple(
    outcome for outcome, conduct in CONDUCT.items() if conduct.is_error and (conduct.retry or conduct.goes_back)
)


def _words(values: Sequence[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


_ERRORS = _words([outcome for outcome, conduct in CONDUCT.items() if conduct.is_error])

# The tables have an invariant by which no queue has to be searched: a URL that is not aside is queued if and only if it
# has no visit, or was queued again since (`requeued`).
_STATE = (
    "CASE WHEN urls.aside != 0 THEN 'aside'"
    " WHEN visits.url_id IS NULL OR visits.requeued != 0 THEN 'queued'"
    f" WHEN visits.outcome IN ({_words(_ASIDE_OUTCOMES)}) THEN 'aside'"
    f" WHEN visits.outcome = '{Outcome.CLIENT_ERROR}' AND visits.status IN ({_NOT_FOUND}, {_GONE})"
    " AND visits.document_id != 0 THEN 'gone'"
    f" WHEN visits.outcome IN ({_ERRORS}) AND visits.document_id = 0 THEN 'failed'"
    " ELSE 'done' END"
)
# The origin of a URL stands before the first "/" behind its scheme (`urls/parts.py`).
_ORIGIN = "substr(urls.url, 1, instr(substr(urls.url, 9), '/') + 7)"
_ORIGIN_TROUBLE = (
    f"(SELECT CASE WHEN of_robots THEN '{Outcome.ROBOTS_UNREACHABLE}' ELSE outcome END"
    f" FROM origin_failures WHERE origin = {_ORIGIN} AND next_at > 0)"
)
_READY_AT = (
    "CASE WHEN hosts.failing_since > 0 THEN"
    f" max(hosts.ready_at, coalesce((SELECT next_at FROM origin_failures WHERE origin = {_ORIGIN}), 0))"
    " ELSE hosts.ready_at END"
)
_ASIDE_WORDS = " ".join(f"WHEN {reason.code} THEN '{reason}'" for reason in Reason if reason.code)
_REASON = (
    f"CASE WHEN urls.aside != 0 THEN CASE urls.aside {_ASIDE_WORDS} ELSE urls.aside END"
    " WHEN visits.url_id IS NOT NULL AND visits.requeued = 0 THEN visits.outcome"
    f" WHEN EXISTS (SELECT 1 FROM held WHERE held.url_id = urls.id) THEN '{HELD}'"
    f" WHEN hosts.failing_since > 0 AND {_ORIGIN_TROUBLE} IS NOT NULL THEN {_ORIGIN_TROUBLE}"
    " WHEN hosts.failures > 0 AND hosts.trouble != '' THEN hosts.trouble"
    f" WHEN visits.url_id IS NULL THEN '{NEW}' ELSE '{AGAIN}' END"
)
_COLUMNS = (
    f"urls.id, urls.url, {_STATE} AS state, {_REASON} AS reason, urls.aside, hosts.id, hosts.key, {TRUE_DEPTH},"
    f" urls.hops, urls.ask, urls.found_at, {_READY_AT}, visits.outcome, visits.status, visits.visited_at,"
    f" visits.tries, visits.detail, visits.document_id, {SINCE}, coalesce(documents.language, '')"
)
# SQLite never reorders a CROSS JOIN: so rows come in the order of `urls`, without sorting all of them first.
_TABLES = (
    f"urls CROSS JOIN hosts ON hosts.id = urls.host_id LEFT JOIN visits ON visits.id = visit_id(urls.id)"
    f" LEFT JOIN documents ON documents.id = visits.document_id {SHORTER}"
)


class Standing(NamedTuple):
    """Where one URL stands. The fields from `outcome` on come from its last visit; they are None if it has none."""

    url_id: int
    url: str
    state: str  # a `State`
    reason: str  # aside: a `Reason`, or an outcome; queued: see `QUEUE_REASONS`; else the outcome of the last visit
    aside: int  # the code of the `Reason` for which the settings keep it out; 0: they do not
    host_id: int
    host: str
    depth: int
    hops: int
    ask: int  # bits of `urls/asks.py`
    found_at: float
    host_ready_at: float  # when its host may be hit again, or its origin is tried again if that fails
    outcome: str | None
    status: int | None
    visited_at: float | None
    tries: int | None
    detail: str | None
    document_id: int | None  # the newest document; 0: nothing was ever stored
    since: float | None  # since when all its visits have ended like the last one; 0: not known
    language: str  # of the newest document: "en", "pt-br"; empty: not known

    @property
    def setting(self) -> str:
        """Returns the setting that keeps the URL aside; empty if none does."""
        if self.state != State.ASIDE:
            return ""
        return _SETTINGS.get(self.reason, "")

    @property
    def words(self) -> str:
        """Returns why the URL stands there, in one line for people."""
        if self.state == State.GONE:
            return "it was stored, and is not there any more"
        if self.state == State.DONE and CONDUCT[Outcome(self.reason)].is_error:
            return f"{words_of(self.reason)}; what is stored of it is older"
        return words_of(self.reason)


_SETTINGS = {reason.value: reason.setting for reason in Reason} | {
    Outcome.ROBOTS_DENIED.value: "politeness.obey_robots",
    Outcome.UNWANTED_TYPE.value: "scope.content_types",
    Outcome.UNWANTED_LANGUAGE.value: "scope.languages",
    Outcome.SOFT_404.value: "traps.soft_404",
}
_IN_WORDS: dict[str, str] = {reason.value: reason.words for reason in Reason} | {
    NEW: "it was not asked for yet",
    AGAIN: "it was visited before, and is to be visited again",
    HELD: "an option of the last run (--max-depth) left it out; the next run takes it in",
    Outcome.FETCHED.value: "it was fetched and is stored",
    Outcome.NOT_MODIFIED.value: "it has not changed since it was stored",
    Outcome.REDIRECT.value: "it redirects to another URL",
    Outcome.NOINDEX.value: "the page or its server asks that it not be kept",
    Outcome.UNWANTED_TYPE.value: "its content type is not in scope.content_types",
    Outcome.UNWANTED_LANGUAGE.value: "its language is not in scope.languages; it is not stored, its links are followed",
    Outcome.SOFT_404.value: "it says what its host says of missing pages",
    Outcome.READ.value: "it is a sitemap or feed, and was read",
    Outcome.BAD_SITEMAP.value: "it is named as a sitemap, but cannot be read as one",
    Outcome.BAD_FEED.value: "it is named as a feed, but cannot be read as one",
    Outcome.ASKED.value: "it is a hub, and took the request to push a feed's news, or to push no more",
    Outcome.NOT_NEEDED.value: "it is a hub that is not wanted to push anything now",
    Outcome.SOURCE_LIMIT.value: "its host has more sitemaps or feeds than max_per_host",
    Outcome.ROBOTS_DENIED.value: "its host's robots.txt forbids it",
    Outcome.ROBOTS_UNREACHABLE.value: "its host's robots.txt cannot be read, so nothing may be asked for",
    Outcome.CLIENT_ERROR.value: "its host refused it",
    Outcome.SERVER_ERROR.value: "its host answered with an error of its own",
    Outcome.TOO_BUSY.value: "its host is too busy (429 or 503)",
    Outcome.DNS_FAILURE.value: "its host's name cannot be looked up",
    Outcome.CONNECT_FAILED.value: "its host cannot be connected to",
    Outcome.CONNECT_TIMEOUT.value: "its host does not answer the connection",
    Outcome.TLS_FAILURE.value: "no secure connection to its host can be made",
    Outcome.TIMEOUT.value: "its host took longer than limits.total_timeout",
    Outcome.TOO_SLOW.value: "its host sent less than limits.min_bytes_per_second",
    Outcome.CONNECTION_LOST.value: "its host closed the connection before the answer was whole",
    Outcome.ADDRESS_REFUSED.value: "its host has a private address; set security.allow_private_addresses = true",
    Outcome.FETCHER_KILLED.value: "it brought a fetcher process down twice",
}


def words_of(reason: str) -> str:
    """Returns a reason in words. A reason that is not known here, as a newer release may have written it, is returned
    as it is."""
    return _IN_WORDS.get(reason, reason)


def all_reasons() -> list[str]:
    """Returns every word that `Standing.reason` can be, sorted."""
    aside = {reason.value for reason in Reason if reason.code}
    return sorted(aside | {outcome.value for outcome in Outcome} | set(QUEUE_REASONS))


def standing(database: Database, url_id: int) -> Standing:
    """Returns where one URL stands, and why."""
    return Standing(*database.query(f"SELECT {_COLUMNS} FROM {_TABLES} WHERE urls.id = ?", (url_id,)).fetchone())


class Filter(NamedTuple):
    """Which URLs are wanted: those that meet all conditions which are given (not empty, not None)."""

    state: str = ""  # a `State`
    reason: str = ""  # a `Standing.reason`
    host_ids: tuple[int, ...] | None = None
    # The host may be hit at this time, and the URL is queued, or was visited so long before that a recrawl may want it.
    due_at: float | None = None
    visited_by: float = 0.0  # when at the latest, as seconds since the epoch; 0: only queued URLs are wanted
    changed_since: float | None = None  # the URL was stored anew, or found gone, at this time or later
    language: str = ""  # of the newest document: "pt" means "pt-br" too

    def condition(self) -> tuple[str, list[object]]:
        """Returns the SQL condition and its values."""
        parts: list[str] = []
        values: list[object] = []
        if self.state:
            parts.append("state = ?")
            values.append(self.state)
        if self.reason:
            parts.append("reason = ?")
            values.append(self.reason)
        if self.host_ids is not None:
            parts.append("urls.host_id IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self.host_ids))
        if self.due_at is not None:
            parts.append(f"{_READY_AT} <= ?")
            parts.append(
                f"(state = '{State.QUEUED}' AND reason != '{HELD}') OR (urls.aside = 0 AND visits.requeued = 0"
                " AND visits.visited_at <= ? AND NOT EXISTS (SELECT 1 FROM sources WHERE url_id = urls.id))"
            )
            values += [self.due_at, self.visited_by]
        if self.language:
            parts.append("documents.language = ? OR substr(documents.language, 1, ?) = ?")
            start = self.language.lower() + "-"
            values += [self.language.lower(), len(start), start]
        if self.changed_since is not None:
            parts.append(f"(documents.fetched_at >= ? OR (state = '{State.GONE}' AND {SINCE} >= ?))")
            values += [self.changed_since, self.changed_since]
        return " AND ".join(f"({part})" for part in parts) or "1", values


def standings(database: Database, wanted: Filter, most: int = -1) -> Iterator[Standing]:
    """Yields where the wanted URLs stand, in the order of discovery; at most `most` of them, or all if it is
    negative."""
    condition, values = wanted.condition()
    rows = database.query(
        f"SELECT {_COLUMNS} FROM {_TABLES} WHERE {condition} ORDER BY urls.id LIMIT ?", (*values, most)
    )
    return (Standing(*row) for row in rows)
