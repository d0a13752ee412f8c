"""Links with their texts: what is kept of them, shown, exported, replaced and forgotten."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pycrawl import Collection
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import ANCHOR_TEXTS
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.site import Reply, Site
from tests.near_texts import make_text

SETTINGS: Settings = {
    "traps": {"novelty": False, "soft_404": False},
    "recrawl": {"min_interval": 0},
}
MENU = "".join(f'<li><a href="/m{number}">Menu {number}</a>' for number in range(12))


def page(text: str, head: str = "") -> Reply:
    story = make_text(random.Random(len(text)), 150)
    return Reply(
        f"<!DOCTYPE html><title>A page</title>{head}<nav><ul>{MENU}<li><a href='/b'>To b</a></ul></nav>"
        f"<article><p>{story}</p><p>{text} {story}</p></article>\n"
    )


@pytest.fixture
def site() -> Iterator[Site]:
    pages = {
        "/": page('<a href="/a">The page a</a>, <a href="/b" rel="ugc nofollow">rated \x1b[31mb\u202e</a>'),
        "/a": page('<a href="/b#part">quokkabefore</a> and <a href="/b"><img src=x></a> and <a href="/gone">gone</a>'),
        "/b": page('<a href="/hidden">secretive</a>'),
        "/hidden": page('<a href="/b">narwhalunseen</a>', '<meta name="robots" content="noindex">'),
        "/gone": Reply(status=301, headers={"Location": "/b"}),
    }
    with Site(pages) as site:
        yield site


@pytest.fixture
def crawl(site: Site, tmp_path: Path) -> Crawl:
    made = Crawl.make(tmp_path / "crawl", [site.url + "/"], SETTINGS)
    made.run("crawl")
    made.verify()
    return made


def links(crawl: Crawl, *arguments: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in crawl.run("links", "--json", *arguments).stdout.splitlines()]


def short(crawl: Crawl, site: Site, *arguments: str) -> list[tuple[str, str, str]]:
    return [(one["url"].removeprefix(site.url), one["anchor"], one["place"]) for one in links(crawl, *arguments)]


IN_OF_B = [
    ("/", "To b", "frame"),
    ("/", "rated \x1b[31mb\u202e", "content"),
    ("/a", "To b", "frame"),
    ("/a", "quokkabefore", "content"),
    ("/a", "", "content"),
    ("/gone", "", ""),
    ("/hidden", "To b", "frame"),
    ("/hidden", "narwhalunseen", "content"),
]


def test_links_of_a_page(crawl: Crawl, site: Site) -> None:
    assert sorted(short(crawl, site, "--in", site.url + "/b")) == sorted(IN_OF_B)
    menu = [(f"/m{number}", f"Menu {number}", "frame") for number in range(12)]
    assert short(crawl, site, "--out", site.url + "/a") == [
        *menu,
        ("/b", "To b", "frame"),
        ("/b", "quokkabefore", "content"),
        ("/b", "", "content"),
        ("/gone", "gone", "content"),
    ]
    (rated,) = [one for one in links(crawl, "--out", site.url + "/") if "rated" in one["anchor"]]
    assert (rated["rel"], rated["nofollow"], rated["via"], rated["direction"]) == (
        ["nofollow", "ugc"],
        True,
        "link",
        "out",
    )
    (lead,) = links(crawl, "--out", site.url + "/gone")
    assert (lead["url"], lead["via"]) == (site.url + "/b", "redirect")
    both = links(crawl, site.url + "/b")
    assert {one["direction"] for one in both} == {"in", "out"}


def test_it_is_shown_to_people(crawl: Crawl, site: Site) -> None:
    shown = crawl.run("links", site.url + "/b").stdout
    assert "links to:" in shown
    assert f"{site.url}/a  quokkabefore\n" in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "none" in crawl.run("links", "--in", site.url + "/").stdout
    why = crawl.run("why", site.url + "/b").stdout
    assert "4 pages link or lead to it" in why
    facts = crawl.why(site.url + "/b")
    assert facts["referrers"] == 4
    assert {one.removeprefix(site.url) for one in facts["linked_from"]} == {"/", "/a", "/gone", "/hidden"}


def test_exports_and_python_have_them(crawl: Crawl, site: Site, tmp_path: Path) -> None:
    target = tmp_path / "pages.jsonl"
    crawl.run("export", "--format", "jsonl", "--fields", "url,in_links", "-o", target)
    rows = {row["url"]: row["in_links"] for row in map(json.loads, target.read_text("utf-8").splitlines())}
    expected = [{key: one[key] for key in one if key != "direction"} for one in links(crawl, "--in", site.url + "/b")]
    assert rows[site.url + "/b"] == expected
    assert rows[site.url + "/"] == []
    with Collection(crawl.path) as collection:
        assert [one._asdict() for one in collection[site.url + "/b"].in_links] == expected
        assert [one._asdict() for one in collection.links.into(site.url + "/b")] == expected


def test_a_new_version_replaces_them(crawl: Crawl, site: Site) -> None:
    site.pages["/a"] = page('<a href="/b">wombatafter</a>')
    crawl.run("crawl", "--recrawl")
    crawl.verify()
    found = [anchor for url, anchor, _ in short(crawl, site, "--in", site.url + "/b") if url == "/a"]
    assert found == ["To b", "wombatafter"]
    assert short(crawl, site, "--in", site.url + "/gone") == []  # its old version had the only link
    crawl.run("compact")
    crawl.verify()
    assert traces_of_state(crawl, "quokkabefore") == []
    assert traces_of_state(crawl, "wombatafter") != []


def traces_of_state(crawl: Crawl, word: str) -> list[str]:
    """Where a word stands in the state: files, as far as they are not packed, and texts in the store of links."""
    with Collection(crawl.path) as collection:
        texts = [text for _, text in ValueRuns(collection.database, ANCHOR_TEXTS, with_filters=False).items()]
    plain = [one.name for one in crawl.path.glob("state.db*") if word.encode() in one.read_bytes()]
    return plain + [text.decode() for text in texts if word.encode() in text]


def test_forgotten_with_their_page(crawl: Crawl, site: Site) -> None:
    assert traces_of_state(crawl, "quokkabefore")
    crawl.run("forget", site.url + "/a")
    crawl.verify()
    assert traces_of_state(crawl, "quokkabefore") == []
    assert sorted(short(crawl, site, "--in", site.url + "/b")) == sorted(one for one in IN_OF_B if one[0] != "/a")
    assert [one for one in short(crawl, site, "--out", site.url + "/") if "page a" in one[1]] == []


def test_switched_off_and_on(site: Site, tmp_path: Path) -> None:
    off: Settings = {**SETTINGS, "content": {"anchors": False}}
    crawl = Crawl.make(tmp_path / "crawl", [site.url + "/"], off)
    crawl.run("crawl")
    crawl.verify()
    assert traces_of_state(crawl, "quokkabefore") == []
    # Texts are read off the records; the page that is not stored has none.
    read = [one for one in IN_OF_B if one[0] != "/hidden"] + [("/hidden", "", "")]
    assert sorted(short(crawl, site, "--in", site.url + "/b")) == sorted(read)
    crawl.configure(SETTINGS)
    crawl.run("crawl", "--recrawl")
    crawl.verify()
    assert sorted(short(crawl, site, "--in", site.url + "/b")) == sorted(IN_OF_B)
    crawl.configure(off)
    crawl.run("crawl", "--recrawl")
    crawl.verify()
    assert sorted(short(crawl, site, "--in", site.url + "/b")) == sorted(read)


def test_of_what_is_not_known(crawl: Crawl, site: Site) -> None:
    for options in ((), ("--in",), ("--json",)):
        refused = crawl.run("links", *options, site.url + "/never", exit_code=1)
        assert "/never: the crawl does not know this URL" in refused.stderr
        assert refused.stdout == ""
