"""urllib3 connections that dial only the addresses of a given route."""

from __future__ import annotations

import logging
import socket
import ssl
from functools import partial
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection

from pycrawl.fetch.addresses import Guard
from pycrawl.fetch.proxies import Proxy
from pycrawl.fetch.routes import Route
from pycrawl.fetch.tunnels import TunnelError, open_tunnel
from pycrawl.fetch.urllib3_reading import Answer, Budget, FetchError
from pycrawl.model import Outcome

# They log a warning for each odd header, and the Web is full of those.
logging.getLogger("urllib3.connection").setLevel(logging.ERROR)
logging.getLogger("urllib3.response").setLevel(logging.ERROR)


class _Dialling:
    """What our plain and TLS connections do differently from urllib3's: they dial the route."""

    budget: Budget
    route: Route
    guard: Guard
    user_agent: str
    address: str  # the server's
    timeout: Any

    def prepare(self, budget: Budget, route: Route, is_head: bool) -> None:
        """Set budget, route and method of the next request."""
        self.budget = budget
        self.route = route
        self.response_class: Any = partial(Answer, budget, is_head)

    def _new_conn(self) -> socket.socket:
        route = self.route
        if route.proxy is None:
            for address in route.addresses:
                if not self.guard.permits(address):
                    raise FetchError(Outcome.ADDRESS_REFUSED, f"{address} is not a public address")
            self.address, sock = self._dial(route.addresses, route.origin.port)
        else:
            _, sock = self._dial(route.proxy_addresses, route.proxy.port)
            self.address = route.address
            if not (route.proxy.is_http and route.origin.scheme == "http"):
                self._tunnel_through(sock, route.proxy)
        return sock

    def _dial(self, addresses: tuple[str, ...], port: int) -> tuple[str, socket.socket]:
        failure = FetchError(Outcome.CONNECT_FAILED, "no address")
        for address in addresses:
            try:
                sock = socket.create_connection((address, port), self.budget.connect_seconds())
            except TimeoutError:
                failure = FetchError(Outcome.CONNECT_TIMEOUT, f"{address} does not answer")
            except OSError as error:
                failure = FetchError(Outcome.CONNECT_FAILED, f"{address}: {error.strerror or error}")
            else:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return address, sock
        raise failure

    def _tunnel_through(self, sock: socket.socket, proxy: Proxy) -> None:
        origin = self.route.origin
        try:
            open_tunnel(
                sock, proxy, self.route.pinned or origin.host, origin.port, self.user_agent, self.budget.connect_seconds
            )
        except (TunnelError, OSError) as error:
            sock.close()
            outcome = Outcome.CONNECT_TIMEOUT if isinstance(error, TimeoutError) else Outcome.CONNECT_FAILED
            raise FetchError(outcome, f"the proxy {proxy.host}: {error}") from error
        except BaseException:
            sock.close()
            raise


class _PlainConnection(_Dialling, HTTPConnection):
    response_class: Any


class _TlsConnection(_Dialling, HTTPSConnection):
    response_class: Any

    def connect(self) -> None:
        try:
            super().connect()
        except TimeoutError:
            raise
        except OSError as error:  # dialling itself raises FetchError
            raise FetchError(Outcome.TLS_FAILURE, " ".join(str(error).split()) or type(error).__name__) from error


Connection = _PlainConnection | _TlsConnection


def new_connection(route: Route, guard: Guard, context: ssl.SSLContext, user_agent: str) -> Connection:
    connection: Connection
    if route.origin.scheme == "https":
        connection = _TlsConnection(route.origin.host, route.origin.port, ssl_context=context)
    else:
        connection = _PlainConnection(route.origin.host, route.origin.port)
    connection.guard = guard
    connection.user_agent = user_agent
    return connection
