"""What pages say about their use, counted in a sample of the collection: for a datasheet, no legal advice.

Records are read, as the state does not keep these signals. A crawl of any size is reported in seconds that way, and a
small one completely.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from pycrawl.collection.document import Document
from pycrawl.errors import PycrawlError

_LOOKED_AT = 300_000  # bytes of a body that are searched
_META = re.compile(rb"<meta\b[^<>]{0,1000}>", re.IGNORECASE)
_NAME = re.compile(rb"""\bname\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_CONTENT = re.compile(rb"""\bcontent\s*=\s*(?:"([^"<>]{0,500})"|'([^'<>]{0,500})'|([^\s"'<>]{1,500}))""", re.IGNORECASE)
_LICENCE = re.compile(
    rb"""<(?:a|link)\b(?=[^<>]{0,1000}\brel\s*=\s*["']?[^"'<>]{0,200}\blicen[cs]e\b)"""
    rb"""[^<>]{0,1000}?\bhref\s*=\s*["']?([^"'\s<>]{1,500})""",
    re.IGNORECASE,
)
_CREATIVE = re.compile(
    rb"creativecommons\.org/(licenses|publicdomain)/([a-z0-9-]{1,20})(?:/([0-9.]{1,5}))?", re.IGNORECASE
)
_WISHES = frozenset(
    {"noai", "noimageai", "noindex", "nofollow", "noarchive", "nosnippet", "none", "noml", "notranslate"}
)
_ROBOT_NAMES = frozenset({b"robots", b"googlebot", b"bingbot", b"bot", b"ai", b"tdm-reservation"})
_MOST_NAMED = 15  # kinds of licences or wishes that are counted apart
_AI_AGENTS = re.compile(
    rb"^[ \t]*user-agent[ \t]*:[ \t]*(GPTBot|ChatGPT-User|OAI-SearchBot|CCBot|Google-Extended|anthropic-ai|ClaudeBot|"
    rb"Claude-Web|PerplexityBot|Bytespider|Applebot-Extended|Meta-ExternalAgent|cohere-ai|Amazonbot|Diffbot)\b",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(slots=True)
class Rights:
    """Counts of documents, out of `read`."""

    read: int = 0
    damaged: int = 0
    header_wishes: Counter[str] = field(default_factory=Counter)  # words of X-Robots-Tag
    meta_wishes: Counter[str] = field(default_factory=Counter)  # words of <meta name="robots"> and the like
    tdm_reserved: int = 0  # a TDM-Reservation header or tag that is not 0
    licences: Counter[str] = field(
        default_factory=Counter
    )  # what links with rel="license", or to Creative Commons, name
    with_licence: int = 0
    languages: Counter[str] = field(default_factory=Counter)


def read_sample(documents: Iterable[Document]) -> Rights:
    """Returns what documents say about their use, and in which languages they are."""
    found = Rights()
    for document in documents:
        try:
            _read(document, found)
        except PycrawlError:
            found.damaged += 1
    return found


def _read(document: Document, found: Rights) -> None:
    body = document.body[:_LOOKED_AT]
    language = document.language.partition("-")[0]
    found.read += 1
    found.languages[language or "not known"] += 1
    is_reserved = False
    header: set[str] = set()
    for name, value in document.headers:
        if name.lower() == "x-robots-tag":
            header |= _words(value)
        elif name.lower() == "tdm-reservation":
            is_reserved |= value.strip() not in ("", "0")
    meta: set[str] = set()
    for tag in _META.finditer(body):
        name_of, content = _NAME.search(tag[0]), _CONTENT.search(tag[0])
        if name_of is None or content is None or name_of[1].lower() not in _ROBOT_NAMES:
            continue
        text = next(part for part in content.groups() if part is not None).decode("latin-1")
        if name_of[1].lower() == b"tdm-reservation":
            is_reserved |= text.strip() not in ("", "0")
        else:
            meta |= _words(text)
    found.header_wishes.update(header)
    found.meta_wishes.update(meta)
    found.tdm_reserved += is_reserved
    licences = _licences(body)
    found.with_licence += bool(licences)
    found.licences.update(licences)


def _words(text: str) -> set[str]:
    return {word for word in re.split(r"[\s,:;]+", text.lower()) if word in _WISHES}


def _licences(body: bytes) -> set[str]:
    """Returns what a page links to as its licence; Creative Commons' by their short names."""
    named = set()
    for match in _CREATIVE.finditer(body):
        kind = match[2].decode().lower()
        if match[1].lower() == b"publicdomain":
            named.add("CC0" if kind == "zero" else "public domain")
        else:
            named.add(f"CC {kind.upper()}" + (f" {match[3].decode()}" if match[3] else ""))
    for match in _LICENCE.finditer(body):
        if not _CREATIVE.search(match[1]):
            named.add(match[1].decode("utf-8", "replace"))
    return named


def top(counts: Counter[str], most: int = _MOST_NAMED) -> dict[str, int]:
    """Returns the most frequent names; the others are summed up as "other"."""
    common = counts.most_common()
    named = dict(common[:most])
    if len(common) > most:
        named["other"] = sum(count for _, count in common[most:])
    return named


def ai_agents_named(bodies: Iterable[bytes]) -> tuple[int, dict[str, int]]:
    """Returns how many robots.txt files have rules for a crawler that gathers training data, and which are named."""
    files = 0
    agents: Counter[str] = Counter()
    for body in bodies:
        named = {match[1].decode().lower() for match in _AI_AGENTS.finditer(body)}
        files += bool(named)
        agents.update(named)
    return files, top(agents)
