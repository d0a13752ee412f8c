"""What processes and plugins hand over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pycrawl.model import FetchJob
from pycrawl.parse.parsed import Parsed
from pycrawl.parse.parsers import Body, PluginParser, Wanted
from pycrawl.plugins.guard import PluginFailed
from pycrawl.processes.messages import BadMessage, pack, unpack_jobs, unpack_results
from pycrawl.processes.plain_pickle import is_plain, is_plain_slowly
from tests.fuzz.case import Target
from tests.fuzz.targets.addresses import BASE, packer

JOB = FetchJob(1, BASE, 1)
_FIELDS = tuple(Parsed.__dataclass_fields__)


class _OddParser:
    """Returns whatever it is given."""

    media_types = ("application/x-odd",)

    def __init__(self) -> None:
        self.answer: Any = None

    def parse(self, body: Body, wanted: Wanted) -> Any:
        return self.answer


_ODD = _OddParser()
_PLUGIN = PluginParser("odd", _ODD)


def _value(data: bytes, depth: int = 0) -> Any:
    """An object of Python made by the bytes."""
    kind, rest = (data[0] % 12, data[1:]) if data else (0, b"")
    if kind > 7 and depth > 3:
        kind = 1
    parts = [_value(part, depth + 1) for part in rest.split(b"|")[:20]] if kind > 7 else []
    simple = (None, rest.decode("utf-8", "surrogateescape"), rest, len(rest), 1e999, True, object(), "\ud800")
    match kind:
        case 8:
            return parts
        case 9:
            return [part for part in parts if isinstance(part, str)]
        case 10:
            return frozenset(part for part in parts if isinstance(part, str | int | bytes))
        case 11:
            return {part: part for part in parts if isinstance(part, str)}
        case _:
            return simple[kind]


def plugin_page(data: bytes) -> None:
    """Each line is a field of the page that a parser of another package returns: its number, and its value."""
    fields = {_FIELDS[line[0] % len(_FIELDS)]: _value(line[1:]) for line in data.split(b"\n") if line}
    _ODD.answer = Parsed(**fields) if data[:1] != b"?" else _value(data[1:])
    try:
        page = _PLUGIN.parse(Body(BASE, "application/x-odd", data), Wanted())
    except PluginFailed as failed:
        assert "\n" not in str(failed)
        return
    packer().pack(page, BASE)
    _ = page.content_or_text


def queue(data: bytes) -> None:
    """The first byte says which way the message goes, the rest is what came through the pipe."""
    assert is_plain(data[1:]) is is_plain_slowly(data[1:])
    unpack: Callable[[bytes], Any] = unpack_jobs if data[:1] == b"j" else unpack_results
    try:
        message = unpack(data[1:])
    except BadMessage:
        return
    again = pack(message)
    assert pack(unpack(again)) == again


_OPCODES = tuple(bytes([one]) for one in b"\x80\x85\x86\x87\x88\x89\x8c\x94\x95().KMJNGCB]}|\x8f\x90\x93\x81")

_VALUES = (b"http://h/\n", b"fetched", b"page", b"cbuiltins\neval\n", b"r\xff\xff\xff\xff")

_WORDS = tuple(bytes([field, kind]) + text for field in range(9) for kind in (1, 9, 10) for text in (b"\x01/x|\x01y",))

TARGETS = [
    Target("plugin-page", plugin_page, (*_WORDS, b"\n", b"|", b"?")),
    Target(
        "queue",
        queue,
        (*_OPCODES, *_VALUES),
        is_compiled=True,
    ),
]
