from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pycrawl.state.database import Database


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Database]:
    database = Database.create(tmp_path / "state.db")
    yield database
    database.close()
