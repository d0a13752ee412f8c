"""The index of passages after kill -9: it holds what the stored texts have, no more and no less."""

from __future__ import annotations

import random
import time

from pycrawl.collection.duplicates import TextReader, stored_text
from pycrawl.fingerprint.page_prints import packed
from pycrawl.fingerprint.passages import unpack_passages
from pycrawl.parse.parsers import Parsers
from pycrawl.simweb import SimServer, SimWebSettings
from pycrawl.state.database import Database
from pycrawl.state.documents import documents_in_order
from pycrawl.state.passages import sharing
from pycrawl.state.runs.id_runs import IdRuns
from pycrawl.state.runs.merging import FIRST_FACTOR
from pycrawl.state.stores import PASSAGES
from pycrawl.store.reader import RecordReader
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings

ROUNDS = 3
SETTINGS: Settings = {
    "content": {"near_duplicates": True},
    "crawl": {"fetchers": 2, "slots_per_fetcher": 16},
    "traps": {"novelty": False, "soft_404": False},
}
WEB = SimWebSettings(seed=31, hosts=5, pages=200, port=0, host_skew=0.0, crawl_delay=0, retry_after=0, latency=0.2)


def check_index(crawl: Crawl) -> int:
    """How many documents have a record of their own."""
    database = Database.open_readonly(crawl.directory.state)
    texts = TextReader(Parsers({}), crawl.directory.config().content.main_content)
    with database.snapshot(), RecordReader(crawl.directory.docs) as reader:
        passages = {
            one.id: unpack_passages(packed(stored_text(database, reader, one, texts), 0)[1])
            for one in documents_in_order(database)
        }
        found_ids = [one for portion in IdRuns(database, PASSAGES).portions() for one in portion.ids.tolist()]
        assert len(found_ids) == sum(map(len, passages.values()))
        assert set(found_ids) == {one for one, prints in passages.items() if len(prints)}
        for document_id, prints in passages.items():
            found = sharing(database, prints, most=10**9)
            counts = dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True))
            assert counts.get(document_id, 0) == len(prints)
    database.close()
    return len(passages)


def test_killed_in_rounds(make_crawl: MakeCrawl) -> None:
    chance = random.Random(5)
    with SimServer(WEB) as server:
        crawl = make_crawl([server.seed], SETTINGS)
        stored = 0
        for _ in range(ROUNDS):
            running = crawl.start("crawl")
            assert running.until(lambda: crawl.query("SELECT count(*) FROM page_prints")[0][0] > stored)  # noqa: B023
            time.sleep(chance.uniform(0.0, 1.0))  # somewhere between this commit and the next
            running.kill_tree()
            before, stored = stored, check_index(crawl)
            assert stored > before
        crawl.run("crawl")
        assert check_index(crawl) >= stored
        crawl.verify()
        assert len(crawl.query("SELECT id FROM sorted_runs WHERE store = 3")) < 2 * FIRST_FACTOR
