"""What `stats` says of the moment, from a run's row in the state and the times of hosts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pycrawl.collection.activity import activity
from pycrawl.state.database import Database
from pycrawl.state.meta import RunRow

NOW = 1_000_000.0


def a_dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("ended", "alive", "saved_ago", "state"),
    [
        (True, True, 1.0, "stopped"),
        (False, True, 1.0, "running"),
        (False, True, 120.0, "stuck"),
        (False, False, 1.0, "cut-short"),
        (False, False, 120.0, "cut-short"),
    ],
)
def test_states(tmp_path: Path, ended: bool, alive: bool, saved_ago: float, state: str) -> None:
    database = Database.create(tmp_path / "state.db")
    pid = os.getpid() if alive else a_dead_process()
    run = RunRow(NOW - 500, NOW - 1 if ended else None, pid, 7, NOW - saved_ago, "finished" if ended else "")
    assert activity(database, run, NOW)["state"] == state
    assert activity(database, None, NOW)["state"] == "stopped"
    database.close()


def test_hosts_are_ready_or_wait_or_fail(tmp_path: Path) -> None:
    database = Database.create(tmp_path / "state.db")
    hosts = ((1, "ready", 0, NOW - 1), (2, "waits", 0, NOW + 5), (3, "fails", 9, NOW + 90), (4, "no-queue", 9, NOW + 1))
    database.write_many("INSERT INTO hosts (id, key, failures, ready_at) VALUES (?, ?, ?, ?)", hosts)
    database.write_many("INSERT INTO back VALUES (?, ?, ?, 0, 0)", [(1, 1, 1), (2, 2, 2), (3, 3, 3), (3, 4, 4)])
    facts = activity(database, None, NOW)
    assert (facts["hosts"], facts["hosts_ready"], facts["hosts_failing"]) == (3, 1, 1)
    assert (facts["next_host_at"], facts["next_try_at"], facts["last_page_at"]) == (NOW - 1, NOW + 90, None)
    database.close()
