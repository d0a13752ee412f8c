"""The program, forked off a process that has loaded it already.

Loading takes the program a fifth of a second of CPU time, and the tests run it some two thousand times. What is forked
is a process like any other: it has an id, a group, standard streams and a working directory of its own, is sent
signals and is killed; only its modules are there before its first line, and are not taken apart after its last. Tests
of how the program starts, or of what it finds in its environment, start it anew: see `tests.e2e.crawling.PROGRAM`.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import selectors
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

_ROOT = Path(__file__).parents[2]
_NUMBER = struct.Struct("=i")
_REQUEST_BYTES = 1_000_000
_CHUNK_BYTES = 65_536
# What a coordinator or a command loads. No fetcher is forked off from here: crawls start a server for them, as always.
_LOADED = "api cli collection coordinator crawl frontier policy processes record state store traps urls".split()


class Forked:
    """A process that was forked; the same as the `subprocess.Popen` that would have started it."""

    def __init__(
        self, arguments: Iterable[str], cwd: Path | None, files: tuple[int, int, int], in_session: bool
    ) -> None:
        self.returncode: int | None = None
        self._channel, far = socket.socketpair()
        with far:
            _server().fork(list(arguments), cwd or Path.cwd(), in_session, (*files, far.fileno()))
        self.pid = self._number()

    def poll(self) -> int | None:
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0.0)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._channel, selectors.EVENT_READ)
                if selector.select(timeout):
                    self.returncode = self._number()
                    self._channel.close()  # the process, dead until now, is gone
        return self.returncode

    def _number(self) -> int:
        data = self._channel.recv(_NUMBER.size)
        assert len(data) == _NUMBER.size, "the server of forks is gone"
        number: int = _NUMBER.unpack(data)[0]
        return number

    def __del__(self) -> None:
        self._channel.close()


def can_be_forked() -> bool:
    """False if the environment is another than when the server started, which decides how the program is loaded."""
    return _server().environment == _environment()


def run(arguments: Iterable[str], timeout: float, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` with captured output."""
    pipes = [os.pipe(), os.pipe()]
    with open(os.devnull, "rb") as nothing:
        process = Forked(arguments, cwd, (nothing.fileno(), pipes[0][1], pipes[1][1]), in_session=False)
    for _, written in pipes:
        os.close(written)
    try:
        out, err = _read([read for read, _ in pipes], time.monotonic() + timeout)
        code = process.wait(timeout)
    except BaseException:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        raise
    finally:
        for read, _ in pipes:
            os.close(read)
    return subprocess.CompletedProcess(list(arguments), code, out, err)


def _read(files: list[int], deadline: float) -> list[str]:
    """All that comes from each file until its end."""
    read = {file: bytearray() for file in files}
    with selectors.DefaultSelector() as selector:
        for file in files:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(deadline - time.monotonic())
            if not ready and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("pycrawl", deadline)
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK_BYTES)
                read[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
    return [bytes(data).decode().replace("\r\n", "\n") for data in read.values()]


# The server's side


class _Server:
    def __init__(self) -> None:
        self.environment = _environment()
        self._channel, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from tests.e2e.forked import serve; serve()", str(far.fileno())],
                stdin=subprocess.DEVNULL,
                # Python looks once whether they can be sought in, and what is forked writes to pipes.
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=_ROOT,
                pass_fds=[far.fileno()],
            )

    def fork(self, arguments: list[str], cwd: Path, in_session: bool, files: tuple[int, ...]) -> None:
        ignores_hangups = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        request = [arguments, str(cwd), in_session, ignores_hangups]
        socket.send_fds(self._channel, [json.dumps(request).encode()], files)

    def close(self) -> None:
        self._channel.close()
        self._process.communicate()


@cache
def _server() -> _Server:
    server = _Server()
    atexit.register(server.close)
    return server


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}


def serve() -> None:
    """Fork a process for each request, until there is nobody to make one; returns in each of them, and ends as it."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as main() does
    for name in _LOADED:
        package = importlib.import_module(f"pycrawl.{name}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    gc.freeze()  # a look at them in each process would copy them
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it ends it
    while True:
        data, files, _, _ = socket.recv_fds(channel, _REQUEST_BYTES, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not data:
            return
        if os.fork() == 0:
            channel.close()
            break
        for file in files:
            os.close(file)
    arguments, cwd, in_session, ignores_hangups = json.loads(data)
    pid = os.fork()
    if pid != 0:
        _keep(pid, socket.socket(fileno=files[3]), files[:3])
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_IGN if ignores_hangups else signal.SIG_DFL)
    for target, file in enumerate(files[:3]):
        os.dup2(file, target)
    for file in files:
        os.close(file)
    if in_session:
        os.setsid()
    os.chdir(cwd)
    sys.argv[1:] = arguments
    try:
        importlib.import_module("pycrawl.cli").main()
    except SystemExit as end:
        _end(end.code)


def _end(code: object) -> NoReturn:
    """As Python ends, but for taking all modules apart, which takes longer than most commands."""
    assert isinstance(code, int)
    threading._shutdown()  # type: ignore[attr-defined]  # there is no public way
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _keep(pid: int, channel: socket.socket, files: list[int]) -> None:
    """Tell the test how its process ended, which stays as dead as any child until the test knows."""
    for file in files:
        os.close(file)
    channel.send(_NUMBER.pack(pid))
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert ended is not None
    with suppress(ConnectionError):
        channel.send(_NUMBER.pack(ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status))
        channel.recv(1)
    os.waitpid(pid, 0)
