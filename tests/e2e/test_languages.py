"""Languages in real crawls: what `scope.languages` lets in, and what is known of the others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page
from tests.parse.test_language import ENGLISH, GERMAN

FRENCH = "Le chat est assis sur le tapis et regarde par la fenêtre pendant que la pluie tombe sur le jardin. "


def written_in(language: str, text: str, link: str = "/") -> Reply:
    attribute = f' lang="{language}"' if language else ""
    return Reply(f'<!DOCTYPE html><html{attribute}><title>A</title><p>{text * 2}</p><a href="{link}">on</a>')


def listed(crawl: Crawl, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in crawl.run("list", "--json", *arguments).stdout.splitlines()]


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {
        "/": page("/de", "/bare", "/wrong", "/fr", "/en"),
        "/de": written_in("de-AT", GERMAN),
        "/bare": written_in("", GERMAN + "Eins. "),
        "/wrong": written_in("en", GERMAN + "Zwei. "),
        "/fr": written_in("fr", FRENCH),
        "/en": written_in("en", ENGLISH, "/behind"),
        "/behind": written_in("de", GERMAN + "Drei. "),
    }
    with Site(pages) as running:
        yield running


def test_only_pages_in_wanted_languages_are_stored_and_a_change_takes_back_what_it_wants(
    make_crawl: MakeCrawl, site: Site
) -> None:
    crawl = make_crawl([site.url + "/"], {"scope": {"languages": ["de"]}})
    crawl.run("crawl")
    found = {one["url"].rpartition("/")[2]: one for one in listed(crawl)}
    stored = {name: one["language"] for name, one in found.items() if one["state"] == "done"}
    assert stored == {"": None, "de": "de-at", "bare": "de", "wrong": "de", "behind": "de"}
    aside = {name: (one["reason"], one["setting"], one["detail"]) for name, one in found.items() if name not in stored}
    assert aside == {name: ("unwanted-language", "scope.languages", name) for name in ("fr", "en")}
    read = json.loads(crawl.run("get", "--json", site.url + "/wrong").stdout)
    assert (read["language"], read["declared_language"]) == ("de", "en")

    before = site.times()
    crawl.configure({"scope": {"languages": ["FR"]}})
    crawl.run("crawl")
    assert site.times() - before == {"/fr": 1}, "the others are known to be unwanted"
    assert [one["language"] for one in listed(crawl, "--language", "fr")] == ["fr"]
    crawl.run("forget", site.url + "/bare")
    stats = crawl.stats()
    assert stats["languages"] == {"de": 3, "fr": 1, "unknown": 1}, "what was stored stays"
    assert (stats["not_kept"]["unwanted-language"], stats["filtered"]["language"]) == (2, 2)
    crawl.verify()


def test_a_crawl_looks_at_texts_if_it_is_told_to(make_crawl: MakeCrawl, site: Site) -> None:
    crawl = make_crawl([site.url + "/"], {"content": {"detect_languages": True}})
    crawl.run("crawl")
    assert crawl.stats()["languages"] == {"de": 4, "en": 1, "fr": 1, "unknown": 1}
