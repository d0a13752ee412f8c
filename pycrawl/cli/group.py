"""The commands as one group: loaded when they are called, listed by what they are for, suggested when mistyped."""

from __future__ import annotations

import importlib
import inspect
import keyword
import re

import click

# In the order in which `pycrawl --help` lists them.
COMMANDS_BY_USE = {
    "Crawl": ("init", "add", "crawl", "demo"),
    "Look": ("stats", "why", "robots", "list", "get", "versions", "diff", "links", "dups"),
    "Take out": ("export", "import", "report"),
    "Care": ("retry", "forget", "verify", "audit", "compact"),
    "Plan": ("simulate",),
}
COMMANDS = tuple(name for names in COMMANDS_BY_USE.values() for name in names)
_HELP = "help"  # a command too, but not one to list


class LazyGroup(click.Group):
    """A click group whose commands are modules of `pycrawl.cli`; each is imported when its command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return load(cmd_name) if cmd_name in (*COMMANDS, _HELP) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        widest = max(map(len, COMMANDS))  # so that the summaries of all sections stand in one column
        for use, names in COMMANDS_BY_USE.items():
            with formatter.section(use):
                formatter.write_dl([(name.ljust(widest), summary(load(name)).rstrip(".")) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        is_option = name.startswith("-")
        if not is_option and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            ctx.fail(no_such_command(name))
        return super().resolve_command(ctx, args)


def load(name: str) -> click.Command:
    module = f"{name}_" if keyword.iskeyword(name) else name  # "import" cannot be the name of a module
    command: click.Command = importlib.import_module(f"pycrawl.cli.{module}").command
    return command


def no_such_command(name: str) -> str:
    """Returns the message for an unknown command, with the command that it resembles most, if any."""
    from difflib import get_close_matches

    near = get_close_matches(name, COMMANDS, n=1)
    return f"No such command {name!r}." + (f" Did you mean {near[0]!r}?" if near else "")


def paragraphs(command: click.Command) -> list[str]:
    """Returns the paragraphs of a command's help text, as they stand in the source."""
    return inspect.cleandoc(command.help or "").split("\n\n")


def summary(command: click.Command) -> str:
    """Returns the first sentence of a command's help text, on one line."""
    return re.split(r"(?<=\.)\s", " ".join(paragraphs(command)[0].split()))[0]
