"""`[[host]]`, `crawl.headers` and `crawl.languages` in real crawls: what the servers of several hosts saw."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page

# 127.0.0.2 is the host that has settings of its own.
PLAIN, OWN = "127.0.0.1", "127.0.0.2"
TRANSPORTS = ["curl", "urllib3"]
COMMON = """
[crawl]
fetchers = 2
slots_per_fetcher = 16
proxy = "none"
{crawl}
[politeness]
delay = 0
max_backoff = 0.05
[security]
allow_private_addresses = true
[traps]
soft_404 = false
novelty = false
[[host]]
name = "127.0.0.2"
{own}
"""


def configure(crawl: Crawl, own: str = "", crawl_keys: str = "", more: str = "") -> None:
    text = COMMON.format(crawl=crawl_keys, own=own) + more
    crawl.directory.config_file.write_text(text, "utf-8")


@contextmanager
def twins(pages: dict[str, Reply]) -> Iterator[tuple[Site, Site]]:
    """The same pages on a host without settings of its own, and on the one that has some."""
    with Site(marked(pages, "plain"), PLAIN) as plain, Site(marked(pages, "own"), OWN) as own:
        yield plain, own


def marked(pages: dict[str, Reply], host: str) -> dict[str, Reply]:
    """With texts that differ from page to page, so that none is a copy."""
    return {
        path: Reply(reply.body + f"<p>{path} of {host}", reply.status, reply.content_type, reply.headers)
        if reply.content_type.startswith("text/html")
        else reply
        for path, reply in pages.items()
    }


def crawl_of(make_crawl: MakeCrawl, *sites: Site) -> Crawl:
    return make_crawl([site.url + "/" for site in sites])


def test_each_host_has_its_own_pause(make_crawl: MakeCrawl) -> None:
    pages = {"/": page(*(f"/{number}" for number in range(5)))} | {f"/{number}": page() for number in range(5)}
    delays = {PLAIN: 0.0, OWN: 0.2, "127.0.0.3": 0.4}
    with ExitStack() as stack:
        sites = {host: stack.enter_context(Site(marked(pages, host), host)) for host in delays}
        crawl = crawl_of(make_crawl, *sites.values())
        configure(crawl, "delay = 0.2", more='[[host]]\nname = "127.0.0.3"\ndelay = "400ms"\n')
        crawl.run("crawl")
        for host, site in sites.items():
            assert len(site.asked) == 7
            # A request comes in before its answer ends, and never before it is sent: so the pause is in between.
            assert all(after - before >= delays[host] for before, after in pairwise(site.asked_at))
        assert max(sites[PLAIN].asked_at) < max(sites[OWN].asked_at) < max(sites["127.0.0.3"].asked_at)
        crawl.run("audit")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_headers_as_the_servers_saw_them(make_crawl: MakeCrawl, transport: str) -> None:
    pages = {"/": page("/a", "/away"), "/a": page(), "/robots.txt": Reply(status=404)}
    with twins(pages) as (plain, own):
        own.pages["/away"] = Reply(status=302, headers={"Location": f"{plain.url}/target"})
        plain.pages["/target"] = page(text="at the other host")
        crawl = crawl_of(make_crawl, plain, own)
        keys = f'transport = "{transport}"\nlanguages = ["de", "en"]\nheaders = {{ From = "me@x.org", DNT = "1" }}'
        configure(crawl, 'headers = { Authorization = "Bearer t", accept-language = "fr", dnt = "" }', keys)
        crawl.run("crawl")
        assert set(own.asked) == {"/robots.txt", "/", "/a", "/away"}
        assert "/target" in plain.asked
        for headers in plain.headers:
            told = [headers[name] for name in ("Accept-Language", "From", "DNT", "Authorization")]
            assert told == ["de, en;q=0.8", "me@x.org", "1", None]
        for headers in own.headers:
            told = [headers[name] for name in ("Accept-Language", "From", "DNT", "Authorization")]
            assert told == ["fr", "me@x.org", None, "Bearer t"]
        for headers in (*plain.headers, *own.headers):
            assert headers["User-Agent"].startswith("pycrawl/")
            assert headers["Accept-Encoding"] == "gzip, deflate, br"
            assert len(headers.get_all("Accept-Language") or ()) == 1


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_each_host_has_its_own_limits_on_an_answer(make_crawl: MakeCrawl, transport: str) -> None:
    slow = Reply("slow", seconds=1.5)
    pages = {"/": page("/long", "/slow"), "/long": page(text="x" * 5_000), "/slow": slow}
    with twins(pages) as (plain, own):
        plain.pages["/slow"] = own.pages["/slow"] = slow
        crawl = crawl_of(make_crawl, plain, own)
        configure(crawl, "max_body_bytes = 1000\ntotal_timeout = 0.5\nmax_tries = 2", f'transport = "{transport}"')
        crawl.run("crawl")
        urls = [f"{site.url}/long" for site in (plain, own)]
        bodies = crawl.bodies(urls)
        assert [len(bodies[url]) for url in urls] == [len(plain.pages["/long"].body), 1_000]
        assert [site.times()["/slow"] for site in (plain, own)] == [1, 2]
        assert [crawl.why(f"{site.url}/slow")["visit"]["outcome"] for site in (plain, own)] == ["fetched", "timeout"]
        crawl.verify()


def test_pages_of_one_host_and_then_of_more_in_the_next_run(make_crawl: MakeCrawl) -> None:
    pages = {"/": page(*(f"/{number}" for number in range(5)))} | {f"/{number}": page() for number in range(5)}
    with twins(pages) as (plain, own):
        crawl = crawl_of(make_crawl, plain, own)
        configure(crawl, "max_pages_per_host = 2")
        crawl.run("crawl")
        assert [site.times().total() for site in (plain, own)] == [6, 2]
        configure(crawl, "max_pages_per_host = 4\nheaders = { X-Run = '2' }")
        crawl.run("crawl")
        assert [site.times().total() for site in (plain, own)] == [6, 4]
        assert [headers["X-Run"] for headers in own.headers[-2:]] == ["2", "2"]
        configure(crawl)
        crawl.run("crawl")
        assert plain.times() == own.times() == Counter(set(pages))
        assert own.headers[-1]["X-Run"] is None
        crawl.verify()


def test_robots_txt_of_one_host_is_not_obeyed(make_crawl: MakeCrawl) -> None:
    rules = Reply("User-agent: *\nDisallow: /private\nCrawl-delay: 1\n", content_type="text/plain")
    pages = {"/": page("/private"), "/private": page(), "/robots.txt": rules}
    with twins(pages) as (plain, own):
        crawl = crawl_of(make_crawl, plain, own)
        configure(crawl, "obey_robots = false")
        crawl.run("crawl")
        assert plain.asked == ["/robots.txt", "/"]
        assert own.asked == ["/", "/private"]


ASKS = {
    "/": page("/hop/1", "/meta", "/header", "/" + "long" * 12, text='<a rel="nofollow" href="/rel">'),
    **{f"/hop/{number}": Reply(status=302, headers={"Location": f"/hop/{number + 1}"}) for number in (1, 2, 3)},
    "/hop/4": page(),
    "/meta": Reply('<meta name="robots" content="nofollow"><a href="/by-meta">'),
    "/by-meta": page(),
    "/header": Reply('<a href="/by-header">', headers={"X-Robots-Tag": "nofollow"}),
    "/by-header": page(),
    "/rel": page(),
    "/" + "long" * 12: page(),
}


@pytest.mark.parametrize(
    ("own_settings", "more", "fewer"),
    [
        ("max_redirects = 2", set(), {"/hop/4"}),
        ("max_url_length = 60", set(), {"/" + "long" * 12}),
        ("meta_robots = false", {"/by-meta"}, set()),
        ("x_robots_tag = false", {"/by-header"}, set()),
        ("rel_nofollow = false", {"/rel"}, set()),
        ("max_links_per_page = 1", set(), {"/meta", "/header", "/" + "long" * 12}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_which_urls_of_one_host_are_asked_for(
    make_crawl: MakeCrawl, own_settings: str, more: set[str], fewer: set[str]
) -> None:
    everywhere = set(ASKS) - {"/by-meta", "/by-header", "/rel"}
    with twins(ASKS) as (plain, own):
        crawl = crawl_of(make_crawl, plain, own)
        configure(crawl, own_settings)
        crawl.run("crawl")
        assert plain.times() == Counter(everywhere)
        assert own.times() == Counter((everywhere | more) - fewer)


@pytest.mark.parametrize(
    ("first", "second", "new"),
    [
        ("max_redirects = 2", "", {"/hop/4"}),
        ("", "meta_robots = false", {"/by-meta"}),
        ("", "x_robots_tag = false", {"/by-header"}),
        ("", "rel_nofollow = false", {"/rel"}),
        ("", "obey_robots = false", {"/private"}),
        ("", "delay = 0.01", set()),
    ],
)
def test_what_other_settings_of_one_host_let_in_is_fetched_by_the_next_run(
    make_crawl: MakeCrawl, first: str, second: str, new: set[str]
) -> None:
    """And nothing else is asked for, on neither host."""
    rules = Reply("User-agent: *\nDisallow: /private\n", content_type="text/plain")
    links = Reply(ASKS["/"].body + '<a href="/private">')
    with twins({**ASKS, "/": links, "/private": page(), "/robots.txt": rules}) as (plain, own):
        crawl = crawl_of(make_crawl, plain, own)
        configure(crawl, first)
        crawl.run("crawl")
        before = [site.times() for site in (plain, own)]
        configure(crawl, second)
        crawl.run("crawl")
        assert [site.times() - past for site, past in zip((plain, own), before, strict=True)] == [{}, Counter(new)]
        crawl.verify()


class Crowd:
    """How many requests are being answered at once, by host name; `most` is the largest number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open = 0
        self.most = 0

    def __call__(self, port: int) -> None:
        with self._lock:
            self._open += 1
            self.most = max(self.most, self._open)
        time.sleep(0.1)
        with self._lock:
            self._open -= 1


def crowded_site(address: str, crowd: Crowd) -> Site:
    pages = {"/": page(*(f"/{number}" for number in range(8)))}
    pages |= {f"/{number}": Reply(f"page {number} of {address}", before=crowd) for number in range(8)}
    return Site(pages, address)


def test_connections_of_one_host(make_crawl: MakeCrawl) -> None:
    crowds = {PLAIN: Crowd(), OWN: Crowd()}
    with crowded_site(PLAIN, crowds[PLAIN]) as plain, crowded_site(OWN, crowds[OWN]) as own:
        crawl = crawl_of(make_crawl, plain, own)
        configure(crawl, "connections_per_host = 3")
        crawl.run("crawl")
        assert {host: crowd.most for host, crowd in crowds.items()} == {PLAIN: 1, OWN: 3}
        assert json.loads(crawl.run("audit", "--json").stdout)["ok"]
        configure(crawl)
        told = json.loads(crawl.run("audit", "--json", exit_code=1).stdout)
        assert {place["name"] for place in told["hosts"] if place["is_crowded"]} == {own.url.removeprefix("http://")}


def test_the_smaller_number_of_connections_holds_at_a_shared_address(make_crawl: MakeCrawl) -> None:
    crowd = Crowd()
    with crowded_site(PLAIN, crowd) as site:
        names = ("many.localhost", "one.localhost")
        crawl = make_crawl([f"http://{name}:{site.port}/" for name in names])
        configure(crawl, more='[[host]]\nname = "many.localhost"\nconnections_per_host = 4\n')
        crawl.run("crawl")
        assert len(site.times()) == 9
        assert site.times().total() == 18
        assert json.loads(crawl.run("audit", "--json").stdout)["ok"]


def test_a_name_that_is_no_host_stops_the_crawl_before_it_begins(make_crawl: MakeCrawl) -> None:
    with Site({"/": page()}) as site:
        crawl = crawl_of(make_crawl, site)
        configure(crawl, more='[[host]]\nname = "http://example.org/"\n')
        told = crawl.run("crawl", exit_code=2).stderr
        assert '[[host]] number 2 ("http://example.org/"): name: expected a host such as "www.example.com"' in told
        assert not site.asked
