"""The webs that crawls are measured on, ready to be served: one made up from a seed, one of real manuals."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from manuals import manuals
from static_web import StaticWeb, build, free_port

DEFAULT_CACHE = Path.home() / ".cache" / "pycrawl-bench"
FEW_PARAGRAPHS = 2_000  # quickly made; pages have much of their text in common


@dataclass(frozen=True, slots=True)
class Web:
    name: str
    root: Path  # with a folder for each address
    addresses: list[str]
    port: int
    starts: list[str]  # URLs
    pages: int


@contextmanager
def synthetic(pages: int, hosts: int, paragraphs: int = FEW_PARAGRAPHS) -> Iterator[Web]:
    made = StaticWeb(hosts=hosts, pages=pages, paragraphs=paragraphs)
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="pycrawl-bench-web-") as folder:
        print(f"building {pages:,} pages on {hosts} hosts …", file=sys.stderr)
        root = Path(folder, "web")
        build(made, root, port)
        starts = [made.url(page, port) for page in range(min(hosts, pages))]
        yield Web("synthetic", root, made.addresses, port, starts, pages)


@contextmanager
def real(cache: Path) -> Iterator[Web]:
    """Raises NoManuals."""
    found = manuals(cache / "manuals")
    port = free_port()
    starts = [f"http://{one.address}:{port}{path}" for one in found for path in one.starts]
    addresses = [one.address for one in found]
    yield Web("manuals", cache / "manuals" / "web", addresses, port, starts, sum(one.pages for one in found))


def add_web_options(parser: argparse.ArgumentParser) -> None:
    """Which web a single crawl is measured on."""
    parser.add_argument("--web", choices=("synthetic", "manuals"), default="synthetic")
    parser.add_argument("--hosts", type=int, default=100, help="of the synthetic web (default: %(default)s)")
    parser.add_argument("--pages", type=int, default=10_000, help="of the synthetic web (default: %(default)s)")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="for the manuals (default: %(default)s)")


def chosen_web(options: argparse.Namespace) -> AbstractContextManager[Web]:
    return real(options.cache) if options.web == "manuals" else synthetic(options.pages, options.hosts)
