from __future__ import annotations

from pycrawl.fetcher.result import LONGEST_DETAIL, detail_of


def test_a_detail_can_be_sent_and_stored() -> None:
    for text in ("plain", "bücher", "broken \udcc9 byte", "x" * 10_000, "\udcff" * 10_000):
        kept = detail_of(text)
        assert len(kept) <= LONGEST_DETAIL
        kept.encode()
    assert detail_of("bücher") == "bücher"
