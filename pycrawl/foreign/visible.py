"""Text that somebody else has written, made fit for a terminal and for a log: the one place that does it.

Web pages, headers, robots.txt files, host names, names of files, arguments and the tables of a crawl's directory all
hold text of others. Shown as it is, it could move the cursor, change the title of a window, turn the direction of
writing, or pass for a line of ours.
"""

from __future__ import annotations

import io
import re

# C0 and DEL, C1, what sets the direction of writing, other invisible marks, line and paragraph separators, halves of
# surrogate pairs, tags. Not here: the joiners and the soft hyphen, which are part of how words are written.
_UNSAFE = (
    "\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff"
)
_ON_A_LINE = re.compile(f"[\x00-\x1f{_UNSAFE}]")
_IN_A_TEXT = re.compile(f"[\x00-\x08\x0b-\x1f{_UNSAFE}]")  # tab and newline apart
_IN_JSON = re.compile(f"[\x00-\x09\x0b-\x1f{_UNSAFE}]")  # newline apart, which only stands between values
_BYTE, _PLANE = 0x100, 0x10000


def visible(text: str) -> str:
    """Returns the text on one line: control characters and invisible marks become "\\x1b", "\\u202e", "\\U000e0041"."""
    return text if text.isascii() and text.isprintable() else _ON_A_LINE.sub(_escaped, text)


def visible_text(text: str) -> str:
    """Returns a text of several lines, which keeps its newlines and tabs, in the same way."""
    return _IN_A_TEXT.sub(_escaped, text)


def visible_json(text: str) -> str:
    """Returns JSON that means the same, without a character that could do harm: each is written as \\uXXXX."""
    return _IN_JSON.sub(_escaped_in_json, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < _BYTE:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _PLANE else f"\\U{code:08x}"


def _escaped_in_json(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


class VisibleStream(io.TextIOWrapper):
    """A text stream for messages of code that is not ours, such as tracebacks and what plugins print: what is written
    to it has its control characters made visible."""

    def write(self, text: str) -> int:
        super().write(visible_text(text))
        return len(text)
