"""PDF: its text page by page, headings by the outline, links by the annotations and by addresses in the text."""

from __future__ import annotations

import ctypes
import re
from collections import deque
from collections.abc import Iterator
from itertools import islice

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from pycrawl.convert.facts import iso_date
from pycrawl.convert.pdf_accents import has_accents, put_accents
from pycrawl.convert.pdf_gaps import GluedWords
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

MOST_PAGES = 2_000
_MOST_BOOKMARKS = 5_000
_MOST_LINKS = 1_000  # of one page
_LONGEST_URL = 4_096  # bytes
_MOST_SEARCHED = 20_000_000  # characters of a page × its links: above this, links are not put into the text
_FULL_LINE = 0.75  # of the longest line of the page: a shorter one that ends a sentence ends its paragraph
_SENTENCE_ENDS = (".", "!", "?", ":", "。", "”", "…")
# pdfium writes U+FFFE, or U+0002, for a hyphen at the end of a line that was put there to break a word.
_BROKEN_WORD = re.compile("[\ufffe\x02](\r?\n)?|\xad\r?\n")
# Fonts of TeX without names for their letters: pdfium gives the codes of ligatures (encodings OT1 and T1).
_LIGATURES = dict(zip("\x0b\x0c\x0e\x0f\x1b\x1c\x1d\x1e\x1f", "ff fi ffi ffl ff fi fl ffi ffl".split(), strict=True))
_LIGATURE = re.compile("(?<=[^\\W\\d_])[\x0b\x0c\x0e\x0f\x1b-\x1f]|[\x0b\x0c\x0e\x0f\x1b-\x1f](?=[^\\W\\d_])")
_BY_ROFF = re.compile("(?i)roff")  # a program that wrote the document
_HAS_ADDRESS = re.compile("(?i)://|www\\.|@")
_NUMBERING = re.compile(r"^[\dA-Z]{1,3}(\.\d{1,3}){0,6}\.?\s+")

Links = list[tuple[str, str]]  # (text that the link covers, address)


def convert(data: bytes, page: SimplePage) -> None:
    pdf = _opened(data)
    try:
        page.title = pdf.get_metadata_value("Title")
        page.author = pdf.get_metadata_value("Author")
        page.date = iso_date(pdf.get_metadata_value("CreationDate"))
        page.language = _language(pdf)
        page.pages = len(pdf)
        damaged = _read_pages(pdf, page)
    finally:
        pdf.close()
    if damaged:
        raise Unconvertible(Trouble.DAMAGED, f"{damaged} of {page.pages} pages cannot be read")
    if not page.has_text:
        raise Unconvertible(Trouble.NO_TEXT, f"{page.pages} pages of pictures")
    if page.pages > MOST_PAGES:
        raise Unconvertible(Trouble.TOO_LARGE, f"the first {MOST_PAGES} of {page.pages} pages are read")


def _opened(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        encrypted = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        raise Unconvertible(Trouble.ENCRYPTED if encrypted else Trouble.DAMAGED, str(error)) from error


def _language(pdf: pdfium.PdfDocument) -> str:
    size = raw.FPDFCatalog_GetLanguage(pdf, None, 0)
    if not 2 < size <= 200:
        return ""
    buffer = (ctypes.c_ushort * (size // 2))()
    raw.FPDFCatalog_GetLanguage(pdf, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").strip("\0 ")


def _read_pages(pdf: pdfium.PdfDocument, page: SimplePage) -> int:
    """Write the pages; returns how many could not be read."""
    headings = _outline(pdf)
    glued = GluedWords() if _BY_ROFF.search(pdf.get_metadata_value("Creator")) else None
    damaged = 0
    for number in range(min(len(pdf), MOST_PAGES)):
        page.check()
        try:
            sheet = pdf.get_page(number)
        except pdfium.PdfiumError:
            damaged += 1
            continue
        try:
            _read_page(pdf, sheet, headings.get(number, {}), glued, page)
        except pdfium.PdfiumError:
            damaged += 1
        finally:
            sheet.close()
    return damaged


def _read_page(
    pdf: pdfium.PdfDocument,
    sheet: pdfium.PdfPage,
    headings: dict[str, int],
    glued: GluedWords | None,
    page: SimplePage,
) -> None:
    text_page = sheet.get_textpage()
    try:
        text = _text(text_page, glued)
        links = list(_annotations(pdf, sheet, text_page, len(text)))
        if _HAS_ADDRESS.search(text):
            links += _addresses(text_page, {href for _, href in links})
    finally:
        text_page.close()
    lines = text.splitlines()
    pending = deque(links)
    page.begin("section")
    for level, paragraph in _paragraphs(lines, headings):
        if level:
            page.heading(level, paragraph)
        else:
            page.runs(_with_links(paragraph, pending))
    for _, href in pending:
        page.link(href)
    page.end("section")


def _text(text_page: pdfium.PdfTextPage, glued: GluedWords | None) -> str:
    """Returns the text of a page, a line for each of its lines, its letters and words put together again."""
    size = 2 * raw.FPDFText_CountChars(text_page) + 1  # in code units; one character may be two
    buffer = (ctypes.c_ushort * size)()
    length = raw.FPDFText_GetText(text_page, 0, size - 1, buffer) - 1
    text = bytes(memoryview(buffer)[: max(length, 0)]).decode("utf-16-le", "replace")
    accented = has_accents(text)
    if (not accented and glued is None) or max(text, default="") > "\uffff":  # pdfium counts code units
        return _mended(text)
    letters = list(text)
    if glued is not None:
        glued.cut(letters, text, text_page)
    if accented:
        put_accents(letters, text, text_page)
    return _mended("".join(letters))


def _mended(text: str) -> str:
    return _LIGATURE.sub(lambda match: _LIGATURES[match[0]], _BROKEN_WORD.sub("", text))


def _paragraphs(lines: list[str], headings: dict[str, int]) -> Iterator[tuple[int, str]]:
    """Yields (level of heading or 0, text) of what the lines of a page say."""
    full = _FULL_LINE * max(map(len, lines), default=0)
    held: list[str] = []
    for line in map(str.strip, lines):
        level = headings.get(_plain(line), 0) if headings else 0
        if (level or not line) and held:
            yield 0, " ".join(held)
            held = []
        if level:
            yield level, line
        elif line:
            held.append(line)
            if len(line) < full and line.endswith(_SENTENCE_ENDS):
                yield 0, " ".join(held)
                held = []
    if held:
        yield 0, " ".join(held)


def _with_links(paragraph: str, pending: deque[tuple[str, str]]) -> Links:
    """Returns the paragraph in pieces, with those links that it holds the texts of, which are no longer pending."""
    if len(paragraph) * len(pending) > _MOST_SEARCHED:
        return [(paragraph, "")]
    runs: Links = []
    done = 0
    for _ in range(len(pending)):
        text, href = pending.popleft()
        found = paragraph.find(text, done) if text else -1
        if found < 0:
            pending.append((text, href))
            continue
        runs += [(paragraph[done:found], ""), (text, href)]
        done = found + len(text)
    runs.append((paragraph[done:], ""))
    return runs


def _annotations(
    pdf: pdfium.PdfDocument, sheet: pdfium.PdfPage, text_page: pdfium.PdfTextPage, length: int
) -> Iterator[tuple[str, str]]:
    """Yields (covered text, address) of the page's link annotations that lead out of the document."""
    position, link, rect = ctypes.c_int(0), raw.FPDF_LINK(), raw.FS_RECTF()
    room = _MOST_SEARCHED
    for _ in range(_MOST_LINKS):
        if not raw.FPDFLink_Enumerate(sheet, position, link):
            return
        href = _uri(pdf, link)
        if not href:
            continue
        text = ""
        room -= length
        if room > 0 and raw.FPDFLink_GetAnnotRect(link, rect):
            text = text_page.get_text_bounded(rect.left, rect.bottom, rect.right, rect.top)
        yield " ".join(_mended(text).split()), href


def _uri(pdf: pdfium.PdfDocument, link: raw.FPDF_LINK) -> str:
    action = raw.FPDFLink_GetAction(link)
    if not action or raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
        return ""
    size = raw.FPDFAction_GetURIPath(pdf, action, None, 0)
    if not 1 < size <= _LONGEST_URL:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(pdf, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _addresses(text_page: pdfium.PdfTextPage, known: set[str]) -> Links:
    """Returns the addresses that stand in the text and are no annotations."""
    found = raw.FPDFLink_LoadWebLinks(text_page)
    if not found:
        return []
    try:
        count = min(raw.FPDFLink_CountWebLinks(found), _MOST_LINKS)
        hrefs = [_address(found, index) for index in range(count)]
    finally:
        raw.FPDFLink_CloseWebLinks(found)
    return [(href, href) for href in hrefs if href and href not in known]


def _address(found: raw.FPDF_PAGELINK, index: int) -> str:
    size = raw.FPDFLink_GetURL(found, index, None, 0)
    if not 1 < size <= _LONGEST_URL:
        return ""
    buffer = (ctypes.c_ushort * size)()
    raw.FPDFLink_GetURL(found, index, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")


def _outline(pdf: pdfium.PdfDocument) -> dict[int, dict[str, int]]:
    """Returns for each page the titles of the outline that lead to it, with their levels."""
    headings: dict[int, dict[str, int]] = {}
    for bookmark in islice(pdf.get_toc(max_depth=6), _MOST_BOOKMARKS):
        dest = bookmark.get_dest()
        number = dest.get_index() if dest else None
        title = _plain(bookmark.get_title())
        if number is not None and title:
            headings.setdefault(number, {}).setdefault(title, bookmark.level + 1)
    return headings


def _plain(title: str) -> str:
    """Returns a title without its number, as "2.1 Parts" stands in the outline as "Parts" or the other way round."""
    return _NUMBERING.sub("", title.strip(), count=1).casefold()
