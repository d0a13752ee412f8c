"""`pycrawl dups`: what people and programs are told."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl, pycrawl
from tests.e2e.site import Reply, Site, page
from tests.near_texts import edited, make_text

WRONG_USAGE = 2
FAILED = 1
DICE = random.Random(1)
TEXT = make_text(DICE, 300)
NEAR = edited(DICE, TEXT, 0.95)
QUOTED = " ".join(TEXT.split()[60:210])
SHUFFLED = " ".join(sorted(TEXT.split()))


def article(text: str) -> Reply:
    return Reply(f"<!DOCTYPE html><title>An article</title><article><p>{text}</p></article>")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    pages = {
        "/": page("/a", "/near", "/copy", "/other", "/quoting", "/shuffled"),
        "/a": article(TEXT),
        "/near": article(NEAR),
        "/copy": article(TEXT),
        "/other": article(make_text(DICE, 300)),
        "/quoting": article(f"{make_text(DICE, 250)} {QUOTED} {make_text(DICE, 250)}"),
        "/shuffled": article(SHUFFLED),
    }
    with Site(pages) as running:
        yield running


@pytest.fixture(scope="module")
def crawl(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    settings: dict[str, dict[str, object]] = {
        "content": {"near_duplicates": True},
        "traps": {"novelty": False, "soft_404": False},
    }
    made = Crawl.make(tmp_path_factory.mktemp("dups") / "crawl", [site.url + "/"], settings)
    made.run("crawl")
    return made


def test_of_a_url(crawl: Crawl, site: Site) -> None:
    near, *_ = crawl.run("dups", f"{site.url}/near").stdout.split("\n\n")
    lines = near.splitlines()
    assert lines[0].split() == ["true", "estimate"]
    assert {line.split()[2] for line in lines[1:]} == {f"{site.url}/a", f"{site.url}/copy"}
    assert sum("same bytes as document" in line for line in lines) == 1
    assert all(0.85 < float(line.split()[0]) < 1 for line in lines[1:])


def test_shared_passages_and_the_same_words(crawl: Crawl, site: Site) -> None:
    _, passages, words = crawl.run("dups", f"{site.url}/a").stdout.split("\n\n")
    title, head, row = passages.splitlines()
    assert (title, head.split()) == ("Shares passages:", ["shared", "of", "asked", "of", "it"])
    shared, of_asked, of_it, url = row.split()
    assert url == f"{site.url}/quoting"
    assert int(shared) == 150 - 3
    assert float(of_asked) == pytest.approx(147 / 297, abs=0.001)
    assert float(of_it) == pytest.approx(147 / 647, abs=0.001)
    assert [line.split() for line in words.splitlines()] == [
        "Same words in another order:".split(),
        ["bits", "words"],
        ["0", "1.000", f"{site.url}/shuffled"],
    ]


def test_shared_passages_for_programs(crawl: Crawl, site: Site) -> None:
    facts = json.loads(crawl.run("dups", "--json", f"{site.url}/quoting").stdout)
    assert facts["found"] == facts["same_words"] == []
    assert (facts["share"], facts["may_share_passages"]) == (0.1, 0)
    found = {one["url"]: one for one in facts["shares_passages"]}
    assert set(found) == {f"{site.url}/{name}" for name in ("a", "copy", "near")}
    assert found[f"{site.url}/a"]["shared_shingles"] == 147
    assert found[f"{site.url}/a"]["share_of_it"] == pytest.approx(147 / 297)
    copies = [one["exact_copy_of"] for one in facts["shares_passages"]]
    assert sorted(one is None for one in copies) == [False, True, True]
    facts = json.loads(crawl.run("dups", "--json", "--share", "0.6", f"{site.url}/quoting").stdout)
    assert facts["shares_passages"] == []


def test_of_a_url_without_any(crawl: Crawl, site: Site) -> None:
    assert "nothing in the collection resembles it" in crawl.run("dups", f"{site.url}/other").stdout


@pytest.mark.parametrize("as_html", [False, True])
def test_of_a_file(crawl: Crawl, site: Site, tmp_path: Path, as_html: bool) -> None:
    file = tmp_path / "draft"
    file.write_text(article(NEAR).body if as_html else NEAR)
    facts = json.loads(crawl.run("dups", "--json", file).stdout)
    assert facts["document"] == str(file)
    assert {one["url"]: one["true"] for one in facts["found"]}[f"{site.url}/near"] == 1.0
    assert len(facts["found"]) == 3


def test_of_standard_input(crawl: Crawl, site: Site) -> None:
    done = pycrawl("dups", "-C", crawl.path, "--json", "-", input=TEXT)
    found = json.loads(done.stdout)["found"]
    assert [one["true"] for one in found] == [1.0, 1.0, pytest.approx(0.95, abs=0.04)]
    assert found[0]["exact_copy_of"] is None
    assert found[1]["exact_copy_of"] == found[0]["document"]


def test_of_all(crawl: Crawl, site: Site) -> None:
    done = crawl.run("dups", "--all")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"3 documents: {site.url}/")
    assert lines[-1] == "1 cluster in 7 documents: 1 exact copy, 1 near-duplicate at 0.9"
    assert done.stderr == "", "the progress bar is for terminals"
    facts = json.loads(crawl.run("dups", "--all", "--json").stdout)
    (cluster,) = facts["clusters"]
    assert cluster["size"] == 3
    assert cluster["representative"] == cluster["members"][0]["url"]
    assert [member["exact"] for member in cluster["members"]].count(True) == 1
    assert facts["duplicates_near"] == crawl.stats()["duplicates_near"] == 1


def test_the_threshold_can_be_chosen(crawl: Crawl) -> None:
    assert "0 near-duplicates at 1" in crawl.run("dups", "--all", "--threshold", "1").stdout
    assert crawl.run("dups", "--all", "--threshold", "0.2", exit_code=WRONG_USAGE).stderr


@pytest.mark.parametrize("arguments", [[], ["--all", "http://example.com/"]])
def test_wrong_usage(crawl: Crawl, arguments: list[str]) -> None:
    assert "expected one of: " in crawl.run("dups", *arguments, exit_code=WRONG_USAGE).stderr


def test_what_is_not_there(crawl: Crawl) -> None:
    assert "no document" in crawl.run("dups", "http://example.com/", exit_code=FAILED).stderr
    assert "neither a file nor" in crawl.run("dups", "mailto:x@example.com", exit_code=WRONG_USAGE).stderr


def test_without_fingerprints_nothing_is_claimed(site: Site, tmp_path: Path) -> None:
    made = Crawl.make(tmp_path / "crawl", [f"{site.url}/a"], {"content": {"near_duplicates": False}})
    made.run("crawl")
    for arguments in (["--all"], [f"{site.url}/a"]):
        assert "content.near_duplicates" in made.run("dups", *arguments, exit_code=FAILED).stderr


def test_it_is_told_by_stats_and_why(crawl: Crawl, site: Site) -> None:
    assert "near-duplicates among the stored: 1 " in crawl.run("stats").stdout
    told = [crawl.run("why", f"{site.url}/{name}").stdout for name in ("a", "near", "copy")]
    assert sum("an exact copy of" in text for text in told) == 1
    assert sum("a near-duplicate of" in text for text in told) == 1
