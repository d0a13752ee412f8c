"""The reasons why a URL is not crawled, in words for people; programs get the short ones (`urls/reasons.py`)."""

from __future__ import annotations


def in_words(reason: str) -> str:
    """Returns a reason in words; one that has none here, such as a newer release may have written, as it is."""
    from pycrawl.urls.reasons import Reason

    try:
        return Reason(reason).words
    except ValueError:
        return reason
