"""All hosts of the hostile web at once beside honest ones, for a minute; `make hostile` does it for five."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "hostile.py"
SECONDS = "60"
LATE = "10"  # seconds: other tests may run beside it


@pytest.mark.slow
def test_hostile_hosts_harm_nobody_else() -> None:
    command = [sys.executable, str(SCRIPT), "--seconds", SECONDS, "--late", LATE]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
