"""One case of a fuzz target: bytes that are checked within limits on time and memory."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

IS_SANITIZED = "LD_PRELOAD" in os.environ  # a sanitizer is loaded: all is slower, and takes terabytes of address space
CASE_SECONDS = 10.0 if IS_SANITIZED else 1.0  # of CPU time, for one case
MEMORY_BYTES = 3_000_000_000  # of address space that a process which checks cases may have


class TooSlow(BaseException):
    """Raised in a case that used more CPU time than it may. Not an Exception: no code under test catches it."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parser of foreign bytes. `check` returns if all that it promises holds for the bytes, and raises otherwise."""

    name: str
    check: Callable[[bytes], None]
    words: tuple[bytes, ...] = ()  # pieces that its input is made of
    max_bytes: int = 4_096  # of a case
    is_compiled: bool = False  # it reads with the compiled module, and so is also run under sanitizers


def run(target: Target, data: bytes, seconds: float = CASE_SECONDS) -> None:
    """Check one case. Raises what the check raises, and TooSlow after `seconds` of CPU time."""
    with _limited(seconds):
        target.check(data)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """SIGPROF, as the crawler itself uses SIGALRM. Code in C is interrupted when it returns."""
    before = signal.signal(signal.SIGPROF, _on_time)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _on_time(number: int, frame: FrameType | None) -> None:
    raise TooSlow(f"the case took longer than {CASE_SECONDS:g} s of CPU time")


def limit_memory() -> None:
    """For a process that checks cases: what takes too much memory becomes a MemoryError."""
    if not IS_SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
