"""One crawl, gone on with by the other reader."""

from __future__ import annotations

import os

import pytest

from pycrawl.native import compiled
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import pycrawl
from tests.e2e.site import Reply, Site

MISSING = "The compiled reader is not used (PYCRAWL_NATIVE=0 is set): pages are read by way of a tree, which is slower."
ODD = Reply("<title>t</title><svg><title/><path/></svg><template><a href=/no>x</a></template><a href=/next>x</a>")


@pytest.mark.skipif(compiled is None, reason="the compiled module was not built")
def test_the_state_remembers_the_reader_and_crawl_says_when_another_goes_on(make_crawl: MakeCrawl) -> None:
    with Site({"/": ODD, "/next": Reply("<svg><title/></svg><a href=/last>x</a>"), "/last": Reply("end")}) as site:
        crawl = make_crawl([site.url + "/"])
        outputs = []
        for native, pages in (("0", "1"), ("0", "1"), ("1", "9"), ("1", "9")):
            ended = pycrawl(
                "crawl", "-C", crawl.path, "--max-pages", pages, env={**os.environ, "PYCRAWL_NATIVE": native}
            )
            assert ended.returncode == 0, ended.stderr
            outputs.append(ended.stdout)
            assert crawl.query("SELECT value FROM meta WHERE key = 'reader'") == [
                ("tree" if native == "0" else "compiled",)
            ]
        assert site.times() == {"/": 1, "/next": 1, "/last": 1}
    change = "Up to now the tree reader read this crawl's pages; the compiled reader goes on."
    assert [MISSING in output for output in outputs] == [True, True, False, False]
    assert [change in output for output in outputs] == [False, False, True, False]
