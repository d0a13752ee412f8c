"""Compound files written anew: what stays is there to the byte, and every state on the way is one to go on from."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from pycrawl.errors import StoreError
from pycrawl.store import CompoundFile, CompoundWriter, Location, RecordReader, recover
from pycrawl.store.rewrite import Rewriter, drop_new_name, new_name, old_name, remove_unfinished, take_old_name
from tests.store.records import record

NAMES = [("WTX001/B01.gz", "WTX001/B01.new.gz"), ("WTX012/B50", "WTX012/B50.new")]


@pytest.mark.parametrize(("old", "new"), NAMES)
def test_names(old: str, new: str) -> None:
    assert new_name(old) == new
    assert old_name(new) == old
    assert old_name(old) is None


def written(root: Path, compress: bool, count: int = 5) -> tuple[str, list[Location]]:
    """A compound file of so many records, and their places."""
    writer = CompoundWriter(root, file_size=1_000_000, compress=compress, last=None)
    places = [writer.append(record(number, compress)) for number in range(count)]
    (file,) = writer.sync()
    writer.close()
    return file.name, places


@pytest.mark.parametrize("compress", [True, False])
def test_records_leave_and_others_stay_as_they_are(tmp_path: Path, compress: bool) -> None:
    name, places = written(tmp_path, compress)
    with RecordReader(tmp_path) as reader:
        before = [reader.read(name, place.offset, place.length) for place in places]
    with Rewriter(tmp_path, name) as new:
        kept = [new.keep(places[number].offset, places[number].length) for number in (0, 2)]
        put = new.put("WTX001-B01-4", b"<DOCHDR>\nhttp://other/\n</DOCHDR>\nbody\n</DOC>\n")
        new.finish()
    assert take_old_name(tmp_path, new.name, new.length) == name
    drop_new_name(tmp_path, new.name)
    assert [path.name for path in (tmp_path / "WTX001").iterdir()] == [Path(name).name]
    with RecordReader(tmp_path) as reader:
        assert [reader.read(name, *place) for place in kept] == [before[0], before[2]]
        assert b"http://other/" in reader.read(name, *put)
        found = [(offset, length) for offset, length, _ in reader.records(name, new.length)]
    assert found == [*kept, put]
    assert new.records == 3


def test_a_file_without_records_goes(tmp_path: Path) -> None:
    name, _ = written(tmp_path, True)
    with Rewriter(tmp_path, name) as new:
        new.finish()
    for _ in range(2):  # a crash may have come between the two steps
        assert take_old_name(tmp_path, new.name, 0) == name
    drop_new_name(tmp_path, new.name)
    assert list((tmp_path / "WTX001").iterdir()) == []
    file = CompoundFile(1, name, 0, 0, closed=True)
    assert not recover(tmp_path, [file]).removed
    with RecordReader(tmp_path) as reader:
        assert list(reader.records(name, 0)) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_the_old_name_can_be_taken_again_after_a_crash(tmp_path: Path, has_links: bool) -> None:
    name, places = written(tmp_path, True)

    def link(source: Path, target: Path) -> None:
        if not has_links:
            raise OSError(errno.EPERM, "no links here")
        target.hardlink_to(source)

    with Rewriter(tmp_path, name) as new:
        new.keep(places[1].offset, places[1].length)
        new.finish()
    for _ in range(2):
        assert take_old_name(tmp_path, new.name, new.length, link) == name
        assert (tmp_path / name).stat().st_size == new.length
    drop_new_name(tmp_path, new.name)
    assert (tmp_path / name).stat().st_size == new.length == places[1].length


def test_what_a_crash_left_is_removed(tmp_path: Path) -> None:
    name, places = written(tmp_path, True)
    (tmp_path / new_name(name)).write_bytes(b"half a file")
    (tmp_path / "WTX001" / "B02.new.gz").write_bytes(b"it counts")
    (tmp_path / "WTX001" / "B02.newer").write_bytes(b"not ours")
    remove_unfinished(tmp_path, {name, "WTX001/B02.new.gz"})
    assert sorted(path.name for path in (tmp_path / "WTX001").iterdir()) == ["B01.gz", "B02.new.gz", "B02.newer"]
    assert (tmp_path / name).stat().st_size == sum(place.length for place in places)


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    name, places = written(tmp_path, True)
    end = places[-1].offset + places[-1].length
    with pytest.raises(StoreError, match="found fewer"), Rewriter(tmp_path, name) as new:
        new.keep(end - 1, 2)
    assert [path.name for path in (tmp_path / "WTX001").iterdir()] == ["B01.gz"]


def test_nothing_is_added_to_a_closed_file(tmp_path: Path) -> None:
    """Its last number may have been that of a record that has left."""
    name, places = written(tmp_path, True)
    last = CompoundFile(1, name, places[-1].offset + places[-1].length, 5, closed=True)
    writer = CompoundWriter(tmp_path, file_size=1_000_000, compress=True, last=last)
    assert writer.append(record(9)).docno == "WTX001-B02-1"
    writer.close()
