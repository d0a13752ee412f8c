"""How the run is going: rates over the last seconds, for a display."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable

from pycrawl.coordinator.leases import Leases
from pycrawl.coordinator.run import Run
from pycrawl.crawl.progress import Ended, Progress
from pycrawl.policy.politeness import is_parked
from pycrawl.processes.pool import FetcherPool
from pycrawl.state.counters import totals

_TICK_SECONDS = 0.5  # between two looks at the progress: lively to watch, and cheap
_RATE_SECONDS = 10.0  # over which rates are averaged


class Meter:
    """Measures one run. `on_tick` is called with the progress about twice a second, and at the end."""

    def __init__(self, run: Run, leases: Leases, pool: FetcherPool, on_tick: Callable[[Progress], None]) -> None:
        self._run = run
        self._leases = leases
        self._pool = pool
        self._on_tick = on_tick
        self._tick_at = 0.0  # monotonic: the last tick
        self._pages_seen = 0  # pages of the run at the last tick
        self._last_page_at = -math.inf  # monotonic: the tick that saw the last page, so up to a tick late
        self._samples: deque[tuple[float, int, int, float]] = deque()  # by tick: time, pages, bytes, idle seconds
        self.idle_seconds = 0.0  # seconds of the run in which the coordinator waited for results

    @property
    def next_at(self) -> float:
        """When the next tick is due, by the monotonic clock."""
        return self._tick_at + _TICK_SECONDS

    def tick(self) -> None:
        """Take a sample and show the progress, if a tick is due."""
        now = time.monotonic()
        if now >= self.next_at:
            self._show(now)

    def _show(self, now: float) -> None:
        self._tick_at = now
        counts = self._run.counts
        if counts.pages > self._pages_seen:
            self._pages_seen = counts.pages
            self._last_page_at = now
        self._samples.append((now, counts.pages, counts.bytes, self.idle_seconds))
        while now - self._samples[0][0] > _RATE_SECONDS:
            self._samples.popleft()
        self._on_tick(self._progress(now))

    def _progress(self, now: float) -> Progress:
        run = self._run
        counts = run.counts
        then, pages, received, idle = self._samples[0]
        seconds = max(now - then, 0.001)
        sizes = run.frontier.sizes()
        pace = run.frontier.host_pace()
        next_ready = run.frontier.next_ready_at(lambda fetcher: True)
        return Progress(
            seconds=now - run.started,
            counts=counts,
            pages_per_second=(counts.pages - pages) / seconds,
            bytes_per_second=(counts.bytes - received) / seconds,
            front=sizes.front,
            back=sizes.back,
            in_flight=self._leases.fetches,
            documents=self._leases.documents,
            active_hosts=pace.active,
            waiting_hosts=pace.waiting,
            failing_hosts=pace.failing,
            parked_hosts=sizes.parked,
            addresses=pace.addresses,
            next_ready_in=max(0.0, next_ready - run.now()),
            slots=self._leases.all_slots,
            typical_gap=pace.gap,
            since_last_page=now - self._last_page_at,
            busy_share=1.0 - min(1.0, (self.idle_seconds - idle) / seconds),
            pages_left=run.limits.max_pages - counts.pages,
            seconds_left=run.limits.max_seconds - (now - run.started),
            stopping=run.stopping,
        )

    def ended(self, interrupted: bool) -> Ended:
        """Show the progress for the last time, and return the summary of the run. To be called after its last
        commit."""
        self._show(time.monotonic())
        run = self._run
        sizes = run.frontier.sizes()
        cpu = self._pool.cpu_seconds()
        held = totals(run.session.database).get("held", 0)
        parked = run.frontier.parked_hosts()
        failing = [host.ready_at for host in parked if is_parked(host.failures, host.ready_at - run.now())]
        shut = run.frontier.shut_origins()
        without_robots = [one.until for one in shut if one.of_robots]
        unconnected = [one.until for one in shut if not one.of_robots]
        return Ended(
            reason="interrupted" if interrupted else run.stopping or "finished",
            counts=run.counts,
            seconds=time.monotonic() - run.started,
            parked_hosts=len(parked),
            failing_hosts=len(failing),
            next_try_at=min(failing, default=None),
            unreachable_robots=len(without_robots),
            next_robots_at=min(without_robots, default=None),
            unreachable_origins=len(unconnected),
            next_origin_at=min(unconnected, default=None),
            queued=sizes.front + sizes.back + held,
            held=held,
            fetchers_replaced=self._pool.replaced,
            cpu_seconds={**cpu, "coordinator": time.process_time()},
        )
