"""The crawl behind docs/questions.md, and the commands in it as they answer there.

`python -m tests.cli.questions` writes the outputs in docs/questions.md anew.
"""

from __future__ import annotations

import re
import shlex
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pycrawl.state.database import Database
from pycrawl.state.documents import SINCE
from tests.e2e.crawling import RUN_SECONDS, Crawl, Settings
from tests.e2e.site import Reply, Site, after, page

QUESTIONS = Path(__file__).parents[2] / "docs" / "questions.md"
WWW = "http://www.example.org"
SHOP = "http://shop.example.com"
ADS = "http://ads.example.net"
LIBRARY = "http://library.example.edu"
_TWO_DAYS = 2 * 86_400  # seconds

# One answer: behind the question, the command line, and what it printed.
_BLOCK = re.compile(
    r"^## [^\n]+$.*?^```console\n\$ pycrawl (?P<command>[^\n]+)\n(?P<output>.*?)^```$", re.MULTILINE | re.DOTALL
)

_ROBOTS = "User-agent: *\nDisallow: /members/\nCrawl-delay: 0.1\nSitemap: http://www.example.org/sitemap.xml\n"


def _pages() -> dict[str, Reply]:
    prints = [f"{WWW}/news?print={number}" for number in range(3)]
    links = ["/news", "/about", "/old", "/broken", "/missing", "/members/list", "/moved", *prints]
    return {
        f"{WWW}/robots.txt": Reply(_ROBOTS, content_type="text/plain"),
        f"{WWW}/sitemap.xml": Reply(f"{WWW}/\n{WWW}/about\n", content_type="text/plain"),
        f"{WWW}/": page(*links, f"{ADS}/banner", f"{SHOP}/offers", text="Welcome to the example of an archive."),
        f"{WWW}/news": page(text="Yesterday the archive was opened."),
        f"{WWW}/about": page(text="The archive has been kept by its friends for years."),
        f"{WWW}/old": page(text="This page will not be kept for long."),
        f"{WWW}/broken": Reply(status=500),
        f"{WWW}/moved": Reply(status=301, headers={"Location": "/about"}),
        f"{ADS}/banner": page(text="Buy an archive today, and get another one for nothing."),
        f"{SHOP}/robots.txt": Reply(status=503),
        f"{LIBRARY}/": page(text="A library with one page."),
    }


@contextmanager
def crawled(path: Path) -> Iterator[tuple[Crawl, Site]]:
    """A web behind a proxy on loopback, crawled two days ago and again now: by then /old went, /news changed, and
    /fresh came."""
    with Site(_pages()) as site:
        settings: Settings = {
            "crawl": {"proxy": site.url},
            "scope": {"deny_patterns": ["[?]print="]},
            "recrawl": {"min_interval": 0},
        }
        crawl = Crawl.make(path, [f"{WWW}/", f"{SHOP}/", f"{LIBRARY}/"], settings)
        crawl.run("crawl")
        _make_older(crawl)
        del site.pages[f"{WWW}/old"]
        site.pages[f"{WWW}/news"] = page("/fresh", text="Today the archive was closed for the winter.")
        site.pages[f"{WWW}/fresh"] = page(text="It opens again in spring.")
        crawl.run("crawl", "--recrawl")
        yield crawl, site
        crawl.close()


def _make_older(crawl: Crawl) -> None:
    """As if the crawl so far had been two days ago."""
    database = Database.open(crawl.directory.state)
    database.write("UPDATE documents SET fetched_at = fetched_at - ?", (_TWO_DAYS,))
    database.write(f"UPDATE visits SET visited_at = visited_at - ?, since = {SINCE} - ?", (_TWO_DAYS, _TWO_DAYS))
    database.commit()
    database.close()


@contextmanager
def running(crawl: Crawl, site: Site) -> Iterator[None]:
    """While a crawl has nothing left to do but to wait for the library's answer."""
    go_on = threading.Event()
    site.pages[f"{LIBRARY}/"] = replace(site.pages[f"{LIBRARY}/"], before=after(go_on, RUN_SECONDS))
    run = crawl.start("crawl", "--recrawl")
    left = "SELECT url FROM urls LEFT JOIN visits ON visits.url_id = urls.id WHERE aside = 0 AND coalesce(requeued, 1)"
    shop_fails = "SELECT 1 FROM origin_failures WHERE failures = 5"
    waiting = {f"{LIBRARY}/", f"{SHOP}/", f"{SHOP}/offers"}
    assert run.until(lambda: {url for (url,) in crawl.query(left)} == waiting and crawl.query(shop_fails) != [])
    yield
    go_on.set()
    run.wait()


def answers(text: str, path: Path) -> Iterator[tuple[re.Match[str], str]]:
    """Yields each answer in a text, and what its command prints now. They are run in their order on one crawl, the last
    one while it goes on."""
    blocks = list(_BLOCK.finditer(text))
    with crawled(path) as (crawl, site):
        for block in blocks[:-1]:
            yield block, _run(crawl, block["command"])
        with running(crawl, site):
            yield blocks[-1], _run(crawl, blocks[-1]["command"])


def _run(crawl: Crawl, command: str) -> str:
    name, *arguments = shlex.split(command)
    return crawl.run(name, *arguments).stdout


def written_anew(text: str, path: Path) -> str:
    """Returns the text with the outputs of its commands as they are now."""
    for block, output in reversed(list(answers(text, path))):  # so that the places of those before stay
        text = text[: block.start("output")] + output + text[block.end("output") :]
    return text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        QUESTIONS.write_text(written_anew(QUESTIONS.read_text("utf-8"), Path(folder) / "crawl"), "utf-8")
