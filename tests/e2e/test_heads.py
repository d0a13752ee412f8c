"""HEAD before GET: large pages of servers that give no validators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.site import Reply, Site, page
from tests.e2e.test_recrawl_policies import let_time_pass

PAGES = ("/1", "/2", "/3", "/4")
NIGHTS = 4
TRUE, LYING, REFUSING = ("127.0.0.2", "127.0.0.3", "127.0.0.4")


def large_page(name: str, night: int) -> Reply:
    words = " ".join(f"word{name[1:]}x{place}" for place in range(2_000))
    return page(text=f"{words} {'something else is said in it by now ' * night}")


def publish(sites: dict[str, Site], night: int) -> None:
    """In the last night the first page of each site is another one."""
    for address, site in sites.items():
        site.pages = {name: large_page(name, night // NIGHTS if name == "/1" else 0) for name in PAGES}
        site.pages |= {"/": page(*PAGES, "/small"), "/small": page(text="a small page")}
        for name in PAGES:
            if address == LYING:
                site.heads[name] = Reply("the same for all")
            elif address == REFUSING:
                site.heads[name] = Reply(status=405)
        site.asked.clear()
        site.asked_heads.clear()


@pytest.mark.parametrize("transport", ["curl", "urllib3"])
def test_heads_are_asked_for_where_they_tell_the_truth(transport: str, make_crawl: MakeCrawl) -> None:
    sites = {address: Site({}, address=address) for address in (TRUE, LYING, REFUSING)}
    for site in sites.values():
        site.__enter__()
    try:
        settings: dict[str, dict[str, object]] = {"crawl": {"transport": transport}, "recrawl": {"head_above": "10 KB"}}
        crawl = make_crawl([f"{site.url}/" for site in sites.values()], settings)
        publish(sites, 0)
        crawl.run("crawl")
        assert not any(site.asked_heads for site in sites.values()), "new pages are fetched"
        for night in range(1, NIGHTS + 1):
            let_time_pass(crawl)
            publish(sites, night)
            ended = crawl.run("crawl", "--recrawl")
            for address, site in sites.items():
                assert set(site.asked_heads) <= set(PAGES), "of large pages only"
                assert not site.asked_heads or address == TRUE or night == 1, "three HEADs have shown what they are"
                if address != TRUE or night == 1:
                    assert sorted(site.times()) == ["/", *PAGES, "/small"], "the pages themselves are fetched"
        site = sites[TRUE]
        assert sorted(site.asked_heads) == sorted(PAGES)
        assert "/1" in site.asked, "its HEAD has shown a change"
        assert site.times()["/1"] == 1
        assert len(site.asked) < len(PAGES) + 2, "some of the large pages were not fetched"
        assert "by HEAD)" in ended.stdout
        assert {crawl.documents_by_url()[f"{one.url}/1"] for one in sites.values()} == {2}
        known = {f"{site.url}{name}" for site in sites.values() for name in PAGES}
        told = [crawl.why(url)["recrawl"] for url in known]
        assert sum(one["changes_seen"] for one in told) == len(sites)
        assert "All is well" in crawl.run("verify", "--deep").stdout
        assert crawl.run("audit").returncode == 0
    finally:
        for site in sites.values():
            site.__exit__(None, None, None)


def test_no_head_is_asked_for_where_that_is_set(make_crawl: MakeCrawl) -> None:
    with Site({"/": large_page("/1", 0)}) as site:
        crawl = make_crawl([f"{site.url}/"], {"recrawl": {"head_above": 0}})
        crawl.run("crawl")
        let_time_pass(crawl)
        crawl.run("crawl", "--recrawl")
        site.pages["/"] = replace(site.pages["/"], headers={"ETag": '"a"'})
        assert site.asked_heads == []
        assert site.times()["/"] == 2
