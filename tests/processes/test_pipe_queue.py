from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import select
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

from pycrawl.processes.pipe_queue import Receiver, Sender

BEHIND = 120.0  # seconds that a busy machine may need for what takes none

Ends = tuple[Sender[Any], Receiver[Any]]


@pytest.fixture
def ends() -> Iterator[Ends]:
    reading, writing = multiprocessing.Pipe(duplex=False)
    sender: Sender[Any] = Sender(writing, pickle.dumps)
    receiver: Receiver[Any] = Receiver(reading, pickle.loads)
    yield sender, receiver
    sender.close()
    receiver.close()


def receive(receiver: Receiver[Any], count: int) -> list[Any]:
    values: list[Any] = []
    while len(values) < count:
        assert select.select([receiver], [], [], BEHIND)[0]
        values += receiver.receive()
    return values


def receive_to_the_end(receiver: Receiver[Any], received: list[Any]) -> None:
    while True:
        received += receiver.receive()


def test_an_empty_pipe_gives_nothing_and_does_not_wait(ends: Ends) -> None:
    assert ends[1].receive() == []


def test_values_arrive_whole_and_in_order(ends: Ends) -> None:
    sender, receiver = ends
    values = [None, {"a": [1]}, b"", "x" * 10, (1, 2)]
    for value in values:
        sender.send(value)
    assert not sender.is_waiting
    assert receive(receiver, len(values)) == values


def test_a_full_pipe_takes_more_later_without_waiting(ends: Ends) -> None:
    sender, receiver = ends
    chance = random.Random(5)
    values = [chance.randbytes(size) for size in (10, 5_000_000, 0, 1, 3_000_000, 100_000, 65_536)]
    for value in values:
        sender.send(value)
    assert sender.is_waiting
    assert not select.select([], [sender], [], 0)[1]
    received: list[Any] = []
    while len(received) < len(values):
        received += receiver.receive()
        sender.flush()
    assert received == values
    assert not sender.is_waiting


def test_what_is_sent_while_something_waits_stays_behind_it(ends: Ends) -> None:
    sender, receiver = ends
    sender.send(b"x" * 3_000_000)
    received: list[Any] = []
    for number in range(200):
        sender.send(number)
        received += receiver.receive()
    while sender.is_waiting:
        sender.flush()
        received += receiver.receive()
    received += receiver.receive()
    assert received[1:] == list(range(200))


def test_a_pipe_cut_anywhere_gives_what_was_whole() -> None:
    reading, writing = multiprocessing.Pipe(duplex=False)
    sender: Sender[Any] = Sender(writing, pickle.dumps)
    sender.send("first")
    sender.send("other")
    data = os.read(reading.fileno(), 1000)
    reading.close()
    sender.close()
    for cut in range(len(data) + 1):
        reading, writing = multiprocessing.Pipe(duplex=False)
        receiver: Receiver[Any] = Receiver(reading, pickle.loads)
        received: list[Any] = []
        for part in (data[: cut // 2], data[cut // 2 : cut]):
            os.write(writing.fileno(), part)
            received += receiver.receive()
        writing.close()
        with pytest.raises(EOFError):
            receive_to_the_end(receiver, received)
        assert received == ["first", "other"][: len(received)]
        assert len(received) == (cut >= len(data) // 2) + (cut == len(data))
        receiver.close()


def write_for_ever(connection: Connection) -> None:
    sender: Sender[Any] = Sender(connection, pickle.dumps)
    number = 0
    while True:
        sender.send((number, b"x" * 300_000))
        number += 1
        while sender.is_waiting:
            select.select([], [sender], [])
            sender.flush()


def read_nothing(connection: Connection) -> None:
    signal.pause()


def start(target: Any, connection: Connection) -> Any:
    process = multiprocessing.get_context("spawn").Process(target=target, args=(connection,), daemon=True)
    process.start()
    connection.close()
    return process


def test_a_killed_writer_shows_as_the_end_after_what_was_whole() -> None:
    reading, writing = multiprocessing.Pipe(duplex=False)
    process = start(write_for_ever, writing)
    receiver: Receiver[Any] = Receiver(reading, pickle.loads)
    received = receive(receiver, 20)
    process.kill()
    process.join()
    with pytest.raises(EOFError):
        receive_to_the_end(receiver, received)
    assert [number for number, _ in received] == list(range(len(received)))
    assert all(len(data) == 300_000 for _, data in received)
    with pytest.raises(EOFError):
        receiver.receive()
    receiver.close()


def test_a_killed_reader_breaks_the_pipe() -> None:
    reading, writing = multiprocessing.Pipe(duplex=False)
    process = start(read_nothing, reading)
    sender: Sender[Any] = Sender(writing, pickle.dumps)
    sender.send(b"x" * 3_000_000)
    assert sender.is_waiting
    process.kill()
    process.join()
    with pytest.raises(BrokenPipeError):
        sender.flush()
    with pytest.raises(BrokenPipeError):
        sender.send("more")
    sender.close()
