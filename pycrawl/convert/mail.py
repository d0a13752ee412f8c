"""E-mail: a message, or an mbox of many. The text of each is read, of its attachments the names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import MessageError
from email.message import EmailMessage
from email.policy import default
from email.utils import parsedate_to_datetime

from pycrawl.convert.html_text import HtmlText
from pycrawl.convert.plain_text import write_paragraphs
from pycrawl.convert.safe_xml import read_html
from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible

MOST_MESSAGES = 5_000
_MOST_PARTS = 500  # of one message
_HEADING_LEVEL = 2
_MESSAGE_BEGINS = re.compile(rb"(?:\A|\n)From [^\n]{1,1000}\n")
_HEADER = re.compile(rb"[!-9;-~]{1,80}:")


def convert(data: bytes, page: SimplePage) -> None:
    is_mbox = data.startswith(b"From ")
    if not is_mbox and not _HEADER.match(data.lstrip()[:100]):
        raise Unconvertible(Trouble.DAMAGED, "it begins with no header of a message")
    for number, content in enumerate(_messages(data) if is_mbox else [data]):
        if number == MOST_MESSAGES:
            raise Unconvertible(Trouble.TOO_LARGE, f"the first {MOST_MESSAGES} messages are read")
        page.check()
        message = message_from_bytes(content, policy=default)
        if number == 0:
            page.title = header(message, "subject")
            page.author = header(message, "from")
            page.date = _date(message)
            page.language = header(message, "content-language")
        page.pages = number + 1 if is_mbox else 0
        page.begin("section")
        page.heading(_HEADING_LEVEL, header(message, "subject"))
        _read(message, page)
        page.end("section")


def _messages(data: bytes) -> Iterator[bytes]:
    begin = None
    for match in _MESSAGE_BEGINS.finditer(data):
        if begin is not None:
            yield data[begin : match.start() + 1]
        begin = match.end()
    if begin is not None:
        yield data[begin:]


def header(message: EmailMessage, name: str) -> str:
    """Returns a header as text; empty where there is none, or none that can be read."""
    try:
        return str(message.get(name, ""))
    except (ValueError, LookupError, AttributeError, TypeError, MessageError):  # of a header that breaks the parser
        return ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(header(message, "date")).date().isoformat()
    except (ValueError, TypeError):
        return ""


def _read(message: EmailMessage, page: SimplePage) -> None:
    """Write the parts that a reader sees; of two forms of one text, the HTML, which has the links."""
    parts = list(_parts(message))
    has_html = any(part.get_content_type() == "text/html" and not part.is_attachment() for part in parts)
    for part in parts:
        page.check()
        kind = part.get_content_type()
        name = part.get_filename("")
        if name:
            page.item([(name, "")])
        if part.is_attachment():
            continue
        if kind == "text/html":
            reader = HtmlText(page)
            read_html(_payload(part), reader, page, _charset(part))
            reader.blocks.finish()
        elif kind == "text/plain" and not (has_html and _is_alternative(message)):
            write_paragraphs(_text(part), page)


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    for number, part in enumerate(message.walk()):
        if number == _MOST_PARTS:
            raise Unconvertible(Trouble.TOO_LARGE, f"more than {_MOST_PARTS} parts")
        if isinstance(part, EmailMessage) and not part.is_multipart():
            yield part


def _is_alternative(message: EmailMessage) -> bool:
    return any(part.get_content_type() == "multipart/alternative" for part in message.walk())


def _payload(part: EmailMessage) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _charset(part: EmailMessage) -> str:
    try:
        charset = part.get_content_charset("utf-8")
        "".encode(charset)
    except (LookupError, ValueError):
        return "latin-1"
    return charset


def _text(part: EmailMessage) -> str:
    return _payload(part).decode(_charset(part), "replace")
