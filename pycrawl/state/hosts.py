"""Hosts."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

from pycrawl.state.database import Database

CACHED_IDS = 200_000  # hosts whose id is known without a query
_ID_BYTES = 200  # that a host's name and id take in memory; about
_HOST_BYTES = 400  # that a host takes; about
CACHED_HOSTS = 50_000  # hosts that are kept in memory although nobody holds them
_COLUMNS = "id, key, is_seed, pages, failures, ready_at, crawl_delay, address, failing_since, trouble"


@dataclass(slots=True, weakref_slot=True)
class Host:
    """What is known of a host: a row of `hosts`. Whoever changes it calls `Hosts.touch`, else it is not written."""

    id: int
    key: str
    is_seed: bool = False
    pages: int = 0  # URLs that have answered with 2xx
    failures: int = 0  # in a row
    ready_at: float = 0.0  # seconds since the epoch: the host must not be hit before
    crawl_delay: float = 0.0  # seconds: the longest that the robots.txt of one of its origins asks for
    address: str = ""  # the last address connected to
    failing_since: float = 0.0  # seconds since the epoch: since then one of its origins cannot be asked for
    # pages (`state/origin_failures.py` says which); 0: both can
    trouble: str = ""  # the outcome of the last of the failures in a row


class Hosts:
    """The table `hosts` behind two bounded caches (key → id, id → host).

    There is never more than one `Host` object of a host: as long as somebody holds it, `get` returns this one. A second
    object would overwrite what the first one knows.
    """

    def __init__(self, database: Database, cached_hosts: int = CACHED_HOSTS, cached_ids: int = CACHED_IDS) -> None:
        self._database = database
        self._cached_ids = cached_ids
        self._ids: OrderedDict[str, int] = OrderedDict()
        self._hosts: WeakValueDictionary[int, Host] = WeakValueDictionary()
        self._recent: deque[Host] = deque(maxlen=cached_hosts)  # keeps the last ones read alive
        self._dirty: dict[int, Host] = {}  # hosts changed since the last group was closed
        self._new: list[tuple[int, str]] = []  # (id, key) of hosts that are not in the table yet
        self._closed: dict[int, tuple[Host, tuple[object, ...]]] = {}  # hosts, with counts as the closed group has them
        self._next_id = 1 + int(database.query("SELECT coalesce(max(id), 0) FROM hosts").fetchone()[0])

    def __len__(self) -> int:
        return self._next_id - 1

    def bytes_held(self) -> int:
        """Returns about how many bytes the caches take."""
        return len(self._ids) * _ID_BYTES + len(self._recent) * _HOST_BYTES

    def id_of(self, key: str) -> int:
        """Returns the id of a host, which is entered if it is new."""
        host_id = self._ids.get(key)
        return host_id if host_id is not None else self._find_or_enter(key)

    def _find_or_enter(self, key: str) -> int:
        row = self._database.query("SELECT id FROM hosts WHERE key = ?", (key,)).fetchone()
        if row is not None:
            host_id = int(row[0])
        else:
            host_id = self._next_id
            self._next_id += 1
            self._new.append((host_id, key))
        self._ids[key] = host_id
        if len(self._ids) > self._cached_ids:
            self.flush_new()
            self._ids.popitem(last=False)
        return host_id

    def get(self, host_id: int) -> Host:
        """Returns the host, always the same object while somebody holds it."""
        host = self._hosts.get(host_id)
        if host is None:
            self.flush_new()
            row = self._database.query(f"SELECT {_COLUMNS} FROM hosts WHERE id = ?", (host_id,)).fetchone()
            host = Host(*row)
            self._hosts[host_id] = host
            self._recent.append(host)
        return host

    def touch(self, host: Host) -> None:
        """Note that a host has changed, so that it is written with its group."""
        self._dirty[host.id] = host

    def mark_seeds(self, host_ids: Iterable[int]) -> list[int]:
        """Mark hosts as having a seed. Returns those that had none before."""
        new = []
        for host_id in host_ids:
            host = self.get(host_id)
            if not host.is_seed:
                host.is_seed = True
                self.touch(host)
                new.append(host_id)
        return new

    def flush_new(self) -> None:
        """Write new hosts to the table, so that they can be read there."""
        self._database.write_many("INSERT INTO hosts (id, key) VALUES (?, ?)", self._new)
        self._new.clear()

    def close_group(self) -> None:
        """Fix the counts of the changed hosts as they are now: `flush` writes these, and never counts of results that
        are committed later."""
        for host_id, host in self._dirty.items():
            self._closed[host_id] = (host, (host.pages, host.failures, host.failing_since))
        self._dirty = {}

    def flush(self) -> None:
        """Write the hosts of the closed group; to be committed by the caller. `ready_at` is written as it is by now, as
        a later time is always safe."""
        self.flush_new()
        self._database.write_many(
            "UPDATE hosts SET is_seed = ?, pages = ?, failures = ?, ready_at = ?, crawl_delay = ?, address = ?,"
            " failing_since = ?, trouble = ? WHERE id = ?",
            (
                (
                    host.is_seed,
                    pages,
                    failures,
                    host.ready_at,
                    host.crawl_delay,
                    host.address,
                    failing_since,
                    host.trouble,
                    host.id,
                )
                for host, (pages, failures, failing_since) in self._closed.values()
            ),
        )
        self._closed = {}


def find_host(database: Database, key: str) -> Host | None:
    row = database.query(f"SELECT {_COLUMNS} FROM hosts WHERE key = ?", (key,)).fetchone()
    return Host(*row) if row else None


def address_of(database: Database, url_id: int) -> str:
    """Returns the last address that was connected to for the host of a URL; empty if none is known."""
    row = database.query(
        "SELECT address FROM hosts WHERE id = (SELECT host_id FROM urls WHERE id = ?)", (url_id,)
    ).fetchone()
    return str(row[0]) if row else ""


def hosts_by_pages(database: Database, most: int) -> list[Host]:
    rows = database.query(f"SELECT {_COLUMNS} FROM hosts ORDER BY pages DESC, id LIMIT ?", (most,))
    return [Host(*row) for row in rows]


def count_hosts(database: Database) -> tuple[int, int]:
    """Returns how many hosts belong to the crawl, as they have a seed or were asked for something, and how many others
    were named by links."""
    known, named = database.query(
        "SELECT coalesce(sum(is_seed OR ready_at > 0), 0), coalesce(sum(NOT is_seed AND ready_at = 0), 0) FROM hosts"
    ).fetchone()
    return known, named


def failing_hosts(database: Database, outcomes: Sequence[str]) -> list[int]:
    """Returns the ids of the hosts whose last fetch failed with one of these outcomes."""
    places = ", ".join("?" * len(outcomes))
    rows = database.query(f"SELECT id FROM hosts WHERE failures > 0 AND trouble IN ({places}) ORDER BY id", outcomes)
    return [host_id for (host_id,) in rows]


def host_keys(database: Database) -> Iterator[tuple[int, str]]:
    """Yields (id, key) of every host, in the order of discovery."""
    return iter(database.query("SELECT id, key FROM hosts ORDER BY id"))


def crawl_delays(database: Database, host_ids: Iterable[int]) -> Iterator[tuple[int, str, float]]:
    """Yields (id, key, the Crawl-delay that its robots.txt asks for) of hosts."""
    return database.query_each("SELECT id, key, crawl_delay FROM hosts WHERE id IN ({})", host_ids)
