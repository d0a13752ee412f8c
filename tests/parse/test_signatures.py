from __future__ import annotations

import gzip
import zipfile
from io import BytesIO

import pytest

from pycrawl.parse.signatures import kind_of


def zipped() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.html", "<p>x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "an image"),
        (b"GIF89a\1\0\1\0", "an image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "an image"),
        (b"\0\0\1\0\1\0", "an image"),
        (b"BM\x36\0\x0c\0\0\0\0\0\x36\0", "an image"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "an image"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio"),
        (b"ID3\3\0\0\0\0", "audio"),
        (b"\0\0\0\x18ftypmp42", "a video"),
        (b"\x1aE\xdf\xa3\1\0", "a video"),
        (b"wOF2\0\1\0\0", "a font"),
        (gzip.compress(b"<p>x", mtime=0), "an archive"),
        (zipped(), "an archive"),
        (b"%PDF-1.7\n", "a document"),
        (b"\x7fELF\2\1\1\0", "a program"),
        (b"MZ\x90\0\3\0", "a program"),
    ],
)
def test_signatures(data: bytes, kind: str) -> None:
    assert kind_of(data) == kind


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"\0<html>",
        b"<p>\0",
        b"\0\1\2 no signature",
        bytes(1_000),
        b"BMW builds cars. <p>",
        b"ID3 tags are read by players",
        b"MZ<b>\0",
        b"OTTO and friends",
        b"PK and others",
        "<p>x".encode("utf-16-le"),
        "\ufeff<p>x".encode("utf-16-be"),
        "<p>x".encode("utf-16-be"),
    ],
)
def test_what_has_no_signature(data: bytes) -> None:
    assert kind_of(data) == ""
