"""`pycrawl forget`: removes pages from a crawl for good."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, plural, say_what_is_aside, step_progress
from pycrawl.errors import PycrawlError, UsageError

if TYPE_CHECKING:
    from pycrawl.config import Config
    from pycrawl.crawl.directory import CrawlDirectory
    from pycrawl.state.database import Database
    from pycrawl.state.forgetting import Selection
    from pycrawl.state.unwanted import Rule

_MOST_LISTED = 10  # URLs of one list


@click.command("forget")
@directory_option
@click.argument("urls", metavar="[URL]...", nargs=-1)
@click.option("--host", "hosts", metavar="H", multiple=True, help="Forget all pages of this host; may be repeated.")
@click.option(
    "--prefix", "prefixes", metavar="P", multiple=True, help="Forget all URLs that start so; may be repeated."
)
@click.option("--copies", "with_copies", is_flag=True, help="Forget other URLs that have the same bytes too.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and change nothing.")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask for confirmation.")
def command(
    path: Path,
    urls: tuple[str, ...],
    hosts: tuple[str, ...],
    prefixes: tuple[str, ...],
    with_copies: bool,
    dry_run: bool,
    is_sure: bool,
) -> None:
    """Remove pages for good, and never ask for them again.

    All versions of the pages leave the compound files, the state and the logs; afterwards no byte of them is in the
    crawl's directory. What stays is a note that they are not wanted: no link and no seed brings them back, and `pycrawl
    add` refuses them unless it is told --again. DOCNOs of other pages do not change.

    Other URLs with the same bytes, and near-duplicates, are named. Without --copies they stay, and a record that
    several URLs share stays under the oldest of them that remains.

    It cannot be undone. If it is cut short, the next `pycrawl forget` or `pycrawl crawl` carries it on.

    \b
      pycrawl forget https://example.com/private.html
      pycrawl forget --prefix https://example.com/members/ --dry-run
      pycrawl forget --host www.example.com --copies
    """
    from pycrawl.crawl.forgetting import carry_on
    from pycrawl.crawl.opening import open_state
    from pycrawl.store.aside import ASIDE_NAME

    if not (urls or hosts or prefixes):
        raise UsageError("nothing to forget: give URLs, --host or --prefix")
    directory = crawl_directory(path)
    config = directory.config()
    with directory.hold():
        database, aside = open_state(directory)
        say_what_is_aside(aside)
        try:
            with step_progress() as on_step, database.explained():
                carry_on(directory, database, config, on_step)
            with database.explained():
                began = _begin(directory, config, database, (urls, hosts, prefixes), with_copies, dry_run, is_sure)
            if began:
                with step_progress() as on_step:
                    carry_on(directory, database, config, on_step)
                output.say("Forgotten.")
                if (directory.path / ASIDE_NAME).exists():
                    output.complain(
                        f"{directory.path / ASIDE_NAME}: holds records that an older state.db did not know, and was not"
                        " looked into. Remove it if they are not needed."
                    )
        finally:
            database.close()


def _begin(
    directory: CrawlDirectory,
    config: Config,
    database: Database,
    asked: tuple[Iterable[str], Iterable[str], Iterable[str]],
    with_copies: bool,
    dry_run: bool,
    is_sure: bool,
) -> bool:
    """Chooses what to forget, shows it, and commits it if that is wanted. Returns whether it did."""
    from pycrawl.state import forgetting, meta
    from pycrawl.state.documents import files
    from pycrawl.state.unwanted import Rule, hash_digits
    from pycrawl.store import CompoundFile, recover
    from pycrawl.urls.parts import url_hash

    seed = meta.hash_seed(database)
    named = _rules(config, seed, *asked)
    in_vain = forgetting.choose(database, list(named), seed)
    _check_known(database, {rule: named[rule] for rule in in_vain}, seed)
    rules = [rule for rule in named if rule not in in_vain]
    if not rules:
        database.rollback()
        return False
    copies = forgetting.choose_copies(database) if with_copies else []
    rules += [Rule("url", hash_digits(url_hash(url, seed))) for url in copies]
    _show(forgetting.selection(database), copies)
    if dry_run:
        database.rollback()
        output.say("Nothing was changed (--dry-run).")
        return False
    if not is_sure and sys.stdin.isatty():
        output.must_confirm("This cannot be undone. Forget it?")
    recover(directory.docs, [CompoundFile(*row) for row in files(database)])  # what a killed run left may name it too
    with step_progress() as on_step:
        on_step("state.db: what is known of it goes")
        forgetting.begin(database, rules, seed, config.content.near_duplicate_threshold, time.time())
        database.commit()
    return True


def _rules(
    config: Config, seed: int, urls: Iterable[str], hosts: Iterable[str], prefixes: Iterable[str]
) -> dict[Rule, str]:
    """Returns what is not wanted any more, each with the name that the user gave it, in normal form."""
    from pycrawl.state.unwanted import Rule, hash_digits
    from pycrawl.urls.normal_form import UrlRules, from_user
    from pycrawl.urls.parts import host_key, url_hash

    rules = {}
    for text in urls:
        url = from_user(text, UrlRules.of(config))
        if url is None:
            raise UsageError(f"{text}: not an http or https URL")
        rules[Rule("url", hash_digits(url_hash(url, seed)))] = url
    for text in hosts:
        url = from_user(text, UrlRules())
        if url is None or "/" in text:
            raise UsageError(f"--host {text}: expected the name of a host, such as www.example.com")
        rules[Rule("host", host_key(url))] = host_key(url)
    for text in prefixes:
        url = from_user(text, UrlRules()) if text.startswith(("http://", "https://")) else None
        if url is None:
            raise UsageError(f"--prefix {text}: expected the start of a URL, such as https://example.com/private/")
        rules[Rule("prefix", url)] = url
    return rules


def _check_known(database: Database, in_vain: dict[Rule, str], seed: int) -> None:
    """Says what was forgotten before; raises PycrawlError for what is not known at all."""
    from pycrawl.state.forgetting import is_forgotten

    unknown = [name for rule, name in in_vain.items() if not is_forgotten(database, rule, name, seed)]
    if unknown:
        database.rollback()
        others = f" (and {plural(len(unknown) - 1, 'other')})" if len(unknown) > 1 else ""
        raise PycrawlError(
            f"{unknown[0]}{others}: this crawl knows no such URL, so there is nothing to forget. To keep it out, use"
            " scope.deny_prefixes or scope.deny_hosts. Nothing was changed."
        )
    for name in in_vain.values():
        output.say(f"{name}: forgotten before")


def _show(chosen: Selection, copies: list[str]) -> None:
    where = f" on {plural(chosen.hosts, 'host')}" if chosen.hosts > 1 else ""
    output.say(f"{plural(chosen.urls, 'URL')}{where} with {plural(chosen.documents, 'stored document')} to forget.")
    _list("Copies that go too, as they have the same bytes:", copies)
    _list("The same bytes stay under these URLs (--copies takes them too):", chosen.copies)
    _list("Near-duplicates that stay:", chosen.near)


def _list(title: str, urls: Iterable[str]) -> None:
    listed = list(urls)
    if listed:
        output.say(title)
    for url in listed[:_MOST_LISTED]:
        output.say(f"  {url}")
    if len(listed) > _MOST_LISTED:
        output.say(f"  … and {len(listed) - _MOST_LISTED:,} more")
