"""Request headers and languages in `pycrawl.toml`: how they are read, and how several tables of headers make one."""

from __future__ import annotations

import re
from collections.abc import Iterable

Headers = tuple[tuple[str, str], ...]  # name, value; each name once

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token: RFC 9110, 5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*")  # a language range: RFC 4647, 2.1
_PRIMARY = re.compile(r"[A-Za-z]{2,3}")
_STEP, _LEAST = 2, 1  # tenths: each further language weighs so much less, down to the least

# Headers that the crawl writes itself, by their names in lower case, and what to do instead.
_PER_MESSAGE = "it belongs to a single message, not to the settings"
_OURS = {
    "host": "the URL says it",
    "user-agent": "set crawl.user_agent or crawl.name",
    "accept-encoding": "the crawl asks for the encodings that it can read",
    **dict.fromkeys(("connection", "content-length", "expect", "keep-alive", "range", "te", "trailer"), _PER_MESSAGE),
    **dict.fromkeys(("transfer-encoding", "upgrade", "content-type", "content-encoding"), _PER_MESSAGE),
    "http2-settings": _PER_MESSAGE,
    **dict.fromkeys(
        ("if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"),
        "the crawl asks itself whether a page has changed",
    ),
    **dict.fromkeys(("proxy-authorization", "proxy-connection"), "set crawl.proxy"),
}


def header_table(value: object) -> Headers:
    """Reads a table of header name → value; an empty value says that the header is not sent."""
    if not isinstance(value, dict):
        raise ValueError(f'expected a table such as {{ From = "me@example.org" }}, found {value!r}')
    seen: set[str] = set()
    for name, text in value.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"expected the name of a header, found {name!r}")
        if not isinstance(text, str):
            raise ValueError(f"{name}: expected a string, found {text!r}")
        if not _VALUE.fullmatch(text):  # a value may be a secret: the message does not show it
            raise ValueError(f"{name}: expected ASCII characters only, and no line breaks or other control characters")
        if name.lower() in _OURS:
            raise ValueError(f"{name} cannot be set here: {_OURS[name.lower()]}")
        if name.lower() in seen:
            raise ValueError(f"{name} is there twice (capitals make no difference)")
        seen.add(name.lower())
    return tuple((name, text.strip()) for name, text in value.items())


def language_list(value: object) -> tuple[str, ...]:
    """Reads a list of languages, the preferred one first."""
    if not isinstance(value, list):
        raise ValueError(f'expected a list such as ["de", "en"], found {value!r}')
    for language in value:
        if not isinstance(language, str) or not _LANGUAGE.fullmatch(language):
            raise ValueError(f'expected languages such as "de", "pt-BR" or "*", found {language!r}')
    return tuple(value)


def primary_languages(value: object) -> tuple[str, ...]:
    """Reads a list of languages without regions, by their codes of two or three letters."""
    if not isinstance(value, list):
        raise ValueError(f'expected a list such as ["de", "en"], found {value!r}')
    for language in value:
        if not isinstance(language, str) or not _PRIMARY.fullmatch(language):
            raise ValueError(f'expected languages such as "de" or "pt", without a region; found {language!r}')
    return tuple(language.lower() for language in value)


def accept_language(languages: Iterable[str]) -> str:
    """Returns the value of Accept-Language: ("de", "en") gives "de, en;q=0.8"."""
    weights = (max(10 - _STEP * place, _LEAST) for place, _ in enumerate(languages))
    pairs = zip(languages, weights, strict=True)
    return ", ".join(language if weight == 10 else f"{language};q=0.{weight}" for language, weight in pairs)


def merged(*tables: Iterable[tuple[str, str]]) -> Headers:
    """Returns all headers of the tables; where several have a header, the last one's value, which may be empty."""
    headers: dict[str, tuple[str, str]] = {}
    for table in tables:
        for name, value in table:
            headers[name.lower()] = (name, value)
    return tuple(headers.values())
