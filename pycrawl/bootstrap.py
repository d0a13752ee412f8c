"""What a spawned process imports first: nothing but the standard library.

A process is started by the dotted name of its module, so that the parent never imports what only the child needs.
"""

from __future__ import annotations

import importlib


def start(module: str, *values: object) -> None:
    importlib.import_module(module).main(*values)
