"""The parts of a normalised URL. This is the one place that slices a URL: everything else asks here.

A normalised URL starts with "http://" or "https://", has a host, and a "/" behind it; so no function here fails.
"""

from __future__ import annotations

from xxhash import xxh3_64_intdigest

GUESSED_PATH = "/sitemap.xml"  # where a site that names no sitemap is likely to have one
ENTRY_MARK = "#entry-"  # between the URL of a feed and the name of an entry
HUB_MARK = "#feed-"  # between the URL of a hub and the hash of a feed
_AFTER_SCHEME = 8  # characters; of "http://" and "https://", no "/" of the path stands before the ninth


def host_key(url: str) -> str:
    """The authority of a normalised URL: "example.com", "127.0.0.1:8001"."""
    start = 8 if url[4] == "s" else 7
    return url[start : url.index("/", start)]


def address_literal(key: str) -> str:
    """The IP address that a host key names ("127.0.0.1:8001", "[::1]"); empty if it is a name."""
    if key.startswith("["):
        return key[1 : key.index("]")]
    host = key.partition(":")[0]
    # A normalised host that ends in a digit is an IPv4 address (WHATWG URL, 3.5).
    return host if host[-1:].isdigit() else ""


def origin(url: str) -> str:
    """Scheme and authority of a normalised URL: "http://example.com"."""
    return url[: url.index("/", _AFTER_SCHEME)]


def origins_of(key: str) -> tuple[str, str]:
    """Returns the two origins that a host has."""
    return f"http://{key}", f"https://{key}"


def robots_url(url: str) -> str:
    """Returns the URL of the robots.txt that holds for a normalised URL."""
    return origin(url) + "/robots.txt"


def entry_url(feed_url: str, name: str) -> str:
    """Returns the URL of a feed's entry that has no page: the feed's own, with the entry's name (escaped, without "/")
    as fragment. No other URL in the ledger has a fragment, those of `subscription_url` apart."""
    return f"{feed_url}{ENTRY_MARK}{name}"


def is_entry(url: str) -> bool:
    """True if the URL is one that `entry_url` made."""
    return ENTRY_MARK in url


def subscription_url(hub: str, topic: str, seed: int) -> str:
    """Returns the URL that stands in the ledger for the wish that a WebSub hub push the news of the feed that it knows
    as `topic`: the hub's own, as many feeds may have one hub, with a fragment."""
    return f"{hub}{HUB_MARK}{url_hash(topic, seed):016x}"


def url_hash(url: str, seed: int) -> int:
    """Returns the 64-bit hash that stands for a normalised URL in the set of known URLs.

    `seed` is secret and the crawl's own: with a known seed, somebody could publish a link whose hash collides with
    another page's, and so hide that page from the crawl.
    """
    return xxh3_64_intdigest(url.encode(), seed)


def path_and_query(url: str) -> str:
    """Returns all after the origin: "/news/today?page=2"."""
    return url[url.index("/", _AFTER_SCHEME) :]


def path(url: str) -> str:
    """Returns the path without the query: "/news/today"."""
    return path_and_query(url).partition("?")[0]


def first_directory(url: str) -> str:
    """The first level of a URL's path: "/" or "/news/"."""
    whole = path(url)
    end = whole.find("/", 1)
    return whole[: end + 1] if end > 0 else "/"


def likely_origin(text: str) -> str:
    """The origin of a text that may be a URL, normalised or not: all before the first "/" behind the scheme."""
    return text[: text.find("/", _AFTER_SCHEME)]
