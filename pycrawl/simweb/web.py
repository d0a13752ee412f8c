"""A web as a function of its settings: which pages there are, what each answers, and what a crawl must find.

Nothing is stored per page, so that a web of a million pages costs as little memory as one of ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import formatdate

from pycrawl.simweb.hosts import KINDS, Host, Hosts, PageKind
from pycrawl.simweb.pages import PageMaker, Target
from pycrawl.simweb.settings import SimWebSettings
from pycrawl.simweb.text import Text

FETCHED = (PageKind.CONTENT, PageKind.DUPLICATE, PageKind.FLAKY)  # what a polite crawler gets with a 2xx answer

_TRACKING = re.compile(r"[?&]utm_[a-z]+=[^&#]*")
_URL = re.compile(r"http://([^/?#]+)(/[^#]*)")


@dataclass(frozen=True, slots=True)
class Page:
    """One URL of the web and the truth about it."""

    url: str
    kind: PageKind
    host: Host = field(repr=False)
    local: int  # the page's number on its host; 0 is the home page
    _maker: PageMaker = field(repr=False, compare=False)

    @property
    def number(self) -> int:
        """Returns the page's number in the whole web."""
        return self.host.first + self.local

    @property
    def status(self) -> int:
        """Returns the HTTP status that it answers with in the end: 200 for a flaky page, which first answers 503, and
        for one that robots.txt disallows."""
        match self.kind:
            case PageKind.REDIRECT:
                return 302 if self.local & 1 else 301
            case PageKind.MISSING:
                return 404
            case PageKind.BROKEN:
                return 500
            case _:
                return 200

    @property
    def allowed(self) -> bool:
        """True if robots.txt allows every robot but "nosybot" to fetch it."""
        return self.kind is not PageKind.DISALLOWED

    @property
    def redirect_target(self) -> str | None:
        return _url(self._maker.redirect_target(self.host, self.local)) if self.kind is PageKind.REDIRECT else None

    @property
    def links(self) -> tuple[str, ...]:
        """Returns the URLs that it links to, in normal form, each once; none if the status is not 200."""
        return tuple(map(_url, self._maker.targets(self.host, self.local))) if self.status == 200 else ()

    @property
    def latency(self) -> float:
        """Returns the seconds from the request to the answer."""
        return self._maker.latency(self.host, self.local)

    def etag(self, version: int = 0) -> str:
        return f'"{self.number:x}-{self._maker.last_change(self.host, self.local, version):x}"'

    def modified_at(self, version: int = 0) -> int:
        """Returns when the page last changed, in seconds since the epoch."""
        return self._maker.modified_at(self.host, self.local, version)

    def last_modified(self, version: int = 0) -> str:
        return formatdate(self.modified_at(version), usegmt=True)

    def body(self, version: int = 0) -> bytes:
        return self._maker.body(self.host, self.local, version)


class SimWeb:
    """The web that `settings` describe. Versions count from 0; each changes `settings.change_share` of all pages."""

    def __init__(self, settings: SimWebSettings) -> None:
        self.settings = settings
        self._text = Text(settings.seed)
        self.hosts = Hosts(settings, self._text.slugs)
        self._maker = PageMaker(settings, self.hosts, self._text)

    def prepare(self) -> None:
        """Build the paragraphs now: else the first page that is asked for waits for them."""
        self._text.prepare()

    @property
    def seeds(self) -> list[str]:
        """Returns the one URL from which links lead to all others."""
        return [self.hosts.host(0).url]

    @property
    def home_pages(self) -> list[str]:
        return [host.url for host in self.hosts]

    def page(self, url: str) -> Page:
        """Returns the page at a URL, whose tracking parameters and fragment do not matter. Raises KeyError if there is
        none."""
        match = _URL.match(url)
        host = self.hosts.at(match[1]) if match else None
        page = self.find(host, match[2]) if host and match else None
        if page is None:
            raise KeyError(url)
        return page

    def find(self, host: Host, path: str) -> Page | None:
        """Returns the page of a host at a path with its query; None if there is none."""
        local = host.page_at(_TRACKING.sub("", path) if "utm_" in path else path)
        return None if local is None else self._page(host, local)

    def page_number(self, number: int) -> Page:
        """Returns the page with this number in the whole web."""
        host = self.hosts.with_page(number)
        return self._page(host, number - host.first)

    def pages(self, *kinds: PageKind) -> Iterator[Page]:
        """Yields all pages, or all of some kinds, host by host."""
        for host in self.hosts:
            for kind in kinds or KINDS:
                for local in host.pages(kind):
                    yield self._page(host, local)

    def reachable(self) -> set[str]:
        """Returns the URLs that a polite crawler, started at `seeds`, fetches with a 2xx answer if it tries again after
        a 503."""
        return {page.url for page in self.pages(*FETCHED)}

    def expected_requests(self, tries: int = 3) -> int:
        """Returns the number of requests of a whole crawl: robots.txt of each host once, a page that answers 500
        `tries` times, a flaky one twice."""
        times = dict.fromkeys(KINDS, 1) | {
            PageKind.FLAKY: min(tries, 2),
            PageKind.BROKEN: tries,
            PageKind.DISALLOWED: 0,
        }
        return sum(1 + sum(len(host.pages(kind)) * times[kind] for kind in KINDS) for host in self.hosts)

    def changed(self, before: int, after: int) -> set[str]:
        """Returns the URLs of `reachable()` whose body, ETag and Last-Modified differ between two versions."""
        return {page.url for page in self.pages(*FETCHED) if page.etag(before) != page.etag(after)}

    def _page(self, host: Host, local: int) -> Page:
        return Page(_url((host, local)), host.kind(local), host, local, self._maker)


def _url(target: Target) -> str:
    host, local = target
    return f"http://{host.authority}{host.path(local)}"
