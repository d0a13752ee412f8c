"""`Crawl`: from a script, from a thread, and with settings as a program gives them."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pycrawl import Crawl
from pycrawl.crawl.progress import Ended, Progress
from pycrawl.errors import ConfigError, DirectoryHeld, UsageError
from tests.collection.odd_web import SETTINGS
from tests.e2e.site import Site, page

PAGES = {"/": page(*(f"/{number}" for number in range(30))), **{f"/{number}": page() for number in range(30)}}


def test_create_run_and_look(tmp_path: Path) -> None:
    before = gc.get_threshold(), signal.getsignal(signal.SIGINT)
    seen: list[Progress] = []
    with Site(PAGES) as site:
        crawl = Crawl.create(tmp_path / "crawl", [site.url], **SETTINGS)
        ended = crawl.run(max_pages=5, on_progress=seen.append)
        assert (ended.reason, ended.counts.pages) == ("max-pages", 5)
        assert (seen[-1].counts.pages, seen[-1].pages_left, seen[-1].in_flight) == (5, 0, 0)
        assert crawl.stats()["pages_fetched"] == 5
        crawl.add([site.url + "/?more"])
        assert Crawl(tmp_path / "crawl").run(max_time="5m").reason == "finished"
    assert crawl.stats()["pages_fetched"] == len(PAGES)
    assert (gc.get_threshold(), signal.getsignal(signal.SIGINT)) == before


BY_BOTH: dict[str, Any] = {"politeness.delay": "2s", "content.near_duplicates": False}


def test_settings_by_section_by_name_and_by_both(tmp_path: Path) -> None:
    crawl = Crawl.create(
        tmp_path / "crawl",
        contact="me@example.org",
        scope={"allow_hosts": ["example.org"]},
        headers={"From": "me@example.org"},
        **BY_BOTH,
    )
    config = crawl.config
    assert (config.crawl.contact, config.scope.allow_hosts) == ("me@example.org", ("example.org",))
    assert (config.politeness.delay, config.content.near_duplicates) == (2.0, False)
    assert config.crawl.headers == (("From", "me@example.org"),)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"colour": 1}, "unknown setting 'colour'"),
        ({"politeness.colour": 1}, "unknown key politeness.colour"),
        ({"scope": {"colour": 1}}, "unknown key scope.colour"),
        ({"delay": "soon"}, "politeness.delay"),
        ({"contact": object()}, "crawl.contact: expected text"),
        ({"contact": "a\nb"}, "expected text on one line"),
    ],
)
def test_wrong_settings_leave_nothing_behind(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Crawl.create(tmp_path / "crawl", **settings)
    assert not (tmp_path / "crawl").exists()


def test_seeds_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be crawled"):
        Crawl.create(tmp_path / "crawl", ["mailto:me@example.org"])
    with pytest.raises(UsageError, match="expected a list of URLs"):
        Crawl.create(tmp_path / "crawl", "http://example.org/")
    assert not (tmp_path / "crawl").exists()
    Crawl.create(tmp_path / "crawl")
    with pytest.raises(UsageError, match="exists already"):
        Crawl.create(tmp_path / "crawl")


def test_a_thread_runs_it_and_another_stops_it(tmp_path: Path) -> None:
    with Site(PAGES) as site:
        crawl = Crawl.create(tmp_path / "crawl", [site.url], **{**SETTINGS, "politeness": {"delay": "1s"}})
        begun = threading.Event()
        ended: list[Ended] = []
        thread = threading.Thread(target=lambda: ended.append(crawl.run(on_progress=lambda progress: begun.set())))
        thread.start()
        assert begun.wait(120)
        with pytest.raises(DirectoryHeld):
            Crawl(tmp_path / "crawl").run()
        with crawl.collection as collection:
            assert len(collection) < len(PAGES)
        crawl.stop()
        thread.join(120)
    assert [one.reason for one in ended] == ["interrupted"]


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    """Fetchers do not load the main module, which would run the script again."""
    script = tmp_path / "script.py"
    with Site(PAGES) as site:
        script.write_text(
            "from pycrawl import Collection, Crawl\n"
            f"crawl = Crawl.create({str(tmp_path / 'crawl')!r}, [{site.url!r}], **{SETTINGS!r})\n"
            "print(crawl.run().counts.pages, len(Collection(crawl.directory.path)))\n"
        )
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.split()[0] == str(len(PAGES))
