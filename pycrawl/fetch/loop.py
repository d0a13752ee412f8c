"""A small event loop on epoll: descriptors, timers, and callbacks handed over from other threads.

`watch` costs one dictionary look-up and one call for each event, as the curl transport has thousands of sockets.
`add_reader` and `add_writer` are more convenient and slower; they are for the few pipes.
"""

from __future__ import annotations

import heapq
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count

Callback = Callable[[], object]
Handler = Callable[[int, int], object]  # (descriptor, epoll events)

READ = select.EPOLLIN
WRITE = select.EPOLLOUT
_EVENTS_AT_ONCE = 16  # few, so that what they bring is still in the processor's cache when it is worked on
_CLOSED = -1
_WAKES_READER = ~select.EPOLLOUT  # errors and hang-ups wake both: the next read or write reports them
_WAKES_WRITER = ~select.EPOLLIN


class Timer:
    """What `Loop.call_later` returns."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callback) -> None:
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        self.callback = None


class _Sides:
    """The reader and the writer of one descriptor."""

    __slots__ = ("reader", "writer")

    def __init__(self, reader: Callback | None, writer: Callback | None) -> None:
        self.reader = reader
        self.writer = writer

    def __call__(self, fd: int, events: int) -> None:
        if self.reader is not None and events & _WAKES_READER:
            self.reader()
        if self.writer is not None and events & _WAKES_WRITER:
            self.writer()


_NO_SIDES = _Sides(None, None)


class Loop:
    """Belongs to one thread. Only `wake` and `call_soon_threadsafe` may be called from other threads."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._handlers: dict[int, Handler] = {}
        self._masks: dict[int, int] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._timer_order = count()
        self._soon: deque[Callback] = deque()
        self._alarm_lock = (
            threading.Lock()
        )  # without it, a late `wake` could write into another file with the same number
        self._alarm = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.watch(self._alarm, READ, self._on_alarm)

    def watch(self, fd: int, events: int, handler: Handler) -> None:
        """Call `handler(fd, events)` whenever one of `events` happens; replaces an earlier `watch` of `fd`."""
        known = self._masks.get(fd)
        if known is None:
            self._epoll.register(fd, events)
        elif known != events:
            self._epoll.modify(fd, events)
        self._masks[fd] = events
        self._handlers[fd] = handler

    def unwatch(self, fd: int) -> None:
        """Stop watching `fd`. Call it before `fd` is closed, as its number may be given to another file."""
        if self._masks.pop(fd, None) is not None:
            del self._handlers[fd]
            self._epoll.unregister(fd)

    def add_reader(self, fd: int, callback: Callback) -> None:
        self._set_sides(fd, callback, self._sides(fd).writer)

    def add_writer(self, fd: int, callback: Callback) -> None:
        self._set_sides(fd, self._sides(fd).reader, callback)

    def remove_reader(self, fd: int) -> None:
        self._set_sides(fd, None, self._sides(fd).writer)

    def remove_writer(self, fd: int) -> None:
        self._set_sides(fd, self._sides(fd).reader, None)

    def call_later(self, seconds: float, callback: Callback) -> Timer:
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + seconds, next(self._timer_order), timer))
        return timer

    def call_soon(self, callback: Callback) -> None:
        """Call `callback` at the end of this turn of the loop or of the next one, never from inside this call."""
        self._soon.append(callback)

    def call_soon_threadsafe(self, callback: Callback) -> None:
        self._soon.append(callback)
        self.wake()

    def wake(self) -> None:
        """Make `run_once` return at once if it is waiting, else make the next `run_once` not wait."""
        with self._alarm_lock:
            if self._alarm != _CLOSED:
                os.eventfd_write(self._alarm, 1)

    def run_once(self, timeout: float | None = None) -> None:
        """Wait for events for at most `timeout` seconds (None: for ever), then run all handlers and callbacks due."""
        handlers = self._handlers
        for fd, events in self._epoll.poll(self._patience(timeout), _EVENTS_AT_ONCE):
            handler = handlers.get(fd)
            if handler is not None:  # an earlier event of this batch may have ended it
                handler(fd, events)
        if self._timers:
            self._run_timers()
        soon = self._soon
        for _ in range(len(soon)):  # what these add waits for the next turn, so that descriptors get theirs
            soon.popleft()()

    def close(self) -> None:
        """Call it from the loop's own thread. A later `wake` from another thread does nothing."""
        self._epoll.close()
        with self._alarm_lock:
            os.close(self._alarm)
            self._alarm = _CLOSED

    def _patience(self, timeout: float | None) -> float | None:
        if self._soon:
            return 0
        timers = self._timers
        while timers and timers[0][2].callback is None:
            heapq.heappop(timers)
        if not timers:
            return timeout
        due = max(0.0, timers[0][0] - time.monotonic())
        return due if timeout is None else min(due, timeout)

    def _run_timers(self) -> None:
        now = time.monotonic()
        timers = self._timers
        while timers and timers[0][0] <= now:
            callback = heapq.heappop(timers)[2].callback
            if callback is not None:
                callback()

    def _on_alarm(self, fd: int, events: int) -> None:
        os.eventfd_read(fd)

    def _sides(self, fd: int) -> _Sides:
        handler = self._handlers.get(fd)
        return handler if isinstance(handler, _Sides) else _NO_SIDES

    def _set_sides(self, fd: int, reader: Callback | None, writer: Callback | None) -> None:
        events = (READ if reader is not None else 0) | (WRITE if writer is not None else 0)
        if events:
            self.watch(fd, events, _Sides(reader, writer))
        else:
            self.unwatch(fd)
