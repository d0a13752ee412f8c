"""A frontier with its database, as a session opens and commits it, without fetchers and compound files."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pycrawl.config import Config
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.frontier.frontier import DEFAULT_BOUNDS, Frontier, FrontierBounds
from pycrawl.frontier.judge import Judge
from pycrawl.model import PackedLinks
from pycrawl.state import documents
from pycrawl.state.counters import Counters
from pycrawl.state.database import Database
from pycrawl.state.documents import Visit
from pycrawl.state.hosts import CACHED_HOSTS, CACHED_IDS, Hosts
from pycrawl.state.sources import Sources
from pycrawl.state.standings import Standings
from pycrawl.state.unwanted import Unwanted
from pycrawl.state.url_lookup import CHUNK
from pycrawl.state.url_seen import UrlSeen
from pycrawl.urls.parts import url_hash

SEED = 42


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is in memory or written at a time, as in a real crawl."""

    frontier: FrontierBounds = DEFAULT_BOUNDS
    cached_hosts: int = CACHED_HOSTS
    cached_ids: int = CACHED_IDS
    chunk: int = CHUNK


DEFAULT_SIZES = Sizes()


class CrawlState:
    """Open for writing; `close` without `commit` is what a crash leaves behind."""

    def __init__(
        self, path: Path, config: Config, chance: random.Random, create: bool = False, sizes: Sizes = DEFAULT_SIZES
    ) -> None:
        self.database = Database.create(path) if create else Database.open(path)
        self.counters = Counters(self.database)
        self.hosts = Hosts(self.database, sizes.cached_hosts, sizes.cached_ids)
        self.seen = UrlSeen(self.database, SEED, sizes.chunk)
        self.standings = Standings(self.database)
        judge = Judge(config, Unwanted(self.database, SEED))
        self.frontier = Frontier(
            self.database, self.hosts, self.counters, self.seen, self.standings, judge,
            Sources(self.database, config), config, chance, sizes.frontier,
        )  # fmt: skip
        self.finished: list[tuple[BackQueue, Entry, Visit]] = []

    def finish(self, queue: BackQueue, entry: Entry, visit: Visit) -> None:
        self.finished.append((queue, entry, visit))

    def commit(self) -> None:
        documents.save_visits(self.database, [visit for _, _, visit in self.finished])
        for queue, entry, _ in self.finished:
            self.frontier.finish(queue, entry)
        self.finished.clear()
        self.hosts.close_group()
        self.frontier.flush()
        self.counters.flush()
        self.database.commit()

    def close(self) -> None:
        self.database.close()


def pack(with_text: Sequence[str], without: Sequence[str] = ()) -> PackedLinks:
    """The links of a page as a fetcher sends them."""
    hashes = np.array([url_hash(url, SEED) for url in (*with_text, *without)], np.uint64)
    return PackedLinks(hashes.tobytes(), "\n".join(with_text).encode(), len(with_text))
