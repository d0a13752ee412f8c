from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pycrawl.config import Config, parse
from pycrawl.config.sections import HostEntry
from pycrawl.errors import ConfigError
from pycrawl.urls.host_settings import SettingsByHost

TEXT = """
[crawl]
languages = ["de"]
headers = { From = "me@example.org", DNT = "1" }
[politeness]
delay = 3
[[host]]
name = "*.example.org"
delay = 7
max_tries = 9
headers = { dnt = "", X-Key = "a" }
[[host]]
name = "www.example.org"
delay = 8
obey_robots = false
headers = { Accept-Language = "fr", x-key = "b" }
"""


@pytest.mark.parametrize(
    ("key", "delay", "obeys", "tries", "headers"),
    [
        ("other.org", 3.0, True, 3, {"Accept-Language": "de", "From": "me@example.org", "DNT": "1"}),
        (
            "example.org",
            7.0,
            True,
            9,
            {"Accept-Language": "de", "From": "me@example.org", "dnt": "", "X-Key": "a"},
        ),
        (
            "www.example.org:8080",
            8.0,
            False,
            9,
            {"Accept-Language": "fr", "From": "me@example.org", "dnt": "", "x-key": "b"},
        ),
    ],
)
def test_entries_change_what_they_set(key: str, delay: float, obeys: bool, tries: int, headers: dict[str, str]) -> None:
    settings = SettingsByHost(parse(TEXT)).of(key)
    assert settings.politeness.delay == delay
    assert settings.politeness.obey_robots is obeys
    assert settings.limits.max_tries == tries
    assert dict(settings.headers) == headers


@pytest.mark.parametrize("name", ["*", "a b", "http://a.example/", "*.a.example:80", "a/b", "me@a.example"])
def test_a_name_that_is_no_host_is_told_with_its_entry(name: str) -> None:
    config = Config(hosts=(HostEntry("a.example"), HostEntry(name)))
    with pytest.raises(ConfigError, match=r'\[\[host\]\] number 2 \(".*"\): name: expected a host such as') as raised:
        SettingsByHost(config)
    assert repr(name) in str(raised.value)


NAMES = ["a.example", "*.example", "*.a.example", "b.a.example", "a.example:8080", "127.0.0.1", "*.other"]
KEYS = {  # host → the names that mean it, by hand
    "a.example": {"a.example", "*.example", "*.a.example"},
    "a.example:8080": {"a.example", "a.example:8080", "*.example", "*.a.example"},
    "b.a.example": {"b.a.example", "*.example", "*.a.example"},
    "example": {"*.example"},
    "127.0.0.1:81": {"127.0.0.1"},
    "127.0.0.10": set(),
    "nexample": set(),
}
VALUES = st.integers(0, 5)
POLITENESS = st.fixed_dictionaries({}, optional={"delay": VALUES, "max_backoff": VALUES})
LIMITS = st.fixed_dictionaries({}, optional={"max_tries": VALUES, "max_redirects": VALUES})
HEADERS = st.dictionaries(st.sampled_from(["X-A", "x-a", "B"]), st.sampled_from(["", "1", "2"]), max_size=2)
ENTRIES = st.lists(st.tuples(st.sampled_from(NAMES), POLITENESS, LIMITS, HEADERS), max_size=6)


@settings(deadline=None)
@given(ENTRIES, st.lists(st.sampled_from(sorted(KEYS)), min_size=1, max_size=10))
def test_later_entries_go_before_earlier_ones_key_by_key(
    entries: list[tuple[str, dict[str, int], dict[str, int], dict[str, str]]], keys: list[str]
) -> None:
    config = Config(hosts=tuple(HostEntry(*entry[:3], tuple(entry[3].items())) for entry in entries))
    by_host = SettingsByHost(config)
    for key in keys:
        politeness: dict[str, Any] = {"delay": 1.0, "max_backoff": 600.0}
        limits: dict[str, Any] = {"max_tries": 3, "max_redirects": 10}
        headers: dict[str, str] = {}
        for name, *changes, added in entries:
            if name in KEYS[key]:
                politeness |= changes[0]
                limits |= changes[1]
                headers |= {header.lower(): value for header, value in added.items()}
        found = by_host.of(key)
        assert {name: getattr(found.politeness, name) for name in politeness} == politeness
        assert {name: getattr(found.limits, name) for name in limits} == limits
        assert {header.lower(): value for header, value in found.headers} == headers
        assert by_host.of(key) is found
        assert by_host.of_url(f"http://{key}/") is found
        assert (found is by_host.common) == (not any(entry[0] in KEYS[key] for entry in entries))


def test_hosts_named_by_the_same_entries_share_one_object() -> None:
    by_host = SettingsByHost(Config(hosts=(HostEntry("*.example", {"delay": 5.0}),)))
    assert len({by_host.of(f"host{number}.example") for number in range(100_000)}) == 1


def test_without_entries_a_look_up_is_next_to_nothing() -> None:
    by_host = SettingsByHost(Config())
    begun = time.process_time()
    for _ in range(100_000):
        by_host.of_url("http://www.example.org/some/page")
    assert time.process_time() - begun < 0.1  # a microsecond each, ten times what is usual
