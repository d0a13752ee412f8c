"""The web itself, without a server: determinism, shape, ground truth."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import urljoin

import pytest

from pycrawl.errors import UsageError
from pycrawl.simweb import Page, PageKind, SimWeb, SimWebSettings
from tests.simweb.conftest import SETTINGS

FAULTY = replace(SETTINGS, port=8900)
DIGEST_OF_WEB = """
import sys
from hashlib import sha256
from pycrawl.simweb import SimWeb, SimWebSettings
web = SimWeb(SimWebSettings(seed=3, hosts=5, pages=60, port=8900))
print(sha256(b"".join(page.url.encode() + page.body(2) for page in web.pages())).hexdigest())
"""


class Anchors(HTMLParser):
    """The links of a page as a browser reads them."""

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.base = page.url
        self.urls: list[str] = []
        self.feed(page.body().decode("ascii"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        href = dict(attributes).get("href") if tag == "a" else None
        if href is not None:
            self.urls.append(urljoin(self.base, href.strip()))


def web_of(**settings: object) -> SimWeb:
    return SimWeb(SimWebSettings(**settings))  # type: ignore[arg-type]


def test_the_same_seed_gives_the_same_bytes_in_another_process() -> None:
    web = web_of(seed=3, hosts=5, pages=60)
    here = sha256(b"".join(page.url.encode() + page.body(2) for page in web.pages())).hexdigest()
    there = subprocess.run([sys.executable, "-c", DIGEST_OF_WEB], capture_output=True, text=True, check=True).stdout
    assert there.strip() == here


def test_bytes_do_not_depend_on_what_was_asked_before() -> None:
    web = web_of(hosts=9_000, pages=30_000)  # more hosts than are kept in memory
    page = web.page_number(1_500)
    body = page.body()
    for host in web.hosts:
        assert host.size
    assert page.body() == body == web.page_number(1_500).body()


def test_another_seed_gives_another_web() -> None:
    assert web_of(seed=1).page_number(3).body() != web_of(seed=2).page_number(3).body()


def test_bodies_are_those_of_html_pages() -> None:
    body = web_of().page_number(0).body()
    assert body.startswith(b"<!DOCTYPE html>")
    assert body.endswith(b"</html>\n")
    assert body.count(b"<title>") == 1


def test_every_body_is_unique_but_for_duplicates() -> None:
    web = SimWeb(FAULTY)
    originals = [page.body() for page in web.pages(PageKind.CONTENT, PageKind.FLAKY, PageKind.DISALLOWED)]
    assert len(set(originals)) == len(originals)
    copies = list(web.pages(PageKind.DUPLICATE))
    assert copies
    assert all(copy.body() in originals for copy in copies)


def test_links_in_the_html_are_the_links_of_the_page() -> None:
    web = SimWeb(FAULTY)
    for page in web.pages():
        if page.status == 200:
            assert {web.page(url).url for url in Anchors(page).urls} == set(page.links)


def test_links_are_written_in_many_ways() -> None:
    web = SimWeb(FAULTY)
    text = b"".join(page.body() for page in web.pages(PageKind.CONTENT)).decode("ascii")
    for way in ('"http://', '"HTTP://', '"/', '"../', '"./', "#part-", "?utm_source", "&amp;utm_source", "?id=", '"  '):
        assert way in text, way


def test_all_pages_are_reached_by_links_from_content_alone() -> None:
    web = SimWeb(FAULTY)
    found, todo = set(web.seeds), list(web.seeds)
    while todo:
        page = web.page(todo.pop())
        if page.kind is PageKind.CONTENT:
            new = set(page.links) - found
            found |= new
            todo += new
    assert found == {page.url for page in web.pages()}


@pytest.mark.parametrize(("hosts", "pages"), [(1, 1), (1, 2), (7, 7), (20, 25), (3, 500), (200, 1000)])
def test_page_counts_are_exact(hosts: int, pages: int) -> None:
    web = SimWeb(replace(FAULTY, hosts=hosts, pages=pages))
    assert len({page.url for page in web.pages()}) == pages
    assert min(host.size for host in web.hosts) >= 1
    assert [web.page(page.url) for page in web.pages()] == list(web.pages())
    assert all(web.page_number(page.number) == page for page in web.pages())


def test_shares_of_kinds_hold() -> None:
    web = web_of(hosts=400, pages=20_000, redirect_share=0.05, error_share=0.08, duplicates_share=0.04)
    counts = Counter(page.kind for page in web.pages())
    for kind, share in {
        PageKind.REDIRECT: 0.05,
        PageKind.MISSING: 0.04,
        PageKind.BROKEN: 0.02,
        PageKind.FLAKY: 0.02,
        PageKind.DUPLICATE: 0.04,
    }.items():
        assert counts[kind] == pytest.approx(share * 20_000, rel=0.15), kind
    assert sum(host.has_rules for host in web.hosts) == 80


def test_a_plain_web_has_no_faults() -> None:
    web = SimWeb(SimWebSettings.plain(hosts=30, pages=600))
    assert {page.kind for page in web.pages()} == {PageKind.CONTENT}
    assert len(web.reachable()) == 600
    assert web.expected_requests() == 630
    assert not any(host.has_rules for host in web.hosts)
    assert b"utm_" not in b"".join(page.body() for page in web.pages())


def test_host_sizes_and_in_degrees_are_skewed_like_zipf() -> None:
    web = SimWeb(SimWebSettings.plain(hosts=100, pages=4_000))
    sizes = [host.size for host in web.hosts]
    assert all(left + 1 >= right for left, right in pairwise(sizes))  # but for rounding
    assert sizes[0] / sizes[9] == pytest.approx(10, rel=0.1)
    degrees = sorted(Counter(url for page in web.pages() for url in page.links).values(), reverse=True)
    assert degrees[0] > 20 * degrees[len(degrees) // 2]
    assert sum(degrees[:400]) > 0.4 * sum(degrees)


def test_hosts_are_alike_without_skew() -> None:
    web = SimWeb(SimWebSettings.plain(hosts=10, pages=1_000, host_skew=0.0))
    assert {host.size for host in web.hosts} <= {99, 100, 101}


@pytest.mark.parametrize(("mean", "links"), [(12_000, 20), (27_000, 45)])
def test_sizes_and_links_are_as_asked_on_average(mean: int, links: int) -> None:
    web = SimWeb(SimWebSettings.plain(hosts=20, pages=2_000, mean_page_bytes=mean, links_per_page=links))
    sample = [web.page_number(number) for number in range(0, 2_000, 5)]
    assert sum(len(page.body()) for page in sample) / len(sample) == pytest.approx(mean, rel=0.1)
    assert sum(len(page.links) for page in sample) / len(sample) == pytest.approx(links, rel=0.2)


def test_redirects_end_at_content_after_two_hops_at_most() -> None:
    web = web_of(hosts=5, pages=2_000, redirect_share=0.2)
    hops: Counter[int] = Counter()
    for page in web.pages(PageKind.REDIRECT):
        target, count = page, 0
        while target.redirect_target:
            target, count = web.page(target.redirect_target), count + 1
        assert target.kind is PageKind.CONTENT
        hops[count] += 1
    assert hops[1] > hops[2] > 0
    assert set(hops) == {1, 2}


def test_versions_change_an_exact_and_known_share() -> None:
    web = SimWeb(SimWebSettings.plain(hosts=10, pages=500, change_share=0.1, mean_page_bytes=2_000))
    first = web.changed(0, 1)
    assert len(first) == 50
    assert web.changed(1, 1) == set()
    assert web.changed(0, 2) == first | web.changed(1, 2)
    for page in web.pages():
        differs = page.url in first
        assert (page.body(0) != page.body(1)) is differs
        assert (page.etag(0) != page.etag(1)) is differs
        assert (page.modified_at(0) < page.modified_at(1)) is differs
        assert page.body(0) != page.body(1) or page.last_modified(0) == page.last_modified(1)


def test_duplicates_change_with_their_original() -> None:
    web = web_of(hosts=2, pages=400, duplicates_share=0.3, change_share=0.5)
    bodies = {page.body(3) for page in web.pages(PageKind.CONTENT)}
    assert all(page.body(3) in bodies for page in web.pages(PageKind.DUPLICATE))


def test_unknown_urls_are_no_pages() -> None:
    web = web_of()
    home = web.seeds[0]
    for url in ("", "nonsense", "http://127.1.0.1:1/", "http://127.1.9.9:8900/", f"{home}x", f"{home}news/x-1.html"):
        with pytest.raises(KeyError):
            web.page(url)
    assert web.page(f"{home}?utm_source=feed#top").url == home


@pytest.mark.parametrize(
    "wrong",
    [{"hosts": 0}, {"pages": 3}, {"port": 70_000}, {"error_share": 1.5}, {"redirect_share": 0.9}, {"latency": -1}],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        web_of(**wrong)


def test_settings_cross_processes() -> None:
    assert pickle.loads(pickle.dumps(SETTINGS)) == SETTINGS


def test_a_million_pages_cost_little_memory() -> None:
    tracemalloc.start()
    try:
        web = web_of(hosts=20_000, pages=1_000_000)
        for number in range(0, 1_000_000, 5_000):
            assert web.page_number(number).body()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000
