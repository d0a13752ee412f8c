"""The normal form of URLs.

Two spellings of one address must become one string, or the page is fetched twice; two addresses must never become one
string, or a page is lost. So there are three steps: the WHATWG parser; then only changes that cannot lead to another
page (RFC 3986, 6.2.2); last, parameters that name a session or a campaign are removed, each group by a setting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ada_url import join_url, normalize_url

from pycrawl.config import Config
from pycrawl.urls.parts import ENTRY_MARK, HUB_MARK

MAX_LENGTH = 65_536  # characters; the highest `limits.max_url_length`. Anything longer is rubbish.
MAX_HOST_LENGTH = 253  # characters; RFC 1035, 2.3.4, less the length bytes. Longer names cannot be resolved.
_LAST_PATH_START = len("https://") + MAX_HOST_LENGTH + len(":65535")  # where the path of a URL begins at the latest


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SESSION_PARAMETERS = _words(
    "phpsessid jsessionid jsessionidsso aspsessionid asp.net_sessionid sessionid session_id sessid session-id "
    "cfid cftoken oscsid zenid osclid xtcsid modsid phpsid sessionguid wsid"
)
SESSION_PREFIXES = ("aspsessionid",)
TRACKING_PARAMETERS = _words(
    "fbclid gclid gclsrc gbraid wbraid dclid msclkid yclid ysclid twclid ttclid li_fat_id igshid igsh mc_cid mc_eid "
    "_ga _gl _gac _hsenc _hsmi __hssc __hstc __hsfp hsctatracking mkt_tok oly_anon_id oly_enc_id vero_id vero_conv "
    "_openstat wickedid s_cid rb_clickid"
)
TRACKING_PREFIXES = ("utm_", "pk_campaign", "pk_kwd", "mtm_", "piwik_")

# A session id as a parameter of a path segment: "/cart;jsessionid=0A1B".
_SESSION_SEGMENT_PARAMETER = re.compile(
    ";(?:" + "|".join(sorted(map(re.escape, SESSION_PARAMETERS))) + ")=[^;/]*", re.IGNORECASE
)
# A session id as a segment of its own, as ASP.NET writes it for browsers without cookies: "/(S(lit3py55t21z5v55))/".
_SESSION_SEGMENT = re.compile(r"/\((?:[AFX]\([\w-]+\))*S\([\w-]+\)(?:[AFX]\([\w-]+\))*\)(?=/|$)", re.ASCII)
# "sid" also numbers stories and shops: without a letter (other than in %2F and the like) it is taken for such a number.
_LETTER = re.compile(r"(?<!%)(?<!%[0-9A-F])[A-Za-z]")

_HEX = "0123456789ABCDEFabcdef"
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# A triplet; or a "%" that starts none. The triplet behind such a "%" is kept as it is: decoded, its character could
# complete another triplet ("%%341" → "%41"), and the normal form would not be stable.
_PERCENT = re.compile(r"%(?:[0-9A-Fa-f]{2}|[0-9A-Fa-f]?(?:%[0-9A-Fa-f]{2})?)")
_TRIPLETS = {f"%{high}{low}": f"%{high}{low}".upper() for high in _HEX for low in _HEX}
_TRIPLETS |= {triplet: chr(int(triplet[1:], 16)) for triplet in _TRIPLETS if chr(int(triplet[1:], 16)) in _UNRESERVED}

# What the parser leaves alone behind an origin, provided that no segment starts with a dot; the fragment goes.
_PLAIN_REST = re.compile(r"/[A-Za-z0-9_~!$&*+,:=@./-]*(?:\?([A-Za-z0-9_~!$*+,:=@&./?-]*))?(?:#[!-~]*)?")

_NAME = re.compile(r"[A-Za-z0-9_.~%-]+")  # as `fetcher/feed_result.py` makes them
_SCHEMES = ("http://", "https://")
_USER_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?=[^0-9])")


@dataclass(frozen=True, slots=True)
class UrlRules:
    """Which query parameters are removed from URLs; names are in lower case."""

    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    strip_session_ids: bool = False  # those in paths, and the ambiguous "sid"
    sort_query: bool = False

    @classmethod
    def of(cls, config: Config) -> UrlRules:
        urls = config.urls
        names = frozenset(name.lower() for name in urls.strip_parameters)
        prefixes: tuple[str, ...] = ()
        if urls.strip_session_ids:
            names, prefixes = names | SESSION_PARAMETERS, prefixes + SESSION_PREFIXES
        if urls.strip_tracking:
            names, prefixes = names | TRACKING_PARAMETERS, prefixes + TRACKING_PREFIXES
        return cls(names, prefixes, urls.strip_session_ids, urls.sort_query)


def normalise(url: str, rules: UrlRules, base: str | None = None) -> str | None:
    """Returns the normal form of an http(s) URL, resolved against `base`; None for anything else.

    The result is ASCII, and is its own normal form.
    """
    if len(url) > MAX_LENGTH:
        return None
    try:
        href: str = normalize_url(url) if base is None else join_url(base, url)
    except ValueError:
        return None
    if not href.startswith(_SCHEMES):
        return None
    if "#" in href:
        href = href[: href.index("#")]
    if "@" in href or "./" in href or ".:" in href:
        cleaned = _clean_authority(href)
        if cleaned is None:
            return None
        href = cleaned
    if href.find("/", 8) > _LAST_PATH_START:
        return None
    if "?" in href or "%" in href or ";" in href or "(" in href:
        return _normalise_rest(href, rules)
    return href if len(href) <= MAX_LENGTH else None


def _clean_authority(href: str) -> str | None:
    """Returns the authority without credentials, and without the final dot of a fully qualified host name."""
    start = href.index("//") + 2
    end = href.index("/", start)
    authority = href[start:end].rpartition("@")[2]
    host, colon, port = authority.partition(":") if authority[:1] != "[" else (authority, "", "")
    if host.endswith("."):
        host = host[:-1]
        if not host or host.endswith("."):
            return None
    return f"{href[:start]}{host}{colon}{port}{href[end:]}"


def _normalise_rest(href: str, rules: UrlRules) -> str | None:
    """Path and query: percent-encoding, then the parameters that go."""
    end = href.index("/", 8)
    path, _, query = href[end:].partition("?")
    if "%" in path:
        path = _PERCENT.sub(_normal_triplet, path)
    if rules.strip_session_ids and (";" in path or "(" in path):
        stripped = _strip_session_segments(path)
        if stripped != path and "/." in stripped:
            # "/..;sid=1/" was no dot segment before and is one now.
            return normalise(f"{href[:end]}{stripped}{'?' + query if query else ''}", rules)
        path = stripped
    if query:
        query = _normal_query(query, rules)
    result = f"{href[:end]}{path}?{query}" if query else href[:end] + path
    return result if len(result) <= MAX_LENGTH else None


def _normal_triplet(match: re.Match[str]) -> str:
    text = match[0]
    return _TRIPLETS.get(text) or text[:-3] + _upper_if_triplet(text[-3:])


def _upper_if_triplet(text: str) -> str:
    return text.upper() if text in _TRIPLETS else text


def _strip_session_segments(path: str) -> str:
    path = _SESSION_SEGMENT_PARAMETER.sub("", path)
    return _SESSION_SEGMENT.sub("", path) or "/"


def _normal_query(query: str, rules: UrlRules) -> str:
    if "%" in query:
        query = _PERCENT.sub(_normal_triplet, query)
    fields = query.split("&")
    kept = [field for field in fields if not _is_stripped(field, rules)]
    if rules.sort_query:
        # By name alone, as the order of fields of one name may carry meaning.
        kept.sort(key=lambda field: field.partition("=")[0])
    return "&".join(kept)


def _is_stripped(field: str, rules: UrlRules) -> bool:
    name, _, value = field.partition("=")
    name = name.lower()
    if name in rules.names or name.startswith(rules.prefixes):
        return True
    return name == "sid" and rules.strip_session_ids and _LETTER.search(value) is not None


def normalise_behind(origin: str, url: str, rules: UrlRules) -> str | None:
    """As `normalise`, but faster, for a URL that starts with the `origin` of a normalised URL."""
    start = len(origin)
    match = _PLAIN_REST.fullmatch(url, start)
    if match is None or len(url) > MAX_LENGTH or url.find("/.", start) >= 0:
        return normalise(url, rules)
    if match[1] is None:
        fragment = url.find("#", start)
        return url if fragment < 0 else url[:fragment]
    query = _normal_query(match[1], rules)
    path_end = match.start(1) - 1
    return f"{url[:path_end]}?{query}" if query else url[:path_end]


def from_user(text: str, rules: UrlRules) -> str | None:
    """Returns the normal form of a URL as people type it: "example.com/x" and "localhost:8080" get "http://". The URL
    of a feed's entry, and that of a subscription, keeps its fragment."""
    text = text.strip().strip("\ufeff").strip()
    text, mark, name = text.partition(ENTRY_MARK if ENTRY_MARK in text else HUB_MARK)
    if text.startswith("//"):
        text = "http:" + text
    elif text.startswith("/"):
        return None  # a file's path; the parser would take its first segment for a host
    elif not _USER_SCHEME.match(text):
        text = "http://" + text
    url = normalise(text, rules)
    return url + mark + name if url is not None and _NAME.fullmatch(name) else url
