"""Forgetting URLs: what goes from the state, and which documents are to leave the collection.

`choose` enters the URLs into the table `forgetting`; `begin` removes everything of them from the state but their
documents. Both belong into one transaction; once it is committed, forgetting is final. Afterwards `doomed` says which
documents are left to be removed from the compound files, file by file (`crawl/forgetting.py`), until `end`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pycrawl.model import Via
from pycrawl.state import change_rates, forget_prints, later, links, meta, robots, unwanted
from pycrawl.state.counters import count
from pycrawl.state.database import Database
from pycrawl.state.unwanted import FORGOTTEN, Rule, Unwanted, forgotten_text, hash_digits, row_hash
from pycrawl.state.url_seen import ids_of_hashes
from pycrawl.state.visit_ids import drop_visits
from pycrawl.traps.url_kinds import section, shape
from pycrawl.urls.parts import host_key, path_and_query, url_hash
from pycrawl.urls.reasons import Reason
from pycrawl.urls.url_texts import urls_in

Doomed = dict[int, int]  # document to be removed → document whose record it shares; 0: it has its own

_PENDING = "forgetting"  # the key in `meta` that is there from `begin` to `end`
_CHOSEN = "(SELECT url_id FROM forgetting)"
_GENERAL = frozenset("0*#+")  # characters that stand for many texts in the shape of a URL


@dataclass(frozen=True, slots=True)
class Selection:
    """The URLs that the open transaction has chosen, for people to confirm."""

    urls: int
    documents: int  # of these URLs, all versions
    hosts: int  # of these URLs
    copies: tuple[str, ...] = ()  # other URLs with the same bytes, which stay
    near: tuple[str, ...] = ()  # other URLs with nearly the same text, which stay


# Choosing


def is_forgotten(database: Database, rule: Rule, name: str, seed: int) -> bool:
    """True if what the rule names was forgotten before. `name` is the URL, the prefix or the host in normal form."""
    not_wanted = Unwanted(database, seed)
    return name in not_wanted.hosts if rule.kind == "host" else not_wanted.is_unwanted(name)


def choose(database: Database, rules: Sequence[Rule], seed: int) -> set[Rule]:
    """Choose the URLs that the rules name. Returns the rules that name no URL whose text is known."""
    in_vain = set()
    hashes = {int(rule.value, 16): rule for rule in rules if rule.kind == "url"}
    found = ids_of_hashes(database, np.array(sorted(hashes), np.uint64), seed)
    in_vain |= {rule for hash_of_url, rule in hashes.items() if not _choose(database, "id = ?", found.get(hash_of_url))}
    for rule in rules:
        if rule.kind == "host":
            chosen = _choose(database, "host_id = (SELECT id FROM hosts WHERE key = ?)", rule.value)
        elif rule.kind == "prefix":
            chosen = _choose(database, "substr(url, 1, length(?1)) = ?1", rule.value)
        else:
            continue
        if not chosen:
            in_vain.add(rule)
    return in_vain


def choose_copies(database: Database) -> list[str]:
    """Choose the other URLs that have, or had, a document with the bytes of a chosen one's. Returns them."""
    urls = _same_bytes(database)
    database.write_many("INSERT OR IGNORE INTO forgetting VALUES (?)", [(url_id,) for url_id, _ in urls])
    return [url for _, url in urls]


def _choose(database: Database, condition: str, value: object) -> int:
    """Choose the URLs that meet an SQL condition, those forgotten before excepted. Returns how many they are."""
    where = f"{condition} AND substr(url, 1, {len(FORGOTTEN)}) != '{FORGOTTEN}'"
    database.write(f"INSERT OR IGNORE INTO forgetting SELECT id FROM urls WHERE {where}", (value,))
    return int(database.query(f"SELECT count(*) FROM urls WHERE {where}", (value,)).fetchone()[0])


def _same_bytes(database: Database) -> list[tuple[int, str]]:
    return database.query(
        "SELECT DISTINCT urls.id, url FROM documents JOIN urls ON urls.id = url_id"
        f" WHERE digest IN (SELECT digest FROM documents WHERE url_id IN {_CHOSEN}) AND url_id NOT IN {_CHOSEN}"
        " ORDER BY fetched_at"
    ).fetchall()


def selection(database: Database) -> Selection:
    """Returns what is chosen, and the URLs that resemble it and stay."""
    (urls,) = database.query("SELECT count(*) FROM forgetting").fetchone()
    (count_documents,) = database.query(f"SELECT count(*) FROM documents WHERE url_id IN {_CHOSEN}").fetchone()
    (hosts,) = database.query(f"SELECT count(DISTINCT host_id) FROM urls WHERE id IN {_CHOSEN}").fetchone()
    copies = tuple(url for _, url in _same_bytes(database))
    near = forget_prints.near_documents(database, _chosen_records(database))
    rows = database.query_each(
        "SELECT DISTINCT url FROM documents JOIN urls ON urls.id = url_id"
        f" WHERE url_id NOT IN {_CHOSEN} AND documents.id IN ({{}})",
        sorted(near),
    )
    others = dict.fromkeys(url for (url,) in rows)
    return Selection(urls, count_documents, hosts, copies, tuple(url for url in others if url not in set(copies)))


def _chosen_records(database: Database) -> set[int]:
    """Returns the ids of the chosen URLs' documents that have a record of their own."""
    rows = database.query(f"SELECT id FROM documents WHERE duplicate_of = 0 AND url_id IN {_CHOSEN}")
    return {document_id for (document_id,) in rows}


# The transaction


def begin(database: Database, rules: Sequence[Rule], seed: int, threshold: float, now: float) -> None:
    """Remove the chosen URLs from the state, and enter what must not be asked for again. The caller commits."""
    unwanted.add_rules(database, rules, now)
    meta.clear_judging_to(database)  # a pass that was interrupted has counted these URLs: it must begin anew
    leaving = _chosen_records(database) - _with_heirs(database)
    forget_prints.drop_digests(database, leaving)
    forget_prints.drop_near(database, leaving, threshold)
    forget_prints.drop_passages(database, leaving)
    _leave_queues(database)
    _drop_kinds(database, rules)
    _replace_texts(database, seed)
    _drop_visits(database, Unwanted(database, seed), seed)
    for rule in rules:
        if rule.kind == "host":
            _drop_host(database, rule.value)
    database.write("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_PENDING, now))


def _with_heirs(database: Database) -> set[int]:
    """Returns the ids of the chosen URLs' documents whose record stays, as a URL that is not chosen shares it."""
    rows = database.query(
        f"SELECT DISTINCT duplicate_of FROM documents WHERE duplicate_of != 0 AND url_id NOT IN {_CHOSEN}"
        f" AND duplicate_of IN (SELECT id FROM documents WHERE url_id IN {_CHOSEN})"
    )
    return {document_id for (document_id,) in rows}


def _leave_queues(database: Database) -> None:
    """Remove the chosen URLs from all queues."""
    in_front = database.query(f"SELECT priority, count(*) FROM front WHERE url_id IN {_CHOSEN} GROUP BY 1").fetchall()
    for priority, amount in in_front:
        count(database, f"front:{priority}", -amount)
    database.write(f"DELETE FROM front WHERE url_id IN {_CHOSEN}")
    for queue in ("recrawls", "back", "held"):
        count(database, queue, -database.write(f"DELETE FROM {queue} WHERE url_id IN {_CHOSEN}").rowcount)


def _drop_kinds(database: Database, rules: Sequence[Rule]) -> None:
    """Remove the kinds, series and probes whose names would tell a forgotten URL. They count as good again."""
    rows = database.query(f"SELECT host_id, url FROM urls WHERE id IN {_CHOSEN}")
    single = {(host_id, shape(url)) for host_id, url in rows if _GENERAL.isdisjoint(shape(url))}
    database.write_many("DELETE FROM kinds WHERE host_id = ? AND kind = ?", single)
    for rule in rules:
        if rule.kind == "prefix":
            (host_id,) = database.query("SELECT id FROM hosts WHERE key = ?", (host_key(rule.value),)).fetchone()
            start = path_and_query(rule.value)
            for table, column in (("kinds", "kind"), ("series", "series"), ("probes", "directory")):
                database.write(
                    f"DELETE FROM {table} WHERE host_id = ?1 AND substr({column}, 1, length(?2)) = ?2", (host_id, start)
                )
            database.write("DELETE FROM kinds WHERE host_id = ? AND kind = ?", (host_id, section(rule.value)))


def _replace_texts(database: Database, seed: int) -> None:
    """Replace the texts of the chosen URLs by their hashes; from now on they stand aside as forgotten."""
    rows = database.query(f"SELECT id, url FROM urls WHERE id IN {_CHOSEN}").fetchall()
    aside = Reason.FORGOTTEN.code
    for before, amount in database.query(f"SELECT aside, count(*) FROM urls WHERE id IN {_CHOSEN} GROUP BY 1"):
        if before:
            count(database, f"aside:{Reason.from_code(before)}", -amount)
    count(database, f"aside:{Reason.FORGOTTEN}", len(rows))
    hashes = [row_hash(url, seed) for _, url in rows]
    database.write_many(
        "UPDATE urls SET url = ?, aside = ?, ask = 0 WHERE id = ?",
        ((forgotten_text(one), aside, url_id) for one, (url_id, _) in zip(hashes, rows, strict=True)),
    )
    database.write_many(
        "DELETE FROM unwanted WHERE kind = 'again' AND value = ?", ((hash_digits(one),) for one in hashes)
    )
    database.write(
        f"INSERT INTO url_changes (url_id, depth, aside) SELECT id, depth, ? FROM urls WHERE id IN {_CHOSEN}", (aside,)
    )


def _drop_visits(database: Database, not_wanted: Unwanted, seed: int) -> None:
    """Remove the visits and links of the chosen URLs. Where the visit of another URL names one, as that of a redirect
    does, its hash takes the place of its text."""
    chosen = [url_id for (url_id,) in database.query("SELECT url_id FROM forgetting")]
    drop_visits(database, chosen)
    later.remove(database, chosen)
    links.remove(database, chosen)
    change_rates.remove(database, chosen)
    named = database.query("SELECT url_id, detail FROM visits WHERE detail LIKE '%://%'").fetchall()
    for url_id, detail in named:
        for url in urls_in(detail):
            if not_wanted.is_unwanted(url):
                cleaned = detail.replace(url, forgotten_text(row_hash(url, seed)))
                database.write("UPDATE visits SET detail = ? WHERE id = visit_id(?)", (cleaned, url_id))
                break


def _drop_host(database: Database, key: str) -> None:
    """Remove everything that is known of a host but its name, which the rule in `unwanted` tells anyway."""
    row = database.query("SELECT id FROM hosts WHERE key = ?", (key,)).fetchone()
    if row is None:
        return
    for table in ("kinds", "series", "probes", "host_trust"):
        database.write(f"DELETE FROM {table} WHERE host_id = ?", row)
    database.write("DELETE FROM change_priors WHERE group_key >> 16 = ? AND group_key != 0", row)
    for table in ("host_copies", "mirrors"):
        database.write(f"DELETE FROM {table} WHERE host_id = ?1 OR original_id = ?1", row)
    robots.drop_host(database, key)
    database.write(
        "UPDATE hosts SET is_seed = 0, pages = 0, failures = 0, ready_at = 0, crawl_delay = 0, address = '',"
        " failing_since = 0 WHERE id = ?",
        row,
    )


# Taking back


def restore(database: Database, url: str, seed: int, aside: int, level: int) -> None:
    """Give a forgotten URL its text back, as a seed that was never visited. The caller commits.

    `aside`: the code of the reason for which it stands aside from now on; 0: it waits in the front queue `level`.
    """
    hash_of_url = url_hash(url, seed)
    url_id = ids_of_hashes(database, np.array([hash_of_url], np.uint64), seed).get(hash_of_url)
    if url_id is None:
        return  # a forgotten prefix or host covers it, but the crawl has never met it
    meta.clear_judging_to(database)  # as in `begin`
    (before, host_id) = database.query("SELECT aside, host_id FROM urls WHERE id = ?", (url_id,)).fetchone()
    database.write(
        "UPDATE urls SET url = ?, aside = ?, ask = 0, depth = 0, hops = 0, via = ?, parent_id = 0 WHERE id = ?",
        (url, aside, Via.SEED, url_id),
    )
    database.write("INSERT INTO url_changes (url_id, depth, aside) VALUES (?, 0, ?)", (url_id, aside))
    for code, change in ((before, -1), (aside, 1)):
        if code:
            count(database, f"aside:{Reason.from_code(code)}", change)
    if not aside:
        database.write("INSERT INTO front VALUES (?, ?, ?, 0)", (level, url_id, host_id))
        count(database, f"front:{level}", 1)


# Afterwards


def is_pending(database: Database) -> bool:
    """True if forgetting was begun and is not done yet."""
    return database.query("SELECT 1 FROM meta WHERE key = ?", (_PENDING,)).fetchone() is not None


def doomed(database: Database) -> dict[int, Doomed]:
    """Returns, by compound file in their order, the documents that are to be removed."""
    files: dict[int, Doomed] = {}
    rows = database.query(
        f"SELECT id, file_id, duplicate_of FROM documents WHERE url_id IN {_CHOSEN} ORDER BY file_id, id"
    )
    for document_id, file_id, duplicate_of in rows:
        files.setdefault(file_id, {})[document_id] = duplicate_of
    return files


def ranges(database: Database) -> dict[int, tuple[int, int]]:
    """Returns, by compound file, the first and the last document with a record in it. Ids ascend through all files, so
    that all documents of a file lie between the two."""
    found: dict[int, tuple[int, int]] = {}
    for document_id, file_id in _records(database):
        first, _ = found.get(file_id, (document_id, 0))
        found[file_id] = (first, document_id)
    return found


def _records(database: Database) -> Iterator[tuple[int, int]]:
    return iter(database.query("SELECT id, file_id FROM documents WHERE duplicate_of = 0 ORDER BY id"))


def end(database: Database) -> None:
    """Note that nothing of the chosen URLs is left. The caller commits."""
    database.write("DELETE FROM forgetting")
    database.write("DELETE FROM meta WHERE key = ?", (_PENDING,))
