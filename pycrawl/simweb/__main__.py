"""`python -m pycrawl.simweb`: serve a synthetic web on loopback addresses."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from pathlib import Path

from pycrawl.config import parse_size
from pycrawl.errors import PycrawlError
from pycrawl.simweb.server import CACHE_BYTES, serve
from pycrawl.simweb.settings import SimWebSettings, option
from pycrawl.simweb.web import SimWeb


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        if options.hostile:
            _be_hostile(options)
            return 0
        settings = _settings(options)
        if options.print_urls:
            _print_urls(settings)
        else:
            serve(
                settings,
                workers=options.workers,
                cache_bytes=options.cache_bytes,
                log=options.log,
                until_eof=options.until_eof,
                announce=lambda line: print(line, flush=True),
            )
    except PycrawlError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:  # who read our output has gone
        sys.stderr.close()
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m pycrawl.simweb",
        description="Serve a synthetic web on loopback: one address (127.1.0.1, 127.1.0.2 …) for each host, all on one "
        "port. The same settings give the same web. The first line of output is the seed URL, from which links lead to "
        "every page; it is printed when the server accepts connections.",
    )
    web = parser.add_argument_group("the web")
    for setting in fields(SimWebSettings):
        kind = type(setting.default)
        what = f"{setting.metadata['doc']} (default: {setting.default})"
        web.add_argument(option(setting), type=kind, metavar="N", default=argparse.SUPPRESS, help=what)
    web.add_argument("--plain", action="store_true", help="no faults, rules and odd links: those options at 0")
    web.add_argument(
        "--hostile",
        action="store_true",
        help="another web: a host for every fault that a server can have, and an index of them, to try a crawler on. "
        "Takes --port (default: 8966), --print-urls and --until-eof",
    )
    server = parser.add_argument_group("the server")
    server.add_argument("--workers", type=_count, metavar="N", default=1, help="server processes (default: 1)")
    server.add_argument(
        "--cache-bytes",
        type=_size,
        metavar="SIZE",
        default=CACHE_BYTES,
        help="ready answers kept in memory (default: 200 MB)",
    )
    server.add_argument("--log", type=Path, metavar="FILE", help="log requests to FILE.0, FILE.1 … (one per process)")
    server.add_argument("--until-eof", action="store_true", help="obey commands from standard input; end when it ends")
    server.add_argument("--print-urls", action="store_true", help="print what a crawl must fetch, and serve nothing")
    return parser


def _be_hostile(options: argparse.Namespace) -> None:
    from pycrawl.simweb import hostile_server

    port = getattr(options, "port", hostile_server.PORT)
    if options.print_urls:
        hostile_server.print_hosts(port, print)
    else:
        hostile_server.serve_hostile(port, options.until_eof, lambda line: print(line, flush=True))


def _settings(options: argparse.Namespace) -> SimWebSettings:
    given = {name: value for name, value in vars(options).items() if name in SimWebSettings.__slots__}
    return SimWebSettings.plain(**given) if options.plain else SimWebSettings(**given)


def _print_urls(settings: SimWebSettings) -> None:
    for url in sorted(SimWeb(settings).reachable()):
        print(url)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, found {number}")
    return number


def _size(text: str) -> int:
    try:
        return parse_size(int(text) if text.isdigit() else text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


if __name__ == "__main__":
    sys.exit(main())
