"""`pycrawl dups`: finds near-duplicates of one document, or all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pycrawl.cli import output
from pycrawl.cli.common import Share, crawl_directory, directory_option, json_option, open_for_reading, plural
from pycrawl.errors import PycrawlError, UsageError

if TYPE_CHECKING:
    from pycrawl.collection.duplicates import Cluster, Discovery, Listed, OnProgress, Searcher, SearchResult, TextReader
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.state.database import Database
    from pycrawl.state.documents import Document

STANDARD_INPUT = "-"
_MOST_MEMBERS = 10  # documents of one cluster that are listed


@click.command("dups")
@directory_option
@json_option
@click.argument("document", metavar="[URL|FILE|-]", required=False)
@click.option("--all", "find_all", is_flag=True, help="Find all clusters of near-duplicates in the collection.")
@click.option(
    "--threshold",
    metavar="X",
    type=Share(0.5, 1.0),
    help="Share of their text that near-duplicates have in common; by default content.near_duplicate_threshold.",
)
@click.option(
    "--share",
    metavar="X",
    type=Share(0.01, 1.0),
    default=0.1,
    show_default=True,
    help="Share of one text that the other must contain to be listed under shared passages.",
)
def command(
    path: Path, as_json: bool, document: str | None, find_all: bool, threshold: float | None, share: float
) -> None:
    """Find near-duplicates of a document, or all in the collection.

    The document is named by its URL, or is a file or standard input. It is compared with the collection by the words of
    the main content, four in a row at a time (a shingle). There are three lists, and a document is in at most one:

    Near-duplicates: the true resemblance, from 0 to 1, and the estimate that the crawl works with. The estimate may be
    wrong by 0.04, so documents that miss the threshold by that much are listed too.

    Shares passages: documents that contain a part of the text, or of which it contains a part, such as a quotation, or
    a press release in a longer article. The numbers are the shingles that both have, and which share this is of the
    text asked for and of the other. A passage of 100 words is found 19 times in 20, a shorter one less often; passages
    that are in more than 1,000 documents are not counted.

    Same words in another order: documents whose simhash differs in at most 3 of 64 bits. The numbers are the bits that
    differ, and the share of their words that both have; where that share is small, the simhashes agree by chance.

    \b
      pycrawl dups https://example.com/
      pycrawl dups draft.html --threshold 0.7
      pycrawl dups release.txt --share 0.5
      pycrawl dups --all --json
    """
    if find_all == (document is not None):
        raise UsageError("expected one of: a URL, a file, - or --all")
    directory = crawl_directory(path)
    config = directory.config()
    database = open_for_reading(directory)
    least = threshold if threshold is not None else config.content.near_duplicate_threshold
    with database.explained(), database.snapshot():
        _must_have_fingerprints(database)
        if document is None:
            _discover(database, least, as_json)
        else:
            _search(directory, config, database, document, (least, share), as_json)


def _must_have_fingerprints(database: Database) -> None:
    """Raises PycrawlError if no document has fingerprints: "no near-duplicates" would then be a wrong answer."""
    from pycrawl.state.documents import count_documents
    from pycrawl.state.near_seen import count_prints

    if count_documents(database) and not count_prints(database):
        raise PycrawlError(
            f"{database.path}: no document has fingerprints; set content.near_duplicates = true before you crawl"
        )


# One document


def _search(
    directory: CrawlDirectory,
    config: Config,
    database: Database,
    named: str,
    bounds: tuple[float, float],
    as_json: bool,
) -> None:
    from pycrawl.collection.duplicates import Searcher, TextReader
    from pycrawl.parse.parsers import Parsers
    from pycrawl.store.reader import RecordReader

    threshold, share = bounds
    with RecordReader(directory.docs) as reader:
        texts = TextReader(Parsers(config.plugins), config.content.main_content)
        searcher = Searcher(database, reader, texts, threshold, share)
        name, text, document_id = _asked(named, config, database, searcher, texts)
        answer = searcher.find(text, document_id)
    if as_json:
        facts = {"document": name, "threshold": threshold, "share": share, **_answer(answer)}
        output.say_json(facts)
    else:
        _show_answer(name, answer)


def _show_answer(name: str, answer: SearchResult) -> None:
    parts = [part for part in (_near_lines(answer), _sharing_lines(answer), _reordered_lines(answer)) if part]
    if not parts:
        output.say(f"{name}: nothing in the collection resembles it")
    for number, part in enumerate(parts):
        output.say(*(part if number == 0 else ("", *part)))


def _near_lines(answer: SearchResult) -> list[str]:
    lines = [
        f" {one.true:.3f}     {one.estimate:.3f}  {_place(one)}"
        if one.true is not None
        else f"     …     {one.estimate:.3f}  {_place(one)}"
        for one in answer.near
    ]
    return ["  true  estimate", *lines] if lines else []


def _sharing_lines(answer: SearchResult) -> list[str]:
    lines = [f" {one.shared:>6,}     {one.of_asked:.3f}  {one.of_it:.3f}  {_place(one)}" for one in answer.sharing]
    if answer.unread:
        lines.append(f"  … and {plural(answer.unread, 'more document')} may, whose texts were not read")
    return ["Shares passages:", " shared  of asked  of it", *lines] if lines else []


def _reordered_lines(answer: SearchResult) -> list[str]:
    lines = [f" {one.simhash_distance:>4}  {one.words:.3f}  {_place(one)}" for one in answer.reordered]
    return ["Same words in another order:", " bits  words", *lines] if lines else []


def _place(one: Listed) -> str:
    return f"{one.url}  (same bytes as document {one.copy_of})" if one.copy_of else one.url


def _asked(
    named: str, config: Config, database: Database, searcher: Searcher, texts: TextReader
) -> tuple[str, str, int]:
    """What to call it, its text, and its id if it is in the collection."""
    is_url = "://" in named
    if named == STANDARD_INPUT or (not is_url and Path(named).is_file()):
        name = "standard input" if named == STANDARD_INPUT else named
        body = sys.stdin.buffer.read() if named == STANDARD_INPUT else Path(named).read_bytes()
        content_type = "text/html" if body.lstrip()[:1] == b"<" else "text/plain"
        return name, texts.text_of(body, content_type), 0
    name, document = _stored(named, config, database)
    return name, searcher.text(document), document.id


def _stored(named: str, config: Config, database: Database) -> tuple[str, Document]:
    from pycrawl.state import meta
    from pycrawl.state.documents import newest_document
    from pycrawl.urls.normal_form import UrlRules, from_user
    from pycrawl.urls.parts import url_hash

    url = from_user(named, UrlRules.of(config))
    if url is None:
        raise UsageError(f"{named}: neither a file nor an http or https URL")
    document = newest_document(database, url_hash(url, meta.hash_seed(database)))
    if document is None:
        raise PycrawlError(f"{url}: no document is stored. `pycrawl why` says why.")
    return url, document


def _answer(answer: SearchResult) -> dict[str, Any]:
    return {
        "found": [
            {
                **_listed(one),
                "true": one.true,
                "estimate": one.estimate,
                "simhash_distance": one.simhash_distance,
            }
            for one in answer.near
        ],
        "shares_passages": [
            {
                **_listed(one),
                "shared_shingles": one.shared,
                "share_of_asked": one.of_asked,
                "share_of_it": one.of_it,
            }
            for one in answer.sharing
        ],
        "may_share_passages": answer.unread,
        "same_words": [
            {
                **_listed(one),
                "simhash_distance": one.simhash_distance,
                "words_in_common": one.words,
            }
            for one in answer.reordered
        ],
    }


def _listed(one: Listed) -> dict[str, Any]:
    return {
        "url": one.url,
        "document": one.document_id,
        "fetched_at": one.fetched_at,
        "exact_copy_of": one.copy_of or None,
    }


# All of them


def _discover(database: Database, threshold: float, as_json: bool) -> None:
    from pycrawl.collection.duplicates import discover

    with _progress_bar() as on_progress:
        discovery = discover(database, threshold, on_progress)
    if as_json:
        output.say_json(_as_json(discovery, threshold))
        return
    for cluster in discovery.clusters:
        _show(cluster)
    output.say(
        f"{plural(len(discovery.clusters), 'cluster')} in {plural(discovery.documents, 'document')}:"
        f" {plural(discovery.exact, 'exact copy', 'exact copies')}, {plural(discovery.near, 'near-duplicate')}"
        f" at {threshold:g}"
    )


def _show(cluster: Cluster) -> None:
    first, *others = cluster.members
    output.say(f"{plural(len(cluster.members), 'document')}: {first.url}")
    for member in others[:_MOST_MEMBERS]:
        how = "exact" if member.is_exact and member.resemblance == 1 else f"{member.resemblance:.3f}"
        output.say(f"  {how}  {member.url}")
    if len(others) > _MOST_MEMBERS:
        output.say(f"  … and {len(others) - _MOST_MEMBERS:,} more (--json shows all)")


def _as_json(discovery: Discovery, threshold: float) -> dict[str, Any]:
    return {
        "threshold": threshold,
        "documents": discovery.documents,
        "compared": discovery.compared,
        "duplicates_exact": discovery.exact,
        "duplicates_near": discovery.near,
        "clusters": [
            {
                "size": len(cluster.members),
                "representative": cluster.members[0].url,
                "members": [
                    {
                        "url": member.url,
                        "document": member.document_id,
                        "fetched_at": member.fetched_at,
                        "resemblance": member.resemblance,
                        "exact": member.is_exact,
                    }
                    for member in cluster.members
                ],
            }
            for cluster in discovery.clusters
        ],
    }


@contextmanager
def _progress_bar() -> Iterator[OnProgress]:
    """Shows progress if standard error is a terminal; yields the function to call with what is done."""
    if not output.shows_progress():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("comparing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
