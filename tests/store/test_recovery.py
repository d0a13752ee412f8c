"""What a crash may leave, byte by byte, and what is damage and not a crash."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pycrawl.errors import StoreError
from pycrawl.store import CompoundFile, CompoundWriter, RecordReader, Recovery, recover
from pycrawl.store.compound import file_name
from tests.store.records import record

NOTHING = Recovery(0, (), ())


def collection(root: Path, records: int, file_size: int = 1_000_000, compress: bool = True) -> tuple[CompoundFile, ...]:
    writer = CompoundWriter(root, file_size, compress, None)
    for number in range(records):
        writer.append(record(number, compress))
    files = writer.sync()
    writer.close()
    return files


def test_nothing_to_do(tmp_path: Path) -> None:
    assert recover(tmp_path / "docs", []) == NOTHING
    assert recover(tmp_path, collection(tmp_path, 3)) == NOTHING


@pytest.mark.parametrize("compress", [True, False])
def test_a_tail_torn_at_any_byte_is_cut(tmp_path: Path, compress: bool) -> None:
    (committed,) = collection(tmp_path, 2, compress=compress)
    path = tmp_path / committed.name
    before = path.read_bytes()
    writer = CompoundWriter(tmp_path, 1_000_000, compress, committed)
    writer.append(record(2, compress))
    writer.sync()
    writer.close()
    after = path.read_bytes()
    for length in range(len(before) + 1, len(after) + 1):
        path.write_bytes(after[:length])
        assert recover(tmp_path, [committed]) == Recovery(length - len(before), (), (committed.name,))
        assert path.read_bytes() == before
    assert len(list(RecordReader(tmp_path).records(committed.name, committed.length))) == 2


def test_a_tail_of_rubbish_is_cut(tmp_path: Path) -> None:
    (committed,) = collection(tmp_path, 2)
    with (tmp_path / committed.name).open("ab") as file:
        file.write(bytes(4096))  # what a file system may show after a power loss
    assert recover(tmp_path, [committed]).cut_bytes == 4096
    assert recover(tmp_path, [committed]) == NOTHING


def test_files_that_no_transaction_committed_are_removed(tmp_path: Path) -> None:
    files = collection(tmp_path, 3, file_size=1)
    lost = recover(tmp_path, files[:1])
    assert lost == Recovery(files[1].length + files[2].length, ("WTX001/B02.gz", "WTX001/B03.gz"), ())
    assert [path.name for path in (tmp_path / "WTX001").iterdir()] == ["B01.gz"]
    writer = CompoundWriter(tmp_path, 1, True, files[0])
    assert writer.append(record(1)).docno == "WTX001-B02-1"
    writer.close()


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    files = collection(tmp_path, 1)
    others = ["README", "WTX001/B01.gz.bak", "WTX001/B99.gz", "WTX001/notes", "WTX1/B01.gz", "old/B01.gz"]
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    (tmp_path / "WTX001/B02.gz").mkdir()
    assert recover(tmp_path, files) == NOTHING
    assert all((tmp_path / name).read_text() == "mine" for name in others)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    files = collection(tmp_path, 2, file_size=1)
    (tmp_path / files[0].name).unlink()
    with pytest.raises(StoreError, match=r"WTX001/B01\.gz: expected \d+ bytes, found no such file"):
        recover(tmp_path, files)


def test_a_file_that_is_too_short_is_named_and_nothing_is_touched(tmp_path: Path) -> None:
    files = collection(tmp_path, 3, file_size=1)
    short, longer = tmp_path / files[0].name, tmp_path / files[1].name
    short.write_bytes(short.read_bytes()[:-1])
    with longer.open("ab") as file:
        file.write(b"tail")
    with pytest.raises(
        StoreError, match=rf"B01\.gz: expected at least {files[0].length} bytes, found {files[0].length - 1}"
    ):
        recover(tmp_path, files[:2])
    assert longer.stat().st_size == files[1].length + 4
    assert (tmp_path / files[2].name).exists()


def test_ten_thousand_files_take_a_moment(tmp_path: Path) -> None:
    files = [CompoundFile(number, file_name(number, True), 0, 0) for number in range(1, 10_001)]
    for file in files:
        (tmp_path / file.name).parent.mkdir(exist_ok=True)
        (tmp_path / file.name).touch()
    started = time.process_time()
    assert recover(tmp_path, files) == NOTHING
    assert time.process_time() - started < 1.0
