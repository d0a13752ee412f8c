"""The steps of a life with a crawl: crawl some, narrow, widen, add, retry, forget, kill, recrawl, faults; and what must
be true after each of them.

`Life` drives the real program against the small web (`ledger_web.py`), and after each step compares the servers' log
with the model (`ledger_model.py`). A failure prints the steps so far.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from click.testing import CliRunner

from pycrawl.cli import cli
from tests.e2e.crawling import Crawl, merged, pycrawl
from tests.e2e.ledger_model import (
    Rules,
    Walk,
    Wishes,
    host,
    is_too_deep,
    may_be_asked,
    named_by,
    path,
    reasons,
    robots_deny,
    walk,
    wants_type,
)
from tests.e2e.ledger_web import Fault, LedgerWeb, Request

# Probes are wanted, as they are requests too; the trap judge is not, as the model knows nothing of it.
SETTINGS: dict[str, dict[str, object]] = {
    "crawl": {"fetchers": 2},
    "traps": {"novelty": False, "soft_404": True},
    "recrawl": {"min_interval": 0},
}
NOTHING_FETCHED = 5  # exit code of a crawl that got no page from any seed
NOT_FOUND = 404
FAILED = 1  # exit code
USAGE = 2  # exit code of `add` when no URL can be crawled
MOST_SECONDS = "20s"  # of a run in which hosts may refuse connections


class Step(Protocol):
    def take(self, life: Life) -> None: ...


class Life:
    """One crawl directory, the web it crawls, and what was said to it so far."""

    def __init__(self, folder: Path, web: LedgerWeb) -> None:
        self.web = web
        self.rules = Rules()
        self.wishes = Wishes((web.url("a", "/"),))
        self.read: set[str] = (
            set()
        )  # pages and redirects whose links are known, also of those that were forgotten since
        self.missing_starts: set[str] = set()  # starts of URLs that answered 404 for a while
        self.crawl = Crawl.make(folder / "crawl", self.wishes.seeds)
        self.steps: list[Step] = []

    def take(self, step: Step) -> None:
        self.steps.append(step)
        self.web.epoch += 1
        self.crawl.configure(self.settings())
        step.take(self)
        self.read |= set(self.crawl.documents_by_url()) | self._redirects()

    def settings(self) -> dict[str, dict[str, object]]:
        """The settings of this moment, as sections of `pycrawl.toml`."""
        return merged(self.rules.settings(), SETTINGS)

    def command(self, name: str, *arguments: str, codes: tuple[int, ...] = (0,)) -> str:
        ended = pycrawl(name, "-C", self.crawl.path, *arguments)
        output = ended.stdout + ended.stderr
        assert ended.returncode in codes, self.told(f"{name} {arguments}: {ended.returncode}: {output}")
        return output

    def told(self, what: str) -> str:
        """A message with the steps that led there."""
        lines = "\n".join(f"  {number}. {step}" for number, step in enumerate(self.steps, 1))
        return f"{what}\nafter these steps:\n{lines}"

    # What must be true

    def check_requests(self, rules: Rules) -> None:
        """No request of this step was forbidden by the settings of this moment."""
        requests = [one for one in self.web.log if one.epoch == self.web.epoch]
        answered = {one.url for one in self.web.log if one.status in range(200, 400)}
        walked = walk(self.web, rules, self.wishes, answered)
        forbidden = [one for one in requests if not self._is_allowed(walked, one, rules)]
        assert not forbidden, self.told(f"asked for what {rules} forbids: {forbidden}")

    def _is_allowed(self, walked: Walk, request: Request, rules: Rules) -> bool:
        if path(request.url) == "/robots.txt" or request.status == 0:
            own = [url for url in walked.depth if host(url) == host(request.url)]
            return any(may_be_asked(walked, url, rules, self.wishes) or self._may_be_denied(url, rules) for url in own)
        if request.url in walked.depth:
            return may_be_asked(walked, request.url, rules, self.wishes)
        is_probe = request.url not in self.web.pages
        return is_probe and not reasons(request.url, rules, self.wishes)

    def _may_be_denied(self, url: str, rules: Rules) -> bool:
        """Its robots.txt must be asked for, to learn that it denies it."""
        return robots_deny(url) and not reasons(url, rules, self.wishes)

    def check_the_end(self) -> None:
        """The crawl stands as if its settings had held from the start."""
        stored = set(self.crawl.documents_by_url())
        fresh = walk(self.web, self.rules, self.wishes)
        missing = fresh.stored - stored
        assert not missing, self.told(f"{self.rules} would fetch, and were not: {sorted(missing)}")
        self.crawl.run("verify", "--deep")
        known = walk(self.web, self.rules, self.wishes, self.read)
        named = {target for page in stored | self._redirects() for target in named_by(self.web, page)}
        for url in sorted(named):
            self._check_answer(url, known, fresh, url in stored)

    def _redirects(self) -> set[str]:
        rows = self.crawl.query("SELECT url FROM urls JOIN visits ON visits.url_id = urls.id WHERE status = 301")
        return {url for (url,) in rows}

    def _check_answer(self, url: str, known: Walk, fresh: Walk, is_stored: bool) -> None:
        told = self.why(url)
        found = (told.get("state"), told.get("reason"))
        expected = self._answers(url, known, fresh, is_stored)
        matches = any(found[0] == state and (reason is None or found[1] == reason) for state, reason in expected)
        assert matches, self.told(f"why {url} says {found}, not one of {sorted(expected, key=str)}, under {self.rules}")

    def _answers(self, url: str, known: Walk, fresh: Walk, is_stored: bool) -> set[tuple[str, str | None]]:
        """States with reasons that agree with the model; more than one where it does not matter which reason is said.

        A page that is out of scope now may have named the URL on a shorter way than a fresh crawl finds.
        """
        against = reasons(url, self.rules, self.wishes)
        if is_too_deep(known.depth[url], self.rules):
            against.add("too-deep")
        if url not in known.plain:
            against.add("nofollow")
        if against:
            return {("aside", reason) for reason in against}
        if robots_deny(url):
            return {("aside", "robots-denied")}
        if url.startswith("https:"):
            return {("queued", None), ("failed", None)}
        page = self.web.pages.get(url)
        if page is None:
            return {("failed", "http-4xx")}
        answers: set[tuple[str, str | None]] = {("done", None)}
        if not page.redirect and not wants_type(page, self.rules):
            answers = {("aside", "unwanted-type")} | (answers if is_stored else set())
        if is_stored and any(url.startswith(start) for start in self.missing_starts):
            answers.add(("gone", None))
        if is_too_deep(fresh.depth.get(url, 0), self.rules):
            answers.add(("aside", "too-deep"))
        return answers

    def knows(self, url: str, below: bool) -> bool:
        """Does the ledger have the URL, or one below it? What was forgotten before has no text in it."""
        urls = [known for (known,) in self.crawl.query("SELECT url FROM urls")]
        return any(known.startswith(url) for known in urls) if below else url in urls

    def why(self, url: str) -> dict[str, Any]:
        """`pycrawl why --json`, without a process of its own."""
        told = CliRunner().invoke(cli, ["why", "-C", str(self.crawl.path), "--json", url])
        assert told.exit_code == 0, self.told(told.output)
        facts: dict[str, Any] = json.loads(told.stdout)
        return facts

    def finish(self) -> None:
        """Faults end, what failed is tried again, and the crawl goes on until nothing is left."""
        self.web.end_faults()
        self.take(Retry())
        if self.missing_starts:
            self.command("retry", "--reason", "http-4xx")
        self.take(CrawlSome())
        self.check_the_end()


# The steps


@dataclass(frozen=True, slots=True)
class CrawlSome:
    max_pages: int = 0  # 0: until nothing is left
    max_depth: int = -1  # -1: as the settings say
    recrawl: bool = False

    def take(self, life: Life) -> None:
        options = ["--max-time", MOST_SECONDS]
        options += ["--max-pages", str(self.max_pages)] if self.max_pages else []
        options += ["--max-depth", str(self.max_depth)] if self.max_depth >= 0 else []
        options += ["--recrawl"] if self.recrawl else []
        life.command("crawl", *options, codes=(0, NOTHING_FETCHED))
        life.web.wait_until_quiet()
        life.check_requests(self._narrowed(life.rules))

    def _narrowed(self, rules: Rules) -> Rules:
        depths = [depth for depth in (self.max_depth, rules.max_depth) if depth >= 0]
        return replace(rules, max_depth=min(depths, default=-1))


@dataclass(frozen=True, slots=True)
class Killed:
    """A crawl that is ended by kill -9 after so many requests, or a moment after its start."""

    requests: int
    recrawl: bool = False

    def take(self, life: Life) -> None:
        before = len(life.web.log)
        running = life.crawl.start("crawl", *(["--recrawl"] if self.recrawl else []))
        running.until(lambda: len(life.web.log) - before >= self.requests)
        running.kill_tree()
        life.web.wait_until_quiet()
        life.check_requests(life.rules)
        life.crawl.verify()


@dataclass(frozen=True, slots=True)
class Change:
    """A setting gets another value; None: its default. Hosts are named by their letters."""

    key: str
    value: Any = None

    def take(self, life: Life) -> None:
        value = getattr(Rules(), self.key) if self.value is None else self.value
        if self.key.endswith("_hosts"):
            value = tuple(life.web.host(name) for name in value)
        life.rules = replace(life.rules, **{self.key: value})


@dataclass(frozen=True, slots=True)
class TakeAllBack:
    def take(self, life: Life) -> None:
        life.rules = Rules()


@dataclass(frozen=True, slots=True)
class Add:
    name: str
    path: str

    def take(self, life: Life) -> None:
        url = life.web.url(self.name, self.path)
        if life.wishes.has_forgotten(url):
            return
        life.command("add", url, codes=(0, USAGE))
        life.wishes = replace(life.wishes, seeds=(*life.wishes.seeds, url))
        life.check_requests(life.rules)


@dataclass(frozen=True, slots=True)
class Retry:
    def take(self, life: Life) -> None:
        life.command("retry")
        life.check_requests(life.rules)


@dataclass(frozen=True, slots=True)
class Forget:
    """A page, or all below it; what was never met is refused."""

    name: str
    path: str
    below: bool = False

    def take(self, life: Life) -> None:
        url = life.web.url(self.name, self.path)
        entry = url if self.below else f"{url}$"
        if entry in life.wishes.forgotten:
            return
        is_known = life.knows(url, self.below)
        life.command(
            "forget", "--yes", *(["--prefix", url] if self.below else [url]), codes=(0 if is_known else FAILED,)
        )
        if is_known:
            life.wishes = replace(life.wishes, forgotten=(*life.wishes.forgotten, entry))
        life.crawl.verify()


@dataclass(frozen=True, slots=True)
class AddAgain:
    """The page that was forgotten first, if nothing else speaks of it, is wanted again, as a seed."""

    def take(self, life: Life) -> None:
        for entry in life.wishes.forgotten:
            rest = tuple(other for other in life.wishes.forgotten if other != entry)
            url = entry.removesuffix("$")
            if url != entry and not replace(life.wishes, forgotten=rest).has_forgotten(url):
                life.command("add", "--again", url, codes=(0, USAGE))
                life.wishes = Wishes((*life.wishes.seeds, url), rest)
                return


@dataclass(frozen=True, slots=True)
class FaultBegins:
    name: str
    prefix: str
    status: int

    def take(self, life: Life) -> None:
        life.web.set_fault(Fault(self.name, self.prefix, self.status))
        if self.status == NOT_FOUND:
            life.missing_starts.add(life.web.url(self.name, self.prefix))


@dataclass(frozen=True, slots=True)
class FaultsEnd:
    def take(self, life: Life) -> None:
        life.web.end_faults()


@dataclass(frozen=True, slots=True)
class PagesChange:
    def take(self, life: Life) -> None:
        life.web.version += 1
        time.sleep(0.01)  # so that a revisit is later than the visit before
