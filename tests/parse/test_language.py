"""The language of a document: what it declares, and when its text counts more."""

from __future__ import annotations

import pytest

from pycrawl.parse.html import parse_html
from pycrawl.parse.language import is_doubtful, language_of

GERMAN = "Die Katze sitzt auf der Matte und schaut aus dem Fenster, während der Regen fällt. "
ENGLISH = "The cat sits on the mat and looks out of the window while the rain falls, to the end of the day. "
RUSSIAN = "Кошка сидит на коврике и смотрит в окно, пока идёт дождь. Собака спит рядом с печкой. "


@pytest.mark.parametrize(
    ("declared", "text", "expected"),
    [
        ("de", GERMAN, "de"),
        ("de-AT", GERMAN, "de-at"),
        ("en-US", ENGLISH, "en-us"),
        ("", GERMAN, "de"),
        ("", ENGLISH, "en"),
        ("en", GERMAN, "de"),
        ("en", RUSSIAN * 3, "ru"),
        ("german", GERMAN, "de"),
        ("und", GERMAN, "de"),
        ("ja", ENGLISH * 2, "en"),
        ("en", "12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28", "en"),
        ("", "12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28", ""),
        ("", "Haus", ""),
        ("", "", ""),
        ("x" * 5_000, "", ""),
    ],
)
def test_the_text_counts_where_nothing_is_declared_or_what_does_not_fit(
    declared: str, text: str, expected: str
) -> None:
    assert language_of(declared, text.encode(), True) == expected
    assert language_of(declared, text, True) == expected


def test_what_is_declared_counts_where_no_text_may_be_looked_at() -> None:
    assert [language_of(declared, GERMAN, False) for declared in ("", "en", "pt_BR")] == ["", "en", "pt-br"]


def test_a_declaration_that_fits_is_not_doubted() -> None:
    assert not is_doubtful("en", ENGLISH.encode())
    assert not is_doubtful("fr", GERMAN.encode()), "languages of one script are not told apart at once"
    assert not is_doubtful("ru", RUSSIAN.encode())
    assert is_doubtful("ru", ENGLISH.encode())


@pytest.mark.parametrize(
    ("markup", "declared"),
    [
        ('<html lang="de"><meta http-equiv="Content-Language" content="en">', "de"),
        ('<html><meta http-equiv="Content-Language" content=" fr ">', "fr"),
        ('<html><meta http-equiv="Content-Language" content="de, en">', ""),
    ],
)
def test_a_page_declares_its_language_in_two_ways(markup: str, declared: str) -> None:
    assert parse_html(markup.encode(), "text/html").language == declared
    assert parse_html(markup.encode(), "text/html", by_tree=True).language == declared
