"""Regular expressions of the settings. Settings may be somebody else's, and URLs are anybody's, so that they are
searched for by RE2, which takes time in proportion to the text, where Python's `re` may take for ever over `(a+)+$`.

They are written as for `re`, and mean the same in URLs, which are ASCII. Look-ahead, look-behind, references back,
possessive repeats and `(?x)` do not exist in RE2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

_LONGEST = 10_000  # characters of one pattern
_MOST_STEPS = 5_000  # of RE2's program for a pattern: what a character of a text may cost at most
_JOINED_CHARACTERS = 2_000  # patterns are searched for together, up to so many characters of them
# What RE2 writes differently: the end of the text, and "at most n times".
_END = re.compile(r"(?<!\\)((?:\\\\)*)\\Z")
_AT_MOST = re.compile(r"(?<!\\)((?:\\\\)*)\{,([0-9]+)\}")


def check(pattern: str) -> None:
    """Raises ValueError if the pattern cannot be used."""
    if len(pattern) > _LONGEST:
        raise ValueError(f"expected a regular expression of at most {_LONGEST:,} characters, found {len(pattern):,}")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
    import re2

    try:
        steps = _compiled(_in_re2(pattern)).programsize
    except re2.error as error:
        said = error.args[0] if error.args else ""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise ValueError(
            f"{pattern!r} cannot be used ({text}): so that none can take for ever, patterns have no look-ahead, "
            "look-behind, references back or repeats above 1,000"
        ) from None
    if steps > _MOST_STEPS:
        raise ValueError(f"{pattern!r} is too large: it repeats too much")


def searcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Returns a function that says if one of the patterns, each of which passes `check`, matches somewhere in a URL."""
    searches = [_searching("|".join(group)) for group in _groups(patterns)]
    if len(searches) == 1:
        (search,) = searches
        return lambda url: bool(search(url))
    return lambda url: any(search(url) for search in searches)


def _searching(pattern: str) -> Callable[[str], list[int]]:
    """Returns a function that finds a pattern in a text, if it stands there. As a set of one pattern: that says only
    whether, in a quarter of the time that an object for the match takes."""
    import re2

    one: Any = re2.Set.SearchSet(_options())
    one.Add(pattern.encode())
    one.Compile()
    found: Callable[[str], list[int]] = one.Match
    return found


def _groups(patterns: Iterable[str]) -> list[list[str]]:
    groups: list[list[str]] = []
    length = _JOINED_CHARACTERS
    for pattern in patterns:
        length += len(pattern)
        if length > _JOINED_CHARACTERS:
            groups.append([])
            length = len(pattern)
        groups[-1].append(f"(?:{_in_re2(pattern)})")
    return groups


def _in_re2(pattern: str) -> str:
    return _AT_MOST.sub(r"\1{0,\2}", _END.sub(r"\1\\z", pattern))


def _compiled(pattern: str) -> Any:
    import re2  # loaded only where there are patterns

    return re2.compile(pattern.encode(), _options())


def _options() -> Any:
    import re2

    options = re2.Options()
    options.never_capture = True  # nobody asks where it matches
    options.log_errors = False
    return options
