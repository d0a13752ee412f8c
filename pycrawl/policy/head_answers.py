"""HEAD instead of GET: for large pages of servers that give nothing for a conditional request.

What the headers of the last GET said (`Marks`) is kept, and compared with what a HEAD says. A HEAD is followed by a GET
if it says that the page has changed, or says nothing; and also where the host's HEADs are not yet believed, and at one
visit in `_CHECK_EVERY` where they are. Such a GET shows whether the HEAD told the truth.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from pycrawl.policy.page_records import Found

_CHECK_EVERY = 8  # visits
_LEAST_RIGHT = 3  # before a host's HEADs are believed
_RIGHT_FOR_A_WRONG = 8
_MOST_WRONG = 3  # before a host that is not believed is asked for no more HEADs


class Marks(NamedTuple):
    """What headers say of a page, as far as it can be compared."""

    length: int = -1  # Content-Length; -1: not given
    etag: str = ""  # empty: not given, or of no use, as the host gives another one each time
    last_modified: str = ""


_NOTHING = Marks()


class Says(IntEnum):
    """What a HEAD says of a page, against what is known of it."""

    SAME = 0
    CHANGED = 1
    NOTHING = 2  # there is nothing to compare


class HeadNote(NamedTuple):
    """What a HEAD has said of a page, of which a GET is asked for next."""

    says: Says
    marks: Marks


def said(before: Marks, now: Marks) -> Says:
    """Returns what headers say that were `before` at the last visit. All that both have must be equal for SAME."""
    pairs = [pair for *pair, none in zip(before, now, _NOTHING, strict=True) if none not in pair]
    if not pairs:
        return Says.NOTHING
    return Says.SAME if all(then == later for then, later in pairs) else Says.CHANGED


def are_believed(right: int, wrong: int) -> bool:
    """True if the HEADs of a host are to be believed that told the truth and did not so often. It takes more than for
    dates: what a HEAD hides is not seen before the next check."""
    return right >= max(_LEAST_RIGHT, wrong * _RIGHT_FOR_A_WRONG)


def are_worth_asking(right: int, wrong: int) -> bool:
    """True if a host is to be asked for HEADs: until it has proved that they are of no use."""
    return wrong < _MOST_WRONG or are_believed(right, wrong)


def is_enough(says: Says, right: int, wrong: int, visit: int) -> bool:
    """True if no GET is needed after the HEAD. `visit`: a number that differs from visit to visit."""
    return says is Says.SAME and are_believed(right, wrong) and visit % _CHECK_EVERY != 0


def verdict(note: HeadNote, length: int, found: Found, is_same_body: bool) -> int:
    """Returns whether a HEAD told the truth, as the GET after it has shown: 1 it did; -1 it did not, or was of no use;
    0 not known. `length`: the Content-Length of the GET, which that of the HEAD must be equal to."""
    if found is Found.GONE:
        return -1 if note.says is Says.SAME else 0
    if found not in (Found.SAME, Found.CHANGED):
        return 0
    is_true = -1 != note.marks.length == length
    hid_a_change = note.says is Says.SAME and found is Found.CHANGED
    false_alarm = note.says is Says.CHANGED and is_same_body
    return 1 if is_true and not hid_a_change and not false_alarm else -1
