"""After any sequence of crawls, changed settings, damage and the collection's own commands: every page is as it was
served, versions, links and exports agree with the model, and nothing is lost or twice.

Hypothesis draws the steps (`collection_steps.py`); the real program takes them against a small web on loopback.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.collection_steps import (
    CollectionLife,
    Compact,
    DamageAndRepair,
    ImportOwnExport,
    Keep,
    KilledCompact,
)
from tests.e2e.ledger_steps import (
    Add,
    AddAgain,
    Change,
    CrawlSome,
    FaultBegins,
    FaultsEnd,
    Forget,
    Killed,
    PagesChange,
    Retry,
    Step,
    TakeAllBack,
)
from tests.e2e.sequences import few, live, many

FEW_EXAMPLES = 4
MANY_EXAMPLES = int(os.environ.get("LEDGER_EXAMPLES", "60"))  # some minutes

KEPT: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("content", "anchors", (False, True)),
    ("content", "store_duplicates", (False, True)),
    ("content", "near_duplicates", (False, True)),
    ("recrawl", "keep", ((), ("rewritten",), ("cosmetic", "edited", "rewritten"))),
    ("recrawl", "keep_versions", (0, 1, 2)),
    ("recrawl", "policy", ("age", "uniform", "fixed")),
    ("store", "compress", (False, True)),
    ("store", "dochdr", ("wt10g", "gov2")),
)
FORGOTTEN = (("a", "/a/", False), ("a", "/wide/", True), ("b", "/mirror/", False))
CHANGES = (
    ("deny_hosts", ("b",)),
    ("max_depth", 2),
    ("content_types", ("text/html",)),
    ("deny_prefixes", ("/wide/", "/x/")),
)


def crawls() -> st.SearchStrategy[Step]:
    return st.one_of(
        st.builds(CrawlSome, st.sampled_from((0, 0, 10))),
        st.builds(CrawlSome, st.just(0), st.just(-1), st.just(True)),
        st.builds(Killed, st.integers(5, 60), st.booleans()),
    )


def others() -> st.SearchStrategy[Step]:
    steps: list[st.SearchStrategy[Step]] = [
        st.builds(Keep, st.just(section), st.just(key), st.sampled_from(values)) for section, key, values in KEPT
    ]
    steps += [st.builds(PagesChange)] * 3
    steps += [st.builds(Compact), st.builds(KilledCompact, st.integers(0, 400)), st.builds(ImportOwnExport)]
    steps += [st.builds(DamageAndRepair, st.integers(0, 1 << 20)), st.builds(Retry), st.builds(TakeAllBack)]
    steps += [st.builds(Change, st.just(key), st.just(value)) for key, value in CHANGES]
    steps += [st.builds(Add, st.just("b"), st.just("/only/seed")), st.builds(AddAgain)]
    steps += [st.builds(Forget, *map(st.just, one)) for one in FORGOTTEN]
    steps += [st.builds(FaultBegins, st.just("a"), st.just("/wide/"), st.just(404)), st.builds(FaultsEnd)]
    return st.one_of(*steps)


@st.composite
def sequences(draw: st.DrawFn) -> list[Step]:
    """Rounds of crawls and of what happens between them."""
    steps: list[Step] = []
    for _ in range(draw(st.integers(2, 5))):
        steps.append(draw(crawls()))
        steps += draw(st.lists(others(), min_size=1, max_size=4))
    return steps


@few(FEW_EXAMPLES)
@given(sequences())
def test_some_sequences_of_steps(steps: list[Step]) -> None:
    live(CollectionLife, steps)


@pytest.mark.slow
@many(MANY_EXAMPLES)
@given(sequences())
def test_many_sequences_of_steps(steps: list[Step]) -> None:
    live(CollectionLife, steps)
