"""Every fault that a server can have, each as a host of its own beside honest hosts: the crawl ends, and is whole."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import psutil

from pycrawl.simweb import SimServer, SimWebSettings
from tests.e2e.conftest import MakeCrawl
from tests.e2e.crawling import Running
from tests.e2e.site import Reply, Site, page
from tests.fetch.faults import FAULTS, FaultServer, Visit

MOST_MEMORY = 1_000_000_000  # bytes, of the whole process tree
HONEST = SimWebSettings.plain(seed=91, hosts=50, pages=400, port=0, mean_page_bytes=4_000)

# What each fault is called in the end. Those that may pass are tried more than once before.
FAULT_OUTCOMES = {
    "/gzip-bomb": "fetched",  # a gigabyte of NULs, which is cut
    "/deflate-bomb": "fetched",  # a gigabyte of NULs, which is cut
    "/brotli-bomb": "fetched",  # a gigabyte of NULs, which is cut
    "/gzip-truncated": "fetched",
    "/gzip-garbage": "bad-encoding",
    "/length-too-long": "connection-lost",
    "/length-too-short": "fetched",
    "/chunked-cut": "connection-lost",
    "/header-without-colon": "bad-response",
    "/headers-100-kb": "headers-too-large",
    "/headers-endless": "headers-too-large",
    "/headers-slow": "timeout",
    "/body-endless": "fetched",
    "/byte-by-byte": "timeout",
    "/never-answers": "timeout",
    "/reset-in-the-middle": "connection-lost",
    "/closes-at-once": "connection-lost",
    "/not-http": "bad-response",
    "/image-endless": "unwanted-type",
    "/error-500": "http-5xx",
    "/cookie-then-page": "fetched",
}
CUT = ("/gzip-truncated", "/body-endless", "-bomb")

HOSTILE_PAGES = {
    "/nested": Reply('<a href="/seen">first</a>' + "<div>" * 200_000),
    "/attributes": Reply('<a href="/seen">first</a><p ' + " ".join(f"a{n}=1" for n in range(100_000)) + ">"),
    "/long-attribute": Reply('<a href="/seen">first</a><p title="' + "x" * 3_000_000 + '">'),
    "/binary": Reply("GIF89a\x00\x01\x02" * 1_000),
    "/nuls": Reply("\x00<p>N\x00UL</p><a href='/behind-nuls'>x</a>" + "\x00" * 2_000),
    "/behind-nuls": page(text="found behind NULs"),
    "/seen": page(text="found behind hostile markup"),
    "/loop-a": Reply(status=302, headers={"Location": "/loop-b"}),
    "/loop-b": Reply(status=302, headers={"Location": "/loop-a"}),
    "/itself": Reply(status=302, headers={"Location": "/itself"}),
    "/to-file": Reply(status=302, headers={"Location": "file:///etc/passwd"}),
    "/to-ftp": Reply(status=302, headers={"Location": "ftp://127.0.0.1/x"}),
    "/to-inner": Reply(status=302, headers={"Location": "http://10.0.0.1/"}),
    "/no-location": Reply(status=302),
    **{f"/chain-{n}": Reply(status=302, headers={"Location": f"/chain-{n + 1}"}) for n in range(20)},
}
PAGE_OUTCOMES = {
    "/nested": "fetched",
    "/attributes": "fetched",
    "/long-attribute": "fetched",
    "/binary": "unwanted-type",
    "/nuls": "fetched",
    "/behind-nuls": "fetched",
    "/seen": "fetched",
    "/loop-a": "redirect",
    "/loop-b": "redirect",
    "/itself": "bad-redirect",
    "/to-file": "bad-redirect",
    "/to-ftp": "bad-redirect",
    "/to-inner": "redirect",
    "/no-location": "http-other",
    "/chain-5": "too-many-redirects",
}
PAGE_SEEDS = [path for path in PAGE_OUTCOMES if path not in ("/seen", "/behind-nuls", "/loop-b", "/chain-5")] + [
    "/chain-0"
]


def no_rules(visit: Visit) -> None:
    visit.keep_alive = True
    visit.answer(b"", status=b"404 Not Found")


@contextmanager
def watched(running: Running) -> Iterator[list[int]]:
    """The memory of the process tree over time, as the sum of proportional sizes."""
    sizes: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.2):
            try:
                root = psutil.Process(running.pid)
                sizes.append(sum(one.memory_full_info().pss for one in [root, *root.children(recursive=True)]))
            except psutil.Error:
                continue

    thread = threading.Thread(target=watch)
    thread.start()
    yield sizes
    done.set()
    thread.join()


def test_faults_beside_honest_hosts(make_crawl: MakeCrawl) -> None:
    FAULTS.setdefault("/robots.txt", no_rules)
    with ExitStack() as stack:
        honest = stack.enter_context(SimServer(HONEST))
        faults = {}
        for number, path in enumerate(FAULT_OUTCOMES):
            server = FaultServer(f"127.40.0.{number + 1}")
            stack.callback(server.close)
            faults[server.base + path] = FAULT_OUTCOMES[path]
        site = stack.enter_context(Site(HOSTILE_PAGES, "127.41.0.1"))
        pages = {site.url + path: outcome for path, outcome in PAGE_OUTCOMES.items()}
        seeds = [honest.seed, *faults, *(site.url + path for path in PAGE_SEEDS)]
        crawl = make_crawl(
            seeds,
            {
                "security": {"allow_private_addresses": False, "allow_networks": ["127.0.0.0/8"]},
                "limits": {"total_timeout": 8, "connect_timeout": 8, "max_tries": 2, "max_redirects": 5},
                "traps": {"soft_404": False},
            },
        )
        running = crawl.start("crawl")
        with watched(running) as sizes:
            assert running.wait() == 0, running.output()
        assert max(sizes) < MOST_MEMORY
        assert "fetcher died" not in running.output()
        ended = dict(crawl.query("SELECT url, outcome FROM visits JOIN urls ON urls.id = url_id"))
        wanted = {**faults, **pages, "http://10.0.0.1/": "address-refused"}
        assert {url: ended.get(url) for url in wanted} == wanted
        cut = {url for (url,) in crawl.query("SELECT url FROM documents JOIN urls ON urls.id = url_id WHERE truncated")}
        assert cut == {url for url in faults if url.endswith(CUT)}
        assert set(honest.web.reachable()) <= set(crawl.documents_by_url())
        errors = crawl.stats()["errors"]
        for outcome in set(wanted.values()) - {"fetched", "redirect", "unwanted-type"}:
            assert errors[outcome] > 0
        crawl.verify()
        assert crawl.run("audit").returncode == 0
