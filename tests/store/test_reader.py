"""Reading records by place and in order, and what damage looks like."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path

import pytest

from pycrawl.errors import StoreError
from pycrawl.record import trec_web
from pycrawl.store import CompoundFile, CompoundWriter, Location, RecordReader
from tests.store.records import plain, record

SIZES = [0, 50, 3_000, 70_000, 10, 200_000, 500]


def collection(
    root: Path, compress: bool, file_size: int = 10_000_000
) -> tuple[list[Location], tuple[CompoundFile, ...]]:
    writer = CompoundWriter(root, file_size, compress, None)
    places = [writer.append(record(number, compress, size)) for number, size in enumerate(SIZES)]
    files = writer.sync()
    writer.close()
    return places, files


def whole(place: Location, number: int) -> bytes:
    return trec_web.head(place.docno) + plain(number, SIZES[number])


@pytest.mark.parametrize("compress", [True, False])
class TestBothKinds:
    def test_read_by_place(self, tmp_path: Path, compress: bool) -> None:
        places, (file,) = collection(tmp_path, compress)
        with RecordReader(tmp_path) as records:
            for number, place in enumerate(places):
                assert records.read(file.name, place.offset, place.length) == whole(place, number)

    @pytest.mark.parametrize("chunk", [1, 7, 19, 1_000, 1 << 16])
    def test_scan_finds_every_boundary(self, tmp_path: Path, compress: bool, chunk: int) -> None:
        places, (file,) = collection(tmp_path, compress)
        found = list(RecordReader(tmp_path, chunk_bytes=chunk).records(file.name, file.length))
        assert found == [(place.offset, place.length, whole(place, number)) for number, place in enumerate(places)]

    def test_scan_stops_at_the_committed_length(self, tmp_path: Path, compress: bool) -> None:
        places, (file,) = collection(tmp_path, compress)
        found = list(RecordReader(tmp_path).records(file.name, places[4].offset))
        assert len(found) == 4
        with pytest.raises(StoreError, match=r"byte \d+: expected"):
            list(RecordReader(tmp_path).records(file.name, places[4].offset - 1))

    def test_a_file_shorter_than_committed_is_named(self, tmp_path: Path, compress: bool) -> None:
        places, (file,) = collection(tmp_path, compress)
        with pytest.raises(StoreError, match=f"{file.name}: expected {file.length + 1} bytes, found {file.length}"):
            list(RecordReader(tmp_path).records(file.name, file.length + 1))
        with RecordReader(tmp_path) as records, pytest.raises(StoreError, match=f"{file.name}: expected"):
            records.read(file.name, places[-1].offset, places[-1].length + 1)

    def test_an_empty_file_has_no_records(self, tmp_path: Path, compress: bool) -> None:
        _, (file,) = collection(tmp_path, compress)
        assert list(RecordReader(tmp_path).records(file.name, 0)) == []


def test_any_number_of_members_makes_a_record(tmp_path: Path) -> None:
    text = trec_web.head("WTX001-B01-1") + plain(1, 5_000)
    dice = random.Random(3)
    cuts = [*sorted(dice.sample(range(1, len(text)), 20)), len(text) - 3, len(text)]
    parts = [text[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]
    data = b"".join(map(gzip.compress, parts))
    (tmp_path / "WTX001").mkdir()
    (tmp_path / "WTX001/B01.gz").write_bytes(data * 2)
    found = list(RecordReader(tmp_path).records("WTX001/B01.gz", 2 * len(data)))
    assert found == [(0, len(data), text), (len(data), len(data), text)]


def test_a_damaged_byte_is_found_and_placed(tmp_path: Path) -> None:
    places, (file,) = collection(tmp_path, compress=True)
    path = tmp_path / file.name
    data = bytearray(path.read_bytes())
    middle = places[3].offset + places[3].length // 2
    data[middle] ^= 0xFF
    path.write_bytes(data)
    with RecordReader(tmp_path) as records:
        with pytest.raises(StoreError, match=rf"B01\.gz, byte {places[3].offset}:"):
            records.read(file.name, places[3].offset, places[3].length)
        with pytest.raises(StoreError, match=r"B01\.gz, byte \d+: not a gzip member"):
            list(records.records(file.name, file.length))
        assert records.read(file.name, places[4].offset, places[4].length) == whole(places[4], 4)


def test_a_record_without_end_is_bounded(tmp_path: Path) -> None:
    records = RecordReader(tmp_path, max_record_bytes=1_000_000)
    (tmp_path / "WTX001").mkdir()
    (tmp_path / "WTX001/B01").write_bytes(b"x" * 2_000_000)
    (tmp_path / "WTX001/B01.gz").write_bytes(trec_web.pack(b"x" * 900_000) * 3)
    for path in (tmp_path / "WTX001").iterdir():
        with pytest.raises(StoreError, match="at most 1000000 bytes"):
            list(records.records(f"WTX001/{path.name}", path.stat().st_size))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with RecordReader(tmp_path) as records:
        with pytest.raises(StoreError, match=r"WTX001/B01\.gz: No such file"):
            records.read("WTX001/B01.gz", 0, 1)
        with pytest.raises(StoreError, match=r"WTX001/B01\.gz: No such file"):
            list(records.records("WTX001/B01.gz", 1))


def test_open_files_are_bounded(tmp_path: Path) -> None:
    places, files = collection(tmp_path, compress=True, file_size=1)
    before = len(os.listdir("/proc/self/fd"))
    with RecordReader(tmp_path, max_open_files=2) as records:
        for _ in range(2):
            for number, (place, file) in enumerate(zip(places, files, strict=True)):
                assert records.read(file.name, place.offset, place.length) == whole(place, number)
                assert len(os.listdir("/proc/self/fd")) <= before + 2
    assert len(os.listdir("/proc/self/fd")) == before
