"""The hostile web beside honest hosts: does every fault cost its own URLs only? `python bench/hostile.py`

All hosts of `python -m pycrawl.simweb --hostile` at once, beside 50 honest ones with a delay of a second, are crawled
for five minutes by the real program. Checked: no process ends; a fetcher's memory stays below 400 MB; by the honest
hosts' own log, none of their pages comes later than 2 s after it was due; nothing is written outside of the crawl's
directory; and no control character reaches standard output, the logs, or what the commands say of the hostile hosts
afterwards. The exit code is 1 if one of these fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import psutil
from measure import PYCRAWL, new_crawl

from pycrawl.simweb import LogEntry, SimServer, SimWebSettings

_FETCHER = "pycrawl-fetcher"  # the name of the processes
_DELAY = 1.0  # seconds, at all hosts
_SPARE_PAGES = 60  # of an honest host, beyond those that there is time for
_SAMPLE_SECONDS = 0.25
_ENDING_SECONDS = 120.0  # for the crawl to end after its time is over
_LOOKED_UP = 20  # hostile hosts of which `why` and `get` are asked, beside those with escapes
_SHOWN = 12  # of the URLs or pauses that a check names
# Those that change how text around them is shown.
_BIDI = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")


@dataclass(slots=True)
class Checks:
    """What was checked, and what is wrong."""

    failed: int = 0
    figures: dict[str, object] = field(default_factory=dict)

    def check(self, name: str, holds: bool, found: str) -> None:
        self.failed += not holds
        self.figures[name] = found
        print(f"{'ok    ' if holds else 'FAILED'}  {name}: {found}", flush=True)


class Pause(NamedTuple):
    """A time in which an honest host was not asked for anything."""

    seconds: float
    begun: float  # seconds after the first request
    address: str


@contextmanager
def hostile_web() -> Iterator[str]:
    """Serves the hostile web in a process of its own; yields the URL of its index."""
    command = [sys.executable, "-P", "-m", "pycrawl.simweb", "--hostile", "--port", "0", "--until-eof"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()


def hostile_hosts(index: str) -> dict[str, str]:
    """The hosts by name, each with the URL of its home page."""
    port = index.rstrip("/").rpartition(":")[2]
    command = [sys.executable, "-P", "-m", "pycrawl.simweb", "--hostile", "--port", port, "--print-urls"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: url for url, name, *_ in (line.split("\t") for line in lines)}


class Watch:
    """The fetchers of a running crawl: which there were, and the most memory that one of them had."""

    def __init__(self, root: int) -> None:
        self._root = psutil.Process(root)
        self.fetchers: dict[int, int] = {}  # process id → bytes, resident

    def look(self) -> None:
        with suppress(psutil.Error):
            for child in self._root.children(recursive=True):
                if child.name() == _FETCHER:
                    size = child.memory_info().rss
                    self.fetchers[child.pid] = max(size, self.fetchers.get(child.pid, 0))


def crawl(directory: Path, seconds: float, output: Path, environment: dict[str, str]) -> tuple[int, Watch]:
    """Crawls for so long. Returns the exit code and what was seen of the fetchers."""
    command = [*PYCRAWL, "crawl", "-C", str(directory), "--max-time", f"{seconds:g}s"]
    command += ["--report", str(directory / "run.json")]
    with output.open("wb") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, env=environment, cwd=directory.parent
        )
        watch = Watch(process.pid)
        deadline = time.monotonic() + seconds + _ENDING_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            watch.look()
            time.sleep(_SAMPLE_SECONDS)
        if process.poll() is None:
            process.kill()
    return process.wait(), watch


def late_pages(log: list[LogEntry], since: float, until: float, delay: float, slack: float) -> list[Pause]:
    """Pauses of honest hosts that were too long, the longest first.

    From the end of a request to the next one, and from the last one to `until`, as pages were always left.
    """
    by_host: dict[str, list[LogEntry]] = defaultdict(list)
    for entry in log:
        by_host[entry.address].append(entry)
    late: list[Pause] = []
    for address, entries in by_host.items():
        ends = [since, *(entry.ended for entry in entries)]
        starts = [*(entry.started for entry in entries), until]
        pauses = [Pause(start - end, end - since, address) for end, start in zip(ends, starts, strict=True)]
        late += [pause for pause in pauses if pause.seconds > delay + slack]
    return sorted(late, reverse=True)


def odd_characters(texts: Iterable[tuple[str, bytes]]) -> list[str]:
    """Where control characters, or those that turn text around, stand in these texts: "name: character in line"."""
    found = []
    for name, data in texts:
        for line in data.decode("utf-8", "surrogateescape").split("\n"):
            odd = {
                sign for sign in line if (unicodedata.category(sign) in ("Cc", "Cs") and sign != "\t") or sign in _BIDI
            }
            if odd:
                found.append(f"{name}: {sorted(odd)!r} in {line[:120]!r}")
    return found


def said(directory: Path, hosts: dict[str, str], environment: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """What the commands say about the crawl and the hostile URLs."""
    commands = [["stats"], ["stats", "--errors"], ["stats", "--hosts"], ["stats", "--json"], ["audit"]]
    commands.append(["verify", "--deep"])
    commands += [["list", "--state", state] for state in ("queued", "done", "aside", "failed")]
    every = max(1, len(hosts) // _LOOKED_UP)
    asked = [url for number, (name, url) in enumerate(hosts.items()) if number % every == 0 or "escapes" in name]
    for url in asked:
        commands += [["why", url], ["get", "--text", url], ["get", "--json", url], ["robots", f"{url}1"]]
    for words in commands:
        ended = subprocess.run(
            [*PYCRAWL, words[0], "-C", str(directory), *words[1:]],
            capture_output=True,
            env=environment,
            cwd=directory.parent,
            check=False,
        )
        yield " ".join(words), ended.stdout + ended.stderr


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def soak(options: argparse.Namespace, room: Path, checks: Checks) -> None:
    pages = options.honest * (round(options.seconds / _DELAY) + _SPARE_PAGES)
    settings = SimWebSettings.plain(hosts=options.honest, pages=pages, port=0, host_skew=0.0, mean_page_bytes=4_000)
    home, directory, output = room / "home", room / "crawl", room / "output"
    home.mkdir()
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home)}
    with SimServer(settings, cache_bytes=20_000_000) as honest, hostile_web() as index:
        hosts = {} if options.calm else hostile_hosts(index)
        new_crawl(
            directory,
            [*honest.web.home_pages, *([] if options.calm else [index]), *hosts.values()],
            {
                "politeness.delay": str(_DELAY),
                "security.allow_private_addresses": "false",
                "security.allow_networks": '["127.0.0.0/8"]',
                "crawl.fetchers": str(options.fetchers),
            },
        )
        before = tree(room)
        begun = time.monotonic()
        code, watch = crawl(directory, options.seconds, output, environment)
        log = honest.log()
        outside = {path for path in tree(room) - before if not path.startswith("crawl/")} - {"output"}
    _check_processes(checks, directory, code, watch, options)
    slack = options.late
    # The first page of a host may be asked for once the crawl has started.
    since = min((entry.started for entry in log), default=begun)
    late = late_pages(log, since, begun + options.seconds, _DELAY, slack)
    longest = "; ".join(f"{seconds:.1f} s at {address} from {begun:.0f} s on" for seconds, begun, address in late[:3])
    reached = len({entry.address for entry in log})
    checks.check("honest hosts reached", reached == options.honest, f"{reached}, {len(log):,} requests")
    checks.check(
        f"pages later than {slack:g} s after they were due", not late, f"{len(late)}, the longest: {longest or 0}"
    )
    checks.check("files outside of the directory", not outside, ", ".join(sorted(outside)[:_SHOWN]) or "none")
    texts = [("output", output.read_bytes())]
    texts += [(str(path.relative_to(directory)), path.read_bytes()) for path in sorted(directory.glob("log/*"))]
    odd = odd_characters([*texts, *said(directory, hosts, environment)])
    checks.check("control characters shown", not odd, "none" if not odd else "\n        ".join(["", *odd[:_SHOWN]]))


def _check_processes(checks: Checks, directory: Path, code: int, watch: Watch, options: argparse.Namespace) -> None:
    report = directory / "run.json"
    replaced = json.loads(report.read_text("utf-8")).get("fetchers_replaced", 0) if report.exists() else "unknown"
    checks.check("exit code", code == 0, str(code))
    checks.check(
        "processes that ended",
        replaced == 0 and len(watch.fetchers) == options.fetchers,
        f"{replaced} fetchers replaced, {len(watch.fetchers)} seen",
    )
    most = max(watch.fetchers.values(), default=0) / 1e6
    checks.check("most memory of a fetcher", 0 < most <= options.memory, f"{most:.0f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300.0, help="that the crawl goes on (default: 300)")
    parser.add_argument("--honest", type=int, default=50, help="honest hosts (default: 50)")
    parser.add_argument("--fetchers", type=int, default=2, help="fetcher processes (default: 2)")
    parser.add_argument("--late", type=float, default=2.0, help="seconds that a page may be late (default: 2)")
    parser.add_argument("--memory", type=float, default=400.0, help="MB that a fetcher may have (default: 400)")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="make the crawl in this new folder, and leave it there"
    )
    parser.add_argument(
        "--calm", action="store_true", help="without hostile hosts: what the machine itself is good for"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found to this file")
    options = parser.parse_args()
    checks = Checks()
    if options.keep:
        options.keep.mkdir(parents=True)
        soak(options, options.keep.resolve(), checks)
    else:
        with tempfile.TemporaryDirectory(prefix="hostile-") as room:
            soak(options, Path(room), checks)
    if options.json:
        options.json.write_text(json.dumps(checks.figures, indent=1) + "\n", "utf-8")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
