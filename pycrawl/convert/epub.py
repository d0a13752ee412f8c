"""EPUB: the chapters in the order of reading. Links inside of the book are left out, those that leave it are kept."""

from __future__ import annotations

import posixpath
import re
from urllib.parse import unquote

from pycrawl.convert.archive import Archive, joined
from pycrawl.convert.facts import iso_date
from pycrawl.convert.html_text import HtmlText
from pycrawl.convert.safe_xml import Element, known_entities, local_name, read_xml, tree
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

_LEAVES_THE_BOOK = re.compile(r"\s*(https?|ftp|mailto):", re.IGNORECASE)
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def convert(data: bytes, page: SimplePage) -> None:
    archive = Archive(data)
    name = _package_name(archive)
    package = tree(known_entities(archive.read(name)))
    _read_facts(package, page)
    chapters = _chapters(package, posixpath.dirname(name))
    locked = _locked(archive)
    if locked.intersection(chapters):
        raise Unconvertible(Trouble.ENCRYPTED, "its chapters are")
    missing = 0
    for chapter in chapters:
        if chapter not in archive.names:
            missing += 1
            continue
        reader = HtmlText(page, _outside)
        page.begin("section")
        read_xml(known_entities(archive.read(chapter)), reader, page, recover=True)
        reader.blocks.finish()
        page.end("section")
    if missing or not chapters:
        raise Unconvertible(Trouble.DAMAGED, f"{missing} of {len(chapters)} chapters are missing")


def _package_name(archive: Archive) -> str:
    root = tree(archive.read("META-INF/container.xml")).find("{*}rootfiles/{*}rootfile")
    if root is None:
        raise Unconvertible(Trouble.DAMAGED, "its container names no package")
    return joined("", root.get("full-path", ""))


def _read_facts(package: Element, page: SimplePage) -> None:
    stated: dict[str, str] = {}
    for fact in package.iterfind("{*}metadata//*"):
        stated.setdefault(local_name(fact.tag), "".join(fact.itertext()).strip())
    page.title = stated.get("title", "")
    page.author = stated.get("creator", "")
    page.language = stated.get("language", "")
    page.date = iso_date(stated.get("date", ""))


def _chapters(package: Element, folder: str) -> list[str]:
    """Returns the names of the chapters, each once."""
    files = {
        item.get("id"): joined(folder, unquote(item.get("href", "")))
        for item in package.iterfind("{*}manifest/{*}item")
        if item.get("media-type") in _CHAPTERS
    }
    order = [files.get(item.get("idref")) for item in package.iterfind("{*}spine/{*}itemref")]
    return list(dict.fromkeys(name for name in order if name))


def _locked(archive: Archive) -> set[str]:
    """Returns the names of the files that are encrypted; fonts often are, which does not matter."""
    data = archive.read_if_there("META-INF/encryption.xml")
    if not data:
        return set()
    return {joined("", unquote(file.get("URI", ""))) for file in tree(data).iter("{*}CipherReference")}


def _outside(href: str) -> str:
    return href.strip() if _LEAVES_THE_BOOK.match(href) else ""
