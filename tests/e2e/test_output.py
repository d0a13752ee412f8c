"""What the program says of its work: it is true, it adds up, and it says what to do."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import PROGRAM, Crawl, Settings, pycrawl
from tests.e2e.site import Reply, Site, after, page

OK, FAILED, USAGE, STOPPED, NOTHING_FETCHED, INTERRUPTED = 0, 1, 2, 4, 5, 130
PATIENCE = 60.0  # seconds
MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d:\d\d"
NUMBER = r"[\d,]+"

# A page of each kind of 2xx answer, and of what is none: /garbled counts as an error, as nothing of it can be read.
ODD_WEB = {
    "/": page("/a", "/copy", "/noindex", "/image", "/garbled", "/empty", "/missing", "/moved", "/secret", "/same"),
    "/robots.txt": Reply("User-agent: *\nDisallow: /secret\n", content_type="text/plain"),
    "/a": page("/b", text="first version"),
    "/b": page(text="b"),
    "/copy": page("/b", text="first version"),
    "/noindex": Reply("<title>x</title>", headers={"X-Robots-Tag": "noindex"}),
    "/image": Reply("GIF89a", content_type="image/gif"),
    "/garbled": Reply("no gzip at all", headers={"Content-Encoding": "gzip"}),
    "/empty": Reply(status=204),
    "/same": Reply("<title>the same bytes each time</title>", headers={"ETag": '"e"'}),
    "/moved": Reply(status=301, headers={"Location": "/b"}),
}


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(ODD_WEB) as running:
        yield running


def number(text: str) -> int:
    return int(text.replace(",", ""))


def assert_adds_up(summary: str) -> None:
    """The line of the pages names parts that add up to the pages, and reasons that add up to what was not kept."""
    line = next(line for line in summary.splitlines() if re.search(rf"{NUMBER} pages? in ", line))
    match = re.search(rf"({NUMBER}) pages? in [^:]*: ({NUMBER}) stored(.*)\.$", line)
    assert match, line
    rest, _, reasons = match[3].partition("(")
    parts = [number(found) for found in re.findall(NUMBER + r"(?= (?:cop|unchanged|not kept))", rest)]
    assert number(match[1]) == number(match[2]) + sum(parts), line
    if reasons:
        assert sum(number(found) for found in re.findall(NUMBER + r"(?= [a-z])", reasons)) == parts[-1]


def assert_all_add_up(crawl: Crawl, summary: str, report: dict[str, Any], fetched_before: int) -> None:
    assert_adds_up(summary)
    kept = report["stored"] + report["duplicates"] + report["unchanged"]
    assert report["pages"] == kept + sum(report["not_kept"].values())
    facts = crawl.stats()
    kept = facts["pages_stored"] + facts["duplicates_exact"] + facts["unchanged"]
    assert facts["pages_fetched"] == kept + sum(facts["not_kept"].values())
    assert facts["pages_fetched"] == fetched_before + report["pages"]
    assert facts["pages_fetched"] == sum(count for status, count in facts["status"].items() if status[0] == "2")
    assert facts["not_modified"] == facts["status"].get("304", 0)


def run(crawl: Crawl, report: Path, *arguments: str) -> tuple[str, dict[str, Any]]:
    summary = crawl.run("crawl", "--report", report, *arguments).stdout
    return summary, json.loads(report.read_text())


def test_every_page_is_accounted_for(make_crawl: MakeCrawl, site: Site, tmp_path: Path) -> None:
    crawl = make_crawl([site.url + "/"], {"recrawl": {"min_interval": 0}})
    summary, figures = run(crawl, tmp_path / "first")
    assert_all_add_up(crawl, summary, figures, 0)
    expected = {"pages": 8, "stored": 5, "duplicates": 1, "unchanged": 0, "new": 6, "changed": 0, "gone": 0}
    assert {name: figures[name] for name in expected} == expected
    assert figures["not_kept"] == {"noindex": 1, "unwanted-type": 1}
    assert "6 new, 0 changed, 0 gone, 0 unchanged, 2 failed, 1 denied by robots.txt." in summary

    site.pages["/a"] = page("/b", "/new", text="second version")
    site.pages["/new"] = page(text="new")
    site.pages["/same"] = Reply(status=304)
    del site.pages["/b"]
    summary, figures = run(crawl, tmp_path / "second", "--recrawl")
    assert_all_add_up(crawl, summary, figures, 8)
    expected = {"new": 1, "changed": 1, "gone": 1, "unchanged": 3, "not_modified": 1}
    assert {name: figures[name] for name in expected} == expected
    assert "1 new, 1 changed (1 rewritten), 1 gone, 4 unchanged (1 by status 304), 2 failed" in summary


def test_soft_404s_and_answers_cut_short_are_accounted_for(make_crawl: MakeCrawl, tmp_path: Path) -> None:
    """A host that says "not found" with status 200; an answer that is shorter than it should be, at each try."""
    nothing = "There is no such page on this server, and there has never been one; look at the list of all pages. " * 5
    names = [f"/{place}/{number}" for place in ("a", "b") for number in range(40)]
    links = [*names, *(f"/missing-{number}.html" for number in range(20)), "/cut"]
    pages = {
        "/": page(*links),
        "/cut": Reply("<p>half of it", headers={"Content-Length": "100", "Connection": "close"}),
    }
    pages |= {name: page(text=f"page {name} " + " ".join(f"{name}{word}" for word in range(60))) for name in names}
    with Site(pages, otherwise=Reply(f"<title>Not found</title><p>{nothing}</p>")) as site:
        crawl = make_crawl([site.url + "/"], {"traps": {"soft_404": True}})
        summary, figures = run(crawl, tmp_path / "report")
        assert_all_add_up(crawl, summary, figures, 0)
        assert figures["not_kept"]["soft-404"] == 20
        crawl.verify()


def test_a_crawl_that_was_killed_adds_up(make_crawl: MakeCrawl, tmp_path: Path) -> None:
    web = SimWebSettings(seed=12, hosts=6, pages=300, port=0, mean_page_bytes=2_000, crawl_delay=0, latency=0.01)
    with SimServer(web) as server:
        crawl = make_crawl([server.seed], {"recrawl": {"min_interval": 0}})
        running = crawl.start("crawl")
        assert running.until(lambda: crawl.query("SELECT 1 FROM documents LIMIT 1") != [])
        running.kill_tree()
        before = crawl.stats()["pages_fetched"]
        assert_all_add_up(crawl, *run(crawl, tmp_path / "first"), before)
        before = crawl.stats()["pages_fetched"]
        server.set_version(1)
        summary, figures = run(crawl, tmp_path / "second", "--recrawl")
        assert_all_add_up(crawl, summary, figures, before)
        assert figures["changed"] > 0
        assert figures["not_modified"] > 0
        crawl.verify()


# Nothing could be fetched


def unused_port(address: str) -> int:
    with socket.socket() as probe:
        probe.bind((address, 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_private_address_is_named_with_its_setting(make_crawl: MakeCrawl, site: Site) -> None:
    closed: Settings = {"security": {"allow_private_addresses": False}}
    crawl = make_crawl([site.url + "/", site.url + "/a"], closed)
    for _ in range(2):  # the second run has nothing to do, and still no page
        told = crawl.run("crawl", exit_code=NOTHING_FETCHED).stderr
        assert "no seed gave a page" in told
        advice = "127.0.0.1 is a private address; set security.allow_private_addresses = true to crawl it"
        assert f"{site.url}/ (and 1 other seed): {advice}" in told
    assert site.asked == []


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ({"/robots.txt": Reply("User-agent: *\nDisallow: /\n")}, "robots.txt denies it"),
        ({"/robots.txt": Reply(status=500)}, "its robots.txt gives errors"),
        ({"/": Reply(status=404)}, "its host refuses it, or has no such page (http-4xx 404)"),
        ({"/": Reply(status=301, headers={"Location": "/b"}), "/b": Reply(status=410)}, "http-4xx 410"),
    ],
    ids=["robots-denied", "robots-unreachable", "missing", "redirect-to-missing"],
)
def test_what_kept_the_only_seed_out(make_crawl: MakeCrawl, reply: dict[str, Reply], words: str) -> None:
    with Site(reply) as site:
        crawl = make_crawl([site.url + "/"])
        assert words in crawl.run("crawl", exit_code=NOTHING_FETCHED).stderr


def test_hosts_that_are_not_there(make_crawl: MakeCrawl) -> None:
    crawl = make_crawl([f"http://127.0.0.3:{unused_port('127.0.0.3')}/", "http://no-such-name.invalid/"])
    told = crawl.run("crawl", exit_code=NOTHING_FETCHED).stderr
    assert "its host refuses connections: check the port" in told
    assert "the name of its host cannot be found" in told
    again = crawl.run("crawl", exit_code=NOTHING_FETCHED)
    assert "its host does not answer" in again.stderr
    assert "2 URLs wait; robots.txt of 2 origins is unreachable" in again.stdout


def test_a_seed_out_of_scope(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([], {"scope": {"allow_prefixes": ["http://example.org/"]}})
    crawl.run("add", site.url + "/")
    words = f"{site.url}/: out of scope: matches nothing in scope.allow_prefixes"
    assert words in crawl.run("crawl", exit_code=NOTHING_FETCHED).stderr


def test_a_crawl_without_seeds(make_crawl: MakeCrawl) -> None:
    assert "`pycrawl add URL`" in make_crawl([]).run("crawl", exit_code=NOTHING_FETCHED).stderr


def test_a_run_with_nothing_due_is_no_failure(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/", site.url + "/missing"])
    crawl.run("crawl")
    assert "Finished: nothing is left to fetch" in crawl.run("crawl").stdout
    crawl.run("add", site.url + "/also-missing")
    crawl.run("crawl")


# Before the crawl starts


def test_a_report_that_cannot_be_written_is_named_before_the_crawl(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"])
    refused = crawl.run("crawl", "--report", "/no/such/x", exit_code=USAGE)
    words = "pycrawl: --report /no/such/x: cannot be written: No such file or directory"
    assert re.fullmatch(rf"{MOMENT} {re.escape(words)}\n", refused.stderr)
    assert site.asked == []


def test_a_missing_state_does_not_send_in_a_circle(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"], {"crawl": {"contact": "me@example.com"}})
    settings = crawl.directory.config_file.read_bytes()
    crawl.run("crawl")
    for file in crawl.path.glob("state.db*"):
        file.unlink()
    for command in ("crawl", "stats"):
        told = crawl.run(command, exit_code=FAILED).stderr
        assert "state.db: is missing. Put back a copy" in told
        assert "move docs/ away" in told
    seeded = ("init", crawl.path, "--seed", site.url + "/")
    assert "move docs/ away" in pycrawl(*seeded).stderr

    crawl.directory.docs.rename(crawl.path / "docs.old")
    made = pycrawl(*seeded)
    assert made.returncode == OK
    assert "the settings in" in made.stdout
    assert crawl.directory.config_file.read_bytes() == settings
    crawl.run("crawl")
    crawl.verify()


# Where it is written to


@pytest.mark.parametrize("command", ["stats", "verify", "audit", "crawl", "why", "get", "add", "init", "--help"])
def test_output_that_cannot_be_written(make_crawl: MakeCrawl, site: Site, tmp_path: Path, command: str) -> None:
    crawl = make_crawl([site.url + "/"])
    crawl.run("crawl")
    arguments = {"--help": [], "init": [str(tmp_path / "new")]}.get(command, ["-C", str(crawl.path)])
    if command in ("why", "get", "add"):
        arguments.append(site.url + "/")
    line = [*PROGRAM, command, *arguments]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (STOPPED, 1)
    assert "the output cannot be written: No space left on device" in ended.stderr
    ended = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *line], stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (FAILED, 1)
    assert "standard output is closed" in ended.stderr


def test_control_c_while_it_reads_seeds(make_crawl: MakeCrawl) -> None:
    crawl = make_crawl(["http://example.com/"])
    command = [*PROGRAM, "add", "-C", str(crawl.path), "--file", "-"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_heed_control_c
    )
    lock = crawl.path / "lock"
    begun = time.monotonic()
    while f'"pid": {process.pid},' not in lock.read_text() or not _is_waiting(process.pid):
        assert time.monotonic() - begun < PATIENCE
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == INTERRUPTED
    assert "interrupted" in errors
    assert "Traceback" not in errors


def _heed_control_c() -> None:
    """A shell makes what it starts in the background ignore Ctrl-C, and so would the process under test."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_waiting(pid: int) -> bool:
    """True if the process has used no CPU time for a moment: it has loaded its modules, and waits for lines."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    time.sleep(0.3)
    return bool(process.status() == psutil.STATUS_SLEEPING and process.cpu_times() == before)


# Hosts, and what the crawl waits for


def test_hosts_that_were_only_named_are_no_hosts_of_the_crawl(make_crawl: MakeCrawl) -> None:
    links = [f"http://host-{number}.example/" for number in range(25)]
    with Site({"/": page(*links)}) as site:
        crawl = make_crawl([site.url + "/"], {"scope": {"follow_external": False}})
        crawl.run("crawl")
        facts = crawl.stats()
        assert (facts["hosts_known"], facts["hosts_named"]) == (1, 25)
        assert "known on 1 host (25 more were named), 0 queued" in crawl.run("stats").stdout


def test_which_settings_keep_most_urls_out(make_crawl: MakeCrawl) -> None:
    links = [*(f"http://127.0.0.9/{number}" for number in range(1_200)), "/cgi/a", "/cgi/b", "/in"]
    with Site({"/": page(*links), "/in": page(text="in")}) as site:
        scope: Settings = {"scope": {"deny_hosts": ["127.0.0.9"], "deny_patterns": ["/cgi/"]}}
        crawl = make_crawl([site.url + "/"], scope)
        crawl.run("crawl")
        assert crawl.stats()["urls_aside"] == {"host-denied": 1_200, "pattern-denied": 2}
        told = crawl.run("stats").stdout
        assert "1,204 known on 1 host (1 more was named), 0 queued" in told
        lines = (
            "1,200  out of scope: its host matches scope.deny_hosts",
            "2  out of scope: matches scope.deny_patterns",
        )
        assert "\n            ".join(lines) in told


def test_what_a_run_leaves_for_another(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"])
    told = crawl.run("crawl", "--max-depth", "0").stdout
    assert "Finished for now: 10 URLs wait; 10 are deeper than --max-depth, and left for a run without it." in told
    assert crawl.stats()["urls_queued"] == 10
    crawl.configure({"limits": {"max_pages_per_host": 2}})
    told = crawl.run("crawl").stdout
    assert re.search(
        r"Finished for now: \d+ URLs wait; 1 host has given all pages that limits.max_pages_per_host", told
    )


def test_a_run_under_cron_has_dates(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"], {"recrawl": {"min_interval": 0}})
    for arguments in ((), ("--recrawl",)):
        lines = crawl.run("crawl", *arguments).stdout.splitlines()
        assert len(lines) >= 4
        for line in lines:
            assert re.match(rf"{MOMENT} ", line), line


def test_the_log_names_urls(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"])
    crawl.run("crawl")
    log = (crawl.directory.log / "crawl.log").read_text()
    assert re.search(
        rf"^\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d{{4}} INFO {site.url}/missing: http-4xx 404", log, re.MULTILINE
    )


def test_times_can_be_given_back_as_they_are_shown(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"])
    crawl.run("crawl")
    ended = re.search(rf"ended ({MOMENT})", crawl.run("stats").stdout)
    assert ended
    day = timedelta(days=1)
    after = (datetime.fromisoformat(ended[1]) + day).isoformat(" ")
    before = (datetime.fromisoformat(ended[1]) - day).replace(tzinfo=None).isoformat()
    assert crawl.run("get", "--at", after, site.url + "/").stdout == ODD_WEB["/"].body
    crawl.run("get", "--at", before, site.url + "/", exit_code=FAILED)


def test_stats_say_whether_it_works_or_waits(make_crawl: MakeCrawl) -> None:
    """One that waits for an answer, one that was killed, one that waits for its host's pause."""
    over = threading.Event()
    pages = {"/": page("/slow"), "/slow": Reply(before=after(over, PATIENCE))}
    with Site(pages) as site:
        crawl = make_crawl([site.url + "/"], {"limits": {"total_timeout": 2 * PATIENCE, "min_bytes_per_second": 0}})
        running = crawl.start("crawl")
        assert running.until(lambda: crawl.query("SELECT 1 FROM documents") != [])
        told = crawl.run("stats").stdout
        assert re.search(
            rf"^now +running \(process {running.pid}\); last page stored [\d.]+ s ago; ", told, re.MULTILINE
        )
        running.kill_tree()
        assert "now         not running: the last run was cut short" in crawl.run("stats").stdout
        over.set()

        crawl.configure({"politeness": {"delay": 600}})
        running = crawl.start("crawl", "--max-pages", "1")
        assert running.wait() == OK
        crawl.run("add", site.url + "/more")
        running = crawl.start("crawl")
        assert running.until(lambda: crawl.query("SELECT 1 FROM back") != [])
        told = crawl.run("stats").stdout
        assert re.search(r"; 1 host has URLs to fetch, the next is due in (9|10) min \d+ s$", told, re.MULTILINE), told
        running.kill_tree()


def test_the_plain_line_says_whether_it_works_or_waits(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/a"), "/a": page(text="a")}) as site:
        crawl = make_crawl([site.url + "/"], {"politeness": {"delay": 12}, "traps": {"soft_404": False}})
        line = crawl.run("crawl").stdout.splitlines()[0]
    assert "1 URL queued, 0 hosts active, 1 waiting, 0 errors; last page" in line or "no page yet" in line
    assert "politeness: 1 host, 12 s each, allows 0.0833 pages/s; waiting, the next fetch is due in" in line
