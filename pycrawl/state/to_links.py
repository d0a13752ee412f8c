"""Moves the links that older releases kept without texts into the store of links: a step of the schema.

All of it happens in one transaction. Texts, rel and places of these links are read off the records of their pages where
they are asked for, until a new version of the page brings them.
"""

from __future__ import annotations

import logging
from itertools import islice

import numpy as np

from pycrawl.state.database import Database
from pycrawl.state.links import Columns, Links
from pycrawl.state.runs.value_runs import ValueRuns
from pycrawl.state.stores import OUTLINKS
from pycrawl.urls.link_flags import LEAD

log = logging.getLogger(__name__)

_PAGES_AT_ONCE = 5_000
_REDIRECT = np.uint32(1 << 31)  # marked the target of a redirect


def move(database: Database) -> None:
    """Fill the store of links from the one that older releases had, and remove that."""
    before = ValueRuns(database, OUTLINKS)
    if not before.table.runs:
        return
    log.warning("%s: is brought up to date; with millions of pages this takes minutes", database.path)
    links = Links(database)
    rows = before.items()
    while portion := list(islice(rows, _PAGES_AT_ONCE)):
        found = [np.frombuffer(targets, "<u4") for _, targets in portion]
        pages = np.repeat(np.array([page for page, _ in portion], np.uint32), [len(one) for one in found])
        targets = np.concatenate(found)
        flags = np.where(targets >= _REDIRECT, np.uint8(LEAD), np.uint8(0))
        links.put(Columns(pages, targets & ~_REDIRECT, np.zeros_like(targets), flags), {})
        links.flush()
    for run in list(before.table.runs):
        before.table.delete(run)
