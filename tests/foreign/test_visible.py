"""Text of others: what it looks like when it is shown."""

from __future__ import annotations

import ast
import io
import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pycrawl
from pycrawl.foreign.visible import VisibleStream, visible, visible_json, visible_text

PACKAGE = Path(pycrawl.__file__).parent
ANY_TEXT = st.text(st.characters(exclude_categories=()))  # halves of surrogate pairs too
KEPT_MARKS = "\xad\u200c\u200d"  # soft hyphen and joiners


def is_harmless(sign: str) -> bool:
    if 0x200B <= ord(sign) <= 0x206F and unicodedata.category(sign) == "Cf":
        return sign in KEPT_MARKS
    return unicodedata.category(sign) not in ("Cc", "Cs", "Zl", "Zp")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – ümläut 漢字 \xa0\u3000", "plain – ümläut 漢字 \xa0\u3000"),
        ("\x1b]0;title\x07\x1b[31m", "\\x1b]0;title\\x07\\x1b[31m"),
        ("a\r\nb\tc\0\x7f", "a\\x0d\\x0ab\\x09c\\x00\\x7f"),
        ("\x85\x9b31m", "\\x85\\x9b31m"),
        ("\u202eabc\u2069\u200f\u061c", "\\u202eabc\\u2069\\u200f\\u061c"),
        ("\u2028\u2029\ufeff\u200b", "\\u2028\\u2029\\ufeff\\u200b"),
        ("\udc80 \U000e0041", "\\udc80 \\U000e0041"),
        ("می\u200cخواهم \u00ad", "می\u200cخواهم \u00ad"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT)
def test_any_text_is_harmless_and_can_be_written(text: str) -> None:
    assert all(map(is_harmless, visible(text)))
    assert all(is_harmless(sign) or sign in "\n\t" for sign in visible_text(text))
    visible(text).encode()
    assert visible_text(text).count("\n") == text.count("\n")
    assert visible(visible(text)) == visible(text)


@given(st.recursive(ANY_TEXT, lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner), max_leaves=5))
def test_json_stays_exact(value: object) -> None:
    for to_ascii in (True, False):
        for indent in (None, 2):
            shown = visible_json(json.dumps(value, indent=indent, ensure_ascii=to_ascii))
            assert json.loads(shown) == value
            assert all(is_harmless(sign) or sign == "\n" for sign in shown)


def test_a_stream_for_what_others_print() -> None:
    file = io.BytesIO()
    stream = VisibleStream(file, "utf-8", line_buffering=True)
    print("line\x1b[31m ü", file=stream)
    assert file.getvalue() == "line\\x1b[31m ü\n".encode()


# Who may write to a terminal. The synthetic web is a program of its own, and says nothing of others.
WRITERS = {"cli/output.py"}
NOT_LOOKED_AT = ("simweb/", "cli/manpages.py")
PRINTING = {"echo", "secho", "print_exc", "from_markup", "print_exception", "prompt", "confirm", "style"}
STREAMS = {"stdout", "stderr"}
STREAM_QUESTIONS = {"isatty", "fileno", "flush", "encoding"}


def is_pipe_of_a_child(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("process", "self._process")


def printing_places(path: Path) -> list[str]:
    """The places in a source file that write to a terminal."""
    tree = ast.parse(path.read_text("utf-8"))
    name = path.relative_to(PACKAGE).as_posix()
    found = []
    asked = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in STREAM_QUESTIONS
    }
    for node in ast.walk(tree):
        is_print = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
        is_echo = isinstance(node, ast.Attribute) and node.attr in PRINTING
        is_stream = isinstance(node, ast.Attribute) and node.attr in STREAMS and id(node) not in asked
        if is_print or is_echo or (is_stream and not is_pipe_of_a_child(node)):
            found.append(f"{name}:{getattr(node, 'lineno', 0)}")
    return found


def test_commands_write_in_one_way_only() -> None:
    sources = [
        path for path in PACKAGE.rglob("*.py") if not path.relative_to(PACKAGE).as_posix().startswith(NOT_LOOKED_AT)
    ]
    found = {place for path in sources for place in printing_places(path)}
    allowed = {place for place in found if place.split(":")[0] in WRITERS}
    assert allowed, "the test looks for the wrong names"
    # `cli/__init__.py` asks whether standard output is closed; `spawn.py` turns the streams of a fetcher into the log;
    # `export -o -` writes a file's bytes to standard output.
    rest = sorted(place.split(":")[0] for place in found - allowed)
    assert rest == ["cli/__init__.py", "collection/exports/output.py", "processes/spawn.py"]


def test_rich_gets_text_that_went_through_here() -> None:
    """rich reads a plain string as markup; so it is given a `Text` of what is visible, and nothing else."""
    for path in (PACKAGE / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Text":
                assert ast.unparse(node.args[0]).startswith("visible("), path
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("console.print"):
                assert ast.unparse(node.args[0]).startswith("Text("), path
