from __future__ import annotations

import os
import signal
from pathlib import Path

from pycrawl.processes.spawn import ForkServer, _server_pid


def test_a_server_that_was_killed_is_replaced(tmp_path: Path) -> None:
    """Also if the next process is started before the kernel has told of the death."""
    (tmp_path / "log").mkdir()
    log_file = str(tmp_path / "log" / "log")
    server = ForkServer("tests.processes.idle")
    server.start("first", log_file).join()
    for _ in range(20):
        before = _server_pid()
        assert before is not None
        os.kill(before, signal.SIGKILL)
        process = server.start("next", log_file)
        process.join()
        assert process.exitcode == 0
        assert _server_pid() != before
    server.close()
