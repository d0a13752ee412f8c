"""A server in its own process, for tests and benchmarks, so that it shares no interpreter with what is tested."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from urllib.parse import urlsplit

from pycrawl.errors import PycrawlError
from pycrawl.simweb.log import LogEntry, read_log
from pycrawl.simweb.server import CACHE_BYTES
from pycrawl.simweb.settings import SimWebSettings
from pycrawl.simweb.web import SimWeb

END_TIMEOUT = 10.0  # seconds for the server to end by itself

_PACKAGE_PARENT = str(Path(__file__).parents[2])


class SimServer:
    """`with SimServer(settings) as server:` serves `server.web`; on a free port if the settings' port is 0.

    The server ends with the `with` block, and when this process dies.
    """

    def __init__(
        self, settings: SimWebSettings, *, workers: int = 1, cache_bytes: int = CACHE_BYTES, log: bool = True
    ) -> None:
        self._folder = TemporaryDirectory(prefix="simweb-")
        self._workers = workers
        self._log_path = Path(self._folder.name, "log") if log else None
        options = [*settings.arguments(), f"--workers={workers}", f"--cache-bytes={cache_bytes}", "--until-eof"]
        if self._log_path:
            options.append(f"--log={self._log_path}")
        paths = [_PACKAGE_PARENT, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pycrawl.simweb", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for who started it, and may want answers for a last few fetches
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )
        try:
            port = urlsplit(self._reply()).port or 80
        except BaseException:
            self.stop()
            raise
        self.web = SimWeb(replace(settings, port=port))

    @property
    def seed(self) -> str:
        return self.web.seeds[0]

    @property
    def pid(self) -> int:
        return self._process.pid

    def log(self) -> list[LogEntry]:
        """Every request that was answered so far, or given up by its client, in the order in which they came."""
        assert self._log_path, "this SimServer was started with log=False"
        self._ask("flush")
        return read_log(self._log_path, self._workers)

    def clear_log(self) -> None:
        self._ask("clear")

    def set_version(self, version: int) -> None:
        """Serve this version of all pages from now on."""
        self._ask(f"version {version}")

    def stop(self) -> None:
        """Stop the server. Called at the end of the `with` block; a second call does nothing."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(END_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def _ask(self, command: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(f"{command}\n".encode())
        self._process.stdin.flush()
        reply = self._reply()
        if reply != "ok":
            raise ValueError(f"simweb: {command}: {reply}")

    def _reply(self) -> str:
        assert self._process.stdout
        line = self._process.stdout.readline().decode().rstrip("\n")
        if not line:
            raise PycrawlError("simweb: the server ended; it says why on its standard error")
        return line

    def __enter__(self) -> SimServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
