"""What can go wrong that a person should hear about, each with its exit code.

    PycrawlError                 1  failed
    ├── UsageError               2  the command line or a seed is wrong
    ├── ConfigError              2  pycrawl.toml: names the file and the key
    ├── UnsafeFile               2  something in a crawl's directory is no ordinary file of its own: a link, a pipe …
    ├── DirectoryHeld            3  another crawl works in this directory
    ├── StoppedByLimit           4  a full disk, or more errors than allowed
    ├── NothingFetched           5  no seed gave a page
    ├── StateError               1  state.db is missing, damaged or unreadable
    │   └── StateTooNew          1  state.db was written by a newer pycrawl
    ├── StoreError               1  a compound file is missing, damaged or unreadable
    └── FetcherError             1  fetchers cannot be started or die too often

Nothing of this crosses a process: what happened to a fetch is a value (`model.Outcome`), because an exception whose
constructor takes more than a message does not unpickle.
"""

from __future__ import annotations

# What to do where pycrawl.toml is there, and state.db is not.
START_ANEW = (
    "Put back a copy of state.db; or start anew: move docs/ away, then `pycrawl init` with the seeds makes a new state"
    " and keeps pycrawl.toml, and `pycrawl import` takes in the pages of the files that were moved."
)


class PycrawlError(Exception):
    """The root: its message is one line for the user, or several if it is given several; `exit_code` is what the
    command returns."""

    exit_code = 1

    @property
    def lines(self) -> tuple[str, ...]:
        """Returns the lines of the message. A newline inside one is part of what it quotes."""
        return tuple(map(str, self.args))


class UsageError(PycrawlError):
    exit_code = 2


class ConfigError(PycrawlError):
    exit_code = 2


class UnsafeFile(PycrawlError):
    exit_code = 2


class DirectoryHeld(PycrawlError):
    exit_code = 3


class StoppedByLimit(PycrawlError):
    exit_code = 4


class NothingFetched(PycrawlError):
    exit_code = 5


class StateError(PycrawlError):
    pass


class StateTooNew(StateError):
    pass


class StoreError(PycrawlError):
    pass


class FetcherError(PycrawlError):
    pass
