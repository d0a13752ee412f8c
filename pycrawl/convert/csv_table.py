"""CSV and tab-separated values: one table."""

from __future__ import annotations

import csv
from io import StringIO

from pycrawl.convert.plain_text import decoded, with_addresses
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

_DELIMITERS = ",;\t|"
_SAMPLE = 4_096  # characters that the delimiter is told by


def convert(data: bytes, page: SimplePage) -> None:
    text = decoded(data)
    page.begin("table")
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=_delimiter(text[:_SAMPLE])):
            if any(row):
                page.row([with_addresses(cell) for cell in row])
    except csv.Error as error:
        raise Unconvertible(Trouble.DAMAGED, str(error)) from error
    page.end("table")


def _delimiter(sample: str) -> str:
    """Returns the delimiter that stands most often in the first line; a comma where there is none."""
    lines = sample.strip().splitlines()
    return max(_DELIMITERS, key=lines[0].count) if lines else ","
