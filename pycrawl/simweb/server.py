"""Serving a web: worker processes that share its hosts, and one that starts and commands them.

Host i belongs to worker i modulo their number: so one process knows all that happens on a host, and the limit on open
files holds for a part of the hosts only.
"""

from __future__ import annotations

import gc
import itertools
import os
import resource
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import SystemRandom
from select import select
from typing import NoReturn

from pycrawl.errors import PycrawlError
from pycrawl.simweb.hosts import address
from pycrawl.simweb.http_answers import Answers
from pycrawl.simweb.log import LogWriter, worker_log
from pycrawl.simweb.settings import SimWebSettings
from pycrawl.simweb.web import SimWeb
from pycrawl.simweb.worker import Worker

CACHE_BYTES = 200_000_000  # ready answers in memory, over all workers
PORTS = range(20_000, 32_000)  # below those that Linux gives to outgoing connections
PORT_TRIES = 100


@dataclass(frozen=True, slots=True)
class WorkerProcess:
    pid: int
    control: socket.socket

    def ask(self, command: bytes) -> str:
        """Send a command to the worker. Returns its reply, which comes when the command is done."""
        self.control.sendall(command + b"\n")
        return self.reply()

    def reply(self) -> str:
        data = self.control.recv(4096)
        if not data:
            raise PycrawlError("simweb: a server process ended")
        return data.decode().strip()


def serve(
    settings: SimWebSettings,
    *,
    workers: int = 1,
    cache_bytes: int = CACHE_BYTES,
    log: Path | None = None,
    until_eof: bool = False,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve a web on loopback until SIGINT or SIGTERM, or, if asked so, until standard input ends.

    `announce` is called with the seed URL once all hosts accept connections, and then, if `until_eof`, with the reply
    to each line of standard input, which are commands: `version N`, `flush` (the log), `clear` (the log).
    """
    if settings.port == 0:
        settings = replace(settings, port=free_port())
    web = SimWeb(settings)
    web.prepare()  # before the workers start, so that they share it
    _raise_file_limit()
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    with _worker_processes(web, workers, cache_bytes // workers, log) as processes:
        announce(web.seeds[0])
        for command in _commands(processes, until_eof):
            announce({process.ask(command) for process in processes}.pop())  # all of them say the same


def free_port() -> int:
    """A port that no synthetic web of this machine uses: all of them have a host 0."""
    random = SystemRandom()
    for _ in range(PORT_TRIES):
        port = random.choice(PORTS)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address(0), port))
            except OSError:
                continue
            return port
    raise PycrawlError(f"simweb: no free port from {PORTS.start} to {PORTS.stop - 1} on {address(0)}")


def _raise_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _end(_signal: int, _frame: object) -> NoReturn:
    raise SystemExit(0)


@contextmanager
def _worker_processes(web: SimWeb, count: int, cache_bytes: int, log: Path | None) -> Iterator[list[WorkerProcess]]:
    """A context in which the workers are running and listening; they are stopped at its end."""
    processes: list[WorkerProcess] = []
    try:
        for number in range(count):
            ours, theirs = socket.socketpair()
            pid = os.fork()
            if pid == 0:
                for process in (*processes, WorkerProcess(0, ours)):
                    process.control.close()
                writer = LogWriter(worker_log(log, number)) if log else None
                worker = Worker(Answers(web, cache_bytes), theirs, writer, itertools.count(number, count))
                _be_worker(worker, range(number, web.settings.hosts, count), web.settings.port)
            theirs.close()
            processes.append(WorkerProcess(pid, ours))
        for process in processes:
            reply = process.reply()
            if reply != "ready":
                raise PycrawlError(f"simweb: a server process failed: {reply}")
        yield processes
    finally:
        for process in processes:
            process.control.close()
        for process in processes:
            os.waitpid(process.pid, 0)


def _be_worker(worker: Worker, hosts: range, port: int) -> NoReturn:
    """Run a worker in the forked process; never returns."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends us
    gc.freeze()  # what was made so far lives as long as we do: never look at it again
    status = 1
    try:
        worker.run(hosts, port)
        status = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(status)


def _commands(processes: list[WorkerProcess], from_stdin: bool) -> Iterator[bytes]:
    """Yields the lines of standard input until it ends; without standard input, waits for ever.

    Raises PycrawlError if a worker dies.
    """
    stdin = sys.stdin.fileno() if from_stdin else -1
    waited_for = [process.control.fileno() for process in processes] + ([stdin] if from_stdin else [])
    rest = b""
    while True:
        ready, _, _ = select(waited_for, (), ())
        if ready != [stdin]:
            raise PycrawlError("simweb: a server process ended")
        data = os.read(stdin, 4096)
        if not data:
            return
        *lines, rest = (rest + data).split(b"\n")
        yield from lines
