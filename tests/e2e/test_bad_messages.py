"""A fetcher in a bad state, which sends the coordinator something else than results, in a real crawl."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.crawling import PROGRAM, RUN_SECONDS, Crawl
from tests.e2e.site import Site, page

# A filter that is asked for the verdict of a link in the fetcher, and once writes into all pipes of its process.
FILTER = """
import fcntl, os, pickle, stat, struct
from pathlib import Path

ONCE = Path(os.environ["EVIL_ONCE"])


class Call:
    def __reduce__(self):
        return os.mkdir, (os.environ["EVIL_MADE"],)


DATA = {"call": pickle.dumps(Call()), "rubbish": b"rubbish" * 1000, "list": pickle.dumps([[[]], {}, 0])}


class Filter:
    def __init__(self, settings):
        self.way = os.environ["EVIL_WAY"]

    def verdict(self, url):
        if url.endswith("/bad") and Path("/proc/self/comm").read_text() == "pycrawl-fetcher\\n" and not ONCE.exists():
            ONCE.write_text("")
            data = DATA.get(self.way, b"")
            message = struct.pack("<Q", 1 << 60 if self.way == "endless" else len(data)) + data
            for name in os.listdir("/proc/self/fd"):
                number = int(name)
                try:
                    is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
                    if is_pipe and fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
                        os.write(number, message)
                except OSError:
                    pass
        return None
"""


@pytest.mark.parametrize(
    "way", ["call", *(pytest.param(way, marks=pytest.mark.slow) for way in ("rubbish", "endless", "list"))]
)
def test_a_fetcher_that_sends_something_else_is_replaced(tmp_path: Path, way: str) -> None:
    packages = tmp_path / "packages"
    info = packages / "evil-1.dist-info"
    info.mkdir(parents=True)
    (packages / "evil.py").write_text(FILTER, "utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n", "utf-8")
    (info / "entry_points.txt").write_text("[pycrawl.filters]\nevil = evil:Filter\n", "utf-8")
    paths = [f"/{number}" for number in range(10)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(packages),
        "EVIL_WAY": way,
        "EVIL_ONCE": str(tmp_path / "once"),
        "EVIL_MADE": str(tmp_path / "made"),
    }
    with Site({"/": page(*paths), **{path: page("/bad", text=path) for path in paths}}) as site:
        crawl = Crawl.make(tmp_path / "crawl", [f"{site.url}/"])
        crawl.configure({"scope": {"filters": ["evil"]}})
        command = [*PROGRAM, "crawl", "-C", str(crawl.path)]
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=RUN_SECONDS, check=False
        )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (tmp_path / "once").exists()
    assert not (tmp_path / "made").exists()
    assert "1 fetcher died and had to be replaced" in ended.stdout
    assert "sent something that is no result" in (crawl.directory.log / "crawl.log").read_text()
    crawl.configure({})
    assert crawl.stats()["pages_stored"] == len(paths) + 1
    crawl.verify()
