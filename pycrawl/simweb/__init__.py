"""A deterministic synthetic web on loopback: for the demo, for tests, and for benchmarks.

    settings.py    what the web looks like: `SimWebSettings`
    hosts.py       addresses, sizes, paths, which page answers what, robots.txt
    sources.py     sitemaps and feeds
    pages.py       links and text of a page, drawn from a hash of (seed, page number); text.py, hashed_random.py
    web.py         `SimWeb`: every page, and the truth about what a crawl must find
    http_answers.py
                   a page as the bytes of an HTTP answer, and a bounded cache of them
    worker.py      the epoll loop of a server process; connection.py, log.py
    server.py      `serve`: starts and commands the server processes
    process.py     `SimServer`: all of this as a context manager, with a log of requests for tests
    hostile_server.py
                   the hostile web (`--hostile`): hosts with one fault each, from hostile_answers.py (single answers),
                   hostile_hosts.py (connections, robots.txt, redirects), hostile_pages.py (markup, traps)

A host is a loopback address of its own (127.1.0.1, 127.1.0.2 …), all on one port; nothing else is ever bound.
"""

from pycrawl.simweb.hosts import Host, PageKind
from pycrawl.simweb.log import ABORTED, LogEntry
from pycrawl.simweb.process import SimServer
from pycrawl.simweb.server import serve
from pycrawl.simweb.settings import SimWebSettings
from pycrawl.simweb.web import Page, SimWeb

__all__ = ["ABORTED", "Host", "LogEntry", "Page", "PageKind", "SimServer", "SimWeb", "SimWebSettings", "serve"]
