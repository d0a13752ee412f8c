"""RFC 9309 clause by clause, two published collections of cases, hostile files, and what holds for any bytes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.model import RobotsFile
from pycrawl.policy.robots import (
    MAX_ROBOTS_BYTES,
    MAX_SITEMAP_LENGTH,
    MAX_SITEMAPS,
    RobotsRules,
    Verdict,
    directives,
    expiry,
)

VECTORS = Path(__file__).parents[3] / "shared" / "data" / "robots"
SITE = "http://example.com"


def rules(text: str | bytes, agent: str = "pycrawl", status: int = 200) -> RobotsRules:
    body = text if isinstance(text, bytes) else text.encode()
    return RobotsRules.parse(RobotsFile(status, body, 0.0, 0.0), agent)


def for_everyone(*lines: str) -> RobotsRules:
    return rules("\n".join(["User-agent: *", *lines]))


def allows(robots: RobotsRules, path: str) -> bool:
    """Both ways of asking must agree."""
    allowed = robots.allowed(SITE + path)
    assert robots.verdict(SITE + path).allowed is allowed
    return allowed


# 2.2.1 The user-agent line: file, agent, is /x allowed?
USER_AGENT = {
    "no file, no rules": ("", "pycrawl", True),
    "named": ("User-agent: pycrawl\nDisallow: /x", "pycrawl", False),
    "case does not matter": ("USER-AGENT: PyCrawl\nDISALLOW: /x", "pYcRAWL", False),
    "another robot": ("User-agent: other\nDisallow: /x", "pycrawl", True),
    "a part of the name is another robot": ("User-agent: py\nDisallow: /x", "pycrawl", True),
    "a longer name is another robot": ("User-agent: pycrawl-news\nDisallow: /x", "pycrawl", True),
    "a name with a number is another robot": ("User-agent: pycrawl2\nDisallow: /x", "pycrawl", True),
    "a version does not matter": ("User-agent: pycrawl/2.0\nDisallow: /x", "pycrawl", False),
    "only the first word counts": ("User-agent: pycrawl the robot\nDisallow: /x", "pycrawl", False),
    "asterisks around a name do not matter": ("User-agent: *pycrawl*\nDisallow: /x", "pycrawl", False),
    "everyone": ("User-agent: *\nDisallow: /x", "pycrawl", False),
    "everyone, but we are named": ("User-agent: *\nDisallow: /x\nUser-agent: pycrawl\nDisallow: /y", "pycrawl", True),
    "named first, everyone later": ("User-agent: pycrawl\nDisallow: /y\nUser-agent: *\nDisallow: /x", "pycrawl", True),
    "named in a group without rules": ("User-agent: *\nDisallow: /x\n\nUser-agent: pycrawl\n", "pycrawl", True),
    "named with an empty rule": ("User-agent: pycrawl\nDisallow:\nUser-agent: *\nDisallow: /x", "pycrawl", True),
    "several names, first": ("User-agent: pycrawl\nUser-agent: b\nDisallow: /x", "pycrawl", False),
    "several names, last": ("User-agent: a\n\n# too\nUser-agent: pycrawl\nDisallow: /x", "pycrawl", False),
    "several names with everyone": ("User-agent: a\nUser-agent: *\nDisallow: /x", "pycrawl", False),
    "groups of one name are merged": (
        "User-agent: pycrawl\nDisallow: /y\nUser-agent: b\nDisallow: /z\nUser-agent: pycrawl\nDisallow: /x",
        "pycrawl",
        False,
    ),
    "a rule ends the names": ("User-agent: pycrawl\nDisallow: /y\nUser-agent: b\nDisallow: /x", "pycrawl", True),
    "an empty rule ends the names": ("User-agent: pycrawl\nAllow:\nUser-agent: b\nDisallow: /x", "pycrawl", True),
    "a blank line does not end a group": ("User-agent: pycrawl\n\n\nDisallow: /x", "pycrawl", False),
    "rules before any group": ("Disallow: /x\nUser-agent: pycrawl\nDisallow: /y", "pycrawl", True),
    "a nameless line ends the group": ("User-agent: *\nDisallow: /y\nUser-agent:\nDisallow: /x", "pycrawl", True),
}


@pytest.mark.parametrize(("text", "agent", "allowed"), USER_AGENT.values(), ids=USER_AGENT)
def test_2_2_1_user_agent(text: str, agent: str, allowed: bool) -> None:
    assert allows(rules(text, agent), "/x") is allowed


# 2.2.2 Allow and Disallow: lines, path, allowed?
ALLOW_DISALLOW = {
    "nothing matches": (["Disallow: /x"], "/y", True),
    "prefix": (["Disallow: /x"], "/xyz", False),
    "from the start only": (["Disallow: /x"], "/y/x", True),
    "case matters": (["Disallow: /X"], "/x", True),
    "query": (["Disallow: /x?a="], "/x?a=1", False),
    "the root of a URL without a path": (["Disallow: /"], "", False),
    "a query without a path": (["Disallow: /?"], "?q", False),
    "the fragment does not matter": (["Disallow: /*y"], "/x#y", True),
    "empty Disallow": (["Disallow:"], "/x", True),
    "empty Allow matches nothing": (["Allow:", "Disallow: /"], "/x", False),
    "longest match, Allow": (["Disallow: /a", "Allow: /a/b"], "/a/b/c", True),
    "longest match, Disallow": (["Allow: /a", "Disallow: /a/b"], "/a/b/c", False),
    "longest match, other order": (["Allow: /a/b", "Disallow: /a"], "/a/c", False),
    "equal: Allow wins": (["Disallow: /a", "Allow: /a"], "/a", True),
    "equal in length: Allow wins": (["Disallow: /*b", "Allow: /ab"], "/ab", True),
    "no slash, no rule": (["Disallow: x"], "/x", True),
    "/robots.txt itself": (["Disallow: /"], "/robots.txt", True),
    "/robots.txt with a query is another page": (["Disallow: /"], "/robots.txt?x", False),
    "a robots.txt further down is another page": (["Disallow: /"], "/x/robots.txt", False),
    "the RFC's table, row 1": (["Disallow: /foo/bar?baz=quz"], "/foo/bar?baz=quz", False),
    "the RFC's table, row 2": (["Disallow: /foo/bar?baz=https://foo.bar"], "/foo/bar?baz=https%3A%2F%2Ffoo.bar", False),
    "row 2, swapped": (["Disallow: /foo/bar?baz=https%3a%2f%2ffoo.bar"], "/foo/bar?baz=https://foo.bar", False),
    "the RFC's table, row 3": (["Disallow: /foo/bar/ツ"], "/foo/bar/%E3%83%84", False),
    "the RFC's table, row 4": (["Disallow: /foo/bar/%E3%83%84"], "/foo/bar/ツ", False),
    "the RFC's table, row 5": (["Disallow: /foo/bar/%62%61%7A"], "/foo/bar/baz", False),
    "row 5, swapped": (["Disallow: /foo/bar/baz"], "/foo/bar/%62%61%7a", False),
    "an escape in the query": (["Disallow: /foo/bar?baz=open"], "/foo/bar?baz=%6Fpen", False),
    "escapes in either case": (["Disallow: /%c3%a9"], "/%C3%A9", False),
    "an escaped slash is not a slash": (["Disallow: /a/b"], "/a%2Fb", True),
    "an escaped slash is itself": (["Disallow: /a%2fb"], "/a%2Fb", False),
    "an escaped ? is not a ?": (["Disallow: /a?b"], "/a%3Fb", True),
    "an escaped slash behind a wildcard": (["Disallow: /*=a%2Fb"], "/q?t=a%2Fb", False),
    "an escaped escape stays": (["Disallow: /%41"], "/%2541", True),
    "a lone % is an escaped one": (["Disallow: /100%"], "/100%25", False),
    "a space": (["Disallow: /a b"], "/a%20b", False),
    "escapes weigh like what they stand for": (["Disallow: /%61%62", "Allow: /ab"], "/ab", True),
}


@pytest.mark.parametrize(("lines", "path", "allowed"), ALLOW_DISALLOW.values(), ids=ALLOW_DISALLOW)
def test_2_2_2_allow_and_disallow(lines: list[str], path: str, allowed: bool) -> None:
    assert allows(for_everyone(*lines), path) is allowed


def test_2_2_2_octets_that_are_not_utf_8() -> None:
    robots = rules(b"User-agent: *\nDisallow: /caf\xe9\nDisallow: /th\xc3\xa9 # \xff\n")
    assert not allows(robots, "/caf%E9")
    assert not allows(robots, "/th%C3%A9")
    assert allows(robots, "/caf%C3%A9")
    assert robots.verdict(f"{SITE}/caf%E9").line == "Disallow: /caf\N{REPLACEMENT CHARACTER}"


# 2.2.3 Special characters
SPECIAL_CHARACTERS = {
    "comment": (["Disallow: /x # not /y"], "/x", False),
    "comment without a space": (["Disallow: /x#y"], "/xz", False),
    "comment line": (["# Disallow: /x"], "/x", True),
    "* matches anything": (["Disallow: /a/*/c"], "/a/b/b/c/d", False),
    "* matches nothing": (["Disallow: /a*b"], "/ab", False),
    "* at the start": (["Disallow: *.gif$"], "/a/b.gif", False),
    "* at the end weighs one": (["Disallow: /a*", "Allow: /a"], "/ab", False),
    "* many": (["Disallow: /**a***b"], "/xaxb", False),
    "* many, out of order": (["Disallow: /*a*b"], "/bxa", True),
    "$ ends the path": (["Disallow: /a$"], "/a", False),
    "$ and more path": (["Disallow: /a$"], "/ab", True),
    "$ and a query": (["Disallow: /*.php$"], "/a.php?b", True),
    "$ takes the last of several": (["Disallow: /*a$"], "/aba", False),
    "$ must not use a part twice": (["Disallow: /*aba*ba$"], "/aba", True),
    "$ behind *": (["Disallow: /a*$"], "/abc", False),
    "$ weighs one": (["Allow: /", "Disallow: /$"], "/", False),
    "$ inside is a dollar": (["Disallow: /a$b"], "/a$b", False),
    "escaped $ is a dollar": (["Disallow: /a%24"], "/a$b", False),
    "escaped * is an asterisk": (["Disallow: /a%2A/"], "/ab/", True),
    "escaped * matches an asterisk": (["Disallow: /a%2A/"], "/a*/", False),
}


@pytest.mark.parametrize(("lines", "path", "allowed"), SPECIAL_CHARACTERS.values(), ids=SPECIAL_CHARACTERS)
def test_2_2_3_special_characters(lines: list[str], path: str, allowed: bool) -> None:
    assert allows(for_everyone(*lines), path) is allowed


# 2.2.4 Other records, and lines that only resemble records
OTHER_RECORDS = {
    "Sitemap between names": ("User-agent: pycrawl\nSitemap: http://a/s\nUser-agent: b\nDisallow: /x", False),
    "Crawl-delay between names": ("User-agent: pycrawl\nCrawl-delay: 1\nUser-agent: b\nDisallow: /x", False),
    "unknown line between names": ("User-agent: pycrawl\nFoo: bar\nUser-agent: b\nDisallow: /x", False),
    "unknown line among rules": ("User-agent: pycrawl\nAllow: /y\nFoo: bar\nDisallow: /x", False),
    "no colon": ("User-agent pycrawl\nDisallow /x", False),
    "space around the colon": (" user-agent :pycrawl\n\tdisallow\t:\t/x\t", False),
    "misspelt": ("Useragent: pycrawl\nDissalow: /x", False),
    "HTML in its place": ("<html><body>\n<p>User-agent: *</p>\n<p>Disallow: /x</p>", True),
}


@pytest.mark.parametrize(("text", "allowed"), OTHER_RECORDS.values(), ids=OTHER_RECORDS)
def test_2_2_4_other_records(text: str, allowed: bool) -> None:
    assert allows(rules(text), "/x") is allowed


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\N{ZERO WIDTH NO-BREAK SPACE}"])
def test_line_ends_and_byte_order_mark(newline: str, mark: str) -> None:
    robots = rules(mark + newline.join(["User-agent: *", "", "Disallow: /x # why", "Allow: /x/y"]))
    assert robots.verdict(f"{SITE}/x") == Verdict(False, "Disallow: /x # why", 3)
    assert robots.verdict(f"{SITE}/x/y") == Verdict(True, "Allow: /x/y", 4)
    assert robots.verdict(f"{SITE}/z") == Verdict(True, "", 0)


def test_the_first_of_equal_lines_decides() -> None:
    robots = for_everyone("Disallow: /x", "disallow: /x", "Disallow: /%78")
    assert robots.verdict(f"{SITE}/x") == Verdict(False, "Disallow: /x", 2)


@pytest.mark.parametrize("odd", ["\v", "\f", "\x1c", "\x85", "\u2028", "\0"])
def test_other_characters_do_not_end_a_line(odd: str) -> None:
    assert for_everyone(f"Foo: bar{odd}Disallow: /").allowed(f"{SITE}/x")


DELAYS: list[tuple[list[str], float | None]] = [
    ([], None),
    (["Crawl-delay: 10"], 10.0),
    (["crawl-delay: 0.5 # seconds"], 0.5),
    (["Crawl-delay: .5"], 0.5),
    (["Crawl-delay: 0"], 0.0),
    (["Crawl-delay: 2", "Disallow: /", "Crawl-delay: 5", "Crawl-delay: 3"], 5.0),
    (["Crawl-delay: 99999999999"], 99999999999.0),
    *(
        ([f"Crawl-delay: {rubbish}"], None)
        for rubbish in ("", "-1", "nan", "inf", "soon", "1,5", "1_0", "٣", "9" * 400)
    ),
]


@pytest.mark.parametrize(("lines", "delay"), DELAYS)
def test_crawl_delay(lines: list[str], delay: float | None) -> None:
    assert for_everyone(*lines).crawl_delay == delay


def test_crawl_delay_is_that_of_our_group() -> None:
    text = "User-agent: *\nCrawl-delay: 9\nDisallow: /x\n\nUser-agent: a\nCrawl-delay: 2\n\nUser-agent: b\nDisallow: /"
    assert rules(text, "c").crawl_delay == 9
    assert rules(text, "a").crawl_delay == 2
    assert rules(text, "b").crawl_delay is None


def test_sitemaps_stand_outside_groups_and_are_bounded() -> None:
    assert rules(
        "Sitemap: http://a/1\nUser-agent: b\nSitemap: /2\nsite-map http://a/3\nSitemap: http://a/1"
    ).sitemaps == (
        "http://a/1",
        "/2",
        "http://a/3",
    )
    assert len(rules("".join(f"Sitemap: http://a/{n}\n" for n in range(2 * MAX_SITEMAPS))).sitemaps) == MAX_SITEMAPS
    assert rules("Sitemap: http://a/" + "b" * MAX_SITEMAP_LENGTH).sitemaps == ()
    assert rules(b"Sitemap: http://a/\xff").sitemaps == ("http://a/\N{REPLACEMENT CHARACTER}",)


# 2.3.1 What follows from the answer: status, is /x allowed under a file that disallows it, unreachable?
STATUS = [
    *((status, False, False) for status in (200, 203, 206)),  # 2.3.1.1
    *((status, True, False) for status in (301, 302, 307, 399)),  # 2.3.1.2
    *((status, True, False) for status in (400, 401, 403, 404, 410, 451)),  # 2.3.1.3
    *((status, False, True) for status in (0, 500, 502, 503, 599, 429)),  # 2.3.1.4
    *((status, False, True) for status in (100, 600, 999, -1)),  # no such status: no usable answer
]


@pytest.mark.parametrize(("status", "allowed", "unreachable"), STATUS)
def test_2_3_1_status(status: int, allowed: bool, unreachable: bool) -> None:
    robots = rules("User-agent: *\nDisallow: /x\nCrawl-delay: 3\nSitemap: http://a/s", status=status)
    assert allows(robots, "/x") is allowed
    assert allows(robots, "/y") is not unreachable
    assert allows(robots, "/robots.txt")
    assert robots.unreachable is unreachable
    assert (robots.crawl_delay, robots.sitemaps) == ((3.0, ("http://a/s",)) if 200 <= status < 300 else (None, ()))
    if unreachable:
        assert robots.verdict(f"{SITE}/x") == Verdict(False, "", 0)


# 2.4 Caching: Cache-Control, seconds believed with a limit of 1000 s
CACHING = [
    ("", 1000),
    ("public", 1000),
    ("max-age=600", 600),
    ('Public, MAX-AGE = "600", must-revalidate', 600),
    ("max-age=86400", 1000),
    ("max-age=" + "9" * 5000, 1000),
    ("max-age=5", 60),
    ("max-age=0", 60),
    ("max-age=soon", 1000),
    ("s-maxage=5", 1000),
    ("no-cache", 60),
    ("no-store, max-age=600", 60),
    ('max-age=600, no-cache="Set-Cookie"', 60),
]


@pytest.mark.parametrize(("cache_control", "seconds"), CACHING)
def test_2_4_caching(cache_control: str, seconds: int) -> None:
    assert expiry(cache_control, 5000.0, 1000.0) == 5000.0 + seconds


def test_2_4_a_minute_at_least() -> None:
    assert expiry("", 5000.0, 0.0) == 5060.0


# 2.5 Limits
def padded(text: bytes, length: int, last: bytes) -> bytes:
    """`text`, comments, and `last` at the end of `length` bytes."""
    return text + b"#" * (length - len(text) - len(last) - 1) + b"\n" + last


def test_2_5_the_first_500_kib_are_parsed() -> None:
    head = b"User-agent: *\n"
    whole = padded(head, MAX_ROBOTS_BYTES, b"Disallow: /x\n")
    assert len(whole) == MAX_ROBOTS_BYTES
    assert not allows(rules(whole), "/x")
    assert not allows(rules(whole + b"Allow: /x\n"), "/x")
    assert not allows(rules(padded(head, MAX_ROBOTS_BYTES - 1, b"Disallow: /x")), "/x")


@pytest.mark.parametrize("newline", [b"\n", b"\r", b"\r\n"])
def test_2_5_a_cut_last_line_is_dropped(newline: bytes) -> None:
    cut = padded(b"User-agent: *\n", MAX_ROBOTS_BYTES, newline + b"Disallow: /x" + newline + b"Disallow: /")
    for body in (cut, cut + b"y/z\n"):
        robots = rules(body)
        assert not allows(robots, "/x")
        assert allows(robots, "/y")
    assert allows(rules(b"User-agent: * " * MAX_ROBOTS_BYTES), "/x")


def test_digest_names_the_body() -> None:
    digests = {rules(text).digest for text in ("", "User-agent: *", "User-agent: a")}
    assert len(digests) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", digest) for digest in digests)
    assert rules("a").digest == rules("a", "other", 500).digest


# Hostile files: bounded time, whatever they hold
def file_of(line: Callable[[int], str]) -> bytes:
    lines, length = ["User-agent: *\n"], 0
    while length < MAX_ROBOTS_BYTES:
        lines.append(line(len(lines)))
        length += len(lines[-1])
    return "".join(lines).encode()


HOSTILE = {
    "one wildcard line, repeated": lambda n: "Disallow: /*a*a*a*a*b\n",
    "many wildcard lines": lambda n: f"Disallow: /*a*a*a*a*b{n}\n",
    "short wildcard lines": lambda n: f"Disallow:/*{n:x}\n",
    "wildcards that nearly match": lambda n: f"Disallow:/*{'a' * 20}b{n:x}{'a' * 20}\n",
    "many prefixes": lambda n: f"Disallow:/{n:x}\n",
    "many agents, then rules": lambda n: f"User-agent: a{n}\nUser-agent: *\n" if n < 9000 else f"Disallow: /{n}\n",
    "an enormous line": lambda n: "Disallow: /" + "a*" * (MAX_ROBOTS_BYTES // 2 - 30) + "b\n#\n",
    "an enormous line of stars": lambda n: "Disallow: /" + "*" * (MAX_ROBOTS_BYTES - 60) + "b\n#\n",
    "an enormous line of escapes": lambda n: "Disallow: /" + "%61%" * (MAX_ROBOTS_BYTES // 4 - 15) + "\n#\n",
    "unknown words": lambda n: "a\n",
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_take_bounded_time(line: Callable[[int], str]) -> None:
    body = file_of(line)
    started = time.process_time()
    robots = rules(body)
    parsed = time.process_time()
    for url in (f"{SITE}/{'a' * 1980}", f"{SITE}/{'%61' * 660}"):
        robots.allowed(url)
    assert parsed - started < 1.0
    assert time.process_time() - parsed < 2.0


# The published collections. Cases of these that we deliberately decide otherwise, by test and path of the URL, each
# with the clause that we follow.
DIFFERENCES = {
    (
        "ID_Encoding",
        "/foo/bar/ツ",
        "Disallow: /\nAllow: /foo/bar/ツ",
    ): "2.2.2: non-ASCII octets of the URI are escaped too",
    ("ID_Encoding", "/foo/bar/ツ", "Disallow: /\nAllow: /foo/bar/%E3%83%84"): "2.2.2: likewise",
    (
        "ID_Encoding",
        "/foo/bar/baz",
        "Disallow: /\nAllow: /foo/bar/%62%61%7A",
    ): "2.2.2: escaped unreserved octets are undone",
    ("GoogleOnly_IndexHTMLisDirectory", "/allowed-slash/", "Allow: /allowed-slash/index.html\nDisallow: /"): (
        "2.2.2: a rule matches where all of its path is found; /index.html is not /"
    ),
    ("GoogleOnly_LineTooLong", "/x/aaaa", "disallow: /x/aaaa"): "2.5: 500 KiB are parsed, without a limit on a line",
    ("GoogleOnly_LineTooLong", "/x/bbbb", "disallow: /\nallow: /x/aaaa"): "2.5: likewise",
}


def vectors(name: str) -> list[dict[str, Any]]:
    path = VECTORS / name
    if not path.exists():
        pytest.skip(f"{path} is missing")
    cases: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["cases"]
    return cases


def failures(cases: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Test, path and rules (both shortened) of each case that is decided otherwise."""
    failed = []
    for case in cases:
        robots = rules(case["robots_txt"], case["user_agent"])
        allowed = robots.allowed(case["url"])
        assert robots.verdict(case["url"]).allowed is allowed
        if allowed is not case["allowed"]:
            path = re.sub("https?://[^/]*", "", case["url"])
            body = re.sub(r"(a{4})a*\S*(\n.*)?", r"\1", case["robots_txt"].strip().partition("\n")[2], flags=re.DOTALL)
            failed.append((case["test"], re.sub(r"((.)\2{3})\2{9,}.*", r"\1", path), body))
    return failed


def test_google_cases() -> None:
    cases = vectors("google_cases.json")
    assert len(cases) == 145
    assert sorted(failures(cases)) == sorted(DIFFERENCES)


def test_rfc_9309_cases() -> None:
    cases = vectors("rfc9309_cases.json")
    assert len(cases) == 61
    assert failures(cases) == []


# What holds for any input
repeatable = settings(derandomize=True, deadline=None)

PIECES = st.sampled_from(
    [b"User-agent:", b"Disallow:", b"Allow:", b"*", b"/", b"$", b"%", b"%2", b"%2F", b"#", b"\n", b"\r", b" ", b"\xe9"]
)
BODIES = st.binary(max_size=200) | st.lists(PIECES | st.binary(max_size=3), max_size=40).map(b"".join)
URLS = st.text(max_size=40) | st.text(st.characters(codec=None), max_size=20).map(lambda text: f"{SITE}/{text}")


@repeatable
@given(BODIES, URLS, st.integers(-1, 700))
def test_nothing_raises(body: bytes, url: str, status: int) -> None:
    for robots in (rules(body, status=status), rules(b"User-agent: *\n" + body)):
        verdict = robots.verdict(url)
        assert robots.allowed(url) is verdict.allowed
        assert (verdict.line_number == 0) is (verdict.line == "")
        verdict.line.encode()
        "".join(robots.sitemaps).encode()


@repeatable
@given(st.text("ab/*$", max_size=12), st.text("ab/", max_size=12))
def test_matching_agrees_with_a_regular_expression(pattern: str, path: str) -> None:
    body, anchored = (pattern[:-1], "$") if pattern.endswith("$") else (pattern, "")
    expression = ".*".join(map(re.escape, body.split("*"))) + anchored
    expected = pattern.startswith(("/", "*")) and re.match(expression, f"/{path}") is not None
    assert for_everyone(f"Disallow: {pattern}").allowed(f"{SITE}/{path}") is not expected


@repeatable
@given(st.lists(st.tuples(st.booleans(), st.text("ab*", max_size=4)), max_size=8), st.text("ab", max_size=6))
def test_the_most_specific_rule_decides(lines: list[tuple[bool, str]], path: str) -> None:
    robots = for_everyone(*(f"{'Allow' if allow else 'Disallow'}: /{pattern}" for allow, pattern in lines))
    matching = [
        (len(pattern), allow) for allow, pattern in lines if re.match(pattern.replace("*", ".*"), path) is not None
    ]
    assert allows(robots, f"/{path}") is max(matching, default=(0, True))[1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex"], True),
        (["unavailable_after: 25-Jun-30 15:00:00 GMT, noindex"], True),
        (["unavailable_after: 2030-06-25T15:00:00+00:00, noindex"], True),
        (["otherbot: unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex"], False),
        (["otherbot: unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT", "noindex"], True),
        (["otherbot: nofollow, pycrawl: unavailable_after: Wed, 25 Jun 2030 15:00:00 GMT, noindex"], True),
        (["max-snippet: 20, noindex"], True),
        (["pycrawl/2.0: noindex"], True),
        (["*: noindex"], True),
        (["pycrawl2: noindex"], False),
    ],
)
def test_dates_in_x_robots_tag_name_no_robot(values: list[str], expected: bool) -> None:
    assert ("noindex" in directives(values, "pycrawl")) is expected
