"""The fetcher processes: starts them, exchanges jobs and results with them, and replaces those that fail.

Each fetcher is a process started by the dotted name of its module, with a pipe for each direction. A fetcher that died,
or that has shown no sign of life for too long and was killed for it, is replaced at once; what it had in flight is for
the caller to queue again.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import time
from collections.abc import Mapping
from ctypes import c_uint64
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.context import ForkServerProcess
from multiprocessing.sharedctypes import RawValue
from pathlib import Path
from resource import RLIMIT_NOFILE, getrlimit, setrlimit

from pycrawl.config import Config
from pycrawl.errors import FetcherError
from pycrawl.foreign import files
from pycrawl.model import Jobs, Results
from pycrawl.processes.messages import BadMessage, pack, unpack_results
from pycrawl.processes.pipe_queue import Receiver, Sender
from pycrawl.processes.spawn import ForkServer

_WORKER = "pycrawl.fetcher.process"
_TRANSPORTS = {"curl": ("pycrawl.fetch.curl",)}  # by crawl.transport: what a fetcher imports besides
_DIED = "died"
_PROCESS_NAME = "pycrawl-fetcher"
_UNKNOWN_CODE = 255  # what multiprocessing says of a process whose server is gone
_START_SECONDS = 60.0  # for a new process until its first sign of life
_STILLBORN_MOST = 3  # fetchers in a row that end before their first sign of life; then the crawl gives up
_LONGEST_LINE = 300  # characters of the log that are shown
_LAST_BYTES = 65_536  # of the log that are looked at for its last line
_GRACE_SECONDS = 2.0  # for a process that was told to stop
_MOST_FILES = 16_384  # open in one process


@dataclass(slots=True)
class _Fetcher:
    number: int
    process: ForkServerProcess
    jobs: Sender[Jobs]
    results: Receiver[Results]
    working_on: c_uint64  # the URL id whose answer it handles right now, written by the fetcher; 0: none
    heard_at: float
    alive: bool = False  # it has shown a sign of life
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Death:
    """A fetcher died or was killed, and was replaced. `url_id` is the URL it was working on; 0 if not known."""

    fetcher: int
    url_id: int
    cause: str
    from_outside: bool  # killed by somebody else, or by the kernel for want of memory


@dataclass(frozen=True, slots=True)
class News:
    """What `wait` returns: the results that arrived, by fetcher, and the fetchers that died."""

    results: list[tuple[int, Results]]
    deaths: list[Death]


def _allow_many_files() -> None:
    """Raise the limit on open files, which fetchers inherit: the default is far below what the system allows."""
    soft, hard = getrlimit(RLIMIT_NOFILE)
    if soft < _MOST_FILES:
        setrlimit(RLIMIT_NOFILE, (min(hard, _MOST_FILES), hard))


def load_fetcher(config: Config) -> ForkServer:
    """Begin to load what a fetcher needs, in a process of its own, and return at once: there is time to do something
    else before the server that this returns is handed to a `FetcherPool`. The caller closes it, after the pool."""
    server = ForkServer(_WORKER, *_TRANSPORTS.get(config.crawl.transport, ()))
    server.load()
    return server


class FetcherPool:
    def __init__(self, server: ForkServer, config: Config, seed: int, size: int, log_file: Path) -> None:
        self._config = config
        self._seed = seed
        self._log_file = log_file
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        os.close(files.open_file(log_file.parent.parent, self._log_name, flags))  # what is wrong with it is said here
        self._server = server
        self._selector = selectors.DefaultSelector()
        self._stillborn = 0
        _allow_many_files()
        self._retired_cpu: dict[str, float] = {}  # of fetchers that were replaced
        self.replaced = 0
        self._fetchers = [self._spawn(number) for number in range(size)]

    def __len__(self) -> int:
        return len(self._fetchers)

    def send(self, number: int, jobs: Jobs) -> None:
        fetcher = self._fetchers[number]
        with contextlib.suppress(BrokenPipeError):  # it has died: the next `wait` reports it
            fetcher.jobs.send(jobs)
        self._watch_writing(fetcher)

    def wait(self, seconds: float, *wake_fds: int) -> News:
        """Wait for results for at most `seconds`. Returns early if one of `wake_fds` is readable; the caller has to
        read it."""
        news = News([], [])
        for wake_fd in wake_fds:
            if wake_fd >= 0 and wake_fd not in self._selector.get_map():
                self._selector.register(wake_fd, selectors.EVENT_READ)
        for key, events in self._selector.select(max(0.0, seconds)):
            fetcher = key.data
            if fetcher is None or self._fetchers[fetcher.number] is not fetcher:
                continue  # the caller's own, or of a fetcher that was replaced a moment ago
            if events & selectors.EVENT_WRITE:
                with contextlib.suppress(BrokenPipeError):
                    fetcher.jobs.flush()
                self._watch_writing(fetcher)
            elif cause := self._receive(fetcher, news):
                news.deaths.append(self._replace(fetcher, cause))
        self._kill_silent(news)
        return news

    def _receive(self, fetcher: _Fetcher, news: News) -> str:
        """Add the results that a fetcher sent to `news`. Returns why the fetcher has to be replaced; empty: it has not.
        One that sends something else than results is in a bad state, and is ended."""
        try:
            messages = fetcher.results.receive()
        except EOFError:
            return _DIED
        except BadMessage as error:
            fetcher.process.kill()
            return f"sent something that is no result ({str(error)[:_LONGEST_LINE]})"
        for message in messages:
            fetcher.cpu_seconds = message.cpu_seconds
            news.results.append((fetcher.number, message))
        if messages:
            fetcher.heard_at = time.monotonic()
            fetcher.alive = True
            self._stillborn = 0
        return ""

    def _kill_silent(self, news: News) -> None:
        now = time.monotonic()
        for fetcher in list(self._fetchers):
            limit = self._config.limits.fetcher_timeout if fetcher.alive else _START_SECONDS
            if now - fetcher.heard_at > limit:
                fetcher.process.kill()
                news.deaths.append(self._replace(fetcher, f"no sign of life for {limit:g} s"))

    def _replace(self, fetcher: _Fetcher, cause: str) -> Death:
        self._selector.unregister(fetcher.results)
        with contextlib.suppress(KeyError):
            self._selector.unregister(fetcher.jobs)
        fetcher.process.join(_GRACE_SECONDS)
        if fetcher.process.exitcode is None:
            fetcher.process.kill()
            fetcher.process.join()
        from_outside = cause == _DIED and fetcher.process.exitcode in (-signal.SIGKILL, _UNKNOWN_CODE)
        if cause == _DIED:
            cause = f"{_DIED} (exit code {fetcher.process.exitcode})"
        fetcher.jobs.close()
        fetcher.results.close()
        self._stillborn += not fetcher.alive
        if self._stillborn >= _STILLBORN_MOST:
            raise FetcherError(f"fetcher processes do not start: {cause}; {self._log_file} ends: {self._last_words()}")
        for stage, seconds in fetcher.cpu_seconds.items():
            self._retired_cpu[stage] = self._retired_cpu.get(stage, 0.0) + seconds
        self.replaced += 1
        self._fetchers[fetcher.number] = self._spawn(fetcher.number)
        return Death(fetcher.number, int(fetcher.working_on.value), cause, from_outside)

    @property
    def _log_name(self) -> str:
        return f"{self._log_file.parent.name}/{self._log_file.name}"

    def _last_words(self) -> str:
        """Returns the last line of the fetchers' log; it usually says why a fetcher died."""
        handle = files.open_file(self._log_file.parent.parent, self._log_name)
        with open(handle, "rb") as file:
            file.seek(max(0, os.fstat(handle).st_size - _LAST_BYTES))
            lines = file.read(_LAST_BYTES).decode("utf-8", "replace").split("\n")
        return next((line.strip()[:_LONGEST_LINE] for line in reversed(lines) if line.strip()), "nothing was written")

    def _spawn(self, number: int) -> _Fetcher:
        jobs_reader, jobs_writer = Pipe(duplex=False)
        results_reader, results_writer = Pipe(duplex=False)
        working_on = RawValue(c_uint64, 0)
        process = self._server.start(
            _PROCESS_NAME, str(self._log_file), jobs_reader, results_writer, working_on, self._config,
            self._seed,
        )  # fmt: skip
        jobs_reader.close()
        results_writer.close()
        jobs: Sender[Jobs] = Sender(jobs_writer, pack)
        results = Receiver(results_reader, unpack_results)
        fetcher = _Fetcher(number, process, jobs, results, working_on, time.monotonic())
        self._selector.register(fetcher.results, selectors.EVENT_READ, fetcher)
        return fetcher

    def _watch_writing(self, fetcher: _Fetcher) -> None:
        watched = fetcher.jobs.fileno() in self._selector.get_map()
        if fetcher.jobs.is_waiting and not watched:
            self._selector.register(fetcher.jobs, selectors.EVENT_WRITE, fetcher)
        elif watched and not fetcher.jobs.is_waiting:
            self._selector.unregister(fetcher.jobs)

    def cpu_seconds(self) -> dict[str, float]:
        """Returns the CPU time of all fetchers by stage, including those that were replaced."""
        total = dict(self._retired_cpu)
        for fetcher in self._fetchers:
            for stage, seconds in fetcher.cpu_seconds.items():
                total[stage] = total.get(stage, 0.0) + seconds
        return total

    def close(self) -> None:
        """End all fetchers: each leaves when its pipe is closed, and is killed if it does not within a grace period."""
        for fetcher in self._fetchers:
            fetcher.jobs.close()
        deadline = time.monotonic() + _GRACE_SECONDS
        for fetcher in self._fetchers:
            fetcher.process.join(max(0.0, deadline - time.monotonic()))
            if fetcher.process.exitcode is None:
                fetcher.process.kill()
                fetcher.process.join()
            fetcher.results.close()
        self._selector.close()
