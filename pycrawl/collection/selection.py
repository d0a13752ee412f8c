"""Which documents are wanted, and in which order: what `Collection.documents` and `pycrawl export` take."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, TypeVar

from pycrawl.collection.clusters import Dedup, Keep
from pycrawl.collection.document import Document
from pycrawl.collection.fields import Needs
from pycrawl.collection.times import Time, timestamp
from pycrawl.errors import UsageError
from pycrawl.state.document_rows import Chosen, Order
from pycrawl.urls.language_tags import wanted_tag

_STATUS = re.compile(r"[1-5](?:[0-9]{2}|xx)")
_Choice = TypeVar("_Choice", bound=StrEnum)


class Selection(NamedTuple):
    order: Order = Order.CRAWL
    chosen: Chosen = Chosen()
    dedup: Dedup | None = None
    keep: Keep = Keep.OLDEST
    status: str = ""  # "200", or "2xx"; empty: any
    language: str = ""  # "pt": also "pt-BR"; empty: any

    @classmethod
    def made(
        cls,
        order: str,
        host: str | None,
        since: Time | None,
        until: Time | None,
        status: int | str | None,
        language: str | None,
        newest: bool,
        dedup: str | None,
        keep: str,
        host_ids: Callable[[str], tuple[int, ...]],
    ) -> Selection:
        """Returns the selection that these conditions mean. Raises UsageError for a value that is none.

        `host_ids` finds the hosts that a text means.
        """
        since, until = (None if time is None else timestamp(time) for time in (since, until))
        wanted_status = str(status or "").lower()
        if wanted_status and not _STATUS.fullmatch(wanted_status):
            raise UsageError(f"status: expected a number such as 200, or a class such as 2xx; found {status!r}")
        kept = _choice(Keep, "keep", keep)
        if kept is not Keep.OLDEST and not dedup:
            raise UsageError("keep: says which one of a cluster dedup keeps, and there is no dedup")
        return cls(
            _choice(Order, "order", order),
            Chosen(host_ids(host) if host else None, since, until, newest),
            _choice(Dedup, "dedup", dedup) if dedup else None,
            kept,
            wanted_status,
            "" if language is None else wanted_tag(language),
        )

    @property
    def needs(self) -> Needs:
        """What has to be read of a document to know whether it is wanted."""
        return Needs.TEXT if self.language else Needs.RECORD if self.status else Needs.ROW

    def accepts(self, document: Document) -> bool:
        """True if a document meets the conditions for which its record has to be read. Raises StoreError."""
        if self.status and not _is_status(document.status, self.status):
            return False
        if not self.language:
            return True
        found = document.language
        return found == self.language or found.startswith(self.language + "-")


def _is_status(status: int, wanted: str) -> bool:
    return str(status) == wanted or (wanted.endswith("xx") and status // 100 == int(wanted[0]))


def _choice(kind: type[_Choice], name: str, value: str) -> _Choice:
    try:
        return kind(value)
    except ValueError:
        raise UsageError(f"{name}: expected {' or '.join(kind)}, found {value!r}") from None
