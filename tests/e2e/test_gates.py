"""Hosts that share an address share its connections and its pauses, whatever their names."""

from __future__ import annotations

import json
import threading
import time
from contextlib import ExitStack
from itertools import pairwise

from tests.e2e.conftest import MakeCrawl
from tests.e2e.site import Reply, Site, page

HOSTS = 6
DELAY = 0.05
CLOCK_ERROR = 0.01


class Counter:
    """Who is being served, and when each service began and ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self.most = 0
        self.spans: list[tuple[float, float]] = []

    def __call__(self, port: int) -> None:
        with self._lock:
            self._open += 1
            self.most = max(self.most, self._open)
        began = time.monotonic()
        time.sleep(0.02)
        with self._lock:
            self._open -= 1
            self.spans.append((began, time.monotonic()))

    def smallest_gap(self) -> float:
        spans = sorted(self.spans)
        return min(after[0] - before[1] for before, after in pairwise(spans))


def test_names_of_one_address_are_one_server(make_crawl: MakeCrawl) -> None:
    counter = Counter()
    replies = {"/robots.txt": Reply(status=404, before=counter)}
    for number in range(HOSTS):
        replies[f"/{number}"] = Reply(page(f"/{number}/a", f"/{number}/b").body, before=counter)
        for name in ("a", "b"):
            replies[f"/{number}/{name}"] = Reply(page(text=f"page {name} of host {number}").body, before=counter)
    with Site(replies) as site:
        seeds = [f"http://host{number}.localhost:{site.port}/{number}" for number in range(HOSTS)]
        crawl = make_crawl(seeds, {"politeness": {"delay": DELAY}})
        crawl.run("crawl")
        assert site.times() == {path: 1 for path in replies if path != "/robots.txt"}
        assert counter.most == 1
        assert counter.smallest_gap() >= DELAY - CLOCK_ERROR
        told = json.loads(crawl.run("audit", "--json").stdout)
        assert told["ok"]
        assert told["fetches"] == 4 * HOSTS
        assert [place["most_at_once"] for place in told["addresses"]] == [1]
        assert len(told["hosts"]) == HOSTS
        assert told["smallest_gap"] >= DELAY


def test_redirects_of_robots_txt_keep_the_pause(make_crawl: MakeCrawl) -> None:
    counter = Counter()
    replies = {
        "/": Reply(page("/open", "/closed").body, before=counter),
        "/open": Reply(page(text="open to all").body, before=counter),
        "/closed": Reply(page(text="closed").body, before=counter),
        "/robots.txt": Reply(status=301, headers={"Location": "/rules/1"}, before=counter),
        "/rules/1": Reply(status=302, headers={"Location": "/rules/2"}, before=counter),
        "/rules/2": Reply("User-agent: *\nDisallow: /closed\n", content_type="text/plain", before=counter),
    }
    with Site(replies) as site:
        crawl = make_crawl([site.url + "/"], {"politeness": {"delay": 0.1}})
        crawl.run("crawl")
        assert site.asked == ["/robots.txt", "/rules/1", "/rules/2", "/", "/open"]
        assert counter.smallest_gap() >= 0.1 - CLOCK_ERROR
        assert crawl.stats()["robots_denied"] == 1


def test_robots_txt_on_another_host_keeps_to_the_pauses_of_that_host(make_crawl: MakeCrawl) -> None:
    """Five hosts send us to a sixth one for their rules, by its name and by its address, while it is crawled itself."""
    counter = Counter()
    paths = [f"/{number}" for number in range(10)]
    rules = Reply("User-agent: *\nDisallow: /closed\n", content_type="text/plain", before=counter)
    busy = {"/": Reply(page(*paths).body, before=counter), "/robots.txt": Reply(status=404, before=counter)}
    busy |= {path: Reply(page(text=f"page {path}").body, before=counter) for path in paths}
    with ExitStack() as stack:
        sites = []
        for number in range(5):
            sites.append(stack.enter_context(Site({}, f"127.0.5.{number + 1}")))
            busy[f"/rules-{number}"] = rules
        target = stack.enter_context(Site(busy))
        for number, site in enumerate(sites):
            host = target.url if number % 2 else f"http://rules.localhost:{target.port}"
            site.pages["/robots.txt"] = Reply(status=301, headers={"Location": f"{host}/rules-{number}"})
            site.pages["/"] = page("/open", "/closed")
            site.pages["/open"] = page(text=f"open {number}")
        seeds = [f"{site.url}/" for site in (target, *sites)]
        crawl = make_crawl(seeds, {"politeness": {"delay": DELAY}})
        crawl.run("crawl")
        for site in sites:
            assert sorted(site.asked) == ["/", "/open", "/robots.txt"]
        assert sorted(target.asked) == sorted(busy)
        assert counter.most == 1
        assert counter.smallest_gap() >= DELAY - CLOCK_ERROR
        told = json.loads(crawl.run("audit", "--json").stdout)
        assert told["ok"]
        assert max(place["most_at_once"] for place in told["addresses"]) == 1


def test_robots_txt_that_redirects_over_hosts_for_ever_counts_as_missing(make_crawl: MakeCrawl) -> None:
    with Site({}) as one, Site({}, "127.0.5.1") as other:
        for site, target in ((one, other), (other, one)):
            site.pages["/robots.txt"] = Reply(status=302, headers={"Location": f"{target.url}/robots.txt"})
            site.pages["/"] = page(text=site.url)
        crawl = make_crawl([one.url + "/", other.url + "/"])
        crawl.run("crawl")
        assert one.times() == other.times() == {"/": 1}
        assert len(one.asked) + len(other.asked) == 2 * (1 + 6)
