"""`pycrawl robots`: what the crawl has read of robots.txt, without asking for it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page

USAGE, NO_PAGE = 2, 5
TEXT = """\
User-agent: *
Disallow: /

User-agent: pycrawl
Crawl-delay: 0.01
Disallow: /secret/
Allow: /secret/open
Sitemap: http://127.0.0.1/sitemap.xml
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({"/robots.txt": Reply(TEXT, content_type="text/plain"), "/": page("/secret/x")}) as running:
        yield running


@pytest.fixture(scope="module")
def crawl(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    made = Crawl.make(tmp_path_factory.mktemp("robots") / "crawl", [site.url + "/"])
    made.run("crawl")
    return made


def robots(crawl: Crawl, url: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(crawl.run("robots", "--json", url).stdout)
    return facts


@pytest.mark.parametrize(
    ("path", "allowed", "line"),
    [
        ("/", True, ""),
        ("/other", True, ""),
        ("/secret/x", False, "Disallow: /secret/"),
        ("/secret/open/y", True, "Allow: /secret/open"),
        ("/robots.txt", True, ""),
    ],
)
def test_a_verdict_and_its_line(crawl: Crawl, site: Site, path: str, allowed: bool, line: str) -> None:
    facts = robots(crawl, site.url + path)
    assert (facts["allowed"], facts["line"], facts["status"], facts["known"]) == (allowed, line, 200, True)
    assert facts["robots_url"] == site.url + "/robots.txt"
    if line:
        number = TEXT.splitlines().index(line) + 1
        assert facts["line_number"] == number
        word = "allowed" if allowed else "not allowed"
        shown = crawl.run("robots", site.url + path).stdout
        assert f"  {word} by line {number} of {site.url}/robots.txt: {line}\n" in shown


def test_what_else_it_says(crawl: Crawl, site: Site) -> None:
    facts = robots(crawl, site.url + "/")
    assert (facts["crawl_delay"], facts["sitemaps"]) == (0.01, ["http://127.0.0.1/sitemap.xml"])
    assert time.time() - 60 < facts["fetched_at"] < time.time() < facts["asked_again_at"]
    shown = crawl.run("robots", site.url + "/").stdout
    assert "sitemap: http://127.0.0.1/sitemap.xml" in shown
    assert "status 200, fetched 20" in shown
    assert "asks for it again with the first page of this host after 20" in shown
    assert "allowed: no line of" in shown


def test_nobody_is_asked(crawl: Crawl, site: Site) -> None:
    before = list(site.asked)
    shown = crawl.run("robots", "http://127.0.0.1:1/x").stdout
    assert "not known yet: http://127.0.0.1:1/robots.txt was not asked for" in shown
    facts = robots(crawl, "http://127.0.0.1:1/x")
    assert (facts["known"], facts["allowed"], facts["fetched_at"]) == (False, None, None)
    robots(crawl, site.url + "/")
    assert site.asked == before


def test_a_host_without_one(tmp_path: Path) -> None:
    with Site({"/": page()}) as site:
        crawl = Crawl.make(tmp_path / "crawl", [site.url + "/"])
        crawl.run("crawl")
        shown = crawl.run("robots", site.url + "/").stdout
        assert f"allowed: there is no {site.url}/robots.txt (status 404)" in shown


def test_one_that_cannot_be_read(tmp_path: Path) -> None:
    with Site({"/robots.txt": Reply(status=500), "/": page()}) as site:
        crawl = Crawl.make(tmp_path / "crawl", [site.url + "/"])
        crawl.run("crawl", "--max-time", "3s", exit_code=NO_PAGE)
        facts = robots(crawl, site.url + "/")
        assert (facts["allowed"], facts["known"]) == (False, False)
        assert facts["unreachable_since"] <= facts["asked_again_at"]
        shown = crawl.run("robots", site.url + "/").stdout
        assert facts["unreachable_detail"] == "robots-unreachable: status 500"
        assert f"not allowed yet: {site.url}/robots.txt is unreachable since 20" in shown
        assert "(robots-unreachable: status 500); it is asked for again at 20" in shown
        assert site.times() == {}


def test_where_it_is_not_obeyed(tmp_path: Path) -> None:
    crawl = Crawl.make(tmp_path / "crawl", ["http://example.com/"], {"politeness": {"obey_robots": False}})
    assert "politeness.obey_robots is false" in crawl.run("robots", "example.com").stdout


def test_what_is_no_url(crawl: Crawl) -> None:
    assert "not an http or https URL" in crawl.run("robots", "mailto:a@b.example", exit_code=USAGE).stderr
