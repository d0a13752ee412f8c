"""`crawl --recrawl` under a budget: which pages are asked for again, and what becomes of those that are not."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from pycrawl.policy.page_records import RECORD, Standing
from pycrawl.state.change_rates import ChangeRates
from pycrawl.state.database import Database
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl
from tests.e2e.site import NOT_FOUND, Reply, Site, page

PAGES = [f"/{kind}/{number}" for kind in ("news", "paper") for number in range(10)]
NIGHT = 86_400


def publish(site: Site, night: int) -> None:
    """All pages of /news/ change each night, those of /paper/ never; their servers name no validators."""
    site.pages = {path: page(text=f"The text of {path}, which never changes at all.") for path in PAGES}
    for number in range(10):
        words = " ".join(f"word{night}x{place}" for place in range(40))
        site.pages[f"/news/{number}"] = page(text=f"{words} {number}")
    site.pages["/"] = page(*PAGES, text="home")


def let_time_pass(crawl: Crawl, seconds: int = NIGHT) -> None:
    """Everything that the records of changes know of becomes so much older."""
    with closing(Database.open(crawl.directory.state)) as database:
        rates = ChangeRates(database)
        for ids, records in list(rates.portions()):
            older = records.copy()
            for name in ("visited", "asked"):
                older[name] = np.maximum(older[name].astype(np.int64) - seconds, 1)
            rates._runs.put(ids.astype(np.uint64), older.view(np.uint8).reshape(len(older), RECORD.itemsize))
        database.commit()


def records(crawl: Crawl) -> dict[str, np.ndarray]:
    urls = dict(crawl.query("SELECT id, url FROM urls"))
    with closing(Database.open(crawl.directory.state)) as database:
        return {
            urls[url_id]: record
            for ids, found in ChangeRates(database).portions()
            for url_id, record in zip(ids.tolist(), found, strict=True)
        }


@pytest.fixture
def site() -> Site:
    return Site({})


def test_the_budget_goes_where_pages_change(site: Site, make_crawl: MakeCrawl) -> None:
    with site:
        publish(site, 0)
        crawl = make_crawl([f"{site.url}/"])
        crawl.run("crawl")
        for night in range(1, 4):  # all pages, so that it is learned which change
            let_time_pass(crawl)
            publish(site, night)
            assert "21 pages to visit again" in crawl.run("crawl", "--recrawl").stdout
        changed = records(crawl)
        assert {int(changed[f"{site.url}/news/{number}"]["changed"]) for number in range(10)} == {3}
        assert {int(changed[f"{site.url}/paper/{number}"]["changed"]) for number in range(10)} == {0}
        let_time_pass(crawl)
        check_what_is_told(crawl, site)
        publish(site, 4)
        site.asked.clear()
        ended = crawl.run("crawl", "--recrawl", "--max-requests", "10")
        assert "Stopped at --max-requests" in ended.stdout
        assert len(site.asked) == 10
        assert sum(path.startswith("/news/") for path in site.asked) >= 9, site.asked  # the other may be robots.txt
        told = [crawl.why(f"{site.url}/{kind}/1")["recrawl"] for kind in ("news", "paper")]
        assert {one["why"] for one in told} == {"index-is-reached"}
        assert told[0]["next_at"] < told[1]["next_at"], "pages that never changed wait for longer"
        crawl.verify()


def check_what_is_told(crawl: Crawl, site: Site) -> None:
    """`stats --freshness` and `why` after three nights on which ten of 21 pages changed each time."""
    told = json.loads(crawl.run("stats", "--freshness", "--json").stdout)["freshness"]
    assert told["pages"] == 21
    assert told["visits_a_day"] > 0
    assert 0.3 < told["now"]["current"] < 0.7, "half of the pages change every night, and a night has passed"
    assert set(told["in_the_long_run"]) == {"age", "freshness", "uniform", "fixed"}
    assert sum(told["change_rates"].values()) == 21
    assert sum(one["visits"] for one in told["calibration"]) == 3 * 21
    assert sum(one["changes_found"] for one in told["calibration"]) == 3 * 10
    text = crawl.run("stats", "--freshness").stdout
    assert "21 pages:" in text
    assert "(recrawl.policy)" in text
    news, paper = (crawl.why(f"{site.url}/{kind}/1")["recrawl"] for kind in ("news", "paper"))
    assert news["changes_seen"] == 3
    assert news["at_least"] < news["changes_a_day"] < news["at_most"]
    assert paper["changes_seen"] == 0
    assert paper["changes_a_day"] < news["changes_a_day"]
    assert news["why"] == "all-that-are-due"
    assert "3 changes seen" in crawl.run("why", f"{site.url}/news/1").stdout


@pytest.mark.parametrize("policy", ["age", "freshness", "uniform", "fixed"])
def test_every_request_counts(site: Site, make_crawl: MakeCrawl, policy: str) -> None:
    """The run keeps to its requests exactly, and each of four runs in a row, with a new robots.txt each, goes on."""
    with site:
        publish(site, 0)
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"policy": policy, "min_interval": "1h"}})
        crawl.run("crawl")
        let_time_pass(crawl)
        seen: list[str] = []
        for _ in range(4):
            with closing(sqlite3.connect(crawl.directory.state)) as state, state:
                state.execute("UPDATE robots SET expires_at = 0, fetched_at = 0")
            site.asked.clear()
            crawl.run("crawl", "--recrawl", "--max-requests", "7")
            assert len(site.asked) <= 7
            seen += [path for path in site.asked if path != "/robots.txt"]
        assert sorted(seen) == sorted(["/", *PAGES]), "each page once, as none is due twice"
        assert crawl.stats()["urls_queued"] == 0
        crawl.verify()


def test_what_is_left_is_chosen_anew(site: Site, make_crawl: MakeCrawl) -> None:
    """A run that is killed, and another policy after it; a plain crawl goes on with what was chosen."""
    with site:
        publish(site, 0)
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"policy": "age", "min_interval": "1h"}})
        crawl.run("crawl")
        let_time_pass(crawl)
        slow = {path: Reply(reply.body, seconds=0.2) for path, reply in site.pages.items()}
        site.pages = slow
        site.asked.clear()
        killed = crawl.start("crawl", "--recrawl")
        killed.until(lambda: len(site.asked) >= 3)
        killed.kill_tree()
        assert crawl.query("SELECT count(*) FROM recrawls UNION ALL SELECT count(*) FROM back WHERE revisit = 2")
        publish(site, 0)
        crawl.configure({"recrawl": {"policy": "uniform", "min_interval": "1h"}})
        crawl.run("crawl", "--recrawl", "--max-requests", "5")
        crawl.verify()
        crawl.run("crawl")
        crawl.verify()
        crawl.run("crawl", "--recrawl")
        assert set(site.asked) - {"/robots.txt"} == {"/", *PAGES}
        assert crawl.stats()["urls_queued"] == 0
        assert "0 pages to visit again" in crawl.run("crawl", "--recrawl").stdout
        crawl.verify()


def test_gone_and_failed(site: Site, make_crawl: MakeCrawl) -> None:
    """A page that is gone is asked for ever more rarely; one that fails keeps what is known of it."""
    with site:
        publish(site, 0)
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": "20h"}, "limits": {"max_tries": 1}})
        crawl.run("crawl")
        before = records(crawl)[f"{site.url}/paper/2"]
        site.pages["/paper/1"] = NOT_FOUND
        site.pages["/paper/2"] = Reply(status=500)
        asked = []
        for _ in range(8):
            let_time_pass(crawl)
            site.asked.clear()
            crawl.run("crawl", "--recrawl")
            asked.append("/paper/1" in site.asked)
        assert asked == [True, False, True, False, False, False, True, False]
        gone, failed = records(crawl)[f"{site.url}/paper/1"], records(crawl)[f"{site.url}/paper/2"]
        assert gone["standing"] == Standing.GONE
        assert failed["standing"] == Standing.PAGE
        assert (float(failed["quiet"]), int(failed["changed"])) == (float(before["quiet"]), 0)
        assert crawl.documents_by_url()[f"{site.url}/paper/1"] == 1, "its history is kept"
        assert crawl.why(f"{site.url}/paper/1")["state"] == "gone"
        site.pages["/paper/1"] = page(text="It is back, with another text than it had before, and more words.")
        let_time_pass(crawl, 20 * NIGHT)
        crawl.run("crawl", "--recrawl")
        assert records(crawl)[f"{site.url}/paper/1"]["failures"] == 0
        assert crawl.documents_by_url()[f"{site.url}/paper/1"] == 2
        crawl.verify()


def test_a_host_gives_what_it_can(site: Site, make_crawl: MakeCrawl) -> None:
    """With a limit of time, no more pages of a host are chosen than it can give in it."""
    with site:
        publish(site, 0)
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": "1h"}})
        crawl.run("crawl")
        let_time_pass(crawl)
        crawl.configure({"recrawl": {"min_interval": "1h"}, "politeness": {"delay": 1}})
        assert "4 pages to visit again" in crawl.run("crawl", "--recrawl", "--max-time", "3").stdout
        crawl.verify()


def test_visits_of_an_older_release(site: Site, make_crawl: MakeCrawl) -> None:
    """Where there are visits without records of changes, the first recrawl makes them."""
    with site:
        publish(site, 0)
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": 0}})
        crawl.run("crawl")
        with closing(Database.open(crawl.directory.state)) as database:
            runs = ChangeRates(database)._runs
            for run in list(runs.table.runs):
                runs.table.delete(run)
            database.write("INSERT INTO meta VALUES ('changes_missing', 0)")
            database.commit()
        assert "21 pages to visit again" in crawl.run("crawl", "--recrawl").stdout
        assert len(records(crawl)) == 21
        crawl.verify()


def test_due_is_what_a_recrawl_asks_for(make_crawl: MakeCrawl) -> None:
    def due() -> set[str]:
        lines = crawl.run("list", "--due", "--json").stdout.splitlines()
        return {json.loads(line)["url"].removeprefix(site.url) for line in lines}

    with Site(
        {"/": page("/a", "/b", "/away", "/missing", "/no/c"), "/a": page(text="a"), "/b": page(text="b")}
    ) as site:
        site.pages["/away"] = Reply(status=301, headers={"Location": f"{site.url}/b"})
        site.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /no/", content_type="text/plain")
        site.pages["/map"] = Reply(f"<urlset><url><loc>{site.url}/a</loc></url></urlset>")
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"min_interval": 3600}})
        assert due() == {"/"}
        crawl.run("add", "--sitemap", f"{site.url}/map")
        crawl.run("crawl")
        assert due() == set()
        crawl.configure({"recrawl": {"min_interval": 0}, "scope": {"deny_prefixes": [f"{site.url}/b"]}})
        crawl.run("crawl")  # the settings hold from the next run on
        before = due()
        assert before == {"/", "/a", "/away", "/missing", "/no/c"}
        assert len(crawl.run("list", "--due", "--limit", "2").stdout.splitlines()) == 2
        site.asked.clear()
        crawl.run("crawl", "--recrawl")
        assert set(site.asked) - {"/robots.txt"} == before - {"/no/c"}  # robots.txt still denies it, and was looked at
