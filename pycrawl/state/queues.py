"""URLs leave the queues without having been leased: their pages have come another way."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pycrawl.state.counters import count
from pycrawl.state.database import Database

_CHOSEN = "(SELECT value FROM json_each(?))"


def leave_queues(database: Database, url_ids: Sequence[int]) -> None:
    """Remove URLs from all queues, in the transaction that enters their visits. No queue may be in memory."""
    ids = json.dumps(list(url_ids))
    in_front = f"SELECT priority, count(*) FROM front WHERE url_id IN {_CHOSEN} GROUP BY 1"
    for priority, amount in database.query(in_front, (ids,)).fetchall():
        count(database, f"front:{priority}", -amount)
    database.write(f"DELETE FROM front WHERE url_id IN {_CHOSEN}", (ids,))
    for name in ("recrawls", "back", "held"):
        count(database, name, -database.write(f"DELETE FROM {name} WHERE url_id IN {_CHOSEN}", (ids,)).rowcount)
