"""`pycrawl why`: every URL of a real crawl has an answer that names the page, the verdict and the setting."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.site import Reply, Site, page
from tests.e2e.test_traps import soft_404_shop
from tests.e2e.trapweb import TrapWeb

NO_PAGE = 5  # the exit code

# What each setting keeps out, by the reason that is given for it.
REFUSED = {
    "host-denied": "http://denied.example/",
    "prefix-denied": "/no/x",
    "pattern-denied": "/x.bak",
    "scheme": "https://127.0.0.1:81/s",
    "external": "http://other.example/",
    "too-many-segments": "/" + "/".join(map(str, range(40))),
    "repeated-segments": "/r/r/r/r/r",
    "too-many-parameters": "/p?" + "&".join(f"p{one}=1" for one in range(20)),
}
SETTING_OF = {
    "host-denied": "scope.deny_hosts",
    "prefix-denied": "scope.deny_prefixes",
    "pattern-denied": "scope.deny_patterns",
    "scheme": "scope.schemes",
    "external": "scope.follow_external",
    "too-many-segments": "traps.max_path_segments",
    "repeated-segments": "traps.max_repeated_segments",
    "too-many-parameters": "traps.max_query_parameters",
    "too-deep": "crawl.max_depth",
    "nofollow": "politeness.rel_nofollow",
    "host-not-allowed": "scope.allow_hosts",
    "prefix-not-allowed": "scope.allow_prefixes",
    "pattern-not-allowed": "scope.allow_patterns",
}
NARROW: Settings = {
    "crawl": {"max_depth": 1},
    "scope": {
        "deny_hosts": ["denied.example"],
        "deny_prefixes": ["/no/"],
        "deny_patterns": ["[.]bak$"],
        "schemes": ["http"],
        "follow_external": False,
    },
    "limits": {"max_url_length": 250},
    "recrawl": {"min_interval": 0},
}
NOFOLLOW = Reply('<a href="/nf" rel="nofollow">x</a>')


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {
        "/": page("/a", "/b", "/moved", "/goes", *REFUSED.values()),
        "/a": page("/deep", text="a story"),
        "/b": page("/deep", text="a story"),
        "/moved": Reply(status=301, headers={"Location": "/a"}),
        "/goes": page(text="it goes"),
    }
    with Site(pages) as running:
        yield running


@pytest.fixture(scope="module")
def crawl(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Crawled twice; between the runs, /goes went."""
    made = Crawl.make(tmp_path_factory.mktemp("why") / "crawl", [site.url + "/"], NARROW)
    made.run("crawl")
    del site.pages["/goes"]
    made.run("crawl", "--recrawl")
    return made


def absolute(site: Site, link: str) -> str:
    return site.url + link if link.startswith("/") else link


def assert_is_aside(crawl: Crawl, url: str, reason: str, referrer: str) -> None:
    facts = crawl.why(url)
    setting = SETTING_OF[reason]
    assert (facts["state"], facts["reason"], facts["setting"]) == ("aside", reason, setting)
    assert (facts["scope"], facts["judged_anew"], facts["known"]) == (reason, False, True)
    assert (facts["visit"], facts["queue"], facts["versions"]) == (None, None, [])
    assert facts["found"][1]["url"] == referrer
    text = crawl.run("why", url).stdout
    assert f"  aside: {facts['words']}\n" in text
    assert f"  decided by the setting {setting}\n" in text
    assert f": linked from {referrer} (" in text


@pytest.mark.parametrize("reason", REFUSED)
def test_what_a_setting_turned_away(crawl: Crawl, site: Site, reason: str) -> None:
    assert_is_aside(crawl, absolute(site, REFUSED[reason]), reason, site.url + "/")


def test_what_is_too_deep(crawl: Crawl, site: Site) -> None:
    url = site.url + "/deep"
    referrer = crawl.why(url)["found"][1]["url"]
    assert referrer in (site.url + "/a", site.url + "/b")
    assert_is_aside(crawl, url, "too-deep", referrer)


def test_what_asks_not_to_be_followed(make_crawl: MakeCrawl) -> None:
    with Site({"/": NOFOLLOW}) as site:
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl")
        assert_is_aside(crawl, site.url + "/nf", "nofollow", site.url + "/")
        text = crawl.run("why", site.url + "/nf").stdout
        assert "every link to it asks not to be followed: rel=nofollow at the link" in text


@pytest.mark.parametrize(
    ("scope", "link", "reason"),
    [
        ({"allow_hosts": ["127.0.0.1"]}, "http://other.example/", "host-not-allowed"),
        ({"allow_prefixes": ["/$", "/in/"]}, "/out/x", "prefix-not-allowed"),
        ({"allow_patterns": ["/$", "/in/"]}, "/out/x", "pattern-not-allowed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_no_setting_lets_in(make_crawl: MakeCrawl, scope: dict[str, object], link: str, reason: str) -> None:
    with Site({"/in/": page(link), "/": page(link)}) as site:
        crawl = make_crawl([site.url + "/in/"], {"scope": scope})
        crawl.run("crawl")
        assert_is_aside(crawl, absolute(site, link), reason, site.url + "/in/")
        text = crawl.run("why", absolute(site, link)).stdout
        assert "aside: out of scope: " in text
        assert f"matches nothing in {SETTING_OF[reason]}" in text


def test_settings_that_have_changed_since(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/a", "/b"), "/a": page(text="a"), "/b": page(text="b")}) as site:
        crawl = make_crawl([site.url + "/"], {"scope": {"deny_prefixes": ["/b"]}})
        crawl.run("crawl")
        assert crawl.why(site.url + "/b")["judged_anew"] is False
        crawl.configure({"scope": {"deny_prefixes": ["/a"]}})
        wanted = crawl.why(site.url + "/b")
        assert (wanted["state"], wanted["reason"]) == ("aside", "prefix-denied"), "nobody has judged it since"
        assert (wanted["scope"], wanted["judged_anew"]) == ("wanted", True)
        assert "the next crawl will take it in" in crawl.run("why", site.url + "/b").stdout
        text = crawl.run("why", site.url + "/a").stdout
        assert "the next crawl will put it aside: out of scope: matches scope.deny_prefixes" in text
        assert "it stands as before" in crawl.run("why", site.url + "/").stdout
        crawl.run("crawl")
        assert [crawl.why(site.url + path)["state"] for path in ("/a", "/b")] == ["aside", "done"]
        assert len(crawl.why(site.url + "/a")["versions"]) == 1, "what was stored stays"


def test_redirects_name_their_targets_and_their_sources(crawl: Crawl, site: Site) -> None:
    moved = crawl.why(site.url + "/moved")
    assert (moved["state"], moved["reason"], moved["visit"]["redirect_to"]) == ("done", "redirect", site.url + "/a")
    assert f"redirects to {site.url}/a" in crawl.run("why", site.url + "/moved").stdout
    assert crawl.why(site.url + "/a")["redirected_from"] == [site.url + "/moved"]
    assert f"{site.url}/moved" in crawl.run("why", site.url + "/a").stdout


def test_a_copy_and_its_original(crawl: Crawl, site: Site) -> None:
    both = {path: crawl.why(site.url + path) for path in ("/a", "/b")}
    (copy,) = (path for path, facts in both.items() if facts["copy"])
    (original,) = set(both) - {copy}
    assert both[copy]["copy"]["of"] == site.url + original
    assert f"an exact copy of {site.url}{original}" in crawl.run("why", site.url + copy).stdout


def test_a_page_that_is_gone_has_its_versions(crawl: Crawl, site: Site) -> None:
    facts = crawl.why(site.url + "/goes")
    assert (facts["state"], facts["reason"], facts["visit"]["status"]) == ("gone", "http-4xx", 404)
    assert [one["content_type"] for one in facts["versions"]] == ["text/html; charset=utf-8"]
    text = crawl.run("why", site.url + "/goes").stdout
    assert "  gone: it was stored, and is not there any more\n" in text
    assert "stored: 1 version" in text


def test_what_is_queued_and_when_it_is_next(tmp_path: Path) -> None:
    fresh = Crawl.make(tmp_path / "crawl", ["http://example.com/"])
    facts = fresh.why("http://example.com/")
    assert (facts["state"], facts["reason"], facts["queue"]) == ("queued", "new", "front queue 8")
    text = fresh.run("why", "http://example.com/").stdout
    assert "waits in front queue 8" in text
    assert "next: its host may be asked now" in text
    assert "robots.txt: not known yet" in text
    assert "a seed" in text


def test_a_host_whose_robots_txt_cannot_be_read(make_crawl: MakeCrawl) -> None:
    with Site({"/robots.txt": Reply(status=500), "/": page()}) as site:
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl", "--max-time", "3s", exit_code=NO_PAGE)
        facts = crawl.why(site.url + "/")
        assert (facts["state"], facts["reason"]) == ("queued", "robots-unreachable")
        assert facts["host_ready_at"] > time.time() - 60
        text = crawl.run("why", site.url + "/").stdout
        assert "queued: its host's robots.txt cannot be read, so nothing may be asked for" in text
        assert "not allowed yet: " in text
        assert "/robots.txt is unreachable since 20" in text


def test_pages_that_only_say_that_there_is_no_such_page(make_crawl: MakeCrawl) -> None:
    with TrapWeb(2) as web:
        web.serve(0, soft_404_shop)
        crawl = make_crawl([web.url(0) + "/"], {"traps": {"soft_404": True}})
        crawl.run("crawl")
        page_of_none = crawl.why(web.url(0) + "/item19")
        assert (page_of_none["state"], page_of_none["reason"]) == ("aside", "soft-404")
        assert page_of_none["setting"] == "traps.soft_404"
        linked = crawl.why(web.url(0) + "/item19x")
        assert (linked["state"], linked["reason"]) == ("aside", "soft-404-link")
        assert linked["found"][1]["url"] == web.url(0) + "/item19"
        text = crawl.run("why", web.url(0) + "/item19x").stdout
        assert "the page says what its host says of missing pages" in text


def test_what_the_crawl_never_met(crawl: Crawl, site: Site) -> None:
    facts = crawl.why(site.url + "/never")
    assert (facts["known"], facts["state"], facts["reason"]) == (False, "unknown", "not-met")
    assert (facts["scope"], facts["found"], facts["visit"]) == ("wanted", [], None)
    assert "the scope would let it in" in crawl.run("why", site.url + "/never").stdout
    text = crawl.run("why", site.url + "/no/never").stdout
    assert "a link to it would not be followed: out of scope: matches scope.deny_prefixes" in text


@pytest.mark.parametrize(
    ("text", "reason", "words"),
    [
        ("mailto:me@example.com", "not-http", "not an http or https URL"),
        ("ftp://example.com/", "not-http", "not an http or https URL"),
        ("http://a b/", "not-a-url", "not a URL"),
        ("http://127.0.0.1/" + "y" * 300, "too-long", "longer than limits.max_url_length"),
    ],
)
def test_what_has_no_usable_form(crawl: Crawl, text: str, reason: str, words: str) -> None:
    facts = crawl.why(text)
    assert (facts["known"], facts["state"], facts["reason"]) == (False, "unknown", reason)
    assert f"{words}: such links are counted, and not kept" in crawl.run("why", text).stdout


def test_details_are_for_those_who_ask(crawl: Crawl, site: Site) -> None:
    url = site.url + "/a"
    assert "  linked from " not in crawl.run("why", url).stdout
    verbose = crawl.run("why", "--verbose", url).stdout
    assert f"  linked from {site.url}/\n" in verbose
    assert "robots.txt: allowed" in verbose
