"""Spreadsheets (.xlsx, .xlsb, .xls): each sheet is a heading and a table."""

from __future__ import annotations

import datetime
from io import BytesIO

from python_calamine import CalamineError, CalamineWorkbook, PasswordError

from pycrawl.convert.archive import Archive
from pycrawl.convert.open_xml import Relations, read_facts
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

MOST_ROWS = 200_000  # of all sheets
_MOST_SHEETS = 1_000
_HEADING_LEVEL = 2
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
        _read(data, page)
    except PasswordError as error:
        raise Unconvertible(Trouble.ENCRYPTED, str(error)) from error
    except CalamineError as error:
        raise Unconvertible(Trouble.DAMAGED, str(error)) from error
    if archive:
        _write_links(archive, page)


def _read(data: bytes, page: SimplePage) -> None:
    with CalamineWorkbook.from_filelike(BytesIO(data)) as workbook:
        page.pages = len(workbook.sheet_names)
        room = MOST_ROWS
        for name in workbook.sheet_names[:_MOST_SHEETS]:
            page.check()
            sheet = workbook.get_sheet_by_name(name)
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


def _shown(value: object) -> str:
    """Returns a value as the user would read it in the sheet."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)


def _write_links(archive: Archive, page: SimplePage) -> None:
    """Write the addresses that cells lead to; which cells, only the sheet's own XML would say."""
    for name in sorted(archive.names):
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            for href in Relations(archive, name).outside.values():
                page.link(href)
