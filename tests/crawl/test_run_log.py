"""The log of a crawl's runs where it cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pycrawl.crawl.directory import CrawlDirectory

LOG_ON_A_FULL_DISK = """
import logging, pathlib, resource, sys
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.run_log import run_log

resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))  # as if the disk were full after so many bytes
with run_log(CrawlDirectory(pathlib.Path(sys.argv[1]))):
    for number in range(50):
        logging.getLogger("pycrawl.test").warning("event %d", number)
print("done")
"""


def test_events_that_cannot_be_written_are_lost_without_a_word(tmp_path: Path) -> None:
    directory = CrawlDirectory(tmp_path)
    directory.log.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", LOG_ON_A_FULL_DISK, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert "event 0" in (directory.log / "crawl.log").read_text("utf-8")
