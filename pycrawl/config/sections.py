"""The sections of `pycrawl.toml`, as frozen dataclasses: each key is declared here once, with its kind, default and
meaning. The reader, its error messages and `pycrawl.toml.example` follow from that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pycrawl import __version__
from pycrawl.config.keys import (
    body_size,
    choice,
    integer,
    key,
    networks,
    number,
    parse_duration,
    parse_size,
    patterns,
    plain_text,
    product_token,
    proxy,
    schemes,
    switch,
    text_list,
)

BUILT_IN_TRANSPORTS = ("curl", "urllib3")


@dataclass(frozen=True, slots=True)
class CrawlSection:
    """Who crawls, with how much of this machine."""

    name: str = key(
        product_token, "pycrawl", "The robot's name: first word of the User-Agent, and the one robots.txt is read for."
    )
    contact: str = key(plain_text, "", "A URL or mail address in the User-Agent, so that webmasters can reach you.")
    user_agent: str = key(plain_text, "", 'The whole User-Agent; empty: "NAME/VERSION (+CONTACT)".')
    fetchers: int = key(integer(0, 256), 0, "Fetcher processes; 0: one for each processor core, at most 8.")
    slots_per_fetcher: int = key(
        integer(1, 10_000),
        1_000,
        "Fetches that one fetcher process may have open at once, at the most: it starts with 128 and gets more while"
        " hosts wait and pages come faster for it.",
    )
    max_depth: int = key(integer(-1, 1_000_000), -1, "Links followed away from a seed at the most; -1: no limit.")
    transport: str = key(
        plain_text,
        "curl",
        '"curl", "urllib3" where no pycurl wheel fits, or the name of a plugin (pycrawl.transports).',
    )
    prioritiser: str = key(
        plain_text, "", "A plugin (pycrawl.priorities) that says which URLs come first; empty: depth and in-links do."
    )
    nameservers: tuple[str, ...] = key(
        text_list, (), 'DNS servers ("9.9.9.9" or "127.0.0.1:5353"); empty: the system\'s.'
    )
    proxy: str = key(
        proxy,
        "",
        'A proxy: "http://HOST:PORT", "socks5://…" or "socks5h://…", with USER:PASSWORD@ where needed; empty: what '
        'http_proxy, https_proxy, all_proxy and no_proxy say; "none": never. The names of servers are looked up here '
        "first, so that none leads to a private address; a proxy is left to do that with socks5h, and an http one if "
        "private addresses are allowed.",
    )
    cookies: bool = key(
        switch, False, "Keep cookies for the run, each for its host only; false: none but where a redirect needs one."
    )


@dataclass(frozen=True, slots=True)
class ScopeSection:
    """Which URLs belong to the crawl. A URL must pass every list; each one turned away is counted under its reason."""

    allow_hosts: tuple[str, ...] = key(
        text_list,
        (),
        'Only these hosts: "www.example.com", or "*.example.com" for a domain and all below; empty: any host.',
    )
    deny_hosts: tuple[str, ...] = key(text_list, (), "Never these hosts; the same forms.")
    allow_prefixes: tuple[str, ...] = key(
        text_list, (), 'Only URLs that start so: "https://example.com/docs/", or "/docs/" for the path on any host.'
    )
    deny_prefixes: tuple[str, ...] = key(text_list, (), "Never URLs that start so; the same forms.")
    allow_patterns: tuple[str, ...] = key(patterns, (), "Only URLs in which one of these regular expressions is found.")
    deny_patterns: tuple[str, ...] = key(patterns, (), "Never URLs in which one of these regular expressions is found.")
    follow_external: bool = key(
        switch, True, "Follow links to hosts other than the page's own; false: stay on the seeds' hosts."
    )
    schemes: tuple[str, ...] = key(schemes, ("http", "https"), "Only these schemes.")
    filters: tuple[str, ...] = key(text_list, (), "Plugins (pycrawl.filters) that each URL must pass too, by name.")
    content_types: tuple[str, ...] = key(
        text_list,
        ("text/html", "application/xhtml+xml", "text/plain"),
        'Bodies of other types are not read; "text/*" and "*/*" work.',
    )


@dataclass(frozen=True, slots=True)
class UrlsSection:
    """The normal form of URLs, beyond the WHATWG standard."""

    strip_session_ids: bool = key(switch, True, "Remove PHPSESSID, jsessionid, sid and their like.")
    strip_tracking: bool = key(switch, True, "Remove utm_*, fbclid, gclid and their like.")
    strip_parameters: tuple[str, ...] = key(text_list, (), "Further query parameters to remove, by name.")
    sort_query: bool = key(switch, False, "Sort the query's parameters.")


@dataclass(frozen=True, slots=True)
class PolitenessSection:
    """How gently hosts are treated."""

    delay: float = key(
        parse_duration, 1.0, "Pause between the end of a fetch and the next one on the same host.", '"1s"'
    )
    delay_from: str = key(
        choice("end", "start"),
        "end",
        'What this pause and a Crawl-delay count from: the "end" of a fetch, or its "start" (then at least half of the'
        " pause is kept after its end): more pages from slow hosts.",
    )
    delay_factor: float = key(
        number(0, 1000), 0.0, "The pause is at least this many times as long as the last fetch took."
    )
    max_crawl_delay: float = key(parse_duration, 60.0, "A Crawl-delay in robots.txt is obeyed up to this.", '"60s"')
    max_backoff: float = key(
        parse_duration, 600.0, "The pause doubles with each failure of a host up to this.", '"10m"'
    )
    connections_per_host: int = key(integer(1, 16), 1, "Connections open to one host at once.")
    obey_robots: bool = key(switch, True, "Ask for robots.txt and keep to it.")
    x_robots_tag: bool = key(switch, True, "Obey noindex and nofollow in the X-Robots-Tag header.")
    meta_robots: bool = key(switch, True, 'Obey noindex and nofollow in <meta name="robots">.')
    rel_nofollow: bool = key(switch, True, 'Do not follow links with rel="nofollow".')
    robots_ttl: float = key(parse_duration, 86400.0, "How long a robots.txt is believed.", '"24h"')


@dataclass(frozen=True, slots=True)
class LimitsSection:
    """What one answer, one host and one run may cost."""

    max_body_bytes: int = key(
        body_size, 10_000_000, "Longer bodies are cut (after decompression) and marked.", '"10 MB"'
    )
    max_header_bytes: int = key(parse_size, 65_536, "Answers with longer headers are given up.", '"64 KiB"')
    connect_timeout: float = key(parse_duration, 10.0, "For the name look-up, the connection and TLS.", '"10s"')
    total_timeout: float = key(parse_duration, 60.0, "For one whole fetch.", '"60s"')
    min_bytes_per_second: int = key(parse_size, 100, "Fetches slower than this over 15 s are given up; 0: no limit.")
    max_redirects: int = key(integer(0, 100), 10, "Redirects followed in a row.")
    max_url_length: int = key(integer(16, 65_536), 2_000, "Longer URLs are turned away (characters).")
    max_links_per_page: int = key(integer(0, 1_000_000), 10_000, "Further links of one page are not followed.")
    max_pages_per_host: int = key(integer(0, 10**12), 0, "Pages fetched from one host; 0: no limit.")
    max_tries: int = key(integer(1, 100), 3, "Times a URL is tried when failures may pass.")
    max_errors: int = key(integer(0, 10**12), 0, "A run that meets more failed URLs stops (exit code 4); 0: no limit.")
    fetcher_timeout: float = key(
        parse_duration, 60.0, "A fetcher process that shows no sign of life for so long is replaced.", '"60s"'
    )


@dataclass(frozen=True, slots=True)
class SecuritySection:
    """What the crawl may reach."""

    allow_private_addresses: bool = key(
        switch, False, "Connect to loopback, private, link-local, CGNAT and metadata addresses too (intranets, tests)."
    )
    allow_networks: tuple[str, ...] = key(
        networks, (), 'Connect to these networks though they are not public: "10.1.0.0/16", "fd00::/8", "127.0.0.1".'
    )


@dataclass(frozen=True, slots=True)
class ContentSection:
    """What is done with pages that bring nothing new."""

    store_duplicates: bool = key(switch, False, "Store a page again whose bytes are those of a stored one.")
    main_content: str = key(
        choice("auto", "dom", "slope", "off"),
        "auto",
        'How a page\'s main content is found, by which near-duplicates are judged: "dom", or "auto" for the same by '
        'the compiled module, in much less time, "slope", or "off": all of its text counts.',
    )
    near_duplicates: bool = key(
        switch, True, "Find pages whose text is nearly that of a stored one, and passages that pages share."
    )
    near_duplicate_threshold: float = key(
        number(0.5, 1), 0.9, "How much of the text two pages must share (Jaccard coefficient of 4-word shingles)."
    )


@dataclass(frozen=True, slots=True)
class TrapsSection:
    """What keeps sites without end from eating the crawl. `pycrawl stats` and `pycrawl why` show what was judged."""

    novelty: bool = key(
        switch,
        True,
        "Stop asking for a kind of page (host, path, parameters) whose pages bring nothing new and lead to ever more of"
        " their kind.",
    )
    soft_404: bool = key(
        switch, True, "Ask each host for a page that cannot exist; pages like its answer are not kept."
    )
    exempt_hosts: tuple[str, ...] = key(text_list, (), "Hosts that are never judged; forms as in scope.allow_hosts.")
    max_path_segments: int = key(integer(0, 10_000), 30, "URLs with longer paths are turned away; 0: no limit.")
    max_repeated_segments: int = key(
        integer(0, 10_000), 3, "URLs in whose path a segment stands more often are turned away; 0: no limit."
    )
    max_query_parameters: int = key(integer(0, 10_000), 15, "URLs with more parameters are turned away; 0: no limit.")


@dataclass(frozen=True, slots=True)
class RecrawlSection:
    """Which pages `pycrawl crawl --recrawl` visits again."""

    min_interval: float = key(parse_duration, 72_000.0, "Pages whose last visit is at least so long ago.", '"20h"')


@dataclass(frozen=True, slots=True)
class StoreSection:
    """The TREC Web compound files."""

    file_size: int = key(
        parse_size, 100_000_000, "A compound file is followed by the next when it reaches this.", '"100 MB"'
    )
    compress: bool = key(switch, True, "gzip, one or more members per record; false: plain text.")
    dochdr: str = key(
        choice("wt10g", "gov2"),
        "wt10g",
        'First header line: "wt10g" (URL, address, date, type, length) or "gov2" (URL).',
    )


@dataclass(frozen=True, slots=True)
class Config:
    crawl: CrawlSection = field(default_factory=CrawlSection)
    scope: ScopeSection = field(default_factory=ScopeSection)
    urls: UrlsSection = field(default_factory=UrlsSection)
    politeness: PolitenessSection = field(default_factory=PolitenessSection)
    limits: LimitsSection = field(default_factory=LimitsSection)
    security: SecuritySection = field(default_factory=SecuritySection)
    content: ContentSection = field(default_factory=ContentSection)
    traps: TrapsSection = field(default_factory=TrapsSection)
    recrawl: RecrawlSection = field(default_factory=RecrawlSection)
    store: StoreSection = field(default_factory=StoreSection)
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # [plugins.NAME]: what plugin NAME takes

    @property
    def user_agent(self) -> str:
        """What goes out as the User-Agent header."""
        if self.crawl.user_agent:
            return self.crawl.user_agent
        contact = f" (+{self.crawl.contact})" if self.crawl.contact else ""
        return f"{self.crawl.name}/{__version__}{contact}"
