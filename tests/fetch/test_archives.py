from __future__ import annotations

from pathlib import Path

from pycrawl.fetch.archives import read_archive


def test_beginnings_of_headers_without_an_end_take_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "hostile.trec"
    path.write_bytes(b"<DOC>\n" + b"<DOCHDR>\n" * 60_000 + b"</DOC>\n")
    assert [one.skipped for one in read_archive(path, 1_000)] == ["no DOCHDR, so no URL"]
