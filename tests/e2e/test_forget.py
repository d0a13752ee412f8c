"""`pycrawl forget`: no byte of what was forgotten is left, the rest reads as before, whenever it was killed."""

from __future__ import annotations

import gzip
import json
import random
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.state.database import Database
from tests.e2e.crawling import Crawl, Settings, pycrawl
from tests.e2e.site import Reply, Site, after, page
from tests.near_texts import make_family, make_text

ARTICLES = 40
COPY_PAIRS = 3
NEAR = (0.97, 0.95, 0.93)

SETTINGS: Settings = {
    "content": {"near_duplicates": True},
    "traps": {"novelty": False, "soft_404": False},
    "store": {"file_size": 8_000},
    "recrawl": {"min_interval": 0},
}


def word(name: str) -> str:
    """One that no other page has, and that is in no URL."""
    return f"quetzal{name}nocturne"


def article(dice: random.Random, name: str, *links: str) -> Reply:
    return page(*links, text=f"{make_text(dice, 120)} {word(name)} ")


class Web:
    """Articles, a private directory, copies, near-duplicates, a redirect, a page that fails; and a second host."""

    def __init__(self) -> None:
        dice = random.Random(12)
        self.plain = [f"/articles/{number}.html" for number in range(ARTICLES)]
        self.private = [f"/private/{name}.html" for name in ("letters", "photos", "diary")]
        self.copies = [(f"/originals/{number}", f"/copies/{number}") for number in range(COPY_PAIRS)]
        self.near = [f"/near/{number}" for number in range(len(NEAR) + 1)]
        pages = {path: article(dice, f"article{number}") for number, path in enumerate(self.plain)}
        pages |= {path: article(dice, f"private{number}") for number, path in enumerate(self.private)}
        for number, (original, copy) in enumerate(self.copies):
            pages[original] = pages[copy] = article(dice, f"copied{number}")
        family = make_family(dice, 400, NEAR)
        pages |= {path: page(text=text) for path, text in zip(self.near, family.texts, strict=True)}
        self.secret = "/unlisted/report.html"
        pages[self.secret] = article(dice, "secret", "/private/letters.html")
        pages["/moved"] = Reply(status=302, headers={"Location": self.secret})
        pages["/broken/page.html"] = Reply(status=500)
        self.other = Site({f"/{name}": article(dice, f"other{name}") for name in ("one", "two")}, "127.0.0.2")
        links = [*self.plain, *self.private, *self.near, self.secret, "/moved", "/broken/page.html"]
        links += [original for original, _ in self.copies]
        pages["/late"] = page(*(copy for _, copy in self.copies), text="copies come late")
        pages["/"] = page(*links, "/late", self.other.url + "/one", self.other.url + "/two")
        self.site = Site(pages)

    def urls(self) -> list[str]:
        return [self.site.url + path for path in self.site.pages] + [self.other.url + path for path in ("/one", "/two")]


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    made = Web()
    with made.site, made.other:
        yield made


@pytest.fixture(scope="module")
def crawled(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """Crawled once, and never changed: tests work in copies."""
    crawl = Crawl.make(tmp_path_factory.mktemp("forget") / "crawl", [web.site.url + "/"], SETTINGS)
    crawl.run("crawl")
    crawl.verify()
    return crawl


@pytest.fixture
def crawl(crawled: Crawl, tmp_path: Path) -> Iterator[Crawl]:
    copied = copy_of(crawled, tmp_path / "copy")
    yield copied
    copied.close()


def copy_of(crawl: Crawl, path: Path) -> Crawl:
    shutil.copytree(crawl.path, path)
    return Crawl(path)


def traces(crawl: Crawl, *needles: str, docs: bool = True) -> list[str]:
    """The files of the directory that hold one of the needles, as they are or unpacked."""
    found = []
    for path in sorted(one for one in crawl.path.rglob("*") if one.is_file()):
        if not docs and "docs" in path.parts:
            continue
        data = path.read_bytes()
        if path.suffix == ".gz":
            data += gzip.decompress(data)
        found += [f"{needle} in {path.relative_to(crawl.path)}" for needle in needles if needle.encode() in data]
    return found


def stays(crawl: Crawl, before: dict[str, bytes], *gone: str) -> None:
    """All is well, and whatever was not forgotten reads as before."""
    crawl.verify()
    assert crawl.bodies(before) == {url: body for url, body in before.items() if url not in gone}
    found = json.loads(crawl.run("dups", "--all", "--json").stdout)
    assert found["duplicates_near"] == crawl.stats()["duplicates_near"]
    assert not list(crawl.path.rglob("*.new*"))


# What goes


def test_a_page(web: Web, crawl: Crawl) -> None:
    url = web.site.url + web.secret
    before = crawl.bodies(web.urls())
    docnos = {body: docno for docno, _, body in crawl.records()}
    assert len(traces(crawl, word("secret"), web.secret)) >= 3, "in a record, the database and the log of fetches"
    ended = crawl.run("forget", url)
    assert "1 URL with 1 stored document" in ended.stdout
    assert traces(crawl, word("secret")) == []
    assert traces(crawl, web.secret, docs=False) == []
    stays(crawl, before, url)
    after = {body: docno for docno, _, body in crawl.records()}
    assert after == {body: docno for body, docno in docnos.items() if word("secret").encode() not in body}
    ended = crawl.run("get", url, exit_code=1)
    assert "forget" in ended.stderr


def test_a_prefix(web: Web, crawl: Crawl) -> None:
    before = crawl.bodies(web.urls())
    gone = [web.site.url + path for path in web.private]
    ended = crawl.run("forget", "--prefix", f"{web.site.url}/private/")
    assert "3 URLs with 3 stored documents" in ended.stdout
    assert traces(crawl, *(word(f"private{number}") for number in range(len(web.private)))) == []
    assert traces(crawl, "letters.html", "photos.html", "diary.html", docs=False) == []
    stays(crawl, before, *gone)


def test_a_host(web: Web, crawl: Crawl) -> None:
    before = crawl.bodies(web.urls())
    key = web.other.url.removeprefix("http://")
    ended = crawl.run("forget", "--host", key)
    assert "2 URLs with 2 stored documents" in ended.stdout
    assert traces(crawl, word("otherone"), word("othertwo")) == []
    assert traces(crawl, f"{key}/one", f"{key}/two", f"{key}/robots.txt", docs=False) == []
    stays(crawl, before, web.other.url + "/one", web.other.url + "/two")


def test_everything_goes(web: Web, crawl: Crawl) -> None:
    """Files that all records have left go too, and no DOCNO is given out again."""
    before = {docno for docno, _, _ in crawl.records()}
    crawl.run("forget", "--host", web.site.url.removeprefix("http://"))
    assert len(list(crawl.records())) == 2
    assert all(path.stat().st_size for path in crawl.compound_files())
    stays(crawl, crawl.bodies(web.urls()))
    crawl.run("add", "--again", web.site.url + web.secret)
    crawl.run("crawl")
    new = {docno for docno, url, _ in crawl.records() if url == web.site.url + web.secret}
    assert len(new) == 1
    assert not new & before


def test_all_versions_go(web: Web, crawl: Crawl) -> None:
    path = web.plain[0]
    served = web.site.pages[path]
    web.site.pages[path] = page(text=f"{make_text(random.Random(5), 100)} {word('second')} ")
    try:
        crawl.run("crawl", "--recrawl")
        crawl.verify()
        assert traces(crawl, word("second"))
        ended = crawl.run("forget", web.site.url + path)
        assert "2 stored documents" in ended.stdout
        assert traces(crawl, word("second"), word("article0")) == []
    finally:
        web.site.pages[path] = served


def test_a_redirect_to_it_names_it_no_more(web: Web, crawl: Crawl) -> None:
    crawl.run("forget", web.site.url + web.secret)
    assert crawl.query("SELECT outcome, detail FROM visits JOIN urls ON urls.id = url_id WHERE url LIKE '%/moved'") in (
        [("redirect", "")],
        [("redirect", f"forgotten:{hash_of(crawl, web.site.url + web.secret)}")],
    )


def hash_of(crawl: Crawl, url: str) -> str:
    from pycrawl.state import meta
    from pycrawl.urls.parts import url_hash

    database = Database.open_readonly(crawl.directory.state)
    try:
        return f"{url_hash(url, meta.hash_seed(database)):016x}"
    finally:
        database.close()


def test_lines_of_logs_and_of_the_inbox_go(web: Web, crawl: Crawl) -> None:
    """The failure is in the log of the crawl; a killed crawl leaves seeds in its inbox."""
    broken, kept = web.site.url + "/broken/page.html", web.site.url + "/kept"
    assert any("crawl.log" in trace for trace in traces(crawl, "/broken/page.html"))
    crawl.directory.leave_in_inbox([broken, kept])
    fetches = len((crawl.directory.log / "fetches-000001.tsv").read_text().splitlines())
    asked = web.site.asked.count("/broken/page.html")
    assert asked
    crawl.run("forget", broken)
    assert traces(crawl, "/broken/page.html", docs=False) == []
    assert crawl.directory.read_from_inbox(crawl.directory.inbox_files()[0]) == kept
    left = (crawl.directory.log / "fetches-000001.tsv").read_text().splitlines()
    assert fetches - asked <= len(left) < fetches


def test_what_waits_leaves_the_queues(web: Web, tmp_path: Path) -> None:
    crawl = Crawl.make(tmp_path / "crawl", [web.site.url + "/"], SETTINGS)
    crawl.run("crawl", "--max-pages", "1")
    crawl.run("forget", "--prefix", f"{web.site.url}/private/", web.site.url + web.secret)
    crawl.verify()
    asked = len(web.site.asked)
    crawl.run("crawl")
    assert not set(web.site.asked[asked:]) & {web.secret, *web.private}
    assert len(web.site.asked) > asked + ARTICLES
    crawl.verify()


# Copies and near-duplicates


def owners(web: Web, crawl: Crawl) -> tuple[str, str]:
    """Of a page and its copy: the URL that the record stands under, and the other one."""
    under = {url for _, url, _ in crawl.records()}
    pair = {web.site.url + path for path in web.copies[0]}
    (owner,) = pair & under
    (other,) = pair - under
    return owner, other


def test_a_copy_keeps_the_record(web: Web, crawl: Crawl) -> None:
    owner, other = owners(web, crawl)
    before = crawl.bodies(web.urls())
    (docno,) = (docno for docno, url, _ in crawl.records() if url == owner)
    ended = crawl.run("forget", owner)
    assert other in ended.stdout
    stays(crawl, before, owner)
    assert [(docno, other)] == [(number, url) for number, url, _ in crawl.records() if number == docno]
    assert traces(crawl, owner.removeprefix(web.site.url), docs=False) == []
    assert not any(url == owner for _, url, _ in crawl.records())
    assert crawl.stats()["duplicates_exact"] == COPY_PAIRS - 1


def test_the_copy_goes_and_the_record_stays(web: Web, crawl: Crawl) -> None:
    owner, other = owners(web, crawl)
    before = crawl.bodies(web.urls())
    ended = crawl.run("forget", other)
    assert owner in ended.stdout
    stays(crawl, before, other)


def test_copies_go_too_if_that_is_wanted(web: Web, crawl: Crawl) -> None:
    owner, other = owners(web, crawl)
    before = crawl.bodies(web.urls())
    ended = crawl.run("forget", "--copies", other)
    assert owner in ended.stdout
    stays(crawl, before, owner, other)
    assert traces(crawl, word("copied0")) == []


def test_near_duplicates_are_named_and_stay(web: Web, crawl: Crawl) -> None:
    before = crawl.bodies(web.urls())
    near = [web.site.url + path for path in web.near]
    joined = crawl.stats()["duplicates_near"]
    assert joined == len(NEAR)
    ended = crawl.run("forget", near[0])
    assert all(url in ended.stdout for url in near[1:])
    stays(crawl, before, near[0])
    assert crawl.stats()["duplicates_near"] == joined - 1


# How it is asked for


def test_twice(web: Web, crawl: Crawl) -> None:
    url = web.site.url + web.secret
    crawl.run("forget", url)
    ended = crawl.run("forget", url)
    assert "forgotten before" in ended.stdout


@pytest.mark.parametrize("option", [[], ["--prefix"]])
def test_what_is_not_known(web: Web, crawl: Crawl, option: list[str]) -> None:
    before = crawl.bodies(web.urls())
    ended = crawl.run("forget", *option, web.site.url + "/never/seen", exit_code=1)
    assert "knows no such URL" in ended.stderr
    ended = crawl.run("forget", web.site.url + web.secret, *option, web.site.url + "/never/seen", exit_code=1)
    assert "Nothing was changed" in ended.stderr
    stays(crawl, before)


def test_a_dry_run_changes_nothing(web: Web, crawl: Crawl) -> None:
    before = crawl.bodies(web.urls())
    ended = crawl.run("forget", "--dry-run", "--prefix", f"{web.site.url}/private/")
    assert "3 URLs with 3 stored documents" in ended.stdout
    assert "Nothing was changed" in ended.stdout
    stays(crawl, before)


@pytest.mark.parametrize(
    "arguments", [[], ["mailto:me@example.com"], ["--host", "http://h/"], ["--prefix", "example.com/a"]]
)
def test_wrong_usage(crawl: Crawl, arguments: list[str]) -> None:
    crawl.run("forget", *arguments, exit_code=2)


def test_while_a_crawl_runs(web: Web, crawl: Crawl) -> None:
    crawl.run("forget", web.site.url + web.private[0])
    is_over = threading.Event()  # until then the crawl runs, however long the commands below take
    web.site.pages["/slow"] = Reply("<p>slow</p>", before=after(is_over, 60.0))
    crawl.run("add", web.site.url + "/slow")
    running = crawl.start("crawl")
    running.until(lambda: "/slow" in web.site.asked)
    ended = crawl.run("forget", web.site.url + web.secret, exit_code=3)
    assert "a crawl is running" in ended.stderr
    crawl.run("add", "--again", web.site.url + web.private[0], exit_code=3)
    ended = crawl.run("add", web.site.url + web.private[0], exit_code=2)
    assert "forget" in ended.stderr
    ended = crawl.run("add", web.site.url + web.private[0], web.site.url + "/more")
    assert "it will add 1 URL" in ended.stdout
    running.kill_tree()
    is_over.set()


def test_a_file_that_cannot_grow(web: Web, crawl: Crawl) -> None:
    """As on a full disk: a clear line, nothing lost, and the next call carries it on."""
    before = crawl.bodies(web.urls())
    gone = [web.site.url + path for path in web.plain[:20]]
    size = min(path.stat().st_size for path in crawl.compound_files()[:-1]) // 2

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    shutil.rmtree(crawl.directory.log)  # so that it is the compound files that cannot be written
    ended = pycrawl("forget", "-C", crawl.path, *gone, preexec_fn=limit)
    assert ended.returncode == 4, ended.stderr
    crawl.verify()
    assert {url: body for url, body in before.items() if url not in gone}.items() <= crawl.bodies(before).items()
    crawl.run("forget", *gone)
    stays(crawl, before, *gone)


# Never asked for again


def test_links_and_revisits_do_not_bring_it_back(web: Web, crawl: Crawl) -> None:
    crawl.run("forget", web.site.url + web.secret, "--prefix", f"{web.site.url}/private/")
    asked = len(web.site.asked)
    crawl.run("crawl", "--recrawl")
    again = web.site.asked[asked:]
    assert "/" in again
    assert not set(again) & {web.secret, *web.private}
    crawl.verify()
    assert traces(crawl, word("secret"), word("private0")) == []


def test_add_refuses_it_and_takes_it_back(web: Web, crawl: Crawl) -> None:
    url = web.site.url + web.secret
    before = crawl.bodies(web.urls())
    crawl.run("forget", url)
    ended = crawl.run("add", url, exit_code=2)
    assert "forget" in ended.stderr
    assert "--again" in ended.stderr
    crawl.run("crawl")
    assert url not in crawl.bodies([url])
    ended = crawl.run("add", "--again", url)
    assert "1 forgotten URL taken back" in ended.stdout
    crawl.verify()
    crawl.run("crawl")
    stays(crawl, before)
    assert crawl.run("why", url).returncode == 0


def test_one_url_of_a_forgotten_prefix_is_taken_back(web: Web, crawl: Crawl) -> None:
    url, *others = (web.site.url + path for path in web.private)
    crawl.run("forget", "--prefix", f"{web.site.url}/private/")
    crawl.run("add", url, exit_code=2)
    crawl.run("add", "--again", url)
    crawl.run("crawl")
    crawl.verify()
    assert set(crawl.bodies([url, *others])) == {url}
    assert "forgotten before" in crawl.run("forget", others[0]).stdout
    crawl.run("forget", "--prefix", f"{web.site.url}/private/")
    crawl.verify()
    assert not crawl.bodies([url])
    crawl.run("add", url, exit_code=2)


# Killed

DRIVER = """
import os, signal, sys
from pathlib import Path
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.forgetting import carry_on
from pycrawl.state.database import Database
from pycrawl.state import forgetting, meta
from pycrawl.state.unwanted import Rule, hash_digits
from pycrawl.urls.parts import url_hash

directory = CrawlDirectory(Path(sys.argv[1]))
left = int(sys.argv[2])

def on_step(step):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1

config = directory.config()
with directory.hold():
    database = Database.open(directory.state)
    seed = meta.hash_seed(database)
    rules = [Rule("url", hash_digits(url_hash(url, seed))) for url in sys.argv[3:]]
    assert not forgetting.choose(database, rules, seed)
    forgetting.begin(database, rules, seed, config.content.near_duplicate_threshold, 0.0)
    database.commit()
    carry_on(directory, database, config, on_step)
"""
KILLED = -9
LEAST_STEPS = 15


def test_killed_at_every_step(web: Web, crawled: Crawl, tmp_path: Path) -> None:
    """Right after the kill the crawl is whole; `forget` or `crawl` carries it on."""
    owner, _ = owners(web, crawled)
    gone = [web.site.url + web.secret, web.site.url + web.plain[3], web.site.url + web.near[0], owner]
    before = crawled.bodies(web.urls())
    for step in range(1_000):
        crawl = copy_of(crawled, tmp_path / f"killed-{step}")
        ended = subprocess.run([sys.executable, "-c", DRIVER, str(crawl.path), str(step), *gone], check=False)
        crawl.verify()
        if ended.returncode == 0:
            break
        assert ended.returncode == KILLED
        assert {url: body for url, body in before.items() if url not in gone}.items() <= crawl.bodies(before).items()
        if step % 2:
            crawl.run("crawl")
        else:
            crawl.run("forget", gone[0])
        stays(crawl, before, *gone)
        assert traces(crawl, word("secret"), word("article3")) == []
        assert traces(crawl, *(url.removeprefix(web.site.url) + "\n" for url in gone), docs=False) == []
        shutil.rmtree(crawl.path)
    assert step >= LEAST_STEPS


def test_killed_at_random(web: Web, crawled: Crawl, tmp_path: Path) -> None:
    """The real program, at any instruction; also again and again in the same directory."""
    dice = random.Random(7)
    before = crawled.bodies(web.urls())
    gone = [web.site.url + path for path in (*web.plain[::3], web.secret)]
    whole = copy_of(crawled, tmp_path / "whole")
    started = time.monotonic()
    whole.run("forget", *gone)
    seconds = time.monotonic() - started
    crawl = copy_of(crawled, tmp_path / "killed")
    for _ in range(10):
        running = crawl.start("forget", *gone)
        time.sleep(dice.uniform(0.3, 1.0) * seconds)
        running.kill_tree()
        crawl.verify()
        assert {url: body for url, body in before.items() if url not in gone}.items() <= crawl.bodies(before).items()
    crawl.run("forget", *gone)
    stays(crawl, before, *gone)
    assert traces(crawl, word("secret"), word("article0"), word("article3")) == []
