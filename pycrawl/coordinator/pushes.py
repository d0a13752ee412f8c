"""Pushes: what WebSub hubs say to this crawl. A hub checks that it was really asked, and tells that a feed has news.

Of news, only the signature is looked at, and nothing is kept: the feed itself is asked at once. So what a hub, or
somebody in its place, sends can change nothing but the time of a visit; the coordinator parses no feed; and the
feed's own server is asked within its pauses, by a request that costs little if nothing is new.
"""

from __future__ import annotations

import logging
import time
from urllib.parse import parse_qs

from pycrawl.coordinator.jobs.hub import name_hub, wish
from pycrawl.coordinator.push_server import Answer, Incoming, PushServer, Sink
from pycrawl.coordinator.run import Run
from pycrawl.errors import UsageError
from pycrawl.policy.source_visits import Watched
from pycrawl.policy.websub import SUBSCRIBE, UNSUBSCRIBE, Signature, is_right, lease, next_try, renewal, signature
from pycrawl.state.sources import NEVER, SourceVisit
from pycrawl.state.subscriptions import Subscription

_CHECK_SECONDS = 60.0  # for which a run waits for a hub to check a request
_LOOK_SECONDS = 1.0  # between two looks at the subscriptions
_MOST_FIELDS = 20  # of a query
_NOT_THERE = Answer(404)

log = logging.getLogger(__name__)


class Pushes:
    """The receiver of one run. It listens if `feeds.callback` is set, or as long as hubs have to be told that it is
    not any more."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._session = run.session
        self._subscriptions = run.session.subscriptions
        self._feeds = run.config.feeds
        self._server: PushServer | None = None
        self._news: set[int] = set()  # ids of feeds with news that are not queued for it yet
        self._looked_at = 0.0  # monotonic: the last look at the subscriptions
        self._awaited_until = 0.0  # what it showed: seconds since the epoch

    # The run

    def open(self) -> None:
        """Listen, and queue what hubs are to be asked now, because the settings have changed. Raises UsageError where
        nobody can listen there."""
        must_end = False
        for feed_id, hub, topic in self._subscriptions.feeds_with_hubs() if self._feeds.callback else ():
            name_hub(self._session, feed_id, max(1, self._session.standings.depth_of(feed_id)), hub, topic)
        for url_id, next_at, known in self._subscriptions.all_hubs():
            mode = wish(self._run, url_id)
            must_end |= mode == UNSUBSCRIBE
            if self._is_due(mode, next_at, known):
                self._session.sources.let_be_asked(url_id)
        if not self._feeds.callback and not must_end:
            return
        try:
            self._server = PushServer(self._feeds.listen, self._respond, self.count)
        except OSError as error:
            if self._feeds.callback:
                raise UsageError(f"feeds.listen: cannot listen on {self._feeds.listen}: {error.strerror}") from None
            log.warning("cannot listen on %s: hubs cannot check that they are not wanted any more", self._feeds.listen)

    def _is_due(self, mode: str, next_at: float, known: Subscription | None) -> bool:
        """True if the hub is to be asked now, although that was not planned: what is wanted of it has changed."""
        if mode == UNSUBSCRIBE:
            return known is not None and known.asked != UNSUBSCRIBE
        if mode != SUBSCRIBE:
            return False
        has_changed = known is not None and (known.callback != self._feeds.callback or known.asked == UNSUBSCRIBE)
        return has_changed or next_at == NEVER

    def fileno(self) -> int:
        """Returns the descriptor to wait on; -1: nothing listens."""
        return self._server.fileno() if self._server is not None else -1

    @property
    def are_awaited(self) -> bool:
        """True if the run goes on although nothing is left to fetch: hubs may push, or are about to check."""
        if self._server is None:
            return False
        if time.monotonic() - self._looked_at >= _LOOK_SECONDS:
            self._looked_at = time.monotonic()
            until = self._subscriptions.last_asked() + _CHECK_SECONDS
            self._awaited_until = max(until, self._subscriptions.last_end()) if self._feeds.callback else until
        return self._awaited_until > self._run.now()

    def work(self) -> bool:
        """Take in what has come. Returns True if some feed with news was made due."""
        if self._server is None:
            return False
        self._server.work()
        made_due = {feed_id for feed_id in self._news if self._session.sources.make_due(feed_id)}
        self._news -= made_due
        return bool(made_due)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    # Requests

    def _respond(self, incoming: Incoming) -> Answer | Sink:
        path, _, query = incoming.target.partition("?")
        known = self._subscriptions.of_token(path.rpartition("/")[2])
        if known is None:
            self.count("unknown-address")
            return _NOT_THERE
        if incoming.method == "GET":
            return self._check(known, query)
        if incoming.method == "POST":
            return _Push(self, known, incoming.headers.get("x-hub-signature", ""))
        self.count("bad-request")
        return Answer(405)

    def _check(self, known: Subscription, query: str) -> Answer:
        """Answer a hub that asks whether its subscription is wanted, or says that it will not have it."""
        try:
            fields = {name: values[0] for name, values in parse_qs(query, max_num_fields=_MOST_FIELDS).items()}
        except ValueError:
            fields = {}
        mode, challenge = fields.get("hub.mode", ""), fields.get("hub.challenge", "")
        if fields.get("hub.topic") != known.topic:
            self.count("unknown-topic")
            return _NOT_THERE
        if mode == "denied":
            self._end(known, next_try(self._run.now(), 1))
            self.count("denied")
            log.info("%s: its hub denies the subscription", known.topic)
            return Answer(200)
        if not known.asked or mode != known.asked or not challenge:
            self.count("unasked-check")
            return _NOT_THERE
        if mode == SUBSCRIBE:
            self._confirm(known, lease(fields.get("hub.lease_seconds", "")))
        else:
            self._end(known, NEVER)
        self.count(f"{mode}-confirmed")
        return Answer(200, challenge)

    def _confirm(self, known: Subscription, seconds: float) -> None:
        now = self._run.now()
        self._subscriptions.note_confirmed(known.url_id, now + seconds)
        self._note_next(known, renewal(now, seconds))
        log.info("%s: its hub pushes for %.0f s", known.topic, seconds)

    def _end(self, known: Subscription, next_at: float) -> None:
        self._subscriptions.note_confirmed(known.url_id, 0.0)
        self._note_next(known, next_at)

    def _note_next(self, known: Subscription, next_at: float) -> None:
        """The hub is asked next at this time, whatever a visit that is not written yet says."""
        self._looked_at = 0.0
        self._session.group.sources.append(SourceVisit(known.url_id, next_at, self._run.now(), 0, Watched()))

    def take_news(self, known: Subscription) -> None:
        self.count("news")
        self._subscriptions.note_push(known.url_id, self._run.now())
        self._news.add(known.feed_id)

    def count(self, word: str) -> None:
        self._session.group.counts[f"push:{word}"] += 1


class _Push:
    """The body of a push, while it comes in."""

    def __init__(self, pushes: Pushes, known: Subscription, header: str) -> None:
        self._pushes = pushes
        self._known = known
        self._header = header
        self._signature: tuple[Signature, bytes] | None = signature(header, known.secret)

    def take(self, data: bytes) -> None:
        if self._signature is not None:
            self._signature[0].update(data)

    def end(self) -> Answer:
        """Whoever sent it is not told whether it was believed (WebSub, 8)."""
        if self._signature is None:
            self._pushes.count("bad-signature" if self._header else "unsigned")
        elif is_right(*self._signature):
            self._pushes.take_news(self._known)
        else:
            self._pushes.count("bad-signature")
        return Answer(202)
