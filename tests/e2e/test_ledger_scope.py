"""Settings that change between runs: what is denied now gets no request, and what is let in later is fetched then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings, pycrawl
from tests.e2e.site import Reply, Site, page

AMPLE = 40  # pages of each host
NOTHING_FETCHED = 5  # exit code
PROBES: Settings = {"traps": {"soft_404": True}, "recrawl": {"min_interval": 0}}


def with_probes(scope: dict[str, object]) -> Settings:
    return {**PROBES, "scope": scope}


@pytest.fixture
def two_hosts() -> Iterator[tuple[Site, Site]]:
    """Each links to all its pages and to the other."""
    with Site({}, "127.0.0.1") as main, Site({}, "127.0.0.2") as other:
        for site, neighbour in ((main, other), (other, main)):
            site.pages["/"] = page(*(f"/{number}" for number in range(AMPLE)), neighbour.url + "/")
            site.pages |= {f"/{number}": page("/", text=f"{site.url} {number}") for number in range(AMPLE)}
        yield main, other


NARROWINGS: dict[str, Callable[[Site, Site], dict[str, object]]] = {
    "deny_hosts": lambda main, other: {"deny_hosts": [f"127.0.0.2:{other.port}"]},
    "deny_hosts on any port": lambda main, other: {"deny_hosts": ["127.0.0.2"]},
    "allow_hosts": lambda main, other: {"allow_hosts": ["127.0.0.1"]},
    "deny_prefixes": lambda main, other: {"deny_prefixes": [other.url + "/"]},
    "allow_prefixes": lambda main, other: {"allow_prefixes": [main.url + "/"]},
    "deny_patterns": lambda main, other: {"deny_patterns": [r"//127\.0\.0\.2"]},
    "allow_patterns": lambda main, other: {"allow_patterns": [r"//127\.0\.0\.1"]},
    "follow_external": lambda main, other: {"follow_external": False},
}


@pytest.mark.parametrize("narrowing", NARROWINGS)
def test_what_is_denied_later_gets_no_request_and_taken_back_all_is_fetched(
    make_crawl: MakeCrawl, two_hosts: tuple[Site, Site], narrowing: str
) -> None:
    main, other = two_hosts
    crawl = make_crawl([main.url + "/"], PROBES)
    crawl.run("crawl", "--max-pages", "10")
    before = list(other.asked)
    assert 2 <= len(before) < AMPLE

    crawl.configure(with_probes(NARROWINGS[narrowing](main, other)))
    crawl.run("crawl")
    assert other.asked == before, "neither a page nor robots.txt nor a probe"
    assert set(main.times()) >= set(main.pages)
    crawl.run("crawl", "--recrawl")
    assert other.asked == before

    crawl.configure(PROBES)
    crawl.run("crawl")
    assert set(other.times()) >= set(other.pages)
    assert {path: count for path, count in other.times().items() if path in other.pages and count > 1} == {}
    crawl.verify()


def test_a_scheme_that_is_denied_later_gets_no_request(make_crawl: MakeCrawl, two_hosts: tuple[Site, Site]) -> None:
    main, other = two_hosts
    crawl = make_crawl([main.url + "/"], PROBES)
    crawl.run("crawl", "--max-pages", "10")
    before = len(main.asked) + len(other.asked)

    crawl.configure(with_probes({"schemes": ["https"]}))
    assert pycrawl("crawl", "-C", crawl.path).returncode in (0, NOTHING_FETCHED)
    assert pycrawl("crawl", "-C", crawl.path, "--recrawl").returncode in (0, NOTHING_FETCHED)
    assert len(main.asked) + len(other.asked) == before

    crawl.configure(PROBES)
    crawl.run("crawl")
    assert set(other.times()) >= set(other.pages)
    assert set(main.times()) >= set(main.pages)


def test_a_probe_keeps_to_the_scope(make_crawl: MakeCrawl) -> None:
    """A URL that cannot exist is asked for where pages may be asked for, and nowhere else."""
    paths = [f"/docs/{number}.html" for number in range(AMPLE)]
    with Site({path: page(*paths, text=path) for path in paths}) as site:
        crawl = make_crawl([site.url + paths[0]], with_probes({"allow_patterns": [r"/docs/\d+\.html$"]}))
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(paths, 1)


# Depth


def chain(length: int) -> dict[str, Reply]:
    return {f"/{number}": page(f"/{number + 1}", text=f"link {number}") for number in range(length)}


def test_max_depth_of_one_run_narrows_that_run_only(make_crawl: MakeCrawl) -> None:
    with Site(chain(6)) as site:
        crawl = make_crawl([site.url + "/0"])
        crawl.run("crawl", "--max-depth", "0")
        assert site.times() == {"/0": 1}
        crawl.run("crawl", "--max-depth", "2")
        assert site.times() == dict.fromkeys(["/0", "/1", "/2"], 1)
        crawl.run("crawl")
        assert site.times() == dict.fromkeys([*chain(6), "/6"], 1)


def tree(width: int) -> dict[str, Reply]:
    """Three levels below the seed."""
    pages = {"/": page(*(f"/{one}" for one in range(width)))}
    for one in range(width):
        pages[f"/{one}"] = page(*(f"/{one}/{two}" for two in range(width)), text=f"{one}")
        for two in range(width):
            pages[f"/{one}/{two}"] = page(f"/{one}/{two}/leaf", text=f"{one} {two}")
            pages[f"/{one}/{two}/leaf"] = page(text=f"{one} {two} leaf")
    return pages


@pytest.mark.parametrize("kind", ["option", "setting"])
def test_a_half_done_crawl_that_is_narrowed_to_a_depth(make_crawl: MakeCrawl, kind: str) -> None:
    with Site(tree(8)) as site:
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl", "--max-pages", "30")
        before = site.times()
        assert any(path.count("/") == 2 for path in before), "some of depth 2 were reached"

        if kind == "setting":
            crawl.configure({"crawl": {"max_depth": 1}})
        crawl.run("crawl", *(["--max-depth", "1"] if kind == "option" else []))
        assert all(path.count("/") == 1 for path in site.times() - before)
        assert {path for path in site.pages if path.count("/") == 1} <= set(site.times())

        crawl.configure({})
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(site.pages, 1)
        assert crawl.stats()["urls_queued"] == 0
        crawl.verify()


def test_a_depth_that_is_widened_later_fetches_no_referrer_again(make_crawl: MakeCrawl) -> None:
    with Site(chain(6)) as site:
        crawl = make_crawl([site.url + "/0"], {"crawl": {"max_depth": 2}})
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(["/0", "/1", "/2"], 1)
        crawl.configure({"crawl": {"max_depth": 4}})
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(["/0", "/1", "/2", "/3", "/4"], 1)


def test_a_depth_shrinks_when_a_page_on_the_way_becomes_a_seed(make_crawl: MakeCrawl) -> None:
    with Site(chain(9)) as site:
        crawl = make_crawl([site.url + "/0"], {"crawl": {"max_depth": 3}})
        crawl.run("crawl")
        assert max(site.times()) == "/3"
        crawl.run("add", site.url + "/2")
        crawl.run("crawl")
        assert site.times() == dict.fromkeys([f"/{number}" for number in range(6)], 1)
        assert crawl.why(site.url + "/5")["found"][0]["depth"] == 3


def test_a_depth_shrinks_when_a_shorter_way_is_found_late(make_crawl: MakeCrawl) -> None:
    """The page with the short way answers when the long one was gone long ago."""
    with Site({}, "127.0.0.2") as slow, Site({}) as site:
        slow.pages["/"] = Reply(page(site.url + "/3").body, seconds=1.5)
        site.pages |= {**chain(9), "/0": page("/1", slow.url + "/")}
        crawl = make_crawl([site.url + "/0"], {"crawl": {"max_depth": 4}})
        crawl.run("crawl")
        assert slow.times() == {"/": 1}
        assert site.times() == dict.fromkeys([f"/{number}" for number in range(6)], 1), "/3 is 2 links from the seed"
        assert crawl.why(site.url + "/5")["found"][0]["depth"] == 4


# Widened later


def test_links_to_other_hosts_are_kept_for_a_wider_scope(make_crawl: MakeCrawl, two_hosts: tuple[Site, Site]) -> None:
    main, other = two_hosts
    narrowings: list[dict[str, object]] = [{"follow_external": False}, {"allow_hosts": ["127.0.0.1"]}]
    for narrow in narrowings:
        main.asked.clear()
        other.asked.clear()
        crawl = make_crawl([main.url + "/"], {"scope": narrow})
        crawl.run("crawl")
        assert other.asked == []
        crawl.configure({})
        crawl.run("crawl")
        assert other.times() == dict.fromkeys(other.pages, 1)
        assert main.times() == dict.fromkeys(main.pages, 1), "no referrer again"


def test_a_host_that_becomes_a_seed_later_gives_what_was_linked_to_before(make_crawl: MakeCrawl) -> None:
    with Site({"/": page(), "/deep": page()}, "127.0.0.2") as other, Site({"/": page(other.url + "/deep")}) as main:
        crawl = make_crawl([main.url + "/"], {"scope": {"follow_external": False}})
        crawl.run("crawl")
        assert other.asked == []
        crawl.run("add", other.url + "/")
        crawl.run("crawl")
        assert other.times() == {"/": 1, "/deep": 1}
        assert main.times() == {"/": 1}


def test_a_content_type_that_is_let_in_later_is_fetched_then(make_crawl: MakeCrawl) -> None:
    pages = {"/": page("/data.json", "/x"), "/x": page(), "/data.json": Reply("{}", content_type="application/json")}
    with Site(pages) as site:
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl")
        assert site.url + "/data.json" not in crawl.documents_by_url()
        crawl.configure({"scope": {"content_types": ["text/html", "application/json"]}})
        crawl.run("crawl")
        assert site.times() == {"/": 1, "/x": 1, "/data.json": 2}
        assert crawl.documents_by_url() == Counter(site.url + path for path in pages)
        crawl.run("crawl")
        assert site.times()["/data.json"] == 2
        crawl.verify()


def test_a_redirect_to_what_is_denied_is_followed_when_it_is_let_in(
    make_crawl: MakeCrawl, two_hosts: tuple[Site, Site]
) -> None:
    main, other = two_hosts
    main.pages = {"/": page("/out"), "/out": Reply(status=301, headers={"Location": other.url + "/7"})}
    crawl = make_crawl([main.url + "/"], {"scope": {"deny_hosts": ["127.0.0.2"]}})
    crawl.run("crawl")
    assert other.asked == []
    crawl.configure({})
    crawl.run("crawl")
    assert "/7" in other.times()
    assert main.times() == {"/": 1, "/out": 1}


def test_private_addresses_that_are_allowed_later_are_fetched(make_crawl: MakeCrawl) -> None:
    with Site({"/": page("/a"), "/a": page()}) as site:
        crawl = make_crawl([site.url + "/"], {"security": {"allow_private_addresses": False}})
        assert pycrawl("crawl", "-C", crawl.path).returncode in (0, NOTHING_FETCHED)
        assert site.asked == []
        crawl.configure({})
        crawl.run("crawl")
        assert site.times() == {"/": 1, "/a": 1}


def test_a_crawl_that_fetched_nothing_says_so_and_names_the_setting(make_crawl: MakeCrawl) -> None:
    with Site({"/": page()}) as site:
        crawl = make_crawl([site.url + "/"], {"security": {"allow_private_addresses": False}})
        ended = crawl.run("crawl", exit_code=NOTHING_FETCHED)
        assert "security.allow_private_addresses = true" in ended.stdout + ended.stderr


def answer(crawl: Crawl, url: str) -> tuple[str, str]:
    told = crawl.why(url)
    return told["state"], told["reason"]


def test_why_names_the_page_and_the_setting_of_what_was_turned_away(
    make_crawl: MakeCrawl, two_hosts: tuple[Site, Site]
) -> None:
    main, other = two_hosts
    crawl = make_crawl([main.url + "/"], {"scope": {"allow_prefixes": [main.url + "/"]}})
    crawl.run("crawl")
    assert answer(crawl, other.url + "/") == ("aside", "prefix-not-allowed")
    assert answer(crawl, main.url + "/3") == ("done", "fetched")
    told = crawl.run("why", other.url + "/").stdout
    assert main.url + "/" in told
    assert "scope.allow_prefixes" in told
