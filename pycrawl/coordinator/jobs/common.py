"""The fields that jobs of all kinds have in common: the host's address, whether its name is to be looked up, and
whether the job is sent ahead of another one."""

from __future__ import annotations

from typing import Any

from pycrawl.coordinator.run import Run
from pycrawl.frontier.back import BackQueue, Entry
from pycrawl.model import FetchJob, Kind, RobotsFile
from pycrawl.urls.parts import address_literal

_LOOK_UP_SECONDS = 60.0  # between two jobs of a host that ask its fetcher to look its name up


class JobMaker:
    def __init__(self, run: Run) -> None:
        self._session = run.session

    def job(self, queue: BackQueue, entry: Entry, url: str, now: float, kind: Kind, **more: Any) -> FetchJob:
        """Returns a job that fetches `url` for the sake of the leased URL `entry`; `more` are further fields of it."""
        return FetchJob(
            url_id=entry.url_id,
            url=url,
            host_id=queue.host.id,
            kind=kind,
            address=queue.host.address,
            look_up=_is_look_up_due(queue, now),
            ahead=queue.in_flight > queue.settings.politeness.connections_per_host,
            **more,
        )

    def rules_to_send(self, queue: BackQueue, site: str, now: float) -> RobotsFile | None:
        """Returns the robots.txt of the origin if the queue's fetcher lacks it; from then on it counts as sent, so the
        caller must put it into the job. None if the fetcher has it, or none is known."""
        if queue.rules.are_current(site, now):
            return None
        file = self._session.robots_of(site)
        if file is not None:
            queue.rules.note_sent(site, file)
        return file


def _is_look_up_due(queue: BackQueue, now: float) -> bool:
    """True if the next job should have the host's name looked up; the look-up counts as done.

    Fetchers keep addresses as long as DNS allows, so that most look-ups cost nothing.
    """
    if now - queue.looked_up_at < _LOOK_UP_SECONDS or address_literal(queue.host.key):
        return False
    queue.looked_up_at = now
    return True
