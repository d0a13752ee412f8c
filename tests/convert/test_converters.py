"""Each converter on a sound document, and on those that are not: what is wrong has its name."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from importlib import import_module
from io import BytesIO
from pathlib import Path

import pytest

from pycrawl.convert import sheets
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible
from tests.convert import samples
from tests.convert.samples import AUTHOR, HEADING, LINK, TEXT, TITLE

SHOWN_LINK, SHOWN_TEXT = LINK.replace("&", "&amp;"), TEXT.replace("&", "&amp;")
SOUND = {
    "word": ("word", samples.word()),
    "slides": ("slides", samples.slides()),
    "sheets": ("sheets", samples.sheet()),
    "odt": ("opendocument", samples.open_document()),
    "odp": ("opendocument", samples.open_document("presentation")),
    "ods": ("opendocument", samples.open_document("spreadsheet")),
    "epub": ("epub", samples.epub()),
    "rtf": ("rtf", samples.RTF),
    "markdown": ("markdown", samples.MARKDOWN),
    "xml": ("xml_text", samples.XML),
    "csv": ("csv_table", samples.CSV),
    "mail": ("mail", samples.MAIL),
}
_STATES_ALL = ("word", "slides", "sheets", "odt", "odp", "ods", "epub", "markdown")
_ENTITIES = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
BOMB = f'<!DOCTYPE x [<!ENTITY a0 "lollol">{_ENTITIES}]>'
FOREIGN = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
ZEROS = bytes(101 << 20)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
LOCKED_OFFICE = OLE + "EncryptedPackage".encode("utf-16-le")
DRM = '<e><CipherReference URI="OEBPS/two.xhtml"/></e>'

BAD = [
    ("pdf", b"%PDF-1.4 nothing", Trouble.DAMAGED),
    ("pdf", samples.pdf()[:600], Trouble.DAMAGED),
    ("pdf", samples.pdf(encrypted=True), Trouble.ENCRYPTED),
    ("pdf", samples.pdf(("", "")), Trouble.NO_TEXT),
    ("pdf", samples.pdf(("x",) * 2_001), Trouble.TOO_LARGE),
    ("word", samples.word()[:900], Trouble.DAMAGED),
    ("word", samples.epub(), Trouble.DAMAGED),
    ("word", samples.zipped({"../../etc/cron.d/x": "x"}), Trouble.DAMAGED),
    ("word", LOCKED_OFFICE, Trouble.ENCRYPTED),
    ("word", samples.zipped({"word/document.xml": ZEROS}), Trouble.TOO_LARGE),
    ("word", samples.word(PARAGRAPH.format("&a9;"), before=BOMB), Trouble.TOO_LARGE),
    ("word", samples.word(PARAGRAPH.format("&e;"), before=FOREIGN), Trouble.DAMAGED),
    ("slides", b"<html>", Trouble.DAMAGED),
    ("slides", LOCKED_OFFICE, Trouble.ENCRYPTED),
    ("sheets", samples.sheet()[:900], Trouble.DAMAGED),
    ("sheets", LOCKED_OFFICE, Trouble.ENCRYPTED),
    ("sheets", samples.zipped({"xl/workbook.xml": ZEROS}), Trouble.TOO_LARGE),
    ("opendocument", samples.open_document()[:700], Trouble.DAMAGED),
    ("opendocument", samples.open_document(manifest="<encryption-data/>"), Trouble.ENCRYPTED),
    ("epub", samples.word(), Trouble.DAMAGED),
    ("epub", samples.epub({"META-INF/encryption.xml": DRM}), Trouble.ENCRYPTED),
    ("rtf", samples.RTF[:400], Trouble.DAMAGED),
    ("rtf", b"<html>", Trouble.DAMAGED),
    ("rtf", b"{\\rtf1" + b"{" * 100_000, Trouble.DAMAGED),
    ("csv_table", bytes(100), Trouble.DAMAGED),
    ("xml_text", samples.XML[:200], Trouble.DAMAGED),
    ("xml_text", (BOMB + "<x>&a9;</x>").encode(), Trouble.TOO_LARGE),
    ("mail", b"\x89PNG\r\n", Trouble.DAMAGED),
    ("json_ld", samples.JSON_LD[:90], Trouble.DAMAGED),
    ("json_ld", b"[" * 1_000_000, Trouble.DAMAGED),
    ("old_office", LOCKED_OFFICE, Trouble.ENCRYPTED),
]


def convert(module: str, data: bytes, page: SimplePage | None = None) -> SimplePage:
    page = page or SimplePage()
    import_module(f"pycrawl.convert.{module}").convert(data, page)
    return page


@pytest.mark.parametrize("name", SOUND)
def test_text_and_link(name: str) -> None:
    html = convert(*SOUND[name]).html()
    assert SHOWN_TEXT in html
    assert f'href="{SHOWN_LINK}"' in html


@pytest.mark.parametrize("name", _STATES_ALL)
def test_facts_and_heading(name: str) -> None:
    page = convert(*SOUND[name])
    assert (page.title, page.author, page.language, page.date) == (TITLE, AUTHOR, "en-GB", "2024-05-01")
    assert f">{HEADING}</h" in page.html()


def test_pdf() -> None:
    page = convert("pdf", samples.pdf())
    facts = (page.title, page.author, page.language, page.date, page.pages)
    assert facts == (TITLE, AUTHOR, "en-GB", "2024-05-01", 2)
    assert f'<a href="{SHOWN_LINK}">{HEADING}</a>' in page.html()
    assert "Grey herons nest in tall trees." in page.html()


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        ("orthogra-) Tj 0 -14 Td (phy is it", "orthography is it"),
        # StandardEncoding's accents, drawn above and below letters, as old fonts of TeX do.
        ("by ) Tj [(Schr\\310) 450 (oder and Lu\\317) 420 (cka)] TJ (", "by Schröder and Lučka"),
        ("en ) Tj [(fran\\313) 400 (cais)] TJ (", "en français"),
        ("un ) Tj [(probl\\301) 450 (eme)] TJ (", "un problème"),
        ("on ) Tj [(mediuj) -250 (\\316) 533 (a)] TJ (", "on mediują"),
        ("as \\301a\\301 says", "as `a` says"),
        ("a de\\034nition of \\035ow", "a definition of flow"),
        ("\\014rst: o\\016ce", "first: office"),
        ("see 7 \\310 8", "see 7 ¨ 8"),
    ],
)
def test_letters_and_words_of_a_pdf_are_put_together(drawn: str, read: str) -> None:
    assert read in convert("pdf", samples.pdf((drawn,), link="https://a.example/")).html()


def test_words_that_groff_moved_apart_are_not_glued() -> None:
    apart = "(ne) Tj 3 Tc (wo) Tj 0 Tc [250 (bject)] TJ"
    drawn = f"this is ) Tj {apart} ( as ) Tj {apart} ( and a ) Tj (newobject"
    html = convert("pdf", samples.pdf((drawn,), creator="groff version 1.22.4")).html()
    assert "this is new object as new object and a newobject" in html


def test_json_ld_has_texts_and_no_links() -> None:
    page = convert("json_ld", samples.JSON_LD)
    assert (page.title, page.language) == (TITLE, "en-GB")
    assert [line for line in page.html().splitlines() if line.startswith("<p>")] == [
        f"<p>{text}</p>" for text in (TITLE, "en-GB", SHOWN_TEXT)
    ]
    assert "href" not in page.html()


def test_slides_come_in_their_order_with_notes() -> None:
    page = convert("slides", samples.slides())
    html = page.html()
    assert page.pages == 2
    assert html.index(HEADING) < html.index("Say it slowly.") < html.index("The end")


def test_links_inside_of_a_book_are_left_out() -> None:
    assert "two.xhtml" not in convert("epub", samples.epub()).html()


@pytest.mark.parametrize("name", ["word", "odt", "epub", "rtf", "markdown"])
def test_lists(name: str) -> None:
    assert "<ul>\n<li>an item</li>\n</ul>" in convert(*SOUND[name]).html().replace("\xa0", " ")


@pytest.mark.parametrize("name", ["word", "rtf", "markdown"])
def test_tables(name: str) -> None:
    assert "<tr><td>left</td><td>right</td></tr>" in convert(*SOUND[name]).html()


@pytest.mark.parametrize("number", range(len(BAD)))
def test_what_is_wrong_has_its_name(number: int) -> None:
    module, data, trouble = BAD[number]
    page = SimplePage()
    with pytest.raises(Unconvertible) as caught:
        convert(module, data, page)
    assert caught.value.trouble == trouble
    assert "root:" not in page.html()


def test_what_came_before_the_trouble_is_kept() -> None:
    page = SimplePage()
    with pytest.raises(Unconvertible):
        convert("rtf", samples.RTF[:400], page)
    assert HEADING in page.html()


def test_endless_paragraphs_end_with_the_time() -> None:
    ticks = iter(range(1_000_000))
    page = SimplePage(deadline=20, clock=lambda: float(next(ticks)))
    with pytest.raises(Unconvertible) as caught:
        convert("word", samples.word("<w:p/>" * 300_000), page)
    assert caught.value.trouble == Trouble.TOO_SLOW


def test_entities_of_a_dtd_that_is_not_read_stand_as_their_names() -> None:
    data = (
        b'<!DOCTYPE book [<!ENTITY own "ours"><!ENTITY far SYSTEM "file:///etc/passwd">]>'
        b"<book><para>&kate; is &own;&far;, caf&eacute;, by &Ada.L;."
        b" Press &Ctrl;&Shift;<keycap>S</keycap>.</para></book>"
    )
    assert "<p>kate is ours, caf\xe9, by Ada L. Press Ctrl Shift S.</p>" in convert("xml_text", data).html()


def test_cells_that_are_there_several_times_are_written_as_often() -> None:
    cell = '<table:table-cell table:number-columns-repeated="{}"><text:p>{}</text:p></table:table-cell>'
    cells = cell.format(3, "7") + cell.format("x", "")
    row = f'<table:table-row table:number-rows-repeated="2">{cells}</table:table-row>'
    html = convert("opendocument", samples.open_document("spreadsheet", f"<table:table>{row}</table:table>")).html()
    assert html.count("<tr><td>7</td><td>7</td><td>7</td><td></td></tr>") == 2


def test_numbers_of_a_sheet_may_have_spaces_before_them() -> None:
    sound = samples.sheet()
    with zipfile.ZipFile(BytesIO(sound)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    name = "xl/worksheets/sheet1.xml"
    files[name] = files[name].replace("</sheetData>", '<row><c t="n"><v>  41</v></c></row></sheetData>')
    html = convert("sheets", samples.zipped(dict(files))).html()
    assert "<td>41</td>" in html
    assert html.count(HEADING) == convert("sheets", sound).html().count(HEADING)


@pytest.mark.parametrize("value", ["H\0e\0r\0o\0n\0", "Heron"])
def test_letters_of_excel_95(value: str) -> None:
    assert sheets._shown(value) == "Heron"


def test_old_word_files_are_read_by_a_program_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.decompress(Path(__file__).with_name("old.doc.gz").read_bytes())
    if shutil.which("catdoc"):
        html = convert("old_office", data).html()
        assert "<p>They nest in tall trees near water.</p>" in html
        with pytest.raises(Unconvertible):
            convert("old_office", OLE)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Unconvertible) as caught:
        convert("old_office", data)
    assert (caught.value.trouble, "antiword" in caught.value.detail) == (Trouble.NO_CONVERTER, True)
