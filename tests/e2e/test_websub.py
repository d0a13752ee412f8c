"""WebSub: hubs are asked to push, prove what they push, and what they push is fetched; nobody else can do anything."""

from __future__ import annotations

import signal
import socket
from contextlib import closing

import pytest

from pycrawl.state.database import Database
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Settings, merged
from tests.e2e.site import Reply, Site, page
from tests.e2e.websub_hub import CHALLENGE, Hub, call, until


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def feed(site: Site, hub: str, *paths: str, **headers: str) -> Reply:
    items = "".join(f"<entry><id>{path}</id><link href='{site.url}{path}'/></entry>" for path in paths)
    links = f"<link rel='hub' href='{hub}'/><link rel='self' href='{site.url}/feed?utm_source=x'/>" if hub else ""
    text = f"<feed xmlns='http://www.w3.org/2005/Atom'>{links}{items}</feed>"
    return Reply(text, content_type="application/atom+xml", headers=headers)


class Listening:
    """A site with a feed, a hub, and a crawl that listens."""

    def __init__(self, make_crawl: MakeCrawl, site: Site, hub: Hub, settings: Settings | None = None) -> None:
        self.site, self.hub = site, hub
        self.port = free_port()
        site.pages |= {"/": page(text="home"), **{f"/{name}": page(text=name) for name in ("old", "new", "newer")}}
        site.pages["/feed"] = feed(site, hub.url, "/old")
        push: dict[str, object] = {
            "callback": f"http://127.0.0.1:{self.port}/push/",
            "listen": f"127.0.0.1:{self.port}",
        }
        self.settings = merged({"feeds": push}, settings or {})
        self.crawl = make_crawl([f"{site.url}/"], self.settings)
        self.crawl.run("add", "--feed", f"{site.url}/feed")

    def counts(self) -> dict[str, int]:
        pushes: dict[str, int] = self.crawl.stats()["pushes"]["requests"]
        return pushes

    def state(self, path: str = "/feed") -> str:
        """What is known of the subscription to a feed, as it is committed."""
        one = self.crawl.why(f"{self.site.url}{path}")["subscription"]
        return one["state"] if one is not None else ""

    def make_due(self) -> None:
        with closing(Database.open(self.crawl.directory.state)) as database:
            database.write("UPDATE sources SET next_at = 0 WHERE kind = 6")
            database.commit()


@pytest.mark.parametrize("transport", ["curl", "urllib3"])
def test_news_that_a_hub_pushes_is_fetched(make_crawl: MakeCrawl, transport: str) -> None:
    with Site({}) as site, Hub() as hub:
        it = Listening(make_crawl, site, hub, {"crawl": {"transport": transport}})
        running = it.crawl.start("crawl")
        assert running.until(lambda: bool(hub.checks) and "/old" in site.asked)
        assert hub.checks == [(200, CHALLENGE)]
        asked = hub.asked[0]
        assert asked["hub.mode"] == "subscribe"
        assert asked["hub.topic"] == f"{site.url}/feed?utm_source=x", "as the feed calls itself, to the letter"
        assert site.times()["/feed"] == 1

        # Replayed, of another topic, of another mode, at an address that nobody has.
        assert hub.check(asked)[0] == 404
        assert hub.check(asked, topic=f"{site.url}/other")[0] == 404
        assert hub.check(asked | {"hub.mode": "unsubscribe"})[0] == 404
        assert hub.check(asked | {"hub.callback": f"{asked['hub.callback']}x"})[0] == 404
        # Unsigned, wrongly signed, by a method that is none, too large, of no length; and what is no HTTP.
        site.pages["/feed"] = feed(site, hub.url, "/new", "/old")
        assert call(asked["hub.callback"], "POST", b"news")[0] == 202
        assert hub.push(b"news", secret="guessed")[0] == 202
        assert hub.push(b"news", "md5")[0] == 202
        assert hub.push(b"news", X_Hub_Signature="sha256=xyz")[0] == 202
        assert hub.push(b"", Content_Length="10000001")[0] == 413
        assert hub.push(b"", Transfer_Encoding="chunked")[0] == 411
        assert call(asked["hub.callback"], "PUT", b"news")[0] == 405
        with socket.create_connection(("127.0.0.1", it.port)) as sock:
            sock.sendall(b"\x16\x03\x01" * 10_000)
            assert sock.recv(100).startswith(b"HTTP/1.1 400")
        wanted = {"unasked-check": 2, "unknown-topic": 1, "unknown-address": 1, "unsigned": 1, "bad-signature": 3,
                  "too-large": 1, "without-length": 1, "bad-request": 2, "subscribe-confirmed": 1}  # fmt: skip
        assert running.until(lambda: it.counts() == wanted)
        assert site.times()["/feed"] == 1

        # What is signed is believed, and fetched at once.
        assert hub.push(b"x" * 3_000_000, "sha512")[0] == 202
        assert running.until(lambda: "/new" in site.asked)
        assert site.times()["/feed"] == 2
        assert hub.push(b"", "sha1")[0] == 202
        assert running.until(lambda: site.times()["/feed"] == 3)
        assert it.state() == "open"
        running.send(signal.SIGTERM)
        assert running.wait() == 130
        assert f"pushed by {hub.url}" in it.crawl.run("why", f"{site.url}/feed").stdout
        assert not it.crawl.run("audit").stderr
        it.crawl.verify()


def test_a_subscription_outlives_the_run_is_renewed_and_ended(make_crawl: MakeCrawl) -> None:
    with Site({}) as site, Hub() as hub:
        it = Listening(make_crawl, site, hub)
        hub.checks_now = True
        running = it.crawl.start("crawl")
        assert running.until(lambda: it.crawl.stats()["hubs"]["visits"] == {"asked": 1} and it.state() == "open")
        running.kill_tree()

        # The next run listens for what the hub still has.
        site.pages["/feed"] = feed(site, hub.url, "/new", "/old")
        running = it.crawl.start("crawl", "--max-time", "5m")
        until(lambda: hub.push(b"news") == (202, ""))
        assert running.until(lambda: "/new" in site.asked)
        assert len(hub.asked) == 1
        running.send(signal.SIGTERM)
        running.wait()

        # It is renewed under the same address, before it ends.
        it.make_due()
        running = it.crawl.start("crawl")
        assert running.until(lambda: len(hub.asked) == 2)
        assert hub.asked[1] == hub.asked[0]
        running.send(signal.SIGTERM)
        running.wait()

        # Switched off: the hub is told, checks that, and the run ends by itself; the next one does not listen.
        it.crawl.configure({"feeds": {"listen": f"127.0.0.1:{it.port}"}})
        it.crawl.run("crawl")
        assert hub.asked[2]["hub.mode"] == "unsubscribe"
        assert hub.asked[2]["hub.callback"] == hub.asked[0]["hub.callback"]
        assert hub.checks[-1] == (200, CHALLENGE)
        assert it.state() == "none"
        it.crawl.run("crawl")
        assert len(hub.asked) == 3

        # And on again.
        it.crawl.configure(it.settings)
        running = it.crawl.start("crawl")
        assert running.until(lambda: len(hub.asked) == 4 and it.state() == "open")
        it.crawl.verify()


def test_hubs_are_hit_like_any_other_host(make_crawl: MakeCrawl) -> None:
    """Robots, the scope and the guard of addresses hold for hubs; one that refuses is asked later."""
    with Site({}) as site, Hub() as hub, Hub() as denied, Hub(status=403) as refusing:
        denied.robots = "User-agent: *\nDisallow: /hub"
        out = "http://127.0.0.9:8081/hub"
        it = Listening(make_crawl, site, hub, {"scope": {"deny_hosts": ["127.0.0.9"]}})
        site.pages |= {"/feed": feed(site, ""), "/denied": feed(site, denied.url), "/out": feed(site, out)}
        links = f'<{hub.url}>; rel="hub", <{site.url}/self>; rel=self'
        site.pages |= {"/refusing": feed(site, refusing.url), "/header": feed(site, "", Link=links)}
        for name in ("denied", "out", "refusing", "header"):
            it.crawl.run("add", "--feed", f"{site.url}/{name}")
        running = it.crawl.start("crawl")
        assert running.until(lambda: len(hub.checks) == len(refusing.asked) == 1)
        assert hub.asked[0]["hub.topic"] == f"{site.url}/self"
        assert running.until(
            lambda: it.crawl.stats()["hubs"]["visits"].keys() == {"asked", "http-4xx", "robots-denied"}
        )
        assert not denied.asked
        running.send(signal.SIGTERM)
        assert running.wait() == 130
        assert [it.state(path) for path in ("/denied", "/out", "/refusing", "/header")] == ["none", "", "none", "open"]

        # What is not confirmed keeps no run from ending: nobody is waited for.
        hub.status = 403
        it.crawl.configure({"feeds": {"listen": f"127.0.0.1:{it.port}"}})
        it.crawl.run("crawl")


def test_a_port_that_is_taken_is_named(make_crawl: MakeCrawl) -> None:
    with Site({}) as site, Hub() as hub, socket.socket() as taken:
        it = Listening(make_crawl, site, hub)
        taken.bind(("127.0.0.1", it.port))
        taken.listen()
        ended = it.crawl.run("crawl", exit_code=2)
        assert f"feeds.listen: cannot listen on 127.0.0.1:{it.port}" in ended.stderr
        assert not site.asked
