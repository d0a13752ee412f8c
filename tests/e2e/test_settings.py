"""Settings of pycrawl.toml that change what a crawl does, each with its effect on the server and in `stats`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Settings, assert_holds_the_web, pages_served
from tests.e2e.site import Reply, Site, page

WEB = SimWebSettings(
    seed=81, hosts=8, pages=160, port=0, mean_page_bytes=3_000, redirect_share=0.05, error_share=0.08,
    robots_share=0.5, crawl_delay=0, retry_after=0,
)  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [
        {"crawl": {"transport": "urllib3"}, "store": {"dochdr": "gov2", "file_size": 20_000}},
        {"store": {"compress": False, "file_size": 20_000}},
    ],
    ids=["urllib3-gov2", "plain-text"],
)
def test_other_transport_and_stores_hold_the_same_web(make_crawl: MakeCrawl, settings: Settings) -> None:
    with SimServer(WEB) as server:
        crawl = make_crawl([server.seed], settings)
        crawl.run("crawl")
        assert pages_served(server) == dict.fromkeys(server.web.reachable(), 1)
        assert_holds_the_web(crawl, server)
        crawl.verify()
        compressed = settings["store"].get("compress", True)
        names = {path.relative_to(crawl.directory.docs).as_posix() for path in crawl.compound_files()}
        assert {"WTX001/B01.gz", "WTX001/B02.gz"} <= names if compressed else {"WTX001/B01", "WTX001/B02"} <= names


def test_gov2_has_the_url_alone_in_its_first_header_line(make_crawl: MakeCrawl) -> None:
    with Site({"/": page(text="hello")}) as site:
        crawl = make_crawl([site.url + "/"], {"store": {"dochdr": "gov2", "compress": False}})
        crawl.run("crawl")
        (file,) = crawl.compound_files()
        assert f"<DOCHDR>\n{site.url}/\nHTTP/1.1 200 OK\n" in file.read_text()


# A web of two sites, with something for every rule of the scope.
OTHER = {"/": page("/far"), "/far": page()}


@pytest.fixture
def other() -> Iterator[Site]:
    with Site(OTHER, "127.0.0.2") as site:
        yield site


@pytest.fixture
def site(other: Site) -> Iterator[Site]:
    pages = {
        "/": page("/a", "/b", "/image", "/private/x", "/shop/1", "mailto:someone@example.com", other.url + "/"),
        "/a": page("/a/1"),
        "/a/1": page("/a/2"),
        "/a/2": page("/a/3"),
        "/a/3": page(),
        "/b": page("/"),
        "/image": Reply("no picture", content_type="image/png"),
        "/private/x": page(),
        "/shop/1": page("/shop/2"),
        "/shop/2": page(),
    }
    texts = {path: Reply(reply.body + path, content_type=reply.content_type) for path, reply in pages.items()}
    with Site(texts) as running:
        yield running


ALL = {"/", "/a", "/a/1", "/a/2", "/a/3", "/b", "/image", "/private/x", "/shop/1", "/shop/2"}


@pytest.mark.parametrize(
    ("settings", "missing", "filtered"),
    [
        ({"crawl": {"max_depth": 1}}, {"/a/1", "/a/2", "/a/3", "/shop/2", "other /far"}, {"too-deep": 3}),
        ({"scope": {"follow_external": False}}, {"other /", "other /far"}, {"external": 1}),
        ({"scope": {"deny_hosts": ["127.0.0.2"]}}, {"other /", "other /far"}, {"host-denied": 1}),
        ({"scope": {"allow_hosts": ["127.0.0.1"]}}, {"other /", "other /far"}, {"host-not-allowed": 1}),
        (
            {"scope": {"deny_prefixes": ["/private/"], "deny_patterns": ["/shop/[0-9]"], "content_types": ["*/*"]}},
            {"/private/x", "/shop/1", "/shop/2"},
            {"prefix-denied": 1, "pattern-denied": 1, "content-type": None},
        ),
        (
            {"scope": {"allow_patterns": ["^[^?]*/(a.*)?$"]}},
            {"/b", "/image", "/private/x", "/shop/1", "/shop/2", "other /far"},
            {"pattern-not-allowed": 5, "content-type": None},
        ),
    ],
    ids=["max_depth", "follow_external", "deny_hosts", "allow_hosts", "deny", "allow_patterns"],
)
def test_the_scope(
    make_crawl: MakeCrawl,
    site: Site,
    other: Site,
    settings: Settings,
    missing: set[str],
    filtered: dict[str, int | None],
) -> None:
    """What is out of scope is not asked for, and counted under its reason; the rest is fetched once."""
    crawl = make_crawl([site.url + "/"], {**settings, "crawl": {"fetchers": 1, **settings.get("crawl", {})}})
    crawl.run("crawl")
    asked = [*site.times().elements(), *(f"other {path}" for path in other.times().elements())]
    assert Counter(asked) == Counter((ALL | {"other /", "other /far"}) - missing)
    expected = {"not-http": 1, "content-type": 1, **filtered}
    assert crawl.stats()["filtered"] == {reason: count for reason, count in expected.items() if count is not None}


def test_bodies_of_unwanted_types_are_not_stored(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"], {"scope": {"follow_external": False}})
    crawl.run("crawl", "--max-depth", "1")
    assert site.times()["/image"] == 1
    assert crawl.why(site.url + "/image")["visit"]["outcome"] == "unwanted-type"
    assert site.url + "/image" not in crawl.documents_by_url()
    assert "no document" in crawl.run("get", site.url + "/image", exit_code=1).stderr


def test_max_pages_per_host(make_crawl: MakeCrawl) -> None:
    web = SimWebSettings.plain(seed=82, hosts=4, pages=60, port=0, mean_page_bytes=3_000, host_skew=0.0)
    with SimServer(web) as server:
        crawl = make_crawl([server.seed], {"limits": {"max_pages_per_host": 5}})
        for _ in range(2):  # the limit is on the crawl, not on one run
            crawl.run("crawl")
            hosts = Counter(server.web.page(url).host.address for url in pages_served(server).elements())
            assert hosts == {host.address: 5 for host in server.web.hosts}
        assert crawl.stats()["urls_queued"] > 0
        crawl.verify()


def test_encodings_are_recorded_as_declared_and_as_used(make_crawl: MakeCrawl) -> None:
    text = "<p>Größe und Übermut, çà et là</p>"
    answers = {
        "/right": Reply(text, content_type="text/html; charset=utf-8"),
        "/wrong": Reply(text + "!", content_type="text/html; charset=shift_jis"),
        "/silent": Reply(text + "?", content_type="text/html"),
        "/ascii": page(text="plain"),
    }
    with Site({"/": page(*answers), **answers}) as site:
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl")
        told = {path: crawl.why(site.url + path)["charset"] for path in answers}
        assert told == {
            "/right": {"used": "utf-8", "declared": "utf-8"},
            "/wrong": {"used": "utf-8", "declared": "shift_jis"},
            "/silent": {"used": "utf-8", "declared": ""},
            "/ascii": None,
        }
        assert (
            "text read as utf-8, though declared as shift_jis"
            in crawl.run("why", "--verbose", site.url + "/wrong").stdout
        )
