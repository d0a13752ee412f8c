"""Hosts of the hostile web whose fault is in their connections, their robots.txt, or where they redirect to."""

from __future__ import annotations

import itertools
import time

from pycrawl.simweb.hostile_visit import HostileHost, Serve, Visit, page

_SLOW_SECONDS = 1.0  # between two bytes of a slow host
_RULES = 30_000  # in a robots.txt of nearly 500 KiB
_PAGES = 5  # of a host whose fault is its robots.txt
_ROBOTS = "/robots.txt"
_ITS_URL = "The URL fails, by its name; other hosts notice nothing."
_LIMITS = "Give up by its own limits on time or bytes; other hosts notice nothing."
_LATER = "Fetch no page while the rules are not known; ask again, less and less often; then fetch all pages."


# Connections


def _never_answers(visit: Visit) -> None:
    visit.wait()


def _slow_head(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    visit.send_for_ever(b"x", _SLOW_SECONDS)


def _slow_body(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
    visit.send_for_ever(b"x", _SLOW_SECONDS)


def _closes(visit: Visit) -> None:
    """Nothing is sent, and the connection closed in order."""


def _resets(visit: Visit) -> None:
    visit.reset()


def _resets_in_head(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Ty")
    time.sleep(0.05)
    visit.reset()


def _resets_in_body(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>half a page")
    time.sleep(0.05)
    visit.reset()


def _cut_body(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>half a page")


def _cut_chunks(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf a chunk")


def _breaks_keep_alive(visit: Visit) -> None:
    visit.answer(page("keep-alive is promised", *(f"/{number}" for number in range(_PAGES))))
    visit.keep_alive = False


def _greets(visit: Visit) -> None:
    visit.send(b"SSH-2.0-OpenSSH_9.2p1\r\n")


def _forges(visit: Visit) -> None:
    """What is left over looks like the answer to the next request."""
    forged = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\nforged"
    visit.keep_alive = True
    body = page("an answer and a forged one", "/1", "/2")
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body), body, forged)


CONNECTIONS = (
    HostileHost("never-answers", "Takes the request, and never says anything.", _LIMITS, _never_answers),
    HostileHost("slow-head", "Sends one byte of its head a second.", _LIMITS, _slow_head),
    HostileHost("slow-body", "Sends one byte of its body a second.", _LIMITS, _slow_body),
    HostileHost("closes", "Closes the connection without an answer.", _ITS_URL, _closes),
    HostileHost("resets", "Resets the connection without an answer.", _ITS_URL, _resets),
    HostileHost("resets-in-head", "Resets the connection in the middle of its head.", _ITS_URL, _resets_in_head),
    HostileHost("resets-in-body", "Resets the connection in the middle of its body.", _ITS_URL, _resets_in_body),
    HostileHost("cut-body", "Closes the connection before the body is whole.", _ITS_URL, _cut_body),
    HostileHost("cut-chunks", "Closes the connection in the middle of a chunk.", _ITS_URL, _cut_chunks),
    HostileHost(
        "breaks-keep-alive",
        "Promises to keep its connections, and closes each after one answer.",
        "Fetch its six pages, none of them twice.",
        _breaks_keep_alive,
    ),
    HostileHost("speaks-first", "Greets as an SSH server does.", _ITS_URL, _greets, own_robots=True, greets=True),
    HostileHost(
        "forged-answer",
        "Sends more than it announced; the rest looks like an answer to the next request.",
        "Never take the forged answer for that of a page.",
        _forges,
    ),
)


# robots.txt


def _with_robots(serve_robots: Serve, count: int = _PAGES) -> Serve:
    """Pages that are there, behind a robots.txt that is not right."""

    def serve(visit: Visit) -> None:
        if visit.path == _ROBOTS:
            serve_robots(visit)
        else:
            visit.answer(page(f"page {visit.path}", *(f"/{number}" for number in range(count))))

    return serve


def _text(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> Serve:
    return lambda visit: visit.answer(body, b"Content-Type: text/plain", *headers, status=status)


def _recovering() -> Serve:
    """Answers 503 three times, and then as it should."""
    times = itertools.count()

    def serve(visit: Visit) -> None:
        if next(times) < 3:
            visit.answer(b"", b"Retry-After: 3", status=b"503 Service Unavailable")
        else:
            _text(b"User-agent: *\nDisallow: /secret\n")(visit)

    return serve


def _endless_robots(visit: Visit) -> None:
    visit.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\n")
    visit.send_for_ever(b"Disallow: /never\n" * 1_000)


def _huge_rules() -> bytes:
    return b"User-agent: *\n" + b"".join(b"Disallow: /%x\n" % (number * 7) for number in range(_RULES))


def _robots_host(name: str, does: str, should: str, serve_robots: Serve) -> HostileHost:
    return HostileHost(f"robots-{name}", does, should, _with_robots(serve_robots), own_robots=True)


def robots_hosts() -> tuple[HostileHost, ...]:
    busy = b"503 Service Unavailable"
    wildcards = b"User-agent: *\n" + b"Disallow: /*a*a*a*a*a*a*a*a*b$\n" * 5_000
    escapes = b"User-agent: *\nDisallow: /1 # \x1b]0;owned\x07\x1b[2J\xc2\x9b31m\nSitemap: \x1b[31mhttp://x/\n"
    return (
        _robots_host(
            "garbage-gzip", "Its robots.txt says gzip, and is not.", _LATER, _text(b"x", b"Content-Encoding: gzip")
        ),
        _robots_host("503", "Its robots.txt is always 503.", _LATER, _text(b"", status=busy)),
        _robots_host(
            "503-retry-after",
            "Its robots.txt is always 503 with Retry-After: 30.",
            "Not ask for it again within 30 seconds; fetch no page.",
            _text(b"", b"Retry-After: 30", status=busy),
        ),
        _robots_host("recovers", "Its robots.txt is 503 three times, then there.", _LATER, _recovering()),
        _robots_host("500", "Its robots.txt is always 500.", _LATER, _text(b"", status=b"500 Broken")),
        _robots_host("hangs", "Its robots.txt never comes.", _LATER, _never_answers),
        _robots_host("resets", "Its robots.txt resets the connection.", _LATER, _resets),
        _robots_host("odd-status", "Its robots.txt has the status 999.", _LATER, _text(b"", status=b"999 No")),
        _robots_host("30000-rules", "500 KiB of short rules.", "Obey them, in bounded memory.", _text(_huge_rules())),
        _robots_host("wildcards", "5,000 rules of many wildcards.", "Obey them, in bounded time.", _text(wildcards)),
        _robots_host("endless", "A robots.txt without end.", "Read 500 KiB of it and obey these.", _endless_robots),
        _robots_host(
            "loops",
            "Its robots.txt redirects to itself.",
            "Not ask for it without end.",
            lambda visit: visit.redirect(b"/robots.txt"),
        ),
        _robots_host(
            "utf-16",
            "A robots.txt in UTF-16.",
            "Read what it can of it.",
            _text("User-agent: *\nDisallow: /".encode("utf-16")),
        ),
        _robots_host(
            "html", "A page instead of rules.", "Take it for no rules: fetch the pages.", _text(page("not here", "/"))
        ),
        _robots_host("escapes", "Terminal escapes in its rules.", _SHOWN, _text(escapes)),
        _robots_host(
            "delay-of-a-day",
            "Crawl-delay: 86400.",
            "Wait as long, or up to a limit of its own; not keep others waiting.",
            _text(b"User-agent: *\nCrawl-delay: 86400\n"),
        ),
        _robots_host(
            "nuls-and-returns",
            "Lines that end in carriage returns, and NULs.",
            "Not fetch /4.",
            _text(b"\0User-agent: *\rDisallow: /4\r\0"),
        ),
    )


# Redirects


def _redirects(location: str, status: bytes = b"302 Found", *headers: bytes) -> Serve:
    return lambda visit: visit.redirect(location.encode("utf-8", "surrogateescape"), *headers, status=status)


def _to_and_fro(visit: Visit) -> None:
    visit.redirect(b"/b" if visit.path == "/" else b"/")


def _longer_and_longer(visit: Visit) -> None:
    visit.redirect(visit.path.encode("latin-1") + b"x/")


def _another_cookie(visit: Visit) -> None:
    visit.redirect(b"/", b"Set-Cookie: n%d=1; Path=/" % time.monotonic_ns())


_SHOWN = "Show them as text, never raw."
_NOT_FOLLOWED = "Follow it nowhere; the URL fails, by its name."


def _redirect_host(name: str, does: str, should: str, serve: Serve) -> HostileHost:
    return HostileHost(f"redirect-{name}", does, should, serve)


REDIRECTS = (
    _redirect_host("to-itself", "Redirects to the same URL.", _NOT_FOLLOWED, _redirects("/")),
    _redirect_host("loop", "Two URLs redirect to each other.", "Ask each of them once.", _to_and_fro),
    _redirect_host("without-end", "Each URL redirects to a longer one.", "Stop after some.", _longer_and_longer),
    _redirect_host("cookies", "Redirects to itself with a new cookie each time.", "Stop after few.", _another_cookie),
    _redirect_host("to-a-file", "Location: file:///etc/passwd", _NOT_FOLLOWED, _redirects("file:///etc/passwd")),
    _redirect_host("to-ftp", "Location: ftp://127.0.0.1/", _NOT_FOLLOWED, _redirects("ftp://127.0.0.1/")),
    _redirect_host(
        "to-an-inner-address",
        "Location: http://10.0.0.1/",
        "Not connect to it, unless told so.",
        _redirects("http://10.0.0.1/"),
    ),
    _redirect_host(
        "to-metadata",
        "Location: http://169.254.169.254/latest/",
        "Not connect to it, unless told so.",
        _redirects("http://169.254.169.254/latest/"),
    ),
    _redirect_host("to-ssh", "Location: a port 22", "Not ask port 22 for a page.", _redirects("http://127.0.0.1:22/")),
    _redirect_host("to-redis", "Location: a port 6379", "Not ask it for a page.", _redirects("http://127.0.0.1:6379/")),
    _redirect_host("to-an-odd-host", 'Location: http://a"b`c/', _NOT_FOLLOWED, _redirects('http://a"b`c/')),
    _redirect_host("to-nowhere", "Location: http://", _NOT_FOLLOWED, _redirects("http://")),
    _redirect_host("without-location", "302 without Location", _ITS_URL, lambda v: v.answer(b"", status=b"302 Found")),
    _redirect_host("of-60-kb", "A Location of 60 KB", _NOT_FOLLOWED, _redirects("/" + "x" * 60_000)),
    _redirect_host(
        "with-escapes",
        "Terminal escapes, bidi and C1 controls in Location.",
        _SHOWN,
        _redirects("http://h/\x1b]0;owned\x07\x1b[2J\u202e\u009b31m"),
    ),
    _redirect_host(
        "nowhere-with-escapes",
        "The same in a Location that cannot be followed.",
        _SHOWN,
        _redirects("odd:\x1b]0;owned\x07\x1b[2J\u202e\u009b31m"),
    ),
)
