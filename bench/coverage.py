"""Whole crawls of Debian's HTML manuals against a breadth-first search by other means: lxml over the files.

For each manual, what the crawl asked for must be what the search finds: no page missing, none invented, each with the
same answer. Every difference is listed with what the crawl says of it; the exit code is 1 if there is one.

    python bench/coverage.py [PACKAGE …] [--cache FOLDER] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import mimetypes
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from lxml import html
from manuals import NoManuals, download, html_files, is_inside, unpack
from static_web import ROBOTS, free_port, nginx
from webs import DEFAULT_CACHE

PACKAGES = (
    r"apache2-doc",
    r"cmake-doc",
    r"git-doc",
    r"postgresql-doc-\d+",
    r"python3\.\d+-doc",
    r"python-django-doc",
    r"sqlite3-doc",
)
PROGRAM = (sys.executable, "-c", "from pycrawl.cli import main; main()")
WANTED_TYPES = ("text/html", "application/xhtml+xml", "text/plain")
OTHER_TYPE = "text/plain"  # of a file whose ending is not known: what nginx says when nothing else is set
FOLLOWED_RELS = {"next", "canonical", "alternate"}
MOST_SHOWN = 20  # differences of one manual
_DENIED = re.compile(r"/private/|/.*\.cgi")  # paths, as ROBOTS says
_REFRESH = re.compile(r"[\s\d.]*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)
_SAFE = "!$&'()*+,;=:@/-._~%"  # in a path: what is not encoded

# The words that both sides have for what became of a URL.
STORED, REDIRECT, UNWANTED, MISSING, DENIED, NOINDEX = "stored", "redirect", "unwanted type", "4xx", "denied", "noindex"
_BY_OUTCOME = {
    "fetched": STORED,
    "redirect": REDIRECT,
    "unwanted-type": UNWANTED,
    "http-4xx": MISSING,
    "robots-denied": DENIED,
    "noindex": NOINDEX,
}


# The web


def types() -> str:
    """nginx's table of types, with every ending that Python knows: so both sides go by one table."""
    endings: dict[str, list[str]] = {}
    for ending, media_type in sorted(mimetypes.types_map.items()):
        endings.setdefault(media_type, []).append(ending[1:])
    return " ".join(f"{media_type} {' '.join(known)};" for media_type, known in endings.items())


def lay_out(tree: Path, root: Path) -> None:
    """Copy a manual below `root`; links become files, as they lead to other places on a machine that installed it."""
    top = Path(os.path.commonpath(html_files(tree)))
    for file in top.rglob("*"):
        if is_inside(file, tree):
            place = root / file.relative_to(top)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, place)
    (root / "robots.txt").write_text(ROBOTS, "ascii")


# The search


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says of a URL, worked out from the files."""

    word: str
    links: tuple[str, ...] = ()


class Search:
    """Breadth first over the files of one manual."""

    def __init__(self, root: Path, origin: str) -> None:
        self._root = root
        self._origin = origin

    def all(self, start: str) -> dict[str, str]:
        """URL → what became of it, for all that can be reached."""
        found: dict[str, str] = {}
        todo = deque([start])
        known = {start}
        while todo:
            url = todo.popleft()
            answer = self._answer(url)
            found[url] = answer.word
            for link in answer.links:
                if link not in known:
                    known.add(link)
                    todo.append(link)
        return found

    def _answer(self, url: str) -> Answer:
        path = urlsplit(url).path
        if _DENIED.match(path):
            return Answer(DENIED)
        file = self._root / unquote(path).lstrip("/")
        if file.is_dir() and not path.endswith("/"):
            return Answer(REDIRECT, (f"{self._origin}{path}/",))
        file = file / "index.html" if path.endswith("/") else file
        if not file.is_file():
            return Answer(MISSING)
        media_type = mimetypes.types_map.get(file.suffix.lower(), OTHER_TYPE)
        if media_type not in WANTED_TYPES:
            return Answer(UNWANTED)
        return self._page(url, file) if media_type != "text/plain" else Answer(STORED)

    def _page(self, url: str, file: Path) -> Answer:
        body = file.read_bytes()
        if not body.strip():
            return Answer(STORED)
        tree = html.document_fromstring(body, parser=html.HTMLParser(encoding=_charset(body)))
        wishes = {
            word for content in _contents(tree, "name", "robots") for word in re.split(r"[\s,]+", content.lower())
        }
        links = () if wishes & {"nofollow", "none"} else tuple(self._links(url, tree))
        return Answer(NOINDEX if wishes & {"noindex", "none"} else STORED, links)

    def _links(self, url: str, tree: html.HtmlElement) -> Iterator[str]:
        bases = [element.get("href").strip() for element in tree.iter("base") if element.get("href")]
        base = urljoin(url, bases[0]) if bases else url
        for href in _hrefs(tree):
            link = _normal(base, href)
            if link is not None and link.startswith(self._origin + "/"):
                yield link


def _hrefs(tree: html.HtmlElement) -> Iterator[str]:
    for element in tree.iter("a", "area", "iframe", "frame", "link"):
        rels = set((element.get("rel") or "").lower().split())
        if element.tag in ("a", "area"):
            if "nofollow" not in rels:
                yield element.get("href")
        elif element.tag == "link":
            if rels & FOLLOWED_RELS and "stylesheet" not in rels:
                yield element.get("href")
        else:
            yield element.get("src")
    for content in _contents(tree, "http-equiv", "refresh"):
        match = _REFRESH.match(content)
        if match:
            yield match[1]


def _contents(tree: html.HtmlElement, key: str, value: str) -> list[str]:
    metas = [meta for meta in tree.iter("meta") if (meta.get(key) or "").strip().lower() == value]
    return [meta.get("content") or "" for meta in metas]


def _charset(body: bytes) -> str:
    """That the page names, in its first bytes; else what any bytes can be read as."""
    match = re.search(rb"(?:charset|encoding)\s*=\s*[\"']?([\w-]+)", body[:1024])
    name = match[1].decode() if match else "iso-8859-1"
    try:
        b"".decode(name)
    except LookupError:
        return "iso-8859-1"
    return name


def _normal(base: str, href: str | None) -> str | None:
    """Resolved, without fragment, and with a path as RFC 3986 has it; None for what is no http URL."""
    text = (href or "").strip(" \t\n\f\r").translate({9: None, 10: None, 13: None})
    if not text:
        return None
    before, mark, behind = text.partition("?")
    try:  # the URL standard reads "\\" in a path as "/"
        parts = urlsplit(urldefrag(urljoin(base, before.replace("\\", "/") + mark + behind)).url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https"):
        return None
    path = re.sub("%[0-9a-fA-F]{2}", _normal_triplet, quote(parts.path or "/", safe=_SAFE))
    query = f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}{path}{query}"


def _normal_triplet(match: re.Match[str]) -> str:
    character = chr(int(match[0][1:], 16))
    return character if re.fullmatch(r"[A-Za-z0-9._~-]", character) else match[0].upper()


# The crawl


def crawl(start: str, folder: Path) -> dict[str, tuple[str, str]]:
    """URL → what became of it, in the search's words and in the crawl's own."""
    host = urlsplit(start).netloc
    _run("init", str(folder), "--seed", start)
    settings = f"""
[scope]
allow_hosts = ["{host}"]
[politeness]
delay = 0
[security]
allow_private_addresses = true
"""
    (folder / "pycrawl.toml").write_text(settings, "utf-8")
    _run("crawl", "-C", str(folder))
    _run("verify", "--deep", "-C", str(folder))
    with closing(sqlite3.connect(f"{(folder / 'state.db').as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute("SELECT url, outcome, detail FROM visits JOIN urls ON urls.id = url_id").fetchall()
        stored = {url for (url,) in database.execute("SELECT url FROM documents JOIN urls ON urls.id = url_id")}
    assert {url for url, outcome, _ in rows if outcome == "fetched"} == stored
    return {url: (_BY_OUTCOME.get(outcome, outcome), f"{outcome} {detail}".strip()) for url, outcome, detail in rows}


def _run(*arguments: str) -> None:
    ended = subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"pycrawl {' '.join(arguments)}: {ended.returncode}\n{ended.stdout}{ended.stderr}")


# Both


def differences(searched: dict[str, str], crawled: dict[str, tuple[str, str]]) -> list[str]:
    nothing = ("nothing", "never asked for")
    return [
        f"{url}: the search says {searched.get(url, 'nothing')}, the crawl {crawled.get(url, nothing)[1]}"
        for url in sorted(searched.keys() | crawled.keys())
        if searched.get(url, "nothing") != crawled.get(url, nothing)[0]
    ]


def compare(name: str, root: Path, origin: str, folder: Path) -> int:
    """Print one line for the manual, and one for each difference; returns their number."""
    start = f"{origin}/index.html"
    searched = Search(root, origin).all(start)
    crawled = crawl(start, folder)
    pages = sum(word == STORED for word in searched.values())
    fetched = sum(word == STORED for word, _ in crawled.values())
    missing = sum(searched[url] == STORED and crawled.get(url, ("",))[0] != STORED for url in searched)
    invented = sum(word == STORED and searched.get(url) != STORED for url, (word, _) in crawled.items())
    found = differences(searched, crawled)
    print(
        f"{name:22} {len(searched):6,} URLs, {pages:6,} pages by the search, {fetched:6,} by the crawl:"
        f" {missing:,} missing, {invented:,} invented, {len(found):,} differences in all",
        flush=True,
    )
    for line in found[:MOST_SHOWN]:
        print(f"    {line}")
    if len(found) > MOST_SHOWN:
        print(f"    … and {len(found) - MOST_SHOWN:,} more")
    return len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", default=PACKAGES, help="names or patterns (default: seven manuals)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="for the packages (default: %(default)s)")
    parser.add_argument("--keep", type=Path, help="leave the crawls here")
    options = parser.parse_args()
    try:
        packages = download(options.cache / "manuals" / "packages", options.packages)
    except NoManuals as error:
        raise SystemExit(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="pycrawl-coverage-") as temporary:
        folder = Path(temporary)
        addresses = {}
        for number, package in enumerate(packages, 1):
            name, tree = unpack(package, folder / "unpacked")
            addresses[name] = f"127.4.0.{number}"
            lay_out(tree, folder / "web" / addresses[name])
        crawls = options.keep or folder / "crawls"
        crawls.mkdir(parents=True, exist_ok=True)
        port = free_port()
        with nginx([*addresses.values()], folder / "web", folder / "nginx", port, types=types()):
            found = sum(
                compare(name, folder / "web" / address, f"http://{address}:{port}", crawls / name)
                for name, address in addresses.items()
            )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
