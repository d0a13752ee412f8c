from __future__ import annotations

import pytest

from pycrawl.state.database import Database
from pycrawl.state.unwanted import Rule, Unwanted, add_rules, forgotten_text, hash_digits, row_hash
from pycrawl.urls.parts import host_key, url_hash

SEED = 7
PAGE = "http://a.example/page?x=1"


def rule_of(url: str) -> Rule:
    return Rule("url", hash_digits(url_hash(url, SEED)))


@pytest.mark.parametrize(
    ("url", "is_unwanted"),
    [
        (PAGE, True),
        ("http://a.example/page?x=2", False),
        ("https://b.example/private/", True),
        ("https://b.example/private/a/b", True),
        ("https://b.example/private", False),
        ("http://b.example/private/", False),
        ("http://c.example:81/", True),
        ("https://c.example:81/any", True),
        ("http://c.example/", False),
        ("http://www.c.example:81/", False),
    ],
)
def test_verdicts(state: Database, url: str, is_unwanted: bool) -> None:
    rules = [rule_of(PAGE), Rule("prefix", "https://b.example/private/"), Rule("host", "c.example:81")]
    assert not Unwanted(state, SEED)
    add_rules(state, rules, 1.0)
    unwanted = Unwanted(state, SEED)
    assert unwanted
    assert unwanted.verdict(url, host_key(url)) is is_unwanted


@pytest.mark.parametrize("rule", [rule_of(PAGE), Rule("prefix", "http://a.example/"), Rule("host", "a.example")])
def test_one_url_is_taken_back_and_forgotten_again(state: Database, rule: Rule) -> None:
    add_rules(state, [rule], 1.0)
    unwanted = Unwanted(state, SEED)
    unwanted.take_back(state, PAGE, 2.0)
    for one in (unwanted, Unwanted(state, SEED)):
        assert not one.is_unwanted(PAGE)
        assert one.is_unwanted("http://a.example/other") is (rule.kind != "url")
    add_rules(state, [rule_of(PAGE)], 3.0)
    assert Unwanted(state, SEED).is_unwanted(PAGE)


@pytest.mark.parametrize("number", [0, 1, 2**63, 2**64 - 1])
def test_a_forgotten_row_keeps_its_hash(number: int) -> None:
    assert row_hash(forgotten_text(number), SEED) == number


def test_a_row_with_a_text_is_hashed() -> None:
    assert row_hash(PAGE, SEED) == url_hash(PAGE, SEED)
