"""Feeds against a real server: found, read, asked for again; entries that are documents; bad ones are harmless."""

from __future__ import annotations

import json
import time

from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Crawl, Settings
from tests.e2e.site import Reply, Site, page

RSS_TYPE, ATOM_TYPE, JSON_TYPE = "application/rss+xml", "application/atom+xml", "application/feed+json"


def rss(*links: str, head: str = "", more: str = "") -> str:
    items = "".join(f"<item><title>t</title><link>{link}</link></item>" for link in links)
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>{head}{items}{more}</channel></rss>'


def stored(crawl: Crawl, site: Site) -> set[str]:
    return {url.removeprefix(site.url) for url in crawl.documents_by_url()}


def linking(*feeds: tuple[str, str], body: str = "") -> Reply:
    links = "".join(f'<link rel="alternate" type="{kind}" href="{href}">' for href, kind in feeds)
    return Reply(f"<!DOCTYPE html><title>home</title>{links}<p>home {body}")


def test_pages_that_only_feeds_name(make_crawl: MakeCrawl) -> None:
    with Site({}) as site:
        names = "rss rdf atom json seed typed old relative".split()
        site.pages |= {f"/only/{name}": page(text=f"what {name} says") for name in names}
        one = site.url
        site.pages |= {
            "/": linking(("/rss", RSS_TYPE), ("/atom", ATOM_TYPE), ("/json", JSON_TYPE), ("/rdf", RSS_TYPE),
                         ("/old.rss", f"{RSS_TYPE}; charset=utf-8"), body='<a href="/typed">a feed</a>'),
            "/rss": Reply(rss(f"{one}/only/rss", "only/relative"), content_type="text/xml"),
            "/atom": Reply(f'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="{one}/only/"><entry><id>1</id>'
                           '<link href="atom"/></entry></feed>', content_type=ATOM_TYPE),
            "/rdf": Reply('<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
                          f'<item rdf:about="{one}/only/rdf"><link>{one}/only/rdf</link></item></rdf:RDF>'),
            "/json": Reply(json.dumps({"version": "https://jsonfeed.org/version/1", "items": [
                {"id": "1", "url": f"{one}/only/json"}]}), content_type="application/json"),
            "/old.rss": Reply('<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://x/rss.dtd">'
                              f"<rss version='0.91'><channel><item><link>{one}/only/old</link></item></channel></rss>"),
            "/typed": Reply(rss(f"{one}/only/typed"), content_type=f"{RSS_TYPE}; charset=utf-8"),
            "/seed": Reply(rss(f"{one}/only/seed"), content_type="application/octet-stream"),
        }  # fmt: skip
        crawl = make_crawl([f"{one}/"])
        crawl.run("add", "--feed", f"{one}/seed")
        crawl.run("crawl")
        assert stored(crawl, site) == {"/", *[f"/only/{name}" for name in names]}
        assert max(site.times().values()) == 1
        facts = crawl.stats()
        assert facts["pages_fetched"] == facts["pages_stored"] == 9
        assert facts["feeds"] == {"known": 7, "read": 7, "visits": {"read": 7}}
        assert f"named by feed {one}/typed" in crawl.run("why", f"{one}/only/typed").stdout
        assert [step["via"] for step in crawl.why(f"{one}/only/json")["found"]] == ["feed", "link", "seed"]
        crawl.verify()

        # Switched off: nothing of it is asked for.
        other = make_crawl([f"{one}/"], {"feeds": {"discover": False}})
        site.asked.clear()
        other.run("crawl")
        assert set(site.asked) == {"/robots.txt", "/", "/typed"}
        assert other.why(f"{one}/rss")["reason"] == "feed"
        assert other.why(f"{one}/typed")["reason"] == "unwanted-type"


def test_new_entries_first_and_next_visits(make_crawl: MakeCrawl) -> None:
    with Site({}) as site:
        slow = [f"/slow/{number}" for number in range(30)]
        site.pages |= {path: page(text=path) for path in (*slow, "/new", "/newer")}
        site.pages["/"] = page(*slow)
        site.pages["/feed"] = Reply(rss(f"{site.url}/new"), content_type=RSS_TYPE, headers={"ETag": '"1"'})
        settings: Settings = {"feeds": {"min_interval": 0.01, "max_interval": 0.02}}
        crawl = make_crawl([f"{site.url}/"], settings)
        crawl.run("crawl")
        crawl.run("add", "--feed", f"{site.url}/feed")
        crawl.run("crawl")
        site.pages["/feed"] = Reply(rss(f"{site.url}/newer", f"{site.url}/new"), content_type=RSS_TYPE)
        crawl.run("crawl", "--recrawl")
        assert stored(crawl, site) == {"/", "/new", "/newer", *slow}
        source = crawl.why(f"{site.url}/feed")["source"]
        assert source["changes"] == 1

        # What a feed asks for: not before its ttl, and in none of the hours that it names.
        hours = "".join(f"<hour>{hour}</hour>" for hour in range(24) if hour != 5)
        head = f"<ttl>120</ttl><skipHours>{hours}</skipHours>"
        site.pages["/feed"] = Reply(rss(f"{site.url}/new", head=head), content_type=RSS_TYPE)
        crawl.run("crawl")
        next_at = crawl.why(f"{site.url}/feed")["source"]["next_at"]
        assert next_at > time.time() + 7_000
        assert time.gmtime(next_at).tm_hour == 5
        site.asked.clear()
        crawl.run("crawl")
        assert not site.asked


def test_entries_without_a_link_are_documents(make_crawl: MakeCrawl) -> None:
    def feed(text: str) -> Reply:
        guid = "<guid isPermaLink='false'>tag:a,2026:1</guid>"
        entry = f"<item>{guid}<title>Note</title><description>{text}</description></item>"
        also = f"<item><description>{'another one ' * 20}</description></item>"
        return Reply(rss(more=entry + also), content_type=RSS_TYPE)

    with Site({"/linked": page(text="linked")}) as site:
        site.pages["/feed"] = feed("&lt;p&gt;the first words &lt;a href='/linked'&gt;x&lt;/a&gt;")
        crawl = make_crawl([], {"feeds": {"min_interval": 0.01, "max_interval": 0.02}})
        crawl.run("add", "--feed", f"{site.url}/feed")
        crawl.run("crawl")
        url = f"{site.url}/feed#entry-tag%3Aa%2C2026%3A1"
        assert crawl.documents_by_url()[url] == 1
        assert b"the first words" in crawl.bodies([url])[url]
        assert "the first words" in crawl.run("get", url).stdout
        assert crawl.why(url)["reason"] == "feed-entry"
        assert len(crawl.documents_by_url()) == 3
        assert "/linked" in site.asked
        crawl.run("crawl")
        assert crawl.documents_by_url()[url] == 1
        site.pages["/feed"] = feed("the second words")
        crawl.run("crawl")
        assert crawl.documents_by_url()[url] == 2
        assert b"the second words" in crawl.bodies([url])[url]
        assert not any("#" in path for path in site.asked)
        crawl.verify()


def test_bad_feeds_are_harmless(make_crawl: MakeCrawl) -> None:
    bomb = '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><rss version="2.0"><channel/></rss>'
    with Site({"/ok": page(text="ok")}, otherwise=page(text="anything")) as site:
        many = [f"{site.url}/ok?{number % 2}" for number in range(10_050)]
        dates = f"<item><link>{site.url}/ok</link><pubDate>the day after tomorrow</pubDate></item>"
        dates += f"<item><link>{site.url}/ok?0</link><pubDate>99999-99-99T99:99:99Z</pubDate></item>"
        bad = {
            "/html": (Reply("<!DOCTYPE html><html><p>gone"), "html"),
            "/bomb": (Reply(bomb), "entities"),
            "/broken": (Reply(rss(f"{site.url}/ok?broken")[:-16] + "<item>& &nbsp;"), "broken-xml"),
            "/rubbish": (Reply("\x00\x01\x02"), "broken-xml"),
            "/json": (Reply('{"version": "https://jsonfeed.org/version/1", "items": [' + "[" * 100_000), "broken-json"),
            "/opml": (Reply("<opml><body/></opml>"), "not-a-feed"),
            "/many": (Reply(rss(*many)), "too-many-entries"),
            "/deep": (Reply('<rss version="2.0">' + "<x>" * 1_000 + "</x>" * 1_000 + "</rss>"), "too-deep"),
            "/dates": (Reply(rss(more=dates)), ""),
            "/links": (Reply(rss("javascript:alert(1)", "mailto:a@b", "http://", "//", "relative")), ""),
        }
        site.pages |= {path: reply for path, (reply, _) in bad.items()}
        site.pages["/robots.txt"] = Reply("User-agent: *\nDisallow: /denied", content_type="text/plain")
        site.pages["/"] = linking(*[(path, ATOM_TYPE) for path in (*bad, "/denied")])
        crawl = make_crawl([f"{site.url}/"])
        crawl.run("crawl")
        for path, (_, word) in bad.items():
            assert word in crawl.why(site.url + path)["visit"]["detail"], path
        assert "/denied" not in site.asked
        assert stored(crawl, site) == {"/", "/ok", "/ok?0", "/ok?1", "/ok?broken", "/relative"}
        crawl.verify()


def test_what_is_no_link_is_taken_for_none(make_crawl: MakeCrawl) -> None:
    """Ids that are none of pages, links of other schemes, content that is elsewhere, links with a base of their own."""

    def atom(entry: str, base: str = "") -> Reply:
        return Reply(f'<feed xmlns="http://www.w3.org/2005/Atom"{base}><entry>{entry}</entry></feed>')

    def item(text: str) -> Reply:
        return Reply(rss(more=f"<item>{text}</item>"))

    def json_feed(**entry: str) -> Reply:
        return Reply("\ufeff" + json.dumps({"version": "https://jsonfeed.org/version/1.1", "items": [entry]}))

    with Site({}, otherwise=page(text="a page")) as site:
        one = site.url
        own = "<content type='html'>&lt;p&gt;some words &lt;a href='linked'&gt;x</content>"
        feeds = {
            "/tag": (atom(f"<id>tag:a,2026:1</id>{own}", f' xml:base="{one}/base/"'), "tag%3Aa%2C2026%3A1"),
            "/url": (
                atom(f"<id>{one}/not-asked</id>{own}"),
                f"{one}/not-asked".replace(":", "%3A").replace("/", "%2F"),
            ),
            "/number": (item("<guid>12345</guid><description>own words</description>"), "12345"),
            "/mail": (item("<link>mailto:a@b</link><guid>m</guid><description>words</description>"), "m"),
            "/guid": (item(f"<guid>{one}/guid-page</guid><description>words</description>"), "/guid-page"),
            "/src": (atom("<id>2</id><content type='text/html' src='/src-page'/>"), "/src-page"),
            "/only-id": (atom(f"<id>{one}/id-page</id><title>x</title>"), "/id-page"),
            "/json": (json_feed(id=f"{one}/json-page"), "/json-page"),
        }
        site.pages |= {path: feed for path, (feed, _) in feeds.items()}
        crawl = make_crawl([], {"content": {"store_duplicates": True}})
        crawl.run("add", *[part for path in feeds for part in ("--feed", one + path)])
        crawl.run("crawl")
        wanted = {name if name.startswith("/") else f"{path}#entry-{name}" for path, (_, name) in feeds.items()}
        assert stored(crawl, site) == wanted | {"/base/linked", "/linked"}
        assert b'<base href="' in crawl.bodies([f"{one}/tag#entry-tag%3Aa%2C2026%3A1"]).popitem()[1]
        crawl.verify()


def test_a_page_that_was_a_feed_once_is_a_page_again(make_crawl: MakeCrawl) -> None:
    """Nothing but its answer said that it is a feed. Its versions are kept, and the next ones stored."""
    with Site({"/": page("/x", text="front"), "/x": page(text="first"), "/named": page()}) as site:
        url = f"{site.url}/x"
        settings: Settings = {"recrawl": {"min_interval": 0}, "feeds": {"min_interval": 0, "max_interval": 1}}
        crawl = make_crawl([f"{site.url}/"], settings)
        crawl.run("crawl")
        feed = Reply(rss(f"{site.url}/named"), content_type=RSS_TYPE)
        for answer, versions in (
            (feed, 1),
            (page(text="first"), 1),
            (feed, 1),
            (page(text="another text altogether"), 2),
        ):
            site.pages["/x"] = answer
            time.sleep(1.1)  # until the feed is due
            crawl.run("crawl", "--recrawl")
            crawl.verify()
            assert crawl.documents_by_url()[url] == versions
            assert crawl.why(url)["state"] == "done", crawl.why(url)
        assert crawl.why(url)["reason"] == "fetched"
        assert list(crawl.bodies([url]).values()) == [site.pages["/x"].body.encode()]
