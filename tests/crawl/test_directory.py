from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from pycrawl.config import Config
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.errors import ConfigError, DirectoryHeld, UsageError

HOLDER = """
import sys
from pathlib import Path
from pycrawl.crawl.directory import CrawlDirectory
with CrawlDirectory(Path(sys.argv[1])).hold():
    print("held", flush=True)
    sys.stdin.read()
"""


def test_where_the_parts_are(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    parts = (directory.config_file, directory.state, directory.docs, directory.log, directory.inbox)
    assert [part.name for part in parts] == ["pycrawl.toml", "state.db", "docs", "log", "inbox"]
    assert {part.parent for part in parts} == {tmp_path}


def test_its_configuration(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    with pytest.raises(ConfigError, match=r"pycrawl\.toml: no such file"):
        directory.config()
    directory.config_file.write_text("")
    assert directory.config() == Config()


def test_two_cannot_hold_it_and_the_second_hears_who_does(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    before = int(time.time())
    with directory.hold():
        with pytest.raises(DirectoryHeld) as raised, directory.hold():
            pass
        text = str(raised.value)
        assert f"{tmp_path}: a crawl is running (process {os.getpid()}, since " in text
        since = re.search(r"since ([-+0-9: ]+)\)", text)
        assert since is not None
        assert before <= datetime.fromisoformat(since[1]).timestamp() <= time.time()
        assert datetime.fromisoformat(since[1]).tzinfo is not None
    with directory.hold():
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(DirectoryHeld, match=f"process {holder.pid}, since"), directory.hold():
            pass
        holder.kill()
        holder.wait()
        with directory.hold():
            pass


def test_a_holder_that_has_not_said_its_name(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    with directory.hold():
        (tmp_path / "lock").write_text("")
        with pytest.raises(DirectoryHeld, match=r": a crawl is running$"), directory.hold():
            pass


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere: cannot be written to"), CrawlDirectory(tmp_path / "nowhere").hold():
        pass


def test_the_hold_is_let_go_when_the_work_fails(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    with pytest.raises(KeyError), directory.hold():
        raise KeyError
    with directory.hold():
        pass


def test_seeds_left_in_the_inbox_are_found_whole_and_in_order(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    assert directory.inbox_files() == []
    directory.leave_in_inbox(["http://a/", "http://ü/"])
    directory.leave_in_inbox(["http://b/"])
    (directory.inbox / ".unfinished").write_text("http://c/")
    assert [directory.read_from_inbox(name).split("\n") for name in directory.inbox_files()] == [
        ["http://a/", "http://ü/"],
        ["http://b/"],
    ]
