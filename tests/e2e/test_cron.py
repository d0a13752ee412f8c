"""Runs by cron: overlapping ones, killed ones, ones with nothing to do; what they print, and their exit codes."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import FAST, merged, toml
from tests.e2e.site import Reply, Site, after, page

CRON = ("--recrawl", "--quiet", "--if-running", "skip")
NIGHTS = 10
DOCS = Path(__file__).parents[2] / "docs" / "cron.md"


def test_overlapping_runs(make_crawl: MakeCrawl) -> None:
    may_end = threading.Event()
    with Site({"/": page(text="home")}) as site:
        site.pages["/"] = Reply("<p>home", before=after(may_end, 60))
        crawl = make_crawl([f"{site.url}/"])
        first = crawl.start("crawl", "--quiet")
        first.until(lambda: "/" in site.asked)
        refused = crawl.run("crawl", exit_code=3)
        assert re.fullmatch(r"20\d\d-\S+ \S+ pycrawl: .+ a crawl is running .+\n", refused.stderr)
        skipped = crawl.run("crawl", *CRON)
        assert (skipped.stdout, skipped.stderr) == ("", "")
        waiting = crawl.start("crawl", "--if-running", "wait")
        assert not waiting.is_over
        may_end.set()
        assert first.wait() == 0
        assert waiting.wait() == 0
        assert first.output() == ""
        assert "Finished" in waiting.output()
        assert site.times() == {"/": 1}


def test_ten_nights(make_crawl: MakeCrawl) -> None:
    """Each night pages change and come. One run is killed, one has nothing to do, before one the settings change."""
    with Site({}) as site:

        def publish(night: int) -> None:
            links = [f"/{number}" for number in range(night + 3)]
            site.pages = {path: page(text=f"page {path}, which stays as it is") for path in links}
            site.pages["/"] = page(*links, text=f"the paper of night {night}, with words of its own: {'x' * night}")
            site.pages["/other/"] = page(text="another section")

        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": 0}})
        for night in range(NIGHTS):
            if night == 4:
                crawl.configure({"recrawl": {"min_interval": "1h"}})  # nothing is due
                site.asked.clear()
                quiet = crawl.run("crawl", *CRON)
                assert (quiet.stdout, quiet.stderr, site.asked) == ("", "", [])
                crawl.configure({"recrawl": {"min_interval": 0}})
                continue
            publish(night)
            if night == 6:
                before = len(site.asked)
                killed = crawl.start("crawl", *CRON)
                killed.until(lambda: len(site.asked) > before)  # noqa: B023 - it is asked within this round
                killed.kill_tree()
            if night == 8:
                crawl.configure({"recrawl": {"min_interval": 0}, "scope": {"deny_prefixes": ["/1"]}})
            ended = crawl.run("crawl", *CRON)
            assert (ended.stdout, ended.stderr) == ("", "")
            assert b"night %d," % night in crawl.bodies([f"{site.url}/"])[f"{site.url}/"]
        assert crawl.documents_by_url()[f"{site.url}/"] == NIGHTS - 1
        assert crawl.why(f"{site.url}/1")["reason"] == "prefix-denied"
        assert f"{site.url}/11" not in crawl.documents_by_url()
        assert crawl.documents_by_url()[f"{site.url}/9"] == 1
        crawl.verify()


def test_a_failure_is_heard_of(make_crawl: MakeCrawl) -> None:
    with Site({}) as site:
        crawl = make_crawl([f"{site.url}/"])
        ended = crawl.run("crawl", "--quiet", exit_code=5)
        assert ended.stdout == ""
        assert all(re.match(r"20\d\d-\d\d-\d\d ", line) for line in ended.stderr.splitlines())


def test_again_and_again(make_crawl: MakeCrawl) -> None:
    """--every reads the settings anew for each run, goes on after a bad one, and ends by SIGTERM with all saved."""
    with Site({"/": page("/a"), "/a": page(text="a"), "/b": page(text="b")}) as site:
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": 0}, "scope": {"deny_prefixes": ["/b"]}})
        running = crawl.start("crawl", "--recrawl", "--every", "0.5s")
        running.until(lambda: site.times()["/"] >= 2)
        crawl.directory.config_file.write_text("[crawl]\nmax_depth = 'rubbish'\n", "utf-8")
        running.until(lambda: "max_depth" in running.output())
        crawl.directory.config_file.write_text(toml(merged(FAST, {"recrawl": {"min_interval": 0}})), "utf-8")
        site.pages["/"] = page("/a", "/b", text="now with another link and some more words")
        running.until(lambda: "/b" in site.asked)
        running.send(signal.SIGTERM)
        assert running.wait() in (0, 130)
        assert "The next run starts" in running.output()
        assert f"{site.url}/a" in crawl.documents_by_url()
        crawl.verify()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze here")
def test_the_units_in_the_docs(tmp_path: Path) -> None:
    text = DOCS.read_text("utf-8")
    for name in ("pycrawl.service", "pycrawl.timer"):
        block = re.search(rf"`{name}`:\n\n```ini\n(.*?)```", text, re.DOTALL)
        assert block is not None
        unit = block[1].replace("/usr/local/bin/pycrawl", "/bin/true").replace("User=archive\n", "")
        (tmp_path / name).write_text(unit, "utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *sorted(map(str, tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
