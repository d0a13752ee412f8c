"""The log of changes, log/changes.log: which pages each run found new, changed, unchanged or gone, one line a page.

A line is tab-separated: date and time, the word, the URL. If a run is killed, the pages of its last second are visited
again and may have a second line.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TextIO

from pycrawl.crawl.fetch_log import explained
from pycrawl.crawl.log_rotation import CHANGE_LOG, MOST_EVENT_BYTES, rotate_one
from pycrawl.foreign import files
from pycrawl.foreign.visible import visible


class ChangeLog:
    """Writes the log of one run; older lines stay."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = self._open()
        self._second, self._date = 0, ""  # the last one written, as text

    def _open(self) -> TextIO:
        name = f"{self._folder.name}/{CHANGE_LOG}"
        handle = files.open_file(self._folder.parent, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        return open(handle, "a", encoding="utf-8", buffering=1 << 16)

    def write(self, at: float, word: str, url: str) -> None:
        """Enter a page. `word`: new, changed, unchanged or gone."""
        if int(at) != self._second:
            self._second, self._date = int(at), time.strftime("%Y-%m-%d %H:%M:%S%z", time.localtime(at))
        try:
            self._file.write(f"{self._date}\t{word}\t{visible(url)}\n")
        except OSError as error:
            raise explained(error, self._folder) from error

    def flush(self) -> None:
        """Hand what is buffered to the kernel, and begin a new file when this one is long."""
        try:
            self._file.flush()
            if self._file.tell() > MOST_EVENT_BYTES:
                self._file.close()
                rotate_one(self._folder, CHANGE_LOG)
                self._file = self._open()
        except OSError as error:
            raise explained(error, self._folder) from error

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise explained(error, self._folder) from error
