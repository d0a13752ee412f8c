"""A web with known copies, a mirror and families of near-duplicates: what the crawl finds, and `dups --all` too."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from tests.e2e.crawling import Crawl, Settings
from tests.e2e.site import Reply, Site, page
from tests.near_texts import Family, jaccard, make_family, make_text, shingle_set

FAMILIES = 50
SIMILARITIES = (0.97, 0.94, 0.92, 0.91, 0.86, 0.75, 0.55)
EXACT = 30
MIRRORED = 15
THRESHOLD = 0.9
LEAST_RECALL = 0.97
FAR = 0.6
MOST_FAR = 0.02  # of the joins

# What is judged here is content; pages of one kind must all be asked for, however alike they are.
SETTINGS: Settings = {
    "content": {"near_duplicates": True},
    "traps": {"novelty": False, "soft_404": False},
}


def article(text: str, links: tuple[str, ...] = (), frame: str = "") -> Reply:
    """A page with a frame around its text."""
    sentences = text.split(". ")
    paragraphs = [". ".join(sentences[begin : begin + 4]) for begin in range(0, len(sentences), 4)]
    body = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    menu = "".join(f'<li><a href="{link}">a link</a></li>' for link in links)
    return Reply(
        f"<!DOCTYPE html><title>{frame}</title><body><nav><ul>{menu}</ul>{frame}</nav><article>{body}</article>"
        f"<footer>{frame}</footer>"
    )


class Web:
    """A hub that links to everything, a site of articles, and a mirror of some of them in another frame."""

    def __init__(self) -> None:
        dice = random.Random(4)
        self.families = [make_family(dice, dice.randrange(150, 900), SIMILARITIES) for _ in range(FAMILIES)]
        self.texts: dict[str, str] = {}  # by path, on the site of articles
        for number, family in enumerate(self.families):
            self.texts |= {f"/family/{number}-{place}": text for place, text in enumerate(family.texts)}
        self.mirrored = {f"/news/{number}": make_text(dice, 300) for number in range(MIRRORED)}
        pages = {path: article(text) for path, text in (self.texts | self.mirrored).items()}
        self.originals = [f"/copied/{number}" for number in range(EXACT)]
        self.copies = [f"/copy/{number}" for number in range(EXACT)]
        for original, copy in zip(self.originals, self.copies, strict=True):
            pages[original] = pages[copy] = article(make_text(dice, 200), (f"only-by-link{original}",))
            pages[f"/copied/only-by-link{original}"] = article(make_text(dice, 50))
            pages[f"/copy/only-by-link{original}"] = article(make_text(dice, 50))
        self.articles = Site(pages, "127.0.0.1")
        self.mirror = Site(
            {path: article(text, frame="The mirror of everything") for path, text in self.mirrored.items()}, "127.0.0.2"
        )
        order = list(self.texts)
        dice.shuffle(order)
        links = [self.articles.url + path for path in [*order, *self.mirrored, *self.originals, *self.copies]]
        links += [self.mirror.url + path for path in self.mirrored]
        self.hub = Site({"/": page(*links)}, "127.0.0.3")


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    made = Web()
    with made.articles, made.mirror, made.hub:
        yield made


@pytest.fixture(scope="module")
def crawl(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    made = Crawl.make(tmp_path_factory.mktemp("duplicates") / "crawl", [web.hub.url + "/"], SETTINGS)
    made.run("crawl")
    return made


@pytest.fixture(scope="module")
def found(crawl: Crawl) -> dict[str, Any]:
    return dups(crawl, "--all")


def dups(crawl: Crawl, *arguments: str) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(crawl.run("dups", "--json", *arguments).stdout)
    return facts


def cluster_of(found: dict[str, Any]) -> dict[str, int]:
    """The number of its cluster, by URL."""
    return {member["url"]: number for number, one in enumerate(found["clusters"]) for member in one["members"]}


def test_all_exact_copies_are_found(web: Web, crawl: Crawl, found: dict[str, Any]) -> None:
    facts = crawl.stats()
    assert facts["duplicates_exact"] == found["duplicates_exact"] == EXACT
    exact = {member["url"] for one in found["clusters"] for member in one["members"] if member["exact"]}
    clusters = cluster_of(found)
    for original, copy in zip(web.originals, web.copies, strict=True):
        pair = {web.articles.url + original, web.articles.url + copy}
        assert len(pair & exact) == 1
        assert len({clusters[url] for url in pair}) == 1


def test_the_links_of_an_exact_copy_are_followed(web: Web, found: dict[str, Any]) -> None:
    """Resolved against another directory, its relative links are other pages than the original's."""
    asked = web.articles.times()
    for original in web.originals:
        assert [asked[f"/{kind}/only-by-link{original}"] for kind in ("copied", "copy")] == [1, 1]


def test_near_duplicates_are_found_and_others_are_not(web: Web, found: dict[str, Any]) -> None:
    clusters = cluster_of(found)

    def place(number: int, member: int) -> int | None:
        return clusters.get(f"{web.articles.url}/family/{number}-{member}")

    near = joined_near = 0
    for number, family in enumerate(web.families):
        for one, other, true in family.pairs():
            is_joined = place(number, one) is not None and place(number, one) == place(number, other)
            if true >= THRESHOLD:
                near += 1
                joined_near += is_joined
    assert near > 3 * FAMILIES
    assert joined_near >= LEAST_RECALL * near

    joined = [
        jaccard(shingle_set(web.texts[one]), shingle_set(web.texts[other]))
        for cluster in found["clusters"]
        for one, other in combinations(family_paths(web, cluster), 2)
    ]
    assert sum(true < FAR for true in joined) <= MOST_FAR * len(joined)


def family_paths(web: Web, cluster: dict[str, Any]) -> list[str]:
    paths = [member["url"].removeprefix(web.articles.url) for member in cluster["members"]]
    return [path for path in paths if path in web.texts]


def test_the_counts_of_the_crawl_agree(crawl: Crawl, found: dict[str, Any]) -> None:
    facts = crawl.stats()
    assert facts["duplicates_near"] == found["duplicates_near"] > FAMILIES
    extra = sum(one["size"] - 1 for one in found["clusters"])
    assert extra == found["duplicates_near"] + found["duplicates_exact"]
    assert found["documents"] == facts["pages_stored"] + facts["duplicates_exact"]
    crawl.verify()


def test_the_mirror_is_found_and_stands_lower(web: Web, crawl: Crawl) -> None:
    (mirror,) = crawl.stats()["mirrors"]
    hosts = {mirror["host"], mirror["original"]}
    assert {host.partition(":")[0] for host in hosts} == {"127.0.0.1", "127.0.0.2"}
    assert mirror["host"].startswith("127.0.0.2"), "the site of articles has much else"
    assert mirror["copies"] >= 0.8 * mirror["pages"]
    url = f"{web.mirror.url}/news/0"
    assert "is a mirror of" in crawl.run("why", url).stdout


def test_a_near_duplicate_says_so(web: Web, crawl: Crawl) -> None:
    urls = [site.url + path for path in web.mirrored for site in (web.articles, web.mirror)]
    copies = [json.loads(crawl.run("why", "--json", url).stdout)["copy"] for url in urls[:6]]
    kinds = [copy["kind"] for copy in copies if copy is not None]
    assert kinds == ["near"] * 3
    assert all(copy is None or copy["resemblance"] == 1.0 for copy in copies)


@pytest.mark.parametrize("member", [0, 1, 2])
def test_a_search_shows_true_and_estimated_resemblance(web: Web, crawl: Crawl, member: int) -> None:
    family: Family = web.families[7]
    asked = f"{web.articles.url}/family/7-{member}"
    found = {one["url"]: one for one in dups(crawl, asked)["found"]}
    assert asked not in found
    for one, other, true in family.pairs():
        if member in (one, other) and true >= THRESHOLD:
            url = f"{web.articles.url}/family/7-{other if one == member else one}"
            assert found[url]["true"] == pytest.approx(true, abs=1e-9)
            assert found[url]["estimate"] == pytest.approx(true, abs=0.08)
