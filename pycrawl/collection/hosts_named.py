"""Hosts as people name them, among those that a crawl knows."""

from __future__ import annotations

from difflib import get_close_matches

from pycrawl.errors import ConfigError, UsageError
from pycrawl.state.database import Database
from pycrawl.state.hosts import host_keys, hosts_by_pages
from pycrawl.urls.host_list import HostList

_MOST_SHOWN = 10  # hosts in a message


def host_ids(database: Database, text: str, option: str = "--host") -> tuple[int, ...]:
    """Returns the ids of the hosts that `text` means, written as in scope.allow_hosts: "example.com" (on any port),
    "example.com:8080", "*.example.com". Raises UsageError, which names hosts that there are, if it means none;
    `option` is what the text was given as."""
    try:
        meant = HostList(option, [text])
    except ConfigError:
        raise UsageError(
            f'{option}: expected a host such as "www.example.com", "localhost:8080" or "*.example.com", found {text!r}'
        ) from None
    found = tuple(host_id for host_id, key in host_keys(database) if key in meant)
    if not found:
        raise UsageError(f"{option}: the crawl knows no host {text!r}. {_known(database, text)}")
    return found


def _known(database: Database, text: str) -> str:
    """Names a few hosts: those that resemble the text, or else those with the most pages."""
    near = get_close_matches(text, (key for _, key in host_keys(database)), _MOST_SHOWN)
    if near:
        return f"Did you mean {', '.join(near)}?"
    most = hosts_by_pages(database, _MOST_SHOWN)
    return f"It knows {', '.join(host.key for host in most)}." if most else "It knows none yet."
