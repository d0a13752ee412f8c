"""The coordinator: leases URLs to fetchers, takes in their results, commits.

- `loop.py`: the run, from its first lease to its last commit
- `dispatch.py`: URLs whose hosts may be hit become jobs
- `jobs/`: a handler for each kind of job makes it and settles its answer
- `leases.py`: the URLs in flight, and those that may have killed a fetcher
- `intake.py`: answers go to their handlers, and hosts are released
- `origin_failures.py`: origins that cannot be asked for pages wait, and are tried again
- `books.py`: each answer is counted and logged
- `commits.py`: the group commit, and when it is due
- `pace.py`: how many fetches are open at once
- `meter.py`: how the run is going
- `run.py`: what these share

One thread decides everything. A second one only waits for the disk (`fsync`), so that the first one goes on serving the
fetchers meanwhile.
"""

from pycrawl.coordinator.loop import Coordinator

__all__ = ["Coordinator"]
