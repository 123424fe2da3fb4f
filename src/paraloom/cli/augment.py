"""The verb that makes training data out of monolingual text: one bitext, or BBH22's whole experiment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from paraloom.cli import options


def augment(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Sentences (.txt, .tsv, .jsonl, a corpus), or an EXPERIMENT.toml."),
    ],
    translator: Annotated[
        list[Path] | None,
        typer.Option(help="A translator folder, from TEXT's language. Several, as `syntax` takes them: repeat."),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The bitext; or the folder of an experiment's run [default: runs/NAME]."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="base (one each), beam, sampling, nucleus, topk, temperature, syntax: how translations are chosen."
        ),
    ] = "nucleus",
    outputs: Annotated[int, typer.Option(help="Translations of each sentence.")] = 3,
    tag: Annotated[str, typer.Option(help="A token before each back-translated source, such as `<BT>`.")] = "",
    src_lang: Annotated[str, typer.Option(help="Language of the translations.")] = "und",
    tgt_lang: Annotated[str, typer.Option(help="Language of TEXT.")] = "und",
    field: Annotated[
        str | None, typer.Option(help="Of .tsv: the field, from 1, -1 the last, or its name; of .jsonl: the key.")
    ] = None,
    fewest: Annotated[
        int,
        typer.Option(help="Fewest words of a sentence that is kept, cut at blanks; 1 where none are written."),
    ] = 2,
    small: Annotated[bool, typer.Option("--small", help="Of an experiment: little text, few steps, one seed.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say how long an experiment will take, and end.")] = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    seed: options.Seed = 1,
) -> None:
    """Back-translate monolingual text into bitext to train on; or compare ways to do so, and what they train (BBH22).

    The translations become the source, what people wrote the target. An experiment trains a translator on each method's
    bitext beside the parallel text, and measures all: BLEU, chrF, diversity, training perplexity, translationese.

    Example: `paraloom augment news.en.txt --translator en-tr --method nucleus -o made.tsv`
    """
    experiment = text.endswith(".toml")
    _refuse(
        {"--translator": translator, "--tag": tag, "--method": method != "nucleus", "--outputs": outputs != 3}
        | {"--seed": seed != 1, "--src-lang": src_lang != "und", "--tgt-lang": tgt_lang != "und"}
        | {"--field": field, "--fewest": fewest != 2}
        if experiment
        else {"--small": small, "--dry-run": dry_run},
        "a text; the file of an experiment says that itself" if experiment else "an EXPERIMENT.toml",
    )
    if experiment:
        _experiment(Path(text), output, small, dry_run, engine, workers)
        return
    if not translator:
        raise typer.BadParameter("name the translator from the text's language", param_hint="--translator")
    if output is None:
        raise typer.BadParameter("name the bitext to make", param_hint="--output")
    from paraloom.cli.summary import summary
    from paraloom.workflows.augment import augment_text

    result = augment_text(
        text,
        [path.absolute() for path in translator],
        output,
        method=method,
        outputs=outputs,
        tag=tag,
        field=int(field) if field and field.lstrip("-").isdecimal() else field,
        fewest=fewest,
        languages=(src_lang, tgt_lang),
        engine=engine,
        workers=workers,
        seed=seed,
    )
    typer.echo(summary(result), err=True)


def _refuse(given: Mapping[str, object], kind: str) -> None:
    for name, value in given.items():
        if value:
            raise typer.BadParameter(f"{name} is for {kind}")


def _experiment(path: Path, output: str | None, small: bool, dry_run: bool, engine: str, workers: int | None) -> None:
    from paraloom.experiments.augmentation import augment as run_experiment
    from paraloom.experiments.augmentation import pipeline_of
    from paraloom.experiments.augmentation_config import read_experiment
    from paraloom.experiments.augmentation_cost import statement

    name, seed, experiment = read_experiment(path, small=small)
    pipeline_of(path, name, seed, experiment)  # what is wrong with it is said at once
    typer.echo(statement(experiment), err=True)
    if dry_run:
        return
    from paraloom.report import write_report

    folder = Path(output) if output else Path("runs") / name
    run_experiment(path, folder, small=small, engine=engine, workers=workers, tell=typer.echo)
    typer.echo(f"Report: {write_report(folder, folder / 'report.html')}")


VERBS = {"augment": augment}
