"""What tells a trap from a large site: shapes, texts, yields and links."""

from __future__ import annotations

import numpy as np
import pytest

from pycrawl.model import Closure, PackedLinks, Traits
from pycrawl.traps.novelty import FLOOR, are_alike, smoothed
from pycrawl.traps.page_traits import LinkMemory, band_keys, sample, section, shape
from pycrawl.urls.parts import first_directory, url_hash
from tests.e2e.trapweb import prose

SEED = 7


# URLs


@pytest.mark.parametrize(
    ("path", "its_shape", "its_section"),
    [
        ("/", "/", "/…"),
        ("/about", "/about", "/…"),
        ("/p17.html", "/p0.html", "/…"),
        ("/calendar/2024/05", "/calendar/0/0", "/calendar/…"),
        ("/calendar/2031/12/", "/calendar/0/0/", "/calendar/…"),
        ("/events?month=5&year=2024", "/events?month&year", "/events?…"),
        ("/search?size=l&color=red&color=blue", "/search?color&size", "/search?…"),
        ("/search?f1=a&f2=b", "/search?f0", "/search?…"),
        ("/news/some-long-title-of-17.html", "/news/*", "/news/…"),
        ("/visit/8f3a9c11ab/shop", "/visit/#/shop", "/visit/…"),
        ("/visit/0b1d2e3f4a?x=1", "/visit/#?x", "/visit/?…"),
        ("/a/b/c/d/e/f/g/h", "/a/b/c/d/e/f/+", "/a/…"),
        ("/a/b/c/d/e/f/g/h/i/j/k", "/a/b/c/d/e/f/+", "/a/…"),
    ],
)
def test_kinds_of_urls(path: str, its_shape: str, its_section: str) -> None:
    assert shape("http://example.com" + path) == its_shape
    assert section("http://example.com" + path) == its_section


@pytest.mark.parametrize(
    ("path", "its_directory"),
    [("/", "/"), ("/x", "/"), ("/news/", "/news/"), ("/news/a/b", "/news/"), ("/x?y=/z/", "/")],
)
def test_directories(path: str, its_directory: str) -> None:
    assert first_directory("http://example.com:80" + path) == its_directory


# Texts


def pairs_of(text: str, path: str = "/page") -> np.typing.NDArray[np.uint64]:
    return np.frombuffer(sample(text, "http://example.com" + path), np.uint64)


def test_numbers_dates_and_the_urls_own_words_do_not_count() -> None:
    may = pairs_of(f"May 2031, Monday 5: nothing to see. {prose('a', 40)}")
    june = pairs_of(f"June 1999, Tuesday 17: nothing to see. {prose('a', 40)}")
    assert may.tolist() == june.tolist()
    one = pairs_of(f"Sorry, qwertz cannot be found. {prose('a', 40)}", "/qwertz")
    other = pairs_of(f"Sorry, asdfg cannot be found. {prose('a', 40)}", "/asdfg")
    assert one.tolist() == other.tolist()


def test_texts_that_share_nearly_all_are_alike() -> None:
    text = prose("a", 300)
    assert are_alike(pairs_of(text), pairs_of(text + " and two words"))
    assert not are_alike(pairs_of(text), pairs_of(text + prose("b", 100)))
    assert not are_alike(pairs_of(text), pairs_of(""))
    assert are_alike(pairs_of(""), pairs_of(""))


@pytest.mark.parametrize("words", [3, 20, 300, 3_000])
def test_a_copy_keeps_its_bands(words: int) -> None:
    keys = [band_keys(pairs_of(prose(name, words)).tolist(), 1) for name in ("a", "a", "b")]
    assert keys[0] == keys[1]
    assert not set(keys[0]) & set(keys[2])
    assert not set(keys[0]) & set(band_keys(pairs_of(prose("a", words)).tolist(), 2)), "another host"


def test_a_few_words_change_few_bands() -> None:
    same = []
    for number in range(50):
        text = prose(number, 300)
        before, after = (band_keys(pairs_of(one).tolist(), 1) for one in (text, f"{text} {prose(-number - 1, 2)}"))
        same.append(len(set(before) & set(after)))
    assert np.mean(np.array(same) >= 3) > 0.6


def test_long_texts_are_sampled_all_over() -> None:
    text = prose("a", 5_000)
    changed = text[: len(text) // 2 - 1_000] + prose("b", 400) + text[len(text) // 2 + 1_000 :]
    assert not are_alike(pairs_of(text), pairs_of(changed))


# Yield


def test_yield_falls_with_pages_that_bring_nothing_and_patience_grows_with_what_was_brought() -> None:
    def copies_until_stop(novel: int) -> int:
        value, pages = 1.0, 0
        for _ in range(novel):
            value, pages = smoothed(value, pages, 1.0), pages + 1
        while value >= FLOOR:
            value, pages = smoothed(value, pages, 0.0), pages + 1
        return pages - novel

    assert [copies_until_stop(novel) for novel in (0, 1, 10, 100, 10_000)] == [5, 7, 20, 60, 60]


# Links


class Links:
    """Pages whose links are packed as a fetcher does it."""

    def __init__(self) -> None:
        self._memory = LinkMemory(SEED)
        self._sent: set[str] = set()

    def look(self, url: str, *targets: str) -> tuple[Closure, int]:
        fresh = [target for target in targets if target not in self._sent]
        known = [target for target in targets if target in self._sent]
        self._sent.update(fresh)
        hashes = np.array([url_hash(target, SEED) for target in (*fresh, *known)], np.uint64)
        return self._memory.look(url, PackedLinks(hashes.tobytes(), "\n".join(fresh).encode(), len(fresh)))


def test_a_page_is_closed_when_all_its_links_are_new_and_stay() -> None:
    links = Links()
    links.look("http://a/", "http://a/home", "http://a/m/1", "http://a/m/2")
    assert links.look("http://a/m/1", "http://a/home", "http://a/m/3", "http://a/m/4") == (Closure.SECTION, 0)
    assert links.look("http://a/m/3", "http://a/home", "http://a/m/5", "http://a/n/6") == (Closure.HOST, 0)
    assert links.look("http://a/m/5", "http://a/home", "http://a/m/7", "http://b/") == (Closure.OPEN, 0)
    assert links.look("http://a/m/7", "http://a/home") == (Closure.OPEN, 0), "a dead end"


def test_the_way_back_up_is_no_way_out_but_a_page_met_elsewhere_is() -> None:
    links = Links()
    links.look("http://a/m/1", "http://a/m/2", "http://a/m/3")
    assert links.look("http://a/m/2", "http://a/m/1", "http://a/m/4", "http://a/m/5") == (Closure.SECTION, 0)
    assert links.look("http://a/m/4", "http://a/m/1", "http://a/m/2", "http://a/m/6") == (Closure.SECTION, 0)
    assert links.look("http://a/m/6", "http://a/m/3", "http://a/m/7") == (Closure.OPEN, 1)


def test_traits_are_small() -> None:
    traits = Traits("/a", "/a…", pairs_of(prose("a", 3_000)).tobytes())
    assert len(traits.pairs) <= 8 * 48
