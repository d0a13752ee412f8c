"""The robots.txt rules that a fetcher keeps: bounded in bytes, whatever the files are like."""

from __future__ import annotations

import tracemalloc

from pycrawl.fetcher.robots_result import RulesCache
from pycrawl.model import FetchJob, Outcome, RobotsFile
from pycrawl.policy.robots import MAX_ROBOTS_BYTES, RobotsRules

MANY_RULES = (b"User-agent: *\n" + b"".join(b"Disallow: /%x\n" % (number * 7) for number in range(35_000)))[
    :MAX_ROBOTS_BYTES
]


def file(body: bytes) -> RobotsFile:
    return RobotsFile(200, body, 0.0, 1e12)


def test_many_large_files_take_bounded_memory() -> None:
    cache = RulesCache("pycrawl", most_bytes=1_250_000)
    quarter = MANY_RULES[: MAX_ROBOTS_BYTES // 4]  # memory is traced slowly
    tracemalloc.start()
    try:
        for number in range(6):
            cache.keep(f"http://h{number}", file(quarter))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 2_000_000
    newest, oldest = FetchJob(1, "http://h5/7", 1), FetchJob(1, "http://h0/7", 1)
    assert cache.refusal(newest) is Outcome.ROBOTS_DENIED
    assert cache.refusal(oldest) is Outcome.ROBOTS_UNKNOWN  # the coordinator sends it again


def test_what_is_used_stays() -> None:
    one = RobotsRules.parse(file(MANY_RULES), "pycrawl", with_lines=False).size
    cache = RulesCache("pycrawl", most_bytes=3 * one)
    for number in range(5):
        cache.keep(f"http://h{number}", file(MANY_RULES))
        cache.keep("http://small", file(b"User-agent: *\nDisallow: /x"))
        assert cache.refusal(FetchJob(1, "http://small/x", 1)) is Outcome.ROBOTS_DENIED
    cache.keep("http://h4", file(b""))
    assert cache.refusal(FetchJob(1, "http://h4/7", 1)) is None
    assert cache.refusal(FetchJob(1, "http://h3/7", 1)) is Outcome.ROBOTS_DENIED


def test_a_file_larger_than_all_room_is_obeyed() -> None:
    cache = RulesCache("pycrawl", most_bytes=1_000)
    cache.keep("http://h", file(MANY_RULES))
    assert cache.refusal(FetchJob(1, "http://h/7", 1)) is Outcome.ROBOTS_DENIED
