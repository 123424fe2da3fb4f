"""The command that back-translates monolingual text: into one bitext, or in a whole experiment (BBH22)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import paraloom.experiments as papers
import paraloom.web as reports
from paraloom import api
from paraloom.cli import options
from paraloom.cli.output import as_written, conclude, print_run, print_usage
from paraloom.cli.translator_options import TranslatorOptions, translating


@translating
def augment(
    text: Annotated[
        str,
        typer.Argument(metavar="TEXT", help="Sentences (.txt, .tsv, .jsonl, a corpus), or an EXPERIMENT.toml."),
    ],
    translator: Annotated[
        list[str] | None,
        typer.Option(
            help="From TEXT's language: a bundled name, a folder, OWNER/NAME, an ensemble A+B, the address of an "
            "endpoint. Repeat it for `syntax`."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="The bitext; or the folder of an experiment's run [default: runs/NAME]."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help="base (one each), beam, sampling, nucleus, topk, temperature, mbr, diverse, syntax: how to translate."
        ),
    ] = "nucleus",
    outputs: Annotated[int, typer.Option(help="Translations of each sentence.")] = 3,
    tag: Annotated[str, typer.Option(help="A token before each back-translated source, such as `<BT>`.")] = "",
    src_lang: Annotated[str, typer.Option(help="Language of the translations.")] = "und",
    tgt_lang: Annotated[str, typer.Option(help="Language of TEXT.")] = "und",
    field: Annotated[
        str | None, typer.Option(help="Column of a .tsv (from 1, -1 for the last, or its name) or key of a .jsonl.")
    ] = None,
    min_words: Annotated[
        int,
        typer.Option(help="Minimum number of words of a sentence, split at spaces; 1 for scripts without spaces."),
    ] = 2,
    small: Annotated[
        bool, typer.Option("--small", help="Run the experiment on little text, with few steps and one seed.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print how long an experiment will take, and stop.")
    ] = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    on_error: options.OnError = options.OnErrorChoice.stop,
    language_check: options.CheckLanguages = True,
    translation: TranslatorOptions = TranslatorOptions(),  # noqa: B008
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Back-translate monolingual text into training bitext; or run an experiment that compares methods.

    The translations are the source, the original text is the target. An experiment trains a translator on each method's
    bitext with the parallel text, and evaluates all: BLEU, chrF, diversity, training perplexity, translationese.

    Example: `paraloom augment news.en.txt --translator en-tr --method nucleus -o bitext.tsv`
    """
    experiment = text.endswith(".toml")
    _refuse(
        {"--translator": translator, "--tag": tag, "--method": method != "nucleus", "--outputs": outputs != 3}
        | {"--seed": seed != 1, "--src-lang": src_lang != "und", "--tgt-lang": tgt_lang != "und"}
        | {"--field": field, "--min-words": min_words != 2, "--no-language-check": not language_check}
        if experiment
        else {"--small": small, "--dry-run": dry_run},
        "a text; an experiment sets it in its file" if experiment else "an EXPERIMENT.toml",
    )
    if experiment:
        translation.named(None, "")  # an experiment names its translators itself
        _experiment(Path(text), output, small, dry_run, engine, workers, as_json)
        return
    if not translator:
        raise typer.BadParameter("name the translator from the text's language", param_hint="--translator")
    if output is None:
        raise typer.BadParameter("name the bitext to write", param_hint="--output")
    named = [translation.named(name, output) for name in translator]
    result = api.augment(
        text,
        named,
        output,
        method=method,
        outputs=outputs,
        tag=tag,
        field=int(field) if field and field.lstrip("-").isdecimal() else field,
        min_words=min_words,
        src_lang=src_lang,
        tgt_lang=tgt_lang,
        engine=engine,
        workers=translation.workers(workers),
        on_error=on_error.value,
        check_languages=language_check,
        seed=seed,
    )
    for one in named:
        print_usage(one)
    print_run(result, output, "train translator --bitext {output} -o translator", as_json)


def _refuse(given: Mapping[str, object], kind: str) -> None:
    for name, value in given.items():
        if value:
            raise typer.BadParameter(f"{name} is for {kind}")


def _experiment(
    path: Path, output: str | None, small: bool, dry_run: bool, engine: str, workers: int | None, as_json: bool
) -> None:
    name, seed, experiment = papers.read_experiment(path, small=small)
    papers.experiment_pipeline(path, name, seed, experiment)  # reports what is wrong before anything runs
    typer.echo(papers.cost_statement(experiment), err=True)
    if dry_run:
        return
    folder = Path(output) if output else Path("runs") / name
    report = partial(typer.echo, err=as_json)
    result = papers.run_experiment(path, folder, small=small, engine=engine, workers=workers, report=report)
    page = reports.write_report(folder, folder / "report.html")
    if as_json:
        typer.echo(as_written(folder, report=page, methods=[row.to_dict() for row in result.methods]))
        return
    typer.echo(f"Report: {page}")
    conclude(folder, "explore {output}", rows=False)


COMMANDS: options.Commands = {"augment": augment}
