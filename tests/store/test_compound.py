"""The writer: places and numbers, rotation, syncs, full disks, and what a kill leaves."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.errors import StoppedByLimit, StoreError
from pycrawl.record import trec_web
from pycrawl.store import CompoundFile, CompoundWriter, RecordReader, recover
from pycrawl.store.compound import MAX_UNSYNCED_FILES, WRITE_BUFFER_BYTES, file_name, is_compound_name
from tests.store.records import plain, record

REPOSITORY = Path(__file__).parents[2]
ONE_EACH = 1  # a file_size that every record reaches


def text_of(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


class TestAppend:
    @pytest.mark.parametrize("compress", [True, False])
    def test_a_whole_file(self, tmp_path: Path, compress: bool) -> None:
        writer = CompoundWriter(tmp_path, 1_000_000, compress, None)
        locations = [writer.append(record(number, compress)) for number in range(3)]
        name = "WTX001/B01.gz" if compress else "WTX001/B01"
        (file,) = writer.sync()
        writer.close()
        assert file == CompoundFile(1, name, (tmp_path / name).stat().st_size, 3)
        assert [location.docno for location in locations] == ["WTX001-B01-1", "WTX001-B01-2", "WTX001-B01-3"]
        assert text_of(tmp_path / name) == b"".join(
            trec_web.head(location.docno) + plain(number) for number, location in enumerate(locations)
        )

    def test_each_place_holds_its_record(self, tmp_path: Path) -> None:
        writer = CompoundWriter(tmp_path, 1_000_000, True, None)
        locations = [writer.append(record(number)) for number in range(50)]
        writer.sync()
        writer.close()
        data = (tmp_path / "WTX001/B01.gz").read_bytes()
        for number, place in enumerate(locations):
            member = data[place.offset : place.offset + place.length]
            assert gzip.decompress(member) == trec_web.head(place.docno) + plain(number)
        assert locations[-1].offset + locations[-1].length == len(data)

    def test_records_wait_in_the_buffer(self, tmp_path: Path) -> None:
        writer = CompoundWriter(tmp_path, 100_000_000, False, None)
        writer.append(b"x" * (WRITE_BUFFER_BYTES // 2))
        assert (tmp_path / "WTX001/B01").stat().st_size == 0
        writer.append(b"x" * (WRITE_BUFFER_BYTES // 2))
        assert (tmp_path / "WTX001/B01").stat().st_size > WRITE_BUFFER_BYTES
        writer.close()

    def test_nothing_is_created_before_the_first_record(self, tmp_path: Path) -> None:
        writer = CompoundWriter(tmp_path / "docs", 1_000, True, None)
        assert writer.sync() == ()
        writer.close()
        assert not (tmp_path / "docs").exists()


class TestRotation:
    def test_a_file_that_has_reached_its_size_is_followed(self, tmp_path: Path) -> None:
        length = len(trec_web.head("WTX001-B01-1")) + len(record(0, compress=False))
        writer = CompoundWriter(tmp_path, length + 1, False, None)
        docnos = [writer.append(record(0, compress=False)).docno for _ in range(5)]
        files = writer.sync()
        writer.close()
        assert docnos == ["WTX001-B01-1", "WTX001-B01-2", "WTX001-B02-1", "WTX001-B02-2", "WTX001-B03-1"]
        assert [(file.name, file.records) for file in files] == [
            ("WTX001/B01", 2),
            ("WTX001/B02", 2),
            ("WTX001/B03", 1),
        ]
        for file in files:
            assert (tmp_path / file.name).stat().st_size == file.length
            assert text_of(tmp_path / file.name).endswith(b"\n</DOC>\n")

    def test_fifty_files_fill_a_directory(self, tmp_path: Path) -> None:
        writer = CompoundWriter(tmp_path, ONE_EACH, True, None)
        docnos = [writer.append(record(number)).docno for number in range(102)]
        files = writer.sync()
        writer.close()
        assert len(files) == 102 > MAX_UNSYNCED_FILES
        assert (docnos[49], docnos[50], docnos[101]) == ("WTX001-B50-1", "WTX002-B01-1", "WTX003-B02-1")
        assert sorted(file.file_id for file in files) == list(range(1, 103))
        on_disk = {str(path.relative_to(tmp_path)): path.stat().st_size for path in tmp_path.glob("*/*")}
        assert on_disk == {file.name: file.length for file in files}

    def test_goes_on_in_the_last_file(self, tmp_path: Path) -> None:
        first = CompoundWriter(tmp_path, 1_000_000, True, None)
        first.append(record(0))
        (last,) = first.sync()
        first.close()
        second = CompoundWriter(tmp_path, 1_000_000, True, last)
        place = second.append(record(1))
        (now,) = second.sync()
        second.close()
        assert (place.docno, place.offset, place.file_id) == ("WTX001-B01-2", last.length, 1)
        assert now == CompoundFile(1, last.name, last.length + place.length, 2)
        assert text_of(tmp_path / last.name).count(b"<DOCNO>") == 2

    @pytest.mark.parametrize(("file_size", "compress"), [(ONE_EACH, True), (1_000_000, False)])
    def test_starts_the_next_file_when_the_last_is_full_or_of_the_other_kind(
        self, tmp_path: Path, file_size: int, compress: bool
    ) -> None:
        first = CompoundWriter(tmp_path, 1_000_000, True, None)
        first.append(record(0))
        (last,) = first.sync()
        first.close()
        second = CompoundWriter(tmp_path, file_size, compress, last)
        assert second.append(record(1, compress)).docno == "WTX001-B02-1"
        assert [file.file_id for file in second.sync()] == [2]
        second.close()

    def test_refuses_a_last_file_that_recovery_has_not_seen(self, tmp_path: Path) -> None:
        (tmp_path / "WTX001").mkdir()
        (tmp_path / "WTX001/B01.gz").write_bytes(b"12345")
        writer = CompoundWriter(tmp_path, 1_000, True, CompoundFile(1, "WTX001/B01.gz", 4, 1))
        with pytest.raises(StoreError, match=r"B01\.gz: expected 4 bytes, found 5"):
            writer.append(record(0))
        stranger = CompoundWriter(tmp_path, 1_000, True, None)
        with pytest.raises(StoreError, match=r"B01\.gz: File exists"):
            stranger.append(record(0))


class TestSync:
    def test_only_touched_files_are_to_commit(self, tmp_path: Path) -> None:
        writer = CompoundWriter(tmp_path, ONE_EACH, True, None)
        writer.append(record(0))
        assert [file.file_id for file in writer.sync()] == [1]
        assert writer.sync() == ()
        writer.append(record(1))
        assert [file.file_id for file in writer.sync()] == [2]
        writer.close()

    def test_runs_on_another_thread_while_the_writer_goes_on(self, tmp_path: Path) -> None:
        writer = CompoundWriter(tmp_path, 20_000, True, None)
        committed: dict[str, CompoundFile] = {}
        for group in range(20):
            for number in range(50):
                writer.append(record(group * 50 + number))
            pending = writer.begin_sync()
            thread = threading.Thread(target=pending.run)
            thread.start()
            writer.append(record(-group))
            thread.join()
            for file in pending.files:
                assert (tmp_path / file.name).stat().st_size >= file.length
                committed[file.name] = file
        writer.close()
        recover(tmp_path, committed.values())
        assert sum(file.records for file in committed.values()) == 20 * 51 - 1
        text = b"".join(text_of(tmp_path / name) for name in sorted(committed))
        assert text.count(b"<DOCNO>") == text.count(b"\n</DOC>\n") == 20 * 51 - 1

    def test_a_failed_fsync_ends_the_writer(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        writer = CompoundWriter(tmp_path, 1_000_000, True, None)
        writer.append(record(0))
        pending = writer.begin_sync()

        def broken(descriptor: int) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", broken)  # no file system here fails on demand
        with pytest.raises(StoreError, match=r"B01\.gz: Input/output error"):
            pending.run()
        monkeypatch.undo()
        for call in (lambda: writer.append(record(1)), writer.begin_sync):
            with pytest.raises(StoreError, match="Input/output error"):
                call()
        writer.close()


class TestFullDisk:
    @pytest.fixture
    def small_disk(self, tmp_path: Path) -> Iterator[Path]:
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)]
        try:
            done = subprocess.run(mount, capture_output=True, check=False)
        except FileNotFoundError:
            pytest.skip("no mount command")
        if done.returncode:
            pytest.skip("cannot mount a tmpfs")
        yield tmp_path
        subprocess.run(["umount", str(tmp_path)], check=True)

    def test_stops_the_crawl_and_keeps_what_was_committed(self, small_disk: Path) -> None:
        root = small_disk / "docs"
        writer = CompoundWriter(root, 100_000_000, False, None)
        for number in range(100):
            writer.append(record(number, compress=False))
        committed = writer.sync()
        page = record(0, compress=False)
        with pytest.raises(StoppedByLimit, match=r"WTX001/B01: the disk is full"):
            [writer.append(page) for _ in range(20_000)]
        with pytest.raises(StoppedByLimit):
            writer.begin_sync()
        writer.close()
        assert recover(root, committed).cut == ("WTX001/B01",)
        assert len(list(RecordReader(root).records("WTX001/B01", committed[0].length))) == 100

    def test_a_limit_on_file_sizes_stops_the_crawl(self, tmp_path: Path) -> None:
        script = textwrap.dedent("""
            import resource, sys
            from pathlib import Path
            from pycrawl.errors import StoppedByLimit
            from pycrawl.store import CompoundWriter
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            writer = CompoundWriter(Path(sys.argv[1]), 100_000_000, False, None)
            writer.append(bytes(200_000))
            try:
                writer.sync()
            except StoppedByLimit as stopped:
                print(stopped)
            writer.close()
        """)
        command = [sys.executable, "-c", script, str(tmp_path)]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
        assert "the file is too big" in done.stdout


class TestKill:
    SCRIPT = textwrap.dedent("""
        import sys
        from pathlib import Path
        from pycrawl.store import CompoundWriter
        from tests.store.records import record
        writer = CompoundWriter(Path(sys.argv[1]), 50_000, True, None)
        pages = [record(number, size=3_000) for number in range(10)]
        while True:
            for page in pages:
                writer.append(page)
            for file in writer.sync():
                print(file.file_id, file.name, file.length, file.records, flush=True)
    """)

    def test_what_was_committed_survives(self, tmp_path: Path) -> None:
        command = [sys.executable, "-c", self.SCRIPT, str(tmp_path)]
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(60)]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.read().splitlines(keepends=True)
        rows = [line.split() for line in lines if line.endswith("\n")]
        committed = {name: CompoundFile(int(file_id), name, int(length), int(n)) for file_id, name, length, n in rows}
        recover(tmp_path, committed.values())
        reader = RecordReader(tmp_path)
        for file in committed.values():
            assert len(list(reader.records(file.name, file.length))) == file.records
            assert text_of(tmp_path / file.name).endswith(b"\n</DOC>\n")
        last = max(committed.values(), key=lambda file: file.file_id)
        writer = CompoundWriter(tmp_path, 50_000, True, last)
        writer.append(record(0))
        writer.sync()
        writer.close()


class TestNames:
    @pytest.mark.parametrize(
        ("file_id", "name"), [(1, "WTX001/B01"), (50, "WTX001/B50"), (51, "WTX002/B01"), (50_000, "WTX1000/B50")]
    )
    def test_follow_the_number(self, file_id: int, name: str) -> None:
        assert file_name(file_id, compress=False) == name
        assert file_name(file_id, compress=True) == name + ".gz"
        assert is_compound_name(name)
        assert is_compound_name(name + ".gz")

    @pytest.mark.parametrize(
        "name",
        ["WTX001/B51", "WTX001/B00", "WTX000/B01", "WTX0001/B01", "WTX01/B01", "WTX001/B01.bak", "WTX001/b01", "B01"],
    )
    def test_of_others_are_not_ours(self, name: str) -> None:
        assert not is_compound_name(name)
