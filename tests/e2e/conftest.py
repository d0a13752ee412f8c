from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from tests.e2e.crawling import Crawl, Settings


class MakeCrawl(Protocol):
    def __call__(self, seeds: Iterable[str], settings: Settings | None = None) -> Crawl: ...


@pytest.fixture
def make_crawl(tmp_path: Path) -> Iterator[MakeCrawl]:
    """Makes crawls in directories of their own; what they started ends with the test."""
    crawls: list[Crawl] = []

    def make(seeds: Iterable[str], settings: Settings | None = None) -> Crawl:
        crawls.append(Crawl.make(tmp_path / f"crawl-{len(crawls)}", seeds, settings))
        return crawls[-1]

    yield make
    for crawl in crawls:
        crawl.close()
