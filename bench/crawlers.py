"""The crawlers that are compared: each crawls a whole web from its seeds, obeys robots.txt, and stores the pages."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from measure import Spent, crawl, new_crawl, run
from static_web import ACCESS_LOG, nginx_program
from webs import Web

SCRAPY_SECONDS = 30.0  # it is so much slower that a part of the web has to do
WGET2_THREADS = 30
_IDLE_SECONDS = 6.0  # without a request: then it has hung up; nginx writes its log once a second
_IN_MEMORY = Path("/dev/shm")
_QUIET: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


@dataclass(frozen=True, slots=True)
class Crawler:
    """`crawl` gets the web, a folder to work in, and that of nginx."""

    name: str
    crawl: Callable[[Web, Path, Path], Spent]
    ends_by_itself: bool  # else it is timed until the last page came
    limit: float = 0.0  # seconds, and one run only; 0: none


class Missing(Exception):
    """A crawler cannot be had here; the text says why."""


# pycrawl


def _pycrawl(web: Web, work: Path, server: Path) -> Spent:
    settings = {"scope.allow_hosts": json.dumps(web.addresses)}
    new_crawl(work / "crawl", web.starts, settings)
    return crawl(work / "crawl")[1]


def pycrawl(cache: Path) -> Crawler:
    return Crawler("pycrawl", _pycrawl, ends_by_itself=True)


# Scrapy


def scrapy(cache: Path) -> Crawler:
    python = _scrapy_python(cache / "scrapy")

    def crawl_with_scrapy(web: Web, work: Path, server: Path) -> Spent:
        (work / "seeds").write_text("\n".join(web.starts))
        (work / "pages").mkdir()
        spider = str(Path(__file__).with_name("scrapy_spider.py"))
        command = [str(python), spider, str(work / "seeds"), str(work / "pages"), str(SCRAPY_SECONDS)]
        return run(command, cwd=work, **_QUIET)

    return Crawler("scrapy", crawl_with_scrapy, ends_by_itself=False, limit=SCRAPY_SECONDS)


def _scrapy_python(environment: Path) -> Path:
    """Scrapy's own Python; its environment is made at the first time."""
    python = environment / "bin" / "python"
    done = environment / "installed"
    if done.exists():
        return python
    print(f"installing Scrapy into {environment} …", file=sys.stderr)
    try:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(environment)], check=True, capture_output=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "scrapy"], check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode("utf-8", "replace").strip().splitlines() or [str(error)]
        raise Missing(f"Scrapy cannot be installed, so it is left out: {lines[-1]}") from None
    done.touch()
    return python


# wget2


def _wget2(web: Web, work: Path, server: Path) -> Spent:
    return _wget2_into(work / "pages", web, work, server)


def _wget2_in_memory(web: Web, work: Path, server: Path) -> Spent:
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-", dir=_IN_MEMORY) as pages:
        return _wget2_into(Path(pages), web, work, server)


def _wget2_into(pages: Path, web: Web, work: Path, server: Path) -> Spent:
    (work / "seeds").write_text("\n".join(web.starts))
    grown = Growth(server / ACCESS_LOG)
    command = ["wget2", "--no-config", "-q", "-r", "-l", "inf", f"--max-threads={WGET2_THREADS}", "--robots=on"]
    command += ["--tries=1", "--no-hsts", "--no-ocsp", f"--domains={','.join(web.addresses)}", "--span-hosts"]
    command += ["--reject=css,js,png,jpg,jpeg,gif,svg,ico", "-P", str(pages), "-i", str(work / "seeds")]
    spent = run(command, grown.has_ended, **_QUIET)
    # What it burns while it hangs is not held against it.
    return replace(spent, cpu=grown.cpu) if spent.was_stopped else spent


class Growth:
    """Watches the server's log; the crawler has ended when that has not grown for a while."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._size = -1
        self._at = 0.0
        self.cpu = 0.0  # seconds that the crawler had used when the log grew last

    def has_ended(self, cpu: float) -> bool:
        size = self._log.stat().st_size
        if size != self._size:
            self._size, self._at, self.cpu = size, time.monotonic(), cpu
        return time.monotonic() - self._at > _IDLE_SECONDS


def wget2(cache: Path) -> Crawler:
    return Crawler("wget2", _wget2, ends_by_itself=False)


def wget2_in_memory(cache: Path) -> Crawler:
    """wget2 with its files in memory: on a disk, most of its CPU time is the file system creating them."""
    return Crawler("wget2-mem", _wget2_in_memory, ends_by_itself=False)


CRAWLERS = {"pycrawl": pycrawl, "scrapy": scrapy, "wget2": wget2, "wget2-mem": wget2_in_memory}


def check_programs(names: list[str]) -> None:
    """Say at once what has to be installed."""
    nginx_program()
    if any(name.startswith("wget2") for name in names) and shutil.which("wget2") is None:
        raise SystemExit("wget2 is missing: apt-get install wget2 (or leave it out: --only pycrawl,scrapy)")
