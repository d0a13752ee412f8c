"""After any change of settings, in any order: no request that is forbidden, no page that is missing, an answer to why.

Hypothesis draws the steps (`ledger_steps.py`); the real program takes them against a small web on loopback.
"""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.e2e.ledger_steps import (
    Add,
    AddAgain,
    Change,
    CrawlSome,
    FaultBegins,
    FaultsEnd,
    Forget,
    Killed,
    Life,
    PagesChange,
    Retry,
    Step,
    TakeAllBack,
)
from tests.e2e.ledger_web import REFUSED
from tests.e2e.sequences import few, live, many

FEW_EXAMPLES = 6
MANY_EXAMPLES = int(os.environ.get("LEDGER_EXAMPLES", "60"))  # some minutes

# Setting → values that narrow it, or widen it beyond the default; hosts by their letters.
VALUES: dict[str, tuple[Any, ...]] = {
    "deny_hosts": (("a",), ("b",), ("c",), ("b", "d")),
    "allow_hosts": (("a",), ("a", "b"), ("b", "c", "d")),
    "deny_prefixes": (("/wide/", "/x/"), ("/a/",), ("/r2",), ("/landing",)),
    "allow_prefixes": (("/", "/a/"), ("/a/", "/b/", "/hub", "/x/")),
    "deny_patterns": ((r"page\d",), (r"/(deep|far)",), (r"/1$",)),
    "allow_patterns": ((r"/$", r"page"), (r":\d+/[a-l]", r"/$")),
    "schemes": (("http",), ("https",)),
    "follow_external": (False,),
    "content_types": (("text/html",), ("text/html", "text/plain", "image/png"), ("*/*",)),
    "max_depth": (0, 1, 2, 3),
    "rel_nofollow": (False,),
}
SEEDS = (("b", "/only/seed"), ("d", "/"), ("c", "/open/2"), ("a", "/deep/4"), ("a", "/hidden"), ("a", "/logo.png"))
FORGOTTEN = (("a", "/a/", False), ("a", "/wide/", True), ("b", "/mirror/", False), ("d", "/", True), ("a", "/", False))
FAULTS = (
    ("a", "/wide/", 500),
    ("a", "/b/", 404),
    ("b", "/", 500),
    ("c", "/", REFUSED),
    ("b", "/", REFUSED),
    ("a", "/r", 500),
    ("d", "/p/", 404),
)


def changes() -> st.SearchStrategy[Step]:
    single = st.one_of(
        *(st.builds(Change, st.just(key), st.sampled_from(values)) for key, values in VALUES.items()),
    )
    return st.one_of(single, st.builds(Change, st.sampled_from(sorted(VALUES))), st.builds(TakeAllBack))


def crawls() -> st.SearchStrategy[Step]:
    return st.one_of(
        st.builds(CrawlSome, st.sampled_from((0, 3, 10, 25))),
        st.builds(CrawlSome, st.sampled_from((0, 10)), st.integers(0, 3)),
        st.builds(CrawlSome, st.sampled_from((0, 20)), st.just(-1), st.just(True)),
        st.builds(Killed, st.integers(0, 45), st.booleans()),
    )


def others() -> st.SearchStrategy[Step]:
    steps: list[st.SearchStrategy[Step]] = [st.builds(FaultsEnd), st.builds(PagesChange), st.builds(Retry)]
    steps += [st.builds(Add, st.just(name), st.just(path)) for name, path in SEEDS]
    steps += [st.builds(FaultBegins, *map(st.just, fault)) for fault in FAULTS]
    steps += [st.builds(Forget, *map(st.just, one)) for one in FORGOTTEN] + [st.builds(AddAgain)]
    return st.one_of(*steps)


@st.composite
def sequences(draw: st.DrawFn) -> list[Step]:
    """Rounds of something that changes and a crawl; the settings of the last round are those that count."""
    steps: list[Step] = draw(st.lists(crawls(), max_size=1))
    for _ in range(draw(st.integers(1, 4))):
        steps += draw(st.lists(st.one_of(changes(), others()), min_size=1, max_size=3))
        steps.append(draw(crawls()))
    return steps + draw(st.lists(changes(), max_size=2))


@few(FEW_EXAMPLES)
@given(sequences())
def test_some_sequences_of_steps(steps: list[Step]) -> None:
    live(Life, steps)


@pytest.mark.slow
@many(MANY_EXAMPLES)
@given(sequences())
def test_many_sequences_of_steps(steps: list[Step]) -> None:
    live(Life, steps)
