"""What a spawned process imports first: nothing but the standard library.

A process is started by the dotted name of its module, so that the parent never imports what only the child needs.
"""

from __future__ import annotations

import importlib
import os


def start(module: str, log_file: str, *values: object) -> None:
    log = os.open(log_file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(log, 2)  # tracebacks, also of imports, go to the log and not over the live view
    importlib.import_module(module).main(*values)
