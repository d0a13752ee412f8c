"""The table `subscriptions`: what WebSub hubs were asked to push, and what they have confirmed."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from pycrawl.model import Kind
from pycrawl.policy.websub import SUBSCRIBE
from pycrawl.state.database import Database

_SECRET_BYTES = 24
_COLUMNS = "url_id, feed_id, topic, callback, token, secret, asked, asked_at, ends_at, pushed_at"


class Subscription(NamedTuple):
    """A row of `subscriptions`."""

    url_id: int
    feed_id: int
    topic: str
    callback: str  # the address that the hub was given, without the token
    token: str
    secret: str
    asked: str  # what the hub was asked for, and has not confirmed; empty: nothing
    asked_at: float
    ends_at: float
    pushed_at: float

    @property
    def address(self) -> str:
        """Returns the URL that the hub calls."""
        return f"{self.callback}/{self.token}"

    def may_hold(self, now: float) -> bool:
        """True if the hub pushes, or may do so once it has checked that this was wanted."""
        return self.ends_at > now or self.asked == SUBSCRIBE


class Subscriptions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of_url(self, url_id: int) -> Subscription | None:
        return _found(self._database, "url_id", url_id)

    def of_token(self, token: str) -> Subscription | None:
        return _found(self._database, "token", token)

    def all_hubs(self) -> list[tuple[int, float, Subscription | None]]:
        """Returns of all URLs that stand for a subscription and are not aside: the id, when the hub is asked next, and
        what is known of the subscription; None: the hub was never asked."""
        rows = self._database.query(
            "SELECT url_id, next_at FROM sources JOIN urls ON urls.id = sources.url_id WHERE kind = ? AND aside = 0",
            (int(Kind.HUB),),
        ).fetchall()
        return [(url_id, next_at, self.of_url(url_id)) for url_id, next_at in rows]

    def feeds_with_hubs(self) -> list[tuple[int, str, str]]:
        """Returns (id, hub, topic) of all feeds that name a hub."""
        return self._database.query("SELECT url_id, hub, topic FROM sources WHERE hub != ''").fetchall()

    def note_asked(self, url_id: int, feed_id: int, topic: str, callback: str, mode: str, now: float) -> Subscription:
        """Enter that the hub is asked now. Returns the subscription; token and secret are made once."""
        token, secret = secrets.token_urlsafe(_SECRET_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
        self._database.write(
            f"INSERT INTO subscriptions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT (url_id) DO"
            " UPDATE SET callback = excluded.callback, asked = excluded.asked, asked_at = excluded.asked_at",
            (url_id, feed_id, topic, callback, token, secret, mode, now),
        )
        found = self.of_url(url_id)
        assert found is not None
        return found

    def note_refused(self, url_id: int) -> None:
        """Enter that the hub did not take the request."""
        self._database.write("UPDATE subscriptions SET asked = '' WHERE url_id = ?", (url_id,))

    def note_confirmed(self, url_id: int, ends_at: float) -> None:
        """Enter that the hub has checked the request; `ends_at` is 0 if it was to unsubscribe, or was denied."""
        self._database.write("UPDATE subscriptions SET asked = '', ends_at = ? WHERE url_id = ?", (ends_at, url_id))

    def note_push(self, url_id: int, now: float) -> None:
        self._database.write("UPDATE subscriptions SET pushed_at = ? WHERE url_id = ?", (now, url_id))

    def last_end(self) -> float:
        """Returns when the last subscription ends; 0 if there is none."""
        return float(self._database.query("SELECT coalesce(max(ends_at), 0) FROM subscriptions").fetchone()[0])

    def last_asked(self) -> float:
        """Returns when the last request was made that was not confirmed yet; 0 if there is none."""
        query = "SELECT coalesce(max(asked_at), 0) FROM subscriptions WHERE asked != ''"
        return float(self._database.query(query).fetchone()[0])


def _found(database: Database, column: str, value: object) -> Subscription | None:
    row = database.query(f"SELECT {_COLUMNS} FROM subscriptions WHERE {column} = ?", (value,)).fetchone()
    return None if row is None else Subscription(*row)


def subscription_of_feed(database: Database, feed_id: int) -> Subscription | None:
    """Returns the newest subscription to a feed; None if its hub was never asked."""
    query = f"SELECT {_COLUMNS} FROM subscriptions WHERE feed_id = ? ORDER BY asked_at DESC LIMIT 1"
    row = database.query(query, (feed_id,)).fetchone()
    return None if row is None else Subscription(*row)


def count_subscriptions(database: Database, now: float) -> int:
    """Returns how many subscriptions hold."""
    return int(database.query("SELECT count(*) FROM subscriptions WHERE ends_at > ?", (now,)).fetchone()[0])
