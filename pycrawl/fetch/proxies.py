"""Which proxy a request goes through: the one of the configuration, or what the usual environment variables say."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import NamedTuple
from urllib.parse import unquote

from pycrawl.config import PROXY_FORM
from pycrawl.errors import ConfigError
from pycrawl.fetch.origins import Origin

_DEFAULT_PORTS = {"http": 80, "socks5": 1080, "socks5h": 1080}
# Upper-case HTTP_PROXY is left out as everywhere: in a CGI program it holds a request's Proxy header.
_VARIABLES = {
    "http": ("http_proxy", "all_proxy", "ALL_PROXY"),
    "https": ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
}
_EXCEPTIONS = ("no_proxy", "NO_PROXY")


class Proxy(NamedTuple):
    """A proxy. The user configured it, so its own address may be private."""

    scheme: str  # "http", "socks5" or "socks5h"
    host: str  # an IPv6 one stands without its brackets
    port: int
    user: str = ""
    password: str = ""

    @property
    def is_http(self) -> bool:
        return self.scheme == "http"

    @property
    def takes_addresses(self) -> bool:
        """True if the proxy is told an address to dial; else it is told a name and looks it up itself."""
        return self.scheme == "socks5"

    @property
    def url(self) -> str:
        """The proxy's URL without user and password."""
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def authorization(self) -> str:
        """The Proxy-Authorization header; empty without a user."""
        if not self.user:
            return ""
        return "Basic " + b64encode(f"{self.user}:{self.password}".encode()).decode()


def parse_proxy(text: str, origin: str) -> Proxy:
    """Returns the proxy that `text` names. `origin` is the setting or variable it came from, for error messages."""
    match = PROXY_FORM.fullmatch(text if "://" in text else f"http://{text}")
    if match is None or int(match[4] or 0) > 65_535:
        raise ConfigError(f'{origin}: expected "http://HOST:PORT", "socks5://HOST:PORT" or "socks5h://HOST:PORT"')
    scheme, login, host, port = match.groups()
    user, _, password = (login or "").partition(":")
    return Proxy(scheme, host.strip("[]"), int(port or _DEFAULT_PORTS[scheme]), unquote(user), unquote(password))


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxy for each scheme, and the hosts that need none."""

    http: Proxy | None = None
    https: Proxy | None = None
    exceptions: tuple[str, ...] = ()  # as in no_proxy: "example.com" (and all below), "10.0.0.0/8", "host:8080", "*"

    @classmethod
    def of(cls, setting: str, environment: Mapping[str, str]) -> Proxies:
        """Returns the proxies of the setting `crawl.proxy`, or those of the environment if it is empty."""
        if setting == "none":
            return cls()
        if setting:
            proxy = parse_proxy(setting, "crawl.proxy")
            return cls(proxy, proxy)
        exceptions = next(filter(None, map(environment.get, _EXCEPTIONS)), "")
        return cls(
            _from_environment("http", environment),
            _from_environment("https", environment),
            tuple(exceptions.lower().replace(",", " ").split()),
        )

    def for_origin(self, origin: Origin) -> Proxy | None:
        proxy = self.https if origin.scheme == "https" else self.http
        if proxy is None or any(_matches(exception, origin) for exception in self.exceptions):
            return None
        return proxy


NO_PROXIES = Proxies()


def _from_environment(scheme: str, environment: Mapping[str, str]) -> Proxy | None:
    for variable in _VARIABLES[scheme]:
        if text := environment.get(variable, "").strip():
            return parse_proxy(text, variable)
    return None


def _matches(exception: str, origin: Origin) -> bool:
    if exception == "*":
        return True
    host = origin.host.lower().removesuffix(".")
    try:
        return ip_address(host) in ip_network(exception.strip("[]"), strict=False)
    except ValueError:
        pass  # at least one of them is a name
    name, _, port = exception.rpartition(":") if exception.rpartition(":")[2].isdigit() else (exception, "", "")
    name = name.removeprefix("*").strip(".[]")
    if not name or (port and int(port) != origin.port):
        return False
    return host == name or host.endswith("." + name)
