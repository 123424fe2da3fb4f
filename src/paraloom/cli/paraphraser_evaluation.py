"""Commands that measure paraphrasers: evaluate paraphraser, control, exemplars and sheet; exemplars makes a set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from paraloom import api
from paraloom.cli import completion, options, paraphraser_options
from paraloom.cli.output import as_written, conclude, print_result
from paraloom.core.errors import ConfigError

OwnParser = Annotated[str | None, typer.Option(help="Another parser than the one in the model's folder.")]
Beside = Annotated[
    list[str] | None, typer.Option(metavar="NAME=FOLDER", help="A further paraphraser to compare. Repeatable.")
]
Folder = Annotated[Path, typer.Argument(help="english, or a folder of `train paraphraser`.")]
ParsedPairs = Annotated[
    str, typer.Argument(metavar="PAIRS", help="Held-out pairs from `parse`: a corpus folder or a Parquet file.")
]
ROUND_TRIP = "round trip"
"""Row of the table of two translators."""
Pool = Annotated[
    str | None, typer.Option(help="Other pairs from `parse`, whose sentences are the exemplars. Default: PAIRS.")
]


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
    others = _others(beside)
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


def control(
    paraphraser: Folder,
    pairs: ParsedPairs,
    beside: Beside = None,
    parser: OwnParser = None,
    encoder: Annotated[
        str,
        typer.Option(help="Encoder of the similarity to sources, or none.", autocompletion=completion.complete_encoder),
    ] = "english",
    rows: Annotated[int, typer.Option(help="Pairs that are drawn at most.")] = 1000,
    only_different: Annotated[
        bool,
        typer.Option("--only-different", help="Pairs whose sides have different templates: of others a copy has it."),
    ] = False,
    heights: Annotated[str, typer.Option(help="Levels of the templates, separated by commas.")] = "2,3",
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Ask for the templates of references, and count how many paraphrases have them, by their own parse.

    Rows: the source, the reference, the model without a template, with the template of another pair, with the template,
    and the nearest of five candidates.

    Example: `paraloom evaluate control english held-out.parquet`
    """
    result = api.measure_control(
        paraphraser,
        pairs,
        others=_others(beside),
        parser=parser,
        encoder=encoder,
        rows=rows,
        only_different=only_different,
        heights=_levels(heights, lowest=1),
        seed=seed,
    )
    print_result(result, as_json)


def exemplars(
    paraphraser: Folder,
    pairs: Annotated[
        str, typer.Argument(metavar="PAIRS", help="Held-out pairs from `parse`, or a set of `paraloom exemplars`.")
    ],
    beside: Beside = None,
    pool: Pool = None,
    parser: OwnParser = None,
    rows: Annotated[int, typer.Option(help="Sentences at most.")] = 1000,
    heights: Annotated[
        str, typer.Option(help="Levels of the trees that are compared, separated by commas; 0: whole trees.")
    ] = "2,4",
    height: Annotated[int, typer.Option(help="Levels of the exemplar's tree that are forced.")] = 4,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Paraphrase with the syntax of exemplars: tree edit distances to reference and exemplar, BLEU, chrF, ROUGE.

    Rows: source, exemplar and reference as they are, the model without an exemplar, with it, and the nearest of five.

    Example: `paraloom evaluate exemplars english held-out.parquet`
    """
    result = api.measure_exemplars(
        paraphraser,
        pairs,
        others=_others(beside),
        pool=pool,
        parser=parser,
        rows=rows,
        heights=_levels(heights, lowest=0),
        height=height,
        seed=seed,
    )
    print_result(result, as_json)


def make_exemplars(
    pairs: ParsedPairs,
    output: options.Output,
    pool: Pool = None,
    rows: Annotated[int, typer.Option(help="Sentences with an exemplar at most.")] = 1000,
    max_distance: Annotated[
        int, typer.Option(help="Maximum tree edit distance of exemplar and paraphrase at height 4.")
    ] = 4,
    max_overlap: Annotated[
        float, typer.Option(help="Maximum share of the exemplar's words that the pair has: function words; 0 to 1.")
    ] = 0.5,
    language: Annotated[str, typer.Option(help="Language of the pairs, for its function words.")] = "en",
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Find an exemplar for each pair: another sentence with nearly the syntax of the paraphrase, and other content.

    Example: `paraloom exemplars held-out.parquet -o exemplars.parquet`
    """
    count = api.write_exemplars(
        pairs,
        output,
        pool=pool,
        rows=rows,
        max_distance=max_distance,
        max_overlap=max_overlap,
        language=language,
        seed=seed,
    )
    if as_json:
        typer.echo(as_written(output, rows=count))
        return
    conclude(output, "evaluate exemplars PARAPHRASER {output}" if Path(output).suffix == ".parquet" else "")


def _levels(heights: str, lowest: int) -> list[int]:
    levels = options.names(heights)
    if not levels or not all(level.isdigit() and int(level) >= lowest for level in levels):
        raise ConfigError(
            f"--heights must be whole numbers from {lowest}, got '{heights}'", remedy="Write, for example, 2,3."
        )
    return [*map(int, levels)]


def _named(model: str) -> tuple[str, str]:
    """Name and folder; a folder without a name has its own."""
    name, equals, folder = model.partition("=")
    return (name, folder) if equals and not Path(model).exists() else (Path(model).resolve().name, model)


def _others(beside: list[str] | None) -> dict[str, str]:
    others: dict[str, str] = {}
    for given in beside or ():
        name, equals, folder = given.partition("=")
        if not (name and equals and folder):
            raise ConfigError(f"--beside '{given}': expected NAME=FOLDER", remedy="Write, for example, older=runs/1.")
        if name in others:
            raise ConfigError(f"--beside: '{name}' is given twice", remedy="Give each paraphraser another name.")
        others[name] = folder
    return others


COMMANDS: options.Commands = {"exemplars": make_exemplars}
EVALUATE: options.Commands = {"paraphraser": paraphraser, "control": control, "exemplars": exemplars, "sheet": sheet}
