"""Documents on their way through the converter processes of a fetcher.

Threads wait for the converters, one for each, so that pages go on meanwhile. They touch nothing of the fetcher:
documents go to them through one queue, and come back through the event loop.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from pycrawl.convert.converter import Converted, Converter
from pycrawl.convert.kinds import DocumentKind
from pycrawl.fetch.loop import Loop
from pycrawl.fetch.transport import Response
from pycrawl.model import FetchJob
from pycrawl.parse.documents import convert

MOST_BYTES = 64_000_000  # of documents that have not come back; one alone may be larger
_CONVERTERS = 2  # so that others do not wait for a document that takes long
_MANY_DOCUMENTS = 512  # that have not come back; from then on …
_MANY_BYTES = MOST_BYTES // 2  # … or from this size on, the hosts of further ones wait for their conversion

OnConverted = Callable[[FetchJob, Response, Converted], None]
_Waiting = tuple[FetchJob, Response, DocumentKind]


class DocumentQueue:
    """Converts documents in the order in which they came. Each is answered by one `on_converted`, on the loop's thread.
    A thread and its process are started when a document has come and all others are busy."""

    def __init__(self, loop: Loop, on_converted: OnConverted) -> None:
        self._loop = loop
        self._on_converted = on_converted
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self.documents = 0  # that have not come back
        self.bytes = 0  # of these

    @property
    def is_full(self) -> bool:
        return self.bytes > MOST_BYTES

    @property
    def is_long(self) -> bool:
        """True if documents come faster than they are converted."""
        return self.documents >= _MANY_DOCUMENTS or self.bytes >= _MANY_BYTES

    def put(self, job: FetchJob, response: Response, kind: DocumentKind) -> None:
        self.documents += 1
        self.bytes += len(response.body)
        if len(self._threads) < min(self.documents, _CONVERTERS):
            self._threads.append(threading.Thread(target=self._run, name="converter", daemon=True))
            self._threads[-1].start()
        self._waiting.put((job, response, kind))

    def close(self) -> None:
        """End the converter processes; what waits for them is not converted any more."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        converter = Converter()
        while (waiting := self._waiting.get()) is not None:
            job, response, kind = waiting
            converted = convert(converter, kind, response.body)
            self._loop.call_soon_threadsafe(partial(self._come_back, job, response, converted))
        converter.close()

    def _come_back(self, job: FetchJob, response: Response, converted: Converted) -> None:
        self.documents -= 1
        self.bytes -= len(response.body)
        self._on_converted(job, response, converted)
