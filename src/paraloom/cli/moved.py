"""Commands that moved from the front page: the former call works, and says where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from paraloom.cli.front_page import DEFAULT

MOVED: dict[str, str] = {
    "reproduce": "papers run",
    **{
        name: f"research {name}"
        for name in (
            *("canonicalize", "diversity", "exemplars", "export", "judge", "lexicon", "parse", "publish", "selftrain"),
            *("show", "similarity", "stats", "syntax-groups", "templates", "variants"),
        )
    },
}
"""Command that was on the front page → where it is now; the old call works, and says so."""


class MovedCommands(TyperGroup):
    """A group of commands that finds those that moved, and its default one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take what does not name a member of the group for arguments of its default one."""
        default = DEFAULT.get(" ".join(ctx.command_path.split()[1:]))
        if default and not {*args[:1]} & {*self.commands, "-h", "--help"}:
            args = [default, *args]
        if args[:1] == ["quickstart"]:  # all other commands name their output by -o
            args = [arg for arg in args if arg not in ("-o", "--output")]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Check for commands that moved, and for a file in a command's place, before click reports an unknown one."""
        if args and ctx.parent is None and args[0] in MOVED and args[0] not in self.commands:
            typer.echo(f"paraloom: '{args[0]}' is now '{MOVED[args[0]]}'", err=True)
            args = [*MOVED[args[0]].split(), *args[1:]]
        if args and args[0] not in self.commands and Path(args[0]).exists():
            known = ", ".join(self.commands) if ctx.parent else f"{ctx.command_path} --help lists them"
            ctx.fail(f"'{args[0]}' is a file: a command comes before it ({known}).")
        return super().resolve_command(ctx, args)
