"""Sites without end beside honest ones: what a crawl spends on each."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from tests.e2e import trapweb
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.trapweb import (
    TRAPS,
    Answer,
    Host,
    TrapWeb,
    archive,
    document,
    links,
    magazine,
    prose,
    site,
    tree,
    with_template,
)

HONEST = 50
TRAP_HOSTS = 20
WITH_PROBES: Settings = {"traps": {"soft_404": True}}


def honest_site(number: int, abroad: list[str]) -> dict[str, Answer]:
    """About 100 pages, in one of three styles."""
    if number % 5 == 3:
        return tree(f"honest {number}", 2, 9)
    if number % 5 == 4:
        return archive(f"honest {number}", 2, 3)
    return magazine(f"honest {number}", 88, abroad if number == 0 else abroad[number * 7 % len(abroad) :][:3])


@pytest.mark.timeout(180)
def test_traps_get_a_tenth_of_the_requests_at_the_most(make_crawl: MakeCrawl) -> None:
    with TrapWeb(HONEST + TRAP_HOSTS) as web:
        abroad = [web.url(number) + "/" for number in range(1, HONEST + TRAP_HOSTS)]
        sites = [honest_site(number, abroad) for number in range(HONEST)]
        for number, pages in enumerate(sites):
            web.serve(number, site(pages))
        for number in range(TRAP_HOSTS):
            web.serve(HONEST + number, TRAPS[number % len(TRAPS)](number))
        crawl = make_crawl([web.url(0) + "/"], WITH_PROBES)
        crawl.run("crawl", "--max-pages", str(2 * sum(map(len, sites))))
        for number, pages in enumerate(sites):
            assert not set(pages) - web.pages(number)
            assert web.requests(number) <= len(pages) + 5, "robots.txt and probes"
        honest = sum(web.requests(number) for number in range(HONEST))
        spent = {number: web.requests(number) for number in range(HONEST, HONEST + TRAP_HOSTS)}
        assert honest / (honest + sum(spent.values())) >= 0.9, spent
        facts = crawl.stats()
        assert facts["last_crawl"]["ended_by"] == "finished"
        assert facts["filtered"]["trap"] > 0
        addresses = {f"{web.address(number)}:{web.port}" for number in range(HONEST, HONEST + TRAP_HOSTS)}
        stopped = {trap["host"] for trap in facts["traps"] if trap["stopped"]}
        assert stopped
        assert stopped <= addresses
        crawl.verify()


@pytest.mark.timeout(180)
def test_large_honest_sites_are_crawled_whole(make_crawl: MakeCrawl) -> None:
    """Pages of lists 100 deep, a calendar of bare numbers over ten years, a binary tree: and not one is judged."""
    sites = [magazine("large", 1_000), archive("old", 10, 10), tree("directory", 8, 2)]
    with TrapWeb(len(sites)) as web:
        for number, pages in enumerate(sites):
            web.serve(number, site(pages))
        crawl = make_crawl([web.url(number) + "/" for number in range(len(sites))], WITH_PROBES)
        crawl.run("crawl")
        for number, pages in enumerate(sites):
            assert not set(pages) - web.pages(number)
        facts = crawl.stats()
        assert "trap" not in facts["filtered"]
        assert not facts["soft_404"]
        assert not [trap for trap in facts["traps"] if trap["stopped"]]


def dull_site(number: int, pages: int, shape: str) -> dict[str, Answer]:
    """A site such as people make to try a crawler on: its pages say nothing but which they are."""
    chance = Random(f"{number} {shape}")
    paths = ["/", *(f"/p/{page}.html" for page in range(1, pages))]
    made = {}
    for page, path in enumerate(paths):
        if shape == "web":
            targets = [paths[(page + 1) % pages], *chance.choices(paths, k=8)]
        elif shape == "tree":
            targets = paths[2 * page + 1 : 2 * page + 3]
        else:
            targets = paths[page + 1 : page + 2]
        made[path] = document(f"Page {page}", f"<h1>Page {page} of host {number}</h1>", links(targets))
    return made


@pytest.mark.timeout(180)
@pytest.mark.parametrize("good", [0, 10])
def test_dull_sites_are_crawled_whole(make_crawl: MakeCrawl, good: int) -> None:
    """A crawl of nothing else, of all shapes; and among good sites those that look finite."""
    shapes = ["web", "web"] if good else ["web", "tree", "row"]
    sites = [dull_site(number, 100, shape) for number, shape in enumerate(shapes)]
    sites += [magazine(f"good {number}", 60) for number in range(good)]
    with TrapWeb(len(sites)) as web:
        for number, pages in enumerate(sites):
            web.serve(number, site(pages))
        crawl = make_crawl([web.url(number) + "/" for number in range(len(sites))], WITH_PROBES)
        crawl.run("crawl")
        assert [len(set(pages) - web.pages(number)) for number, pages in enumerate(sites)] == [0] * len(sites)
        assert not crawl.stats()["soft_404"]


def test_a_dull_site_that_answers_everything_is_crawled_whole(make_crawl: MakeCrawl) -> None:
    """Each of its pages is like what it says of pages that cannot exist."""
    filler = f"<p>{prose('filler', 60)}</p>"
    pages = {path: Answer(one.body + filler) for path, one in dull_site(1, 100, "web").items()}
    with TrapWeb(1) as web:
        web.serve(0, lambda path: pages.get(path) or pages["/p/1.html"])
        crawl = make_crawl([web.url(0) + "/"], WITH_PROBES)
        crawl.run("crawl")
        assert not set(pages) - web.pages(0)
        assert set(web.pages(0)) - set(pages), "it was probed"
        assert not crawl.stats()["soft_404"]


def crawl_of(make_crawl: MakeCrawl, web: TrapWeb, host: Host, settings: Settings) -> Crawl:
    """A site to be judged, on host 0, and a good one."""
    web.serve(0, host)
    web.serve(1, site(magazine("good company", 60)))
    crawl = make_crawl([web.url(0) + "/", web.url(1) + "/"], settings)
    crawl.run("crawl", "--max-pages", "200")
    return crawl


def test_each_trap_is_left_soon(make_crawl: MakeCrawl) -> None:
    with TrapWeb(2 * len(TRAPS)) as web:
        for number, trap in enumerate(TRAPS):
            web.serve(number, trap(100 + number))
            web.serve(len(TRAPS) + number, site(magazine(f"good {number}", 30)))
        crawl = make_crawl([web.url(number) + "/" for number in range(2 * len(TRAPS))])
        crawl.run("crawl", "--max-pages", "2000")
        spent = {str(trap): web.requests(number) for number, trap in enumerate(TRAPS)}
        assert max(spent.values()) <= 50, spent
        assert crawl.stats()["last_crawl"]["ended_by"] == "finished"


def test_judgements_are_explained_and_survive_a_restart(make_crawl: MakeCrawl) -> None:
    with TrapWeb(2) as web:
        crawl = crawl_of(make_crawl, web, trapweb.calendar_in_path(1), {})
        before = web.requests(0)
        (url,) = crawl.query("SELECT url FROM visits JOIN urls ON urls.id = url_id WHERE outcome = 'trap' LIMIT 1")[0]
        facts = crawl.why(url)
        assert facts["visit"]["outcome"] == "trap"
        assert "/calendar/0/0/: " in facts["visit"]["detail"]
        shape = facts["kinds"][0]
        assert shape["kind"] == "/calendar/0/0/"
        assert shape["stopped"]
        assert shape["yield"] < 0.4
        assert f"pages like /calendar/0/0/: {shape['pages']}" in crawl.run("why", "--verbose", url).stdout
        assert "trap  " in crawl.run("stats").stdout
        crawl.run("add", web.url(0) + "/calendar/1950/1/")
        crawl.run("crawl")
        assert web.requests(0) == before + 1, "a seed is fetched, its links are of a kind that was judged"


def test_a_host_can_be_exempt(make_crawl: MakeCrawl) -> None:
    with TrapWeb(2) as web:
        settings: Settings = {"traps": {"exempt_hosts": [web.address(0)], "soft_404": True}}
        crawl = crawl_of(make_crawl, web, trapweb.calendar_in_path(1), settings)
        last = crawl.stats()["last_crawl"]
        assert (last["pages"], last["ended_by"]) == (200, "max-pages")
        assert web.pages(0) <= {"/", "/about", *filter(re.compile("/calendar/[0-9]+/[0-9]+/").fullmatch, web.pages(0))}


def soft_404_shop(path: str) -> Answer:
    """Ten pages; of any other the shop says, with all politeness, that it has none."""
    number = path.removeprefix("/item")
    if path == "/" or number in map(str, range(10)):
        targets = [f"/item{one}" for one in range(20)]
        return with_template("shop", f"Item {path}", f"<p>{prose(path, 100)}</p>", links(targets, "item"))
    return with_template(
        "shop", "Sorry", f"<p>{path} is sold out. {prose('sold out', 60)}</p>", links([path + "x"], "x")
    )


def test_soft_404s_are_marked_not_stored_and_not_followed(make_crawl: MakeCrawl) -> None:
    with TrapWeb(2) as web:
        crawl = crawl_of(make_crawl, web, soft_404_shop, WITH_PROBES)
        facts = crawl.stats()
        assert facts["soft_404"] >= 8
        assert facts["pages_stored"] == facts["pages_fetched"] - facts["soft_404"]
        assert crawl.why(web.url(0) + "/item19")["visit"]["outcome"] == "soft-404"
        assert crawl.why(web.url(0) + "/item3")["visit"]["outcome"] == "fetched"
        probes = [path for path in web.pages(0) if len(path) == 17]
        assert len(probes) == 1
        lines = "".join(file.read_text() for file in crawl.directory.log.glob("fetches-*.tsv"))
        assert f"\tprobe\t{web.address(0)}:{web.port}\t" in lines
        assert probes[0] in lines
        assert "/item19x" not in web.pages(0)


def test_probes_keep_to_robots_txt(make_crawl: MakeCrawl) -> None:
    with TrapWeb(2, robots="User-agent: *\nDisallow: /\nAllow: /item\nAllow: /$\n") as web:
        crawl = crawl_of(make_crawl, web, soft_404_shop, WITH_PROBES)
        assert all(path.startswith("/item") for path in web.pages(0) - {"/"})
        assert not crawl.stats()["soft_404"]


def test_limits_on_urls_are_counted_by_reason(make_crawl: MakeCrawl) -> None:
    wanted = ["/a/a/a/b", "/x?" + "&".join(f"p{one}=1" for one in range(5))]
    refused = {
        "repeated-segments": "/a/b/a/b/a/b/a/b",
        "too-many-segments": "/" + "/".join(map(str, range(13))),
        "too-many-parameters": "/x?" + "&".join(f"p{one}=1" for one in range(6)),
    }
    pages = {"/": with_template("limits", "Limits", links([*wanted, *refused.values()]), navigation=[])}
    settings: Settings = {"traps": {"max_path_segments": 12, "max_query_parameters": 5}}
    with TrapWeb(2) as web:
        crawl = crawl_of(make_crawl, web, site(pages), settings)
        assert web.pages(0) == {"/", *wanted}
        assert crawl.stats()["filtered"] == dict.fromkeys(refused, 1)
        for reason, path in refused.items():
            assert json.loads(crawl.run("why", "--json", web.url(0) + path).stdout)["scope"] == reason
