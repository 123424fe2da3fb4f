"""Commands and options of earlier versions: what they are called now."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import typer
from typer.core import TyperCommand, TyperGroup

from paraloom.cli.front_page import DEFAULT, INDEX

COMMANDS = {"distil": "distill", "agree": "pivot"}
"""Old name of a command → its name now."""

MOVED: dict[str, str] = {
    "reproduce": "papers run",
    **{
        name: f"research {name}"
        for name in (
            *("augment-labels", "canonicalize", "diversity", "exemplars", "export", "judge"),
            *(
                "lexicon",
                "parse",
                "publish",
                "selftrain",
                "show",
                "similarity",
                "stats",
                "syntax-groups",
                "templates",
                "tune",
            ),
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
    "augment-labels": {"--model": "--paraphraser"},
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

_RULES_ONLY = "this option is gone: canonicalize corrects English by rules and a list of words"
_KEY = "this option is gone; in a pipeline, it is the key '{}' of the stage '{}'"
_PYTHON = "this option is gone; in Python, it is '{}' of `paraloom.{}`"
_IN_PYTHON = "this option is gone; in Python, `paraloom.{}`"
_ROUND_TRIP = "a round trip is one name now: {}round-trip:THERE,BACK,pivots=3, such as round-trip:en-de,de-en"
REMOVED_OPTIONS: dict[str, dict[str, str]] = {
    "backtranslate": {
        "--shard-rows": "this option is gone: a worker takes 500 rows at a time; in a pipeline, it is the key "
        "shard_rows of `read-pairs`"
    },
    "score": {
        "--agreement-samples": "this option is gone: write --with agreement, which takes 16 samples; another number is "
        "agreement_samples, in Python and in pipelines",
        "--cross-encoder": "this option is now called --judge; the columns are judge, judge_forward and judge_backward",
        "--cross-encoder-file": "this option is gone: write --judge 'FOLDER?file=FILE'",
        "--cross-encoder-label": "this option is gone: write --judge 'FOLDER?label=LABEL'",
    },
    "filter": {
        "--paraphrase-model": "this option is gone: write --preset 'strict?model=MODEL'",
        "--encoder": "this option is gone: write --preset 'strict?model=MODEL&encoder=ENCODER'",
        "--best": "this option is gone: write --by 'COLUMN?best=lowest'",
    },
    "lexicon": {"--sample": "this option is gone: bitext is read in blocks, all of it"},
    "tune": {
        "--seeds": "this option is gone; in Python, seeds of `paraloom.api.Tuning`",
        "--development": "this option is gone; in Python, development of `paraloom.api.Tuning`",
    },
    "train paraphrase-model": {
        "--fallback": "this option is gone; in a pipeline, fallbacks of `train-paraphrase-model`",
        "--l2": "this option is gone; in a pipeline, l2 of `train-paraphrase-model`",
    },
    "train translator": {
        "--average-last": "this option is gone: a moving average of the weights is kept, the one with the "
        "lowest development loss"
    },
    "train language-model": {
        "--order": "this option is gone: 3 words or 6 characters; in a pipeline, order of `train-language-model`",
        "--smoothing": "this option is gone: kneser-ney for words if VariKN is installed, else witten-bell; in a "
        "pipeline, smoothing of `train-language-model`",
    },
    "align documents": dict.fromkeys(
        (
            *("--decode", "--assignment", "--threshold-on", "--max-candidates", "--rounds"),
            *("--how", "--by", "--candidates"),
        ),
        "this option is gone; in a pipeline, it is a key of the stages align-documents and translate-documents",
    ),
    "align sentences": {
        "--method": _IN_PYTHON.format("align_files(method=…)"),
        **dict.fromkeys(("--max-bead-size", "--most"), _IN_PYTHON.format("align_files(max_bead_size=…)")),
    },
    "extract": {"--list": "this option is gone: write @FILE among the sources"},
    "evaluate comet": {"--python": "this option is gone: models are read here, from their folder: --model FOLDER"},
    "evaluate compare": {"--resamples": _IN_PYTHON.format("api.compare_on_similarity(resamples=…)")},
    "evaluate lookalikes": {
        "--changed": _IN_PYTHON.format("api.evaluate_lookalikes(changed=…)"),
        "--sample": _IN_PYTHON.format("api.evaluate_lookalikes(sample=…)"),
    },
    "evaluate sts": {
        "--mteb": _IN_PYTHON.format("api.evaluate_similarity(mteb=…)"),
        "--resamples": _IN_PYTHON.format("api.evaluate_similarity(resamples=…)"),
    },
    "mine": dict.fromkeys(
        ("--bilingual", "--with"), "this option is gone: where two texts are named, translations are mined"
    ),
    "syntax-groups": {"--column": "this option is gone; in a pipeline, it is a key of the stage syntax-groups"},
    "evaluate-control": {"--encoder": _PYTHON.format("encoder", "papers.measure_control")},
    "evaluate-exemplars": {"--height": _PYTHON.format("height", "papers.measure_exemplars")},
    "exemplars": {
        "--max-distance": _PYTHON.format("max_distance", "papers.write_exemplars"),
        "--max-overlap": _PYTHON.format("max_overlap", "papers.write_exemplars"),
    },
    "papers run": {
        f"--{name}": f"this option is gone; a recipe of --recipe sets '{name.replace('-', '_')}' for its tables"
        for name in ("encoder", "tuning-size")
    },
    "train encoder": dict.fromkeys(
        ("--megabatch-warmup", "--rising"), _KEY.format("megabatch_warmup", "train-encoder")
    ),
    "show documents": {"--show": _PYTHON.format("show", "web.write_aligned_documents")},
    "train-classifier": dict.fromkeys(("--negatives", "--choice"), _KEY.format("negatives", "train-classifier")),
    "train-phrases": {
        **dict.fromkeys(("--num-negatives", "--contrasts"), _KEY.format("num_negatives", "train-phrases")),
        **dict.fromkeys(("--sample-fraction", "--share"), _KEY.format("sample_fraction", "train-phrases")),
        **dict.fromkeys(
            ("--reversed-negative", "--reversed-contrast"), _KEY.format("reversed_negative", "train-phrases")
        ),
        "--dropout": _KEY.format("dropout", "train-phrases"),
        "--task": _KEY.format("task", "train-phrases"),
    },
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
    )
    | dict.fromkeys(("--forward", "--backward"), "this option is gone: write --paraphraser round-trip:en-de,de-en")
    | dict.fromkeys(
        ("--endpoint-model", "--language", "--endpoint"),
        "this option is gone: write --paraphraser 'http://127.0.0.1:8000/v1?model=NAME&language=en'",
    )
    | {"--pivots": "this option is gone: write --paraphraser round-trip:en-de,de-en,pivots=3"},
    "paraphrase": {
        "--field": "this option is gone: write --column, a name, a number from 1 or a path",
        "--plan-rows": "this option is gone: --plan reads samples of 100 and 300 texts; in Python, "
        "`paraloom.api.plan_paraphrases(plan_rows=…)`",
        **dict.fromkeys(("--forward", "--backward", "--pivots"), _ROUND_TRIP.format("--paraphraser ")),
        **dict.fromkeys(
            ("--endpoint-model", "--language", "--endpoint"),
            "settings are part of the paraphraser's name now: --paraphraser 'http://HOST/v1?model=NAME&language=en'",
        ),
        **{
            f"--{name}": f"this option is gone; in a pipeline, it is the key '{name}' of the stage 'paraphrase'"
            for name in ("parser", "height", "decode")
        },
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


REMOVED_COMMANDS = {
    "average-checkpoints": "this command is gone: `train translator` keeps a moving average of the weights"
}
"""Name of a command that is gone → what to do instead."""


_ENDPOINT = {f"--{name}": name for name in ("concurrency", "max-requests", "max-tokens", "max-failures")}
_ENDPOINT |= {"--endpoint": ""}
SETTINGS: dict[str, dict[str, str]] = {
    "translator": {f"--{name}": name for name in ("from", "to", "model", "precision", "long")} | _ENDPOINT,
    "paraphraser": {"--endpoint-model": "model", "--language": "language"} | _ENDPOINT,
}
"""Role of a parameter → option that became a setting in its name → the setting; '' where the value names it."""

_BOTH_WAYS = ("--forward", "--backward", "--pivots")


def now_in_a_name(parameters: Sequence[Mapping[str, Any]], args: Sequence[str]) -> str | None:
    """What to write instead of options that became part of the name of a translator or paraphraser.

    Args:
        parameters: Those of the command, out of the index.
        args: What was typed.

    Returns:
        None if there is no such option among what was typed.
    """
    now = {flag for one in parameters for flag in one.get("flags", ())}
    for role, settings in SETTINGS.items():
        named = [one for one in parameters if one.get("role") == role]
        old = {*settings, *(_BOTH_WAYS if role == "paraphraser" else ())} - now
        first = next((arg.partition("=")[0] for arg in args if arg.partition("=")[0] in old), None)
        if not named or first is None:
            continue
        typed, arguments = _typed(parameters, args, old)
        if first in _BOTH_WAYS:
            there, back = _last(typed, "--forward") or "en-de", _last(typed, "--backward") or "de-en"
            pivots = _last(typed, "--pivots")
            trip = f"round-trip:{there},{back}{f',pivots={pivots}' if pivots else ''}"
            return f"{first}: a round trip is one name now: {_written(named[0], trip)}"
        query = {}
        for flag, value in typed:
            if flag in settings and flag in old:
                key, _, text = (settings[flag], "", value) if settings[flag] else value.partition("=")
                query[key] = text
        calls = [
            _written(one, _with_settings(name, _turned(query, one, named)))
            for one in named
            if (name := _value_of(one, parameters, typed, arguments)) is not None
        ]
        calls = calls or [_written(named[0], _with_settings("NAME", query))]
        return f"{first}: settings are part of the {role}'s name now: {' '.join(calls)}"
    return None


def _typed(
    parameters: Sequence[Mapping[str, Any]], args: Sequence[str], old: Collection[str]
) -> tuple[list[tuple[str, str]], list[str]]:
    """The options that were typed, with their values, and the arguments."""
    with_values = {flag for one in parameters if one.get("kind") != "flag" for flag in one.get("flags", ())} | {*old}
    options, arguments, rest = list[tuple[str, str]](), list[str](), list(args)
    while rest:
        arg = rest.pop(0)
        if not arg.startswith("-") or arg == "-":
            arguments.append(arg)
            continue
        flag, equals, value = arg.partition("=")
        if not equals and flag in with_values and rest:
            value = rest.pop(0)
        options.append((flag, value))
    return options, arguments


def _last(typed: Sequence[tuple[str, str]], *flags: str) -> str | None:
    return next((value for flag, value in reversed(typed) if flag in flags), None)


def _value_of(
    one: Mapping[str, Any],
    parameters: Sequence[Mapping[str, Any]],
    typed: Sequence[tuple[str, str]],
    arguments: Sequence[str],
) -> str | None:
    """What was typed for a parameter."""
    if one.get("flags"):
        return _last(typed, *one["flags"])
    place = [other["name"] for other in parameters if not other.get("flags")].index(one["name"])
    return arguments[place] if place < len(arguments) else None


def _turned(query: Mapping[str, str], one: Mapping[str, Any], named: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
    """The settings of a translator; the one of the other direction has its languages the other way around."""
    if len(named) == 1 or not one["name"].startswith("reverse"):
        return query
    other = {"from": "to", "to": "from"}
    return {key: query[other[key]] if other.get(key) in query else value for key, value in query.items()}


def _with_settings(name: str, query: Mapping[str, str]) -> str:
    settings = "&".join(f"{key}={quote(value, safe=_PLAIN)}" for key, value in query.items())
    return f"{name}{'&' if '?' in name else '?'}{settings}"


_PLAIN = '/:,;=!?{}[]()" '
"""Characters that need no encoding in a setting, in single quotes."""


def _written(one: Mapping[str, Any], name: str) -> str:
    flags = one.get("flags", ())
    return f"{flags[0]} '{name}'" if flags else f"'{name}'"


@cache
def _index() -> dict[str, dict[str, Any]]:
    collected: dict[str, dict[str, Any]] = json.loads(INDEX.read_text(encoding="utf-8"))
    return collected


class RenamedOptions(TyperCommand):
    """A command that names the new option when an old one is used."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check for old options before click parses, which would suggest something else or nothing."""
        command = " ".join(ctx.command_path.split()[1:]).removeprefix("research ")
        if command == "quickstart":
            args = [arg for arg in args if arg not in ("-o", "--output")]  # all other commands name their output so
        if (changed := renamed_value(command, args)) is not None:
            raise Renamed(changed, ctx)
        for arg in args:
            new = OPTIONS.get(command, {}).get(arg.partition("=")[0])
            gone = REMOVED_OPTIONS.get(command, {}).get(arg.partition("=")[0])
            if gone is not None:
                raise Renamed(f"{arg.partition('=')[0]}: {gone}", ctx)
            if new is not None:
                raise Renamed(f"{arg.partition('=')[0]}: this option is now called {new}", ctx)
        parameters = _index().get(" ".join(ctx.command_path.split()[1:]), {}).get("parameters", ())
        if (message := now_in_a_name(parameters, args)) is not None:
            raise Renamed(message, ctx)
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
        if args and args[0] in REMOVED_COMMANDS and args[0] not in self.commands:
            raise Renamed(f"{args[0]}: {REMOVED_COMMANDS[args[0]]}", ctx)
        path = " ".join([*ctx.command_path.split()[1:], *args[:1]])
        if path in PATHS and args[0] not in self.commands:
            raise Renamed(f"{path}: this command is now called '{PATHS[path]}'", ctx)
        if args and ctx.parent is None and args[0] in MOVED and args[0] not in self.commands:
            typer.echo(f"paraloom: '{args[0]}' is now '{MOVED[args[0]]}'", err=True)
            args = [*MOVED[args[0]].split(), *args[1:]]
        return super().resolve_command(ctx, args)
