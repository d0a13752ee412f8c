"""How long a converter process is waited for: as long as it works, and not when it is stuck."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from pycrawl.convert.converter import Converter, cpu_seconds
from pycrawl.convert.kinds import KINDS
from pycrawl.convert.simple_page import Trouble
from pycrawl.parse.documents import convert
from tests.convert import samples

WORD = KINDS["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]
PATIENCE = 0.2


class Work:
    """The CPU time of a process: it rises with each look, or not at all."""

    def __init__(self) -> None:
        self.goes_on = True
        self._looks = count(1)

    def __call__(self, pid: int) -> float:
        return float(next(self._looks)) if self.goes_on else 0.0


@contextmanager
def converter_at_work(work: Work) -> Iterator[Converter]:
    """A converter whose process is there, with all its modules."""
    converter = Converter(PATIENCE, work)
    try:
        assert convert(converter, WORD, samples.word()).told == ""
        assert converter.pid > 0
        yield converter
    finally:
        converter.close()


def test_one_that_works_is_waited_for() -> None:
    with converter_at_work(Work()) as converter:
        pid = converter.pid
        os.kill(pid, signal.SIGSTOP)  # so that it takes longer than anybody has patience
        timer = threading.Timer(5 * PATIENCE, os.kill, (pid, signal.SIGCONT))
        timer.start()
        begun = time.monotonic()
        converted = convert(converter, WORD, samples.word())
        assert time.monotonic() - begun > 2 * PATIENCE
        assert (converted.told, converter.pid) == ("", pid)
        timer.join()


def test_one_that_is_stuck_is_replaced() -> None:
    work = Work()
    with converter_at_work(work) as converter:
        stuck = converter.pid
        work.goes_on = False
        os.kill(stuck, signal.SIGSTOP)
        converted = convert(converter, WORD, samples.word())
        assert (converted.trouble, converted.detail) == (Trouble.DIED, f"no answer for {PATIENCE:g} s")
        work.goes_on = True
        assert convert(converter, WORD, samples.word()).told == ""
        assert converter.pid not in (0, stuck)


def test_the_cpu_time_of_a_process() -> None:
    before = cpu_seconds(os.getpid())
    while cpu_seconds(os.getpid()) <= before:
        pass
    assert before <= cpu_seconds(os.getpid()) <= time.process_time() + 0.1
    assert cpu_seconds(2**30) == 0.0


def test_one_stays_for_the_next_document_however_large_its_fetcher_is() -> None:
    ballast = bytearray(b"x" * (300 << 20))
    converter = Converter()
    try:
        convert(converter, WORD, samples.word())
        pid = converter.pid
        convert(converter, WORD, samples.word())
        assert converter.pid == pid > 0
    finally:
        converter.close()
    assert len(ballast) == 300 << 20
