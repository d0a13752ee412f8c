"""Loads the compiled module, if it was built where this is installed, and says which of the two readers is in use.

`compiled` is the module or None. What it does, Python and numpy do as well, more slowly: both read pages alike
(`docs/reading.md`). PYCRAWL_NATIVE=0 in the environment does without it, for comparison.
"""

from __future__ import annotations

import os
from typing import Any


def _load() -> Any:
    if os.environ.get("PYCRAWL_NATIVE") == "0":
        return None
    try:
        from pycrawl.native import _compiled
    except ImportError:
        return None
    return _compiled


compiled = _load()


def reader_in_use() -> str:
    """Returns "compiled", or "tree" where there is no compiled module."""
    return "tree" if compiled is None else "compiled"
