"""The records by which traps are judged, host by host (`traps/` says what a kind, a series and a probe are).

Memory holds the records of the hosts met lately. The disk holds what a restart must not forget: the kinds that are not
good, the series that run on, and how hosts answered probes.
"""

from __future__ import annotations

import random
import string
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import date

import numpy as np

from pycrawl.config import Config
from pycrawl.model import CloseLook, PackedLinks, UrlOrder
from pycrawl.state.database import Database
from pycrawl.state.hosts import Host
from pycrawl.state.kinds_table import kinds_of_host, series_of_host
from pycrawl.traps.host_record import PAGES_BEFORE_PROBE, SAMPLE_EVERY, HostRecord
from pycrawl.traps.kind_record import KindRecord
from pycrawl.traps.novelty import Novelty
from pycrawl.traps.series import REPEATS, Series
from pycrawl.traps.url_kinds import ALL, place, position_of
from pycrawl.urls.host_list import HostList
from pycrawl.urls.parts import first_directory, host_key, origin, url_hash

_HOSTS_KEPT = 20_000  # hosts whose records are in memory, at most …
_PARTS_KEPT = 300_000  # … and kinds and series of all of them together
_RECORD_BYTES, _PART_BYTES = (
    900,
    240,
)  # that a host's record takes without its kinds and series, and one of these; about
_PROBE_LETTERS = 16  # random letters of a probe's name: so many that no page has this name


class Kinds:
    """Filled from results as they come; asked before each URL is sent out. `clock`: seconds since the epoch."""

    def __init__(self, database: Database, config: Config, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._judges = config.traps.novelty
        self._probes = config.traps.soft_404
        self._exempt = HostList("traps.exempt_hosts", config.traps.exempt_hosts)
        self._records: OrderedDict[int, HostRecord] = OrderedDict()
        self._parts = 0  # kinds and series of the records
        self._novelty = Novelty()
        self._changed_kinds: dict[tuple[int, str], KindRecord] = {}
        self._changed_series: dict[tuple[int, str], Series] = {}
        self._new_probes: list[tuple[int, str, bytes]] = []
        # Rows to be written, with the numbers that they had when their group was closed.
        self._kind_rows: dict[tuple[int, str], tuple[object, ...]] = {}
        self._series_rows: dict[tuple[int, str], tuple[object, ...]] = {}
        self._probe_rows: list[tuple[int, str, bytes]] = []
        self._chance = random.Random()
        self._sample_seed = self._chance.getrandbits(32)  # so that no site can tell which pages get a close look

    # Before a fetch

    def watches(self, host: Host) -> bool:
        """True if one of the host's URLs may be a trap, or may have to wait."""
        return self._judges and self._record(host).is_watched

    def trap(self, host: Host, url: str) -> str:
        """Returns why a URL is a trap, in words; empty if it is none."""
        return self._record(host).trap(url)

    def has_turn(self, host: Host, url: str, others_wait: bool) -> bool:
        """Decide whether a URL is sent now, or lets other URLs of its host go first because its kind brings little;
        after some of the kind that did, one is sent all the same. Either is counted. Returns True if it is sent."""
        kind = self._record(host).low_kind(url)
        if kind is None:
            return True
        if others_wait and kind.lets_others_first and not self._novelty.is_dull_usual:
            kind.passed_over += 1
            return False
        kind.passed_over = 0
        return True

    def wants_close_look(self, host: Host, url: str) -> bool:
        """True if the fetcher should take a close look at the page. Not to be asked where nothing is judged."""
        record = self._record(host)
        if record.is_exempt:
            return False
        if record.answers_probes:
            return True
        if not self._judges:
            return not record.probes
        return not record.is_above_doubt(url) or url_hash(url, self._sample_seed) % SAMPLE_EVERY == 0

    def directory_to_probe(self, host: Host, url: str) -> str:
        """Returns the directory of the host that is to be probed before this URL is asked for; empty if none is."""
        if not self._probes or host.pages < PAGES_BEFORE_PROBE:
            return ""
        return self._record(host).directory_to_probe(url)

    def start_probe(self, host: Host, url: str, directory: str) -> str:
        """Note that the directory is being probed. Returns a URL in it that cannot exist."""
        self._record(host).start_probe(directory)
        return origin(url) + directory + "".join(self._chance.choices(string.ascii_lowercase, k=_PROBE_LETTERS))

    # After a fetch

    def take_in_probe(self, host: Host, probe_url: str, pairs: bytes) -> None:
        """Keep the answer to a probe. `pairs` is the sample of the page that answered; empty if there was none."""
        record = self._record(host)
        if record.is_like_first_pages(np.frombuffer(pairs, np.uint64)):
            pairs = b""
        directory = first_directory(probe_url)
        record.end_probe(directory, np.frombuffer(pairs, np.uint64))
        self._new_probes.append((host.id, directory, pairs))

    def is_soft_404(self, host: Host, url: str, look: CloseLook) -> bool:
        """True if the page is like the host's answer to a probe."""
        return self._record(host).is_soft_404(url, look)

    def take_in_page(self, host: Host, url: str, depth: int, look: CloseLook, links: PackedLinks) -> UrlOrder:
        """Count a page, and judge its kinds. Returns the order in which the host's URLs are to be sent from now on."""
        record = self._record(host)
        if self._probes and not record.probes and len(record.first_samples) < PAGES_BEFORE_PROBE:
            record.first_samples.append(np.frombuffer(look.pairs, np.uint64))
        if not self._judges or record.is_exempt:
            return UrlOrder.AS_FOUND
        today = position_of(date.fromtimestamp(self._clock()))
        before = record.parts
        order = record.add_page(url, depth, look, links, self._novelty, today)
        self._note_changes(record, (ALL, look.section, look.shape))
        self._count_parts(record, before)
        here = place(url)
        if here is not None and here.series in record.watched and record.series[here.series].pages >= REPEATS:
            self._changed_series[record.id, here.series] = record.series[here.series]
        return order

    def take_in_redirect(self, host: Host, url: str, target: str, is_known: bool) -> None:
        """Count a redirect. `is_known`: its target was found before."""
        record = self._record(host)
        if self._judges and not record.is_exempt and host_key(target) == host.key:
            before = record.parts
            names = record.add_redirect(url, target, is_known, self._novelty)
            self._count_parts(record, before)
            self._note_changes(record, names)

    def _note_changes(self, record: HostRecord, names: tuple[str, ...]) -> None:
        for name in names:
            kind = record.kinds.get(name)
            if kind is not None and not kind.is_good:
                self._changed_kinds[record.id, name] = kind

    # Records

    def _record(self, host: Host) -> HostRecord:
        record = self._records.get(host.id)
        if record is not None:
            # Which one was asked for last matters when some have to leave.
            if len(self._records) > _HOSTS_KEPT // 2 or self._parts > _PARTS_KEPT // 2:
                self._records.move_to_end(host.id)
            return record
        record = self._records[host.id] = self._read(host)
        self._count_parts(record, 0)
        return record

    def _count_parts(self, record: HostRecord, before: int) -> None:
        """Note how many parts a record has now, and had before; forget records of other hosts if these are too many."""
        self._parts += record.parts - before
        while len(self._records) > _HOSTS_KEPT or (self._parts > _PARTS_KEPT and len(self._records) > 1):
            _, left = self._records.popitem(last=False)
            self._parts -= left.parts

    def bytes_held(self) -> int:
        """Returns about how many bytes the records take, and what tells whether a page is new."""
        return len(self._records) * _RECORD_BYTES + self._parts * _PART_BYTES + self._novelty.bytes_held()

    def _read(self, host: Host) -> HostRecord:
        record = HostRecord(host.id, host.key, host.key in self._exempt)
        if host.pages:  # else it is new
            self.close_group()  # its record may have left memory just now, with changes that are not written yet
            self.flush()
            record.kinds = kinds_of_host(self._database, host.id)
            record.series = series_of_host(self._database, host.id)
            probes = self._database.query("SELECT directory, pairs FROM probes WHERE host_id = ?", (host.id,))
            for directory, pairs in probes:
                record.end_probe(directory, np.frombuffer(pairs, np.uint64))
            if self._judges and not record.is_exempt:
                record.mark_watched()
        return record

    def close_group(self) -> None:
        """Fix the changed records as they are now: `flush` writes these, and never counts of results that are committed
        later."""
        self._kind_rows.update({key: (*key, *one.columns()) for key, one in self._changed_kinds.items()})
        self._series_rows.update({key: (*key, *one.columns()) for key, one in self._changed_series.items()})
        self._probe_rows += self._new_probes
        self._changed_kinds, self._changed_series, self._new_probes = {}, {}, []

    def flush(self) -> None:
        """Write what has changed up to the last `close_group`. To be called in the transaction of a group commit."""
        if self._kind_rows:
            self._database.write_many(
                "INSERT OR REPLACE INTO kinds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                self._kind_rows.values(),
            )
        if self._series_rows:
            self._database.write_many(
                "INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._series_rows.values()
            )
        if self._probe_rows:
            self._database.write_many("INSERT OR REPLACE INTO probes VALUES (?, ?, ?)", self._probe_rows)
        self._kind_rows, self._series_rows, self._probe_rows = {}, {}, []
