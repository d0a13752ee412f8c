"""A polite, restartable web crawler for one machine.

The life of a URL, stage by stage, and the module that carries it:

1. A seed (`cli/add.py`) or a link enters through the URL filter (`urls.py`, `url_filter.py`): normal form, scope.
2. URL seen? (`state/url_seen.py`): batches of hashes are sieved; only a URL never met before goes on.
3. The frontier (`frontier/`): a front queue for its priority, then the back queue of its host, until the host may be
   hit again (`politeness.py`).
4. The coordinator (`coordinator/`) leases it to a fetcher process (`pool.py`, `channel.py`, `worker.py`).
5. The fetcher asks the host's rules (`robots.py`), fetches it (`fetch/`), and parses it (`parse/`): links, each
   resolved, normalised, filtered and hashed; fingerprints (`fingerprint/`); the record, compressed.
6. Content seen? (`state/content_seen.py`): a copy of a stored page is recorded, not stored, and its links are not
   followed again. Nearly seen? (`state/near_seen.py`): it is stored, and joined to the cluster of what it resembles.
7. The record is appended to a compound file (`store/`), fsynced, and one transaction (`state/`) commits documents,
   fingerprints, visits, links, frontier and host times together.
8. A redirect's target and the links of new content start again at 2.

Only the coordinator writes state and store; only fetchers touch the network and parse.
"""

__version__ = "0.1.0"
