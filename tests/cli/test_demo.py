"""`pycrawl demo`: a web and its crawl, started and stopped together."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pycrawl.cli.demo import callable_as

PYCRAWL = Path(sys.executable).with_name("pycrawl")
DEADLINE = 30.0  # seconds


def pages_fetched(crawl: Path) -> int:
    """0 also when the crawl is not there yet, or only half."""
    done = subprocess.run([PYCRAWL, "stats", "--json", "-C", crawl], check=False, capture_output=True)
    return int(json.loads(done.stdout)["pages_fetched"]) if done.returncode == 0 else 0


@contextmanager
def demo(crawl: Path, pages: int) -> Iterator[subprocess.Popen[str]]:
    """A demo that has come so far."""
    process = subprocess.Popen([PYCRAWL, "demo", crawl], stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        ends = time.monotonic() + DEADLINE
        while pages_fetched(crawl) < pages:
            assert process.poll() is None, "the demo has ended"
            assert time.monotonic() < ends, "the demo does not get so far"
            time.sleep(0.1)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_ctrl_c_ends_web_and_crawl_and_the_next_demo_goes_on(tmp_path: Path) -> None:
    crawl = tmp_path / "demo"
    with demo(crawl, pages=100) as process:
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=DEADLINE)
    assert process.returncode == 130
    assert "run `pycrawl demo` again" in output
    psutil.wait_procs(family, timeout=5)
    assert not [one for one in family if one.is_running()]
    before = pages_fetched(crawl)
    with demo(crawl, pages=before + 50) as process:
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=DEADLINE)
    assert output.startswith(f"Continuing the demo in {crawl}.")


def test_the_web_ends_when_the_demo_is_killed(tmp_path: Path) -> None:
    with demo(tmp_path / "demo", pages=1) as process:
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        _, alive = psutil.wait_procs(family, timeout=DEADLINE)
        assert alive == []


def test_what_is_not_a_demo_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("my only copy")
    done = subprocess.run([PYCRAWL, "demo", tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "contains something other than a demo" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("own", "on_path", "words"),
    [
        (PYCRAWL, True, "pycrawl"),
        (PYCRAWL, False, str(PYCRAWL)),
        (Path("somewhere/pycrawl/__main__.py"), True, f"{sys.executable} -m pycrawl"),
    ],
)
def test_what_to_try_next_can_be_typed(own: Path, on_path: bool, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(PYCRAWL.parent) if on_path else "/nonexistent")
    assert callable_as(own) == words
