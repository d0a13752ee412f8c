"""The examples of docs/python.md, with the packages that are installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.collection.conftest import Odd, module

TEXT = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")


def example(heading: str) -> str:
    """The code below a heading."""
    found = re.search(rf"^## {heading}\n.*?```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)
    assert found
    return found[1]


def run(heading: str, odd: Odd) -> dict[str, Any]:
    names: dict[str, Any] = {"collection": odd.collection}
    exec(example(heading), names)
    return names


def test_pandas(odd: Odd) -> None:
    module("pandas")
    frame = run("With pandas", odd)["frame"]
    assert set(frame["url"]) <= {one.url for one in odd.collection}
    assert len(frame) > len(odd.collection) // 2


def test_pyterrier(odd: Odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It downloads its Java program when it starts, so this runs only where that can be had."""
    pyterrier = pytest.importorskip("pyterrier")
    try:
        pyterrier.java.init()
    except OSError as error:
        pytest.skip(f"PyTerrier cannot have its Java program: {error}")
    monkeypatch.chdir(tmp_path)
    run("With PyTerrier", odd)
    assert (tmp_path / "index").is_dir()


def test_what_pyterrier_indexes(odd: Odd) -> None:
    """Its documents are dicts of strings, each with a docno of its own, from something that can be iterated over."""
    names: dict[str, Any] = {"collection": odd.collection}
    exec(example("With PyTerrier").partition("import pyterrier")[2].partition("indexer =")[0], names)
    pages: Iterator[dict[str, str]] = names["pages"]()
    found = list(pages)
    assert len({page["docno"] for page in found}) == len(found) == len(odd.collection) - 1
    assert all(isinstance(value, str) for page in found for value in page.values())


def test_ir_datasets(odd: Odd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module("ir_datasets")
    monkeypatch.chdir(tmp_path)
    assert run("With ir_datasets", odd)["doc"].url.startswith(odd.url)
