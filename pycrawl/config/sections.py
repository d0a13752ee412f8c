"""The sections of `pycrawl.toml`, as frozen dataclasses.

Each key is declared here, once, with its kind, its default and its meaning. How it is read, the error messages and
`pycrawl.toml.example` are made from these declarations; the docstring of a section is its comment there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pycrawl import __version__
from pycrawl.config.headers import Headers, accept_language, header_table, language_list, merged, primary_languages
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
    port_list,
    product_token,
    proxy,
    schemes,
    switch,
    text_list,
)
from pycrawl.config.recrawl_sections import FeedsSection, RecrawlSection, SitemapsSection

BUILT_IN_TRANSPORTS = ("curl", "urllib3")


@dataclass(frozen=True, slots=True)
class CrawlSection:
    """Who crawls, and how much of this machine the crawl may use."""

    name: str = key(
        product_token,
        "pycrawl",
        "The name of the crawler: first word of the User-Agent, and the name that robots.txt files address it by."
        " When only user_agent is set, it is the first word of that.",
    )
    contact: str = key(plain_text, "", "A URL or mail address in the User-Agent, so that webmasters can reach you.")
    user_agent: str = key(
        plain_text,
        "",
        'The whole User-Agent, which must have the name in it; empty: "NAME/VERSION (+CONTACT)". A contact that is not'
        " in it is added.",
    )
    headers: tuple[tuple[str, str], ...] = key(
        header_table,
        (),
        'More headers of every request: { From = "me@example.org" }; an empty value: that header is not sent. What is'
        " secret belongs to single hosts: see [[host]].",
        "{}",
    )
    languages: tuple[str, ...] = key(
        language_list, (), 'Languages that pages are asked for in (Accept-Language), best first: ["de", "en"].'
    )
    fetchers: int = key(integer(0, 256), 0, "Number of fetcher processes; 0: one for each processor core, at most 8.")
    slots_per_fetcher: int = key(
        integer(1, 10_000),
        1_000,
        "The most fetches that one fetcher process may have open at once. It starts with 128, and gets more as long as"
        " hosts are waiting and more open fetches bring more pages.",
    )
    max_depth: int = key(integer(-1, 1_000_000), -1, "The most links between a seed and a page; -1: no limit.")
    transport: str = key(
        plain_text,
        "curl",
        'What fetches: "curl", "urllib3" where pycurl cannot be installed, or a plugin (pycrawl.transports).',
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
        'http_proxy, https_proxy, all_proxy and no_proxy say; "none": never. The names of servers are looked up '
        "on this machine first, so that none leads to a private address. The proxy looks them up instead with socks5h, "
        "and with http if private addresses are allowed.",
    )
    cookies: bool = key(
        switch, False, "Keep cookies during a run, each for its own host only; false: only while following a redirect."
    )


@dataclass(frozen=True, slots=True)
class ScopeSection:
    """Which URLs belong to the crawl. A URL must pass every list; `pycrawl stats` counts the others by reason."""

    allow_hosts: tuple[str, ...] = key(
        text_list,
        (),
        'Only these hosts: "www.example.com", or "*.example.com" for a domain and all below it; empty: any host.',
    )
    deny_hosts: tuple[str, ...] = key(text_list, (), "Never these hosts; written as in allow_hosts.")
    allow_prefixes: tuple[str, ...] = key(
        text_list,
        (),
        'Only URLs that start like this: "https://example.com/docs/", or "/docs/" for the path on any host.',
    )
    deny_prefixes: tuple[str, ...] = key(
        text_list, (), "Never URLs that start like this; written as in allow_prefixes."
    )
    allow_patterns: tuple[str, ...] = key(
        patterns,
        (),
        "Only URLs in which one of these regular expressions matches somewhere, in the syntax of RE2: as in Python, but"
        " without look-ahead, look-behind and references back.",
    )
    deny_patterns: tuple[str, ...] = key(
        patterns,
        (),
        "Never URLs in which one of these regular expressions matches somewhere; written as in allow_patterns.",
    )
    follow_external: bool = key(
        switch, True, "Follow links to hosts other than the page's own; false: stay on the seeds' hosts."
    )
    schemes: tuple[str, ...] = key(schemes, ("http", "https"), "Only these schemes.")
    filters: tuple[str, ...] = key(text_list, (), "Plugins (pycrawl.filters) that each URL must pass too, by name.")
    content_types: tuple[str, ...] = key(
        text_list,
        ("pages", "documents"),
        'Only answers with these types are read and stored: "text/csv", "text/*", "*/*", or groups of types: "pages" '
        '(HTML and plain text), "documents" (PDF, Office and what else docs/documents.md names), "images".',
    )
    languages: tuple[str, ...] = key(
        primary_languages,
        (),
        'Only pages in these languages are stored: ["de", "fr"]; links on others are followed. Pages whose language '
        "cannot be told are stored. Empty: all.",
    )


@dataclass(frozen=True, slots=True)
class UrlsSection:
    """How URLs are normalised beyond what the WHATWG standard says, so that one page has one URL."""

    strip_session_ids: bool = key(switch, True, "Remove PHPSESSID, jsessionid, sid and similar parameters.")
    strip_tracking: bool = key(switch, True, "Remove utm_*, fbclid, gclid and similar parameters.")
    strip_parameters: tuple[str, ...] = key(text_list, (), "Names of other query parameters to remove.")
    sort_query: bool = key(switch, False, "Sort the parameters of the query.")


@dataclass(frozen=True, slots=True)
class PolitenessSection:
    """How gently hosts are treated."""

    delay: float = key(
        parse_duration, 1.0, "Pause between the end of a fetch and the next one on the same host.", '"1s"'
    )
    delay_from: str = key(
        choice("end", "start"),
        "end",
        'From when this pause and a Crawl-delay are counted: the "end" of a fetch, or its "start", which gets more'
        " pages from slow hosts; at least half of the pause is then kept after the end of the fetch.",
    )
    delay_factor: float = key(
        number(0, 1000), 0.0, "The pause is at least this many times as long as the last fetch took."
    )
    max_crawl_delay: float = key(parse_duration, 60.0, "A Crawl-delay in robots.txt is obeyed up to this.", '"60s"')
    max_backoff: float = key(
        parse_duration, 600.0, "The pause doubles with each failure of a host up to this.", '"10m"'
    )
    max_retry_after: float = key(
        parse_duration,
        86_400.0,
        "A host or a robots.txt that asks to be left alone (Retry-After) is, up to this.",
        '"24h"',
    )
    connections_per_host: int = key(integer(1, 16), 1, "The most connections to one host at the same time.")
    obey_robots: bool = key(switch, True, "Ask for robots.txt and keep to it.")
    x_robots_tag: bool = key(switch, True, "Obey noindex and nofollow in the X-Robots-Tag header.")
    meta_robots: bool = key(switch, True, 'Obey noindex and nofollow in <meta name="robots">.')
    rel_nofollow: bool = key(switch, True, 'Do not follow links with rel="nofollow".')
    robots_ttl: float = key(parse_duration, 86400.0, "A robots.txt is fetched again after this time.", '"24h"')


@dataclass(frozen=True, slots=True)
class LimitsSection:
    """What one answer, one host and one run may cost."""

    max_body_bytes: int = key(
        body_size, 10_000_000, "Longer bodies (after decompression) are cut off here and marked.", '"10 MB"'
    )
    max_header_bytes: int = key(parse_size, 65_536, "Answers with longer headers are given up.", '"64 KiB"')
    connect_timeout: float = key(
        parse_duration, 10.0, "Time for the name look-up, the connection and TLS together.", '"10s"'
    )
    total_timeout: float = key(parse_duration, 60.0, "Time for one whole fetch.", '"60s"')
    min_bytes_per_second: int = key(parse_size, 100, "Fetches slower than this over 15 s are given up; 0: no limit.")
    max_redirects: int = key(integer(0, 100), 10, "The most redirects that are followed in a row.")
    max_url_length: int = key(integer(16, 65_536), 2_000, "Longer URLs (in characters) are not crawled.")
    max_links_per_page: int = key(integer(0, 1_000_000), 10_000, "Only this many links of one page are followed.")
    max_pages_per_host: int = key(integer(0, 10**12), 0, "The most pages fetched from one host; 0: no limit.")
    max_tries: int = key(
        integer(1, 100), 3, "How often a URL is tried in all, when it fails for a reason that may pass."
    )
    max_errors: int = key(integer(0, 10**12), 0, "A run in which more URLs fail is stopped (exit code 4); 0: no limit.")
    fetcher_timeout: float = key(
        parse_duration, 60.0, "A fetcher process that has not reported for this long is replaced.", '"60s"'
    )


@dataclass(frozen=True, slots=True)
class SecuritySection:
    """Which addresses and ports the crawl may connect to."""

    allow_private_addresses: bool = key(
        switch, False, "Connect to loopback, private, link-local, CGNAT and metadata addresses too (intranets, tests)."
    )
    allow_networks: tuple[str, ...] = key(
        networks, (), 'Connect to these networks although they are not public: "10.1.0.0/16", "fd00::/8", "127.0.0.1".'
    )
    allow_ports: tuple[int, ...] = key(
        port_list,
        (),
        "Ask for pages at these ports although they belong to other services (mail, SSH …) and browsers refuse them:"
        " [6000].",
    )


@dataclass(frozen=True, slots=True)
class ContentSection:
    """How pages are compared, and what is done with copies."""

    store_duplicates: bool = key(switch, False, "Store a page even if a page with the same bytes is stored already.")
    main_content: str = key(
        choice("auto", "dom", "slope", "off"),
        "auto",
        'How the main content of a page is found, which is what near-duplicates are compared by: "auto" (the fastest), '
        '"dom" (the same result, by way of a tree), "slope" (by the density of text), or "off" (all of the text).',
    )
    near_duplicates: bool = key(
        switch, True, "Find pages with nearly the same text as a stored one, and passages that pages share."
    )
    near_duplicate_threshold: float = key(
        number(0.5, 1),
        0.9,
        "The share of their text that near-duplicates have in common (Jaccard coefficient of 4-word shingles).",
    )
    anchors: bool = key(
        switch,
        True,
        "Keep of each link its text, its rel, and whether it stands in the main content. Without this, only what links "
        "to what is kept.",
    )
    detect_languages: bool = key(
        switch,
        False,
        "Tell the language of pages that declare none, or one that does not fit, by their text, as scope.languages does"
        " in any case. Takes 80 MB in each fetcher; needs py3langid (docs/languages.md).",
    )


@dataclass(frozen=True, slots=True)
class TrapsSection:
    """How the crawl gets out of sites without end. `pycrawl stats` and `pycrawl why` show what was decided."""

    novelty: bool = key(
        switch,
        True,
        "Stop fetching a kind of page (same host, similar path and parameters) when its pages bring nothing new and"
        " lead only to more of their kind.",
    )
    soft_404: bool = key(
        switch, True, "Ask each host for a page that cannot exist, and do not keep pages that look like its answer."
    )
    exempt_hosts: tuple[str, ...] = key(
        text_list, (), "Hosts to which novelty and soft_404 are not applied; written as in scope.allow_hosts."
    )
    max_path_segments: int = key(
        integer(0, 10_000), 30, "URLs with more segments in their path are not crawled; 0: no limit."
    )
    max_repeated_segments: int = key(
        integer(0, 10_000), 3, "URLs that repeat a segment of their path more often are not crawled; 0: no limit."
    )
    max_query_parameters: int = key(
        integer(0, 10_000), 15, "URLs with more query parameters are not crawled; 0: no limit."
    )


@dataclass(frozen=True, slots=True)
class StoreSection:
    """How the collection is written: compound files of TREC Web records."""

    file_size: int = key(
        parse_size, 100_000_000, "A compound file that reaches this size is closed, and the next one begun.", '"100 MB"'
    )
    compress: bool = key(switch, True, "Compress with gzip, each record in members of its own; false: plain text.")
    dochdr: str = key(
        choice("wt10g", "gov2"),
        "wt10g",
        'First line of a record\'s DOCHDR: "wt10g" (URL, address, date, type, length) or "gov2" (URL).',
    )


@dataclass(frozen=True, slots=True)
class LogsSection:
    """How much of log/ is kept. Logs of events are short: they begin anew at 10 MB, and five older ones are kept."""

    max_bytes: int = key(
        parse_size, 1_000_000_000, "When the logs of fetches have more than this, the oldest go.", '"1 GB"'
    )
    max_age: float = key(parse_duration, 31_536_000.0, "Logs of fetches that are older than this go.", '"365d"')


@dataclass(frozen=True, slots=True)
class HostEntry:
    """One [[host]]: for which hosts, and the keys that it sets. What it does not set is as in the sections."""

    name: str  # a host or a domain, as in scope.allow_hosts
    politeness: Mapping[str, Any] = field(default_factory=dict)  # key of [politeness] → value
    limits: Mapping[str, Any] = field(default_factory=dict)  # key of [limits] → value
    headers: Headers = ()


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of a crawl; a section that the file leaves out has its defaults."""

    crawl: CrawlSection = field(default_factory=CrawlSection)
    scope: ScopeSection = field(default_factory=ScopeSection)
    urls: UrlsSection = field(default_factory=UrlsSection)
    politeness: PolitenessSection = field(default_factory=PolitenessSection)
    limits: LimitsSection = field(default_factory=LimitsSection)
    security: SecuritySection = field(default_factory=SecuritySection)
    content: ContentSection = field(default_factory=ContentSection)
    traps: TrapsSection = field(default_factory=TrapsSection)
    recrawl: RecrawlSection = field(default_factory=RecrawlSection)
    sitemaps: SitemapsSection = field(default_factory=SitemapsSection)
    feeds: FeedsSection = field(default_factory=FeedsSection)
    store: StoreSection = field(default_factory=StoreSection)
    logs: LogsSection = field(default_factory=LogsSection)
    hosts: tuple[HostEntry, ...] = ()  # [[host]]; what holds for a host is found by `urls/host_settings.py`
    plugins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # [plugins.NAME]: what plugin NAME takes

    @property
    def user_agent(self) -> str:
        """Returns the value of the User-Agent header."""
        agent = self.crawl.user_agent or f"{self.crawl.name}/{__version__}"
        contact = self.crawl.contact
        return agent if contact in agent else f"{agent} (+{contact})"

    @property
    def headers(self) -> Headers:
        """Returns the headers that the settings add to every request; one with an empty value is not sent."""
        languages = accept_language(self.crawl.languages)
        return merged([("Accept-Language", languages)] if languages else (), self.crawl.headers)
