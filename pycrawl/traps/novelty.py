"""Pages without end: what tells a trap from a large site, as pure functions of URLs, texts and counts.

Three measures, each of which an honest site passes however large it is:

* Is the page a copy, or made of what the pages of its kind always say? `traits.sample` takes some pairs of words of a
  text, the same ones in each text that has them; dates do not count, so that all pages of a calendar are one.
* Does it lead anywhere but deeper into its own kind? `traits.LinkMemory` says so: a page all of whose links are new and
  of its own kind, and that nothing known is linked from, is *closed*. A site of finite size has other pages too.
* A URL's kind: `traits.shape` is its path without what numbers or names the single page, and the names of its
  parameters; `traits.section` is coarser: all combinations of parameters and all depths of a path fall together.

The *yield* of a kind is the share of its pages that brought something new, smoothed (`smoothed`); below `FLOOR` the
kind is a trap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pycrawl.traps.page_traits import SAMPLE

Hashes = NDArray[np.uint64]

# Yield. With these a kind whose pages are all copies stops after 8 of them, one that was good for long after 59.
FLOOR = 0.4
LOW = 0.6  # from here on down, other URLs go first
NEITHER = 0.65  # what a page counts that says nothing new, but leads nowhere either, or elsewhere
PRIOR = 3  # pages that the first estimate weighs as much as
WINDOW = 64  # pages that an old estimate weighs as much as
LEAST_PAGES = 8  # of a host before one of its kinds is stopped …
LEAST_PAGES_OF_HOST = 16  # … and before all kinds are that have not proved good
DULL_PAGES = 2_000  # of a kind before it is stopped in a crawl most pages of which are dull
DULL_COMBINATIONS = 200  # likewise, of one whose URLs combine parameters

# Dull pages that come to an end: links that lead back tell how many there are.
LEAST_BACKS = 3
SIZE_MARGIN = 2
SIZE_SLACK = 16  # pages

# Mazes: 12 closed pages in a row, unless the kind had others before.
MAZE_FLOOR = 0.2
LEAST_DEPTHS = 8  # links that closed pages must have led down: no directory is that deep
LONG_WINDOW = 512  # pages in which dead ends are counted
FEW_DEAD_ENDS = 1
DEAD_END_SHARE = 0.03  # of the pages; a site that ends somewhere has more
LARGE_SITE = 20_000  # pages that a site must have, judged by how few links lead back, to be one
LONG_CHAIN = 200_000  # likewise where pages lead to little more than one other: such a chain has then some 600
BRANCHES = 1.5  # new links a page

# Texts.
_SAME_BANDS = 3  # of so many: a copy, but for a few words
_ALIKE = 0.9  # share of two samples
RARE = 0.08  # of the pages of its section have a pair of words that is not common
_PLAIN = 0.5  # of the pages have a pair that belongs to the template
_LEAST_RARE = 3  # pairs
_RARE_SHARE = 0.5  # of what is not template


# Texts


def is_copy(known_bands: int) -> bool:
    return known_bands >= _SAME_BANDS


def is_made_anew(seen: list[int], pages: int) -> bool:
    """Whether a page says anything of its own; `seen`: how many of the `pages` of its section have each of its pairs.

    What most of them have is the template, which says nothing either way.
    """
    if not pages:
        return True
    few, most = max(1.0, RARE * pages), max(1.0, _PLAIN * pages)
    rare = sum([times < few for times in seen])
    template = sum([times >= most for times in seen])
    return rare >= min(_LEAST_RARE, max(1, len(seen))) and rare >= _RARE_SHARE * (len(seen) - template)


def are_alike(one: Hashes, other: Hashes) -> bool:
    """Do two texts share nearly all they say? From the smallest pairs of both together, which are a fair sample."""
    both = np.union1d(one, other)[:SAMPLE]
    if not len(one) or not len(other):
        return len(one) == len(other)
    shared = np.isin(both, one, assume_unique=True) & np.isin(both, other, assume_unique=True)
    return int(np.count_nonzero(shared)) >= _ALIKE * len(both)


# Yield


def smoothed(value: float, pages: int, score: float) -> float:
    """The estimate after one page more: all pages count alike at first, later the last `WINDOW` count most."""
    weight = min(PRIOR + pages, WINDOW)
    return (value * weight + score) / (weight + 1)
