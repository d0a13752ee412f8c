"""The processes that read and render documents for an export; results come back in the order of the batches.

A thread of this process serves each of them. A worker that dies, as a parser may bring it down, is replaced, and the
documents of its batch are tried one by one: the one that does it again is named, and left out.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

from pycrawl.collection.exports.formats import Options
from pycrawl.collection.exports.rendering import Batch, Item, Rendered, unpack
from pycrawl.config import Config
from pycrawl.errors import PycrawlError
from pycrawl.processes.spawn import ForkServer

_WORKER = "pycrawl.collection.exports.worker"
_LANGUAGE_MODEL = "pycrawl.parse.language_model"
_PROCESS_NAME = "pycrawl-export"
_AHEAD = 2  # batches for each worker that may be under way or done
_MOST_WORKERS = 8
_GRACE_SECONDS = 5.0


class _Worker:
    def __init__(self, server: ForkServer, docs: Path, config: Config, options: Options) -> None:
        self._server = server
        self._values = (str(docs), config, options)
        self._start()

    def _start(self) -> None:
        ours, theirs = Pipe()
        self._connection: Connection = ours
        self._process: ForkServerProcess = self._server.start(_PROCESS_NAME, "", theirs, *self._values)
        theirs.close()

    def render(self, batch: Batch) -> Rendered:
        try:
            return self._ask(batch)
        except (EOFError, ConnectionError):
            self._restart()
        if len(batch) == 1:
            return Rendered([], 0, [_killed(batch[0])])
        parts = [self.render((item,)) for item in batch]
        return Rendered(
            [piece for part in parts for piece in part.pieces],
            sum(part.written for part in parts),
            [fault for part in parts for fault in part.faults],
        )

    def _ask(self, batch: Batch) -> Rendered:
        self._connection.send(batch)
        description, data = self._connection.recv_bytes(), self._connection.recv_bytes()
        try:
            return unpack(description, data)
        except (ValueError, KeyError, TypeError) as error:
            raise PycrawlError(f"a worker of the export has sent something else than documents: {error}") from None

    def _restart(self) -> None:
        self.close()
        self._start()

    def close(self) -> None:
        self._connection.close()
        self._process.join(_GRACE_SECONDS)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()


def _killed(item: Item) -> str:
    return f"{item.row.url}: brought the process down that read it"


class Workers:
    """`with Workers(…) as workers: for rendered in workers.map(batches): …`"""

    def __init__(self, docs: Path, config: Config, options: Options, count: int | None = None) -> None:
        size = count or min(os.cpu_count() or 1, _MOST_WORKERS)
        self._server = ForkServer(_WORKER, *((_LANGUAGE_MODEL,) if options.need_language else ()))
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all = [_Worker(self._server, docs, config, options) for _ in range(size)]
        for worker in self._all:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(size, "export")

    def map(self, batches: Iterable[Batch]) -> Iterator[Rendered]:
        """Yields what becomes of each batch, in their order."""
        waiting: deque[Future[Rendered]] = deque()
        for batch in batches:
            waiting.append(self._threads.submit(self._render, batch))
            if len(waiting) > _AHEAD * len(self._all):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def _render(self, batch: Batch) -> Rendered:
        worker = self._idle.get()
        try:
            return worker.render(batch)
        finally:
            self._idle.put(worker)

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(cancel_futures=True)
        for worker in self._all:
            worker.close()
        self._server.close()
