"""Commands that measure paraphrasers: evaluate paraphraser and sheet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import completion, options, paraphraser_options
from paraloom.cli.output import conclude, print_result
from paraloom.core.errors import ConfigError

Beside = Annotated[
    list[str] | None, typer.Option(metavar="NAME=FOLDER", help="A further paraphraser to compare. Repeatable.")
]
ROUND_TRIP = "round trip"
"""Row of the table of two translators."""


def paraphraser(
    model: Annotated[str, typer.Argument(help="english, a folder of `train paraphraser`, or none.")],
    pairs: Annotated[str, typer.Argument(help="Held-out pairs: a sentence and a paraphrase of it.")],
    beside: Beside = None,
    forward: paraphraser_options.Forward = None,
    backward: paraphraser_options.Backward = None,
    references: Annotated[
        int, typer.Option(help="Columns of references, of a tab-separated file without a header.")
    ] = 1,
    rows: Annotated[int, typer.Option(help="Sentences that are drawn at most; 0 for all.")] = 500,
    selection: Annotated[
        bool, typer.Option("--selection/--no-selection", help="Also measure what a selection of candidates keeps.")
    ] = True,
    preset: Annotated[
        paraphraser_options.PresetChoice,
        typer.Option(help="What the selection keeps.", rich_help_panel=paraphraser_options.SELECTION),
    ] = paraphraser_options.PresetChoice.augmentation,
    candidates: paraphraser_options.Candidates = None,
    encoder: paraphraser_options.Encoder = "english",
    judge: Annotated[
        str,
        typer.Option(
            help="Encoder that measures meaning, another one than --encoder; auto: english-small beside english; none.",
            autocompletion=completion.complete_encoder,
        ),
    ] = "auto",
    lowercase: Annotated[
        bool, typer.Option("--lowercase/--keep-case", help="Whether BLEU and chrF compare lower-cased texts.")
    ] = True,
    sheet: Annotated[
        Path | None, typer.Option(help="Also write outputs, drawn by seed, to this .tsv file, to judge them by hand.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Sentences in the sheet.", min=1)] = 30,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Measure free paraphrases: BLEU, chrF, iBLEU, meaning, copies and repetitions, beside doing nothing.

    Rows: the source, the reference, each paraphraser and round trip, and what a selection of their candidates keeps.

    Example: `paraloom evaluate paraphraser english held-out.tsv --forward en-de --backward de-en`
    """
    pool = paraphraser_options.number_of_candidates(candidates, selection, "remove --no-selection")
    if sheet is not None:
        api.check_sheet(sheet)
    systems = {} if model == "none" else dict([_named(model)])
    others = others_beside(beside)
    for name in others:
        if name in systems or (name == ROUND_TRIP and forward is not None):
            raise ConfigError(f"--beside: '{name}' is the name of another row", remedy="Give it another name.")
    systems |= others
    if (forward is None) != (backward is None):
        raise ConfigError(
            f"{'--backward' if backward is None else '--forward'} is missing: a round trip needs both directions",
            remedy="Give both, such as --forward en-de --backward de-en.",
        )
    sources: dict[str, api.AnyParaphraser] = dict(systems)
    if forward is not None and backward is not None:
        sources[ROUND_TRIP] = (forward, backward)
    result = api.measure_paraphrasers(
        sources,
        pairs,
        references=references,
        encoder=encoder,
        judge=judge,
        preset=preset.value if selection else None,
        candidates=pool,
        lowercase=lowercase,
        rows=rows,
        seed=seed,
    )
    print_result(result, as_json)
    if sheet is not None:
        api.write_sheet(sheet, {Path(pairs).stem: result.sheet()}, samples=samples, seed=seed)
        conclude(sheet, "evaluate sheet {output}", rows=False)


def sheet(
    path: Annotated[Path, typer.Argument(metavar="SHEET", help="A sheet of `--sheet`, filled in with y and n.")],
    key: Annotated[Path | None, typer.Option(help="Its key. Default: SHEET.key.tsv, beside it.")] = None,
    as_json: options.Json = False,
) -> None:
    """Count a sheet of paraphrases that was judged by hand: shares by system, with 95 % intervals.

    Example: `paraloom evaluate sheet outputs.tsv`
    """
    print_result(api.count_sheet(path, key), as_json)


def _named(model: str) -> tuple[str, str]:
    """Name and folder; a folder without a name has its own."""
    name, equals, folder = model.partition("=")
    return (name, folder) if equals and not Path(model).exists() else (Path(model).resolve().name, model)


def others_beside(beside: list[str] | None) -> dict[str, str]:
    """The paraphrasers of --beside by their names."""
    others: dict[str, str] = {}
    for given in beside or ():
        name, equals, folder = given.partition("=")
        if not (name and equals and folder):
            raise ConfigError(f"--beside '{given}': expected NAME=FOLDER", remedy="Write, for example, older=runs/1.")
        if name in others:
            raise ConfigError(f"--beside: '{name}' is given twice", remedy="Give each paraphraser another name.")
        others[name] = folder
    return others


EVALUATE: options.Commands = {"paraphraser": paraphraser, "sheet": sheet}
