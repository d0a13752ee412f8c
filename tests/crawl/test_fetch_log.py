"""The log of fetches on a disk that is full."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pycrawl.crawl.fetch_log import FetchLine, FetchLog
from pycrawl.errors import StoppedByLimit

LINE = FetchLine(0.0, 1.0, 2.0, "page", "example.com", "127.0.0.1", 200, "fetched", "", "http://example.com/")


def write(log: FetchLog, lines: int) -> None:
    for _ in range(lines):
        log.write(LINE)
    log.flush()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("lines", [1, 5_000])
def test_a_full_disk_is_named(tmp_path: Path, lines: int) -> None:
    log = FetchLog(tmp_path)
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), log.fileno())
    with pytest.raises(StoppedByLimit, match=r": the disk is full"):
        write(log, lines)
    with pytest.raises(StoppedByLimit):
        log.close()
