"""Logs stay small: events begin anew, the oldest logs of fetches go."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from pycrawl.config import Config
from pycrawl.config.sections import LogsSection
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.fetch_log import FetchLog, log_files
from pycrawl.crawl.log_rotation import MOST_EVENT_BYTES, rotate, rotate_one
from pycrawl.crawl.run_log import run_log

NOW = 1_800_000_000.0
DAY = 86_400


def write(folder: Path, name: str, size: int, age_days: float = 0.0) -> None:
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - age_days * DAY, NOW - age_days * DAY))


def test_logs_of_fetches_go_by_age_and_size_and_numbers_do_not_come_back(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for number in range(1, 9):
        write(folder, f"fetches-{number:06d}.tsv", 1_000, age_days=10 - number)
    rotate(folder, Config(logs=LogsSection(max_bytes=3_500, max_age=6.5 * DAY)), NOW)
    assert log_files(folder) == [f"fetches-{number:06d}.tsv" for number in (5, 6, 7, 8)]
    rotate(folder, Config(logs=LogsSection(max_bytes=0, max_age=0)), NOW)
    assert log_files(folder) == ["fetches-000008.tsv"]
    FetchLog(folder).close()
    assert log_files(folder) == ["fetches-000008.tsv", "fetches-000009.tsv"]


def test_events_begin_anew(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    for number in range(8):
        write(folder, "crawl.log", number + 1)
        rotate_one(folder, "crawl.log")
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == {
        f"crawl.log.{n}": 9 - n for n in range(1, 6)
    }
    write(folder, "fetchers.log", MOST_EVENT_BYTES + 1)
    write(folder, "crawl.log", 5)
    rotate(folder, Config(), NOW)
    assert not (folder / "fetchers.log").exists()
    assert (folder / "fetchers.log.1").exists()
    assert (folder / "crawl.log").stat().st_size == 5


def test_a_long_run_begins_its_log_anew(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    log = logging.getLogger("pycrawl.test")
    with run_log(CrawlDirectory(tmp_path)):
        for number in range(11):
            log.info("%d %s", number, "x" * 1_000_000)
    assert (folder / "crawl.log.1").stat().st_size > MOST_EVENT_BYTES
    assert 0 < (folder / "crawl.log").stat().st_size < 2_000_000
