"""Sitemaps against a real server: pages that only they name are found, hits are hits, bad ones are harmless."""

from __future__ import annotations

import gzip
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing

import pytest

from pycrawl.simweb import SimServer, SimWebSettings
from pycrawl.state.database import Database
from pycrawl.state.links import Links
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl
from tests.e2e.site import Reply, Site, page

XML = "application/xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(*locs: str, more: str = "", namespace: str = NAMESPACE) -> str:
    urls = "".join(f"<url><loc>{loc}</loc>{more}</url>" for loc in locs)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{namespace}">{urls}</urlset>'


def index(*locs: str) -> str:
    sitemaps = "".join(f"<sitemap><loc>{loc}</loc></sitemap>" for loc in locs)
    return f'<?xml version="1.0"?><sitemapindex xmlns="{NAMESPACE}">{sitemaps}</sitemapindex>'


def zipped(text: str, content_type: str = "application/gzip", **headers: str) -> Reply:
    body = gzip.compress(text.encode()).decode("latin-1")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(body, content_type=content_type, headers=named, encoding="latin-1")


def robots(*lines: str) -> Reply:
    return Reply("\n".join(lines), content_type="text/plain")


def paths(site: Site) -> set[str]:
    return set(site.asked) - {"/robots.txt"}


def stored(crawl: Crawl, site: Site) -> set[str]:
    return {url.removeprefix(site.url) for url in crawl.documents_by_url()}


def test_pages_that_only_sitemaps_name(make_crawl: MakeCrawl) -> None:
    with Site({"/": page(text="home")}) as site:
        one = site.url
        names = [f"/only/{name}" for name in "xml gz encoded deep text rss atom cdata wrong lang de".split()]
        site.pages |= {path: page(text=f"what {path} says") for path in names}
        alternate = f'<xhtml:link xmlns:xhtml="x" rel="alternate" hreflang="de" href="{one}/only/de"/>'
        image = '<image:image xmlns:image="i"><image:loc>http://images.example/x.png</image:loc></image:image>'
        site.pages |= {
            "/robots.txt": robots("User-agent: *", "Disallow: /private/", f"Sitemap: {one}/index.xml",
                                  f"sitemap: {one}/private/map.xml"),
            "/index.xml": Reply(index(f"{one}/a.xml", f"{one}/b.xml.gz", f"{one}/c.xml", f"{one}/deeper.xml",
                                      f"{one}/t.txt", f"{one}/rss.xml", f"{one}/atom.xml", f"{one}/odd.xml"),
                                content_type=XML),
            "/a.xml": Reply(urlset(f"{one}/only/xml"), content_type=XML),
            "/b.xml.gz": zipped(urlset(f"{one}/only/gz")),
            "/c.xml": zipped(urlset(f"{one}/only/encoded"), XML, Content_Encoding="gzip"),
            "/deeper.xml": Reply(index(f"{one}/deepest.xml"), content_type=XML),
            "/deepest.xml": Reply(urlset(f"{one}/only/deep", f"{one}/private/denied"), content_type="text/plain"),
            "/t.txt": Reply(f"\ufeff{one}/only/text\r\n\r\n", content_type="text/plain"),
            "/rss.xml": Reply(f'<rss version="2.0"><channel><link>{one}/</link><item><link>{one}/only/rss</link></item>'
                              "</channel></rss>", content_type=XML),
            "/atom.xml": Reply(f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{one}/only/atom"/>'
                               "</entry></feed>", content_type=XML),
            "/odd.xml": Reply(
                f'\n <sm:urlset xmlns:sm="http://wrong.example/"><sm:url><sm:loc><![CDATA[ {one}/only/cdata ]]>'
                "</sm:loc>"
                f"{image}</sm:url><sm:url><sm:loc>{one}/only/lang</sm:loc>{alternate}<sm:priority>0.9</sm:priority>"
                f"<sm:changefreq>daily</sm:changefreq><sm:lastmod>2020-02-01</sm:lastmod></sm:url>"
                f"<sm:url><sm:loc>{one}/only/wrong</sm:loc></sm:url></sm:urlset>", content_type=XML),
        }  # fmt: skip
        crawl = make_crawl([f"{one}/"])
        crawl.run("crawl")

        assert stored(crawl, site) == {"/", *names}
        assert not any(path.startswith("/private/") for path in site.asked)
        assert max(site.times().values()) == 1
        assert "images.example" not in str(crawl.query("SELECT url FROM urls"))
        facts = crawl.stats()
        assert facts["pages_fetched"] == facts["pages_stored"] == len(names) + 1
        assert facts["sitemaps"]["known"] == 11
        assert facts["sitemaps"]["visits"] == {"read": 10, "robots-denied": 1}
        assert not facts["errors"]
        found = crawl.why(f"{one}/only/deep")["found"]
        assert [step["via"] for step in found] == ["sitemap", "sitemap", "sitemap", "robots", "seed"]
        assert f"named by sitemap {one}/deepest.xml" in crawl.run("why", f"{one}/only/deep").stdout
        says = crawl.why(f"{one}/only/lang")["sitemap_says"]
        assert (says["changefreq"], says["priority"], says["lastmod"]) == ("daily", 0.9, 1_580_515_200)
        assert crawl.why(f"{one}/index.xml")["source"]["entries"] == 8
        crawl.verify()

        site.asked.clear()
        crawl.run("crawl")  # nothing is due
        assert not site.asked


def test_a_sitemap_is_read_again_when_it_is_due(make_crawl: MakeCrawl) -> None:
    with Site({}) as site:
        site.pages |= {f"/{name}": page(text=name) for name in "abc"}
        site.pages["/map.xml"] = Reply(urlset(f"{site.url}/a"), content_type=XML, headers={"ETag": '"1"'})
        crawl = make_crawl([], {"sitemaps": {"min_interval": 0.01, "max_interval": 0.01}})
        crawl.run("add", "--sitemap", f"{site.url}/map.xml")
        crawl.run("crawl")
        assert stored(crawl, site) == {"/a"}
        site.pages["/map.xml"] = Reply(
            urlset(f"{site.url}/a", f"{site.url}/b"), content_type=XML, headers={"ETag": '"2"'}
        )
        crawl.run("crawl")
        assert stored(crawl, site) == {"/a", "/b"}
        crawl.run("crawl")
        assert "If-None-Match" in site.headers[-1]
        visits = crawl.stats()["sitemaps"]["visits"]
        assert visits["read"] == 2
        assert visits["not-modified"] >= 1
        # The settings say otherwise: the sitemap is not due for a week.
        crawl.configure({"sitemaps": {"min_interval": "7d", "max_interval": "7d"}})
        crawl.run("crawl")
        site.asked.clear()
        crawl.run("crawl")
        assert not site.asked
        crawl.verify()


def bad_sitemaps(site: Site) -> dict[str, tuple[Reply, str]]:
    """Path → what it answers, and the word that `why` says of it."""
    one = site.url
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    good = f"<url><loc>{one}/listed</loc></url>"
    bomb = '<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    return {
        "/html.xml": (Reply("<!DOCTYPE html><html><body><p>not here</body></html>"), "html"),
        "/html2.xml": (Reply("<html><body><p>not here</body></html>", content_type=XML), "html"),
        "/broken.xml": (Reply(f"<urlset>{good}<url><loc>{one}/half", content_type=XML), "broken-xml"),
        "/rubbish.xml": (Reply("\x00\x01\x02 rubbish", content_type=XML), "not-a-sitemap"),
        "/empty.xml": (Reply("", content_type=XML), "empty"),
        "/bomb.xml": (Reply(f"{bomb}<urlset>{good}<url><loc>&b;</loc></url></urlset>", content_type=XML), "entities"),
        "/self.xml": (Reply(index(f"{one}/self.xml"), content_type=XML), "includes-itself"),
        "/levels.xml": (Reply("<urlset>" + "<url>" * 1_000 + good + "</url>" * 1_000 + "</urlset>"), "too-deep"),
        "/zip.xml.gz": (zipped(f"<urlset>{good}" + " " * 60_000_000 + "</urlset>"), "too-large"),
        "/cut.xml.gz": (Reply(gzip.compress(urlset(f"{one}/listed").encode())[:40].decode("latin-1"),
                              encoding="latin-1"), "bad-gzip"),
        "/now.xml": (Reply(urlset(f"{one}/listed", f"{one}/also", more=f"<lastmod>{now}</lastmod>")),
                     "lastmod-always-now"),
        "/other.xml": (Reply(urlset("http://127.0.0.2:18999/stranger", f"{one}/listed")), "other-hosts"),
        "/many.xml": (Reply(urlset(*[f"{one}/listed?{number % 3}" for number in range(50_001)])), "too-many-urls"),
        "/wrong.xml": (Reply("<opml><body/></opml>"), "not-a-sitemap"),
    }  # fmt: skip


def test_bad_sitemaps_are_harmless(make_crawl: MakeCrawl) -> None:
    with Site({"/": page(text="home"), "/listed": page(text="listed"), "/also": page(text="also")}) as site:
        bad = bad_sitemaps(site)
        site.pages |= {path: reply for path, (reply, _) in bad.items()}
        site.pages |= {f"/listed?{number}": page(text=f"listed {number}") for number in range(3)}
        deep = [f"/deep{level}.xml" for level in range(5)]
        for path, target in zip(deep, [*deep[1:], "/deep9.xml"], strict=True):
            site.pages[path] = Reply(index(f"{site.url}{target}"), content_type=XML)
        site.pages["/gone.xml"] = Reply(status=410)
        site.pages["/robots.txt"] = robots(*[f"Sitemap: {site.url}{path}" for path in [*bad, deep[0], "/gone.xml"]])
        crawl = make_crawl([f"{site.url}/"])
        crawl.run("crawl")
        for path, (_, word) in bad.items():
            assert word in crawl.why(site.url + path)["visit"]["detail"], path
        assert crawl.why(f"{site.url}{deep[3]}")["visit"]["detail"] == "index-too-deep"
        assert deep[4] not in site.asked
        assert crawl.why("http://127.0.0.2:18999/stranger")["reason"] == "foreign-sitemap"
        assert crawl.why(f"{site.url}/also")["sitemap_says"]["lastmod"] is None
        assert stored(crawl, site) == {"/", "/listed", "/also", "/listed?0", "/listed?1", "/listed?2"}
        assert crawl.stats()["sitemaps"]["visits"]["http-4xx"] == 1
        crawl.verify()


def test_other_hosts_and_who_may_speak_for_them(make_crawl: MakeCrawl) -> None:
    with Site({"/": page(text="a")}) as a, Site({"/": page(text="b")}, "127.0.0.2") as b:
        b.pages |= {"/one": page(text="one"), "/two": page(text="two")}
        a.pages["/map.xml"] = Reply(urlset(f"{b.url}/one", f"{b.url}/two"), content_type=XML)
        a.pages["/robots.txt"] = robots(f"Sitemap: {a.url}/map.xml")
        crawl = make_crawl([f"{a.url}/"])
        crawl.run("crawl")
        assert not b.asked
        assert crawl.why(f"{b.url}/one")["reason"] == "foreign-sitemap"
        # Now the other host names the sitemap too: what it lists of that host counts.
        b.pages["/robots.txt"] = robots(f"Sitemap: {a.url}/map.xml")
        crawl.run("add", f"{b.url}/")
        crawl.run("crawl")
        assert stored(crawl, b) >= {"/one", "/two"}
        crawl.verify()


@pytest.mark.parametrize(("settings", "read"), [({}, False), ({"sitemaps": {"guess": True}}, True)])
def test_the_usual_place_is_tried_only_when_asked_for(
    make_crawl: MakeCrawl, settings: dict[str, dict[str, object]], read: bool
) -> None:
    with Site({"/": page(text="home"), "/hidden": page(text="hidden")}) as site:
        site.pages["/sitemap.xml"] = Reply(urlset(f"{site.url}/hidden"), content_type=XML)
        crawl = make_crawl([f"{site.url}/"], settings)
        crawl.run("crawl")
        assert ("/sitemap.xml" in site.asked) == read
        if not read:
            crawl.run("add", "--sitemap", site.url)  # a host alone
            crawl.run("crawl")
        assert stored(crawl, site) == {"/", "/hidden"}
        assert site.times()["/sitemap.xml"] == 1


def test_scope_and_settings(make_crawl: MakeCrawl) -> None:
    """A sitemap is a URL like any other: out of scope, or switched off, it is not asked for, until it is."""
    with Site({"/docs/": page(text="docs"), "/docs/x": page(text="x"), "/y": page(text="y")}) as site:
        site.pages["/map.xml"] = Reply(urlset(f"{site.url}/docs/x", f"{site.url}/y"), content_type=XML)
        site.pages["/robots.txt"] = robots(f"Sitemap: {site.url}/map.xml")
        crawl = make_crawl([f"{site.url}/docs/"], {"scope": {"allow_prefixes": ["/docs/"]}})
        crawl.run("crawl")
        assert paths(site) == {"/docs/"}
        assert crawl.why(f"{site.url}/map.xml")["reason"] == "prefix-not-allowed"
        crawl.configure({"sitemaps": {"from_robots": False}})
        crawl.run("crawl")
        assert paths(site) == {"/docs/"}
        assert crawl.why(f"{site.url}/map.xml")["reason"] == "sitemap"
        crawl.configure({"scope": {"allow_prefixes": ["/docs/", "/map"]}})
        crawl.run("crawl")
        assert paths(site) == {"/docs/", "/map.xml", "/docs/x"}
        assert crawl.why(f"{site.url}/y")["reason"] == "prefix-not-allowed"
        crawl.verify()


def test_redirects_limits_and_pauses(make_crawl: MakeCrawl) -> None:
    def lines(urls: Iterable[str]) -> Reply:
        return robots("User-agent: *", "Crawl-delay: 0.3", *[f"Sitemap: {url}" for url in urls])

    with Site({"/": page(text="home")}) as site:
        site.pages |= {f"/{number}": page(text=f"page {number}") for number in range(3)}
        site.pages |= {f"/{number}.xml": Reply(urlset(f"{site.url}/{number}"), content_type=XML) for number in range(3)}
        site.pages["/moved.xml"] = Reply(status=301, headers={"Location": "/0.xml"})
        site.pages["/robots.txt"] = lines(f"{site.url}/{name}.xml" for name in ("moved", 1, 2))
        crawl = make_crawl([f"{site.url}/"], {"sitemaps": {"max_per_host": 2}})
        crawl.run("crawl")
        # The redirect's target is a sitemap too, and counts; the others are left alone.
        assert paths(site) == {"/", "/moved.xml", "/1.xml", "/1"}
        assert crawl.why(f"{site.url}/2.xml")["reason"] == "source-limit"
        assert crawl.why(f"{site.url}/0.xml")["reason"] == "source-limit"
        gaps = [later - earlier for earlier, later in zip(site.asked_at[1:], site.asked_at[2:], strict=False)]
        assert min(gaps) > 0.29  # the first pause, after robots.txt, is the setting's


def test_a_large_sitemap_comes_in_parts_and_a_kill_loses_nothing(make_crawl: MakeCrawl) -> None:
    with Site({"/p/0": page(text="first")}, otherwise=Reply(status=404)) as site:
        count = 23_000
        urls = [f"{site.url}/p/{number}" for number in range(count)]
        site.pages["/map.xml"] = Reply(urlset(*urls), content_type=XML)
        crawl = make_crawl([], {"politeness": {"delay": 2}})
        crawl.run("add", "--sitemap", f"{site.url}/map.xml")
        running = crawl.start("crawl")
        running.until(lambda: len(site.asked) >= 2)  # robots.txt, the sitemap
        running.kill_tree()
        crawl.configure({"politeness": {"delay": 0}})
        crawl.run("crawl", "--max-pages", "1")
        assert crawl.query("SELECT count(*) FROM urls") == [(count + 1,)]
        assert crawl.query("SELECT count(*) FROM url_hints") == [(count,)]
        with closing(Database.open_readonly(crawl.directory.state)) as database:
            ((sitemap_id,),) = database.query("SELECT url_id FROM sources").fetchall()
            assert [len(named) for _, _, named in Links(database).targets_of([sitemap_id])] == [count]
        crawl.verify()


def test_a_whole_web_with_sitemaps_and_feeds(make_crawl: MakeCrawl) -> None:
    """Every page is fetched once, whoever names it, and hosts are asked for each source once, within the pauses."""
    web = SimWebSettings.plain(
        seed=16, hosts=6, pages=150, port=0, mean_page_bytes=2_000, sitemap_share=1, feed_share=0.5
    )
    with SimServer(web) as server:
        crawl = make_crawl([server.seed], {"crawl": {"fetchers": 2}})
        crawl.run("crawl")
        assert set(crawl.documents_by_url()) == server.web.reachable()
        paths = Counter(
            (entry.address, entry.path) for entry in server.log() if "sitemap" in entry.path or "feed" in entry.path
        )
        assert set(paths.values()) == {1}
        assert len(paths) == 6 + 6 + 3
        facts = crawl.stats()
        assert facts["pages_fetched"] == 150
        assert (facts["sitemaps"]["read"], facts["feeds"]["read"]) == (12, 3)
        assert crawl.run("audit").returncode == 0
        crawl.verify()
