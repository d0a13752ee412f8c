"""`pycrawl help`: the same as `--help`, for those who type it this way."""

from __future__ import annotations

import click

from pycrawl.cli import output
from pycrawl.cli.group import COMMANDS, load, no_such_command


@click.command("help", hidden=True)
@click.argument("name", metavar="[COMMAND]", required=False)
@click.pass_context
def command(context: click.Context, name: str | None) -> None:
    """Show the help of pycrawl, or of one of its commands."""
    program = context.find_root()
    if name is None:
        output.say_text(program.get_help())
    elif name in COMMANDS:
        named = load(name)
        output.say_text(named.get_help(click.Context(named, parent=program, info_name=name)))
    else:
        raise click.UsageError(no_such_command(name), program)
