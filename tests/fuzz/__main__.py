"""Looks for bytes with which a parser breaks its promises: `python -m tests.fuzz [--seconds 60] [TARGET …]`.

Spreads the seconds over all targets, or those named. A finding is written to tests/fuzz/found/TARGET/, from where the
ordinary tests run it from then on, and the exit code is 1. With a file of a corpus as its argument, it runs that case.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.fuzz.case import Target, TooSlow, run
from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import CHECKOUT, FOUND, STATUS_BYTES, Status, report_of

START_SECONDS = 120.0  # for a process to load what it checks, and to notice that its time is over
_LONGEST_REPORT = 4_000  # characters, the last ones
_NAME_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one target: `report` is empty unless `case` is a finding."""

    target: str
    cases: int
    report: str = ""
    case: bytes = b""


def main() -> int:
    options = _parser().parse_args()
    paths = [Path(name) for name in options.what if name not in TARGETS]
    if paths:
        for path in paths:
            run(TARGETS[path.parent.name], path.read_bytes())
            print(f"{path}: nothing is wrong with it")
        return 0
    targets = [TARGETS[name] for name in options.what] or [*TARGETS.values()]
    if options.compiled:
        targets = [target for target in targets if target.is_compiled]
    is_plain = options.plain or importlib.util.find_spec("atheris") is None
    how = "by chance" if is_plain else "guided by coverage"
    print(f"{len(targets)} targets, {options.seconds:g} s, {how}, --seed {options.seed}", flush=True)
    return 1 if _fuzz(targets, options.seconds, options.seed, options.jobs, is_plain) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("what", nargs="*", metavar="TARGET|FILE", help=f"{', '.join(TARGETS)}; or a case in a file")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (default: 60)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6), help="default: a new one")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1), help="targets at once")
    parser.add_argument("--plain", action="store_true", help="cases by chance, even where atheris is installed")
    parser.add_argument("--compiled", action="store_true", help="only targets that use the compiled module")
    return parser


def _fuzz(targets: Sequence[Target], seconds: float, seed: int, jobs: int, is_plain: bool) -> int:
    """Returns the number of findings."""
    share = seconds * min(jobs, len(targets)) / len(targets)
    cases = findings = 0
    with ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(lambda target: _run_target(target, share, seed, is_plain), targets):
            print(f"{done.target:16} {done.cases:12,} cases", flush=True)
            cases += done.cases
            if done.report:
                findings += 1
                print(f"{done.report}\n{_keep(done)}", flush=True)
    print(f"{'in all':16} {cases:12,} cases, {findings} findings")
    return findings


def _run_target(target: Target, seconds: float, seed: int, is_plain: bool) -> Run:
    """Until the seconds are over, or something is found. What is slow only because it is watched is no finding."""
    end = time.monotonic() + seconds
    cases = 0
    while True:
        found = _run_worker(target, end, seed + cases, is_plain)
        cases += found.cases
        if found.report and TooSlow.__name__ in found.report and not _is_slow(target, found.case):
            found = replace(found, report="")
        if found.report or time.monotonic() > end:
            return replace(found, cases=cases)


def _run_worker(target: Target, end: float, seed: int, is_plain: bool) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "status")
        path.write_bytes(bytes(STATUS_BYTES))
        command = [sys.executable, "-P", "-m", "tests.fuzz.worker", target.name, str(end), str(seed), str(path)]
        patience = end - time.monotonic() + START_SECONDS
        options: dict[str, Any] = {"capture_output": True, "env": _environment(), "check": False, "text": True}
        try:
            ended = subprocess.run(command + ["--plain"] * is_plain, timeout=patience, **options)
        except subprocess.TimeoutExpired:
            status = Status(path)
            return Run(target.name, status.cases, "the case never ends", status.case)
        status = Status(path)
        report = ""
        if ended.returncode:  # without a report, the process crashed
            written = report_of(path)
            report = written.read_text("utf-8") if written.exists() else f"{ended.stderr}\nexit code {ended.returncode}"
        return Run(target.name, status.cases, report[-_LONGEST_REPORT:], status.case)


def _is_slow(target: Target, case: bytes) -> bool:
    """True if the case takes too long in a process of its own, too, in which nothing else happens."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, target.name, "case")
        path.parent.mkdir()
        path.write_bytes(case)
        command = [sys.executable, "-P", "-m", "tests.fuzz", str(path)]
        return subprocess.run(command, capture_output=True, env=_environment(), check=False).returncode != 0


def _environment() -> dict[str, str]:
    """For our own processes: they find what we find, wherever they run."""
    paths = [*filter(None, [os.environ.get("PYTHONPATH")]), str(CHECKOUT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _keep(found: Run) -> str:
    """Write the finding to its place. Returns what to say of it."""
    path = FOUND / found.target / hashlib.sha256(found.case).hexdigest()[:_NAME_DIGITS]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(found.case)
    return f"FOUND: {len(found.case)} bytes; again: {sys.executable} -m tests.fuzz {os.path.relpath(path)}"


if __name__ == "__main__":
    sys.exit(main())
