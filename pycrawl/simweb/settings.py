"""What a synthetic web looks like. Every field is also an option of `python -m pycrawl.simweb`."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from typing import Any

from pycrawl.errors import UsageError

MAX_HOSTS = 62_500  # 250 addresses in each of 250 blocks of 127.1.0.0/16
MAX_FAULTS = 0.8  # the rest of a host's pages carries the links by which all of it is reached


def _setting(default: float, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True, slots=True)
class SimWebSettings:
    """The same settings give the same web, byte for byte, in every process."""

    seed: int = _setting(1, "the web's number: another seed, another web")
    hosts: int = _setting(20, "hosts, each with a loopback address of its own")
    pages: int = _setting(1_000, "pages over all hosts, those that answer with a fault included")
    port: int = _setting(8900, "the port of all hosts; 0: any free one (servers only)")
    mean_page_bytes: int = _setting(12_000, "bytes of a page's body, on average")
    links_per_page: int = _setting(20, "links of a page, on average")
    host_skew: float = _setting(1.0, "host i has a share of pages like 1/i^SKEW; 0: all hosts alike")
    redirect_share: float = _setting(0.03, "share of pages that answer 301 or 302")
    error_share: float = _setting(0.03, "share of pages that answer 404 (half), 500, or once 503 and then 200")
    duplicates_share: float = _setting(0.03, "share of pages with the very bytes of another page")
    robots_share: float = _setting(0.2, "share of hosts with rules in robots.txt")
    disallowed_share: float = _setting(0.1, "share of pages on such a host that its rules disallow")
    odd_links_share: float = _setting(0.1, "share of links written in an odd way: fragments, tracking parameters …")
    crawl_delay: float = _setting(1.0, "Crawl-delay of half of the hosts with rules, in seconds; 0: none")
    retry_after: int = _setting(1, "Retry-After of a 503, in seconds")
    latency: float = _setting(0.0, "time to answer a page, on average, in seconds")
    change_share: float = _setting(0.1, "share of pages that change with each version")
    sitemap_share: float = _setting(0.0, "share of hosts whose robots.txt names a sitemap of all their pages")
    feed_share: float = _setting(0.0, "share of hosts whose home page names a feed of the pages that changed last")

    def __post_init__(self) -> None:
        self._expect("hosts", 1, MAX_HOSTS)
        self._expect("pages", self.hosts, 1 << 40)
        self._expect("port", 0, 65_535)
        self._expect("mean_page_bytes", 1, 10_000_000)
        self._expect("links_per_page", 1, 10_000)
        self._expect("host_skew", 0, 4)
        for setting in fields(self):
            if setting.name.endswith("_share"):
                self._expect(setting.name, 0, 1)
        for name in ("crawl_delay", "retry_after", "latency"):
            self._expect(name, 0, 3_600)
        faults = self.redirect_share + self.error_share + self.duplicates_share + self.disallowed_share
        if faults > MAX_FAULTS:
            raise UsageError(f"simweb: redirects, errors, duplicates and disallowed pages: {faults:g} > {MAX_FAULTS:g}")

    def _expect(self, name: str, least: float, most: float) -> None:
        value = getattr(self, name)
        if not least <= value <= most:
            raise UsageError(f"simweb: {name}: expected {least:g} to {most:g}, found {value:g}")

    @classmethod
    def plain(cls, **settings: Any) -> SimWebSettings:
        """A web without faults, rules and odd links: every page answers 200 at once, and no two are alike."""
        return cls(**{**_PLAIN, **settings})

    def arguments(self) -> list[str]:
        """The options of `python -m pycrawl.simweb` that stand for these settings."""
        return [f"{option(setting)}={getattr(self, setting.name)!r}" for setting in fields(self)]


_PLAIN = dict.fromkeys(("redirect_share", "error_share", "duplicates_share", "robots_share", "odd_links_share"), 0.0)


def option(setting: Field[Any]) -> str:
    return "--" + setting.name.replace("_", "-")
