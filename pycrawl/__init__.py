"""A polite, restartable web crawler for one machine.

The life of a URL, stage by stage, and the room that carries it:

1. A seed (`crawl/seeding.py`) or a link gets its normal form and is judged by the scope (`urls/`).
2. URL seen? (`state/url_seen.py`): batches of hashes are sieved; only a URL never met before goes on.
3. The frontier (`frontier/`): a front queue for its priority (`policy/priority.py`), then the back queue of its host,
   until the host may be hit again (`policy/politeness.py`).
4. The coordinator (`coordinator/`) leases it to a fetcher process (`processes/`, `fetcher/process.py`).
5. The fetcher asks the host's rules (`policy/robots.py`), fetches it (`fetch/`), and parses it (`parse/`): links, each
   resolved, normalised, judged and hashed; fingerprints (`fingerprint/`); the record (`record/`), compressed.
6. Does its kind of page bring anything new (`traps/`)? Content seen? (`state/content_seen.py`): a copy of a stored page
   is recorded, not stored. Nearly seen? (`state/near_seen.py`): it is stored, and joined to the cluster of what it
   resembles.
7. The record is appended to a compound file (`store/`), fsynced, and one transaction (`state/`) commits documents,
   fingerprints, visits, links, frontier and host times together; `crawl/session.py` keeps that order.
8. A redirect's target and the links of the page start again at 2.

Only the coordinator writes state and store; only fetchers touch the network and parse. What reads a crawl afterwards is
in `collection/`; the commands are in `cli/`.

For programs: `Collection` reads a crawl's pages (`collection/collection.py`), `Crawl` makes and runs a crawl
(`api/crawl.py`). Both are loaded when they are first asked for, so that importing `pycrawl` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pycrawl.api.crawl import Crawl
    from pycrawl.collection.collection import Collection

__version__ = "0.1.0"
__all__ = ["Collection", "Crawl", "__version__"]

_HOME = {"Collection": "pycrawl.collection.collection", "Crawl": "pycrawl.api.crawl"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pycrawl' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
