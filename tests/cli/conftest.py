"""The fixtures of the end-to-end tests, as commands are tested on real crawls too."""

from __future__ import annotations

from tests.e2e.conftest import make_crawl

__all__ = ["make_crawl"]
