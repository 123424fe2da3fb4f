"""Former commands: the call of one that moved works, and that of one that is gone says what to do instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from paraloom.cli.front_page import DEFAULT

MOVED: dict[str, str] = {
    "distill encoder": "distill",
    "reproduce": "papers run",
    "research evaluate-exemplars": "research evaluate-control --by exemplar",
    **{
        name: f"research {name}"
        for name in (
            *("canonicalize", "diversity", "export", "judge", "lexicon", "parse", "publish", "selftrain"),
            *("show", "stats", "templates", "variants"),
        )
    },
}
"""Former command → where it is now; the old call works, and says so."""

GONE: dict[str, str] = {
    "distill words": "a stage `distill-words` of a pipeline, as in examples/english-encoder.toml",
    "evaluate compare": "`paraloom evaluate sts ENCODERS FOLDER --compare`",
    "evaluate phrases": "a figure of a stage `train-phrases` with `tasks`, of its encoder, as in examples/pgru.toml",
    "exemplars": "`paraloom research evaluate-control PARAPHRASER PAIRS --by exemplar --save-exemplars FILE`",
    "papers list": "`paraloom papers run`, without the name of a table",
    "similarity": "a column of `paraloom score A B --with paraphrase_score --encoder ENCODER -o OUT.tsv`, which "
    "rejects rows with an empty side",
    "syntax-groups": "a stage `syntax-groups` of a pipeline, as in examples/syntax-groups.toml",
    "train-phrases": "a stage `train-phrases` of a pipeline, as in examples/pgru.toml",
}
"""Former command, without `research` → what does its work now."""


class MovedCommands(TyperGroup):
    """A group of commands that finds those that moved, and its default one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take what does not name a member of the group for arguments of its default one."""
        default = DEFAULT.get(" ".join(ctx.command_path.split()[1:]))
        if default and not {*args[:1]} & {*self.commands, "-h", "--help"}:
            args = [default, *args]
        if ctx.parent is None and args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        if ctx.parent is None and args[:1] == ["version"]:
            args = ["--version"]
        if args[:1] == ["quickstart"]:  # all other commands name their output by -o
            args = [arg for arg in args if arg not in ("-o", "--output")]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Check for commands that moved, and for a file in a command's place, before click reports an unknown one."""
        if ctx.parent is None:
            args = _now(ctx, args)
        if args and args[0] not in ("", *self.commands) and Path(args[0]).exists():
            known = ", ".join(self.commands) if ctx.parent else f"{ctx.command_path} --help lists them"
            ctx.fail(f"'{args[0]}' is a file: a command comes before it ({known}).")
        return super().resolve_command(ctx, args)


def _now(ctx: Any, args: list[str]) -> list[str]:
    """The arguments with the present name of a command; an error where the command is gone."""
    for words in (args[:2], args[:1]):
        if words[0] == "distill" and words[1:] and Path(words[1]).exists():
            continue  # of `distill encoder` the folder `encoder` is the teacher
        name = " ".join(words)
        if instead := GONE.get(name.removeprefix("research ")):
            ctx.fail(f"'{name}' is now {instead}.")
        if name in MOVED:
            typer.echo(f"paraloom: '{name}' is now '{MOVED[name]}'", err=True)
            return [*MOVED[name].split(), *args[len(words) :]]
    return args
