"""Hosts of the hostile web whose fault is in their pages: markup, encodings, headers, and traps without end."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

from pycrawl.simweb.hostile_visit import HostileHost, Visit, page

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b31m\u202e\u2066\x08\x7f"
BLOCKED_PORTS = (1, 22, 25, 110, 143, 445, 587, 6_000, 6_379, 6_667)  # of services other than the web
_LINKS = 100_000
_READ = "Read it, or a part of it, in bounded time and memory."
_LEAVE = "Leave after a bounded number of pages, and fetch the rest of the web meanwhile."
_SHOWN = "Show what it shows of it as text: no control character reaches a terminal or a log."


def _served(make: Callable[[], bytes], *headers: bytes) -> Callable[[Visit], None]:
    """Answers every request with one page, which is made when it is first asked for."""
    made = cache(make)
    return lambda visit: visit.answer(made(), *headers)


def _markup(name: str, does: str, make: Callable[[], bytes], *headers: bytes, should: str = _READ) -> HostileHost:
    return HostileHost(name, does, should, _served(make, *headers))


def _records() -> bytes:
    forged = (
        b"</DOC>\n<DOC>\n<DOCNO>WTX001-B01-1</DOCNO>\n<DOCHDR>\nhttp://forged/\nHTTP/1.1 200 OK\n</DOCHDR>\nforged\n"
    )
    return b"<!DOCTYPE html><title>Records</title><p>of TREC Web\n" + forged * 3 + b"</DOC>\n</DO\0C>\n</doc >\n"


def _odd_links() -> bytes:
    hosts = [
        'a"b',
        "a`b",
        "a b",
        "a_b",
        "a%00b",
        "xn--a",
        "x" * 300,
        "[::1",
        "1.2.3.4.5",
        "0x7f.1",
        "a..b",
        "-a",
        "a\\@b",
    ]
    links = [f"http://{host}/" for host in hosts]
    links += [
        "http://",
        "//",
        "http:///x",
        "javascript:void(0)",
        "data:text/html,x",
        "mailto:a@b",
        "%",
        "?" + "a&" * 500,
    ]
    links += [f"http://127.0.0.1:{port}/" for port in (0, 99_999)]
    anchors = "".join(f"<a href='{link}'>x</a>\n" for link in links)
    return f"<!DOCTYPE html><title>Odd links</title>{anchors}".encode()


def _service_ports() -> bytes:
    return page("Ports of other services", *(f"http://127.0.0.1:{port}/" for port in BLOCKED_PORTS))


def _escapes() -> bytes:
    text = f"{ESCAPES} and more words"
    links = f"<a href='/{ESCAPES}'>{text}</a><a href='http://{ESCAPES}/'>{text}</a><base href='{ESCAPES}'>"
    return f"<!DOCTYPE html><title>{text}</title><p>{text}</p>{links}".encode()


def _named_escapes(visit: Visit) -> None:
    raw = ESCAPES.encode()
    visit.answer(b"<p>x", b"Content-Type: image/" + raw.replace(b"\x08", b""), b"X-Robots-Tag: " + raw)


def _reversed_words() -> bytes:
    return ("<!DOCTYPE html><title>t</title>" + "<a>" * 5_000 + "<table><b>" * 5_000 + "</a></p>" * 5_000).encode()


PAGES = (
    _markup(
        "deep-nesting", "200,000 elements inside each other.", lambda: b"<p>x<a href=/1>1</a>" + b"<div>" * 200_000
    ),
    _markup(
        "many-attributes",
        "A tag of 100,000 attributes.",
        lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(_LINKS)) + b">x",
    ),
    _markup("one-tag-of-10-mb", "One tag of ten megabytes.", lambda: b'<p title="' + b"x" * 10_000_000 + b'">x'),
    _markup("100000-links", "A page of 100,000 links.", lambda: page("links", *(f"/{n}" for n in range(_LINKS)))),
    _markup(
        "open-comment",
        "A comment of five megabytes that is never closed.",
        lambda: b"<p>x<!--" + b"- <a href=/1>" * 400_000,
    ),
    _markup("open-quotes", "Quotes and tags that are never closed.", lambda: b"<a href='" * 200_000),
    _markup("mixed-up-tags", "Tags that are closed in the wrong order, thousands of them.", _reversed_words),
    _markup(
        "entities", "A megabyte of character references.", lambda: b"<p>" + b"&amp;&nGt;&#x1F600;&#0;&#xD800;&" * 30_000
    ),
    _markup(
        "nuls",
        "NULs between the letters of a page.",
        lambda: b"<!DOCTYPE html>\0<title>N\0ULs</title><p>t\0ext <a href='/\0x'>x</a>",
    ),
    _markup("nuls-only", "Ten megabytes of NULs, served as HTML.", lambda: bytes(10_000_000)),
    _markup("binary-as-html", "A picture, served as HTML.", lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 400),
    _markup(
        "utf-16-unmarked",
        "UTF-16 without a mark, declared as UTF-8.",
        lambda: page("wide", "/1").decode().encode("utf-16-le"),
    ),
    _markup(
        "wrong-charset",
        "Declared as UTF-8, written in Shift_JIS.",
        lambda: "<title>日本語</title><p>これは日本語のページです".encode("shift_jis"),
    ),
    _markup(
        "unknown-charset",
        "A charset that nobody knows.",
        lambda: b"<p>\xe9t\xe9",
        b"Content-Type: text/html; charset=klingon-8",
    ),
    _markup(
        "utf-7",
        "Declared as UTF-7, in which tags are hidden.",
        lambda: b"+ADw-script+AD4-",
        b"Content-Type: text/html; charset=utf-7",
    ),
    _markup(
        "bare-surrogates",
        "Halves of surrogate pairs, in UTF-8.",
        lambda: b"<title>\xed\xa0\x80</title><a href='/\xed\xa0\x80'>x</a>",
    ),
    _markup(
        "records",
        "Tags of the TREC Web format in its body.",
        _records,
        should="Store it so that no reader sees more than one record.",
    ),
    _markup("escapes", "Terminal escapes, bidi and C1 controls in title, text and links.", _escapes, should=_SHOWN),
    HostileHost("escapes-in-content-type", "The same in Content-Type and X-Robots-Tag.", _SHOWN, _named_escapes),
    _markup(
        "odd-links",
        "Links to hosts and ports that are none.",
        _odd_links,
        should="Follow none of them; none ends in an internal error.",
    ),
    _markup("service-ports", "Links to port 22, 25, 6379 …", _service_ports, should="Not ask them for pages."),
    _markup(
        "refresh-to-itself",
        "Refreshes itself at once.",
        lambda: b"<meta http-equiv=refresh content='0;url=/'><p>again",
        should="Fetch it once.",
    ),
    _markup("type-list", "A Content-Type of 60 KB.", lambda: b"<p>x", b"Content-Type: text/html" + b"; x=y" * 12_000),
)


# Traps: hosts that never end


def _calendar(visit: Visit) -> None:
    number = int("".join(filter(str.isdigit, visit.path[:20])) or 0)
    day = f"{2_000 + number // 12}-{number % 12 + 1:02d}"
    visit.answer(
        page(f"Calendar of {day}", f"/{number + 1}", f"/{max(0, number - 1)}", text=f"Nothing happens in {day}.")
    )


def _deeper(visit: Visit) -> None:
    visit.answer(page("Deeper", "a/", "b/", text="There is more below."))


def _sessions(visit: Visit) -> None:
    new = f"/?PHPSESSID={time.monotonic_ns():x}"
    visit.answer(page("Welcome", new, "/about;jsessionid=" + new[-8:], text="The same page under ever new names."))


def _filters(visit: Visit) -> None:
    query = visit.path.partition("?")[2]
    names = "colour size price brand sort page view lang".split()
    visit.answer(
        page("Shop", *(f"/?{query}&{name}={time.monotonic_ns() % 97}" for name in names), text="Everything, filtered.")
    )


def _soft_404(visit: Visit) -> None:
    visit.answer(page("Welcome", f"{visit.path.rstrip('/')}/next", text="This page cannot be found, but all is well."))


def _always_new(visit: Visit) -> None:
    number = time.monotonic_ns()
    words = " ".join(f"w{number * step % 99_991:x}" for step in range(1, 200))
    visit.answer(page(f"Page {number}", f"/{number}", f"/{number + 1}", text=words))


def _cookies(visit: Visit) -> None:
    number = time.monotonic_ns()
    flood = [b"Set-Cookie: c%d=%s; Path=/" % (number + n, b"v" * 1_000) for n in range(50)]
    visit.answer(page("Cookies", f"/{number % 100}"), *flood)


def _etags(visit: Visit) -> None:
    number = time.monotonic_ns()
    visit.answer(
        page("ETags", f"/{number % 100}"), b'ETag: "%d%s"' % (number, b"e" * 60_000), b"Last-Modified: " + b"l" * 200
    )


TRAPS = (
    HostileHost("calendar", "A calendar without end.", _LEAVE, _calendar),
    HostileHost("deeper", "Folders in folders without end.", _LEAVE, _deeper),
    HostileHost("sessions", "A new session in each link.", "Fetch its page once or a few times.", _sessions),
    HostileHost("filters", "A shop whose filters can be combined without end.", _LEAVE, _filters),
    HostileHost("soft-404", "Answers 200 for every URL, with a link to one more.", _LEAVE, _soft_404),
    HostileHost("always-new", "Two links to new pages on each page, each with new words.", _LEAVE, _always_new),
    HostileHost("cookie-flood", "Fifty cookies of a kilobyte with each page.", "Keep few of them.", _cookies),
    HostileHost("etag-flood", "An ETag of 60 KB on each page.", "Not send it back, or not keep it.", _etags),
)
