"""The converter process: reads documents from its standard input, one after another, and writes each as HTML to its
standard output. `converter.py` is the other end.

It may use little memory and little CPU time, can write no file, and leaves after some hundred documents or when it has
grown. What a converter raises is the document's trouble; what kills the process is found out by the other end.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import struct
import sys
import time
from importlib import import_module
from typing import BinaryIO, NamedTuple

from pycrawl.convert.simple_page import SimplePage, Trouble, Unconvertible
from pycrawl.convert.sniffing import module_of

# Part of the protocol, at both ends: a request is REQUEST, the module's name and the document; an answer is ANSWER, the
# facts as JSON and the HTML in UTF-8.
REQUEST = struct.Struct("<BQ")
ANSWER = struct.Struct("<IQ")
MOST_MEMORY = 512 << 20  # bytes of address space
CPU_SECONDS = 3.5  # for one document: then it is given up, with what there was until then …
_KILLED_SECONDS = 4.5  # … and here the kernel ends the process, if its code has not come back
_DOCUMENTS = 500  # until it makes room for a new process, whatever a library has kept
_GROWN_KILOBYTES = 200 << 10  # resident; a process of that size leaves after the document
_NICE = 10  # pages go first
_KEPT_MEMORY = 16 << 20  # bytes: freeing one large block lets glibc keep what pdfium frees, for the next page
_LONGEST_DETAIL = 300


class Facts(NamedTuple):
    """What an answer says beside the HTML."""

    pages: int = 0
    trouble: str = ""
    detail: str = ""
    is_last: bool = False  # the process leaves behind this answer


def main() -> None:
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit()
    bytes(_KEPT_MEMORY)
    for number in range(1, _DOCUMENTS + 1):
        head = requests.read(REQUEST.size)
        if len(head) < REQUEST.size:
            return
        name_length, length = REQUEST.unpack(head)
        module = requests.read(name_length).decode()
        html, facts = converted(module, requests.read(length))
        is_last = facts.is_last or number == _DOCUMENTS or _has_grown()
        _answer(answers, html, facts._replace(is_last=is_last))
        if is_last:
            return


def converted(module: str, data: bytes) -> tuple[bytes, Facts]:
    """Returns a document as HTML, and what is to be said of it. Whatever is raised is the document's trouble."""
    signal.setitimer(signal.ITIMER_PROF, _KILLED_SECONDS)
    page = SimplePage(deadline=time.process_time() + CPU_SECONDS)
    trouble, detail, is_last = "", "", False
    try:
        if not data:
            raise Unconvertible(Trouble.EMPTY)
        import_module(f"pycrawl.convert.{module_of(module, data)}").convert(data, page)
    except Unconvertible as error:
        trouble, detail = error.trouble.value, error.detail
    except ImportError as error:
        trouble, detail = Trouble.NO_CONVERTER.value, f"{error.name} is not installed"
    except MemoryError:
        trouble, is_last = Trouble.TOO_MUCH_MEMORY.value, True
    except Exception as error:  # noqa: BLE001  # libraries raise whatever they like at hostile bytes
        trouble, detail = Trouble.DAMAGED.value, f"{type(error).__name__}: {error}"
    if not trouble and not page.has_text:
        trouble = Trouble.NO_TEXT.value
    try:
        html = page.html().encode()
    except MemoryError:
        html, trouble, is_last = b"", Trouble.TOO_MUCH_MEMORY.value, True
    return html, Facts(page.pages, trouble, " ".join(detail.split())[:_LONGEST_DETAIL], is_last)


def _answer(answers: BinaryIO, html: bytes, facts: Facts) -> None:
    told = json.dumps(facts._asdict()).encode()
    try:
        answers.write(ANSWER.pack(len(told), len(html)) + told)
        answers.write(html)
        answers.flush()
    except BrokenPipeError:  # who asked has gone
        os._exit(0)


def _limit() -> None:
    os.nice(_NICE)
    for kind, most in (
        (resource.RLIMIT_AS, MOST_MEMORY),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, 64),
    ):
        hard = resource.getrlimit(kind)[1]
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))
    # Only `old_office.py` raises it for a moment, for a file in memory.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def _has_grown() -> bool:
    """True if this process was ever larger than it may stay. `getrusage` would tell the size of the process that has
    started this one, if that was larger."""
    with open("/proc/self/status", "rb") as status:
        largest = next((line for line in status if line.startswith(b"VmHWM:")), b"VmHWM: 0 kB")
    return int(largest.split()[1]) > _GROWN_KILOBYTES
