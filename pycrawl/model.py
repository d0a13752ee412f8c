"""The values that cross between the coordinator and its fetchers: immutable, picklable.

They are named tuples, as these are made and unpickled in a third of the time that frozen dataclasses take.

Times: `*_at` is seconds since the epoch (what is stored and shown); `started` and `ended` are seconds of the monotonic
clock, which all processes of one machine share (what politeness is reckoned in).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

NO_DIGEST = b""


class Kind(IntEnum):
    """What a job fetches, and so what is done with the answer."""

    PAGE = 0
    ROBOTS = 1
    PROBE = 2  # a URL that cannot exist: how does the host answer what it does not have?


class Via(IntEnum):
    """How a URL was discovered."""

    SEED = 0
    LINK = 1
    REDIRECT = 2


class Closure(IntEnum):
    """Where a page's links lead. A page that is not open is closed."""

    OPEN = 0  # some link is known or leaves the host, or there is none
    HOST = 1  # all links are new and stay on the host
    SECTION = 2  # all links are new and stay in the section


class UrlOrder(IntEnum):
    """In which order the URLs of a host are sent out."""

    AS_FOUND = 0
    NEWEST_FIRST = 1
    NEWEST_FIRST_SLOWLY = 2  # likewise, and the next one waits until the links of the last page are in the queue


class Outcome(StrEnum):
    """Every way a fetch can end. The value is the word that users see in `stats` and `why`."""

    FETCHED = "fetched"  # 2xx
    NOT_MODIFIED = "not-modified"  # 304
    REDIRECT = "redirect"  # 3xx with a usable Location
    CLIENT_ERROR = "http-4xx"
    SERVER_ERROR = "http-5xx"
    TOO_BUSY = "too-busy"  # 429, 503
    COOKIE_WANTED = "cookie-wanted"  # redirects to itself and sets a cookie: asked for again with it
    ODD_STATUS = "http-other"  # 1xx, 304 unasked for, 3xx without Location, 600 and up
    NOINDEX = "noindex"  # 2xx; page or server asks not to keep it: its links are followed, it is not stored
    UNWANTED_TYPE = "unwanted-type"  # 2xx, of a content type outside the scope; its body was not read
    SOFT_404 = "soft-404"  # 2xx, but what the host says of pages that it does not have: not stored, not followed
    TRAP = "trap"  # its kind of page brought nothing new for long: not asked for
    ROBOTS_DENIED = "robots-denied"
    ROBOTS_UNREACHABLE = "robots-unreachable"  # robots.txt gave 5xx or no answer: nothing may be fetched
    ROBOTS_UNKNOWN = "robots-unknown"  # the fetcher lacks the host's rules: send the job again with them
    BAD_REDIRECT = "bad-redirect"  # the Location is rubbish, or of a scheme or scope we do not follow
    TOO_MANY_REDIRECTS = "too-many-redirects"
    DNS_FAILURE = "dns-failure"
    ADDRESS_MOVED = "address-moved"  # the host has another address than was reckoned with: nothing was sent
    ADDRESS_REFUSED = "address-refused"  # private, loopback … and not allowed
    CONNECT_FAILED = "connect-failed"
    CONNECT_TIMEOUT = "connect-timeout"
    TLS_FAILURE = "tls-failure"
    TIMEOUT = "timeout"
    HELD_BACK = "held-back"  # the one before it on its host met with trouble: not asked for
    NO_ROOM = "no-room"  # all pages that were being fetched had grown too large together
    TOO_SLOW = "too-slow"  # below limits.min_bytes_per_second
    CONNECTION_LOST = "connection-lost"  # reset, or closed before the answer was whole
    BAD_RESPONSE = "bad-response"  # not HTTP
    BAD_ENCODING = "bad-encoding"  # the Content-Encoding cannot be undone
    HEADERS_TOO_LARGE = "headers-too-large"
    PLUGIN_FAILED = "plugin-failed"  # a parser of another package raised, took too long, or returned rubbish
    INTERNAL_ERROR = "internal-error"  # a fault of ours while handling this page; the detail says which
    FETCHER_KILLED = "fetcher-killed"  # the page took a fetcher down with it, twice


@dataclass(frozen=True, slots=True)
class Conduct:
    """What follows from an outcome: is the URL tried again, and does the host get more time."""

    retry: bool = False  # up to limits.max_tries, after the other URLs of its host
    slows_host: bool = False  # the pause doubles; a host that goes on like that is parked
    goes_back: bool = False  # the URL is not to blame: it stays at the head of its queue
    is_hit: bool = True  # the server was asked, so the pause counts from here
    is_error: bool = True


_FINE = Conduct(is_error=False)
_NOT_ASKED = Conduct(is_error=False, is_hit=False)
_REFUSED = Conduct(is_hit=False)
_FINAL = Conduct()
_AGAIN = Conduct(retry=True)
_AGAIN_SLOWER = Conduct(retry=True, slows_host=True)
_HOST_FAULT = Conduct(slows_host=True, goes_back=True)
_OUR_FAULT = Conduct(goes_back=True)
_HELD_BACK = Conduct(goes_back=True, is_hit=False, is_error=False)

CONDUCT: dict[Outcome, Conduct] = {
    Outcome.FETCHED: _FINE,
    Outcome.NOT_MODIFIED: _FINE,
    Outcome.REDIRECT: _FINE,
    Outcome.NOINDEX: _FINE,
    Outcome.UNWANTED_TYPE: _FINE,
    Outcome.SOFT_404: _FINE,
    Outcome.TRAP: _NOT_ASKED,
    Outcome.ROBOTS_DENIED: _NOT_ASKED,
    Outcome.CLIENT_ERROR: _FINAL,
    Outcome.SERVER_ERROR: _AGAIN,
    Outcome.TOO_BUSY: _AGAIN_SLOWER,
    Outcome.COOKIE_WANTED: _FINE,
    Outcome.ODD_STATUS: _FINAL,
    Outcome.ROBOTS_UNREACHABLE: _HOST_FAULT,
    Outcome.ROBOTS_UNKNOWN: _NOT_ASKED,
    Outcome.BAD_REDIRECT: _FINAL,
    Outcome.TOO_MANY_REDIRECTS: _FINAL,
    Outcome.DNS_FAILURE: _HOST_FAULT,
    Outcome.ADDRESS_MOVED: _NOT_ASKED,
    Outcome.ADDRESS_REFUSED: _REFUSED,
    Outcome.CONNECT_FAILED: _HOST_FAULT,
    Outcome.CONNECT_TIMEOUT: _HOST_FAULT,
    Outcome.TLS_FAILURE: _FINAL,
    Outcome.TIMEOUT: _AGAIN_SLOWER,
    Outcome.HELD_BACK: _HELD_BACK,
    Outcome.NO_ROOM: _OUR_FAULT,
    Outcome.TOO_SLOW: _AGAIN_SLOWER,
    Outcome.CONNECTION_LOST: _AGAIN_SLOWER,
    Outcome.BAD_RESPONSE: _FINAL,
    Outcome.BAD_ENCODING: _FINAL,
    Outcome.HEADERS_TOO_LARGE: _FINAL,
    Outcome.PLUGIN_FAILED: _FINAL,
    Outcome.INTERNAL_ERROR: _FINAL,
    Outcome.FETCHER_KILLED: _FINAL,
}


class RobotsFile(NamedTuple):
    """One host's robots.txt as it was answered: `status` 0 means that no answer came (the host is unreachable)."""

    status: int
    body: bytes
    fetched_at: float
    expires_at: float


class Validators(NamedTuple):
    """What the last visit left, to ask "has it changed?" with."""

    etag: str = ""
    last_modified: str = ""
    digest: bytes = NO_DIGEST


NO_VALIDATORS = Validators()


class FetchJob(NamedTuple):
    """Coordinator → fetcher: fetch this now, as its host may be hit."""

    url_id: int
    url: str
    host_id: int
    kind: Kind = Kind.PAGE
    depth: int = 0
    hops: int = 0  # redirects that led to this URL
    address: str = ""  # to be dialled, as the host's gate is kept by it; empty: not known yet
    cookies: str = ""  # the Cookie header that an earlier answer of this very URL asked for
    close_look: bool = False  # a `CloseLook` is wanted with the result
    look_up: bool = False  # the host's name has not been looked up for a while: is it still that address?
    validators: Validators = NO_VALIDATORS
    robots: RobotsFile | None = None  # sent with a host's first page job to a fetcher
    ahead: bool = False  # it was sent before its turn, which comes when another fetch of its host has ended well
    site: str = ""  # of a robots job: the origin whose rules are asked for, as redirects may lead elsewhere


class PackedLinks(NamedTuple):
    """The distinct links of a page: hashes as little-endian uint64, and the text of the first `texts_count` of them.

    A URL's text is sent once by a fetcher, and its hash from then on: **the coordinator keeps every text that reaches
    it**, whatever becomes of the page that brought it. Every link with a normal form is here, wanted or not.
    """

    hashes: bytes = b""
    texts: bytes = b""  # UTF-8, joined by "\n"
    texts_count: int = 0
    verdicts: bytes = b""  # one byte for each text: 0, or the number of the reason for which the scope turns it away


NO_LINKS = PackedLinks()


class StoredBody(NamedTuple):
    """A page's record, ready to be appended behind its DOCNO line, and what the documents table says of it."""

    record: bytes  # everything after the DOCNO line, compressed if the store is
    body_length: int  # of the body as served, after content decoding
    digest: bytes  # of that body, 16 bytes
    content_type: str
    charset: str = ""  # that its text was read with; empty if it is ASCII, or no text
    declared_charset: str = ""  # that it was served or marked with
    escapes: bytes = b""  # how to restore the bytes that TREC Web cannot hold; empty if the body stands unchanged
    truncated: bool = False
    prints: bytes = b""  # fingerprints of its text, packed; empty if there are no words
    is_unread: bool = False  # nobody reads its media type: neither text nor links are known
    passages: bytes = b""  # those of its windows of words that an index of passages keeps: little-endian uint64


class CloseLook(NamedTuple):
    """What a fetcher reports of a page, besides its content, to judge traps and soft 404s by (`traps/`)."""

    shape: str  # of its URL; empty in the answer to a probe, as the section
    section: str
    pairs: bytes = b""  # a sample of its text: hashes of pairs of words, as little-endian uint64
    copy_keys: tuple[int, ...] = ()  # exact copies on one host have the same ones
    closure: Closure = Closure.OPEN
    backs: int = 0  # links to pages that are known but not fetched, the menu's links excluded


_NOTHING_COUNTED: Mapping[str, int] = {}
_NOTHING_MEASURED: Mapping[str, float] = {}


class FetchResult(NamedTuple):
    """Fetcher → coordinator: what became of a job."""

    url_id: int
    host_id: int
    kind: Kind
    outcome: Outcome
    started: float
    ended: float
    fetched_at: float
    status: int = 0
    detail: str = ""
    address: str = ""
    wire_bytes: int = 0
    retry_after: float = 0.0  # seconds, from the Retry-After header
    crawl_delay: float = 0.0  # seconds, from robots.txt (ROBOTS jobs)
    etag: str = ""
    last_modified: str = ""
    hops: int = 0  # of a robots job: redirects followed so far
    cookies: str = ""  # to ask again with
    location: str = ""  # normalised target of a redirect
    location_hash: int = 0
    location_verdict: int = 0  # as in `PackedLinks.verdicts`
    body: StoredBody | None = None
    links: PackedLinks = NO_LINKS
    withheld: tuple[
        tuple[int, PackedLinks], ...
    ] = ()  # links that ask not to be followed, by what asks (`urls/asks.py`)
    filtered: Mapping[str, int] = _NOTHING_COUNTED  # reason → links of this page without a usable form
    robots: RobotsFile | None = None
    close_look: CloseLook | None = None  # of pages for which it was wanted, and of answers to probes with text


class Results(NamedTuple):
    """Fetcher → coordinator: a batch, also sent empty as a sign of life. Times are CPU seconds used so far by stage."""

    results: tuple[FetchResult, ...]
    cpu_seconds: Mapping[str, float] = _NOTHING_MEASURED
    most_slots: int = 0  # fetches that its transport can have open at once; 0: not said


class Jobs(NamedTuple):
    """Coordinator → fetcher: a batch. `stop` asks the fetcher to end once it has answered everything."""

    jobs: tuple[FetchJob, ...] = ()
    stop: bool = False


# What `crawl --recrawl` asks for again: everything but what brought a fetcher down.
REVISITED = tuple(outcome for outcome in Outcome if outcome is not Outcome.FETCHER_KILLED)
