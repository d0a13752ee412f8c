"""Is a pickle made of plain values only: numbers, texts, bytes, lists, tuples, dicts, and references to these?

Asked before it is read. Some opcodes name classes or call functions, and one (LONG_BINPUT) makes a table as large as
the number behind it, up to 64 GB. Python's own pickles of plain values have none of them.
"""

from __future__ import annotations

from pycrawl.native import compiled

# Opcodes of protocol 5, by how many bytes follow …
_OPERANDS = {
    **dict.fromkeys(b".N\x88\x89)\x85\x86\x87t(]ae}su\x94", 0),
    **dict.fromkeys(b"\x80Kh", 1),
    **dict.fromkeys(b"M", 2),
    **dict.fromkeys(b"Jj", 4),
    **dict.fromkeys(b"G\x95", 8),
}
# … and those with a value behind a number that says its length, by the length of that number.
_COUNTED = {**dict.fromkeys(b"\x8a\x8cC", 1), **dict.fromkeys(b"XB", 4), **dict.fromkeys(b"\x8d\x8e", 8)}
_STOP = ord(".")


def is_plain(data: bytes | memoryview) -> bool:
    """True if the pickle holds plain values and nothing else, and ends with the data."""
    return bool(compiled.is_plain_pickle(data)) if compiled is not None else is_plain_slowly(data)


def is_plain_slowly(data: bytes | memoryview) -> bool:
    """As `is_plain`, without the compiled module."""
    at, end = 0, len(data)
    while at < end:
        opcode = data[at]
        at += 1
        size = _COUNTED.get(opcode)
        if size is not None:
            if end - at < size:
                return False
            at += size + int.from_bytes(data[at : at + size], "little")
        elif opcode in _OPERANDS:
            at += _OPERANDS[opcode]
        else:
            return False
        if at > end:
            return False
        if opcode == _STOP:
            return at == end
    return False
