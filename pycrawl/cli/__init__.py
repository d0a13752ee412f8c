"""The command line: one file for each command, imported when the command is called.

A spawned fetcher imports this module too, as part of the program's main module; so it imports little but click.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from pycrawl import __version__
from pycrawl.cli.common import directory_type
from pycrawl.cli.group import COMMANDS, LazyGroup
from pycrawl.errors import PycrawlError, StoppedByLimit
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
    errors, 5 nothing could be fetched (no seed gave a page),
    130 interrupted (nothing that was committed is lost).
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def main() -> None:
    # numpy's library for matrices starts threads that spin for a tenth of a second; nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(_run())


def _run() -> int:
    """Runs the command; whatever goes wrong is said in one line. Returns the exit code."""
    try:
        if sys.stdout is None:  # closed, as by ">&-"
            raise PycrawlError("standard output is closed; `> /dev/null` is the way to have none")
        code = cli(standalone_mode=False)
        sys.stdout.flush()
    except PycrawlError as error:
        return _complain(str(error), error.exit_code)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", INTERRUPTED)
    except SystemExit as exit_:
        code = exit_.code
    except OSError as error:
        return _failed_output(error)
    return code if isinstance(code, int) else 0


def _complain(text: str, exit_code: int) -> int:
    """Says what went wrong, if standard error takes it."""
    with suppress(OSError):
        click.echo(f"pycrawl: {text}", err=True)
    return exit_code


def _failed_output(error: OSError) -> int:
    """What was to be written cannot be: the reader has ended, as in `pycrawl stats | head`, or the disk is full."""
    # What is still buffered is lost; Python would try to write it again at the end, and print a traceback.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return PycrawlError.exit_code
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _complain(f"the output cannot be written: {error.strerror}", StoppedByLimit.exit_code)
    return _complain(f"{error.filename or 'the output'}: {error.strerror}", PycrawlError.exit_code)
