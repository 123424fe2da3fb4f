"""Commands and options of earlier versions: what they are called now."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from paraloom.cli.front_page import DEFAULT

COMMANDS = {"distil": "distill", "agree": "pivot"}
"""Old name of a command → its name now."""

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

PATHS = {
    "evaluate control": "research evaluate-control",
    "evaluate exemplars": "research evaluate-exemplars",
    "train classifier": "research train-classifier",
    "train phrases": "research train-phrases",
}
"""Old path of a command in a group → its path now."""

OPTIONS: dict[str, dict[str, str]] = {
    "align pivot": {"--through": "--pivot"},
    "align sentences": {"--bound": "--hard-delimiter"},
    "augment": {"--fewest": "--min-words"},
    "distill words": {"--limit": "--max-words"},
    "evaluate aligner": {"--most": "--max-bead-size"},
    "evaluate documents": {"--turned": "--swap"},
    "extract": {"--least": "--min-characters"},
    "filter": {"--tenth": "--decile"},
    "mine": {"--threshold": "--above"},
    "lexicon": {"--longest": "--max-phrase-length", "--least": "--min-count"},
    "paraphrase": {"--model": "--paraphraser", "--variants": "-n"},
    "syntax-groups": {"--least": "--min-rows"},
    "papers run": {"--devices": "--device"},
    "train-classifier": {"--count": "--max-pairs"},
    "train encoder": {"--megabatch": "--megabatch-size", "--start": "--init-from"},
    "train translator": {"--start": "--init-from", "--vocabulary": "--vocab-size", "--licence": "--license"},
}
"""Command → old name of an option → its name now."""


class Renamed(typer.BadParameter):
    """A usage error that does not begin with "Invalid value": the name is at fault."""

    def format_message(self) -> str:
        """The message alone."""
        return self.message


class RenamedOptions(TyperCommand):
    """A command that names the new option when an old one is used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check for old options before click parses, which would suggest something else or nothing."""
        command = " ".join(ctx.command_path.split()[1:]).removeprefix("research ")
        if command == "quickstart":
            args = [arg for arg in args if arg not in ("-o", "--output")]  # all other commands name their output so
        for arg in args:
            if (new := OPTIONS.get(command, {}).get(arg.partition("=")[0])) is not None:
                raise Renamed(f"{arg.partition('=')[0]}: this option is now called {new}", ctx)
        return super().parse_args(ctx, args)


class RenamedCommands(TyperGroup):
    """A group of commands that names the new command when an old one is used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take what does not name a member of the group for arguments of its default one."""
        default = DEFAULT.get(" ".join(ctx.command_path.split()[1:]))
        if default and not {*args[:1]} & {*self.commands, "-h", "--help"}:
            args = [default, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Check for old commands before click reports an unknown one."""
        if args and args[0] in COMMANDS and args[0] not in self.commands and COMMANDS[args[0]] in self.commands:
            raise Renamed(f"{args[0]}: this command is now called '{COMMANDS[args[0]]}'", ctx)
        path = " ".join([*ctx.command_path.split()[1:], *args[:1]])
        if path in PATHS and args[0] not in self.commands:
            raise Renamed(f"{path}: this command is now called '{PATHS[path]}'", ctx)
        if args and ctx.parent is None and args[0] in MOVED and args[0] not in self.commands:
            typer.echo(f"paraloom: '{args[0]}' is now '{MOVED[args[0]]}'", err=True)
            args = [*MOVED[args[0]].split(), *args[1:]]
        return super().resolve_command(ctx, args)
