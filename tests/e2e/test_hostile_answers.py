"""The real program against the table of hostile answers, each on its own host: no fetcher dies, no page is lost."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from pycrawl.simweb.hostile_answers import HOSTILE_ANSWERS
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Settings
from tests.fetch.answer_server import AnswerServer

ANSWERS = [answer for answer in HOSTILE_ANSWERS if not answer.pause]  # those that come slowly take as long as they may


@pytest.mark.parametrize("transport", ["curl", pytest.param("urllib3", marks=pytest.mark.slow)])
def test_hostile_answers_cost_their_own_urls_only(make_crawl: MakeCrawl, transport: str) -> None:
    with ExitStack() as stack:
        hostile, honest = {}, []
        for number, answer in enumerate(ANSWERS):
            server = AnswerServer((answer,), f"127.42.0.{number + 1}")
            stack.callback(server.close)
            hostile[f"{server.base}/{answer.name}"] = answer
            honest.append(f"{server.base}/honest")
        settings: Settings = {
            "crawl": {"transport": transport, "cookies": True},
            "limits": {"max_tries": 2, "max_body_bytes": 1_000_000, "total_timeout": 60},
        }
        crawl = make_crawl([*hostile, *honest], settings)
        running = crawl.start("crawl")
        assert running.wait() == 0, running.output()
        assert "died" not in running.output()
        assert not (crawl.directory.log / "fetchers.log").read_bytes()
        ended = dict(crawl.query("SELECT url, outcome FROM visits JOIN urls ON urls.id = url_id"))
        assert {url: ended.get(url) for url in honest} == dict.fromkeys(honest, "fetched")
        for url, answer in hostile.items():
            assert ended.get(url) == answer.outcome or answer.body is None, answer.name
        assert "internal-error" not in ended.values()
        crawl.verify()
