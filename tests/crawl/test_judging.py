"""All known URLs judged anew: cut short in the middle, and with settings that change again before it goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pycrawl.collection.verify import verify
from pycrawl.config import Config, ScopeSection
from pycrawl.crawl.directory import CrawlDirectory
from pycrawl.crawl.judging import judge_anew
from pycrawl.crawl.seeding import add_seeds
from pycrawl.crawl.session import Session
from pycrawl.frontier.judge import Judge
from pycrawl.state import meta
from pycrawl.state.database import Database
from pycrawl.state.unwanted import Unwanted
from pycrawl.urls.scope import Scope
from tests.e2e.crawling import Crawl

URLS = [f"http://h{number % 7}.example/s{number % 5}/{number}" for number in range(400)]
SCOPES = [
    ScopeSection(deny_hosts=("h1.example", "h2.example")),
    ScopeSection(allow_hosts=("h3.example",)),
    ScopeSection(deny_prefixes=("/s3/",)),
    ScopeSection(allow_patterns=("[02468]$",)),
    ScopeSection(allow_hosts=("nobody.example",)),
    ScopeSection(),
]


class Cut(Exception):
    """Ends a pass as a kill does: what was not committed never happened."""


def judge(path: Path, config: Config, portions: int) -> None:
    """Judge all URLs, or so many portions of them."""
    database = Database.open(path)
    left = portions

    def on_progress(done: int, total: int) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise Cut

    unwanted = Unwanted(database, meta.hash_seed(database))
    try:
        judge_anew(database, config, Judge(config, unwanted), on_progress, at_once=50)
    finally:
        database.close()


@pytest.mark.parametrize("seed", range(8))
def test_a_pass_that_is_cut_short_again_and_again(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    crawl = Crawl.make(tmp_path / "crawl", URLS[:1])
    directory = CrawlDirectory(crawl.path)
    with Session(directory, Config()) as session:
        add_seeds(session, URLS, 0.0)
        session.frontier.open_queues(1, 20)
        session.frontier.fill(False)  # so that some wait in back queues
        session.commit_last(0.0)
    for _ in range(6):
        try:
            judge(directory.state, Config(scope=chance.choice(SCOPES)), chance.randrange(1, 10))
        except Cut:
            continue
    final = Config(scope=chance.choice(SCOPES))
    with Session(directory, final) as session:
        session.commit_last(0.0)
    wanted = {url for url in URLS if Scope(final).verdict(url) is None}
    waiting = crawl.query("SELECT url FROM urls WHERE id IN (SELECT url_id FROM front UNION SELECT url_id FROM back)")
    assert {url for (url,) in waiting} == wanted
    assert not [fault for check in verify(directory, lambda _: None) for fault in check.faults]
