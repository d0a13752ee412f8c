"""The judgements: which kinds of pages are traps, and that nothing honest is one."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from pycrawl import config
from pycrawl.model import NO_LINKS, Closure, PackedLinks, Search, Traits
from pycrawl.parse.html import parse_html
from pycrawl.simweb import PageKind, SimWebSettings
from pycrawl.simweb.web import SimWeb
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host
from pycrawl.state.patterns import Patterns, kinds_of, worst_patterns
from pycrawl.traps.novelty import LEAST_PAGES
from pycrawl.traps.page_traits import ALL, band_keys, sample, section, shape
from pycrawl.urls.parts import path_and_query
from tests.e2e import trapweb
from tests.e2e.trapweb import prose
from tests.traps.test_judgement import Links

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
        self.patterns = Patterns(self._database, config.parse(toml))
        for number in range(self._good_pages):
            url = f"http://good.example/{number}"
            pairs = sample(prose(f"good {number}", 60), url)
            traits = Traits("/0", "/…", pairs, tuple(band_keys(pairs, 2)))
            self.patterns.take_in_page(Host(2, "good.example"), url, 1, traits, NO_LINKS)

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
        bands = tuple(band_keys(pairs, self.host.id))
        traits = Traits(shape(url), section(url), pairs, bands, closure, backs)
        texts = [self.url(target) for target in targets]
        links = PackedLinks(bytes(8 * len(texts)), "\n".join(texts).encode(), len(texts))
        self.host.pages += 1
        self.patterns.take_in_page(self.host, url, depth, traits, links)
        return not (self.patterns.watches(self.host) and self.patterns.trap(self.host, url))

    def restart(self, toml: str = "") -> None:
        self.patterns.flush()
        self._open(toml)


def calendar(site: Site, most: int) -> int:
    """How many months of a calendar without events are asked for."""
    for month in range(1, most):
        if not site.page(f"/calendar/{month}", f"Month {month}. {prose('nothing', 60)}", f"/calendar/{month + 1}"):
            return month
    return most


def test_a_calendar_stops_and_says_why(state: Database) -> None:
    site = Site(state)
    assert calendar(site, 100) == 8
    why = site.patterns.trap(site.host, site.url("/calendar/1000"))
    assert why.startswith("example.com/calendar/0: 8 pages, yield 0.3")
    assert site.patterns.trap(site.host, site.url("/calendar/2/3/4")), "its section stops with it"


def test_where_most_pages_are_dull_dull_ones_are_no_trap(state: Database) -> None:
    assert calendar(Site(state, good_pages=0), 1_000) == 1_000
    assert calendar(Site(state, good_pages=0), 3_000) == 2_000, "but it ends"


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
        closure, backs = links.look(site.url(path), *map(site.url, targets))
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
    site.patterns.flush()
    stopped = [one for one in kinds_of(state, 1, site.url("/p/1")).values() if one.stopped]
    assert stopped
    assert all(LEAST_PAGES < one.promise <= one.pages == number + 1 < 100 for one in stopped)


def test_a_good_kind_goes_on_where_another_has_stopped(state: Database) -> None:
    site = Site(state)
    for number in range(20):
        assert site.page(f"/shop/item-{number}", prose(number, 100))
    number = 0
    while site.page(f"/shop/list?color={number}", prose("list", 100), f"/shop/list?color={number + 1}"):
        number += 1
    assert number < 10
    assert site.patterns.trap(site.host, site.url("/shop/list?color=1000"))
    assert not site.patterns.trap(site.host, site.url("/shop/item-1000"))
    assert not site.patterns.trap(site.host, site.url("/other/page"))


def test_all_combinations_of_parameters_are_one_kind(state: Database) -> None:
    site = Site(state)
    cards = [prose(number, 12) for number in range(40)]
    chance = np.random.default_rng(1)
    asked = 0
    for number in range(200):
        names = chance.choice(8, 3, replace=False)
        path = "/search?" + "&".join(f"{'abcdefgh'[name]}={number}" for name in names)
        if site.patterns.trap(site.host, site.url(path)):
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
    assert "lead only deeper" in site.patterns.trap(site.host, site.url("/maze/1000"))


def test_a_long_row_of_pages_is_no_maze_for_long(state: Database) -> None:
    site = Site(state)
    number = 1
    while site.page(f"/row/{number}", prose(number, 60), f"/row/{number + 1}", depth=number, closure=Closure.SECTION):
        number += 1
    assert 600 <= number <= 700


def test_the_way_down_is_tried_when_a_host_may_be_a_maze(state: Database) -> None:
    site = Site(state)
    searches = []
    for number in range(30):
        url = site.url(f"/maze/{number}")
        targets = [site.url(f"/maze/{number}-{place}") for place in range(10)]
        links = PackedLinks(bytes(80), "\n".join(targets).encode(), 10)
        pairs = sample(prose(number, 80), url)
        traits = Traits(shape(url), section(url), pairs, tuple(band_keys(pairs, 1)), Closure.SECTION)
        searches.append(site.patterns.take_in_page(site.host, url, 1, traits, links))
    assert searches == sorted(searches)
    assert set(searches) == set(Search)


def test_a_site_that_ends_or_leads_back_is_no_maze(state: Database) -> None:
    assert maze(Site(state), 500, dead_end_every=10) == 500
    assert maze(Site(state), 500, back_every=4) == 500


def test_redirects_within_a_host_bring_nothing(state: Database) -> None:
    site = Site(state)
    site.host.pages = 1
    for number in range(20):
        site.patterns.take_in_redirect(site.host, site.url(f"/go/{number}"), site.url(f"/go/{number + 1}"), False)
    assert site.patterns.trap(site.host, site.url("/go/1000"))


def test_redirects_to_pages_are_no_trap(state: Database) -> None:
    site = Site(state)
    for number in range(300):
        site.patterns.take_in_redirect(site.host, site.url(f"/p/{number}"), site.url(f"/p/{number}/title"), False)
        assert site.page(f"/p/{number}/title", prose(number, 80))
        assert not site.patterns.trap(site.host, site.url(f"/p/{number}"))


def test_kinds_that_bring_little_let_others_first(state: Database) -> None:
    site = Site(state)
    for month in range(5):
        site.page(f"/calendar/{month}", "a month", f"/calendar/{month + 1}")
    assert site.patterns.watches(site.host)
    asked = [site.patterns.lets_others_first(site.host, site.url("/calendar/9")) for _ in range(130)]
    assert asked == ([True] * 64 + [False]) * 2
    assert not site.patterns.lets_others_first(site.host, site.url("/article/9"))


def test_a_host_that_has_recovered_is_watched_no_more(state: Database) -> None:
    """The first pages of a site often lead only deeper, as nothing of it is known yet."""
    site = Site(state)
    for number in range(4):
        site.page(f"/a/{number}", prose(f"first {number}", 60), f"/a/{number + 1}", closure=Closure.SECTION)
    assert site.patterns.watches(site.host)
    for number in range(4, 40):
        site.page(f"/a/{number}", prose(f"later {number}", 60), f"/a/{number + 1}", backs=3)
    assert not site.patterns.watches(site.host)
    site.restart()
    assert not site.patterns.watches(site.host)


def test_judgements_survive_a_restart(state: Database) -> None:
    site = Site(state)
    calendar(site, 100)
    site.restart()
    assert site.patterns.trap(site.host, site.url("/calendar/1000"))
    assert [(host, name) for host, name, one in worst_patterns(state, 10) if one.stopped] == [
        ("example.com", "/calendar/0"),
        ("example.com", "/calendar/…"),
    ]
    known = kinds_of(state, 1, site.url("/calendar/5"))
    assert [(name, one.pages, one.stopped) for name, one in known.items()] == [
        ("/calendar/0", 8, True),
        ("/calendar/…", 8, True),
        (ALL, 8, False),
    ]


def test_judgements_can_be_overruled(state: Database) -> None:
    site = Site(state)
    calendar(site, 100)
    for toml in ('[traps]\nexempt_hosts = ["example.com"]', "[traps]\nnovelty = false"):
        site.restart(toml)
        assert not site.patterns.watches(site.host)
        assert calendar(site, 100) == 100


def test_few_pages_of_a_good_host_are_looked_at_until_one_brings_nothing(state: Database) -> None:
    site = Site(state)

    def looks() -> int:
        return sum(site.patterns.looks_at(site.host, site.url("/news/x")) for _ in range(160))

    assert looks() == 160
    for number in range(30):
        site.page(f"/news/{number}", prose(number, 80))
    assert looks() == 5
    site.page("/news/30", prose(29, 80), "/news/31")
    assert looks() == 160
    for number in range(31, 47):
        site.page(f"/news/{number}", prose(number, 80))
    assert looks() == 5


# Probes


def test_a_host_is_probed_once_it_has_shown_some_pages(state: Database) -> None:
    site = Site(state)
    url = site.url("/news/1")
    for number in range(4):
        site.page(f"/news/{number}", prose(number, 80))
        assert not site.patterns.probe(site.host, url)
    site.page("/news/4", prose(4, 80))
    probe = site.patterns.probe(site.host, url)
    assert probe.startswith(site.url("/"))
    assert len(probe) == len(site.url("/")) + 16
    assert not site.patterns.probe(site.host, url), "once"
    site.patterns.take_in_probe(site.host, probe, b"")
    assert not site.patterns.probe(site.host, url)
    site.page("/news/5", prose(4, 80))
    assert site.patterns.probe(site.host, url).startswith(site.url("/news/")), "pages of a directory are alike"
    site.restart()
    assert not site.patterns.probe(site.host, site.url("/x")), "the answer is remembered"


def test_pages_like_the_answer_to_a_probe_are_soft_404s(state: Database) -> None:
    site = Site(state)
    missing = "Sorry, {} is not here. " + prose("missing", 60)
    for number in range(5):
        site.page(f"/{number}", prose(number, 80))
    probe = site.patterns.probe(site.host, site.url("/0"))
    name = probe.rpartition("/")[2]
    site.patterns.take_in_probe(site.host, probe, sample(missing.format(name), probe))
    site.restart()
    for path, text, expected in (("/shoes", missing.format("shoes"), True), ("/hats", prose("hats", 60), False)):
        traits = Traits("", "", sample(text, site.url(path)))
        assert site.patterns.is_soft_404(site.host, site.url(path), traits) is expected


def test_a_probe_that_is_answered_like_all_pages_says_nothing(state: Database) -> None:
    site = Site(state)
    for number in range(5):
        site.page(f"/{number}", f"Page {number} of my small web", f"/{number + 1}")
    probe = site.patterns.probe(site.host, site.url("/0"))
    site.patterns.take_in_probe(site.host, probe, sample("Page 0 of my small web", probe))
    for _ in range(2):
        traits = Traits("", "", sample("Page 7 of my small web", site.url("/7")))
        assert not site.patterns.is_soft_404(site.host, site.url("/7"), traits)
        site.restart()


def test_probes_can_be_switched_off(state: Database) -> None:
    for toml in ("[traps]\nsoft_404 = false", '[traps]\nexempt_hosts = ["example.com"]'):
        site = Site(state, toml)
        site.host.pages = 10
        assert not site.patterns.probe(site.host, site.url("/"))


# Nothing honest is judged


def novel_share(state: Database, pages: Iterable[tuple[str, str]]) -> float:
    site = Site(state)
    for path, markup in pages:
        assert site.page(path, parse_html(markup.encode(), "text/html", with_text=True).text, f"{path}/next"), (
            f"{path} is taken for a trap"
        )
    known = worst_patterns(state, 1)
    assert not known or not known[0][2].stopped
    return min([one.value for _, _, one in known], default=1.0)


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
