"""Commands that measure paraphrasers: evaluate paraphraser and sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paraloom import api
from paraloom.cli.declaration import Command
from paraloom.cli.output import conclude, print_result
from paraloom.cli.values import named_models
from paraloom.core.errors import ConfigError


def paraphraser(
    model: str,
    pairs: str | Path,
    *,
    beside: Sequence[str] = (),
    sheet: str | Path | None = None,
    samples: int = 30,
    as_json: bool = False,
    **options: Any,
) -> None:
    """Measure free paraphrases: BLEU, chrF, iBLEU, meaning, copies and repetitions, beside doing nothing.

    Rows: the source, the reference, each paraphraser, and what a selection of their candidates keeps.

    Args:
        model: english, a folder of `train paraphraser`, round-trip:en-de,de-en, the address of an endpoint, or none.
        pairs: Held-out pairs: a sentence and a paraphrase of it.
        beside: A further paraphraser to compare, NAME=REFERENCE. Repeatable.
        sheet: Also write outputs, drawn by seed, to this .tsv file, to judge them by hand.
        samples: Sentences in the sheet.
    """
    if sheet is not None:
        api.check_sheet(sheet)
    systems: dict[str, api.AnyParaphraser] = {} if model == "none" else dict([_named(model)])
    for name, other in named_models(beside).items():
        if name in systems:
            raise ConfigError(f"--beside: '{name}' is the name of another row", remedy="Give it another name.")
        systems[name] = other
    result = api.measure_paraphrasers(systems, pairs, **options)
    print_result(result, as_json)
    if sheet is not None:
        api.write_paraphrase_sheet(sheet, {Path(pairs).stem: result.sheet()}, samples=samples, seed=options["seed"])
        conclude(sheet, "evaluate sheet {output}", rows=False)


def _named(model: str) -> tuple[str, str]:
    """Name and reference; a reference without a name has its own."""
    name, equals, reference = model.partition("=")
    if equals and not Path(model).exists() and not re.search(r"[:/?]", name):
        return name, reference
    return ("round trip" if model.startswith("round-trip:") else Path(model).resolve().name), model


DECLARED = [
    Command(
        name="evaluate paraphraser",
        run=paraphraser,
        of="measure_paraphrasers paraloom.api.paraphrase_evaluation:ParaphraserEvaluation",
        leave_out="paraphrasers",
        everyday="beside references rows preset candidates encoder judge sheet seed as_json",
        flags={"lowercase": "--lowercase/--keep-case"},
        settings={
            "pairs": {"role": "input", "repeated": False, "help": "Held-out pairs: a sentence and a paraphrase of it."},
            "model": {"role": "input", "complete": "complete_paraphraser"},
            "samples": {"low": 1},
            "beside": {"metavar": "NAME=REFERENCE", "separated": False},
        },
        examples=("english held-out.tsv --beside 'round trip=round-trip:en-de,de-en'",),
        watched=True,
    ),
    Command(
        name="evaluate sheet",
        of="count_sheet",
        flags={"key": "--key"},
        settings={"path": {"metavar": "SHEET"}},
        help="Count a sheet of paraphrases that was judged by hand: shares by system, with 95 % intervals.",
        examples=("outputs.tsv",),
    ),
]
