"""What each process loads: asserted in processes of their own, and in those of a running crawl."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import pycrawl
from pycrawl.simweb import SimServer, SimWebSettings

PYCRAWL = Path(sys.executable).with_name("pycrawl")
DEADLINE = 300.0  # seconds
ENOUGH_REQUESTS = 30  # by then both fetchers have fetched and parsed

COORDINATOR_NEVER = (
    "pycurl resiliparse urllib3 requests bs4 protego pycares click rich"
    " pycrawl.fetch pycrawl.parse pycrawl.fetcher.process pycrawl.fetcher.page_result"
)
FETCHER_NEVER = (
    "sqlite3 click rich requests bs4 pycrawl.state pycrawl.frontier pycrawl.store"
    " pycrawl.crawl.session pycrawl.coordinator pycrawl.processes.pool pycrawl.cli"
)
COMMAND_LINE_NEVER = (
    "numpy rich sqlite3 pycurl resiliparse ada_url multiprocessing pycrawl.config pycrawl.state pycrawl.coordinator"
)
THIRD_PARTY = "ada_url bs4 click isal numpy protego pycares pycurl requests resiliparse rich urllib3 xxhash"


def loaded_by(code: str) -> set[str]:
    """The names of all modules that a new interpreter has after `code`."""
    code += "\nimport sys\nprint('\\n'.join(['', *sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.splitlines())


def of(modules: set[str], packages: str) -> set[str]:
    """Those of `packages` that are among `modules`, themselves or in part."""
    return {
        name for name in packages.split() if any(module == name or module.startswith(f"{name}.") for module in modules)
    }


@pytest.mark.parametrize(
    ("code", "never"),
    [
        ("import pycrawl.fetcher.process", FETCHER_NEVER),
        ("import pycrawl.coordinator, pycrawl.processes.pool", COORDINATOR_NEVER),
        ("import pycrawl.collection.verify", COORDINATOR_NEVER),
        ("from pycrawl import Collection, Crawl", COORDINATOR_NEVER),
        ("import pycrawl", f"{THIRD_PARTY} sqlite3 multiprocessing pycrawl.collection pycrawl.api pycrawl.config"),
        ("import pycrawl.cli", COMMAND_LINE_NEVER),
        ("import pycrawl.config, pycrawl.model, pycrawl.errors", THIRD_PARTY),
        ("import pycrawl.processes.spawn", THIRD_PARTY),
        ("import pycrawl.__main__", THIRD_PARTY),
        ("import pycrawl.simweb.server", THIRD_PARTY),
        ("import pycrawl.cli.stats, pycrawl.cli.get, pycrawl.store.reader", "numpy rich pycurl"),
    ],
)
def test_an_import_does_not_load(code: str, never: str) -> None:
    assert of(loaded_by(code), never) == set()


IMPORT_EACH_FIRST = """
import importlib, os, sys
import click, multiprocessing, numpy, pycurl, sqlite3  # slow to load, and none of them knows of pycrawl

for name in sys.argv[1:]:
    pid = os.fork()
    if pid == 0:
        importlib.import_module(name)
        print(name, flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def imported_late() -> set[str]:
    """The modules of pycrawl that functions import."""
    trees = [ast.parse(path.read_bytes()) for path in Path(pycrawl.__file__).parent.rglob("*.py")]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    imports = [node for one in functions for node in ast.walk(one) if isinstance(node, ast.ImportFrom)]
    return {node.module for node in imports if node.module and node.module.startswith("pycrawl.")}


def test_what_is_imported_late_needs_nothing_before_it() -> None:
    """The tests of commands would not find that: what they fork has loaded most modules (`tests.e2e.forked`)."""
    modules = imported_late()
    assert "pycrawl.collection.statistics" in modules
    line = [sys.executable, "-c", IMPORT_EACH_FIRST, *modules]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    assert modules - set(done.stdout.splitlines()) == set(), done.stderr


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("import pycrawl.fetcher.process", "pycrawl.fetch pycrawl.parse resiliparse protego"),
        ("import pycrawl.coordinator", "pycrawl.state pycrawl.store pycrawl.frontier sqlite3"),
    ],
)
def test_the_names_asked_for_are_those_in_use(code: str, names: str) -> None:
    """If a package were renamed, the test above would pass for ever."""
    assert of(loaded_by(code), names) == set(names.split())


def test_help_needs_nothing_but_click() -> None:
    code = "from pycrawl.cli import cli\ncli(['--help'], standalone_mode=False)"
    modules = loaded_by(code)
    assert of(modules, COMMAND_LINE_NEVER) == set()
    assert of(modules, THIRD_PARTY) == {"click"}


@pytest.fixture
def running_crawl(tmp_path: Path) -> Iterator[psutil.Process]:
    settings = SimWebSettings.plain(hosts=10, pages=2_000, mean_page_bytes=1_000, port=0)
    with SimServer(settings) as server:
        crawl = tmp_path / "crawl"
        subprocess.run([PYCRAWL, "init", crawl, "--seed", server.seed, "--contact", "test"], check=True)
        (crawl / "pycrawl.toml").write_text("politeness.delay = 0.05\nsecurity.allow_private_addresses = true\n")
        process = subprocess.Popen([PYCRAWL, "crawl", "-C", crawl, "--fetchers", "2"], start_new_session=True)
        try:
            ends = time.monotonic() + DEADLINE
            while len(server.log()) < ENOUGH_REQUESTS:
                assert process.poll() is None, "the crawl has ended"
                assert time.monotonic() < ends, "the crawl does not begin"
                time.sleep(0.05)
            yield psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(DEADLINE)


def libraries(process: psutil.Process) -> set[str]:
    """The shared objects in a process's memory: what it has loaded, whatever its own tables say."""
    return {os.path.basename(line.split()[-1]) for line in Path(f"/proc/{process.pid}/maps").read_text().splitlines()}


def has(names: set[str], part: str) -> bool:
    return any(part in name for name in names)


def test_the_processes_of_a_running_crawl(running_crawl: psutil.Process) -> None:
    fetchers = [child for child in running_crawl.children(recursive=True) if child.name() == "pycrawl-fetcher"]
    assert len(fetchers) == 2
    for fetcher in fetchers:
        names = libraries(fetcher)
        assert has(names, "pycurl")
        assert not has(names, "sqlite3")
    names = libraries(running_crawl)
    assert has(names, "sqlite3")
    assert not has(names, "pycurl")
    assert not has(names, "resiliparse")
