"""`pycrawl.toml` into frozen dataclasses.

Each key is declared once, with its kind, default and meaning; from that come the reader, its error messages and
`pycrawl.toml.example`. Durations are seconds, sizes are bytes, once read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any, cast

from pycrawl import __version__
from pycrawl.errors import ConfigError

CONFIG_NAME = "pycrawl.toml"

_DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SIZE_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZE_UNITS |= {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_LARGEST_BODY = 99_000_000  # bytes: with its headers a record stays below the 100 MB that Indri reads
_MOST = 10.0**15  # bytes or seconds: beyond it a whole number is no longer exact
# Scheme, user and password, host, port. As in `curl`, the "h" of socks5h says that the proxy looks names up.
PROXY_FORM = re.compile(r"(http|socks5h?)://(?:([^\s/@]*)@)?(\[[0-9A-Fa-f:.]+\]|[^\s/:@\[\]]+)(?::([0-9]{1,5}))?/?")
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*")


def parse_duration(value: object) -> float:
    """Seconds from a number or from words like "90s", "2h", "7d"."""
    return _amount(value, _DURATION_UNITS | {"": 1.0}, 'a duration such as 0.5, "90s", "2h" or "7d"')


def parse_size(value: object) -> int:
    """Bytes from a number or from words like "10 MB"."""
    return int(_amount(value, _SIZE_UNITS, 'a size such as 4096, "64 KB" or "10 MB"'))


def _body_size(value: object) -> int:
    size = parse_size(value)
    if not 0 < size <= _LARGEST_BODY:
        raise ValueError(
            f"expected a size up to {_LARGEST_BODY:,} bytes (readers of TREC Web take no more), found {value!r}"
        )
    return size


def _amount(value: object, units: dict[str, Any], expected: str) -> float:
    amount = -1.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        amount = float(value) if value <= _MOST else -1.0
    elif isinstance(value, str) and (match := _AMOUNT.fullmatch(value)):
        amount = float(match[1]) * float(units.get(match[2].lower(), -1.0))
    if not 0 <= amount <= _MOST:
        raise ValueError(f"expected {expected}, found {value!r}")
    return amount


def _integer(least: int, most: int) -> Callable[[object], int]:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"expected a whole number from {least} to {most}, found {value!r}")
        return value

    return read


def _number(least: float, most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"expected a number from {least:g} to {most:g}, found {value!r}")
        return float(value)

    return read


def _switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {value!r}")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected a string, found {value!r}")
    if any(ord(character) < 32 for character in value):
        raise ValueError(f"expected a string without control characters, found {value!r}")
    return value


def _product_token(value: object) -> str:
    text = _text(value)
    if not re.fullmatch(r"[A-Za-z_-]+", text):  # RFC 9309, 2.2.1
        raise ValueError(f'expected letters, "_" and "-" only (the product token of RFC 9309), found {value!r}')
    return text


def _choice(*words: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"expected one of {', '.join(map(repr, words))}, found {value!r}")
        return value

    return read


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, found {value!r}")
    return tuple(value)


def _schemes(value: object) -> tuple[str, ...]:
    texts = _texts(value)
    for scheme in texts:
        if scheme not in ("http", "https"):
            raise ValueError(f'expected "http" and "https" only, found {scheme!r}')
    if not texts:
        raise ValueError("expected at least one scheme")
    return texts


def _networks(value: object) -> tuple[str, ...]:
    texts = _texts(value)
    for text in texts:
        try:
            ip_network(text)
        except ValueError as error:
            raise ValueError(f'expected networks such as "10.1.0.0/16" or "fd00::/8", found {error}') from None
    return texts


def _proxy(value: object) -> str:
    text = _text(value)
    if text in ("", "none") or PROXY_FORM.fullmatch(text):
        return text
    found = re.sub(r"//.*@", "//…@", text)  # a password does not belong into messages
    raise ValueError(f'expected "", "none", "http://HOST:PORT", "socks5://…" or "socks5h://…", found {found!r}')


def _patterns(value: object) -> tuple[str, ...]:
    texts = _texts(value)
    for text in texts:
        try:
            re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"{text!r} is not a regular expression: {error}") from None
    return texts


def _key(read: Callable[[object], Any], default: object, doc: str, written: str = "") -> Any:
    """One key: `default` as a value of Python, `written` as it stands in the example where that differs."""
    return field(default=default, metadata={"read": read, "doc": doc, "written": written})


@dataclass(frozen=True, slots=True)
class CrawlSection:
    """Who crawls, with how much of this machine."""

    name: str = _key(
        _product_token, "pycrawl", "The robot's name: first word of the User-Agent, and the one robots.txt is read for."
    )
    contact: str = _key(_text, "", "A URL or mail address in the User-Agent, so that webmasters can reach you.")
    user_agent: str = _key(_text, "", 'The whole User-Agent; empty: "NAME/VERSION (+CONTACT)".')
    fetchers: int = _key(_integer(0, 256), 0, "Fetcher processes; 0: one for each processor core, at most 8.")
    slots_per_fetcher: int = _key(
        _integer(1, 10_000),
        1_000,
        "Fetches that one fetcher process may have open at once, at the most: it starts with 128 and gets more while"
        " hosts wait and pages come faster for it.",
    )
    max_depth: int = _key(_integer(-1, 1_000_000), -1, "Links followed away from a seed at the most; -1: no limit.")
    transport: str = _key(_choice("curl", "urllib3"), "curl", '"curl", or "urllib3" where no pycurl wheel fits.')
    nameservers: tuple[str, ...] = _key(
        _texts, (), 'DNS servers ("9.9.9.9" or "127.0.0.1:5353"); empty: the system\'s.'
    )
    proxy: str = _key(
        _proxy,
        "",
        'A proxy: "http://HOST:PORT", "socks5://…" or "socks5h://…", with USER:PASSWORD@ where needed; empty: what '
        'http_proxy, https_proxy, all_proxy and no_proxy say; "none": never. The names of servers are looked up here '
        "first, so that none leads to a private address; a proxy is left to do that with socks5h, and an http one if "
        "private addresses are allowed.",
    )
    cookies: bool = _key(
        _switch, False, "Keep cookies for the run, each for its host only; false: none but where a redirect needs one."
    )


@dataclass(frozen=True, slots=True)
class ScopeSection:
    """Which URLs belong to the crawl. A URL must pass every list; each one turned away is counted under its reason."""

    allow_hosts: tuple[str, ...] = _key(
        _texts,
        (),
        'Only these hosts: "www.example.com", or "*.example.com" for a domain and all below; empty: any host.',
    )
    deny_hosts: tuple[str, ...] = _key(_texts, (), "Never these hosts; the same forms.")
    allow_prefixes: tuple[str, ...] = _key(
        _texts, (), 'Only URLs that start so: "https://example.com/docs/", or "/docs/" for the path on any host.'
    )
    deny_prefixes: tuple[str, ...] = _key(_texts, (), "Never URLs that start so; the same forms.")
    allow_patterns: tuple[str, ...] = _key(
        _patterns, (), "Only URLs in which one of these regular expressions is found."
    )
    deny_patterns: tuple[str, ...] = _key(
        _patterns, (), "Never URLs in which one of these regular expressions is found."
    )
    follow_external: bool = _key(
        _switch, True, "Follow links to hosts other than the page's own; false: stay on the seeds' hosts."
    )
    schemes: tuple[str, ...] = _key(_schemes, ("http", "https"), "Only these schemes.")
    content_types: tuple[str, ...] = _key(
        _texts,
        ("text/html", "application/xhtml+xml", "text/plain"),
        'Bodies of other types are not read; "text/*" and "*/*" work.',
    )


@dataclass(frozen=True, slots=True)
class UrlsSection:
    """The normal form of URLs, beyond the WHATWG standard."""

    strip_session_ids: bool = _key(_switch, True, "Remove PHPSESSID, jsessionid, sid and their like.")
    strip_tracking: bool = _key(_switch, True, "Remove utm_*, fbclid, gclid and their like.")
    strip_parameters: tuple[str, ...] = _key(_texts, (), "Further query parameters to remove, by name.")
    sort_query: bool = _key(_switch, False, "Sort the query's parameters.")


@dataclass(frozen=True, slots=True)
class PolitenessSection:
    """How gently hosts are treated."""

    delay: float = _key(
        parse_duration, 1.0, "Pause between the end of a fetch and the next one on the same host.", '"1s"'
    )
    delay_from: str = _key(
        _choice("end", "start"),
        "end",
        'What this pause and a Crawl-delay count from: the "end" of a fetch, or its "start" (then at least half of the'
        " pause is kept after its end): more pages from slow hosts.",
    )
    delay_factor: float = _key(
        _number(0, 1000), 0.0, "The pause is at least this many times as long as the last fetch took."
    )
    max_crawl_delay: float = _key(parse_duration, 60.0, "A Crawl-delay in robots.txt is obeyed up to this.", '"60s"')
    max_backoff: float = _key(
        parse_duration, 600.0, "The pause doubles with each failure of a host up to this.", '"10m"'
    )
    connections_per_host: int = _key(_integer(1, 16), 1, "Connections open to one host at once.")
    obey_robots: bool = _key(_switch, True, "Ask for robots.txt and keep to it.")
    x_robots_tag: bool = _key(_switch, True, "Obey noindex and nofollow in the X-Robots-Tag header.")
    meta_robots: bool = _key(_switch, True, 'Obey noindex and nofollow in <meta name="robots">.')
    rel_nofollow: bool = _key(_switch, True, 'Do not follow links with rel="nofollow".')
    robots_ttl: float = _key(parse_duration, 86400.0, "How long a robots.txt is believed.", '"24h"')


@dataclass(frozen=True, slots=True)
class LimitsSection:
    """What one answer, one host and one run may cost."""

    max_body_bytes: int = _key(
        _body_size, 10_000_000, "Longer bodies are cut (after decompression) and marked.", '"10 MB"'
    )
    max_header_bytes: int = _key(parse_size, 65_536, "Answers with longer headers are given up.", '"64 KiB"')
    connect_timeout: float = _key(parse_duration, 10.0, "For the name look-up, the connection and TLS.", '"10s"')
    total_timeout: float = _key(parse_duration, 60.0, "For one whole fetch.", '"60s"')
    min_bytes_per_second: int = _key(parse_size, 100, "Fetches slower than this over 15 s are given up; 0: no limit.")
    max_redirects: int = _key(_integer(0, 100), 10, "Redirects followed in a row.")
    max_url_length: int = _key(_integer(16, 65_536), 2_000, "Longer URLs are turned away (characters).")
    max_links_per_page: int = _key(_integer(0, 1_000_000), 10_000, "Further links of one page are not followed.")
    max_pages_per_host: int = _key(_integer(0, 10**12), 0, "Pages fetched from one host; 0: no limit.")
    max_tries: int = _key(_integer(1, 100), 3, "Times a URL is tried when failures may pass.")
    max_errors: int = _key(
        _integer(0, 10**12), 0, "A run that meets more failed URLs stops (exit code 4); 0: no limit."
    )
    fetcher_timeout: float = _key(
        parse_duration, 60.0, "A fetcher process that shows no sign of life for so long is replaced.", '"60s"'
    )


@dataclass(frozen=True, slots=True)
class SecuritySection:
    """What the crawl may reach."""

    allow_private_addresses: bool = _key(
        _switch, False, "Connect to loopback, private, link-local, CGNAT and metadata addresses too (intranets, tests)."
    )
    allow_networks: tuple[str, ...] = _key(
        _networks, (), 'Connect to these networks though they are not public: "10.1.0.0/16", "fd00::/8", "127.0.0.1".'
    )


@dataclass(frozen=True, slots=True)
class ContentSection:
    """What is done with pages that bring nothing new."""

    store_duplicates: bool = _key(_switch, False, "Store a page again whose bytes are those of a stored one.")
    main_content: str = _key(
        _choice("auto", "dom", "slope", "off"),
        "auto",
        'How a page\'s main content is found, by which near-duplicates are judged: "dom", or "auto" for the same by '
        'the compiled module, in much less time, "slope", or "off": all of its text counts.',
    )
    near_duplicates: bool = _key(
        _switch, True, "Find pages whose text is nearly that of a stored one, and passages that pages share."
    )
    near_duplicate_threshold: float = _key(
        _number(0.5, 1), 0.9, "How much of the text two pages must share (Jaccard coefficient of 4-word shingles)."
    )


@dataclass(frozen=True, slots=True)
class TrapsSection:
    """What keeps sites without end from eating the crawl. `pycrawl stats` and `pycrawl why` show what was judged."""

    novelty: bool = _key(
        _switch,
        True,
        "Stop asking for a kind of page (host, path, parameters) whose pages bring nothing new and lead to ever more of"
        " their kind.",
    )
    soft_404: bool = _key(
        _switch, True, "Ask each host for a page that cannot exist; pages like its answer are not kept."
    )
    exempt_hosts: tuple[str, ...] = _key(_texts, (), "Hosts that are never judged; forms as in scope.allow_hosts.")
    max_path_segments: int = _key(_integer(0, 10_000), 30, "URLs with longer paths are turned away; 0: no limit.")
    max_repeated_segments: int = _key(
        _integer(0, 10_000), 3, "URLs in whose path a segment stands more often are turned away; 0: no limit."
    )
    max_query_parameters: int = _key(_integer(0, 10_000), 15, "URLs with more parameters are turned away; 0: no limit.")


@dataclass(frozen=True, slots=True)
class RecrawlSection:
    """Which pages `pycrawl crawl --recrawl` visits again."""

    min_interval: float = _key(parse_duration, 72_000.0, "Pages whose last visit is at least so long ago.", '"20h"')


@dataclass(frozen=True, slots=True)
class StoreSection:
    """The TREC Web compound files."""

    file_size: int = _key(
        parse_size, 100_000_000, "A compound file is followed by the next when it reaches this.", '"100 MB"'
    )
    compress: bool = _key(_switch, True, "gzip, one or more members per record; false: plain text.")
    dochdr: str = _key(
        _choice("wt10g", "gov2"),
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

    @property
    def user_agent(self) -> str:
        """What goes out as the User-Agent header."""
        if self.crawl.user_agent:
            return self.crawl.user_agent
        contact = f" (+{self.crawl.contact})" if self.crawl.contact else ""
        return f"{self.crawl.name}/{__version__}{contact}"


def _sections() -> Iterator[tuple[str, Any]]:
    for section in fields(Config):
        assert section.default_factory is not MISSING
        yield section.name, cast(Any, section.default_factory)


def load(path: Path) -> Config:
    """The configuration in the file at `path`."""
    try:
        text = path.read_text("utf-8-sig")  # some editors put a byte order mark first
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file. Run `pycrawl init` first, or name the crawl's directory with -C."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from None
    return parse(text, str(path))


def parse(text: str, origin: str = CONFIG_NAME) -> Config:
    """The configuration in `text`; `origin` names it in error messages."""
    try:
        tables = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also numbers too long, and brackets too deep, to read
        raise ConfigError(f"{origin}: not valid TOML: {error}") from None
    sections = dict(_sections())
    for name in tables:
        if name not in sections:
            raise ConfigError(f"{origin}: unknown section [{name}]; there are {', '.join(f'[{s}]' for s in sections)}")
    return Config(**{name: _section(origin, name, cls, tables.get(name, {})) for name, cls in sections.items()})


def _section(origin: str, name: str, cls: Any, table: object) -> Any:
    if not isinstance(table, dict):
        raise ConfigError(f"{origin}: [{name}] must be a section, found {table!r}")
    keys: dict[str, Field[Any]] = {key.name: key for key in fields(cls)}
    values = {}
    for key, value in table.items():
        if key not in keys:
            raise ConfigError(f"{origin}: unknown key {name}.{key}; [{name}] has {', '.join(keys)}")
        try:
            values[key] = keys[key].metadata["read"](value)
        except ValueError as error:
            raise ConfigError(f"{origin}: {name}.{key}: {error}") from None
    return cls(**values)


def example(changed: dict[str, str] | None = None) -> str:
    """`pycrawl.toml.example`: every key with its meaning and default.

    Keys named in `changed` ("section.key" → TOML text) stand as given; the others are commented out with their
    defaults, so that a later release may choose better ones.
    """
    changed = changed or {}
    lines = []
    for name, cls in _sections():
        lines += [f"# {cls.__doc__}", f"[{name}]"]
        for key in fields(cls):
            lines.append(f"# {key.metadata['doc']}")
            written = changed.get(f"{name}.{key.name}")
            default = key.metadata["written"] or toml_value(key.default)
            lines.append(f"{key.name} = {written}" if written is not None else f"# {key.name} = {default}")
        lines.append("")
    return "\n".join(lines)


def toml_value(value: object) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            escaped = value.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case tuple():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case _:
            return str(value)
