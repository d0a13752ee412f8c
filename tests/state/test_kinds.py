"""The judgements: which kinds of pages are traps, and that nothing honest is one."""

from __future__ import annotations

import gzip
import json
from array import array
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from pycrawl import config
from pycrawl.model import NO_LINKS, CloseLook, Closure, PackedLinks, UrlOrder
from pycrawl.parse.html import parse_html
from pycrawl.simweb import PageKind, SimWebSettings
from pycrawl.simweb.web import SimWeb
from pycrawl.state import schema
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host
from pycrawl.state.kinds import Kinds
from pycrawl.state.kinds_table import kinds_of, series_of, stopped_series, worst_kinds
from pycrawl.traps.kind_record import KindRecord
from pycrawl.traps.page_sample import copy_keys, sample
from pycrawl.traps.url_kinds import ALL, section, shape
from pycrawl.urls.parts import path_and_query
from tests.e2e import trapweb
from tests.e2e.trapweb import prose
from tests.traps.test_link_memory import Links

NOW = datetime(2026, 11, 18).timestamp()
ARTICLES = Path(__file__).parents[3] / "shared" / "data" / "content"

# Traps


class Site:
    """Feeds pages of one host to the judgement, as a coordinator does."""

    def __init__(self, database: Database, toml: str = "", good_pages: int = 40) -> None:
        self._database = database
        self._good_pages = good_pages
        self.host = Host(1, "example.com")
        database.write("INSERT OR IGNORE INTO hosts (id, key) VALUES (1, 'example.com')")
        self._open(toml)

    def _open(self, toml: str) -> None:
        """`good_pages` of another host: where all pages are dull, dull ones are no trap."""
        self.kinds = Kinds(self._database, config.parse(toml), lambda: NOW)
        for number in range(self._good_pages):
            url = f"http://good.example/{number}"
            pairs = sample(prose(f"good {number}", 60), url)
            look = CloseLook("/0", "/…", pairs, tuple(copy_keys(array("Q", pairs), 2)))
            self.kinds.take_in_page(Host(2, "good.example"), url, 1, look, NO_LINKS)

    def url(self, path: str) -> str:
        return f"http://{self.host.key}{path}"

    def page(
        self,
        path: str,
        text: str,
        *targets: str,
        depth: int = 1,
        closure: Closure = Closure.OPEN,
        backs: int = 0,
    ) -> bool:
        """Take a page in, and say whether another one of its kind would be asked for."""
        url = self.url(path)
        pairs = sample(text, url)
        bands = tuple(copy_keys(array("Q", pairs), self.host.id))
        look = CloseLook(shape(url), section(url), pairs, bands, closure, backs)
        texts = [self.url(target) for target in targets]
        links = PackedLinks(bytes(8 * len(texts)), "\n".join(texts).encode(), len(texts))
        self.host.pages += 1
        self.kinds.take_in_page(self.host, url, depth, look, links)
        return not (self.kinds.watches(self.host) and self.kinds.trap(self.host, url))

    def restart(self, toml: str = "") -> None:
        self.kinds.close_group()
        self.kinds.flush()
        self._open(toml)


def calendar(site: Site, most: int, way: str = "/calendar/{}") -> int:
    """How many months of a calendar without events are asked for."""
    for month in range(1, most):
        if not site.page(way.format(month), f"Month {month}. {prose('nothing', 60)}", way.format(month + 1)):
            return month
    return most


def test_a_calendar_stops_and_says_why(state: Database) -> None:
    site = Site(state)
    assert calendar(site, 100) == 8
    why = site.kinds.trap(site.host, site.url("/calendar/1000"))
    assert why.startswith("example.com/calendar/0: 8 pages, yield 0.3")
    assert site.kinds.trap(site.host, site.url("/calendar/2/3/4")), "its section stops with it"


def test_where_most_pages_are_dull_dull_ones_are_no_trap(state: Database) -> None:
    assert calendar(Site(state, good_pages=0), 1_000) == 1_000
    assert calendar(Site(state, good_pages=0), 3_000, "/calendar/no{}.html") == 2_000, "but it ends"
    assert calendar(Site(state, good_pages=0), 11_000) == 10_000, "numbered pages may be a long archive"


def test_combinations_of_parameters_have_less_patience(state: Database) -> None:
    site = Site(state, good_pages=0)
    number = 0
    while site.page(f"/list?a={number}&b=1", "a list", f"/list?a={number + 1}&b=1"):
        number += 1
    assert number + 1 == 200


@pytest.mark.parametrize("size", [100, 400])
def test_dull_pages_that_lead_back_to_each_other_are_all_asked_for(state: Database, size: int) -> None:
    """Pages of a few words that link to eight others at random: it is finite, and looks it."""
    site, links = Site(state), Links()
    chance = np.random.default_rng(size)
    waiting, asked = ["/p/0"], {"/p/0"}
    while waiting:
        path = waiting.pop(0)
        targets = list(dict.fromkeys(f"/p/{number}" for number in chance.integers(size, size=8)))
        closure, backs = links.take_in(site.url(path), *map(site.url, targets))
        fresh = [target for target in targets if target not in asked]
        assert site.page(path, f"Page {path}", *fresh, closure=closure, backs=backs)
        waiting += fresh
        asked.update(fresh)
    assert len(asked) >= 0.99 * size


def test_dull_pages_that_were_to_end_but_do_not_stop(state: Database) -> None:
    site = Site(state)
    number = 0
    while site.page(f"/p/{number}", "a page", f"/p/{number + 1}", f"/p/-{number}", backs=1):
        number += 1
    site.kinds.close_group()
    site.kinds.flush()
    stopped = [one for one in kinds_of(state, 1, site.url("/p/1")).values() if one.stopped]
    assert stopped
    assert all(8 < one.pages_allowed <= one.pages == number + 1 < 100 for one in stopped)


def test_a_good_kind_goes_on_where_another_has_stopped(state: Database) -> None:
    site = Site(state)
    for number in range(20):
        assert site.page(f"/shop/item-{number}", prose(number, 100))
    number = 0
    while site.page(f"/shop/list?color={number}", prose("list", 100), f"/shop/list?color={number + 1}"):
        number += 1
    assert number < 10
    assert site.kinds.trap(site.host, site.url("/shop/list?color=1000"))
    assert not site.kinds.trap(site.host, site.url("/shop/item-1000"))
    assert not site.kinds.trap(site.host, site.url("/other/page"))


def test_all_combinations_of_parameters_are_one_kind(state: Database) -> None:
    site = Site(state)
    cards = [prose(number, 12) for number in range(40)]
    chance = np.random.default_rng(1)
    asked = 0
    for number in range(200):
        names = chance.choice(8, 3, replace=False)
        path = "/search?" + "&".join(f"{'abcdefgh'[name]}={number}" for name in names)
        if site.kinds.trap(site.host, site.url(path)):
            break
        asked += 1
        text = " ".join(cards[card] for card in chance.choice(40, 10, replace=False))
        site.page(path, f"{prose('template', 80)} {text}", path + "1")
    assert 8 <= asked <= 45


def test_copies_that_lead_nowhere_are_no_trap(state: Database) -> None:
    """Photographs without words: as many as there are, and then it ends."""
    site = Site(state)
    assert all(site.page(f"/photo/{number}", "next back home") for number in range(300))


def test_a_dry_spell_that_leads_to_other_pages_is_no_trap(state: Database) -> None:
    site = Site(state)
    for number in range(300):
        assert site.page(f"/calendar/{number}", "a month", f"/calendar/{number + 1}", f"/article/{number}")
        assert site.page(f"/article/{number}", prose(number, 80))


def maze(site: Site, most: int, dead_end_every: int = 0, back_every: int = 0) -> int:
    for depth in range(1, most):
        closure = Closure.SECTION
        targets = [f"/maze/{depth}-{place}" for place in range(10)]
        if dead_end_every and depth % dead_end_every == 0:
            closure, targets = Closure.OPEN, []
        backs = 0
        if back_every and depth % back_every == 0:
            closure, backs = Closure.OPEN, 1
        if not site.page(f"/maze/{depth}", prose(depth, 80), *targets, depth=depth, closure=closure, backs=backs):
            return depth
    return most


def test_a_maze_of_ever_new_text_stops(state: Database) -> None:
    site = Site(state)
    assert maze(site, 500) <= 22
    assert "closed" in site.kinds.trap(site.host, site.url("/maze/1000"))


@pytest.mark.parametrize(("way", "least", "most"), [("/row/page{}.html", 600, 700), ("/row/{}", 9_000, 11_000)])
def test_a_long_row_of_pages_is_no_maze_for_long(state: Database, way: str, least: int, most: int) -> None:
    """One whose pages are numbered has more time: it may be an archive."""
    site = Site(state)
    number = 1
    while site.page(
        way.format(number), prose(number, 60), way.format(number + 1), depth=number, closure=Closure.SECTION
    ):
        number += 1
    assert least <= number <= most, site.kinds.trap(site.host, site.url(way.format(number)))


def test_kinds_of_an_older_state_are_kept(tmp_path: Path) -> None:
    database = Database.create(tmp_path / "old.db", schema.STEPS[:2])
    database.write("INSERT INTO hosts (id, key) VALUES (1, 'example.com')")
    database.write("INSERT INTO patterns VALUES (1, '/a/…', 9, 2, 0.3, 0.7, 1, 5, 0.5, 40, 100, 3, 1, 50, 1)")
    database.commit()
    database.close()
    database = Database.open(tmp_path / "old.db")
    known = kinds_of(database, 1, "http://example.com/a/b")["/a/…"]
    assert known == KindRecord(9, 2, 0.3, 0.7, 1, 5, 0.5, 40, 100, 3, 1, 0, 50, True)
    assert Kinds(database, config.parse("")).trap(Host(1, "example.com", pages=9), "http://example.com/a/b")
    database.close()


# Series


def months_asked_for(site: Site, most: int, event_every: int = 0) -> int:
    """Of a calendar that leads a month back, and a month ahead, with text of its own on each page."""
    start = 2001 * 12
    site.page("/", prose("home", 80), "/calendar/2001/1")
    for number in range(1, most):
        month = start + (number // 2 if number % 2 else -number // 2)
        ways = [f"/calendar/{one // 12}/{one % 12 + 1}" for one in (month, month - 1, month + 1)]
        events = [f"/event/{number}-of-many"] if event_every and number % event_every == 0 else []
        if not site.page(ways[0], prose(f"month {number}", 80), *ways[1:], *events):
            return number
    return most


def test_a_calendar_that_runs_both_ways_stops_and_says_why(state: Database) -> None:
    site = Site(state)
    assert 128 <= months_asked_for(site, 1_000) <= 140
    why = site.kinds.trap(site.host, site.url("/calendar/2099/1"))
    assert why.startswith("example.com/calendar/{date}: 1")
    assert "after all that other pages link to" in why
    assert not site.kinds.trap(site.host, site.url("/calendar/2001/1")), "the home page links to it"
    assert not site.kinds.trap(site.host, site.url("/other/2099"))
    site.restart()
    assert site.kinds.watches(site.host)
    assert site.kinds.trap(site.host, site.url("/calendar/2099/1")) == why
    assert [(host, name) for host, name, _ in stopped_series(state, 10)] == [("example.com", "/calendar/{date}")]
    known = series_of(state, 1, site.url("/calendar/1950/12"))
    assert known is not None
    assert known[1].reason in why
    assert series_of(state, 1, site.url("/other/2099")) is None


def test_a_calendar_that_leads_to_events_goes_on(state: Database) -> None:
    assert months_asked_for(Site(state), 1_000, event_every=3) == 1_000


def test_a_calendar_is_counted_on_though_the_crawl_was_stopped_in_between(state: Database) -> None:
    site = Site(state)
    assert months_asked_for(site, 100) == 100
    site.restart()
    assert months_asked_for(site, 100) < 100


def test_every_page_of_a_series_that_runs_on_gets_a_close_look(state: Database) -> None:
    site = Site(state)
    for number in range(40):
        site.page(f"/news/{prose(number, 6).replace(' ', '-')}", prose(number, 80))
    months_asked_for(site, 40)
    months = [site.url(f"/calendar/2030/{month}") for month in range(1, 13)]
    assert all(site.kinds.wants_close_look(site.host, url) for url in months)
    others = [site.url(f"/news/{number}-{prose(number, 5).replace(' ', '-')}") for number in range(320)]
    assert sum(site.kinds.wants_close_look(site.host, url) for url in others) < 40


def test_what_the_home_page_lists_is_no_trap(state: Database) -> None:
    site = Site(state)
    site.page("/", prose("home", 80), "/calendar/1900/1", "/calendar/2099/12")
    assert months_asked_for(site, 1_000) == 1_000


# The order of URLs


def test_the_way_down_is_tried_when_a_host_may_be_a_maze(state: Database) -> None:
    site = Site(state)
    orders = []
    for number in range(30):
        url = site.url(f"/maze/{number}")
        targets = [site.url(f"/maze/{number}-{place}") for place in range(10)]
        links = PackedLinks(bytes(80), "\n".join(targets).encode(), 10)
        pairs = sample(prose(number, 80), url)
        look = CloseLook(shape(url), section(url), pairs, tuple(copy_keys(array("Q", pairs), 1)), Closure.SECTION)
        orders.append(site.kinds.take_in_page(site.host, url, 1, look, links))
    assert orders == sorted(orders)
    assert set(orders) == set(UrlOrder)


def test_a_site_that_ends_or_leads_back_is_no_maze(state: Database) -> None:
    assert maze(Site(state), 500, dead_end_every=10) == 500
    assert maze(Site(state), 500, back_every=4) == 500


def test_redirects_within_a_host_bring_nothing(state: Database) -> None:
    site = Site(state)
    site.host.pages = 1
    for number in range(20):
        site.kinds.take_in_redirect(site.host, site.url(f"/go/{number}"), site.url(f"/go/{number + 1}"), False)
    assert site.kinds.trap(site.host, site.url("/go/1000"))


def test_redirects_to_pages_are_no_trap(state: Database) -> None:
    site = Site(state)
    for number in range(300):
        site.kinds.take_in_redirect(site.host, site.url(f"/p/{number}"), site.url(f"/p/{number}/title"), False)
        assert site.page(f"/p/{number}/title", prose(number, 80))
        assert not site.kinds.trap(site.host, site.url(f"/p/{number}"))


def test_kinds_that_bring_little_let_others_first(state: Database) -> None:
    site = Site(state)
    for month in range(5):
        site.page(f"/calendar/{month}", "a month", f"/calendar/{month + 1}")
    assert site.kinds.watches(site.host)
    url = site.url("/calendar/9")
    asked = [not site.kinds.has_turn(site.host, url, others_wait=True) for _ in range(130)]
    assert asked == ([True] * 64 + [False]) * 2
    assert site.kinds.has_turn(site.host, site.url("/article/9"), others_wait=True)


def test_a_host_that_has_recovered_is_watched_no_more(state: Database) -> None:
    """The first pages of a site often lead only deeper, as nothing of it is known yet."""
    site = Site(state)
    for number in range(4):
        site.page(f"/a/{number}", prose(f"first {number}", 60), f"/a/{number + 1}", closure=Closure.SECTION)
    assert site.kinds.watches(site.host)
    for number in range(4, 40):
        site.page(f"/a/{number}", prose(f"later {number}", 60), f"/a/{number + 1}", backs=3)
    assert not site.kinds.watches(site.host)
    site.restart()
    assert not site.kinds.watches(site.host)


def test_judgements_survive_a_restart(state: Database) -> None:
    site = Site(state)
    calendar(site, 100)
    site.restart()
    assert site.kinds.trap(site.host, site.url("/calendar/1000"))
    assert [(host, name) for host, name, one in worst_kinds(state, 10) if one.stopped] == [
        ("example.com", "/calendar/0"),
        ("example.com", "/calendar/…"),
    ]
    known = kinds_of(state, 1, site.url("/calendar/5"))
    assert [(name, one.pages, one.stopped) for name, one in known.items()] == [
        ("/calendar/0", 8, True),
        ("/calendar/…", 8, True),
        (ALL, 8, False),
    ]


def test_records_of_hosts_with_many_kinds_leave_memory(state: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many kinds a site shows; and a judgement about it comes back with it."""
    monkeypatch.setattr("pycrawl.state.kinds._PARTS_KEPT", 60)
    site = Site(state)
    calendar(site, 100)
    trap = site.host
    for number in range(10, 20):
        site.host = Host(number, f"host{number}.example")
        for letter in "abcdefghijklmno":
            site.page(f"/{letter}/index.html", prose(f"{number} {letter}", 60))
    assert site.kinds._parts == sum(record.parts for record in site.kinds._records.values()) < 60 + 2 * 16
    assert trap.id not in site.kinds._records
    assert site.kinds.trap(trap, f"http://{trap.key}/calendar/1000")


def test_records_leave_memory_also_while_hosts_that_are_known_show_more_kinds(
    state: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pycrawl.state.kinds._PARTS_KEPT", 60)
    site = Site(state)
    hosts = [Host(number, f"host{number}.example") for number in range(10, 14)]
    for letter in "abcdefghijklmnopqrst":  # all hosts in turns, so that none is ever new when there are too many kinds
        for host in hosts:
            site.host = host
            site.page(f"/{letter}/index.html", prose(f"{host.id} {letter}", 60))
            assert site.kinds._parts == sum(record.parts for record in site.kinds._records.values()) <= 60


def test_judgements_can_be_overruled(state: Database) -> None:
    site = Site(state)
    calendar(site, 100)
    for toml in ('[traps]\nexempt_hosts = ["example.com"]', "[traps]\nnovelty = false"):
        site.restart(toml)
        assert not site.kinds.watches(site.host)
        assert calendar(site, 100) == 100


def test_few_pages_of_a_good_host_are_looked_at_until_one_brings_nothing(state: Database) -> None:
    site = Site(state)

    def looks() -> int:
        return sum(site.kinds.wants_close_look(site.host, site.url(f"/news/x{number}")) for number in range(3_200))

    assert looks() == 3_200
    for number in range(30):
        site.page(f"/news/{number}", prose(number, 80))
    assert 50 < looks() < 150
    site.page("/news/30", prose(29, 80), "/news/31")
    assert looks() == 3_200
    for number in range(31, 47):
        site.page(f"/news/{number}", prose(number, 80))
    assert 50 < looks() < 150


# Probes


def test_a_host_is_probed_once_it_has_shown_some_pages(state: Database) -> None:
    site = Site(state)
    url = site.url("/news/1")
    for number in range(4):
        site.page(f"/news/{number}", prose(number, 80))
        assert not site.kinds.directory_to_probe(site.host, url)
    site.page("/news/4", prose(4, 80))
    assert [site.kinds.directory_to_probe(site.host, url) for _ in range(2)] == ["/"] * 2, "a question changes nothing"
    probe = site.kinds.start_probe(site.host, url, "/")
    assert probe.startswith(site.url("/"))
    assert len(probe) == len(site.url("/")) + 16
    assert not site.kinds.directory_to_probe(site.host, url), "once"
    site.kinds.take_in_probe(site.host, probe, b"")
    assert not site.kinds.directory_to_probe(site.host, url)
    site.page("/news/5", prose(4, 80))
    assert site.kinds.directory_to_probe(site.host, url) == "/news/", "pages of a directory are alike"
    site.restart()
    assert not site.kinds.directory_to_probe(site.host, site.url("/x")), "the answer is remembered"


def test_pages_like_the_answer_to_a_probe_are_soft_404s(state: Database) -> None:
    site = Site(state)
    missing = "Sorry, {} is not here. " + prose("missing", 60)
    for number in range(5):
        site.page(f"/{number}", prose(number, 80))
    probe = site.kinds.start_probe(site.host, site.url("/0"), "/")
    name = probe.rpartition("/")[2]
    site.kinds.take_in_probe(site.host, probe, sample(missing.format(name), probe))
    site.restart()
    for path, text, expected in (("/shoes", missing.format("shoes"), True), ("/hats", prose("hats", 60), False)):
        look = CloseLook("", "", sample(text, site.url(path)))
        assert site.kinds.is_soft_404(site.host, site.url(path), look) is expected


def test_a_probe_that_is_answered_like_all_pages_says_nothing(state: Database) -> None:
    site = Site(state)
    for number in range(5):
        site.page(f"/{number}", f"Page {number} of my small web", f"/{number + 1}")
    probe = site.kinds.start_probe(site.host, site.url("/0"), "/")
    site.kinds.take_in_probe(site.host, probe, sample("Page 0 of my small web", probe))
    for _ in range(2):
        look = CloseLook("", "", sample("Page 7 of my small web", site.url("/7")))
        assert not site.kinds.is_soft_404(site.host, site.url("/7"), look)
        site.restart()


def test_probes_can_be_switched_off(state: Database) -> None:
    for toml in ("[traps]\nsoft_404 = false", '[traps]\nexempt_hosts = ["example.com"]'):
        site = Site(state, toml)
        site.host.pages = 10
        assert not site.kinds.directory_to_probe(site.host, site.url("/"))


# Nothing honest is judged


def novel_share(state: Database, pages: Iterable[tuple[str, str]]) -> float:
    site = Site(state)
    for path, markup in pages:
        assert site.page(path, parse_html(markup.encode(), "text/html", with_text=True).text, f"{path}/next"), (
            f"{path} is taken for a trap"
        )
    known = worst_kinds(state, 1)
    assert not known or not known[0][2].stopped
    return min([one.yield_ for _, _, one in known], default=1.0)


def test_pages_of_one_template_are_new(state: Database) -> None:
    pages = trapweb.magazine("a magazine", 1_000)
    assert novel_share(state, [(path, answer.body) for path, answer in pages.items()]) > 0.95


@pytest.mark.parametrize("mean_page_bytes", [4_000, 11_000])
def test_the_synthetic_web_is_honest(state: Database, mean_page_bytes: int) -> None:
    """Its pages are put together from 2,048 paragraphs."""
    web = SimWeb(SimWebSettings.plain(hosts=1, pages=1_500, mean_page_bytes=mean_page_bytes))
    pages = [(path_and_query(page.url), page.body().decode()) for page in web.pages(PageKind.CONTENT)]
    assert novel_share(state, pages) > 0.9


def test_articles_are_new(state: Database) -> None:
    if not ARTICLES.is_dir():
        pytest.skip(f"{ARTICLES} is missing")
    names = Counter(json.loads((ARTICLES / "ground-truth.json").read_text("utf-8")).keys())
    bodies = [gzip.decompress((ARTICLES / "html" / f"{name}.html.gz").read_bytes()) for name in names]
    pages = [(f"/article/{number}", body.decode("utf-8", "ignore")) for number, body in enumerate(bodies)]
    assert novel_share(state, pages) > 0.9
