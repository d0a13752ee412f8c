"""The log of requests: who asked for what and when. The server writes it, tests read it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

LINES_IN_MEMORY = 1_000  # few enough that nobody waits long while they are written
ABORTED = 0  # the status of a request whose client left before the answer was sent


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One request. Times are seconds of the monotonic clock, which all processes of one machine share."""

    started: float  # when the server learnt of the whole request
    ended: float  # just before the kernel was given the answer's last byte: never later than the client has it
    address: str  # of the host
    method: str
    path: str  # with its query, as it was sent
    status: int
    connection: int  # no two connections have the same number
    user_agent: str

    @property
    def is_robots(self) -> bool:
        return self.path == "/robots.txt"


class LogWriter:
    """Keeps entries in memory until `flush`, as writing each one would slow the server down."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._entries: list[tuple[float | str, ...]] = []

    def add(self, entry: tuple[float | str, ...]) -> None:
        """Add an entry: the fields of a `LogEntry`, in order."""
        self._entries.append(entry)
        if len(self._entries) >= LINES_IN_MEMORY:
            self.flush()

    def flush(self) -> None:
        lines = [json.dumps(entry) + "\n" for entry in self._entries]
        self._file.write("".join(lines).encode("ascii"))
        self._file.flush()
        self._entries.clear()

    def clear(self) -> None:
        self._entries.clear()
        self._file.seek(0)
        self._file.truncate()


def worker_log(path: Path, worker: int) -> Path:
    """Returns the log file of one worker: the common name with the worker's number."""
    return path.with_name(f"{path.name}.{worker}")


def read_log(path: Path, workers: int) -> list[LogEntry]:
    """Returns all requests that were flushed, by the time they started."""
    entries: list[LogEntry] = []
    for worker in range(workers):
        with worker_log(path, worker).open(encoding="ascii") as lines:
            entries += (LogEntry(*json.loads(line)) for line in lines)
    return sorted(entries, key=lambda entry: entry.started)
