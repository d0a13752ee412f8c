"""Rows judged together get the codes that each gets alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pycrawl.config import Config, CrawlSection, LimitsSection, ScopeSection, TrapsSection
from pycrawl.frontier.judge import Judge, LedgerRow
from pycrawl.urls import asks
from pycrawl.urls.reasons import Reason

HOSTS = ("a.test", "b.test", "c.a.test:81")
PATHS = (
    "/",
    "/docs/1",
    "/docs/x/x/x/x",
    "/a/b/c/d/e",
    "/q?a=1&b=2&c=3",
    "/" + "long" * 20,
    "/p.pdf",
    "/docs/p.pdf?a&b",
)
some = st.booleans()

configs = st.builds(
    lambda schemes, lists, external, depth, sprawl: Config(
        scope=ScopeSection(schemes=schemes, follow_external=external, **lists),
        crawl=CrawlSection(max_depth=depth),
        limits=LimitsSection(max_url_length=60, max_redirects=2),
        traps=TrapsSection(max_path_segments=4, max_repeated_segments=2, max_query_parameters=2)
        if sprawl
        else TrapsSection(),
    ),
    st.sampled_from([("http", "https"), ("https",)]),
    st.fixed_dictionaries(
        {},
        optional={
            "deny_hosts": st.just(("b.test",)),
            "allow_hosts": st.just(("*.a.test", "b.test")),
            "deny_prefixes": st.sampled_from([("/docs/",), ("http://a.test/docs/", "https://b.test")]),
            "allow_prefixes": st.just(("/docs/", "http://c.a.test:81/", "https://a.test/a")),
            "deny_patterns": st.just((r"\.pdf$", "b=2")),
            "allow_patterns": st.just((r"test/d", "[?]")),
        },
    ),
    some,
    st.sampled_from([-1, 1]),
    some,
)
rows_drawn = st.lists(
    st.tuples(
        st.sampled_from(("http", "https")),
        st.sampled_from(range(len(HOSTS))),
        st.sampled_from(PATHS),
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from((0, asks.META)),
        st.sampled_from((0, Reason.FORGOTTEN.code)),
    ),
    max_size=30,
)


class Forgotten:
    """Nothing, or all that stands below /a/."""

    def __init__(self, some: bool) -> None:
        self._some = some

    def __bool__(self) -> bool:
        return self._some

    def verdict(self, url: str, host_key: str) -> bool:
        return "/a/" in url


@given(configs, rows_drawn, some, st.lists(some, min_size=len(HOSTS), max_size=len(HOSTS)))
def test_rows_judged_together_get_the_codes_that_each_gets_alone(
    config: Config,
    drawn: list[tuple[str, int, str, int, int, int, int]],
    forgotten: bool,
    is_seed: list[bool],
) -> None:
    judge = Judge(config, Forgotten(forgotten))
    rows: list[LedgerRow] = [
        (number, f"{scheme}://{HOSTS[host]}{path}", host, depth, hops, ask, before)
        for number, (scheme, host, path, depth, hops, ask, before) in enumerate(drawn)
    ]
    facts = {number: judge.host_facts(key, is_seed[number]) for number, key in enumerate(HOSTS)}
    alone = [
        before or judge.code_of(url, HOSTS[host], is_seed[host], depth, hops, ask)
        for _, url, host, depth, hops, ask, before in rows
    ]
    assert judge.codes_of(rows, facts) == alone
