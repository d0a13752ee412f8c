"""Queues URLs to be tried again: those that failed for reasons that may pass, or those that somebody names.

A request is a value, so that `pycrawl retry` can carry it out itself, or leave it in the inbox of a running crawl.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

import numpy as np

from pycrawl.crawl.session import Session
from pycrawl.errors import ConfigError
from pycrawl.model import Outcome
from pycrawl.policy.politeness import PolitenessRules, gap
from pycrawl.state.hosts import Host, failing_hosts, host_keys
from pycrawl.state.ledger import PASSING, State, standing
from pycrawl.state.origin_failures import OriginFailure, all_failures
from pycrawl.urls.host_list import HostList
from pycrawl.urls.normal_form import UrlRules, from_user
from pycrawl.urls.parts import host_key, origin, url_hash


@dataclass(frozen=True, slots=True)
class RetryRequest:
    """What is to be tried again: the `urls`; if there are none, all URLs that failed for `reason`, on `host` only."""

    urls: tuple[str, ...] = ()
    reason: str = ""  # a value of `Outcome`; empty: any reason that may pass
    host: str = ""  # as in scope.allow_hosts; empty: all hosts

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> RetryRequest:
        """Returns the request that `to_text` wrote. Raises ValueError for anything else."""
        fields = json.loads(text)
        if not isinstance(fields, dict) or set(fields) != {"urls", "reason", "host"}:
            raise ValueError("not a request to try URLs again")
        urls, reason, host = fields["urls"], fields["reason"], fields["host"]
        if not isinstance(urls, list) or not all(isinstance(text, str) for text in (*urls, reason, host)):
            raise ValueError("not a request to try URLs again")
        if host:
            try:
                HostList("--host", [host])
            except ConfigError as error:
                raise ValueError(str(error)) from None
        return cls(tuple(urls), reason, host)


@dataclass(slots=True)
class Retried:
    """What became of a request."""

    queued: int = 0  # URLs that were put back into the queues
    waiting: int = 0  # URLs named that are queued already
    hosts: int = 0  # hosts whose failures are forgotten
    unknown: list[str] = field(default_factory=list)  # URLs named that the crawl never met
    aside: list[tuple[str, str]] = field(default_factory=list)  # URLs named that a setting keeps out, and the reason


def retry(session: Session, request: RetryRequest, now: float) -> Retried:
    """Queue URLs again, and let their hosts be hit as soon as politeness allows it. Returns what was done.

    All visits must be committed before, because they are looked up in the database. The caller commits afterwards.
    """
    done = Retried()
    if request.urls:
        _retry_named(session, request.urls, done, now)
        return done
    outcomes = (request.reason,) if request.reason else tuple(outcome.value for outcome in PASSING)
    host_ids = _meant_hosts(session, request.host)
    failing = failing_hosts(session.database, outcomes)
    if host_ids is not None:
        failing = sorted(set(failing).intersection(host_ids))
    done.queued = _requeue_failed(session, outcomes, host_ids)
    _let_be_asked(session, failing, now)
    unreachable = [
        failure
        for failure in all_failures(session.database)
        if failure.outcome in outcomes or _is_meant(failure, request.reason)
        if host_ids is None or session.hosts.id_of(_host_of(failure)) in host_ids
    ]
    _ask_origin_again(session, unreachable, now)
    done.hosts = len({*failing, *(session.hosts.id_of(_host_of(failure)) for failure in unreachable)})
    return done


def _retry_named(session: Session, urls: Iterable[str], done: Retried, now: float) -> None:
    """Queue the named URLs again, and count in `done` what became of each."""
    rules = UrlRules.of(session.config)
    again: list[int] = []
    hosts: set[int] = set()
    unreachable: dict[str, OriginFailure] = {}
    for text in urls:
        url = from_user(text, rules)
        url_id = 0 if url is None else _id_of(session, url)
        if not url_id:
            done.unknown.append(text)
            continue
        one = standing(session.database, url_id)
        if one.aside:
            done.aside.append((one.url, one.reason))
            continue
        hosts.add(one.host_id)
        failure = session.origin_failure_of(origin(one.url))
        if failure is not None:
            unreachable[failure.origin] = failure
        if one.state == State.QUEUED:
            done.waiting += 1
        else:
            again.append(url_id)
    done.queued = session.frontier.requeue_visits("url_id IN (SELECT value FROM json_each(?))", (json.dumps(again),))
    failing = [host_id for host_id in hosts if session.hosts.get(host_id).failures]
    _let_be_asked(session, failing, now)
    _ask_origin_again(session, unreachable.values(), now)
    done.hosts = len({*failing, *(session.hosts.id_of(_host_of(failure)) for failure in unreachable.values())})


def _id_of(session: Session, url: str) -> int:
    return int(session.seen.look(np.array([url_hash(url, session.seed)], np.uint64)).ids[0])


def _meant_hosts(session: Session, host: str) -> tuple[int, ...] | None:
    """Returns the ids of the hosts that `host` means; None if it is empty, which means all."""
    if not host:
        return None
    meant = HostList("--host", [host])
    return tuple(host_id for host_id, key in host_keys(session.database) if key in meant)


def _requeue_failed(session: Session, outcomes: tuple[str, ...], host_ids: tuple[int, ...] | None) -> int:
    condition = "outcome IN (SELECT value FROM json_each(?))"
    values: list[object] = [json.dumps(outcomes)]
    if host_ids is not None:
        condition += " AND url_id IN (SELECT id FROM urls WHERE host_id IN (SELECT value FROM json_each(?)))"
        values.append(json.dumps(host_ids))
    return session.frontier.requeue_visits(condition, values)


def _is_meant(failure: OriginFailure, reason: str) -> bool:
    """True if URLs that wait for an origin are queued for this reason, or any is meant."""
    return not reason or (failure.of_robots and reason == Outcome.ROBOTS_UNREACHABLE)


def _host_of(failure: OriginFailure) -> str:
    return host_key(f"{failure.origin}/")


def _ask_origin_again(session: Session, failures: Iterable[OriginFailure], now: float) -> None:
    """Let each origin that cannot be asked for pages be tried now, or at the time that its server named."""
    for failure in failures:
        again = failure._replace(failures=0, next_at=min(failure.next_at, max(now, failure.not_before)))
        session.group.origin_failures[failure.origin] = again
        session.frontier.ask_origin_again(again)


def _let_be_asked(session: Session, host_ids: Iterable[int], now: float) -> None:
    """Let hosts be hit after one plain pause from now on, because it is not known when they were hit last. A host that
    has said that it is too busy keeps the time that it named, which is at most politeness.max_retry_after away."""
    settings = session.frontier.settings

    def ready_at(host: Host) -> float:
        rules = PolitenessRules.of(settings.of(host.key).politeness)
        if host.trouble == Outcome.TOO_BUSY:
            return now + rules.max_retry_after
        return now + gap(rules, host.crawl_delay, 0.0, 0, 0.0)

    session.frontier.let_be_asked(host_ids, ready_at)
