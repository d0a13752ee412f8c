"""Feeds: RSS, RDF, Atom (by feedparser) and JSON Feed, as the entries and the wishes that they state.

Feedparser also reads what is no XML, as one feed in ten is not; how much of that it is given is bounded, as its time is
not. What declares entities is refused.
"""

from __future__ import annotations

import io
import json
import re
from codecs import BOM_UTF8
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pycrawl.parse.dates import read_date
from pycrawl.parse.xml_guard import Unreadable, chunks, parse

MOST_BYTES = 5_000_000  # of a feed, after decompression; what stands behind it is not read
MOST_ENTRIES = 10_000
_MOST_BROKEN_BYTES = 500_000  # of a feed that is no XML
_MOST_JSON_BYTES = 2_000_000  # a longer one takes a hundred times its size in memory
_LONGEST_LINK = 4_096  # characters
_LONGEST_KEY = 2_000  # characters
_LONGEST_TITLE = 1_000  # characters
_HEAD_BYTES = 65_536  # before the first entry: where a feed says how often it wants to be visited
_ROOTS = ("rss", "rdf", "feed", "channel")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_PERIODS = {"hourly": 3_600.0, "daily": 86_400.0, "weekly": 604_800.0, "monthly": 2_592_000.0, "yearly": 31_536_000.0}
_URL = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]{0,30}:", re.IGNORECASE)
_FIRST_ENTRY = re.compile(rb"<(?:\w+:)?(?:item|entry)[\s>]")
_TTL = re.compile(rb"<ttl>\s*(\d{1,6})\s*<", re.IGNORECASE)
_HOURS = re.compile(rb"<hour>\s*(\d{1,2})\s*<", re.IGNORECASE)
_DAY_NAMES = re.compile(rb"<day>\s*([A-Za-z]{6,9})\s*<", re.IGNORECASE)
_PERIOD = re.compile(rb"<(?:\w{1,20}:)?updatePeriod[^>]{0,200}>\s*(\w{5,8})\s*<", re.IGNORECASE)
_FREQUENCY = re.compile(rb"<(?:\w{1,20}:)?updateFrequency[^>]{0,200}>\s*(\d{1,4})\s*<", re.IGNORECASE)


class FeedEntry(NamedTuple):
    link: str  # of its page, resolved as far as the feed has a base; empty: it has none
    key: str  # what tells it from others: its id, its link, or its content
    title: str = ""
    content: str = ""  # HTML, or text; only where there is no link
    is_html: bool = True
    changed_at: int = 0  # seconds since the epoch; 0: it does not say, or rubbish
    base: str = ""  # what links in the content are relative to; empty: the feed's own URL


@dataclass(slots=True)
class Feed:
    """What was read off a feed."""

    entries: list[FeedEntry] = field(default_factory=list)
    wait: float = 0.0  # seconds between two visits, as it asks for; 0: it does not
    skip_hours: int = 0  # bits: hours of the day (UTC) in which it asks not to be visited
    skip_days: int = 0  # bits: days of the week, Monday first
    hub: str = ""  # the WebSub hub that it names
    topic: str = ""  # its own URL as it says
    fault: str = ""  # what ended the reading too early, in a word
    is_feed: bool = True


def read_feed(data: bytes, content_type: str) -> Feed:
    """Any bytes give a feed: an empty one with a fault where they are none."""
    try:
        whole, fault = _whole(data)
        is_json = whole.removeprefix(BOM_UTF8).lstrip()[:1] == b"{"
        found = _read_json(whole) if is_json else _read_xml(whole, content_type)
    except Unreadable as unreadable:
        return Feed(fault=unreadable.word, is_feed=False)
    if len(found.entries) > MOST_ENTRIES:
        found.entries = found.entries[:MOST_ENTRIES]
        fault = fault or "too-many-entries"
    found.fault = found.fault or fault
    return found


def _whole(data: bytes) -> tuple[bytes, str]:
    """Returns the feed, decompressed, and a fault if it was cut."""
    parts = []
    try:
        for piece in chunks(data, MOST_BYTES):
            parts.append(piece)  # noqa: PERF402 - what came before a fault is kept
    except Unreadable as unreadable:
        if unreadable.word != "too-large":
            raise
        return b"".join(parts), unreadable.word
    return b"".join(parts), ""


# RSS, RDF, Atom


def _read_xml(data: bytes, content_type: str) -> Feed:
    found = Feed()
    try:
        _check(data)
    except Unreadable as unreadable:
        if unreadable.word != "broken-xml":
            raise
        found.fault = unreadable.word
        data = data[:_MOST_BROKEN_BYTES]
    import feedparser  # 60 ms to load, and most crawls meet no feed in the first second

    # Without the feed's URL, so that ids are not made into URLs: links are resolved later.
    headers = {"content-type": content_type or "application/xml"}
    try:
        # From a file object only: a text or bytes might be taken for a URL or a file's name.
        read: Any = feedparser.parse(
            io.BytesIO(data), response_headers=headers, sanitize_html=False, resolve_relative_uris=False
        )
    except Exception as error:  # noqa: BLE001 - whatever a broken feed makes of it
        raise Unreadable(f"broken-xml ({type(error).__name__})") from None
    if not read.get("version") and not read.get("entries"):
        raise Unreadable(found.fault or "not-a-feed")
    is_atom = str(read.get("version", "")).startswith("atom")
    found.entries = [_entry(one, is_atom) for one in read.entries[: MOST_ENTRIES + 1]]
    _take_wishes(data, found)
    links = read.feed.get("links")
    for link in links if isinstance(links, list) else ():  # an element <links> of a feed takes the list's place
        if not isinstance(link, dict):
            continue
        rel, href = str(link.get("rel", "")), str(link.get("href", ""))[:_LONGEST_LINK]
        if rel == "hub":
            found.hub = found.hub or href
        elif rel == "self":
            found.topic = found.topic or href
    return found


def _check(data: bytes) -> None:
    """Raises Unreadable if the data is broken XML, or XML that is no feed, declares entities or passes a bound."""
    is_root = True

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal is_root
        if is_root and name not in _ROOTS:
            raise Unreadable("html" if name == "html" else "not-a-feed")
        is_root = False

    parse(iter([data]), start, lambda name: None, lambda text: None)


def _entry(one: Any, is_atom: bool) -> FeedEntry:
    link = str(one.get("link") or "").strip()[:_LONGEST_LINK]
    changed_at = read_date(str(dict.get(one, "updated") or dict.get(one, "published") or "")).at
    key = str(one.get("id") or "").strip()[:_LONGEST_KEY]
    details = [detail for detail in one.get("content") or [] if isinstance(detail, dict)]
    # Feedparser takes an id for a link where there is none. In RSS it is one, if it is a URL; in Atom it never is.
    is_id = bool(dict.get(one, "guidislink")) and link == key
    if link and not _OTHER_SCHEME.match(link) and (not is_id or (_URL.match(link) and not is_atom)):
        return FeedEntry(link, key or link, changed_at=changed_at)
    summary = one.get("summary_detail")
    detail = next((detail for detail in details if detail.get("value")), summary if isinstance(summary, dict) else {})
    content, kind = str(detail.get("value") or one.get("summary") or ""), str(detail.get("type", ""))
    title = str(one.get("title") or "")[:_LONGEST_TITLE]
    elsewhere = "" if content else next((str(detail["src"]) for detail in details if detail.get("src")), "")
    if not content and (elsewhere or _URL.match(key)):  # RFC 4287, 4.1.3.2; and an id that is a URL is better than none
        return FeedEntry((elsewhere or key)[:_LONGEST_LINK], key or elsewhere, changed_at=changed_at)
    key = key or f"{title}\n{content}"[:_LONGEST_KEY]
    base = str(detail.get("base") or "")[:_LONGEST_LINK]
    return FeedEntry("", key, title, content, kind != "text/plain", changed_at, base)


def _take_wishes(data: bytes, found: Feed) -> None:
    """Read how often the feed wants to be visited: ttl, skipHours, skipDays (RSS), updatePeriod (RDF, RSS)."""
    first = _FIRST_ENTRY.search(data)
    head = data[: min(first.start() if first else len(data), _HEAD_BYTES)]
    if ttl := _TTL.search(head):
        found.wait = 60.0 * int(ttl[1])
    elif period := _PERIOD.search(head):
        seconds = _PERIODS.get(period[1].decode().lower(), 0.0)
        frequency = _FREQUENCY.search(head)
        found.wait = seconds / max(1, int(frequency[1]) if frequency else 1)
    for hour in _HOURS.findall(head):
        found.skip_hours |= 1 << (int(hour) % 24) if int(hour) <= 24 else 0
    for day in _DAY_NAMES.findall(head):
        name = day.decode().lower()
        found.skip_days |= 1 << _DAYS.index(name) if name in _DAYS else 0


# JSON Feed


def _read_json(data: bytes) -> Feed:
    if len(data) > _MOST_JSON_BYTES:
        raise Unreadable("too-large")
    try:
        read = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise Unreadable("broken-json") from None
    if not isinstance(read, dict) or not isinstance(read.get("items"), list):
        raise Unreadable("not-a-feed")
    if "version" in read and "jsonfeed" not in str(read["version"])[:200]:
        raise Unreadable("not-a-feed")
    items = [item for item in read["items"][: MOST_ENTRIES + 1] if isinstance(item, dict)]
    hubs = read.get("hubs")
    hub = next((one for one in hubs if isinstance(one, dict)), {}) if isinstance(hubs, list) else {}
    return Feed(
        entries=[_json_entry(item) for item in items],
        hub=_text(hub.get("url"), _LONGEST_LINK),
        topic=_text(read.get("feed_url"), _LONGEST_LINK),
    )


def _json_entry(item: dict[str, Any]) -> FeedEntry:
    link = _text(item.get("url") or item.get("external_url"), _LONGEST_LINK)
    key = _text(item.get("id"), _LONGEST_KEY)
    changed_at = read_date(_text(item.get("date_modified") or item.get("date_published"), 64)).at
    if link:
        return FeedEntry(link, key or link, changed_at=changed_at)
    html, text = _text(item.get("content_html")), _text(item.get("content_text"))
    title = _text(item.get("title"), _LONGEST_TITLE)
    content = html or text
    if not content and _URL.match(key):  # ids should be the URLs of their entries
        return FeedEntry(key, key, changed_at=changed_at)
    return FeedEntry("", key or f"{title}\n{content}"[:_LONGEST_KEY], title, content, bool(html), changed_at)


def _text(value: Any, most: int = MOST_BYTES) -> str:
    """Returns a value that should be a text, without halves of surrogate pairs; a number as its digits."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value)[:most].encode("utf-8", "replace").decode().strip()
