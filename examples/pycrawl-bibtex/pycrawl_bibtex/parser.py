"""BibTeX into text and links."""

from __future__ import annotations

import re
from typing import Any

from pycrawl.parse.charset import read
from pycrawl.parse.parsed import Parsed
from pycrawl.parse.parsers import Body, Wanted

# A field of an entry: its name, and its value in braces (one level of braces inside) or in quotes. No part of the
# pattern can match in two ways, so that a hostile file costs no more time than another.
_FIELD = re.compile(r'(\w+)\s*=\s*(?:\{((?:[^{}]|\{[^{}]*\})*)\}|"([^"]*)")')
_TEXT_FIELDS = ("title", "author", "journal", "booktitle", "abstract", "note", "keywords", "year")
_DOI = "https://doi.org/"


class BibtexParser:
    """`[plugins.bibtex]` may say `follow_doi = false`: then only the url fields are links."""

    media_types = ("application/x-bibtex", "text/x-bibtex")

    def __init__(self, settings: dict[str, Any]) -> None:
        unknown = set(settings) - {"follow_doi"}
        if unknown:
            raise ValueError(f"unknown settings: {', '.join(sorted(unknown))}")
        self._follow_doi = bool(settings.get("follow_doi", True))

    def parse(self, body: Body, wanted: Wanted) -> Parsed:
        source, charset = read(body.data, body.content_type)
        fields = [(match[1].lower(), _plain(match[2] or match[3] or "")) for match in _FIELD.finditer(source)]
        links = [value for name, value in fields if name == "url"]
        if self._follow_doi:
            links += [_DOI + value.removeprefix(_DOI) for name, value in fields if name == "doi"]
        return Parsed(
            hrefs=list(dict.fromkeys(filter(None, links))),
            text="\n".join(value for name, value in fields if name in _TEXT_FIELDS),
            title=next((value for name, value in fields if name == "title"), ""),
            charset=charset,
        )


def _plain(value: str) -> str:
    return " ".join(value.replace("{", "").replace("}", "").split())
