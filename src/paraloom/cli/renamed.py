"""Commands and options of earlier versions: what they are called now."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = {"distil": "distill", "agree": "pivot"}
"""Old name of a command → its name now."""

MOVED: dict[str, str] = {
    "reproduce": "papers run",
    **{
        name: f"research {name}"
        for name in (
            *("augment-labels", "canonicalize", "diversity", "exemplars", "export", "judge"),
            *("lexicon", "parse", "selftrain", "show", "similarity", "stats", "syntax-groups", "templates", "tune"),
            "variants",
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
    "align documents": {"--how": "--assignment", "--by": "--threshold-on", "--candidates": "--max-candidates"},
    "align pivot": {"--through": "--pivot"},
    "align sentences": {"--most": "--max-bead-size", "--bound": "--hard-delimiter"},
    "augment": {"--fewest": "--min-words"},
    "distill words": {"--limit": "--max-words"},
    "evaluate aligner": {"--most": "--max-bead-size"},
    "evaluate documents": {"--turned": "--swap"},
    "extract": {"--least": "--min-characters"},
    "filter": {"--tenth": "--decile"},
    "augment-labels": {"--model": "--paraphraser"},
    "mine": {"--with": "--bilingual", "--threshold": "--above"},
    "lexicon": {"--longest": "--max-phrase-length", "--least": "--min-count"},
    "paraphrase": {"--model": "--paraphraser", "--variants": "-n"},
    "syntax-groups": {"--least": "--min-rows"},
    "train-classifier": {"--count": "--max-pairs", "--choice": "--negatives"},
    "train encoder": {"--megabatch": "--megabatch-size", "--rising": "--megabatch-warmup", "--start": "--init-from"},
    "train-phrases": {
        "--contrasts": "--num-negatives",
        "--share": "--sample-fraction",
        "--reversed-contrast": "--reversed-negative",
    },
    "train translator": {"--start": "--init-from", "--vocabulary": "--vocab-size", "--licence": "--license"},
}
"""Command → old name of an option → its name now."""

_RULES_ONLY = "this option is gone: canonicalize corrects English by rules and a list of words"
_ROUND_TRIP = "a round trip is one name now: {}round-trip:THERE,BACK,pivots=3, such as round-trip:en-de,de-en"
REMOVED_OPTIONS: dict[str, dict[str, str]] = {
    "canonicalize": dict.fromkeys(
        ("--model", "--rules", "--no-rules", "--meaning", "--candidates", "--encoder", "--language-model", "--decode"),
        _RULES_ONLY,
    ),
    "augment-labels": dict.fromkeys(
        (
            *("--pivots", "--endpoint-model", "--language", "--endpoint", "--decode", "--device", "--max-new"),
            *("--originals", "--new-only", "--hold", "--terms", "--meaning", "--difference", "--candidates"),
            *("--cross-encoder", "--entailment", "--language-model"),
        ),
        "this option is gone; in Python, `paraloom.augment_labels` takes any paraphraser and selection",
    ),
    "paraphrase": {
        **dict.fromkeys(("--forward", "--backward", "--pivots"), _ROUND_TRIP.format("--paraphraser ")),
        **dict.fromkeys(
            ("--endpoint-model", "--language", "--endpoint"),
            "settings are part of the paraphraser's name now: --paraphraser 'http://HOST/v1?model=NAME&language=en'",
        ),
        "--parser": "this option is gone; in a pipeline, it is the key 'parser' of the stage 'paraphrase'",
        **dict.fromkeys(
            ("--cross-encoder", "--entailment", "--language-model"),
            "this option is gone: meaning is measured by --encoder; score what was written with `paraloom score`",
        ),
    },
    "evaluate paraphraser": {
        **dict.fromkeys(("--forward", "--backward"), _ROUND_TRIP.format("--beside 'round trip'=")),
        **dict.fromkeys(("--selection", "--no-selection"), "this option is gone: write --preset none"),
    },
    "train paraphraser": {
        "--noisy-share": "this option is gone: paraphrasers write no standard forms; use `paraloom canonicalize`",
        **{
            f"--{name.replace('_', '-')}": f"this option is gone; in a pipeline, it is the key '{name}' of the stage "
            f"'train-paraphraser'"
            for name in ("word_dim", "hidden_dim", "direction", "exemplar_share", "max_height")
        },
    },
}
"""Command → name of an option that is gone → what to write instead."""


_PRESETS = {
    "close": "this preset is now called strict",
    "augmentation": "this preset is now called balanced",
    "varied": "this preset is now called loose",
    "corpus": "this preset is gone: write --preset loose --difference 0.35",
}
VALUES: dict[str, dict[str, dict[str, str]]] = {
    command: {"--preset": _PRESETS} for command in ("paraphrase", "evaluate paraphraser", "augment-labels")
}
"""Command → option → old value → what to write now."""


def renamed_value(command: str, args: list[str]) -> str | None:
    """What to write instead of a value of an earlier version; None if there is none among what was typed."""
    known = VALUES.get(command, {})
    typed = [tuple(arg.split("=", 1)) for arg in args if "=" in arg] + [*pairwise(args)]
    for option, value in typed:
        if value in known.get(option, {}):
            return f"{option} {value}: {known[option][value]}"
    return None


class Renamed(typer.BadParameter):
    """A usage error that does not begin with "Invalid value": the name is at fault."""

    def format_message(self) -> str:
        """The message alone."""
        return self.message


REMOVED_COMMANDS = {"average-checkpoints": "this command is gone; `train translator --average-last K` averages"}
"""Name of a command that is gone → what to do instead."""


class RenamedOptions(TyperCommand):
    """A command that names the new option when an old one is used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check for old options before click parses, which would suggest something else or nothing."""
        command = " ".join(ctx.command_path.split()[1:]).removeprefix("research ")
        if (changed := renamed_value(command, args)) is not None:
            raise Renamed(changed, ctx)
        for arg in args:
            new = OPTIONS.get(command, {}).get(arg.partition("=")[0])
            gone = REMOVED_OPTIONS.get(command, {}).get(arg.partition("=")[0])
            if gone is not None:
                raise Renamed(f"{arg.partition('=')[0]}: {gone}", ctx)
            if new is not None:
                raise Renamed(f"{arg.partition('=')[0]}: this option is now called {new}", ctx)
        return super().parse_args(ctx, args)


class RenamedCommands(TyperGroup):
    """A group of commands that names the new command when an old one is used."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Check for old commands before click reports an unknown one."""
        if args and args[0] in COMMANDS and args[0] not in self.commands and COMMANDS[args[0]] in self.commands:
            raise Renamed(f"{args[0]}: this command is now called '{COMMANDS[args[0]]}'", ctx)
        if args and args[0] in REMOVED_COMMANDS and args[0] not in self.commands:
            raise Renamed(f"{args[0]}: {REMOVED_COMMANDS[args[0]]}", ctx)
        path = " ".join([*ctx.command_path.split()[1:], *args[:1]])
        if path in PATHS and args[0] not in self.commands:
            raise Renamed(f"{path}: this command is now called '{PATHS[path]}'", ctx)
        if args and ctx.parent is None and args[0] in MOVED and args[0] not in self.commands:
            typer.echo(f"paraloom: '{args[0]}' is now '{MOVED[args[0]]}'", err=True)
            args = [*MOVED[args[0]].split(), *args[1:]]
        return super().resolve_command(ctx, args)
