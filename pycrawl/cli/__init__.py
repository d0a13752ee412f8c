"""The command line: one file for each command, loaded when it is called.

A spawned fetcher imports this module once more, as the main module of the program; so it loads little but click.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from pycrawl import __version__
from pycrawl.errors import PycrawlError
from pycrawl.native import why_not

COMMANDS = ("init", "add", "crawl", "stats", "get", "why", "dups", "audit", "verify", "demo")
INTERRUPTED = 130


class LazyGroup(click.Group):
    """Knows its commands by name, in the order in which a person meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"pycrawl.cli.{cmd_name}").command
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(
    __version__,
    prog_name="pycrawl",
    message="%(prog)s, version %(version)s"
    + (f", without its compiled module ({why_not}): crawls are slower" if why_not else ""),
)
def cli() -> None:
    """A polite, restartable web crawler for one machine.

    A crawl is a directory: `pycrawl init` makes it, `pycrawl crawl` fills it, and goes on where it stopped, however it
    was stopped. The pages are TREC Web files under docs/, the state is one SQLite database.

    \b
    Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 another crawl holds the directory,
    4 stopped by a full disk or a limit on errors, 130 interrupted (nothing committed is lost).
    """


def main() -> None:
    # Nothing here multiplies matrices, and numpy's threads for that spin at each start, a tenth of a second in all.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        sys.exit(cli(standalone_mode=False))
    except PycrawlError as error:
        click.echo(f"pycrawl: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("pycrawl: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
