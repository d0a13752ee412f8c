"""What asks that a link not be followed, or says what it leads to: bits of `urls.ask`, and which of them the settings
obey.

A URL has the bits of the link that names it as long as every link to it has some; the first link without any clears
them. So a URL that only nofollow links name is known, and stands aside as long as such wishes are obeyed.
"""

from __future__ import annotations

from pycrawl.config import Config, PolitenessSection
from pycrawl.urls.reasons import Reason

REL = 1  # rel=nofollow at the link
META = 2  # <meta name=robots content=nofollow> on its page
HEADER = 4  # X-Robots-Tag: nofollow with its page
SOFT_404 = 8  # its page says what its host says of missing pages
FOREIGN = 16  # a sitemap lists it that may not speak for its host
SITEMAP = 32  # it is a sitemap that a robots.txt names, or part of one
FEED = 64  # it is a feed that a page names
ENTRY = 128  # it stands for an entry of a feed, and cannot be asked for
KINDS = SITEMAP | FEED  # say what it is, and not that it is not to be followed

_REASONS = {
    ENTRY: Reason.FEED_ENTRY,
    FOREIGN: Reason.FOREIGN_SITEMAP,
    SITEMAP: Reason.SITEMAP,
    FEED: Reason.FEED,
}


def obeyed(config: Config, politeness: PolitenessSection) -> int:
    """The bits that are obeyed for URLs of a host with this `politeness`."""
    return (
        REL * politeness.rel_nofollow
        + META * politeness.meta_robots
        + HEADER * politeness.x_robots_tag
        + SOFT_404 * config.traps.soft_404
        + FOREIGN
        + SITEMAP * (not config.sitemaps.from_robots)
        + FEED * (not config.feeds.discover)
        + ENTRY
    )


def reason_of(ask: int, obeyed_bits: int) -> Reason | None:
    """Why a URL with these bits stands aside; None: it does not."""
    if not ask & obeyed_bits:
        return None
    if ask == SOFT_404:
        return Reason.SOFT_404_LINK
    return next((reason for bit, reason in _REASONS.items() if ask & obeyed_bits & bit), Reason.NOFOLLOW)
