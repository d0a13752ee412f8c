"""What a program costs while it runs: time, CPU and memory of its whole process tree; and how pycrawl is started."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

# -P: what stands in the current folder is not to be taken for the installed one.
PYCRAWL = [sys.executable, "-P", "-c", "from pycrawl.cli import main; main()"]
# A loopback web crawled as fast as it goes; all else is as users have it.
LOOPBACK = {"crawl.proxy": '"none"', "politeness.delay": "0", "security.allow_private_addresses": "true"}
_POLL_SECONDS = 0.02
_WATCH_SECONDS = 0.5
_STOP_SECONDS = 10.0  # that a program gets to end after it was told to


@dataclass(frozen=True, slots=True)
class Spent:
    """What a program took, its children included."""

    seconds: float
    cpu: float  # seconds
    peak: int  # bytes, proportional set size
    written: int  # bytes that it caused to be written to disks
    code: int  # as the program ended; negative: by a signal
    was_stopped: bool  # by us


class Watch(threading.Thread):
    """Peak memory of a process tree, as the sum of its parts' proportional sizes."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._root = psutil.Process(pid)
        self.peak = 0

    def run(self) -> None:
        while size := self._size():
            self.peak = max(self.peak, size)
            time.sleep(_WATCH_SECONDS)

    def _size(self) -> int:
        total = 0
        try:
            for process in [self._root, *self._root.children(recursive=True)]:
                total += process.memory_full_info().pss
        except psutil.Error:
            pass  # one of them has just ended
        return total


def run(command: Sequence[str], is_over: Callable[[float], bool] = lambda cpu: False, **options: Any) -> Spent:
    """Run a program to its end, or until `is_over`, which is shown its CPU seconds so far, about once a second."""
    begun = time.monotonic()
    written = _written()
    process = subprocess.Popen(command, **options)
    watch = Watch(process.pid)
    watch.start()
    try:
        status, usage, stopped = _wait(process, is_over)
    except BaseException:
        process.terminate()
        raise
    ended = stopped or time.monotonic()
    process.returncode = os.waitstatus_to_exitcode(status)
    # Of children that were waited for; all the programs measured here do that.
    cpu = usage.ru_utime + usage.ru_stime
    return Spent(ended - begun, cpu, watch.peak, _written() - written, process.returncode, bool(stopped))


def _written() -> int:
    """Bytes that this process and all children that were waited for have written to disks."""
    return int(psutil.Process().io_counters().write_bytes)


def _wait(
    process: subprocess.Popen[bytes], is_over: Callable[[float], bool]
) -> tuple[int, resource.struct_rusage, float]:
    """Its exit status, what it used, and when it was told to end (0: it ended by itself)."""
    stopped = 0.0
    ask_at = time.monotonic() + 1
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return status, usage, stopped
        now = time.monotonic()
        if not stopped and now >= ask_at:
            ask_at = now + 1
            if is_over(tree_cpu(process.pid)):
                stopped = now
                process.terminate()
        elif stopped and now - stopped > _STOP_SECONDS:
            process.kill()
        time.sleep(_POLL_SECONDS)


def tree_cpu(pid: int) -> float:
    """CPU seconds so far of a process and those below it."""
    total = 0.0
    try:
        root = psutil.Process(pid)
        for process in [root, *root.children(recursive=True)]:
            times = process.cpu_times()
            total += float(times.user + times.system)
        ended = root.cpu_times()
        total += float(ended.children_user + ended.children_system)
    except psutil.Error:
        pass
    return total


# pycrawl


def toml(settings: Mapping[str, str]) -> str:
    """A configuration from TOML values by "section.key"."""
    sections: dict[str, list[str]] = defaultdict(list)
    for name, value in settings.items():
        section, _, key = name.partition(".")
        sections[section].append(f"{key} = {value}\n")
    return "".join(f"[{section}]\n{''.join(lines)}\n" for section, lines in sections.items())


def setting(text: str) -> tuple[str, str]:
    """ "section.key=value" as name and TOML value; what is no TOML value is taken for a string."""
    name, equals, value = text.partition("=")
    if not equals or name.count(".") != 1:
        raise argparse.ArgumentTypeError(f"expected section.key=value, found {text!r}")
    try:
        tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError:
        value = json.dumps(value)
    return name, value


def add_setting_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--set",
        dest="settings",
        type=setting,
        action="append",
        default=[],
        metavar="SECTION.KEY=VALUE",
        help="a setting of pycrawl.toml; may be given often",
    )


def new_crawl(directory: Path, seeds: Iterable[str], settings: Mapping[str, str]) -> None:
    """A crawl of loopback addresses without delay, where the settings do not say otherwise."""
    command = [*PYCRAWL, "init", str(directory), "--seeds-file", "-"]
    subprocess.run(command, input="\n".join(seeds).encode(), check=True, capture_output=True)
    (directory / "pycrawl.toml").write_text(toml({**LOOPBACK, **settings}), "utf-8")


def crawl(directory: Path, extra: Sequence[str] = (), wrapper: Sequence[str] = ()) -> tuple[dict[str, Any], Spent]:
    """Crawl to the end: the run's own report, and what it took."""
    report = directory / "run.json"
    spent = run(
        [*wrapper, *PYCRAWL, "crawl", "-C", str(directory), "--report", str(report), *extra], stdout=subprocess.DEVNULL
    )
    if spent.code != 0:
        raise SystemExit(f"the crawl failed with exit code {spent.code}")
    return json.loads(report.read_text("utf-8")), spent
