"""Pages with the same bytes, and pages that are not kept: their links are known, and followed where they lead on."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Settings
from tests.e2e.site import Reply, Site, page

COPIED = page("page1.html", text="the same in both directories")
WITH_PROBES: Settings = {"traps": {"soft_404": True}}


@pytest.mark.parametrize("order", [("/a/", "/b/", "/hub"), ("/hub", "/a/", "/b/"), ("/a/", "/hub", "/b/")])
def test_a_page_that_a_copy_names_and_a_hub_too_is_fetched(make_crawl: MakeCrawl, order: tuple[str, ...]) -> None:
    pages = {
        "/": page(*order),
        "/a/": COPIED,
        "/b/": COPIED,
        "/hub": page("/b/page1.html", text="hub"),
        "/a/page1.html": page(text="one"),
        "/b/page1.html": page(text="another"),
    }
    with Site(pages) as site:
        crawl = make_crawl([site.url + "/"])
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(pages, 1)
        assert crawl.stats()["duplicates_exact"] == 1
        crawl.verify()


@pytest.mark.parametrize("fetchers", [1, 2])
def test_the_links_of_an_exact_copy_on_the_same_host_are_followed(make_crawl: MakeCrawl, fetchers: int) -> None:
    """A manual in several languages: each has the page that was not translated, which leads to pages that were."""
    languages = [f"/{code}/" for code in "de en es fr ja ko tr".split()]
    pages = {"/": page(*(language + "untranslated.html" for language in languages))}
    for language in languages:
        pages[language + "untranslated.html"] = page("translated.html", "also.html", text="in English")
        pages[language + "translated.html"] = page("further/", text=language)
        pages[language + "also.html"] = page("translated.html", text="in English too")
        pages[language + "further/"] = page(text=f"more {language}")
    with Site(pages) as site:
        crawl = make_crawl([site.url + "/"], {"crawl": {"fetchers": fetchers}})
        crawl.run("crawl")
        assert site.times() == dict.fromkeys(pages, 1)
        assert crawl.stats()["duplicates_exact"] == 2 * (len(languages) - 1)
        crawl.verify()


def test_a_tree_of_one_page_without_end_is_left(make_crawl: MakeCrawl) -> None:
    """Each page has the same bytes and links to the next below it: that is for the judge of traps to end."""

    class Endless(dict[str, Reply]):
        def get(self, path: str, default: Reply | None = None) -> Reply:  # type: ignore[override]  # narrower
            if path == "/robots.txt":
                return Reply(status=404)
            return page("deeper/", "../side/deeper/", text="always the same")

    with Site({}) as site:
        site.pages = Endless()
        crawl = make_crawl(
            [site.url + "/"], {"traps": {"max_path_segments": 0, "max_repeated_segments": 0, "soft_404": False}}
        )
        crawl.run("crawl", "--max-pages", "2000")
        assert len(site.asked) < 1000


NO_SUCH_ITEM = (
    "The item that you are looking for is not sold here any more, but have a look at what else there is. " * 3
)


def test_what_only_a_soft_404_named_is_fetched_when_another_page_names_it(make_crawl: MakeCrawl) -> None:
    """A fetcher sends a URL's text once: it came with a page that was not kept."""

    class Shop(dict[str, Reply]):
        """A page that it does not have is answered as if it had it."""

        def get(self, path: str, default: Reply | None = None) -> Reply:  # type: ignore[override]  # narrower
            if path == "/robots.txt":
                return Reply(status=404)
            return super().get(path) or page("/offer", text=NO_SUCH_ITEM)

    words = json.dumps([f"word{number}" for number in range(80)])
    first = [f"/item{number}" for number in range(12)]
    sold = [f"/sold{number}" for number in range(6)]
    with Site({}) as site:
        pages = {path: page(text=f"{path} {words.replace('word', path)}") for path in first}
        pages["/"] = page(*first, text="the shop")
        pages["/item11"] = page(*sold, "/last1", text="when the host has been probed")
        pages["/last1"] = page("/last2", text="on")
        pages["/last2"] = page("/last3", text="and on")
        pages["/last3"] = page("/offer", text=f"in the end {words}")
        pages["/offer"] = page(text=f"an offer {words.replace('word', 'offer')}")
        site.pages = Shop(pages)
        crawl = make_crawl([site.url + "/"], WITH_PROBES)
        crawl.run("crawl")
        assert crawl.stats()["soft_404"] >= 1
        assert site.times()["/offer"] == 1
        assert crawl.bodies([site.url + "/offer"])
