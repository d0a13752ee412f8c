"""What `forget` has removed: nobody may ask for it again, whoever names it."""

from __future__ import annotations

from pycrawl.state.database import Database
from pycrawl.urls.parts import url_hash


class Unwanted:
    """Read once, when the state is opened."""

    def __init__(self, database: Database, seed: int) -> None:
        self._seed = seed
        rows = database.query("SELECT kind, value FROM unwanted").fetchall()
        self._urls = {int(value, 16) for kind, value in rows if kind == "url"}
        self._hosts = {value for kind, value in rows if kind == "host"}
        self._prefixes = tuple(value for kind, value in rows if kind == "prefix")

    def __bool__(self) -> bool:
        return bool(self._urls or self._hosts or self._prefixes)

    def verdict(self, url: str, host_key: str) -> bool:
        """True if the URL must never be asked for."""
        if host_key in self._hosts or url.startswith(self._prefixes):
            return True
        return bool(self._urls) and url_hash(url, self._seed) in self._urls
