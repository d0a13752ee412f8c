"""Tiny sound documents of each kind, made by hand: each has a title, an author, a heading, a text and a link."""

from __future__ import annotations

import zipfile
from io import BytesIO

TITLE = "Herons of the Elbe"
AUTHOR = "Erna Müller"
HEADING = "Where they nest"
TEXT = "Grey herons nest in tall trees near Wörlitz & Coswig."
LINK = "https://birds.example.org/herons?page=1&all=yes"
_ESCAPED_TEXT, _ESCAPED_LINK = TEXT.replace("&", "&amp;"), LINK.replace("&", "&amp;")
_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'


def zipped(files: dict[str, str | bytes]) -> bytes:
    """Returns a zip archive of the files."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def pdf(
    pages: tuple[str, ...] = (HEADING, "Grey herons nest in tall trees."),
    *,
    link: str = LINK,
    encrypted: bool = False,
    creator: str = "",
) -> bytes:
    """Returns a PDF with one line of text on each page, and a link on the first."""
    kids = " ".join(f"{6 + 2 * number} 0 R" for number in range(len(pages)))
    date = "/CreationDate (D:20240501120000+02'00')"
    info = f"<< /Title ({TITLE}) /Author (Erna M\\374ller) {date} /Creator ({creator}) >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        info,
        f"<< /Type /Annot /Subtype /Link /Rect [70 690 400 720] /A << /S /URI /URI ({link}) >> >>",
    ]
    for number, text in enumerate(pages):
        annotations = "/Annots [5 0 R]" if number == 0 else ""
        drawn = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {7 + 2 * number} 0 R {annotations}"
            " /Resources << /Font << /F1 3 0 R >> >> >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    lock = "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (" + "x" * 32 + ") /U (" + "y" * 32 + ") >>"
    return _pdf_file(objects, f"{lock} /ID [(0123456789abcdef) (0123456789abcdef)]" if encrypted else "")


def _pdf_file(objects: list[str], more: str) -> bytes:
    parts, offsets, size = ["%PDF-1.4\n"], [], len("%PDF-1.4\n")
    for number, body in enumerate(objects, 1):
        offsets.append(size)
        parts.append(f"{number} 0 obj\n{body}\nendobj\n")
        size += len(parts[-1])
    rows = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    count = len(objects) + 1
    parts.append(f"xref\n0 {count}\n0000000000 65535 f \n{rows}")
    parts.append(f"trailer\n<< /Size {count} /Root 1 0 R /Info 4 0 R {more} >>\nstartxref\n{size}\n%%EOF\n")
    return "".join(parts).encode("latin-1")


def _relations(*relations: tuple[str, str, str, bool]) -> str:
    """Relationships (id, type, target, is it outside)."""
    mode = {True: "External", False: "Internal"}
    rows = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target="{target}" TargetMode="{mode[outside]}"/>'
        for key, kind, target, outside in relations
    )
    return f'{_XML}<Relationships xmlns="{_RELATIONS}">{rows}</Relationships>'


def _core() -> str:
    return (
        f'{_XML}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
        f" {_DC}><dc:title>{TITLE}</dc:title><dc:creator>{AUTHOR}</dc:creator><dc:language>en-GB</dc:language>"
        "<dcterms:created>2024-05-01T10:00:00Z</dcterms:created></cp:coreProperties>"
    )


WORD_BODY = (
    f'<w:p><w:pPr><w:pStyle w:val="Kop1"/></w:pPr><w:r><w:t>{HEADING}</w:t></w:r></w:p>'
    f"<w:p><w:r><w:t>{_ESCAPED_TEXT} </w:t></w:r>"
    '<w:hyperlink r:id="rId9"><w:r><w:t>All of them</w:t></w:r></w:hyperlink></w:p>'
    '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>an item</w:t></w:r></w:p>'
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>left</w:t></w:r></w:p></w:tc>"
    "<w:tc><w:p><w:r><w:t>right</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "https://field.example.org/"'
    '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>by a field</w:t></w:r>'
    '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
)


def word(body: str = WORD_BODY, *, before: str = "") -> bytes:
    names = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{_OFFICE}"'
    styles = '<w:style w:type="paragraph" w:styleId="Kop1"><w:name w:val="heading 1"/></w:style>'
    return zipped(
        {
            "[Content_Types].xml": f"{_XML}<Types/>",
            "_rels/.rels": _relations(("rId1", "officeDocument", "word/document.xml", False)),
            "docProps/core.xml": _core(),
            "word/document.xml": f"{_XML}{before}<w:document {names}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"{_XML}<w:styles {names}>{styles}</w:styles>",
            "word/_rels/document.xml.rels": _relations(
                ("rId1", "styles", "styles.xml", False), ("rId9", "hyperlink", _ESCAPED_LINK, True)
            ),
        }
    )


def slides() -> bytes:
    """Two slides whose order is not that of their names, and notes for the first."""
    names = (
        'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
        f' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{_OFFICE}"'
    )
    shape = '<p:sp><p:nvSpPr><p:nvPr><p:ph type="{}"/></p:nvPr></p:nvSpPr><p:txBody><a:p>{}</a:p></p:txBody></p:sp>'
    run = "<a:r><a:t>{}</a:t></a:r>"
    linked = '<a:r><a:rPr><a:hlinkClick r:id="rId2"/></a:rPr><a:t>All of them</a:t></a:r>'
    slide = f"{_XML}<p:sld {names}><p:cSld><p:spTree>{{}}</p:spTree></p:cSld></p:sld>"
    first = shape.format("title", run.format(HEADING)) + shape.format("body", run.format(_ESCAPED_TEXT) + linked)
    order = '<p:sldIdLst><p:sldId id="256" r:id="rId2"/><p:sldId id="257" r:id="rId1"/></p:sldIdLst>'
    return zipped(
        {
            "_rels/.rels": _relations(("rId1", "officeDocument", "ppt/presentation.xml", False)),
            "docProps/core.xml": _core(),
            "ppt/presentation.xml": f"{_XML}<p:presentation {names}>{order}</p:presentation>",
            "ppt/_rels/presentation.xml.rels": _relations(
                ("rId1", "slide", "slides/slide1.xml", False), ("rId2", "slide", "slides/slide2.xml", False)
            ),
            "ppt/slides/slide1.xml": slide.format(shape.format("title", run.format("The end"))),
            "ppt/slides/slide2.xml": slide.format(first),
            "ppt/slides/_rels/slide2.xml.rels": _relations(
                ("rId1", "notesSlide", "../notesSlides/notes1.xml", False), ("rId2", "hyperlink", _ESCAPED_LINK, True)
            ),
            "ppt/notesSlides/notes1.xml": slide.format(shape.format("body", run.format("Say it slowly."))),
        }
    )


def sheet() -> bytes:
    """One sheet with two rows."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
    rows = (
        f'<row r="1">{cell.format("A1", _ESCAPED_TEXT)}{cell.format("B1", "count")}</row>'
        f'<row r="2">{cell.format("A2", "nests")}<c r="B2"><v>17</v></c></row>'
    )
    content = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return zipped(
        {
            "[Content_Types].xml": f'{_XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{content}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{content}.worksheet+xml"/></Types>',
            "_rels/.rels": _relations(("rId1", "officeDocument", "xl/workbook.xml", False)),
            "docProps/core.xml": _core(),
            "xl/workbook.xml": f'{_XML}<workbook xmlns="{main}" xmlns:r="{_OFFICE}"><sheets>'
            f'<sheet name="{HEADING}" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relations(("rId1", "worksheet", "worksheets/sheet1.xml", False)),
            "xl/worksheets/sheet1.xml": f'{_XML}<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
            "xl/worksheets/_rels/sheet1.xml.rels": _relations(("rId1", "hyperlink", _ESCAPED_LINK, True)),
        }
    )


def open_document(kind: str = "text", body: str = "", manifest: str = "") -> bytes:
    """A document of OpenDocument: "text", "presentation" or "spreadsheet"."""
    office = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(
        f'xmlns:{prefix}="{office}:{name}:1.0"'
        for prefix, name in [
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
            ("presentation", "presentation"),
            ("meta", "meta"),
        ]
    )
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    paragraph = f'<text:p>{_ESCAPED_TEXT} <text:a xlink:href="{_ESCAPED_LINK}">All of them</text:a></text:p>'
    bodies = {
        "text": f'<text:h text:outline-level="1">{HEADING}</text:h>{paragraph}'
        "<text:list><text:list-item><text:p>an item</text:p></text:list-item></text:list>",
        "presentation": '<draw:page><draw:frame presentation:class="title"><draw:text-box>'
        f"<text:p>{HEADING}</text:p></draw:text-box></draw:frame>"
        f"<draw:frame><draw:text-box>{paragraph}</draw:text-box></draw:frame></draw:page>",
        "spreadsheet": f'<table:table table:name="{HEADING}"><table:table-row><table:table-cell>{paragraph}'
        "</table:table-cell><table:table-cell><text:p>17</text:p></table:table-cell></table:table-row></table:table>",
    }
    content = f"<office:body><office:{kind}>{body or bodies[kind]}</office:{kind}></office:body>"
    facts = (
        f"<dc:title>{TITLE}</dc:title><meta:initial-creator>{AUTHOR}</meta:initial-creator>"
        "<dc:language>en-GB</dc:language><meta:creation-date>2024-05-01T10:00:00</meta:creation-date>"
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
            "content.xml": f"{_XML}<office:document-content {names}>{content}</office:document-content>",
            "meta.xml": f"<office:document-meta {names}><office:meta>{facts}</office:meta></office:document-meta>",
        }
    )


def epub(more: dict[str, str | bytes] | None = None, chapter: str = "") -> bytes:
    """A book of two chapters whose order is that of the spine."""
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    kind = "application/xhtml+xml"
    package = (
        f'{_XML}<package xmlns="http://www.idpf.org/2007/opf"><metadata {_DC}><dc:title>{TITLE}</dc:title>'
        f"<dc:creator>{AUTHOR}</dc:creator><dc:language>en-GB</dc:language><dc:date>2024-05-01</dc:date></metadata>"
        f'<manifest><item id="b" href="two.xhtml" media-type="{kind}"/>'
        f'<item id="a" href="part%201/one.xhtml" media-type="{kind}"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    one = chapter or (
        f"<h1>{HEADING}</h1><p>{_ESCAPED_TEXT} <a href='{_ESCAPED_LINK}'>All of them</a>"
        " <a href='two.xhtml'>next</a></p><ul><li>an&nbsp;item</li></ul>"
    )
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{}</body></html>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container,
            "OEBPS/book.opf": package,
            "OEBPS/two.xhtml": page.format("<p>The end</p>"),
            "OEBPS/part 1/one.xhtml": page.format(one),
            **(more or {}),
        }
    )


RTF = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fnil\fcharset204 Arial Cyr;}}"
    r"{\info{\title " + TITLE + r"}{\author Erna M\'fcller}{\creatim\yr2024\mo5\dy1\hr10}}"
    r"{\*\generator Something;}\pard\outlinelevel0 " + HEADING + r"\par "
    r"\pard Grey herons nest in tall trees near W\u246\'f6rlitz & Coswig. "
    r'{\field{\*\fldinst{HYPERLINK "' + LINK + r'"}}{\fldrslt{All of them}}}\par '
    r"\pard{\listtext\bullet}\ls1 an item\par\trowd\pard\intbl left\cell right\cell\row\pard {\f1 \'e4\'e0}\par}"
).encode()

MARKDOWN = f"""---
title: "{TITLE}"
author: {AUTHOR}
lang: en-GB
date: 2024-05-01
---
# {HEADING}

{TEXT} [All **of** them]({LINK}) and <https://auto.example.org/>
or [by name][n].

- an item

| left | right |
| --- | --- |
| 1 | 2 |

```
code_with_underscores = 1
```

[n]: https://named.example.org/
""".encode()

XML = (
    f'{_XML}<!DOCTYPE article [<!ENTITY who "Grey herons">]><article xml:lang="en-GB"><title>{TITLE}</title>'
    f"<section><title>{HEADING}</title><para>&who;{_ESCAPED_TEXT.removeprefix('Grey herons')} "
    f'<ulink url="{_ESCAPED_LINK}">All of them</ulink></para></section></article>'
).encode()

CSV = f'name;text\n1;"{TEXT}"\n2;{LINK}\n'.encode()

MAIL = (
    f"Subject: =?utf-8?q?{TITLE.replace(' ', '_')}?=\r\nFrom: Erna Mueller <erna@example.org>\r\n"
    "Date: Wed, 01 May 2024 10:00:00 +0200\r\nMIME-Version: 1.0\r\n"
    "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    f"{HEADING}\r\n\r\n{TEXT}\r\nSee {LINK}.\r\n"
).encode()

JSON_LD = f"""\ufeff{{"@context": "https://schema.org", "@type": "Article", "headline": "{TITLE}",
"inLanguage": "en-GB", "url": "{LINK}", "articleBody": ["{TEXT}", 7, null]}}""".encode()
