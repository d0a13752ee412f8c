"""The loader of the compiled module (the C files in this folder), which is the faster of two readers of pages.

`compiled` is that module, or None; whoever finds None does the same work in Python and numpy, with the same results.
`why_not` then says why, in words for `pycrawl --version`. PYCRAWL_NATIVE=0 in the environment asks for None.
"""

from __future__ import annotations

import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from pycrawl.native.sources import sources_digest

_HERE = Path(__file__).parent
_NAME = "_compiled"


def _load() -> tuple[Any, str]:
    """Returns the compiled module and "", or None and the reason why it is not used."""
    if os.environ.get("PYCRAWL_NATIVE") == "0":
        return None, "PYCRAWL_NATIVE=0 is set"
    if not any((_HERE / (_NAME + suffix)).exists() for suffix in EXTENSION_SUFFIXES):
        return None, "it was not built when pycrawl was installed"
    try:
        from pycrawl.native import _compiled
    except ImportError as error:
        return None, f"it cannot be loaded: {error}"
    if not _is_of_these_sources(getattr(_compiled, "SOURCES", None)):
        return None, f"it was built from other sources than those in {_HERE}; install pycrawl again to build it anew"
    return _compiled, ""


def _is_of_these_sources(digest: str | None) -> bool:
    """True if the module may be used: it was built from the C files that lie here, or none lie here to compare with.

    A module from before digests has None and is not used; "" is that of a module which was compiled by hand, and is.
    """
    found = sources_digest(_HERE)
    return not found or digest in (found, "")


compiled, why_not = _load()


def reader_in_use() -> str:
    """Returns "compiled", or "tree" where there is no compiled module."""
    return "tree" if compiled is None else "compiled"
