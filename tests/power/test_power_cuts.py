"""Power cuts at random moments lose nothing that was counted; faults that are planted come to light."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.e2e.crawling import Crawl
from tests.power.__main__ import cut
from tests.power.disk import Disk, RandomCut
from tests.power.judgement import Judge, open_and_read, read
from tests.power.recording import Recording, build, compiler
from tests.power.workload import Web, Workload

pytestmark = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")

CUTS = 8
MOST_CUTS = 60  # until a planted fault is found; it takes some five


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("recorder"))


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(15, random.Random(31)) as made:
        yield made


def record(web: Web, library: Path, folder: Path, *faults: str) -> tuple[Recording, Workload]:
    (folder / "disk").mkdir()
    recording = Recording(folder / "disk", library, folder / "trace")
    return recording, Workload(web, recording, faults)


def test_nothing_is_lost(web: Web, library: Path, tmp_path: Path) -> None:
    recording, workload = record(web, library, tmp_path)
    workload.init()
    workload.crawl_and_add()
    workload.imports()
    workload.damage_and_repair()
    workload.put_back()
    workload.compact()
    workload.forget()
    judge = Judge(recording, web, tmp_path, random.Random(32))
    assert [verdict for verdict in judge.cut(judge.moments(CUTS)) if verdict.loss] == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [("no-fsync", "WTX001"), ("commit-first", "WTX001"), ("lazy-database", "lost")],
)
def test_a_planted_fault_is_found(fault: str, told: str, web: Web, library: Path, tmp_path: Path) -> None:
    recording, workload = record(web, library, tmp_path, fault)
    workload.init()
    workload.crawl()
    judge = Judge(recording, web, tmp_path, random.Random(33))
    losses = (verdict.loss for verdict in judge.cut(judge.delicate(MOST_CUTS), goes_on=False) if verdict.loss)
    assert told in next(losses, "no loss")


def test_a_rename_without_a_sync_of_its_folder_is_found(web: Web, library: Path, tmp_path: Path) -> None:
    recording, workload = record(web, library, tmp_path, "no-folder-sync")
    workload.init()
    workload.crawl_and_add()
    judge = Judge(recording, web, tmp_path, random.Random(34))
    losses = (verdict.loss for verdict in judge.cut(judge.delicate(MOST_CUTS, "added")) if verdict.loss)
    assert "URLs that `add` had taken are not known" in next(losses, "no loss")


EIO, ENOSPC = 5, 28
FAILED, LIMIT = 1, 4


@pytest.mark.parametrize(
    ("fail", "code"),
    [
        (f"fsync /docs/WTX001/ 3 1 {EIO}", FAILED),  # once: a second try would seem to work
        (f"fsync state.db-wal 6 1 {EIO}", FAILED),
        pytest.param(f"write /docs/WTX001/ 4 0 {ENOSPC}", LIMIT, marks=pytest.mark.slow),
        pytest.param(f"write state.db-wal 40 0 {ENOSPC}", LIMIT, marks=pytest.mark.slow),
    ],
)
def test_what_could_not_be_written_is_never_counted(
    fail: str, code: int, web: Web, library: Path, tmp_path: Path
) -> None:
    """The power goes after the run has ended: what it could not write is lost, whatever the page cache still shows."""
    recording, workload = record(web, library, tmp_path)
    workload.init()
    ended, told = workload.failing(fail, "crawl")
    assert (ended, told.count("\n")) == (code, 1), told
    judge = Judge(recording, web, tmp_path, random.Random(35))
    moments = [*judge.delicate(3), judge.end, judge.end]
    assert [verdict for verdict in judge.cut(moments, goes_on=False) if verdict.loss] == []
    assert [verdict for verdict in judge.cut([judge.end]) if verdict.loss] == []


def test_an_error_that_is_not_heeded_is_found(web: Web, library: Path, tmp_path: Path) -> None:
    recording, workload = record(web, library, tmp_path, "deaf-to-errors")
    workload.init()
    assert workload.failing(f"fsync /docs/WTX001/ 3 1 {EIO}", "crawl")[0] == 0
    judge = Judge(recording, web, tmp_path, random.Random(36))
    assert any("WTX001" in verdict.loss for verdict in judge.cut([judge.end], goes_on=False))


def forget_on_a_full_disk(web: Web, library: Path, folder: Path, writes: Iterable[int]) -> None:
    """The disk is full from some write of `forget` on: a line and exit code 4; what is not forgotten is whole, also
    after a power cut; and once there is room, the next call carries it on."""
    recording, workload = record(web, library, folder)
    workload.init()
    workload.crawl()
    crawl = Crawl(recording.root / "crawl")
    before = read(crawl)
    prefix = web.url + "/private/"
    kept = {url: body for url, body in before.bodies.items() if not url.startswith(prefix)}
    shutil.copytree(recording.root, folder / "whole")
    for number, write in enumerate(writes):
        (folder / f"full-{number}").mkdir()
        shutil.copytree(folder / "whole", folder / f"full-{number}" / "disk")
        full = Recording(folder / f"full-{number}" / "disk", library, folder / "trace-full")
        code, told = Workload(web, full).failing(
            f"write /crawl/ {write} 0 {ENOSPC}", "forget", "--prefix", prefix, "--yes"
        )
        assert code == LIMIT, told
        assert "Traceback" not in told
        crawl = Crawl(full.root / "crawl")
        crawl.verify()
        assert set(kept) <= crawl.bodies(before.urls).keys()
        with_room = Recording(full.root, library, folder / "trace-with-room")
        Workload(web, with_room).run("forget", "--prefix", prefix, "--yes")
        disk = Disk(with_room)
        for event in with_room.events():
            disk.take(event)
        assert open_and_read(disk.image(RandomCut(random.Random(number))), folder / "cut").bodies == kept
        assert read(crawl).bodies == kept
        assert not list(crawl.path.rglob("*.new*"))


def test_forget_on_a_full_disk(web: Web, library: Path, tmp_path: Path) -> None:
    forget_on_a_full_disk(web, library, tmp_path, (2, 30))


@pytest.mark.slow
def test_forget_on_a_disk_that_is_full_at_any_write(web: Web, library: Path, tmp_path: Path) -> None:
    forget_on_a_full_disk(web, library, tmp_path, range(1, 200, 5))


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(10))
def test_five_hundred_power_cuts(seed: int, tmp_path: Path) -> None:
    assert [verdict for verdict in cut(tmp_path, seed, 50) if verdict.loss] == []
