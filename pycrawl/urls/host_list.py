"""Lists of hosts and of URL prefixes, as the settings of the scope have them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pycrawl.config import CONFIG_NAME
from pycrawl.errors import ConfigError
from pycrawl.urls.normal_form import MAX_HOST_LENGTH, UrlRules, normalise
from pycrawl.urls.parts import host_key

_AS_WRITTEN = UrlRules()
_PLAIN_HOST = re.compile(r"(?:[a-z0-9_-]+\.)*[a-z][a-z0-9-]*")
_DEFAULT_PORTS = (":80", ":443")


class HostList:
    """Hosts ("example.com": on any port; "example.com:8080": on that one) and domains ("*.example.com")."""

    __slots__ = ("_domains", "_hosts", "_keys")

    def __init__(self, key: str, entries: Iterable[str]) -> None:
        self._keys: set[str] = set()
        self._hosts: set[str] = set()
        self._domains: set[str] = set()
        for entry in entries:
            self._add(key, entry)

    def _add(self, key: str, entry: str) -> None:
        text = entry.strip()
        domain = text.removeprefix("*").removeprefix(".")
        is_domain = text.startswith(("*.", "."))
        host = _normal_host(domain if is_domain else text)
        if host is None or (is_domain and _port_of(host)):
            raise ConfigError(
                f'{CONFIG_NAME}: {key}: expected a host such as "www.example.com", "localhost:8080" or '
                f'"*.example.com", found {entry!r}'
            )
        if is_domain:
            self._domains.add(host)
        elif host.endswith(_DEFAULT_PORTS) and _port_of(host):
            self._keys.add(_without_port(host))
        elif _port_of(host):
            self._keys.add(host)
        else:
            self._hosts.add(host)

    def __len__(self) -> int:
        return len(self._keys) + len(self._hosts) + len(self._domains)

    def __contains__(self, key: str) -> bool:
        """True if the list contains the host with this `host_key`, itself or by its domain."""
        if key in self._keys:
            return True
        host = _without_port(key) if ":" in key else key
        if host in self._hosts:
            return True
        if not self._domains or len(host) > MAX_HOST_LENGTH:
            return False
        while host not in self._domains:
            dot = host.find(".")
            if dot < 0:
                return False
            host = host[dot + 1 :]
        return True


def _port_of(key: str) -> str:
    return key.rpartition("]")[2].partition(":")[2]


def _without_port(key: str) -> str:
    port = _port_of(key)
    return key[: -len(port) - 1] if port else key


def _normal_host(text: str) -> str | None:
    """Returns an authority as normalised URLs spell it, but with its port even if it is the default one."""
    if _PLAIN_HOST.fullmatch(text) and "xn--" not in text:
        return text  # lists may have 100,000 entries, nearly all of them such
    if not text or re.search(r"[\s/?#@\\*]", text):
        return None
    port = next((port for port in _DEFAULT_PORTS if text.endswith(port)), "")
    url = normalise(f"http://{text.removesuffix(port)}/", _AS_WRITTEN)
    return None if url is None else host_key(url) + port


class PrefixList:
    """Starts of URLs ("https://example.com/docs/") and of paths on any host ("/docs/")."""

    __slots__ = ("_length", "_paths", "_urls")

    def __init__(self, key: str, entries: Iterable[str]) -> None:
        normal = [self._normal(key, entry) for entry in entries]
        self._length = len(normal)
        self._paths = tuple(entry for entry in normal if entry.startswith("/"))
        # By origin, as lists may have thousands of entries: a URL is compared with those of its own.
        self._urls: dict[str, tuple[str, ...]] = {}
        for entry in normal:
            if not entry.startswith("/"):
                origin = entry[: _path_start(entry)]
                self._urls[origin] = (*self._urls.get(origin, ()), entry)

    @staticmethod
    def _normal(key: str, entry: str) -> str:
        text = entry.strip()
        is_path = text.startswith("/")
        # The host is completed too: "https://example.com" must not let "https://example.com.evil.test/" in.
        url = normalise("http://host" + text if is_path else text, _AS_WRITTEN)
        if url is None or not (is_path or re.match("https?://", text, re.IGNORECASE)):
            raise ConfigError(
                f'{CONFIG_NAME}: {key}: expected the start of a URL such as "https://example.com/docs/" or of a path '
                f'such as "/docs/", found {entry!r}'
            )
        return url.removeprefix("http://host") if is_path else url

    def __len__(self) -> int:
        return self._length

    def __contains__(self, url: str) -> bool:
        path = _path_start(url)
        return url.startswith(self._urls.get(url[:path], ())) or url.startswith(self._paths, path)


def _path_start(url: str) -> int:
    """Returns where the path of a normalised URL begins: at its first slash behind "https://" or "http://"."""
    return url.index("/", 8)
