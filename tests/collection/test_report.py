"""The report: its figures add up, nothing of the web gets out of its place, no secret gets in."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page

HOSTILE = "/a?<script>alert(1)</script>&x=\"'>"
RIGHTS = (
    '<!DOCTYPE html><html lang="pt-BR"><meta name="robots" content="noai, noimageai"><title>A page</title>'
    '<link rel="license" href="https://creativecommons.org/licenses/by-sa/4.0/"><p>words of a page'
)
SETTINGS: dict[str, dict[str, object]] = {
    "crawl": {"proxy": "none", "headers": {"Authorization": "Bearer geheim-1"}},
    "scope": {"deny_prefixes": ["/private"]},
    "recrawl": {"min_interval": 0},
    "traps": {"soft_404": False, "novelty": False},
    "store": {"file_size": 4_000},
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {
        "/": page("/one", "/two", "/copy", "/private/letter", "/missing", HOSTILE, text="a list of pages"),
        "/one": Reply(RIGHTS, headers={"X-Robots-Tag": "otherbot: noindex, noarchive"}),
        "/two": page(text="the second page"),
        "/copy": page(text="the second page"),
        "/robots.txt": Reply("User-agent: GPTBot\nDisallow: /\n", content_type="text/plain"),
    }
    with Site(pages) as running:
        yield running


@pytest.fixture(scope="module")
def crawl(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    made = Crawl.make(tmp_path_factory.mktemp("report") / "a <b>crawl", [site.url + "/"], {})
    made.directory.config_file.write_text(
        '[crawl]\nproxy = "none"\nfetchers = 1\nheaders = { Authorization = "Bearer geheim-1" }\n'
        '[scope]\ndeny_prefixes = ["/private"]\n[politeness]\ndelay = 0\n[security]\nallow_private_addresses = true\n'
        "[traps]\nsoft_404 = false\n[recrawl]\nmin_interval = 0\n"
        '[[host]]\nname = "other.example"\nheaders = { Cookie = "geheim-2" }\n[plugins.some]\nkey = "geheim-3"\n'
    )
    made.run("crawl")
    site.pages["/two"] = page(text="the second page, which has changed completely, as nobody had thought")
    made.run("crawl", "--recrawl")
    return made


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page(crawl: Crawl, site: Site, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    assert "report.html" in crawl.run("report", "-o", target).stdout
    written = target.read_text("utf-8")
    found = Tags()
    found.feed(written)
    assert not found.tags.keys() & {"script", "img", "iframe", "link", "a", "b>crawl"}
    assert not any(name.startswith("on") or name in ("src", "href") for name in found.attributes)
    assert not re.search(r"url\(|@import|https?://(?!127)", re.sub(r"creativecommons\S*", "", written))
    assert "geheim" not in written
    for words in ("a <b>crawl", "Pages over time", "rewritten", "CC BY-SA 4.0", "noai (1)", "gptbot", "deny_prefixes"):
        assert words in found.text
    assert f"{site.url}/missing" in found.text
    assert f"{site.url}/private/letter" in found.text
    assert not list(tmp_path.glob(".report*"))
    (tmp_path / "other").touch()
    assert target.stat().st_mode == (tmp_path / "other").stat().st_mode
    crawl.run("report", "-o", target)


def test_the_figures(crawl: Crawl) -> None:
    facts = json.loads(crawl.run("report", "--json").stdout)
    stats = crawl.stats()
    assert {name: facts["totals"][name] for name in ("pages_fetched", "pages_stored", "changed", "status")} == {
        name: stats[name] for name in ("pages_fetched", "pages_stored", "changed", "status")
    }
    (documents,) = crawl.query("SELECT count(*) FROM documents")[0]
    for parts in ("types", "charsets", "hosts"):
        assert sum(row["documents"] for row in facts[parts]) == documents
    assert sum(facts["time"]["counts"]) == sum(facts["depths"].values()) == documents
    assert facts["languages"] == {"not known": facts["rights"]["read"] - 2, "pt": 1, "en": 1}
    assert facts["rights"]["x_robots_tag"] == {"noarchive": 1, "noindex": 1}
    assert facts["rights"]["licences"] == {"CC BY-SA 4.0": 1}
    assert facts["rights"]["robots_with_ai_rules"] == 1
    assert facts["politeness"]["early"] == 0
    assert {row["reason"]: row["urls"] for row in facts["aside"]} == {"prefix-denied": 1}
    assert facts["settings"]["crawl.headers"] == {"Authorization": "…"}
    assert "geheim" not in json.dumps(facts)


def test_nothing_is_there_yet(tmp_path: Path) -> None:
    crawl = Crawl.make(tmp_path / "new", ["http://127.0.0.1/"], {})
    crawl.run("report", "-o", tmp_path / "report.html")
    assert json.loads(crawl.run("report", "--json").stdout)["time"] is None


def test_where_it_cannot_be_written(crawl: Crawl, tmp_path: Path) -> None:
    other = tmp_path / "precious.html"
    other.write_text("mine")
    assert "is not overwritten" in crawl.run("report", "-o", other, exit_code=2).stderr
    assert other.read_text() == "mine"
    assert "found a folder" in crawl.run("report", "-o", tmp_path, exit_code=2).stderr
    assert "no folder" in crawl.run("report", "-o", tmp_path / "none" / "report.html", exit_code=2).stderr
    assert "nowhere to write to" in crawl.run("report", exit_code=2).stderr
