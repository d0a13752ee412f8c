"""Where the links of a page lead."""

from __future__ import annotations

import numpy as np

from pycrawl.model import Closure, PackedLinks
from pycrawl.traps.link_memory import LinkMemory
from pycrawl.urls.parts import url_hash

SEED = 7


class Links:
    """Pages whose links are packed as a fetcher does it."""

    def __init__(self) -> None:
        self._memory = LinkMemory(SEED)
        self._sent: set[str] = set()

    def take_in(self, url: str, *targets: str) -> tuple[Closure, int]:
        fresh = [target for target in targets if target not in self._sent]
        known = [target for target in targets if target in self._sent]
        self._sent.update(fresh)
        hashes = np.array([url_hash(target, SEED) for target in (*fresh, *known)], np.uint64)
        return self._memory.take_in(url, PackedLinks(hashes.tobytes(), "\n".join(fresh).encode(), len(fresh)))


def test_a_page_is_closed_when_all_its_links_are_new_and_stay() -> None:
    links = Links()
    links.take_in("http://a/", "http://a/home", "http://a/m/1", "http://a/m/2")
    assert links.take_in("http://a/m/1", "http://a/home", "http://a/m/3", "http://a/m/4") == (Closure.SECTION, 0)
    assert links.take_in("http://a/m/3", "http://a/home", "http://a/m/5", "http://a/n/6") == (Closure.HOST, 0)
    assert links.take_in("http://a/m/5", "http://a/home", "http://a/m/7", "http://b/") == (Closure.OPEN, 0)
    assert links.take_in("http://a/m/7", "http://a/home") == (Closure.OPEN, 0), "a dead end"


def test_the_way_back_up_is_no_way_out_but_a_page_met_elsewhere_is() -> None:
    links = Links()
    links.take_in("http://a/m/1", "http://a/m/2", "http://a/m/3")
    assert links.take_in("http://a/m/2", "http://a/m/1", "http://a/m/4", "http://a/m/5") == (Closure.SECTION, 0)
    assert links.take_in("http://a/m/4", "http://a/m/1", "http://a/m/2", "http://a/m/6") == (Closure.SECTION, 0)
    assert links.take_in("http://a/m/6", "http://a/m/3", "http://a/m/7") == (Closure.OPEN, 1)


def test_the_memory_of_links_is_bounded_in_bytes() -> None:
    memory = LinkMemory(1)
    links = PackedLinks(bytes(8 * 10_000))
    for number in range(500):
        memory.take_in(f"http://h{number}/", links)
    assert sum(map(len, memory._last.values())) == memory._last_bytes <= LinkMemory._BYTES
