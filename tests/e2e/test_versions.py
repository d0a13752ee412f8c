"""Versions of pages: which changes are stored, as a model says it, through changes of `recrawl.keep`."""

from __future__ import annotations

import json
import random
import shlex
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from pycrawl.model import Change
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import PROGRAM, Crawl, Settings
from tests.e2e.site import Reply, Site, page
from tests.near_texts import edited, make_text

PAGES = 24
ROUNDS = 7
KEPT = [["edited", "rewritten"], ["cosmetic", "edited", "rewritten"], ["rewritten"], [], ["cosmetic"]]


class Look(NamedTuple):
    """A page as it may be served: which text its main content has, in which of two forms, with which decoration."""

    text: int
    form: int
    decoration: int

    def to(self, other: Look) -> Change:
        if self.text != other.text:
            return Change.REWRITTEN
        return Change.COSMETIC if self.form == other.form else Change.EDITED


@dataclass
class Model:
    """What is expected of one URL."""

    kept: list[Look] = field(default_factory=list)
    found: Look | None = None  # at the last visit
    unkept: str = ""
    etag_at: Look | None = None

    def visit(self, look: Look, keep: list[str], counts: Counter[str], has_etag: bool) -> None:
        if not self.kept:
            counts["stored"] += 1
            self.kept.append(look)
        elif look == self.found and self.unkept not in keep:
            counts["not_modified" if has_etag else "unchanged"] += 1
            return
        elif look == self.kept[-1]:
            counts["unchanged"] += 1
            self.unkept = ""
        else:
            grade = self.kept[-1].to(look)
            counts[f"changed:{grade}"] += 1
            self.unkept = "" if grade in keep else grade
            if grade in keep:
                counts["stored"] += 1
                self.kept.append(look)
            else:
                counts[f"{grade}-change"] += 1
        self.found = look


class Web:
    def __init__(self, dice: random.Random) -> None:
        self._texts = []
        for _ in range(3 * PAGES):
            text = make_text(dice, 150)
            self._texts.append((text, edited(dice, text, 0.9)))
        self.paths = [f"/{number}" for number in range(PAGES)]
        self.site = Site({"/": page(*self.paths, text="all of them")})

    def body(self, path: str, look: Look) -> str:
        text = self._texts[3 * int(path[1:]) + look.text][look.form]
        return f"<!DOCTYPE html><!-- {look.decoration} --><title>{path}</title><p>{text}</p>\n"

    def serve(self, path: str, look: Look) -> None:
        headers = {"ETag": f'"{look}"'} if self.has_etag(path) else {}
        self.site.pages[path] = Reply(self.body(path, look), headers=headers)

    def has_etag(self, path: str) -> bool:
        return int(path[1:]) % 2 == 0


@pytest.fixture
def web() -> Iterator[Web]:
    made = Web(random.Random(5))
    with made.site:
        yield made


def settings(keep: list[str], versions: int = 0) -> Settings:
    return {
        "traps": {"novelty": False, "soft_404": False},
        "recrawl": {"min_interval": 0, "keep": keep, "keep_versions": versions},
        "store": {"file_size": 20_000},
    }


def bodies(crawl: Crawl, web: Web) -> dict[str, list[bytes]]:
    """All stored bodies of each path, the oldest first."""
    rows = crawl.query("SELECT url, fetched_at FROM documents JOIN urls ON urls.id = url_id ORDER BY fetched_at")
    found: dict[str, list[bytes]] = {path: [] for path in web.paths}
    for url, fetched_at in rows:
        if (path := url.removeprefix(web.site.url)) in found:
            found[path] += crawl.bodies([url], fetched_at).values()
    return found


def test_what_is_kept_through_changes_of_keep(make_crawl: MakeCrawl, web: Web) -> None:
    """Every page goes its own random way through its looks, back to older ones too; the settings change on the way."""
    dice = random.Random(11)
    models = {path: Model() for path in web.paths}
    looks = {path: Look(0, 0, 0) for path in web.paths}
    crawl = make_crawl([web.site.url + "/"], settings(KEPT[0]))
    counts: Counter[str] = Counter()
    for number in range(ROUNDS):
        keep = KEPT[0] if number < 2 else dice.choice(KEPT)
        crawl.configure(settings(keep))
        for path in web.paths:
            if number and dice.random() < 0.8:
                old = looks[path]
                other = Look(dice.choice([old.text, dice.randrange(3)]), dice.randrange(2), dice.randrange(2))
                looks[path] = old._replace(decoration=1 - old.decoration) if dice.random() < 0.4 else other
            web.serve(path, looks[path])
            models[path].visit(looks[path], keep, counts, web.has_etag(path))
        crawl.run("crawl", *(["--recrawl"] if number else []))
        expected = {path: [web.body(path, look).encode() for look in models[path].kept] for path in web.paths}
        assert bodies(crawl, web) == expected
        crawl.verify()
        check_counts(crawl, counts, number)
    assert min(counts[f"{grade}-change"] for grade in Change) > 0
    assert min(counts[f"changed:{grade}"] for grade in Change) > 5
    assert counts["unchanged"] > 5


def check_counts(crawl: Crawl, counts: Counter[str], revisits_of_the_list: int) -> None:
    facts = crawl.stats()
    assert facts["changed"] == {grade: counts[f"changed:{grade}"] for grade in Change if counts[f"changed:{grade}"]}
    kept = {grade: counts[f"{grade}-change"] for grade in Change if counts[f"{grade}-change"]}
    assert facts["not_kept"] == {f"{grade}-change": count for grade, count in kept.items()}
    assert facts["pages_stored"] + facts["duplicates_exact"] == counts["stored"] + 1
    assert facts["unchanged"] == counts["unchanged"] + revisits_of_the_list
    assert facts["not_modified"] == counts["not_modified"]


def test_a_cosmetic_change_is_noted(make_crawl: MakeCrawl, web: Web) -> None:
    """The visit says it, and its validators are those of the page as it was found."""
    web.serve("/0", Look(0, 0, 0))
    crawl = make_crawl([web.site.url + "/0"], settings(KEPT[0]))
    crawl.run("crawl")
    web.serve("/0", Look(0, 0, 1))
    summary = crawl.run("crawl", "--recrawl").stdout
    assert "1 changed (1 cosmetic)" in summary
    assert "1 not kept (1 cosmetic-change)" in summary
    assert "changed: cosmetic" in crawl.run("why", web.site.url + "/0").stdout
    assert "cosmetic" in crawl.run("stats").stdout
    crawl.run("crawl", "--recrawl")
    assert web.site.headers[-1]["If-None-Match"] == f'"{Look(0, 0, 1)}"'
    crawl.configure(settings(KEPT[1]))
    crawl.run("crawl", "--recrawl")
    assert web.site.headers[-1]["If-None-Match"] is None
    assert len(bodies(crawl, web)["/0"]) == 2


def test_a_page_is_no_near_duplicate_of_its_own_versions(make_crawl: MakeCrawl, web: Web) -> None:
    crawl = make_crawl([web.site.url + "/0"], settings(KEPT[1]))
    for look in (Look(0, 0, 0), Look(0, 1, 0), Look(0, 0, 1)):
        web.serve("/0", look)
        crawl.run("crawl", "--recrawl")
    assert len(bodies(crawl, web)["/0"]) == 3
    assert crawl.stats()["duplicates_near"] == 0
    assert crawl.why(web.site.url + "/0")["copy"] is None


def test_versions_and_diff(make_crawl: MakeCrawl, web: Web) -> None:
    url = web.site.url + "/0"
    crawl = make_crawl([url], settings(KEPT[0]))
    for look in (Look(0, 0, 0), Look(0, 1, 0), Look(1, 0, 0), Look(1, 0, 1)):
        web.serve("/0", look)
        crawl.run("crawl", "--recrawl")
    listed = crawl.run("versions", url).stdout
    assert [word for word in listed.split() if word in ("first", "edited", "rewritten")] == [
        "first", "edited", "rewritten"
    ]  # fmt: skip
    assert "changed since the last version: cosmetic, not kept" in listed
    facts = json.loads(crawl.run("versions", url, "--json").stdout)
    assert [version["change"] for version in facts["versions"]] == [None, "edited", "rewritten"]
    assert facts["last_visit"]["unkept_change"] == "cosmetic"
    first, second, third = (version["time"] for version in facts["versions"])
    told = json.loads(crawl.run("diff", url, "--to", str(second), "--json").stdout)
    assert (told["from"], told["to"], told["change"]) == (first, second, "edited")
    before, after = (web._texts[0][form].split() for form in (0, 1))
    parts = told["parts"]
    assert " ".join(part["text"] for part in parts if part["kind"] != "added").split() == before
    assert " ".join(part["text"] for part in parts if part["kind"] != "removed").split() == after
    plain = crawl.run("diff", url, "--from", str(first), "--to", str(second)).stdout
    assert plain.count("[-") == plain.count("{+") > 0
    assert json.loads(crawl.run("diff", url, "--from", str(first), "--json").stdout)["to"] == third
    assert "no older version" in crawl.run("diff", url, "--to", str(first), exit_code=1).stderr
    assert "no document" in crawl.run("versions", web.site.url + "/unknown", exit_code=1).stderr
    crawl.run("diff", "mailto:a@b", exit_code=2)
    line = shlex.join([*PROGRAM, "diff", "-C", str(crawl.path), url])
    coloured = subprocess.run(["script", "-qec", line, "/dev/null"], capture_output=True, text=True, check=False)
    assert "\x1b[31m" in coloured.stdout
    assert "\x1b[32m" in coloured.stdout
