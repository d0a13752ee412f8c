"""Spreadsheets (.xlsx, .xlsb, .xls): each sheet is a heading and a table."""

from __future__ import annotations

import datetime
import re
import zipfile
from io import BytesIO

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError

from pycrawl.convert.archive import Archive
from pycrawl.convert.open_xml import Relations, read_facts
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

MOST_ROWS = 200_000  # of all sheets
_MOST_SHEETS = 1_000
_HEADING_LEVEL = 2
_LARGEST_TRIMMED = 32 << 20  # bytes: an archive whose files are larger together is read as it is
_SPACE_IN_CELL = re.compile(rb"<v>\s+([^<]*)")
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")


def convert(data: bytes, page: SimplePage) -> None:
    if _ENCRYPTED_PACKAGE in data[: 1 << 20] or _ENCRYPTED_PACKAGE in data[-(1 << 20) :]:
        raise Unconvertible(Trouble.ENCRYPTED)
    archive = None
    if data.startswith(b"PK"):
        archive = Archive(data)
        archive.refuse_bomb()
        read_facts(archive, page)
    try:
        _read(data, archive, page)
    except PasswordError as error:
        raise Unconvertible(Trouble.ENCRYPTED, str(error)) from error
    except CalamineError as error:
        raise Unconvertible(Trouble.DAMAGED, str(error)) from error
    if archive:
        _write_links(archive, page)


def _read(data: bytes, archive: Archive | None, page: SimplePage) -> None:
    with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
        page.pages = len(workbook.sheet_names)
        room = MOST_ROWS
        for name in workbook.sheet_names[:_MOST_SHEETS]:
            page.check()
            sheet = _sheet(workbook, name, archive)
            page.heading(_HEADING_LEVEL, name)
            page.begin("table")
            for row in sheet.iter_rows():
                room -= 1
                if room < 0:
                    raise Unconvertible(Trouble.TOO_LARGE, f"the first {MOST_ROWS} rows are read")
                cells = [_shown(value) for value in row]
                if any(cells):
                    page.row(cells)
            page.end("table")


def _sheet(workbook: CalamineWorkbook, name: str, archive: Archive | None) -> CalamineSheet:
    """Returns a sheet. R's openxlsx writes numbers with spaces before them, which are no numbers for calamine. A sheet
    that it cannot read is read again without such spaces."""
    try:
        return workbook.get_sheet_by_name(name)
    except CalamineError:
        trimmed = _trimmed(archive) if archive else None
        if trimmed is None:
            raise
        return CalamineWorkbook.from_filelike(trimmed).get_sheet_by_name(name)


def _trimmed(archive: Archive) -> BytesIO | None:
    """Returns the archive without spaces at the beginning of its cells; None: there are none, or it is too large."""
    files = {name: archive.read(name) for name in sorted(archive.names)}
    if sum(map(len, files.values())) > _LARGEST_TRIMMED:
        return None
    sheets = {
        name: _SPACE_IN_CELL.sub(rb"<v>\1", xml) for name, xml in files.items() if name.startswith("xl/worksheets/")
    }
    if all(files[name] == xml for name, xml in sheets.items()):
        return None
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as copy:
        for name, content in (files | sheets).items():
            copy.writestr(name, content)
    buffer.seek(0)
    return buffer


def _shown(value: object) -> str:
    """Returns a value as the user would read it in the sheet."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value).replace("\0", "")  # calamine leaves them in texts of Excel 95, one behind each letter


def _write_links(archive: Archive, page: SimplePage) -> None:
    """Write the addresses that cells lead to; which cells, only the sheet's own XML would say."""
    for name in sorted(archive.names):
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            for href in Relations(archive, name).outside.values():
                page.link(href)
