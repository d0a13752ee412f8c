"""`stats`, `get`, `why` and `verify`, before and after a crawl."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.crawling import PROGRAM, Crawl
from tests.e2e.site import Reply, Site, page

FAILED = 1
NUMBER = (int, float)

# DESIGN: what `stats --json` has at least, with its types.
STATS_KEYS: dict[str, Any] = {
    **dict.fromkeys(
        (
            "pages_fetched", "pages_stored", "bytes_fetched", "bytes_stored", "urls_known", "urls_queued",
            "hosts_known", "hosts_named", "robots_denied", "duplicates_exact", "duplicates_near", "unchanged",
            "not_modified",
            "by_head",
        ),
        int,
    ),
    **dict.fromkeys(("errors", "filtered", "status", "not_kept", "urls_aside"), dict),
    "pages_per_second": NUMBER,
    "started_at": NUMBER,
    "last_crawl": (dict, type(None)),
}  # fmt: skip

HOME = page("/a", "/copy", "/missing", "/moved", "/secret/x", "mailto:someone@example.com")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {
        "/robots.txt": Reply("User-agent: *\nDisallow: /secret/\n", content_type="text/plain"),
        "/": HOME,
        "/a": page("/b", text="</DOC>"),
        "/b": page(),
        "/copy": page("/b", text="</DOC>"),
        "/moved": Reply(status=301, headers={"Location": "/b"}),
    }
    with Site(pages) as running:
        yield running


@pytest.fixture(scope="module")
def crawl(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    made = Crawl.make(tmp_path_factory.mktemp("readers") / "crawl", [site.url + "/"])
    made.run("crawl")
    return made


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    return Crawl.make(tmp_path_factory.mktemp("fresh") / "crawl", ["http://example.com/"])


def check_types(facts: dict[str, Any]) -> None:
    for key, kind in STATS_KEYS.items():
        assert isinstance(facts[key], kind), key
        assert not isinstance(facts[key], bool)
    for family in ("errors", "filtered", "status"):
        assert all(isinstance(count, int) for count in facts[family].values())


def test_stats_before_any_crawl(fresh: Crawl) -> None:
    facts = fresh.stats()
    check_types(facts)
    assert facts["last_crawl"] is None
    assert (facts["urls_known"], facts["urls_queued"], facts["hosts_known"]) == (1, 1, 1)
    assert abs(facts["started_at"] - time.time()) < 60
    assert "none yet" in fresh.run("stats").stdout


def test_stats_after_a_crawl(crawl: Crawl) -> None:
    facts = crawl.stats()
    check_types(facts)
    assert facts["pages_fetched"] == 4
    assert facts["pages_stored"] == 3
    assert facts["duplicates_exact"] == 1
    assert facts["robots_denied"] == 1
    assert facts["urls_known"] == 7
    assert facts["urls_queued"] == 0
    assert facts["hosts_known"] == 1
    assert facts["errors"] == {"http-4xx": 1}
    assert facts["filtered"] == {"not-http": 1}
    assert facts["status"] == {"200": 4, "301": 1, "404": 1}
    assert facts["bytes_stored"] == sum(path.stat().st_size for path in crawl.compound_files())
    assert facts["bytes_fetched"] > len(HOME.body)
    assert facts["pages_per_second"] > 0
    last = facts["last_crawl"]
    assert (last["pages"], last["ended_by"]) == (4, "finished")
    assert last["started_at"] <= last["ended_at"] <= time.time()


def test_stats_of_hosts_and_errors(crawl: Crawl, site: Site) -> None:
    facts = json.loads(crawl.run("stats", "--json", "--hosts", "--errors").stdout)
    assert facts["hosts"][0]["host"] == f"127.0.0.1:{site.port}"
    assert facts["hosts"][0]["pages"] == 4
    assert [(visit["url"], visit["outcome"]) for visit in facts["failed"]] == [(site.url + "/missing", "http-4xx")]
    text = crawl.run("stats", "--hosts", "--errors").stdout
    assert "4 fetched: 3 stored, 1 exact copy" in text
    assert "/missing  http-4xx 404" in text


def test_get_gives_the_bytes_that_were_served(crawl: Crawl, site: Site) -> None:
    assert crawl.run("get", site.url + "/").stdout == HOME.body
    assert crawl.run("get", site.url + "/#part").stdout == HOME.body
    for path in ("/a", "/copy"):
        assert crawl.run("get", site.url + path).stdout == site.pages["/a"].body


def test_get_with_headers(crawl: Crawl, site: Site) -> None:
    answer = crawl.run("get", "--headers", site.url + "/").stdout
    head, _, body = answer.partition("\n\n")
    assert head.startswith("HTTP/1.1 200 OK\n")
    assert f"Content-Length: {len(HOME.body)}" in head.split("\n")
    assert body == HOME.body


def test_get_of_what_is_read_off_a_page(tmp_path: Path) -> None:
    story = "The river rose by two metres in the night, and nobody could reach the old mill any more. " * 3
    markup = (
        "<html lang=de><title>Hoch&shy;wasser</title><nav><ul>"
        + "".join(f"<li><a href=/{number}>Other story {number}</a>" for number in range(20))
        + f"</ul></nav><article><h2>Flood</h2><p>{story}</p>"
        + f"<p>{story}<a href='/more?a&amp;b' rel=nofollow>M\u00fchle</a></p></article>"
    )
    reply = Reply(markup, content_type="text/html; charset=utf-8")
    with Site({"/": reply, "/plain": Reply("only text", content_type="text/plain")}) as site:
        made = Crawl.make(tmp_path / "crawl", [f"{site.url}/", f"{site.url}/plain"])
        made.run("crawl", "--max-pages", "2")
        assert made.run("get", "--content", f"{site.url}/").stdout == f"Flood\n{story.strip()}\n{story}M\u00fchle\n"
        assert "Other story 3" in made.run("get", "--text", f"{site.url}/").stdout
        assert made.run("get", "--content", f"{site.url}/plain").stdout == "only text\n"
        read = json.loads(made.run("get", "--json", f"{site.url}/").stdout)
        assert (read["title"], read["language"], read["charset"]) == ("Hochwasser", "de", "utf-8")
        assert len(read["links"]) == 21
        assert read["links"][-1] == {
            "url": f"{site.url}/more?a&b",
            "href": "/more?a&b",
            "anchor": "M\u00fchle",
            "nofollow": True,
            "rel": ["nofollow"],
            "place": "content",
        }
        refused = made.run("get", "--json", "--headers", f"{site.url}/", exit_code=2)
        assert "--headers" in refused.stderr


def test_get_of_what_is_not_there(crawl: Crawl, fresh: Crawl, site: Site) -> None:
    for where, url in (
        (crawl, site.url + "/missing"),
        (crawl, "http://unknown.example/"),
        (fresh, "http://example.com/"),
    ):
        refused = where.run("get", url, exit_code=FAILED)
        assert "no document is stored. `pycrawl why`" in refused.stderr
        assert refused.stdout == ""
    refused = crawl.run("get", "--at", "2001-01-01", site.url + "/", exit_code=FAILED)
    assert "no document from before that time" in refused.stderr


def test_why_of_a_page(crawl: Crawl, site: Site) -> None:
    facts = crawl.why(site.url + "/b")
    assert facts["known"] is True
    assert facts["scope"] == "wanted"
    assert facts["found"][0]["depth"] in (1, 2)  # by the redirect or by a link, whichever came first
    assert facts["found"][-1] | {"found_at": 0} == {"url": site.url + "/", "via": "seed", "depth": 0, "found_at": 0}
    assert facts["robots"]["allowed"] is True
    assert facts["queue"] is None
    assert (facts["visit"]["outcome"], facts["visit"]["status"]) == ("fetched", 200)
    assert facts["visit"]["document"]
    text = crawl.run("why", site.url + "/b").stdout
    assert "last visit" in text
    assert "stored: 1 version; `pycrawl get` prints the newest" in text


def test_why_a_page_was_not_stored(crawl: Crawl, site: Site) -> None:
    denied = crawl.why(site.url + "/secret/x")
    assert denied["visit"]["outcome"] == "robots-denied"
    assert (denied["robots"]["allowed"], denied["robots"]["line"]) == (False, "Disallow: /secret/")
    text = crawl.run("why", site.url + "/secret/x").stdout
    assert f"not allowed by line 2 of {site.url}/robots.txt: Disallow: /secret/" in text
    assert crawl.why(site.url + "/missing")["visit"]["status"] == 404
    assert crawl.why(site.url + "/moved")["visit"]["outcome"] == "redirect"
    unknown = crawl.why("http://unknown.example/")
    assert (unknown["known"], unknown["found"], unknown["visit"]) == (False, [], None)
    assert "unknown: the crawl never met it" in crawl.run("why", "http://unknown.example/").stdout


def test_verify(crawl: Crawl, fresh: Crawl) -> None:
    assert crawl.run("verify", "--deep").stdout.endswith("All is well.\n")
    for where in (crawl, fresh):
        facts = json.loads(where.run("verify", "--deep", "--json").stdout)
        assert facts["ok"] is True
        assert all(check["faults"] == [] for check in facts["checks"])


def test_output_into_a_closed_pipe_is_no_error_message(crawl: Crawl, site: Site) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "get", "-C", crawl.path, site.url + "/"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    assert process.stderr.read() == b""
    process.wait()
    process.stderr.close()
