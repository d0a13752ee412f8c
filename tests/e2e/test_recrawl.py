"""`crawl --recrawl`: what has changed is stored anew, what has not costs an answer without a body."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from contextlib import closing

from pycrawl.simweb import SimServer, SimWebSettings
from pycrawl.state.database import Database
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import PROGRAM, Crawl, url_of
from tests.e2e.site import Reply, Site, page

WEB = SimWebSettings.plain(seed=41, hosts=8, pages=200, port=0, mean_page_bytes=3_000, change_share=0.1)


def get(crawl: Crawl, *arguments: str) -> bytes:
    return subprocess.run([*PROGRAM, "get", "-C", crawl.path, *arguments], capture_output=True, check=True).stdout


def statuses(server: SimServer) -> dict[str, int]:
    """URL → status of its one visit since the log was cleared."""
    log = [(url_of(server, entry), entry.status) for entry in server.log() if not entry.is_robots]
    assert Counter(url for url, _ in log).most_common(1)[0][1] == 1
    return dict(log)


def test_exactly_the_changed_pages_are_stored_anew(make_crawl: MakeCrawl) -> None:
    with SimServer(WEB) as server:
        web = server.web
        crawl = make_crawl([server.seed], {"recrawl": {"min_interval": 0}})
        crawl.run("crawl")
        first_crawl_over = time.time()
        changed = web.changed(0, 1)
        assert len(changed) == 20
        time.sleep(1.1)  # so that a time in whole seconds lies between the two

        server.set_version(1)
        server.clear_log()
        assert "200 pages to visit again" in crawl.run("crawl", "--recrawl").stdout
        assert statuses(server) == {url: 200 if url in changed else 304 for url in web.reachable()}
        assert Counter(crawl.documents_by_url().values()) == {1: 180, 2: 20}
        facts = crawl.stats()
        assert facts["not_modified"] == 180
        assert facts["pages_stored"] == 220
        assert crawl.bodies(web.reachable()) == {url: web.page(url).body(1) for url in web.reachable()}
        assert crawl.bodies(web.reachable(), first_crawl_over) == {url: web.page(url).body() for url in web.reachable()}
        one = min(changed)
        assert get(crawl, one) == web.page(one).body(1)
        assert get(crawl, "--at", str(first_crawl_over), one) == web.page(one).body(0)
        then = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(first_crawl_over + 1))
        assert get(crawl, "--at", then, one) == web.page(one).body(0)

        server.clear_log()
        crawl.run("crawl", "--recrawl")
        assert statuses(server) == dict.fromkeys(web.reachable(), 304)
        assert crawl.stats()["pages_stored"] == 220
        crawl.verify()

        crawl.configure({"recrawl": {"min_interval": "1h"}})
        server.set_version(2)
        server.clear_log()
        assert "0 pages to visit again" in crawl.run("crawl", "--recrawl").stdout
        assert server.log() == []


def test_a_clock_that_was_set_back_makes_nothing_wait(make_crawl: MakeCrawl) -> None:
    """The run before ended a day ahead of the clock: what it planned is not left alone for a day."""
    with Site({"/": page("/a"), "/a": page(text="a"), "/new": page(text="new")}) as site:
        site.pages["/map"] = Reply(f"<urlset><url><loc>{site.url}/new</loc></url></urlset>")
        crawl = make_crawl([f"{site.url}/"], {"politeness": {"delay": 0.3}, "sitemaps": {"min_interval": 3600}})
        crawl.run("crawl")
        crawl.run("add", "--sitemap", f"{site.url}/map")
        crawl.run("crawl", "--max-requests", "1")
        with closing(Database.open(crawl.directory.state)) as database:
            for table, columns in (("hosts", ("ready_at",)), ("robots", ("fetched_at", "expires_at")),
                                   ("runs", ("started_at", "updated_at", "ended_at"))):  # fmt: skip
                for column in columns:
                    database.write(f"UPDATE {table} SET {column} = {column} + 86400")
            database.commit()
        assert "The clock is 24.0 h behind" in crawl.run("crawl").stdout
        assert "/new" in site.asked
        assert "The clock" not in crawl.run("crawl").stdout
