"""The compiled module, if it was built where this is installed. What it does, Python and numpy do as well, more slowly.

PYCRAWL_NATIVE=0 in the environment does without it, for comparison.
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
