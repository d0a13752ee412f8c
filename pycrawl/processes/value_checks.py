"""What has to be true of the values that cross between two processes, so that the coordinator can rely on them."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Any

from pycrawl.fingerprint.page_prints import RECORD
from pycrawl.model import (
    NO_LINKS,
    CloseLook,
    EntryDocument,
    Fetched,
    FetchJob,
    FetchResult,
    Kind,
    Named,
    Outcome,
    PackedAnchors,
    PackedLinks,
    RobotsFile,
    SourceAnswer,
    StoredBody,
    Validators,
)
from pycrawl.urls.hints import are_hints
from pycrawl.urls.link_flags import MOST_ANCHORS, OF_PAGES
from pycrawl.urls.parts import is_entry
from pycrawl.urls.reasons import Reason

_HASH_BYTES = 8
_PLACE_BYTES = 4
_DIGEST_BYTES = 16
LARGEST = 1 << 62  # SQLite's numbers have 63 bits
_LARGEST_HASH = 1 << 64
_LARGEST_ASK = 255
_MOST_RISE = 8
_CODES = bytes(sorted({reason.code for reason in Reason} | {0}))
_LINK_FLAGS = bytes(range(OF_PAGES + 1))
_NOT_A_URL = re.compile(rb"\n(?!https?://[^/\n]+/)")  # the start of a line that no normalised URL has


def is_anything(value: object) -> bool:
    """The coordinator's own values are right."""
    return True


def _are_links(links: PackedLinks) -> bool:
    if not links.hashes:
        return links == NO_LINKS
    count = links.texts_count
    if len(links.hashes) % _HASH_BYTES or not 0 <= count * _HASH_BYTES <= len(links.hashes):
        return False
    if not count:
        return not links.texts and not links.verdicts
    texts = links.texts
    return (
        texts.count(b"\n") == count - 1
        and texts.isascii()
        and _NOT_A_URL.search(b"\n" + texts) is None
        and (not links.verdicts or len(links.verdicts) == count)
        and not links.verdicts.translate(None, _CODES)
    )


def _are_anchors(anchors: PackedAnchors) -> bool:
    count = len(anchors.flags)
    if not count:
        return anchors == PackedAnchors()
    if not anchors.texts.isascii():
        anchors.texts.decode()  # raises for what is no UTF-8
    return (
        len(anchors.places) == count * _PLACE_BYTES
        and len(anchors.text_hashes) == count * _HASH_BYTES
        and anchors.texts.count(b"\n") == count - 1
        and not anchors.flags.translate(None, _LINK_FLAGS)
    )


def _is_body(body: StoredBody) -> bool:
    return (
        bool(body.record)
        and len(body.digest) == _DIGEST_BYTES
        and len(body.prints) in (0, RECORD.size)
        and not len(body.passages) % _HASH_BYTES
        and 0 <= body.body_length < LARGEST
        and _can_be_kept(body.content_type, body.charset, body.declared_charset)
    )


def _is_look(look: CloseLook) -> bool:
    return (
        not len(look.pairs) % _HASH_BYTES
        and 0 <= look.backs < LARGEST
        and all(0 <= key < _LARGEST_HASH for key in look.copy_keys)
        and _can_be_kept(look.shape, look.section)
    )


def _is_robots(file: RobotsFile) -> bool:
    return 0 <= file.status < LARGEST and isfinite(file.fetched_at + file.expires_at + file.crawl_delay)


def _is_named(named: Named) -> bool:
    links = named.links
    count = len(links.hashes) // _HASH_BYTES
    return (
        count == links.texts_count > 0
        and 0 <= named.ask <= _LARGEST_ASK
        and abs(named.rise) <= _MOST_RISE
        and named.kind in (Kind.PAGE, Kind.SITEMAP)
        and are_hints(named.hints, count)
    )


def _is_document(document: EntryDocument) -> bool:
    return _is_url(document.url) and is_entry(document.url) and 0 <= document.url_hash < _LARGEST_HASH


def _is_answer(answer: SourceAnswer) -> bool:
    return (
        len(answer.digest) in (0, _DIGEST_BYTES)
        and 0 <= answer.entries < LARGEST
        and 0 <= answer.wait < LARGEST
        and 0 <= answer.skip_hours < 1 << 24
        and 0 <= answer.skip_days < 1 << 7
        and _can_be_kept(answer.hub, answer.topic)
        and (not answer.hub or _is_url(answer.hub))
    )


def _is_result(result: FetchResult) -> bool:
    return (
        0 <= result.url_id < LARGEST > result.host_id >= 0
        and 0 <= result.status < LARGEST > result.wire_bytes >= 0
        and 0 <= result.hops < LARGEST > result.length >= -1
        and isfinite(result.started + result.ended + result.fetched_at + result.retry_after)
        and _can_be_kept(result.detail, result.address, result.etag, result.last_modified, result.cookies)
        and (_is_target(result) if result.location else _needs_no_target(result))
        and (not result.withheld or all(0 <= ask <= _LARGEST_ASK for ask, _ in result.withheld))
        and (result.anchors is None or _are_of_links(result.anchors, result))
    )


def _is_fetched(fetched: Fetched) -> bool:
    return 0 <= fetched.url_id < LARGEST and isfinite(fetched.started + fetched.ended)


def _are_of_links(anchors: PackedAnchors, result: FetchResult) -> bool:
    """True if the page has links where there are rows of them, and no more rows than there may be links with texts,
    and one for each other link."""
    links = len(result.links.hashes) + sum([len(links.hashes) for _, links in result.withheld])
    return len(anchors.flags) <= (MOST_ANCHORS + links // _HASH_BYTES if links else 0)


def _needs_no_target(result: FetchResult) -> bool:
    """True if nobody looks for the target of a redirect: there was none, or it answered a probe."""
    return result.outcome is not Outcome.REDIRECT or result.kind is Kind.PROBE


def _is_url(text: str) -> bool:
    """True if a text may be a URL in normal form."""
    return text.isascii() and "\n" not in text and _NOT_A_URL.match(b"\n" + text.encode()) is None


def _is_target(result: FetchResult) -> bool:
    return _is_url(result.location) and 0 <= result.location_hash < _LARGEST_HASH and result.location_verdict in _CODES


def _can_be_kept(*texts: str) -> bool:
    """True if the texts can be written in UTF-8, as the database does."""
    text = "".join(texts)
    if not text.isascii():
        text.encode()  # raises for halves of surrogate pairs
    return True


# Class → the check of its values. A check raises ValueError, or returns False, for what is not right.
CHECKS: tuple[tuple[Any, Callable[[Any], bool]], ...] = (
    (Validators, is_anything),
    (PackedLinks, _are_links),
    (PackedAnchors, _are_anchors),
    (StoredBody, _is_body),
    (CloseLook, _is_look),
    (RobotsFile, _is_robots),
    (Named, _is_named),
    (EntryDocument, _is_document),
    (SourceAnswer, _is_answer),
    (FetchResult, _is_result),
    (FetchJob, is_anything),
    (Fetched, _is_fetched),
)
