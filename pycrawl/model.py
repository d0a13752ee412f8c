"""The values that the coordinator and its fetchers send each other: immutable and picklable.

They are named tuples, which are made and unpickled in a third of the time that frozen dataclasses take.

Times: `*_at` is in seconds since the epoch, which are stored and shown. `started` and `ended` are in seconds of the
monotonic clock, which all processes of one machine share; politeness is reckoned in these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

NO_DIGEST = b""


class Kind(IntEnum):
    """What a job fetches. The handler of this kind settles the answer (`coordinator/jobs/`)."""

    PAGE = 0
    ROBOTS = 1
    PROBE = 2  # a URL that cannot exist, to learn how the host answers for pages that it does not have
    SITEMAP = 3  # a list of URLs: it is read, and not stored
    FEED = 4  # RSS, Atom, JSON Feed: likewise; its entries without a link are documents
    HEAD = 5  # a large page without validators, of which only the headers are asked for (`policy/head_answers.py`)
    HUB = 6  # a feed's WebSub hub, which is asked to push the feed's news (`policy/websub.py`)


class Via(IntEnum):
    """How a URL was discovered."""

    SEED = 0
    LINK = 1
    REDIRECT = 2
    SITEMAP = 3  # its parent is the sitemap that names it
    FEED = 4  # its parent is the feed that names it
    ROBOTS = 5  # a sitemap that a robots.txt names; its parent is the URL for whose sake that was asked for


class Closure(IntEnum):
    """Where a page's links lead. A page that is not open is closed."""

    OPEN = 0  # some link is known or leaves the host, or there is none
    HOST = 1  # all links are new and stay on the host
    SECTION = 2  # all links are new and stay in the section


class UrlOrder(IntEnum):
    """The order in which the URLs of a host are sent out."""

    AS_FOUND = 0
    NEWEST_FIRST = 1
    NEWEST_FIRST_SLOWLY = 2  # newest first, and each URL waits until the links of the page before it are queued


class Policy(StrEnum):
    """How the pages of a recrawl are chosen (`policy/recrawl.py`): the values of `recrawl.policy`."""

    AGE = "age"
    FRESHNESS = "freshness"
    UNIFORM = "uniform"
    FIXED = "fixed"


class Change(StrEnum):
    """How much of a page has changed since the version that is kept (`fingerprint/change.py`). The value is the word
    of `recrawl.keep`, and the one that users see."""

    COSMETIC = "cosmetic"  # other bytes, but the same words in its main content
    EDITED = "edited"  # at least half of the main content is as it was
    REWRITTEN = "rewritten"  # less than that, or its content cannot be compared


class Outcome(StrEnum):
    """Every way a fetch can end. The value is the word that users see in `stats` and `why`."""

    FETCHED = "fetched"  # 2xx
    NOT_MODIFIED = "not-modified"  # 304
    REDIRECT = "redirect"  # 3xx with a usable Location
    CLIENT_ERROR = "http-4xx"
    SERVER_ERROR = "http-5xx"
    TOO_BUSY = "too-busy"  # 429, 503
    COOKIE_WANTED = "cookie-wanted"  # the URL redirects to itself and sets a cookie: it is asked for again with that
    ODD_STATUS = "http-other"  # 1xx, 304 unasked for, 3xx without Location, 600 and up
    NOINDEX = "noindex"  # 2xx; the page or its server asks not to keep it: it is not stored, its links are followed
    UNWANTED_TYPE = "unwanted-type"  # 2xx, of a content type outside the scope; its body was not read
    UNWANTED_LANGUAGE = "unwanted-language"  # 2xx, in none of scope.languages: it is not stored, its links are followed
    SOFT_404 = "soft-404"  # 2xx, but like the host's answer for missing pages: it is not stored, not followed
    TRAP = "trap"  # not asked for, as its kind of page has brought nothing new for long
    READ = "read"  # a sitemap or feed was read
    ASKED = "asked"  # a hub took the request to push a feed's news, or to push no more
    BAD_SITEMAP = "bad-sitemap"  # it is no sitemap, or one that cannot be read; the detail says why
    BAD_FEED = "bad-feed"  # likewise
    NOT_NEEDED = "not-needed"  # not asked for: a hub of which nothing is wanted any more
    SOURCE_LIMIT = "source-limit"  # not asked for: its host has more sitemaps or feeds than max_per_host
    ROBOTS_DENIED = "robots-denied"
    ROBOTS_UNREACHABLE = "robots-unreachable"  # robots.txt gave 5xx or no answer: nothing may be fetched
    ROBOTS_UNKNOWN = "robots-unknown"  # the fetcher lacks the host's rules: send the job again with them
    BAD_REDIRECT = "bad-redirect"  # the Location is rubbish, or of a scheme or scope we do not follow
    TOO_MANY_REDIRECTS = "too-many-redirects"
    DNS_FAILURE = "dns-failure"
    ADDRESS_MOVED = "address-moved"  # the host has another address than the job says: nothing was sent
    ADDRESS_REFUSED = "address-refused"  # private, loopback … and not allowed
    CONNECT_FAILED = "connect-failed"
    CONNECT_TIMEOUT = "connect-timeout"
    TLS_FAILURE = "tls-failure"
    TIMEOUT = "timeout"
    HELD_BACK = "held-back"  # not asked for: it was sent ahead, and the fetch before it on its host did not end well
    NO_ROOM = "no-room"  # the pages that were being fetched at once took too much memory
    TOO_SLOW = "too-slow"  # below limits.min_bytes_per_second
    CONNECTION_LOST = "connection-lost"  # reset, or closed before the answer was whole
    BAD_RESPONSE = "bad-response"  # not HTTP
    BAD_ENCODING = "bad-encoding"  # the Content-Encoding cannot be undone
    HEADERS_TOO_LARGE = "headers-too-large"
    PLUGIN_FAILED = "plugin-failed"  # a parser of another package raised, took too long, or returned rubbish
    INTERNAL_ERROR = "internal-error"  # a fault of pycrawl while handling this page; the detail says which
    FETCHER_KILLED = "fetcher-killed"  # the page took a fetcher process down, twice


@dataclass(frozen=True, slots=True)
class Conduct:
    """What follows from an outcome for the URL and its host."""

    retry: bool = False  # the URL is tried again, up to limits.max_tries times, after the other URLs of its host
    slows_host: bool = False  # the host's pause doubles; a host that goes on failing is parked
    shuts_origin: bool = False  # no connection to the origin could be made: its URLs wait until it is tried again
    goes_back: bool = False  # the URL is not to blame: it goes back to the head of its queue
    is_hit: bool = True  # the server was asked, so that the host's pause begins now
    is_error: bool = True  # the outcome counts as a failure


_FINE = Conduct(is_error=False)
_NOT_ASKED = Conduct(is_error=False, is_hit=False)
_REFUSED = Conduct(is_hit=False)
_FINAL = Conduct()
_AGAIN = Conduct(retry=True)
_AGAIN_SLOWER = Conduct(retry=True, slows_host=True)
_HOST_FAULT = Conduct(slows_host=True, goes_back=True)
_ORIGIN_FAULT = Conduct(shuts_origin=True, goes_back=True)
_OUR_FAULT = Conduct(goes_back=True)
_HELD_BACK = Conduct(goes_back=True, is_hit=False, is_error=False)

CONDUCT: dict[Outcome, Conduct] = {
    Outcome.FETCHED: _FINE,
    Outcome.NOT_MODIFIED: _FINE,
    Outcome.REDIRECT: _FINE,
    Outcome.NOINDEX: _FINE,
    Outcome.UNWANTED_TYPE: _FINE,
    Outcome.UNWANTED_LANGUAGE: _FINE,
    Outcome.SOFT_404: _FINE,
    Outcome.TRAP: _NOT_ASKED,
    Outcome.READ: _FINE,
    Outcome.ASKED: _FINE,
    Outcome.BAD_SITEMAP: _FINAL,
    Outcome.BAD_FEED: _FINAL,
    Outcome.NOT_NEEDED: _NOT_ASKED,
    Outcome.SOURCE_LIMIT: _NOT_ASKED,
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
    Outcome.CONNECT_FAILED: _ORIGIN_FAULT,
    Outcome.CONNECT_TIMEOUT: _ORIGIN_FAULT,
    Outcome.TLS_FAILURE: _ORIGIN_FAULT,
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
    """The robots.txt of one origin as it was answered. `status` 0: no answer came, the host is unreachable."""

    status: int
    body: bytes
    fetched_at: float
    expires_at: float
    crawl_delay: float = 0.0  # seconds, for our robot; 0: it asks for none


class Validators(NamedTuple):
    """What the last visit of a URL left for a conditional request, and to see if the body has changed."""

    etag: str = ""
    last_modified: str = ""
    digest: bytes = NO_DIGEST


NO_VALIDATORS = Validators()


class FetchJob(NamedTuple):
    """Coordinator → fetcher: fetch `url` now; its host may be hit. The fetcher answers every job with one result."""

    url_id: int
    url: str
    host_id: int
    kind: Kind = Kind.PAGE
    depth: int = 0
    hops: int = 0  # redirects in a row that led to this URL
    address: str = ""  # the only address to connect to, as the host's gate is kept by it; empty: not known yet
    cookies: str = ""  # the Cookie header that an earlier answer of this very URL asked for
    close_look: bool = False  # the result is to have a `CloseLook`
    look_up: bool = False  # look the host's name up first; if `address` is not among the answers, report ADDRESS_MOVED
    validators: Validators = NO_VALIDATORS
    robots: RobotsFile | None = None  # the rules of the URL's origin, sent when the fetcher lacks them
    ahead: bool = False  # sent before its turn: the fetcher waits until another fetch of the host has ended well
    site: str = ""  # of a robots job: the origin whose rules are asked for, as redirects may lead elsewhere
    vouchers: tuple[str, ...] = ()  # of a sitemap: hosts whose robots.txt names it, so that it may list their URLs
    level: int = 0  # of a sitemap: index files that led to it
    form: str = ""  # sent with a POST, as a browser sends a form


class PackedLinks(NamedTuple):
    """The distinct links of a page: all hashes as little-endian uint64, and the texts of the first `texts_count`.

    A fetcher sends a URL's text the first time, and its hash alone from then on: **the coordinator must keep every text
    that reaches it**, whatever becomes of the page that brought it. Every link with a normal form is here, wanted or
    not.
    """

    hashes: bytes = b""
    texts: bytes = b""  # UTF-8, joined by "\n"
    texts_count: int = 0
    verdicts: bytes = b""  # one byte for each text: 0, or the code of the reason for which the scope turns it away


NO_LINKS = PackedLinks()


class PackedAnchors(NamedTuple):
    """The links of a page with their texts, each distinct one once, in the order of the page, as columns; behind them
    those that have no place in its text, as <link>. All texts are here: none is left out because it was sent before.

    **Every link of the page has a row**: the receiver keeps what the rows say, and looks at no other list. A link is
    named by its place among all that the result has of the page: those of `links`, and behind them those of `withheld`,
    in their order."""

    places: bytes = b""  # of the links, as little-endian uint32
    text_hashes: bytes = b""  # the hashes of the texts, as little-endian uint64; 0: it has none
    texts: bytes = b""  # UTF-8, joined by "\n"; without line breaks, at most LONGEST_ANCHOR bytes each
    flags: bytes = b""  # one byte for each: bits of `urls/link_flags.py`


class StoredBody(NamedTuple):
    """A page's record, ready to be appended behind its DOCNO line, and the columns of its row in `documents`."""

    record: bytes  # everything after the DOCNO line, compressed if the store is
    body_length: int  # bytes of the body as served, after content decoding
    digest: bytes  # of that body, 16 bytes
    content_type: str
    charset: str = ""  # the charset that the text was read with; empty if it is ASCII, or no text
    declared_charset: str = ""  # the charset that the server or the page names
    escapes: bytes = b""  # how to restore the bytes that TREC Web cannot hold; empty if the body stands unchanged
    truncated: bool = False  # the body was longer than is kept
    prints: bytes = b""  # fingerprints of the text, packed (`fingerprint/`); empty if there are no words
    is_unread: bool = False  # no parser reads this media type: neither text nor links are known
    passages: bytes = b""  # the fingerprints that the index of passages keeps of the text: little-endian uint64
    language: str = ""  # a tag in lower case: "en", "pt-br"; empty: not known


class CloseLook(NamedTuple):
    """What a fetcher reports of a page, besides its content: traps and soft 404s are judged by it (`traps/`)."""

    shape: str  # the shape of its URL; empty in the answer to a probe
    section: str  # the section of its URL; empty in the answer to a probe
    pairs: bytes = b""  # a sample of its text: hashes of pairs of words, as little-endian uint64
    copy_keys: tuple[int, ...] = ()  # equal for exact copies on one host
    closure: Closure = Closure.OPEN
    backs: int = 0  # links to pages that are known but not fetched, the menu's links excluded


class Named(NamedTuple):
    """URLs that a sitemap or feed names. All have their text here, so that nothing is lost if they are dropped."""

    kind: Kind  # what they are: PAGE, or SITEMAP in an index
    links: PackedLinks
    ask: int = 0  # bits of `urls/asks.py`
    rise: int = 0  # how many front queues higher than others of their depth they wait
    hints: bytes = b""  # a record of `urls/hints.py` for each; empty: there are none


class EntryDocument(NamedTuple):
    """An entry of a feed that links to no page: it is stored under a URL of its own."""

    url: str  # that of the feed, with the entry's name as fragment
    url_hash: int
    body: StoredBody


class SourceAnswer(NamedTuple):
    """What was read off a sitemap or feed."""

    named: tuple[Named, ...] = ()
    documents: tuple[EntryDocument, ...] = ()
    more: bool = False  # another result of the same job follows, with more of its URLs
    digest: bytes = NO_DIGEST  # of what it names
    entries: int = 0  # in all
    wait: float = 0.0  # seconds between two visits, as it asks for; 0: it does not
    skip_hours: int = 0  # bits: hours of the day (UTC) in which it asks not to be visited
    skip_days: int = 0  # bits: days of the week, Monday first
    hub: str = ""  # the WebSub hub that a feed names
    topic: str = ""  # the URL of the feed as that hub knows it, to the letter


_NOTHING_COUNTED: Mapping[str, int] = {}
_NOTHING_MEASURED: Mapping[str, float] = {}


class FetchResult(NamedTuple):
    """Fetcher → coordinator: the one answer to a job."""

    url_id: int
    host_id: int
    kind: Kind
    outcome: Outcome
    started: float
    ended: float
    fetched_at: float
    status: int = 0
    detail: str = ""  # more about the outcome: a redirect's target, an unwanted type, what failed
    address: str = ""  # the address that was connected to, or found by a look-up
    wire_bytes: int = 0  # headers and body as they came
    retry_after: float = 0.0  # seconds, from the Retry-After header
    etag: str = ""
    last_modified: str = ""
    length: int = -1  # what Content-Length says; -1: nothing, or it was not looked at
    hops: int = 0  # of a robots job: redirects followed so far
    cookies: str = ""  # the Cookie header to ask for this URL again with (COOKIE_WANTED)
    location: str = ""  # normalised target of a redirect
    location_hash: int = 0  # the hash of that URL
    location_verdict: int = 0  # as in `PackedLinks.verdicts`
    body: StoredBody | None = None
    links: PackedLinks = NO_LINKS
    withheld: tuple[
        tuple[int, PackedLinks], ...
    ] = ()  # links that ask not to be followed, grouped by who asks (bits of `urls/asks.py`)
    anchors: PackedAnchors | None = None  # of a page that was read, where content.anchors wants them
    filtered: Mapping[str, int] = _NOTHING_COUNTED  # reason → links of this page that have no normal form
    robots: RobotsFile | None = None  # of a robots job that was answered
    close_look: CloseLook | None = None  # of a page whose job wanted it, and of an answer to a probe that has text
    source: SourceAnswer | None = None  # of a sitemap or feed that was read


class Fetched(NamedTuple):
    """Fetcher → coordinator: a document has come, and is being converted. Its host may be asked for the next page; the
    job's result follows."""

    url_id: int
    started: float
    ended: float


class Results(NamedTuple):
    """Fetcher → coordinator: a batch of results; it is also sent empty, as a sign of life."""

    results: tuple[FetchResult, ...]
    cpu_seconds: Mapping[str, float] = _NOTHING_MEASURED  # stage → CPU seconds that the fetcher has used so far
    most_slots: int = 0  # fetches that the fetcher's transport can have open at once; 0: not said
    fetched: tuple[Fetched, ...] = ()  # to be looked at before `results`, which may hold the results of the same jobs


class Jobs(NamedTuple):
    """Coordinator → fetcher: a batch of jobs. `stop` asks the fetcher to end once it has answered all of them."""

    jobs: tuple[FetchJob, ...] = ()
    stop: bool = False
