"""Counts SIGINT (Ctrl-C), SIGTERM and SIGHUP, and wakes an event loop when one arrives."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Inside its `with` block, signals do not end the process: `count` rises, and `fileno` becomes readable.

    Python gives signals to the main thread only; in any other, `interrupt` is the only way.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, Any] = {}

    def fileno(self) -> int:
        return self._reader

    def __enter__(self) -> Interrupts:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._has_signals = threading.current_thread() is threading.main_thread()
        for number in _SIGNALS if self._has_signals else ():
            # A process started with nohup has SIGHUP ignored, and keeps it so.
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._on_signal)
        if self._has_signals:
            self._wakeup_before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._has_signals:
            signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._reader)
        os.close(self._writer)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.count += 1

    def interrupt(self) -> None:
        """Do what a signal does; may be called from any thread while the block is open."""
        self.count += 1
        with suppress(BlockingIOError):  # the pipe is full of such bytes
            os.write(self._writer, b"\0")

    def clear(self) -> None:
        """Empty the pipe behind `fileno`, so that the loop can wait on it again; `count` stays."""
        try:
            while os.read(self._reader, 100):
                pass
        except BlockingIOError:
            pass
