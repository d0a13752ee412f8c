"""How drawn sequences of steps are taken: a few of them, always the same ones, in the suite; many, others each time, in
the soak tests."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings

from tests.e2e.ledger_steps import Life, Step
from tests.e2e.ledger_web import LedgerWeb


def few(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )


def many(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def live(kind: type[Life], steps: list[Step]) -> None:
    """Take the steps against a web of their own, and compare what is there at the end with the model."""
    with tempfile.TemporaryDirectory(prefix="pycrawl-sequence-") as folder, LedgerWeb() as web:
        life = kind(Path(folder), web)
        try:
            for step in steps:
                life.take(step)
            life.finish()
        finally:
            life.crawl.close()
