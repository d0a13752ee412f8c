"""Where the links of a page lead: what a fetcher remembers of the links it met, to tell closed pages from open ones."""

from __future__ import annotations

from array import array
from collections import OrderedDict

from pycrawl.model import Closure, PackedLinks
from pycrawl.traps.url_kinds import section
from pycrawl.urls.parts import host_key, url_hash

_LINKS_LOOKED_AT = 16  # new links of one page that are looked at, or up to twice as many


def some_new_links(links: PackedLinks) -> list[str]:
    """The links of a page that its fetcher never sent before, or an even choice of them."""
    if not links.texts_count:
        return []
    texts = links.texts.decode().split("\n")
    return texts[:: max(1, len(texts) // _LINKS_LOOKED_AT)]


class LinkMemory:
    """The links of the last page of each host, and the pages fetched lately, in tables of fixed size.

    It may forget; it never takes a URL for one that was fetched which was not.
    """

    _HOSTS = 4_096
    _BYTES = 16_000_000  # of hashes
    _FETCHED_SLOTS = 1 << 16

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._last: OrderedDict[str, bytes] = OrderedDict()  # host → hashes of the links of its last page
        self._last_bytes = 0  # of these
        self._fetched = array("Q", bytes(8 * self._FETCHED_SLOTS))

    def take_in(self, url: str, links: PackedLinks) -> tuple[Closure, int]:
        """Remember a page's links. Returns (closure, backs): `backs` counts links to pages that are known but not
        fetched. A link that the last page of the host had too belongs to the menu, and does not count.

        New are the links that are packed with their text: the packer sends each text once.
        """
        host = host_key(url)
        menu = self._last.pop(host, b"")
        self._last[host] = links.hashes
        self._last_bytes += len(links.hashes) - len(menu)
        while len(self._last) > self._HOSTS or self._last_bytes > self._BYTES:
            self._last_bytes -= len(self._last.popitem(last=False)[1])
        own = url_hash(url, self._seed)
        self._fetched[own % self._FETCHED_SLOTS] = own
        backs = self._backs(links, menu)
        new = some_new_links(links)
        if backs or not new or any(host_key(text) != host for text in new):
            return Closure.OPEN, backs
        own_section = section(url)
        return Closure.SECTION if all(section(text) == own_section for text in new) else Closure.HOST, 0

    def _backs(self, links: PackedLinks, menu: bytes) -> int:
        known = set(array("Q", links.hashes[8 * links.texts_count :])).difference(array("Q", menu))
        fetched, slots = self._fetched, self._FETCHED_SLOTS
        return sum([fetched[one % slots] != one for one in known])
