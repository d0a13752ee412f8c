"""The command line: one file for each command, imported when the command is called.

A spawned fetcher imports this module too, as part of the program's main module; so it imports little but click.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from pycrawl import __version__
from pycrawl.cli.common import directory_type
from pycrawl.cli.group import COMMANDS, LazyGroup
from pycrawl.errors import PycrawlError
from pycrawl.native import why_not

__all__ = ["COMMANDS", "cli", "main"]

INTERRUPTED = 130


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`pycrawl COMMAND --help` says more about a command.",
)
@click.option(
    "-C", "path", metavar="DIR", type=directory_type, help="The crawl's directory; the same as -C after the command."
)
@click.version_option(
    __version__,
    prog_name="pycrawl",
    message="%(prog)s, version %(version)s"
    + (f", without its compiled module ({why_not}): crawls are slower" if why_not else ""),
)
@click.pass_context
def cli(context: click.Context, path: Path | None) -> None:
    """A polite, restartable web crawler for one machine.

    A crawl is a directory. `pycrawl init` makes it; `pycrawl crawl` fills it, and goes on where the last run stopped,
    however that ended. The pages are kept in TREC Web files under docs/, the state in one SQLite database.

    \b
    Exit codes: 0 done, 1 failed, 2 wrong usage or configuration,
    3 another crawl holds the directory, 4 stopped by a full disk or a limit on
    errors, 130 interrupted (nothing that was committed is lost).
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    # numpy's library for matrices starts threads that spin for a tenth of a second; nothing here multiplies matrices.
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
    except BrokenPipeError:  # whoever reads our output has ended, as in `pycrawl stats | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
