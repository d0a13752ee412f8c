"""How processes are started: forked off a server process that has their modules loaded already.

The server (multiprocessing's "forkserver") loads a module by its dotted name; so
the parent never imports what only its children need, a child starts in milliseconds, and all children share the memory
of what is loaded. The server has one thread and opens nothing, so that a fork of it has nothing to clean up.

A child imports this module first: hardly more than the standard library may be imported here.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from types import ModuleType

from pycrawl.foreign.files import open_file
from pycrawl.foreign.visible import VisibleStream

_DYING_SECONDS = 10.0  # for a server that has died to be noticed
_PAUSE_SECONDS = 0.05


class ForkServer:
    """Starts processes that run `main` of one module, which is given by its dotted name. `more` are modules that this
    one will import: they are loaded once, by the server, if they can be."""

    def __init__(self, module: str, *more: str) -> None:
        self._module = module
        self.context = multiprocessing.get_context("forkserver")
        # One that runs already belongs to somebody else in this program: it is used as it is, and left running.
        self._is_ours = _server_pid() is None
        if self._is_ours:
            self.context.set_forkserver_preload([module, *more])

    def load(self) -> None:
        """Start the server, which loads its modules from now on, and return at once. `start` waits until it has them;
        who calls neither `load` nor anything else in between waits for all of the loading."""
        with _deaf_to_terminal():
            forkserver.ensure_running()

    def start(self, name: str, log_file: str, *values: object) -> ForkServerProcess:
        """Start a process that calls `main(*values)`, with all that it prints going to `log_file`
        ("log/fetchers.log" in a crawl's directory) and not over the live view, its control characters made visible;
        without a log file, to standard error. `name` is what `top` shows, of at most 15 characters."""
        process = self.context.Process(
            target=_run, args=(self._module, name, log_file, *values), name=name, daemon=True
        )
        with _deaf_to_terminal(), _without_main_module():
            _start(process)
        return process

    def close(self) -> None:
        """End the server, once all its processes have ended, and wait for it: so what it and they have used counts as
        used by this process."""
        if self._is_ours and _server_pid() is not None:
            forkserver._forkserver._stop()  # type: ignore[attr-defined]  # there is no public way


def _start(process: ForkServerProcess) -> None:
    """Start a process. If the server has died (for want of memory, or by a process that went mad), another one is made
    for it; until the kernel has told of the death, connections to the dead one are refused."""
    deadline = time.monotonic() + _DYING_SECONDS
    while True:
        try:
            process.start()
            return
        except (ConnectionError, EOFError):
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def _server_pid() -> int | None:
    pid: int | None = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    return pid


@contextlib.contextmanager
def _deaf_to_terminal() -> Iterator[None]:
    """Processes started inside this block never see SIGINT and SIGHUP, which a terminal sends to the whole group.

    Only the coordinator decides when to stop. A new process cannot ignore a signal before its first line runs; but it
    inherits the signals that its parent has blocked.
    """
    resource_tracker.ensure_running()  # else it starts with the first process, and unblocks the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_main_module() -> Iterator[None]:
    """Processes started inside this block do not load the main module of this program, of which they need nothing: it
    is the command line, or a script that would run again."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _run(module: str, name: str, log_file: str, *values: object) -> None:
    with contextlib.suppress(OSError), open("/proc/self/comm", "w") as comm:
        comm.write(name)
    if log_file:
        path = Path(log_file)
        log = open_file(path.parent.parent, f"{path.parent.name}/{path.name}", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    else:
        log = os.dup(2)
    for standard in (1, 2):
        os.dup2(log, standard)
    sys.stdout = sys.stderr = VisibleStream(os.fdopen(log, "ab"), "utf-8", "backslashreplace", line_buffering=True)
    importlib.import_module(module).main(*values)
