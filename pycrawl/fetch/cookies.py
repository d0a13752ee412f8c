"""Cookies by RFC 6265, kept in memory for one run. A cookie is sent only to the very host that set it.

So the attribute `Domain` never widens where a cookie goes; one that names another domain makes the cookie
unacceptable. `HttpOnly` and `SameSite` are ignored, as there are no scripts and frames.
"""

from __future__ import annotations

import re
from calendar import timegm
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from pycrawl.fetch.origins import Origin, origin_of
from pycrawl.fetch.transport import Response

MAX_COOKIE_BYTES = 4096  # name and value
MAX_PER_HOST = 50
MAX_HOSTS = 10_000
MAX_JAR_BYTES = 32_000_000  # of all hosts together; MAX_HOSTS full hosts would take 2 GB
MAX_HEADER_BYTES = 8_000  # servers refuse longer header lines
_OBJECT_BYTES = 400  # of an empty cookie
_FOREVER = float("inf")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DELIMITERS = re.compile(r"[\x09\x20-\x2f\x3b-\x40\x5b-\x60\x7b-\x7e]+")  # RFC 6265, 5.1.1
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_AGE = re.compile(r"-?[0-9]+")
_AGE_DIGITS = 12  # more than any run lasts
_CONTROLS = re.compile(r"[\0-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Cookie:
    name: str  # name and value as Latin-1, so that they go back as the bytes that came
    value: str
    path: str
    expires: float  # seconds since the epoch
    is_secure: bool

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.path

    @property
    def size(self) -> int:
        """Bytes of memory that it takes, about."""
        return _OBJECT_BYTES + len(self.name) + len(self.value) + len(self.path)

    def goes_to(self, scheme: str, path: str, now: float) -> bool:
        return self.expires > now and (not self.is_secure or scheme == "https") and _is_below(path, self.path)


class CookieJar:
    """The cookies of all hosts. When full, it forgets the least recently used host, and the oldest cookie of a host."""

    def __init__(self, max_hosts: int = MAX_HOSTS, max_bytes: int = MAX_JAR_BYTES) -> None:
        self._max_hosts = max_hosts
        self._max_bytes = max_bytes
        self._hosts: OrderedDict[str, dict[tuple[str, str], Cookie]] = OrderedDict()
        self._bytes = 0

    def take(self, response: Response) -> None:
        """Keep the cookies that a response sets."""
        if set_cookies := response.set_cookies:
            self.put(response.url, set_cookies, response.fetched_at)

    def put(self, url: str, set_cookies: Iterable[bytes], now: float) -> None:
        """Keep the cookies of these Set-Cookie values, which came with the answer for `url`."""
        origin = origin_of(url)
        host = origin.host.lower()
        for value in set_cookies:
            cookie = parse_cookie(value, origin, _path(url), now)
            if cookie is not None:
                self._keep(host, cookie, now)
        while len(self._hosts) > self._max_hosts or self._bytes > self._max_bytes:
            self._bytes -= sum(cookie.size for cookie in self._hosts.popitem(last=False)[1].values())

    def header(self, url: str, now: float) -> str:
        """The Cookie header for a request, longest paths first (RFC 6265, 5.4); empty if there is none."""
        origin = origin_of(url)
        cookies = self._hosts.get(origin.host.lower())
        if cookies is None:
            return ""
        self._hosts.move_to_end(origin.host.lower())
        path = _path(url)
        fitting = [cookie for cookie in cookies.values() if cookie.goes_to(origin.scheme, path, now)]
        fitting.sort(key=lambda cookie: -len(cookie.path))
        return _joined(f"{cookie.name}={cookie.value}" if cookie.name else cookie.value for cookie in fitting)

    def _keep(self, host: str, cookie: Cookie, now: float) -> None:
        cookies = self._hosts.setdefault(host, {})
        self._hosts.move_to_end(host)
        old = cookies.pop(cookie.key, None)
        self._bytes -= old.size if old is not None else 0
        if cookie.expires > now:  # one that has expired is how a server deletes it
            cookies[cookie.key] = cookie
            self._bytes += cookie.size
        if len(cookies) > MAX_PER_HOST:
            self._drop_one(cookies, now)
        if not cookies:
            del self._hosts[host]

    def _drop_one(self, cookies: dict[tuple[str, str], Cookie], now: float) -> None:
        dropped = next((cookie for cookie in cookies.values() if cookie.expires <= now), next(iter(cookies.values())))
        del cookies[dropped.key]
        self._bytes -= dropped.size


def cookies_to_ask_again(response: Response) -> str:
    """The Cookie header to repeat a request with whose answer sets cookies and redirects to its own URL.

    Empty if repeating would change nothing: the cookies were sent already, or must not be sent to this URL. A server
    can set a new cookie each time, so the caller must limit how often it repeats.
    """
    jar = CookieJar()
    jar.take(response)
    sent = _by_name(response.cookies)
    merged = sent | _by_name(jar.header(response.url, response.fetched_at))
    return _joined(merged.values()) if merged != sent else ""


def parse_cookie(value: bytes, origin: Origin, request_path: str, now: float) -> Cookie | None:
    """The cookie of a Set-Cookie header; None if it is unacceptable."""
    pair, *attributes = value.decode("latin-1").split(";")
    name, equals, content = pair.partition("=")
    if not equals:
        name, content = "", pair
    name, content = name.strip(" \t"), content.strip(" \t")
    if not (name or content) or len(name) + len(content) > MAX_COOKIE_BYTES or _CONTROLS.search(name + content):
        return None
    named = {key.strip().lower(): word.strip() for key, _, word in (one.partition("=") for one in attributes)}
    is_secure = "secure" in named
    if (is_secure and origin.scheme != "https") or not _is_own_domain(named.get("domain", ""), origin.host.lower()):
        return None
    path = named.get("path", "")
    if not path.startswith("/") or len(path) > MAX_COOKIE_BYTES:
        path = request_path[: request_path.rfind("/")] or "/"
    return Cookie(name, content, path, _expiry(named, now), is_secure)


def _is_own_domain(domain: str, host: str) -> bool:
    domain = domain.lower().removeprefix(".")
    return not domain or host == domain or (host.endswith("." + domain) and not host[-1].isdigit() and ":" not in host)


def _expiry(attributes: dict[str, str], now: float) -> float:
    """Max-Age goes before Expires; what cannot be read counts as not given (RFC 6265, 5.2.1 and 5.2.2)."""
    age = attributes.get("max-age", "")
    if _AGE.fullmatch(age):
        seconds = int(age[:_AGE_DIGITS])
        return now + seconds if seconds > 0 else 0.0
    return cookie_date(attributes.get("expires", ""))


def cookie_date(text: str) -> float:
    """Seconds since the epoch for the lenient dates of RFC 6265, 5.1.1; infinite if it is none."""
    clock: tuple[int, ...] | None = None
    day = month = year = -1
    for token in _DELIMITERS.split(text[:100]):
        if clock is None and (match := _TIME.match(token)):
            clock = tuple(map(int, match.groups()))
        elif day < 0 and (match := _DAY.match(token)):
            day = int(match[1])
        elif month < 0 and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year < 0 and (match := _YEAR.match(token)):
            year = int(match[1])
            year += 1900 if 70 <= year <= 99 else 2000 if year < 70 else 0
    if clock is None or month < 0 or not 1 <= day <= 31 or year < 1601 or clock[0] > 23 or max(clock[1:]) > 59:
        return _FOREVER
    return float(timegm((year, month, day, *clock)))


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3].partition("?")[0].partition("#")[0] if url.count("/") > 2 else "/"


def _is_below(path: str, cookie_path: str) -> bool:
    """RFC 6265, 5.1.4."""
    return path.startswith(cookie_path) and (
        len(path) == len(cookie_path) or cookie_path.endswith("/") or path[len(cookie_path)] == "/"
    )


def _by_name(header: str) -> dict[str, str]:
    return {pair.partition("=")[0]: pair for pair in header.split("; ") if pair}


def _joined(pairs: Iterable[str]) -> str:
    header = ""
    for pair in pairs:
        longer = f"{header}; {pair}" if header else pair
        if len(longer) <= MAX_HEADER_BYTES:
            header = longer
    return header
