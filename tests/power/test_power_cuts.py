"""Power cuts at random moments lose nothing that was counted; faults that are planted come to light."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.power.__main__ import cut
from tests.power.judgement import Judge
from tests.power.recording import Recording, build, compiler
from tests.power.workload import Web, Workload

pytestmark = pytest.mark.skipif(compiler() is None, reason="needs Linux and a C compiler")

CUTS = 10
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
    workload.recrawl()
    workload.forget()
    judge = Judge(recording, web, tmp_path, random.Random(32))
    assert [verdict for verdict in judge.cut(judge.moments(CUTS)) if verdict.loss] == []


@pytest.mark.parametrize(
    ("fault", "told"),
    [("no-fsync", "docs/WTX001"), ("commit-first", "docs/WTX001"), ("lazy-database", "lost")],
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


@pytest.mark.slow
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("seed", range(10))
def test_five_hundred_power_cuts(seed: int, tmp_path: Path) -> None:
    assert [verdict for verdict in cut(tmp_path, seed, 50) if verdict.loss] == []
