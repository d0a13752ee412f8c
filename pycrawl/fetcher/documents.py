"""Documents on their way through the converter process of a fetcher.

A thread waits for the converter, so that pages go on meanwhile. It touches nothing of the fetcher: documents go to it
through one queue, and come back through the event loop.
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

MOST_BYTES = 64_000_000  # of documents that wait for the converter; one alone may be larger

OnConverted = Callable[[FetchJob, Response, Converted], None]
_Waiting = tuple[FetchJob, Response, DocumentKind]


class DocumentQueue:
    """Converts documents one after another, in the order in which they came. Each is answered by one `on_converted`,
    on the loop's thread. The thread and the process are started with the first document."""

    def __init__(self, loop: Loop, on_converted: OnConverted) -> None:
        self._loop = loop
        self._on_converted = on_converted
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.documents = 0  # that have not come back
        self.bytes = 0  # of these

    @property
    def is_full(self) -> bool:
        return self.bytes > MOST_BYTES

    def put(self, job: FetchJob, response: Response, kind: DocumentKind) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="converter", daemon=True)
            self._thread.start()
        self.documents += 1
        self.bytes += len(response.body)
        self._waiting.put((job, response, kind))

    def close(self) -> None:
        """End the converter process; what waits for it is not converted any more."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()

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
