"""Documents that are served as another kind are read as what they are, in a real converter process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pycrawl.convert.converter import Converter
from pycrawl.convert.kinds import KINDS
from pycrawl.convert.simple_page import Trouble
from pycrawl.parse.documents import convert
from tests.convert import samples

BODIES = {
    "pdf": samples.pdf(),
    "word": samples.word(),
    "slides": samples.slides(),
    "sheet": samples.sheet(),
    "odt": samples.open_document(),
    "ods": samples.open_document("spreadsheet"),
    "epub": samples.epub(),
    "rtf": samples.RTF,
}
BINARY = [kind for kind in sorted(set(KINDS.values())) if kind.signature]


@pytest.fixture(scope="module")
def converter() -> Iterator[Converter]:
    converter = Converter()
    yield converter
    converter.close()


@pytest.mark.parametrize("body", BODIES)
def test_any_document_under_any_type(converter: Converter, body: str) -> None:
    for kind in BINARY:
        converted = convert(converter, kind, BODIES[body])
        assert (converted.told, b"eron" in converted.html) == ("", True), (kind.name, converted.told)


def test_what_begins_like_no_document_is_not_tried(converter: Converter) -> None:
    for kind in BINARY:
        assert convert(converter, kind, b"<html>no document").trouble == Trouble.DAMAGED


def test_a_mail_may_speak_of_a_pdf(converter: Converter) -> None:
    mail = samples.MAIL + b"\n%PDF-1.4 is how they begin\n"
    assert convert(converter, KINDS["message/rfc822"], mail).told == ""
