"""JSON-LD in pages."""

from __future__ import annotations

from typing import Any

import pytest

from pycrawl.parse.json_ld import MOST_BLOCKS, json_ld

START = '<script type="application/ld+json">'


@pytest.mark.parametrize(
    ("markup", "values"),
    [
        (f'{START}{{"@type": "Article", "headline": "Ä"}}</script>', [{"@type": "Article", "headline": "Ä"}]),
        ("<SCRIPT id=a type=application/LD+JSON async>[1]</SCRIPT>", [[1]]),
        (f"{START}//<![CDATA[\n[1]\n//]]></script>{START}<!-- [2] --></script>", [[1], [2]]),
        (f'{START}{{"a": "line\nbreak"}}</script>', [{"a": "line\nbreak"}]),
        (f"{START}{{broken</script>{START}2</script>", [2]),
        (f'{START}NaN</script>{START}"\\ud800"</script>{START}{"[" * 100_000}</script>', []),
        (f"{START}[1]", []),
        ("<script type=text/javascript>[1]</script>", []),
    ],
)
def test_values_of_blocks(markup: str, values: list[Any]) -> None:
    assert json_ld(markup) == values


def test_blocks_without_end_take_no_time() -> None:
    assert json_ld(START * 200_000) == []
    assert len(json_ld(f"{START}1</script>" * (MOST_BLOCKS + 1))) == MOST_BLOCKS
