"""Answers that break the rules of HTTP, or use them as a weapon, as plain data: what to send, and what comes of it.

A server sends `first`, then `then` again and again until the client goes away, or closes the connection if there is no
`then`. Each answer may cost a crawler its own URL, and nothing else: no other page, no process, and no more memory and
time than any page may take.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass

import brotli

from pycrawl.model import Outcome

PAGE = b"<!DOCTYPE html><title>A page</title><p>" + b"All is well. " * 20
MANY_DIGITS = b"9" * 4_301  # one more than Python's int() takes


@dataclass(frozen=True, slots=True)
class HostileAnswer:
    """One answer and what a crawler is to make of it. `outcome` FETCHED: a page, whose body is `body`, if that is told.

    Of an answer without end, a crawler must stop reading by itself, long before a minute is over.
    """

    name: str  # words with hyphens, fit for a URL's path
    first: bytes
    outcome: Outcome
    then: bytes = b""  # sent without end after `first`
    pause: float = 0.0  # seconds before each `then`
    status: int = 200  # what the answer says, where its outcome is FETCHED or one of a status
    body: bytes | None = PAGE  # after decoding; None: whatever comes of it, it is within the limits


_HTML = b"Content-Type: text/html\r\n"
_CHUNKED = b"Transfer-Encoding: chunked\r\n"


def _head(headers: bytes = b"", status_line: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return status_line + b"\r\n" + _HTML + headers + b"\r\n"


def _sized(body: bytes = PAGE, headers: bytes = b"", status_line: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return _head(headers + b"Content-Length: %d\r\n" % len(body), status_line) + body


def _coded(encoding: bytes, body: bytes) -> bytes:
    return _sized(body, b"Content-Encoding: " + encoding + b"\r\n")


def _chunk(data: bytes, extension: bytes = b"") -> bytes:
    return b"%x%s\r\n%s\r\n" % (len(data), extension, data)


def _page(name: str, first: bytes, body: bytes | None = PAGE, status: int = 200) -> HostileAnswer:
    return HostileAnswer(name, first, Outcome.FETCHED, status=status, body=body)


def _bad(name: str, first: bytes, then: bytes = b"", pause: float = 0.0) -> HostileAnswer:
    return HostileAnswer(name, first, Outcome.BAD_RESPONSE, then, pause)


def _bad_encoding(name: str, first: bytes, then: bytes = b"", pause: float = 0.0) -> HostileAnswer:
    return HostileAnswer(name, first, Outcome.BAD_ENCODING, then, pause)


def _lost(name: str, first: bytes, then: bytes = b"", pause: float = 0.0) -> HostileAnswer:
    return HostileAnswer(name, first, Outcome.CONNECTION_LOST, then, pause)


STATUS_LINES = (
    _page("status-line-with-a-colon", _sized(status_line=b"HTTP/1.1 200 OK: fine")),
    _page("status-line-that-is-mostly-colons", _sized(status_line=b"HTTP/1.1 200 ::: Location: /x")),
    _page("status-line-without-a-reason", _sized(status_line=b"HTTP/1.1 200")),
    _page("status-line-that-ends-in-a-blank", _sized(status_line=b"HTTP/1.1 200 ")),
    _page("status-line-in-utf-8", _sized(status_line="HTTP/1.1 200 Sch\u00f6n".encode())),
    _page("status-line-of-1-0", _sized(status_line=b"HTTP/1.0 200 OK")),
    _page("status-line-in-lower-case", _sized(status_line=b"http/1.1 200 ok")),
    _page("status-line-without-a-blank", _sized(status_line=b"HTTP/1.1 200OK")),
    _page("status-line-with-a-tab", _sized(status_line=b"HTTP/1.1\t200 OK")),
    _bad("status-line-with-two-blanks", _sized(status_line=b"HTTP/1.1  200 OK")),
    _bad("status-line-after-a-blank", _sized(status_line=b" HTTP/1.1 200 OK")),
    _bad("status-line-with-four-digits", _sized(status_line=b"HTTP/1.1 2000 OK")),
    _bad("status-line-of-version-2", _sized(status_line=b"HTTP/2 200 OK")),
    _bad("status-line-of-version-2-0", _sized(status_line=b"HTTP/2.0 200 OK")),
    _bad("status-line-of-version-3", _sized(status_line=b"HTTP/3 200 OK")),
    _bad("status-line-below-100", _sized(status_line=b"HTTP/1.1 099 OK")),
    _bad("status-line-of-a-radio", _sized(status_line=b"ICY 200 OK")),
    _bad("status-line-missing", PAGE),
    _bad("status-line-with-two-digits", _sized(status_line=b"HTTP/1.1 20 OK")),
    _bad("status-line-with-4301-digits", _sized(status_line=b"HTTP/1.1 " + MANY_DIGITS + b" OK")),
    _bad("status-line-with-a-word", _sized(status_line=b"HTTP/1.1 OK 200")),
    _bad("status-line-of-version-9", _sized(status_line=b"HTTP/9.9 200 OK")),
    _page("interim-answers", b"HTTP/1.1 103 Early: Hints\r\nLink: </a.css>\r\n\r\n" * 3 + _sized()),
    HostileAnswer(
        "no-content-with-a-body", _sized(status_line=b"HTTP/1.1 204 No Content"), Outcome.FETCHED, status=204, body=b""
    ),
    HostileAnswer(
        "unmodified-with-a-body",
        _sized(status_line=b"HTTP/1.1 304 Not Modified"),
        Outcome.ODD_STATUS,
        status=304,
        body=b"",
    ),
    HostileAnswer("status-999", _sized(status_line=b"HTTP/1.1 999 Request denied"), Outcome.ODD_STATUS, status=999),
    HostileAnswer("status-000", _sized(status_line=b"HTTP/1.1 000 Nothing"), Outcome.BAD_RESPONSE),
)

HEADERS = (
    _page("a-header-like-a-status-line", _sized(headers=b"HTTP/1.1 404 Not: Found\r\n")),
    _bad("two-status-lines", _sized(headers=b"HTTP/1.1 404 Not Found\r\n")),
    _bad("a-header-without-a-colon", _sized(headers=b"what is this\r\n")),
    _bad("a-header-with-nul", _sized(headers=b"X: a\0b\r\n")),
    _page("folded-headers", _sized(headers=b"X: one\r\n two\r\n\tthree\r\n")),
    _page("a-hundred-and-fifty-headers", _sized(headers=b"".join(b"X-%d: y\r\n" % n for n in range(150)))),
    _page(
        "nine-hundred-cookies",
        _sized(headers=b"".join(b"Set-Cookie: c%d=%d; Path=/; ; ;=\r\n" % (n, n) for n in range(900))),
    ),
    _page("headers-in-all-bytes", _sized(headers=b"X: " + bytes(set(range(1, 256)) - {10, 13}) + b"\r\n")),
    _page("escapes-in-headers", _sized(headers=b'X-Odd: \x1b]0;owned\x07\x1b[2J\xc2\x9b31m\r\nETag: "\x1b[2J"\r\n')),
)

NUMBERS = (
    _bad("length-of-4301-digits", _head(b"Content-Length: " + MANY_DIGITS + b"\r\n")),
    _bad(
        "length-of-4301-digits-of-an-image",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: " + MANY_DIGITS + b"\r\n\r\n",
    ),
    _bad(
        "length-of-4301-digits-of-a-redirect",
        b"HTTP/1.1 301 Moved\r\nLocation: /x\r\nContent-Length: " + MANY_DIGITS + b"\r\n\r\n",
    ),
    _bad("length-of-20-digits", _head(b"Content-Length: " + b"9" * 20 + b"\r\n") + PAGE),
    _lost("length-of-18-digits", _head(b"Content-Length: " + b"9" * 18 + b"\r\n") + PAGE),
    _bad("length-with-a-sign", _head(b"Content-Length: +5\r\n") + b"hello"),
    _bad("length-in-hexadecimal", _head(b"Content-Length: 0x5\r\n") + b"hello"),
    _bad("length-with-underscores", _head(b"Content-Length: 1_0\r\n") + b"hello"),
    _bad("length-in-other-digits", _head("Content-Length: \u0665\r\n".encode()) + b"hello"),
    _page("length-twice-the-same", _sized(headers=b"Content-Length: %d\r\n" % len(PAGE))),
    _bad("length-twice-and-different", _sized(headers=b"Content-Length: 7\r\n")),
    _lost("chunk-size-of-4301-digits", _head(_CHUNKED) + MANY_DIGITS + b"\r\n" + PAGE),
    _lost("chunk-size-of-17-digits", _head(_CHUNKED) + b"f" * 17 + b"\r\n" + PAGE),
    _lost("chunk-size-with-a-sign", _head(_CHUNKED) + b"-5\r\nhello\r\n0\r\n\r\n"),
    _lost("chunk-size-with-plus", _head(_CHUNKED) + b"+5\r\nhello\r\n0\r\n\r\n"),
    _bad("chunk-size-with-a-prefix", _head(_CHUNKED) + b"0x5\r\nhello\r\n0\r\n\r\n"),  # no chunk, and an odd trailer
    _lost("chunk-size-missing", _head(_CHUNKED) + b"\r\nhello\r\n0\r\n\r\n"),
    _page("chunk-size-with-zeros", _head(_CHUNKED) + b"0005\r\nhello\r\n000\r\n\r\n", b"hello"),
    HostileAnswer(
        "retry-after-of-4301-digits",
        _sized(headers=b"Retry-After: " + MANY_DIGITS + b"\r\n", status_line=b"HTTP/1.1 503 Busy"),
        Outcome.TOO_BUSY,
        status=503,
    ),
    HostileAnswer(
        "retry-after-of-odd-dates",
        _sized(headers=b"Retry-After: Wed, 99 Foo 99999999999 99:99:99 +9999999\r\n", status_line=b"HTTP/1.1 503 Busy"),
        Outcome.TOO_BUSY,
        status=503,
    ),
    _page(
        "numbers-of-4301-digits-everywhere",
        _sized(
            headers=b"".join(
                b"%s%s\r\n" % (name, MANY_DIGITS)
                for name in (
                    b"Age: ",
                    b"Cache-Control: max-age=",
                    b"Keep-Alive: timeout=",
                    b"Refresh: ",
                    b"Set-Cookie: a=b; Max-Age=",
                    b"Set-Cookie: c=d; Expires=Wed, 01 Jan ",
                    b"Last-Modified: Wed, 01 Jan ",
                    b"Date: ",
                    b'Alt-Svc: h2=":1"; ma=',
                    b"Strict-Transport-Security: max-age=",
                )
            )
        ),
    ),
    HostileAnswer(
        "redirect-to-a-port-of-4301-digits",
        _sized(headers=b"Location: http://127.0.0.1:" + MANY_DIGITS + b"/\r\n", status_line=b"HTTP/1.1 302 Found"),
        Outcome.BAD_REDIRECT,
        status=302,
    ),
    *(
        _page(
            f"charset-{number}",
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=%s\r\n\r\n" % name + PAGE + b"\xe9",
        )
        for number, name in enumerate(
            (
                b"idna",
                b"punycode",
                b"unicode_escape",
                b"zip",
                b"hex",
                b"rot13",
                b"undefined",
                b"mbcs",
                b"utf-7",
                b"x" * 5_000,
            )
        )
    ),
)

TRANSFER_ENCODINGS = (
    _bad_encoding("transfer-gzip", _sized(gzip.compress(PAGE, mtime=0), b"Transfer-Encoding: gzip\r\n")),
    _bad_encoding(
        "transfer-gzip-chunked",
        _head(b"Transfer-Encoding: gzip, chunked\r\n") + _chunk(gzip.compress(PAGE, mtime=0)) + _chunk(b""),
    ),
    _bad_encoding("transfer-chunked-gzip", _head(b"Transfer-Encoding: chunked, gzip\r\n") + _chunk(PAGE) + _chunk(b"")),
    _bad_encoding("transfer-unknown", _head(b"Transfer-Encoding: rot13\r\n") + PAGE),
    _bad_encoding("transfer-br", _head(b"Transfer-Encoding: br\r\n") + PAGE),
    _page("transfer-identity", _sized(headers=b"Transfer-Encoding: identity\r\n")),
    _page("transfer-chunked-in-capitals", _head(b"TRANSFER-ENCODING: Chunked\r\n") + _chunk(PAGE) + _chunk(b"")),
    _page("transfer-identity-chunked", _head(b"Transfer-Encoding: identity, chunked\r\n") + _chunk(PAGE) + _chunk(b"")),
    _page("transfer-empty", _sized(headers=b"Transfer-Encoding:\r\n")),
)

_EMPTY_MEMBER = gzip.compress(b"", mtime=0)
_EMPTY_BLOCKS = b"\0\0\0\xff\xff" * 10_000  # of deflate
_MEGABYTE = 1_000_000


def _brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=3))


def _deflate_bomb(window_bits: int) -> tuple[bytes, bytes]:
    """The start of a stream, and a kilobyte of it that makes another megabyte each time it is repeated."""
    packer = zlib.compressobj(9, wbits=window_bits)
    start = packer.compress(bytes(_MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)
    return start, packer.compress(bytes(_MEGABYTE)) + packer.flush(zlib.Z_FULL_FLUSH)


def _without_end(name: str, encoding: bytes, start: bytes, again: bytes, outcome: Outcome) -> HostileAnswer:
    head = _head(b"Content-Encoding: " + encoding + b"\r\n")
    return HostileAnswer(name, head + start, outcome, again, body=None)


CONTENT_ENCODINGS = (
    _bad_encoding("empty-members-in-brotli", _coded(b"gzip, br", _brotli(_EMPTY_MEMBER * 500_000))),
    _bad_encoding("empty-members-in-gzip", _coded(b"gzip, gzip", gzip.compress(_EMPTY_MEMBER * 500_000, mtime=0))),
    _bad_encoding(
        "empty-members-in-brotli-thrice",
        _coded(b"gzip, br, br, br", _brotli(_brotli(_brotli(_EMPTY_MEMBER * 500_000)))),
    ),
    _bad_encoding("empty-blocks-in-brotli", _coded(b"deflate, br", _brotli(_EMPTY_BLOCKS * 200))),
    _without_end("empty-members-without-end", b"gzip", _EMPTY_MEMBER, _EMPTY_MEMBER * 1_000, Outcome.BAD_ENCODING),
    _without_end("empty-blocks-without-end", b"gzip", _EMPTY_MEMBER[:10], _EMPTY_BLOCKS, Outcome.BAD_ENCODING),
    _without_end("tiny-members-without-end", b"gzip", b"", gzip.compress(b"x", mtime=0) * 1_000, Outcome.FETCHED),
    _without_end(
        "gzip-name-without-end", b"gzip", b"\x1f\x8b\x08\x08\0\0\0\0\0\xff", b"x" * 50_000, Outcome.BAD_ENCODING
    ),
    _without_end("brotli-metadata-without-end", b"br", b"\xec\xff\xff\x7f", bytes(50_000), Outcome.BAD_ENCODING),
    _without_end("gzip-bomb", b"gzip", *_deflate_bomb(31), Outcome.FETCHED),
    _without_end("deflate-bomb", b"deflate", *_deflate_bomb(15), Outcome.FETCHED),
    HostileAnswer("brotli-bomb", _coded(b"br", _brotli(bytes(50 * _MEGABYTE))), Outcome.FETCHED, body=None),
    HostileAnswer(
        "brotli-bomb-in-brotli",
        _coded(b"br, br", _brotli(_brotli(bytes(50 * _MEGABYTE)))),
        Outcome.FETCHED,
        body=None,
    ),
    _bad_encoding("six-codings", _coded(b", ".join([b"gzip"] * 6), PAGE)),
    _bad_encoding("ten-thousand-codings", _coded(b",".join([b"gzip"] * 10_000), PAGE)),
    _bad_encoding("zstd-unasked", _coded(b"zstd", b"\x28\xb5\x2f\xfd\xa4\xff\xff\xff\xff" + bytes(100))),
    _bad_encoding("zstd-with-a-window-of-2-gb", _coded(b"zstd", b"\x28\xb5\x2f\xfd\x00\xa8" + bytes(100))),
    _bad_encoding("compress-unasked", _coded(b"compress", b"\x1f\x9d\x90" + bytes(100))),
    _bad_encoding("brotli-large-window", _coded(b"br", b"\x91\x3f" + bytes(100))),
    _page("codings-of-nothing", _coded(b",,identity,,none,", PAGE)),
)

WITHOUT_END = (
    HostileAnswer(
        "headers-without-end", b"HTTP/1.1 200 OK\r\n", Outcome.HEADERS_TOO_LARGE, b"X-More: and more\r\n" * 500
    ),
    HostileAnswer("short-headers-without-end", b"HTTP/1.1 200 OK\r\n", Outcome.HEADERS_TOO_LARGE, b"a:\n" * 5_000),
    HostileAnswer("a-header-line-without-end", b"HTTP/1.1 200 OK\r\nX: ", Outcome.HEADERS_TOO_LARGE, b"x" * 50_000),
    HostileAnswer("a-status-line-without-end", b"HTTP/1.1 200 ", Outcome.HEADERS_TOO_LARGE, b"x" * 50_000),
    HostileAnswer("many-short-headers", _sized(headers=b"a:\r\n" * 5_000), Outcome.HEADERS_TOO_LARGE),
    HostileAnswer(
        "interim-answers-without-end", b"", Outcome.HEADERS_TOO_LARGE, b"HTTP/1.1 103 Early Hints\r\n\r\n" * 500
    ),
    HostileAnswer(
        "trailers-without-end",
        _head(_CHUNKED) + _chunk(PAGE) + b"0\r\n",
        Outcome.HEADERS_TOO_LARGE,
        b"X-More: and more\r\n" * 500,
    ),
    _bad("a-chunk-extension-without-end", _head(_CHUNKED) + _chunk(PAGE) + b"5;", b"x" * 50_000),
    _bad("chunk-extensions-without-end", _head(_CHUNKED), _chunk(b"x", b";" + b"y" * 16_000) * 10),
    _bad("chunks-of-two-bytes-without-end", _head(_CHUNKED), _chunk(b"xy") * 10_000),
    HostileAnswer(
        "chunk-extensions-drop-by-drop", _head(_CHUNKED), Outcome.TOO_SLOW, _chunk(b"x", b";" + b"y" * 1_000), pause=0.2
    ),
    HostileAnswer("a-body-without-end", _head(), Outcome.FETCHED, b"more and more " * 5_000, body=None),
    HostileAnswer(
        "a-body-of-chunks-without-end", _head(_CHUNKED), Outcome.FETCHED, _chunk(b"more and more " * 1_000), body=None
    ),
    HostileAnswer(
        "an-image-without-end",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n",
        Outcome.UNWANTED_TYPE,
        bytes(50_000),
    ),
    HostileAnswer(
        "an-image-of-chunk-extensions",
        b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n" + _CHUNKED + b"\r\n",
        Outcome.UNWANTED_TYPE,
        _chunk(b"x", b";" + b"y" * 16_000) * 10,
    ),
)

HOSTILE_ANSWERS = STATUS_LINES + HEADERS + NUMBERS + TRANSFER_ENCODINGS + CONTENT_ENCODINGS + WITHOUT_END
