"""Which versions of a page are superseded, by the settings of `[recrawl]`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from pycrawl.model import Change


def superseded(
    digests: Sequence[bytes], grade: Callable[[int, int], Change], keep: Collection[str], most: int
) -> dict[int, int]:
    """Returns the superseded versions of one page, each with the version that is the newest without it.

    Versions are numbered from 0, the oldest; `digests` are those of their bodies. `grade` tells how much changed from
    one version to another. A version goes if the change to it from the last one that stays is not in `keep`, as if that
    had held from the start; and all go but the newest `most` (0: no limit). The page as it is now always stays.
    """
    newest = len(digests) - 1
    stay = [0]
    for number in range(1, newest + 1):
        if digests[number] == digests[stay[-1]]:
            continue  # what was between the two goes, so they are one
        if number == newest or grade(stay[-1], number) in keep:
            stay.append(number)
    if most:
        stay = stay[-most:]
    return {number: stay[-1] for number in range(newest + 1) if number not in stay}
