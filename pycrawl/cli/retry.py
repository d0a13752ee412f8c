"""`pycrawl retry`: has failed URLs tried again by the next run, or by the one that is running."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pycrawl.cli import output
from pycrawl.cli.common import crawl_directory, directory_option, open_for_reading, plural, say_what_is_aside
from pycrawl.errors import DirectoryHeld, UsageError

if TYPE_CHECKING:
    from pycrawl.crawl.retrying import Retried

_MOST_SHOWN = 5  # URLs of each kind that could not be queued


@click.command("retry")
@directory_option
@click.option("--reason", metavar="R", default="", help="What failed for this reason, such as http-5xx or http-4xx.")
@click.option("--host", metavar="H", default="", help='What failed on this host; "*.example.com" means a whole domain.')
@click.argument("urls", metavar="[URL]...", nargs=-1)
def command(path: Path, reason: str, host: str, urls: tuple[str, ...]) -> None:
    """Have URLs that failed tried again.

    Without arguments these are all URLs that failed for reasons that may pass: no answer, no such host, a server that
    was too busy or had an error of its own. Hosts that were left alone after failures are asked again too. URLs that
    are named are asked for again whatever became of them. The next run does it, or the one that is running.

    \b
      pycrawl retry
      pycrawl retry --reason http-4xx --host www.example.com
      pycrawl retry https://example.com/page.html
    """
    from pycrawl.crawl.retrying import RetryRequest, retry
    from pycrawl.crawl.session import Session

    if urls and (reason or host):
        raise UsageError("expected URLs, or --reason and --host, found both")
    _check_reason(reason)
    directory = crawl_directory(path)
    config = directory.config()
    if host:
        from pycrawl.collection.hosts_named import host_ids

        host_ids(open_for_reading(directory), host)  # to say now that there is none, as a running crawl cannot
    request = RetryRequest(urls, reason, host)
    try:
        with directory.hold(), Session(directory, config) as session:
            say_what_is_aside(session.aside)
            done = retry(session, request, time.time())
            session.commit_last(time.time())
    except DirectoryHeld as held:
        directory.leave_retry_in_inbox(request.to_text())
        output.say(f"{held}; it will try them again within a few seconds.")
        return
    _report(done)


def _check_reason(reason: str) -> None:
    from pycrawl.model import Outcome
    from pycrawl.urls.reasons import Reason

    if not reason or reason in set(Outcome):
        return
    if reason in set(Reason):
        setting = Reason(reason).setting
        raise UsageError(
            f"--reason: {reason} is no failure: {Reason(reason).words}."
            + (f" Change {setting}, and the next crawl takes such URLs in." if setting else "")
        )
    raise UsageError(f"--reason: expected one of {', '.join(sorted(Outcome))}; found {reason!r}")


def _report(done: Retried) -> None:
    from pycrawl.urls.reasons import Reason

    for url in done.unknown[:_MOST_SHOWN]:
        output.complain(f"pycrawl: not known: {url}. `pycrawl add` adds it.")
    for url, reason in done.aside[:_MOST_SHOWN]:
        output.complain(f"pycrawl: not queued: {url} ({Reason(reason).words})")
    hidden = max(len(done.unknown) - _MOST_SHOWN, 0) + max(len(done.aside) - _MOST_SHOWN, 0)
    if hidden:
        output.complain(f"pycrawl: … and {plural(hidden, 'more URL')}")
    parts = [f"{plural(done.queued, 'URL')} to be tried again"]
    if done.waiting:
        parts.append(f"{done.waiting:,} queued already")
    if done.hosts:
        parts.append(f"{plural(done.hosts, 'failing host')} to be asked again")
    output.say(
        ", ".join(parts) + ("." if done.queued + done.waiting + done.hosts == 0 else "; `pycrawl crawl` does it.")
    )
    if (done.unknown or done.aside) and not done.queued and not done.waiting:
        raise UsageError("none of these URLs can be tried again")
