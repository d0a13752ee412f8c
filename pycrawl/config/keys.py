"""The kinds of values in `pycrawl.toml`. For each there is a function that reads a value as TOML has it.

It returns the value that the program works with (durations in seconds, sizes in bytes), or raises ValueError with a
message of the form "expected …, found …"; `file.py` adds the name of the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from ipaddress import ip_address, ip_network
from typing import Any

from pycrawl.config.patterns import check

_DURATION_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SIZE_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_SIZE_UNITS |= {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_LARGEST_BODY = 99_000_000  # bytes: with its headers a record stays below the 100 MB that Indri reads
_MOST = 10.0**15  # bytes or seconds; a float cannot hold every whole number far above this
# Scheme, user and password, host, port. As in `curl`, the "h" of socks5h says that the proxy looks names up.
PROXY_FORM = re.compile(r"(http|socks5h?)://(?:([^\s/@]*)@)?(\[[0-9A-Fa-f:.]+\]|[^\s/:@\[\]]+)(?::([0-9]{1,5}))?/?")
_CALLBACK_FORM = re.compile(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]*)\s*")


def parse_duration(value: object) -> float:
    """Reads a duration: a number of seconds, or a string such as "90s", "2h" or "7d". Returns seconds."""
    return _amount(value, _DURATION_UNITS | {"": 1.0}, 'a duration such as 0.5, "90s", "2h" or "7d"')


def parse_size(value: object) -> int:
    """Reads a size: a number of bytes, or a string such as "10 MB". Returns bytes."""
    return int(_amount(value, _SIZE_UNITS, 'a size such as 4096, "64 KB" or "10 MB"'))


def body_size(value: object) -> int:
    """Reads a size at which a record can still be read by the tools that read TREC Web."""
    size = parse_size(value)
    if not 0 < size <= _LARGEST_BODY:
        raise ValueError(
            f"expected a size up to {_LARGEST_BODY:,} bytes (readers of TREC Web take no more), found {value!r}"
        )
    return size


def _amount(value: object, units: dict[str, Any], expected: str) -> float:
    amount = -1.0  # stands for a value that cannot be read
    if isinstance(value, int | float) and not isinstance(value, bool):
        amount = float(value) if value <= _MOST else -1.0
    elif isinstance(value, str) and (match := _AMOUNT.fullmatch(value)):
        amount = float(match[1]) * float(units.get(match[2].lower(), -1.0))
    if not 0 <= amount <= _MOST:
        raise ValueError(f"expected {expected}, found {value!r}")
    return amount


def integer(least: int, most: int) -> Callable[[object], int]:
    """Returns the reader of whole numbers from `least` to `most`, both included."""

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"expected a whole number from {least} to {most}, found {value!r}")
        return value

    return read


def number(least: float, most: float) -> Callable[[object], float]:
    """Returns the reader of numbers from `least` to `most`, both included."""

    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"expected a number from {least:g} to {most:g}, found {value!r}")
        return float(value)

    return read


def switch(value: object) -> bool:
    """Reads true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {value!r}")
    return value


def plain_text(value: object) -> str:
    """Reads a string that can stand in a header: one line, no control characters."""
    if not isinstance(value, str):
        raise ValueError(f"expected a string, found {value!r}")
    if any(ord(character) < 32 for character in value):
        raise ValueError(f"expected a string without control characters, found {value!r}")
    return value


def product_token(value: object) -> str:
    """Reads a name that robots.txt files can address."""
    text = plain_text(value)
    if not re.fullmatch(r"[A-Za-z_-]+", text):  # RFC 9309, 2.2.1
        raise ValueError(f'expected letters, "_" and "-" only (the product token of RFC 9309), found {value!r}')
    return text


def choice(*words: str) -> Callable[[object], str]:
    """Returns the reader of one of these words."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise ValueError(f"expected one of {', '.join(repr(str(word)) for word in words)}, found {value!r}")
        return value

    return read


def choices(*words: str) -> Callable[[object], tuple[str, ...]]:
    """Returns the reader of a list of some of these words, each at most once."""

    def read(value: object) -> tuple[str, ...]:
        texts = text_list(value)
        for text in texts:
            if text not in words:
                raise ValueError(f"expected some of {', '.join(repr(str(word)) for word in words)}, found {text!r}")
        return tuple(dict.fromkeys(texts))

    return read


def text_list(value: object) -> tuple[str, ...]:
    """Reads a list of strings."""
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, found {value!r}")
    return tuple(value)


def schemes(value: object) -> tuple[str, ...]:
    """Reads a list of URL schemes that pycrawl can fetch."""
    texts = text_list(value)
    for scheme in texts:
        if scheme not in ("http", "https"):
            raise ValueError(f'expected "http" and "https" only, found {scheme!r}')
    if not texts:
        raise ValueError("expected at least one scheme")
    return texts


def networks(value: object) -> tuple[str, ...]:
    """Reads a list of networks, each an address with or without the length of its prefix."""
    texts = text_list(value)
    for text in texts:
        try:
            ip_network(text)
        except ValueError as error:
            raise ValueError(f'expected networks such as "10.1.0.0/16" or "fd00::/8", found {error}') from None
    return texts


def port_list(value: object) -> tuple[int, ...]:
    """Reads a list of ports."""
    ports = value if isinstance(value, list) else [None]
    if not all(isinstance(port, int) and not isinstance(port, bool) and 0 <= port <= 65_535 for port in ports):
        raise ValueError(f"expected a list of ports from 0 to 65535, found {value!r}")
    return tuple(ports)


def proxy(value: object) -> str:
    """Reads the URL of a proxy, "none" or ""."""
    text = plain_text(value)
    if text in ("", "none") or PROXY_FORM.fullmatch(text):
        return text
    found = re.sub(r"//.*@", "//…@", text)  # the message must not show a password
    raise ValueError(f'expected "", "none", "http://HOST:PORT", "socks5://…" or "socks5h://…", found {found!r}')


def callback(value: object) -> str:
    """Reads the URL under which others reach this crawl, or ""."""
    text = plain_text(value).rstrip("/")
    if text and not _CALLBACK_FORM.fullmatch(text):
        raise ValueError(f'expected "" or a URL without query, such as "https://example.org/push", found {value!r}')
    return text


def listening_address(value: object) -> str:
    """Reads an address of this machine with a port."""
    text = plain_text(value)
    host, _, port = text.rpartition(":")
    try:
        ip_address(host.removeprefix("[").removesuffix("]"))
        if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65_536:
            raise ValueError
    except ValueError:
        raise ValueError(
            f'expected "ADDRESS:PORT", such as "127.0.0.1:8790" or "[::1]:8790", found {value!r}'
        ) from None
    return text


def patterns(value: object) -> tuple[str, ...]:
    """Reads a list of regular expressions."""
    texts = text_list(value)
    for text in texts:
        check(text)
    return texts


def key(read: Callable[[object], Any], default: object, doc: str, written: str = "") -> Any:
    """Declares a key: `read` reads its value, `doc` says what it means, `default` is what it is when not set.

    `written` is the default as the example writes it, where that is not `default` itself ("1s" instead of 1.0).
    """
    return field(default=default, metadata={"read": read, "doc": doc, "written": written})
