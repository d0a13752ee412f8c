"""Hosts that bring little new: their URLs wait behind those of others."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pycrawl.config import Config
from pycrawl.frontier.discovered import Discovered
from pycrawl.policy.priority import FRONT_QUEUES, lowered, priority
from tests.frontier.crawl_state import CrawlState, pack

DEPTH = 1


@pytest.mark.parametrize("level", range(1, FRONT_QUEUES + 1))
def test_a_lowered_priority_is_one_that_there_is(level: int) -> None:
    assert 1 <= lowered(level) <= level
    assert lowered(level) < level or level == 1


def test_new_urls_of_a_lowered_host_enter_a_lower_front_queue(tmp_path: Path) -> None:
    state = CrawlState(tmp_path / "state.db", Config(), random.Random(1), create=True)
    mirror, other = "http://mirror.example", "http://other.example"
    for number, is_lowered in enumerate((False, True)):
        if is_lowered:
            state.frontier.lower([state.hosts.id_of("mirror.example")])
        batch = Discovered()
        batch.add_links(1, DEPTH, pack([f"{host}/{number}" for host in (mirror, other)]))
        state.frontier.add(batch, 0.0)
    rows = state.database.query("SELECT url, priority FROM front JOIN urls ON urls.id = url_id").fetchall()
    usual = priority(DEPTH, 1)
    assert dict(rows) == {
        f"{mirror}/0": usual,
        f"{other}/0": usual,
        f"{mirror}/1": lowered(usual),
        f"{other}/1": usual,
    }
    state.close()
