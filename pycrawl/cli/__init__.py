"""The command line: one file for each command, imported when the command is called."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

import click

from pycrawl import __version__
from pycrawl.cli import output
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
        output.say_text(context.get_help())


def main() -> None:
    # numpy's library for matrices starts threads that spin for a tenth of a second; nothing here multiplies matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(_run())


def _run() -> int:
    """Runs the command; whatever goes wrong is said in one line. Returns the exit code."""
    try:
        output.make_encodable()
        if sys.stdout is None:  # closed, as by ">&-"
            raise PycrawlError("standard output is closed; `> /dev/null` is the way to have none")
        code = cli(standalone_mode=False)
        sys.stdout.flush()
    except PycrawlError as error:
        return _complain(error.exit_code, *error.lines)
    except click.ClickException as error:
        return _wrong_usage(error)
    except (click.Abort, KeyboardInterrupt):
        return _complain(INTERRUPTED, "interrupted")
    except SystemExit as exit_:
        code = exit_.code
    except OSError as error:
        return _failed_output(error)
    except Exception as error:  # noqa: BLE001  # whatever a crawl's directory holds, nobody is shown a raw traceback
        return _unexpected(error)
    return code if isinstance(code, int) else 0


def _complain(exit_code: int, *lines: str) -> int:
    """Says what went wrong, if standard error takes it."""
    with suppress(OSError):
        output.complain(*(f"pycrawl: {line}" if not number else line for number, line in enumerate(lines)))
    return exit_code


def _wrong_usage(error: click.ClickException) -> int:
    """Says what is wrong with the command line as click does; but what stands there is made visible."""
    context = getattr(error, "ctx", None)
    with suppress(OSError):
        if context is not None:
            output.complain_text(context.get_usage())
            output.complain(f"Try '{context.command_path} {context.help_option_names[-1]}' for help.", "")
        output.complain(f"Error: {error.format_message()}")
    return error.exit_code


def _unexpected(error: Exception) -> int:
    """Says in one line what nobody has foreseen, such as values in state.db that pycrawl never writes; all of it where
    PYCRAWL_TRACEBACK is set."""
    import traceback

    if os.environ.get("PYCRAWL_TRACEBACK"):
        output.complain_text("".join(traceback.format_exception(error)))
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return _complain(
        PycrawlError.exit_code,
        f"unexpected {type(error).__name__} ({where}): {error}. The crawl's directory may be damaged (`pycrawl verify`"
        " looks), or this is a fault of pycrawl; with PYCRAWL_TRACEBACK=1 it says more.",
    )


def _failed_output(error: OSError) -> int:
    """What was to be written cannot be: the reader has ended, as in `pycrawl stats | head`, or the disk is full."""
    # What is still buffered is lost; Python would try to write it again at the end, and print a traceback.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return PycrawlError.exit_code
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _complain(StoppedByLimit.exit_code, f"the output cannot be written: {error.strerror}")
    return _complain(PycrawlError.exit_code, f"{error.filename or 'the output'}: {error.strerror}")
