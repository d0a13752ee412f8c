from __future__ import annotations

from pathlib import Path

from pycrawl.collection.fields import FIELDS

TABLE = Path(__file__).parents[2] / "docs" / "fields.md"


def test_the_table_of_fields_is_the_one_in_the_documentation() -> None:
    rows = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| `")]
    assert rows == [f"| `{field.name}` | {field.kind} | {field.meaning} |" for field in FIELDS.values()]
