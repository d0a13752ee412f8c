"""Converts documents in a process of its own, which is started with the first one, and replaced when it has died or
left. A `Converter` belongs to one thread."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pycrawl.convert.kinds import DocumentKind
from pycrawl.convert.process import ANSWER, REQUEST, Facts
from pycrawl.convert.simple_page import CONVERSION_FAILED, MOST_LETTERS, Trouble

# Without an answer, and without CPU time spent on one: such a process is stuck. One that works has a bound for its CPU
# time; how long that takes depends on what else the machine does, as pages go first.
PATIENCE_SECONDS = 120.0
_MOST_HTML = 4 * MOST_LETTERS + 10_000  # bytes of an answer
_MOST_FACTS = 10_000
_READ_BYTES = 1 << 20
# The package is found where this process found it; behind all else, so that nothing there hides a module of Python.
_START = "import sys; sys.path.append(sys.argv[1]); from pycrawl.convert.process import main; main()"


class Converted(NamedTuple):
    """A document as HTML, with what is wrong with it, if anything is."""

    html: bytes
    pages: int = 0
    trouble: str = ""  # a `Trouble`; empty: none
    detail: str = ""

    @property
    def told(self) -> str:
        """What the user reads of the trouble; empty if there is none."""
        if not self.trouble:
            return ""
        return f"{CONVERSION_FAILED}{self.trouble}{f' ({self.detail})' if self.detail else ''}"


class _Died(Exception):
    """The process has ended, or does not answer."""


def cpu_seconds(pid: int) -> float:
    """Returns the CPU time that a process has used, in seconds."""
    try:
        # Behind the name, which is in brackets and may hold anything, field 3 comes first.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Converter:
    """`cpu_time`: returns the CPU seconds that the process with a pid has used so far."""

    def __init__(self, patience: float = PATIENCE_SECONDS, cpu_time: Callable[[int], float] = cpu_seconds) -> None:
        self._patience = patience
        self._cpu_time = cpu_time
        self._process: subprocess.Popen[bytes] | None = None
        self._deadline = 0.0  # monotonic: when the process counts as stuck …
        self._used = 0.0  # … if it has used no more CPU seconds than these

    def convert(self, kind: DocumentKind, data: bytes) -> Converted:
        """Returns the document as HTML. Never raises for what is in the document."""
        process = self._process or self._start()
        try:
            self._deadline, self._used = time.monotonic() + self._patience, self._cpu_time(process.pid)
            facts, html = self._exchange(process, kind.module.encode(), data)
        except _Died as died:
            return Converted(b"", 0, *self._post_mortem(process, str(died)))
        if facts.is_last:
            self.close()
        return Converted(html, facts.pages, facts.trouble, facts.detail)

    @property
    def pid(self) -> int:
        """The process; 0: there is none at the moment."""
        return self._process.pid if self._process else 0

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            try:
                process.wait(1.0)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        package = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, str(package)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], module: bytes, data: bytes) -> tuple[Facts, bytes]:
        self._write(process, REQUEST.pack(len(module), len(data)) + module)
        self._write(process, data)
        told_length, html_length = ANSWER.unpack(self._read(process, ANSWER.size))
        if told_length > _MOST_FACTS or html_length > _MOST_HTML:
            raise _Died("an answer that is too long")
        told = self._read(process, told_length)
        html = self._read(process, html_length)
        try:
            return Facts(**json.loads(told)), html
        except (ValueError, TypeError):
            raise _Died("an answer that is none") from None

    def _write(self, process: subprocess.Popen[bytes], data: bytes) -> None:
        assert process.stdin is not None
        fd = process.stdin.fileno()
        view = memoryview(data)
        while view:
            self._wait(process, fd, select.POLLOUT)
            try:
                view = view[os.write(fd, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise _Died("") from None

    def _read(self, process: subprocess.Popen[bytes], length: int) -> bytes:
        assert process.stdout is not None
        fd = process.stdout.fileno()
        parts = []
        while length:
            self._wait(process, fd, select.POLLIN)
            part = os.read(fd, min(length, _READ_BYTES))
            if not part:
                raise _Died("")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _wait(self, process: subprocess.Popen[bytes], fd: int, event: int) -> None:
        poll = select.poll()
        poll.register(fd, event)
        while not poll.poll(max(0.0, self._deadline - time.monotonic()) * 1000):
            used = self._cpu_time(process.pid)
            if used <= self._used:
                raise _Died(f"no answer for {self._patience:g} s")
            self._deadline, self._used = time.monotonic() + self._patience, used

    def _post_mortem(self, process: subprocess.Popen[bytes], why: str) -> tuple[str, str]:
        """End what is left of the process. Returns the trouble, and what is known of it."""
        if why:
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1.0)
        code = process.poll()
        self.close()
        if code == -signal.SIGPROF:  # its time was over
            return Trouble.TOO_SLOW.value, ""
        if why:
            return Trouble.DIED.value, why
        if code is not None and code < 0:
            return Trouble.DIED.value, f"by {signal.Signals(-code).name}"
        return Trouble.DIED.value, f"exit code {code}"
