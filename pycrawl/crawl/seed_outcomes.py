"""What became of the seeds of a crawl that has brought no page, so that a message can say why. The state knows their
visits; of those that still wait, the log of fetches knows the last failure of their host."""

from __future__ import annotations

from dataclasses import dataclass

from pycrawl.crawl import fetch_log
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.state.database import Database

_MOST_SEEDS = 1_000  # seeds that are looked at


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """How the last try of a seed, or of the page that it redirects to, ended."""

    url: str
    host: str
    aside: int  # the code of the reason for which it is not asked for (`urls/reasons.py`); 0: it is asked for
    outcome: str  # a value of `Outcome`; empty: it was not tried
    status: int
    detail: str
    host_failures: int  # in a row, a robots.txt that is unreachable included


def has_page(database: Database) -> bool:
    """True if a seed, or the page that it redirects to, gave a page when it was last asked for, or has one stored."""
    row = database.query(
        "SELECT EXISTS (SELECT 1 FROM urls JOIN visits ON visits.id = visit_id(urls.id) WHERE urls.depth = 0"
        " AND visits.requeued = 0 AND (visits.status BETWEEN 200 AND 299 OR visits.status = 304"
        " OR visits.document_id != 0))"
    ).fetchone()
    return bool(row[0])


def seed_outcomes(database: Database, directory: CrawlDirectory) -> list[SeedOutcome]:
    """Returns the outcomes of the first seeds. A URL that waits for its host has the outcome of the host's
    last fetch."""
    last_of_host = {line.host: line for line in fetch_log.read_newest(directory.log)}
    rows = database.query(
        "SELECT urls.url, hosts.key, urls.aside, coalesce(outcome, ''), coalesce(status, 0), coalesce(detail, ''),"
        " hosts.failures + (hosts.failing_since > 0), coalesce(requeued, 1)"
        " FROM urls JOIN hosts ON hosts.id = host_id"
        " LEFT JOIN visits ON visits.id = visit_id(urls.id) WHERE urls.depth = 0 LIMIT ?",
        (_MOST_SEEDS,),
    )
    outcomes = []
    for url, host, aside, outcome, status, detail, failures, waits in rows:
        if waits:
            line = last_of_host.get(host)
            outcome, status, detail = (line.outcome, line.status, "") if line is not None else ("", 0, "")
        outcomes.append(SeedOutcome(url, host, aside, outcome, status, detail, failures))
    return outcomes
