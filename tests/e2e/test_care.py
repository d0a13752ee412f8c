"""`compact` and `verify --repair`: what leaves, what stays, whenever they are killed and however full the disk is."""

from __future__ import annotations

import json
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl, Settings, pycrawl
from tests.e2e.site import Reply, Site, page
from tests.near_texts import edited, make_text

PAGES = 12
ALL = ["cosmetic", "edited", "rewritten"]
DEFAULT = ["edited", "rewritten"]
KILLED = -9
MOST_ROUNDS = 60  # of a test that kills at random moments
DAMAGED = ("/3", "/7", "/still", "/flips")


def settings(keep: list[str], versions: int = 0) -> Settings:
    return {
        "traps": {"novelty": False, "soft_404": False},
        "recrawl": {"min_interval": 0, "keep": keep, "keep_versions": versions},
        "store": {"file_size": 15_000},
    }


class Web:
    """Pages with four versions (the first, a cosmetic change, an edited and a rewritten one), one that flips, one whose
    old version is another page's only one, and one that never changes."""

    def __init__(self) -> None:
        dice = random.Random(8)
        self.looks: dict[str, list[str]] = {}
        for number in range(PAGES):
            text = make_text(dice, 150)
            rest = [text, edited(dice, text, 0.8), make_text(dice, 150)]
            self.looks[f"/{number}"] = [html(text, "first"), *(html(one, "later") for one in rest)]
        a, b = (html(make_text(dice, 150)) for _ in "ab")
        self.looks["/flips"] = [a, b, a, b]
        old = html(make_text(dice, 150), "old")
        self.looks["/lender"] = [old, *(html(make_text(dice, 150)) for _ in range(3))]
        self.looks["/borrower"] = [html("nothing yet"), old, old, old]
        self.looks["/still"] = [html(make_text(dice, 150))] * 4
        self.site = Site({"/": page(*self.looks, text="all of them")})

    def serve(self, version: int) -> None:
        for path, looks in self.looks.items():
            self.site.pages[path] = Reply(looks[version])

    def urls(self) -> list[str]:
        return [self.site.url + path for path in self.looks]


def html(text: str, decoration: str = "") -> str:
    return f"<!DOCTYPE html><!-- {decoration} --><title>A page</title><p>{text}</p>\n"


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    made = Web()
    with made.site:
        yield made


@pytest.fixture(scope="module")
def crawled(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """All versions are stored; never changed: tests work in copies."""
    crawl = Crawl.make(tmp_path_factory.mktemp("care") / "crawl", [web.site.url + "/"], settings(ALL))
    for version in range(4):
        web.serve(version)
        crawl.run("crawl", "--recrawl")
    crawl.verify()
    return crawl


@pytest.fixture
def crawl(crawled: Crawl, tmp_path: Path) -> Crawl:
    return copy_of(crawled, tmp_path / "copy")


def copy_of(crawl: Crawl, path: Path) -> Crawl:
    shutil.copytree(crawl.path, path)
    return Crawl(path)


def versions(crawl: Crawl, web: Web) -> dict[str, list[bytes]]:
    rows = crawl.query("SELECT url, fetched_at FROM documents JOIN urls ON urls.id = url_id ORDER BY fetched_at")
    found: dict[str, list[bytes]] = {}
    for url, fetched_at in rows:
        path = url.removeprefix(web.site.url)
        if path != "/":
            found.setdefault(path, []).extend(crawl.bodies([url], fetched_at).values())
    return found


def expected(web: Web, *kept: int) -> dict[str, list[bytes]]:
    """The versions of ordinary pages that are `kept`; of the others, those that differ from the one before."""
    found = {}
    for path, looks in web.looks.items():
        if path[1:].isdigit():
            found[path] = [looks[number].encode() for number in kept]
        else:
            distinct = [look for place, look in enumerate(looks) if not place or look != looks[place - 1]]
            found[path] = [look.encode() for look in distinct]
    return found


def is_whole(crawl: Crawl) -> None:
    crawl.verify()
    assert not list(crawl.path.rglob("*.new*"))
    found = json.loads(crawl.run("dups", "--all", "--json").stdout)
    assert found["duplicates_near"] == crawl.stats()["duplicates_near"]


# Compacting


def test_all_versions_are_there(web: Web, crawl: Crawl) -> None:
    assert versions(crawl, web) == expected(web, 0, 1, 2, 3)
    assert "Nothing to remove" in crawl.run("compact").stdout  # it drops what only older versions linked to
    before = crawl.path.joinpath("state.db").read_bytes()
    assert "Nothing to remove" in crawl.run("compact").stdout
    assert crawl.path.joinpath("state.db").read_bytes() == before
    assert versions(crawl, web) == expected(web, 0, 1, 2, 3)


def test_cosmetic_versions_go(web: Web, crawl: Crawl) -> None:
    docnos = {body: docno for docno, _, body in crawl.records()}
    size = sum(path.stat().st_size for path in crawl.compound_files())
    crawl.configure(settings(DEFAULT))
    told = json.loads(crawl.run("compact", "--dry-run", "--json").stdout)
    assert told == {"versions": PAGES, "urls": PAGES, "bytes_freed": told["bytes_freed"], "dry_run": True}
    assert versions(crawl, web) == expected(web, 0, 1, 2, 3)
    assert f"{PAGES} superseded versions of {PAGES} pages removed" in crawl.run("compact").stdout
    assert versions(crawl, web) == expected(web, 0, 2, 3)
    is_whole(crawl)
    assert size - sum(path.stat().st_size for path in crawl.compound_files()) == told["bytes_freed"]
    assert {body: docno for docno, _, body in crawl.records()}.items() < docnos.items()
    facts = crawl.stats()
    assert facts["not_kept"] == {"superseded": PAGES}
    assert "Nothing to remove" in crawl.run("compact").stdout
    crawl.run("crawl", "--recrawl")
    assert crawl.stats()["unchanged"] == facts["unchanged"] + len(web.looks) + 1
    crawl.verify()


def test_only_the_newest_stay(web: Web, crawl: Crawl) -> None:
    """Records that are shared stay: with the page that flips, and with the one that has the old version of another."""
    crawl.configure(settings(ALL, 1))
    crawl.run("compact")
    assert versions(crawl, web) == {path: [looks[3].encode()] for path, looks in web.looks.items()}
    is_whole(crawl)
    assert {url.removeprefix(web.site.url) for _, url, _ in crawl.records()} == {"/", *web.looks}
    assert all(crawl.why(url)["state"] == "done" for url in (web.site.url + "/flips", web.site.url + "/borrower"))
    changed = crawl.stats()["changed"]
    crawl.run("crawl", "--recrawl")
    assert crawl.stats()["changed"] == changed
    crawl.verify()


def test_flips_with_what_is_between_them_gone(web: Web, crawl: Crawl) -> None:
    """Nothing but rewritten pages is kept; a page that went back is then one that never changed."""
    crawl.configure(settings(["rewritten"]))
    crawl.run("compact")
    found = versions(crawl, web)
    assert {path: found[path] for path in found if path[1:].isdigit()} == {
        path: [looks[0].encode(), looks[3].encode()] for path, looks in web.looks.items() if path[1:].isdigit()
    }
    is_whole(crawl)


def test_while_a_crawl_holds_it(crawl: Crawl) -> None:
    with crawl.directory.hold():
        crawl.run("compact", exit_code=3)
        crawl.run("verify", "--repair", exit_code=3)
        crawl.run("verify", "--deep")


# Repairing


def flip(crawl: Crawl, web: Web, path: str) -> None:
    """Change a byte in the middle of the newest record of a path."""
    (name, offset, length) = crawl.query(
        "SELECT name, offset, documents.length FROM documents JOIN files ON files.id = file_id JOIN urls"
        f" ON urls.id = url_id WHERE url = '{web.site.url}{path}' ORDER BY fetched_at DESC LIMIT 1"
    )[0]
    file = crawl.directory.docs / name
    data = bytearray(file.read_bytes())
    data[offset + length // 2] ^= 0x10
    file.write_bytes(data)


def heals(crawl: Crawl, web: Web) -> None:
    """The next crawl fetches what was lost, and only that."""
    asked = len(web.site.asked)
    before = versions(crawl, web)
    crawl.run("crawl")
    assert set(web.site.asked[asked:]) - {"/robots.txt", "/"} <= set(web.looks)
    after = versions(crawl, web)
    assert {path: bodies[-1] for path, bodies in after.items()} == {
        path: looks[3].encode() for path, looks in web.looks.items()
    }
    assert all(after[path][: len(bodies)] == bodies for path, bodies in before.items())
    is_whole(crawl)
    crawl.run("verify", "--deep")


def test_a_flipped_byte_is_found_named_and_healed(web: Web, crawl: Crawl) -> None:
    flip(crawl, web, "/3")
    crawl.run("verify")
    ended = crawl.run("verify", "--deep", exit_code=1)
    assert "FAULT records and documents agree" in ended.stdout
    ended = crawl.run("verify", "--repair")
    assert "1 document lost" in ended.stdout
    assert f"{web.site.url}/3  (" in ended.stdout
    assert "1 page queued" in ended.stdout
    is_whole(crawl)
    assert crawl.why(web.site.url + "/3")["state"] == "queued"
    assert crawl.stats()["not_kept"] == {"lost": 1}
    heals(crawl, web)
    assert versions(crawl, web) == expected(web, 0, 1, 2, 3)
    assert "0 documents lost" in crawl.run("verify", "--repair").stdout


def test_a_lost_record_that_others_share(web: Web, crawl: Crawl) -> None:
    flip(crawl, web, "/borrower")
    ended = crawl.run("verify", "--repair")
    assert "1 document lost" in ended.stdout
    assert "1 page queued" in ended.stdout
    assert versions(crawl, web)["/lender"] == [look.encode() for look in web.looks["/lender"][1:]]
    heals(crawl, web)


@pytest.mark.parametrize("damage", ["a file is gone", "a folder is gone", "a file is cut", "a file is empty"])
def test_lost_files(web: Web, crawl: Crawl, damage: str) -> None:
    file = crawl.compound_files()[1]
    if damage == "a file is gone":
        file.unlink()
    elif damage == "a folder is gone":
        shutil.rmtree(file.parent)
    else:
        file.write_bytes(file.read_bytes()[: 0 if damage == "a file is empty" else file.stat().st_size // 2])
    crawl.run("verify", exit_code=1)
    crawl.run("crawl", exit_code=1)
    lost = json.loads(crawl.run("verify", "--repair", "--json").stdout)
    assert lost["ok"]
    assert len(lost["lost"]) > 0
    heals(crawl, web)


def test_pages_out_of_scope_by_now_are_not_queued(web: Web, crawl: Crawl) -> None:
    flip(crawl, web, "/3")
    narrow = settings(ALL)
    narrow["scope"] = {"deny_prefixes": ["/3"]}
    crawl.configure(narrow)
    crawl.run("crawl")
    assert "1 page not queued" in crawl.run("verify", "--repair").stdout
    is_whole(crawl)


# Cut short

DRIVER = """
import os, signal, sys
from pathlib import Path
from pycrawl.crawl.compacting import compact, plan
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.repairing import lost_documents, repair
from pycrawl.state.database import Database

left = int(sys.argv[2])
def on_step(step):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1

directory = CrawlDirectory(Path(sys.argv[1]))
config = directory.config()
with directory.hold():
    database = Database.open(directory.state)
    if sys.argv[3] == "compact":
        compact(directory, database, config, plan(database, config), on_step)
    else:
        lost = list(lost_documents(directory, database, lambda read: None))
        repair(directory, database, config, lost, on_step)
"""


def check_after(crawl: Crawl, web: Web, command: str, original: dict[str, list[bytes]]) -> None:
    """After a kill and what carries it on: what is to stay is there, and nothing else."""
    is_whole(crawl)
    if command == "compact":
        assert versions(crawl, web) == {path: bodies[-2:] for path, bodies in original.items()}
    else:  # the page that flips had its lost version twice, and one of the other between the two
        assert versions(crawl, web) == {**original, "/flips": original["/flips"][:2]}


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("command", ["compact", "repair"])
def test_killed_at_steps(web: Web, crawled: Crawl, tmp_path: Path, command: str, stride: int) -> None:
    """Right after each kill, every document that counts can be read, but for what was damaged."""
    original = versions(crawled, web)
    prepared = copy_of(crawled, tmp_path / "prepared")
    prepare(prepared, web, command)
    steps = 0
    while True:
        crawl = copy_of(prepared, tmp_path / f"killed-{steps}")
        ended = subprocess.run([sys.executable, "-c", DRIVER, str(crawl.path), str(steps), command], check=False)
        if ended.returncode == 0:
            break
        assert ended.returncode == KILLED
        begun = bool(crawl.query("SELECT 1 FROM meta WHERE key = 'leaving'"))
        assert crawl.unreadable() <= {web.site.url + path for path in DAMAGED if command == "repair"}
        carry_on(crawl, command, begun, steps)
        check_after(crawl, web, command, original)
        shutil.rmtree(crawl.path)
        steps += stride
    assert steps > 2 * stride


def prepare(crawl: Crawl, web: Web, command: str) -> None:
    if command == "compact":
        crawl.configure(settings(ALL, 2))
    else:
        for path in DAMAGED:
            flip(crawl, web, path)


def carry_on(crawl: Crawl, command: str, begun: bool, number: int) -> None:
    if command == "compact":
        crawl.run("crawl") if begun and number % 2 else crawl.run("compact")
    elif not begun or number % 2:
        crawl.run("verify", "--repair")
        crawl.run("crawl")
    else:
        crawl.run("crawl")


@pytest.mark.parametrize("command", ["compact", "repair"])
def test_killed_at_random(web: Web, crawled: Crawl, tmp_path: Path, command: str) -> None:
    """The real program, ten times: what is not damaged can be read, and the next command carries it on."""
    dice = random.Random(7)
    original = versions(crawled, web)
    prepared = copy_of(crawled, tmp_path / "prepared")
    prepare(prepared, web, command)
    arguments = ["compact"] if command == "compact" else ["verify", "--repair"]
    begun = time.monotonic()
    copy_of(prepared, tmp_path / "whole").run(*arguments)
    seconds = time.monotonic() - begun
    rounds = cut_short = 0
    while rounds < 10 or (cut_short < 3 and rounds < MOST_ROUNDS):
        crawl = copy_of(prepared, tmp_path / f"killed-{rounds}")
        running = crawl.start(*arguments)
        time.sleep(dice.uniform(0.4, 1.0) * seconds)
        rounds += 1
        if running.is_over:
            seconds *= 0.9  # the machine was busier when it was measured
        else:
            cut_short += 1
        running.kill_tree()
        assert crawl.unreadable() <= {web.site.url + path for path in DAMAGED if command == "repair"}
        if command == "compact":
            crawl.run("verify", "--deep")
        crawl.close()
    assert cut_short >= 3
    crawl.run(*arguments)
    crawl.run("crawl")
    check_after(crawl, web, command, original)


@pytest.mark.parametrize("command", ["compact", "repair"])
def test_a_full_disk(web: Web, crawled: Crawl, tmp_path: Path, command: str) -> None:
    """Exit code 4, nothing lost, and it goes on later."""
    crawl = copy_of(crawled, tmp_path / "full")
    prepare(crawl, web, command)
    original = versions(crawled, web)
    arguments = ["compact"] if command == "compact" else ["verify", "--repair"]
    for size in (20_000, 2_000):  # the state cannot grow; neither can a compound file

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        ended = pycrawl(*arguments, "-C", crawl.path, preexec_fn=limit)
        assert ended.returncode == 4, ended.stderr
        assert crawl.unreadable() <= {web.site.url + path for path in DAMAGED if command == "repair"}
    crawl.run(*arguments)
    crawl.run("crawl")
    check_after(crawl, web, command, original)
