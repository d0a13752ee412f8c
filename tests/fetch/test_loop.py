from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from pycrawl.fetch.loop import READ, Loop

LONG = 60.0  # seconds that no test really waits


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe2(os.O_NONBLOCK)
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_a_reader_is_called_while_there_is_something(loop: Loop, pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    got: list[bytes] = []
    loop.add_reader(reader, lambda: got.append(os.read(reader, 2)))
    os.write(writer, b"abcd")
    loop.run_once(LONG)
    loop.run_once(LONG)
    loop.run_once(0)
    assert got == [b"ab", b"cd"]
    loop.remove_reader(reader)
    os.write(writer, b"more")
    loop.run_once(0)
    assert len(got) == 2


def test_a_writer_is_called_while_there_is_room(loop: Loop, pipe: tuple[int, int]) -> None:
    calls: list[int] = []
    loop.add_writer(pipe[1], lambda: calls.append(1))
    loop.run_once(LONG)
    loop.remove_writer(pipe[1])
    loop.run_once(0)
    assert calls == [1]


def test_reader_and_writer_of_one_descriptor(loop: Loop) -> None:
    near, far = socket.socketpair()
    calls: list[str] = []
    loop.add_reader(near.fileno(), lambda: calls.append("read"))
    loop.add_writer(near.fileno(), lambda: calls.append("write"))
    loop.run_once(LONG)
    assert calls == ["write"]
    loop.remove_writer(near.fileno())
    far.close()  # a hang-up wakes the reader
    loop.run_once(LONG)
    assert calls == ["write", "read"]
    loop.remove_reader(near.fileno())
    loop.remove_reader(near.fileno())
    near.close()


def test_an_event_of_a_descriptor_that_was_just_forgotten_is_dropped(loop: Loop) -> None:
    pipes = [os.pipe() for _ in range(2)]
    called: list[int] = []

    def forget_all(fd: int, events: int) -> None:
        called.append(fd)
        for reader, _ in pipes:
            loop.unwatch(reader)

    for reader, writer in pipes:
        loop.watch(reader, READ, forget_all)
        os.write(writer, b"x")
    loop.run_once(LONG)
    assert len(called) == 1
    for reader, writer in pipes:
        os.close(reader)
        os.close(writer)


def test_timers_run_in_order_unless_cancelled(loop: Loop) -> None:
    calls: list[str] = []
    loop.call_later(0.02, lambda: calls.append("second"))
    loop.call_later(0.01, lambda: calls.append("first"))
    loop.call_later(0.0, lambda: calls.append("cancelled")).cancel()
    while len(calls) < 2:
        loop.run_once(LONG)
    assert calls == ["first", "second"]
    loop.run_once(0.01)  # no timer is left to wait for
    assert calls == ["first", "second"]


def test_soon_is_the_same_turn_and_what_that_adds_the_next(loop: Loop) -> None:
    calls: list[int] = []

    def first() -> None:
        calls.append(1)
        loop.call_soon(lambda: calls.append(2))

    loop.call_soon(first)
    loop.run_once(LONG)
    assert calls == [1]
    loop.run_once(LONG)
    assert calls == [1, 2]


def test_other_threads_hand_over_and_wake(loop: Loop) -> None:
    callers: list[int] = []
    thread = threading.Thread(target=lambda: loop.call_soon_threadsafe(lambda: callers.append(threading.get_ident())))
    thread.start()
    while not callers:
        loop.run_once(LONG)
    thread.join()
    assert callers == [threading.get_ident()]
    loop.wake()
    before = time.monotonic()
    loop.run_once(LONG)
    assert time.monotonic() - before < LONG / 2
