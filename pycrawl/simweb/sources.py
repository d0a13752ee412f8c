"""Sitemaps and feeds of a synthetic web's hosts: an index over compressed lists of all pages, and the newest pages."""

from __future__ import annotations

import gzip
import time

from pycrawl.simweb.hosts import FEED_PATH, SITEMAP_PATH, Host, PageKind
from pycrawl.simweb.web import Page, SimWeb

_URLS_PER_SITEMAP = 1_000
_NEWEST = 20  # entries of a feed
_LISTED = (PageKind.CONTENT, PageKind.DUPLICATE)
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def source(web: SimWeb, host: Host, target: str, version: int) -> tuple[str, bytes] | None:
    """Returns the media type and the body of the sitemap or feed at a path of the host; None if there is none."""
    if host.has_sitemap and target == SITEMAP_PATH:
        count = -(-len(_listed(web, host)) // _URLS_PER_SITEMAP)
        locs = [f"<sitemap><loc>{host.url}sitemap-{number}.xml.gz</loc></sitemap>" for number in range(count)]
        index = f'{_XML}<sitemapindex xmlns="{_NAMESPACE}">{"".join(locs)}</sitemapindex>\n'
        return "application/xml", index.encode()
    if host.has_sitemap and target.startswith("/sitemap-") and target.endswith(".xml.gz"):
        number = target.removeprefix("/sitemap-").removesuffix(".xml.gz")
        return _sitemap(web, host, int(number), version) if number.isdigit() else None
    if host.has_feed and target == FEED_PATH:
        return "application/rss+xml", _feed(web, host, version)
    return None


def _listed(web: SimWeb, host: Host) -> list[Page]:
    return [web.page_number(host.first + local) for kind in _LISTED for local in host.pages(kind)]


def _sitemap(web: SimWeb, host: Host, number: int, version: int) -> tuple[str, bytes] | None:
    pages = _listed(web, host)[number * _URLS_PER_SITEMAP : (number + 1) * _URLS_PER_SITEMAP]
    if not pages:
        return None
    urls = "".join(
        f"<url><loc>{page.url.replace('&', '&amp;')}</loc>"
        f"<lastmod>{time.strftime('%Y-%m-%d', time.gmtime(page.modified_at(version)))}</lastmod></url>\n"
        for page in pages
    )
    text = f'{_XML}<urlset xmlns="{_NAMESPACE}">\n{urls}</urlset>\n'
    return "application/gzip", gzip.compress(text.encode(), mtime=0)


def _feed(web: SimWeb, host: Host, version: int) -> bytes:
    """The pages that changed last, the newest first."""
    newest = sorted(_listed(web, host), key=lambda page: (-page.modified_at(version), page.local))[:_NEWEST]
    items = "".join(
        f"<item><title>{page.local}</title><link>{page.url.replace('&', '&amp;')}</link>"
        f"<pubDate>{page.last_modified(version)}</pubDate></item>\n"
        for page in newest
    )
    return f'{_XML}<rss version="2.0"><channel><title>{host.authority}</title>\n{items}</channel></rss>\n'.encode()
