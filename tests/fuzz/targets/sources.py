"""Sitemaps and feeds."""

from __future__ import annotations

from pycrawl.parse.dates import read_date
from pycrawl.parse.feed import MOST_ENTRIES, read_feed
from pycrawl.parse.sitemap import MOST_URLS, read_sitemap
from pycrawl.urls.hints import CHANGE_FREQUENCIES, NO_PRIORITY
from tests.fuzz.case import Target


def sitemap(data: bytes) -> None:
    """What it lists is bounded, and all that is said of it has its range; a fault is said where nothing was found."""
    found = read_sitemap(data)
    assert len(found.entries) <= MOST_URLS
    assert len(found.sitemaps) <= MOST_URLS
    for entry in (*found.entries, *found.sitemaps):
        assert entry.loc.strip()
        assert 0 <= entry.changefreq < len(CHANGE_FREQUENCIES)
        assert 0 <= entry.priority <= 100 or entry.priority == NO_PRIORITY
        assert 0 <= entry.lastmod.at <= entry.lastmod.until or entry.lastmod.at == 0
    for text in (*[entry.loc for entry in found.entries], *found.alternates):
        text.encode("utf-8", "surrogatepass")
    cut = read_sitemap(data, 100)
    assert len(cut.entries) <= len(found.entries) or found.fault


def feed(data: bytes) -> None:
    found = read_feed(data, "application/xml")
    assert found.is_feed or found.fault
    assert len(found.entries) <= MOST_ENTRIES
    assert found.wait >= 0
    assert 0 <= found.skip_hours < 1 << 24
    assert 0 <= found.skip_days < 1 << 7
    for entry in found.entries:
        assert entry.key or not (entry.link or entry.content)
        assert entry.changed_at >= 0


def source_date(data: bytes) -> None:
    moment = read_date(data.decode("utf-8", "replace"))
    assert 0 <= moment.at <= moment.until


_WORDS = (
    b'<?xml version="1.0" encoding="utf-8"?>|<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">|</urlset>|<url>|'
    b"</url>|<loc>|</loc>|<sitemapindex>|</sitemapindex>|<sitemap>|</sitemap>|<lastmod>2026-01-02</lastmod>|"
    b"<priority>0.5</priority>|<changefreq>daily</changefreq>|<![CDATA[|]]>|<!DOCTYPE x [<!ENTITY a 'b'>]>|&a;|&amp;|"
    b'<xhtml:link rel="alternate" href="/x"/>|http://example.com/|\n|<rss version="2.0"><channel>|</channel></rss>|'
    b"<item>|</item>|<link>|</link>|<guid>|</guid>|<ttl>60</ttl>|<skipHours><hour>3</hour></skipHours>|<description>|"
    b'</description>|<feed xmlns="http://www.w3.org/2005/Atom">|</feed>|<entry>|</entry>|<id>|</id>|<updated>|'
    b'<content type="html">|<link href="/x" rel="hub"/>|{"version": "https://jsonfeed.org/version/1.1", "items": [|'
    b'{"id": "1", "url": "/x"}|]}|"content_html": "x"|\\ud800|\xff\xfe|\x1f\x8b\x08\0|<!--|-->|<a|<'
).split(b"|")
_DATES = (b"2026|-01|-02|T|10:11|:12|Z|+0100|.5|Mon, 06 Sep 2021 00:01:00 +0000|GMT|99|0000|-|:|\xc2\xb2").split(b"|")

TARGETS = [
    Target("sitemap", sitemap, tuple(_WORDS), max_bytes=16_384),
    Target("feed", feed, tuple(_WORDS), max_bytes=16_384),
    Target("source-date", source_date, tuple(_DATES), max_bytes=200),
]
