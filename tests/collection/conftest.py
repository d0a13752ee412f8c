from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pycrawl import Collection
from tests.collection.odd_web import OddWeb, crawled


class Odd(NamedTuple):
    """A finished crawl of the site of odd bodies. Tests that change it work on a copy."""

    path: Path
    url: str
    collection: Collection


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Odd]:
    path = tmp_path_factory.mktemp("odd") / "crawl"
    with OddWeb() as web:
        crawled(path, web.url + "/")
        url = web.url
    with Collection(path) as collection:
        yield Odd(path, url, collection)


def module(name: str) -> Any:
    """A module of a package that only developers have. Without it, a test is skipped; in CI, it fails."""
    return importlib.import_module(name) if os.environ.get("CI") else pytest.importorskip(name)
