"""Judges all known URLs anew, when the settings by which they were judged have changed.

It is one pass over all URLs, committed after every portion: if it is killed, the next start goes on where it was, and
nothing is fetched before it has ended. URLs that are wanted now are queued, URLs that are no longer leave the queues;
what was fetched stays. Afterwards the queues are as if the present settings had held from the start.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import xxhash

from pycrawl.config import Config
from pycrawl.frontier.front import level_in_sql
from pycrawl.frontier.judge import HostFacts, Judge
from pycrawl.model import Outcome
from pycrawl.policy.priority import FRONT_QUEUES
from pycrawl.state import later, meta
from pycrawl.state.database import Database
from pycrawl.state.sources import let_due_again
from pycrawl.state.urls_table import settle_depths
from pycrawl.urls.reasons import Reason
from pycrawl.urls.scope import Scope, media_types

AT_ONCE = 50_000  # URLs between two commits
_HOSTS_KEPT = 200_000  # hosts whose facts are kept in memory

OnProgress = Callable[[int, int], None]  # URLs judged, of how many

# Group of settings → outcomes that it can have caused. When it has changed, visits that ended so, and stored nothing,
# are worth another try.
_TRIED_AGAIN = {
    "addresses": (Outcome.ADDRESS_REFUSED,),
    "robots": (Outcome.ROBOTS_DENIED, Outcome.NOINDEX),
    "traps": (Outcome.TRAP, Outcome.SOFT_404),
    "plugins": (Outcome.PLUGIN_FAILED,),
    "redirects": (Outcome.BAD_REDIRECT,),
}


def settings_judged_by(config: Config) -> dict[str, str]:
    """Returns a digest of the settings by which URLs are judged, for each group of settings."""
    crawl, limits, traps = config.crawl, config.limits, config.traps
    politeness = config.politeness
    groups: dict[str, Any] = {
        "scope": [
            _fields(config.scope, leave_out=("content_types", "languages")), config.security.allow_ports,
            crawl.max_depth, limits.max_url_length, limits.max_redirects,
            traps.max_path_segments, traps.max_repeated_segments, traps.max_query_parameters,
            politeness.rel_nofollow, politeness.meta_robots, politeness.x_robots_tag, traps.soft_404,
            config.sitemaps.from_robots, config.feeds.discover,
            _of_hosts(config, "max_url_length", "max_redirects", "rel_nofollow", "meta_robots", "x_robots_tag"),
        ],
        "types": sorted(media_types(config.scope.content_types)),
        "languages": sorted(config.scope.languages),
        "addresses": _fields(config.security, leave_out=("allow_ports",)),
        "robots": [
            politeness.obey_robots, politeness.meta_robots, politeness.x_robots_tag, crawl.name,
            _of_hosts(config, "obey_robots", "meta_robots", "x_robots_tag"),
        ],
        "traps": _fields(traps),
        "plugins": [repr(sorted(config.plugins.items()))],
        "redirects": [limits.max_url_length, _of_hosts(config, "max_url_length")],
    }  # fmt: skip
    return {name: xxhash.xxh3_64_hexdigest(json.dumps(value, default=str).encode()) for name, value in groups.items()}


def _fields(section: Any, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    return {name: getattr(section, name) for name in section.__slots__ if name not in leave_out}


def _of_hosts(config: Config, *keys: str) -> list[tuple[str, dict[str, Any]]]:
    """Returns what each [[host]] entry says of these keys, in the order of the file, which counts: later entries go
    before earlier ones."""
    settings = [(entry.name, {**entry.politeness, **entry.limits}) for entry in config.hosts]
    found = [(name, {key: values[key] for key in keys if key in values}) for name, values in settings]
    return [(name, values) for name, values in found if values]


def is_due(database: Database, config: Config) -> bool:
    """True if the known URLs were last judged under other settings than these."""
    return meta.judged_under(database) != settings_judged_by(config) or meta.is_judging(database)


def judge_anew(
    database: Database, config: Config, judge: Judge, on_progress: OnProgress, at_once: int = AT_ONCE
) -> None:
    """Do the whole pass, or what is left of one that was interrupted, if it is due."""
    settings = settings_judged_by(config)
    before = meta.judged_under(database)
    if before == settings and not meta.is_judging(database):
        return  # a pass under other settings that was cut short has left its verdicts, even if they were taken back
    if before is not None:  # else the crawl is new, or from before there was a ledger: what is queued is wanted
        _Pass(database, judge, settings, on_progress, at_once).run()
        _requeue_visits(database, config, {name for name in settings if before.get(name) != settings[name]})
        later.queue(database, level_in_sql())
        let_due_again(database)
        _count_queues(database)
    meta.set_judged_under(database, settings)
    database.commit()


class _Pass:
    """One pass over all known URLs, or the rest of one that was interrupted."""

    def __init__(
        self, database: Database, judge: Judge, settings: dict[str, str], on_progress: OnProgress, at_once: int
    ) -> None:
        self._database = database
        self._judge = judge
        self._settings = settings
        self._on_progress = on_progress
        self._at_once = at_once
        self._hosts: dict[int, HostFacts] = {}  # by id

    def run(self) -> None:
        (total,) = self._database.query("SELECT coalesce(max(id), 0) FROM urls").fetchone()
        done, counts = meta.judging_to(self._database, self._settings)
        if not done:
            self._database.write("DELETE FROM url_standings")  # the columns of `urls` are read instead
            settle_depths(self._database)
            self._database.write("DELETE FROM url_changes")
        while done < total:
            done = self._judge_some(done, counts)
            meta.set_judging_to(self._database, self._settings, done, counts)
            self._database.commit()
            self._on_progress(done, total)
        self._leave_queues()
        self._database.write("DELETE FROM counters WHERE name LIKE 'aside:%'")
        self._database.write_many(
            "INSERT INTO counters VALUES (?, ?)",
            [(f"aside:{Reason.from_code(int(code))}", amount) for code, amount in counts.items() if amount],
        )
        meta.clear_judging_to(self._database)

    def _judge_some(self, after: int, counts: Counter[str]) -> int:
        """Judge the next portion, of ids above `after`, and add those that stand aside to `counts`. Returns its last
        id."""
        rows = self._database.query(
            "SELECT id, url, host_id, depth, hops, ask, aside FROM urls WHERE id > ? ORDER BY id LIMIT ?",
            (after, self._at_once),
        ).fetchall()
        self._read_hosts({row[2] for row in rows})
        codes = self._judge.codes_of(rows, self._hosts)
        changed = [(row[0], code) for row, code in zip(rows, codes, strict=True) if row[6] != code]
        counts.update({str(code): amount for code, amount in Counter(codes).items() if code})
        last = int(rows[-1][0])
        if len(changed) == len(rows) and len(set(codes)) == 1:
            self._change_all(codes[0], after, last)
        elif changed:
            self._change(changed, after, last)
        return last

    def _read_hosts(self, host_ids: set[int]) -> None:
        """Have the facts of these hosts in memory."""
        if len(self._hosts) + len(host_ids) > _HOSTS_KEPT:
            self._hosts.clear()
        unknown = sorted(host_ids - self._hosts.keys())
        for host_id, key, is_seed in self._database.query_each(
            "SELECT id, key, is_seed FROM hosts WHERE id IN ({})", unknown
        ):
            self._hosts[host_id] = self._judge.host_facts(key, bool(is_seed))

    def _change_all(self, code: int, after: int, last: int) -> None:
        """As `_change`, where all URLs with ids above `after` and up to `last` get the same code."""
        self._database.write("UPDATE urls SET aside = ? WHERE id > ? AND id <= ?", (code, after, last))
        if code:
            for level in range(1, FRONT_QUEUES + 1):
                self._database.write(
                    "DELETE FROM front WHERE priority = ? AND url_id > ? AND url_id <= ?", (level, after, last)
                )
        else:
            self._database.write(
                f"INSERT OR IGNORE INTO front SELECT {level_in_sql()}, urls.id, urls.host_id, 0 FROM urls"
                " WHERE id > ? AND id <= ? AND visit_id(urls.id) = 0",
                (after, last),
            )

    def _change(self, changed: list[tuple[int, int]], after: int, last: int) -> None:
        """Write the new codes of URLs (id, code), all with ids above `after` and up to `last`, and let the front queues
        follow."""
        self._database.write("CREATE TEMP TABLE IF NOT EXISTS judged (id INTEGER PRIMARY KEY, aside INTEGER)")
        self._database.write("DELETE FROM judged")
        self._database.write_many("INSERT INTO judged VALUES (?, ?)", changed)
        self._database.write(
            "UPDATE urls SET aside = (SELECT aside FROM judged WHERE judged.id = urls.id)"
            " WHERE id IN (SELECT id FROM judged)"
        )
        self._database.write(  # queue what is wanted now and was never visited
            f"INSERT OR IGNORE INTO front SELECT {level_in_sql()}, urls.id, urls.host_id, 0"
            " FROM judged JOIN urls ON urls.id = judged.id WHERE judged.aside = 0"
            " AND visit_id(urls.id) = 0"
        )
        if any(code for _, code in changed):
            self._leave_front(after, last)

    def _leave_front(self, after: int, last: int) -> None:
        """What was judged to stand aside, among the URLs between two ids, leaves the front queues."""
        for level in range(1, FRONT_QUEUES + 1):
            place = (level, after, last)
            some = "SELECT EXISTS (SELECT 1 FROM front WHERE priority = ? AND url_id > ? AND url_id <= ?)"
            if self._database.query(some, place).fetchone()[0]:
                self._database.write(
                    "DELETE FROM front WHERE priority = ? AND url_id > ? AND url_id <= ?"
                    " AND url_id IN (SELECT id FROM judged WHERE aside != 0)",
                    place,
                )

    def _leave_queues(self) -> None:
        """Remove URLs that stand aside from the other queues. A revisit that they waited for is cancelled if their page
        is stored, and else put off until they stand aside no more."""
        is_aside = "(SELECT aside FROM urls WHERE id = {}.url_id) != 0"
        for queue in ("back", "recrawls"):
            self._database.write(f"DELETE FROM {queue} WHERE {is_aside.format(queue)}")
        for level in range(1, FRONT_QUEUES + 1):  # a pass that was cut short may have queued what is in a back queue
            self._database.write(
                "DELETE FROM front WHERE priority = ? AND url_id IN (SELECT url_id FROM back)", (level,)
            )
        later.note(
            self._database,
            "requeued = 1 AND (document_id = 0 OR digest = x'') AND url_id NOT IN (SELECT url_id FROM sources)",
        )
        self._database.write(f"UPDATE visits SET requeued = 0 WHERE requeued = 1 AND {is_aside.format('visits')}")


def _requeue_visits(database: Database, config: Config, changed: set[str]) -> None:
    """Queue the URLs again whose visits ended as they did because of a setting that has changed. `changed`: groups."""
    outcomes = [str(outcome) for name in changed for outcome in _TRIED_AGAIN.get(name, ())]
    _requeue(database, f"outcome IN ({', '.join('?' * len(outcomes))})", outcomes)
    scope = Scope(config)
    for group, outcome, wants in (
        ("types", Outcome.UNWANTED_TYPE, scope.wants_type),
        ("languages", Outcome.UNWANTED_LANGUAGE, scope.wants_language),
    ):
        if group in changed:  # the detail of such a visit is the type, or the language
            rows = database.query("SELECT DISTINCT detail FROM visits WHERE outcome = ?", (str(outcome),)).fetchall()
            for (detail,) in rows:
                same = ("outcome = ? AND detail = ?", [str(outcome), detail])
                if wants(detail):
                    _requeue(database, *same)
                else:
                    later.remove_where(database, *same)


def _requeue(database: Database, condition: str, values: list[str]) -> None:
    """Queue the URLs again whose visit meets an SQL condition, and for which nothing was ever stored; those that stand
    aside when they do so no more."""
    due = f"requeued = 0 AND document_id = 0 AND {condition}"
    later.note(database, due, values)
    due += " AND url_id IN (SELECT id FROM urls WHERE aside = 0)"
    database.write(
        f"INSERT OR IGNORE INTO front SELECT {level_in_sql()}, urls.id, urls.host_id, 1"
        f" FROM visits JOIN urls ON urls.id = visits.url_id WHERE {due}",
        values,
    )
    database.write(f"UPDATE visits SET requeued = 1 WHERE {due}", values)


def let_held_in(database: Database) -> None:
    """Move the URLs that an option of the last run held back to the front queues, and commit."""
    (held,) = database.query("SELECT count(*) FROM held").fetchone()
    if held:
        database.write(
            f"INSERT OR IGNORE INTO front SELECT {level_in_sql()}, held.url_id, held.host_id, held.revisit"
            " FROM held JOIN urls ON urls.id = held.url_id WHERE urls.aside = 0"
        )
        database.write("DELETE FROM held")
        _count_queues(database)
        database.commit()


def _count_queues(database: Database) -> None:
    """Set the counters of the queues to the numbers of rows in their tables."""
    lengths = dict(database.query("SELECT priority, count(*) FROM front GROUP BY priority").fetchall())
    others = {
        queue: database.query(f"SELECT count(*) FROM {queue}").fetchone()[0] for queue in ("recrawls", "back", "held")
    }
    counted = {f"front:{number}": lengths.get(number, 0) for number in range(1, FRONT_QUEUES + 1)}
    database.write_many("INSERT OR REPLACE INTO counters VALUES (?, ?)", {**counted, **others}.items())
