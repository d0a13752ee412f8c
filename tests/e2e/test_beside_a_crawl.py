"""Other commands while a crawl runs in the same directory."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import RUN_SECONDS, assert_holds_the_web, pages_served
from tests.e2e.site import Site, after, page

SLOW = SimWebSettings.plain(seed=61, hosts=6, pages=180, port=0, mean_page_bytes=3_000, host_skew=0.0, latency=0.05)
HELD, NOTHING_FETCHED = 3, 5


def test_commands_beside_a_running_crawl(make_crawl: MakeCrawl) -> None:
    done = threading.Event()
    last = replace(page(text="the last page"), before=after(done, RUN_SECONDS))  # the crawl waits for it
    pages = {"/": page("/linked"), "/linked": page()}
    with SimServer(SLOW) as server, Site(pages) as site, Site({"/": last}, "127.0.0.2") as slow:
        crawl = make_crawl(
            [server.seed, slow.url + "/"], {"limits": {"total_timeout": 2 * RUN_SECONDS, "min_bytes_per_second": 0}}
        )
        running = crawl.start("crawl")
        # Not before a commit: what `stats` and `get` see is what is committed.
        assert running.until(lambda: crawl.query("SELECT 1 FROM documents LIMIT 1") != [])

        refused = crawl.run("crawl", exit_code=HELD)
        assert f"process {running.pid}, since " in refused.stderr
        assert re.search(r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", refused.stderr)
        assert refused.stderr.count("\n") == 1

        added = crawl.run("add", site.url + "/", "not a url", "ftp://example.com/")
        assert "it will add 1 URL within a few seconds" in added.stdout
        assert added.stderr.count("pycrawl: not added: ") == 2
        assert running.until(lambda: "/linked" in site.times())

        facts = crawl.stats()
        assert 0 < facts["pages_fetched"] < SLOW.pages + 3
        assert facts["last_crawl"]["ended_at"] is None
        assert facts["last_crawl"]["pid"] == running.pid
        crawl.run("get", server.seed)
        assert crawl.why(server.seed)["visit"]["outcome"] == "fetched"
        crawl.run("verify", "--deep")

        assert not running.is_over
        done.set()
        assert running.wait() == 0
        assert pages_served(server) == dict.fromkeys(server.web.reachable(), 1)
        assert site.times() == {"/": 1, "/linked": 1}
        facts = crawl.stats()
        assert facts["pages_fetched"] == SLOW.pages + 3
        assert facts["filtered"] == {}
        assert not list(crawl.directory.inbox.iterdir())
        assert crawl.why(site.url + "/linked")["found"][1]["url"] == site.url + "/"


def test_a_second_run_goes_on_with_what_was_added_between(make_crawl: MakeCrawl) -> None:
    with SimServer(SimWebSettings.plain(seed=62, hosts=2, pages=10, port=0)) as server:
        crawl = make_crawl([])
        assert "`pycrawl add URL`" in crawl.run("crawl", exit_code=NOTHING_FETCHED).stderr
        assert "1 new URL." in crawl.run("add", server.seed).stdout
        assert "0 new URLs, 1 known already." in crawl.run("add", server.seed).stdout
        crawl.run("crawl")
        assert_holds_the_web(crawl, server)
