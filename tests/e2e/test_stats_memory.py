"""`stats --memory`: what each part of a crawl held."""

from __future__ import annotations

import json

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl


def test_each_part_is_shown_after_a_crawl(make_crawl: MakeCrawl) -> None:
    with SimServer(SimWebSettings.plain(pages=30, hosts=2, port=0)) as server:
        crawl = make_crawl([server.seed], {})
        crawl.run("crawl")
    facts = json.loads(crawl.run("stats", "--memory", "--json").stdout)["memory"]
    assert facts["URLs seen"] > 30 * 13
    assert {"near-duplicates", "content seen", "back queues", "hosts"} <= set(facts)
    shown = crawl.run("stats", "--memory").stdout
    assert all(name in shown for name in facts)
    assert "memory" not in json.loads(crawl.run("stats", "--json").stdout)
