"""The answer to a feed job into its result: the pages that its entries link to, and entries that are documents."""

from __future__ import annotations

from html import escape
from urllib.parse import quote, urljoin

import xxhash

from pycrawl.fetch.transport import Response, all_values
from pycrawl.fetcher.named_links import NamedPacker
from pycrawl.fetcher.page_result import PageReader
from pycrawl.fetcher.result import result, text_header, validators_of
from pycrawl.fetcher.without_body import WithoutBody
from pycrawl.model import EntryDocument, FetchJob, FetchResult, Kind, Named, Outcome, SourceAnswer
from pycrawl.parse.feed import Feed, FeedEntry, read_feed
from pycrawl.parse.link_header import link_targets
from pycrawl.urls.hints import NO_PRIORITY, Hint
from pycrawl.urls.parts import entry_url

_MOST_DOCUMENTS = 1_000  # entries of one feed that are stored
_MOST_DOCUMENT_BYTES = 50_000_000  # of all their records together
_MOST_RISE = 8  # front queues: new entries are fetched before other URLs
_LONGEST_NAME = 120  # characters of an entry's name in its URL; the names of longer ones are hashes
_MOST_LINK_HEADERS = 20
_LONGEST_TOPIC = 2_000  # characters
_SCHEMES = ("http://", "https://")
_STATUS_LINE = b"HTTP/1.1 200 OK"
_ENTRY_TYPE = "text/html; charset=utf-8"


class FeedReader:
    def __init__(self, answers: WithoutBody, packer: NamedPacker, pages: PageReader, seed: int) -> None:
        self._answers = answers
        self._packer = packer
        self._pages = pages
        self._seed = seed

    def read(self, job: FetchJob, response: Response) -> FetchResult:
        other = self._answers.read(job, response)
        if other is not None:
            return other
        feed = read_feed(response.body, text_header(response, b"content-type"))
        if not feed.is_feed:
            return result(job, response, Outcome.BAD_FEED, detail=feed.fault)
        _take_links(feed, all_values(response.headers, b"link"))
        fault = feed.fault or ("too-large" if response.truncated else "")
        pages: dict[str, Hint] = {}
        own: list[FeedEntry] = []
        urls = self._packer.urls([entry.link for entry in feed.entries], job.url)
        for url, entry in zip(urls, feed.entries, strict=True):
            if entry.link and url is not None and url != job.url:
                pages.setdefault(url, Hint(entry.changed_at, 0, NO_PRIORITY))
            elif entry.content:
                own.append(entry)
        answer = self._answer(job, feed, pages, own)
        validators = validators_of(response)
        if answer.digest == job.validators.digest:
            return result(job, response, Outcome.NOT_MODIFIED, fault, source=answer, **validators)
        documents, links = self._documents(job, response, own)
        for url in links:
            pages.setdefault(url, Hint())
        answer = answer._replace(named=self._named(pages), documents=documents)
        return result(job, response, Outcome.READ, fault, source=answer, **validators)

    def _answer(self, job: FetchJob, feed: Feed, pages: dict[str, Hint], own: list[FeedEntry]) -> SourceAnswer:
        lines = [f"{url} {hint.lastmod}" for url, hint in pages.items()]
        lines += [f"{entry.key}\n{entry.title}\n{entry.content}" for entry in own]
        hub = self._packer.urls([feed.hub], job.url)[0] if feed.hub else None
        return SourceAnswer(
            digest=xxhash.xxh3_128_digest("\n".join(sorted(lines)).encode("utf-8", "replace"), self._seed),
            entries=len(pages) + len(own),
            wait=feed.wait,
            skip_hours=feed.skip_hours,
            skip_days=feed.skip_days,
            hub=hub or "",
            topic=_topic_of(feed, job.url) if hub else "",
        )

    def _named(self, pages: dict[str, Hint]) -> tuple[Named, ...]:
        if not pages:
            return ()
        hints = b"".join([hint.packed() for hint in pages.values()])
        return (Named(Kind.PAGE, self._packer.pack(list(pages)), 0, _MOST_RISE, hints),)

    def _documents(
        self, job: FetchJob, response: Response, own: list[FeedEntry]
    ) -> tuple[tuple[EntryDocument, ...], list[str]]:
        """Returns the entries without a link as documents, and the URLs that these link to."""
        documents: dict[str, EntryDocument] = {}
        links: list[str] = []
        size = 0
        for entry in own[:_MOST_DOCUMENTS]:
            url = entry_url(job.url, self._name(entry.key))
            base = (self._packer.urls([entry.base], job.url)[0] if entry.base else None) or job.url
            answer = Response(
                key=response.key,
                url=url,
                started=response.started,
                status=200,
                status_line=_STATUS_LINE,
                headers=[(b"Content-Type", _ENTRY_TYPE.encode()), (b"Content-Location", job.url.encode())],
                body=_page_of(entry, base if base != job.url else ""),
                address=response.address,
                fetched_at=response.fetched_at,
            )
            body, hrefs = self._pages.stored_entry(answer, _ENTRY_TYPE)
            size += len(body.record)
            if size > _MOST_DOCUMENT_BYTES:
                break
            documents.setdefault(url, EntryDocument(url, self._packer.hash_of(url), body))
            links += [link for link in self._packer.urls(hrefs, base) if link is not None]
        return tuple(documents.values()), links

    def _name(self, key: str) -> str:
        name = quote(key, safe="")
        return name if len(name) <= _LONGEST_NAME else xxhash.xxh3_64_hexdigest(key.encode("utf-8", "replace"))


def _take_links(feed: Feed, headers: list[bytes]) -> None:
    """Take hub and topic from the Link headers, which go before those in the feed (WebSub, 4)."""
    links = link_targets(b", ".join(headers[:_MOST_LINK_HEADERS]).decode("latin-1"))
    if "hub" in links:
        feed.hub, feed.topic = links["hub"], links.get("self", feed.topic)


def _topic_of(feed: Feed, url: str) -> str:
    """Returns the feed's URL as it calls itself, to the letter, as its hub knows it by that; its own where it says
    nothing that can be used."""
    topic = feed.topic.strip()
    if not topic.startswith(_SCHEMES):
        try:
            topic = urljoin(url, topic)
        except ValueError:
            return url
    is_plain = topic.isascii() and topic.isprintable() and len(topic) <= _LONGEST_TOPIC and topic.startswith(_SCHEMES)
    return topic if is_plain else url


def _page_of(entry: FeedEntry, base: str) -> bytes:
    """An entry as a page. `base`: what its links are relative to; empty: its own URL."""
    content = entry.content if entry.is_html else f"<pre>{escape(entry.content, quote=False)}</pre>"
    title = escape(entry.title, quote=False)
    own_base = f'<base href="{escape(base)}">' if base else ""
    head = f'<head><meta charset="utf-8">{own_base}<title>{title}</title></head>'
    return f"<!DOCTYPE html>\n<html>{head}\n<body>{content}</body></html>\n".encode("utf-8", "replace")
