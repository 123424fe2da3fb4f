"""Commands about the papers' tables: papers list, run and page."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from paraloom import papers
from paraloom.cli import options
from paraloom.cli.output import as_written, conclude


def list_tables(as_json: options.Json = False) -> None:
    """List the papers' tables, with what each costs and needs.

    Example: `paraloom papers list`
    """
    entries = [asdict(entry) for entry in papers.catalog_entries()]
    typer.echo(json.dumps(entries, ensure_ascii=False) if as_json else papers.list_tables())


def page(
    folder: Annotated[Path, typer.Argument(help="A folder with page.toml and NAME.json of tables.")],
    as_json: options.Json = False,
) -> None:
    """Write the page of the tables in a folder beside it, FOLDER.md.

    Example: `paraloom papers page docs/papers`
    """
    written = papers.write_page(folder)
    typer.echo(json.dumps({"page": str(written)}) if as_json else written)


def run(
    tables: Annotated[
        list[str],
        typer.Argument(help="Names of tables, such as w17-5, pnmt-1 or park17-2; 'all': those that the inputs allow."),
    ],
    recipe: Annotated[
        Path | None,
        typer.Option(
            help="A recipe, such as examples/papers.toml: run its pipelines from raw data, then make the tables with "
            "its settings. Of the other options, --output, --workers, --page and --json apply."
        ),
    ] = None,
    page_folder: Annotated[
        Path | None,
        typer.Option(
            "--page",
            help="A folder with page.toml and NAME.json of tables: the tables that are made are copied there, and the "
            "page is written beside it, FOLDER.md.",
        ),
    ] = None,
    pairs: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=PAIRS: back-translated pairs of one source. Repeatable; filters are tuned on the first."
        ),
    ] = None,
    sts: Annotated[Path | None, typer.Option(help="A folder of similarity tasks.")] = None,
    loop: Annotated[
        Path | None, typer.Option(help="A run of `research selftrain`, for the tables of Park et al. (2017).")
    ] = None,
    phrases: Annotated[
        list[Path] | None,
        typer.Option(help="A run of examples/pgru.toml, for the tables of Zhou et al. (2017). Repeatable, by seed."),
    ] = None,
    classifiers: Annotated[
        list[Path] | None,
        typer.Option(help="A run of w17-8 of one source that was made before: FOLDER/w17-8/SOURCE. Repeatable."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the runs.")] = Path("runs/reproduce"),
    encoder: Annotated[str | None, typer.Option(help="For the paraphrase score; default: the bundled one.")] = None,
    parser: Annotated[
        str | None, typer.Option(help="For the entropy of parses: english, or a folder of `train parser`.")
    ] = None,
    word_frequencies: Annotated[
        Path | None,
        typer.Option(
            help="A word and its count on each line, of a large corpus such as Wikipedia's, for the IDF of W17 10 and "
            "PNMT 1. Default: the pairs' own references."
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Word vectors that all trainings start from, in the part of the papers' paragram-sl999: a text file, "
            ".npy, or a folder of `distill words`. Default: random vectors."
        ),
    ] = None,
    simple_wikipedia: Annotated[
        str | None,
        typer.Option(help="Pairs of standard and Simple English Wikipedia, for W17 4, 5, 6, 12, 13, PNMT 8."),
    ] = None,
    ppdb: Annotated[
        str | None, typer.Option(help="Pairs of the paraphrase database, words or phrases, for W17 4 and 13.")
    ] = None,
    size: Annotated[int, typer.Option(help="Pairs of each selection.")] = 24_000,
    recurrent_size: Annotated[
        int | None,
        typer.Option(
            help="The same for recurrent encoders (GRAN, LSTM, BLSTM), which take minutes; 0 leaves them out. "
            "Default: --size."
        ),
    ] = None,
    classifier_pairs: Annotated[
        int, typer.Option(help="References that the classifiers of w17-8 are trained on; 40,000 in the paper.")
    ] = 5_000,
    tuning_size: Annotated[
        int | None, typer.Option(help="The same for each candidate while filters are tuned. Default: --size.")
    ] = None,
    epochs: Annotated[
        int, typer.Option(help="Maximum number of passes; the papers' 20 (AVG), 5 (PNMT) and 3 (GRAN) are the most.")
    ] = 20,
    seeds: Annotated[int, typer.Option(help="Trainings of each system, each on another draw of the pairs.")] = 3,
    devices: Annotated[str, typer.Option(help="Where recurrent networks compute: cpu, cuda or cuda:0,cuda:1.")] = "cpu",
    workers: options.Workers = None,
    seed: options.Seed = 1,
    as_json: options.Json = False,
) -> None:
    """Make the papers' tables from your own pairs, next to the published figures; if stopped, run it again to resume.

    The papers: W17 is Wieting, Mallinson and Gimpel (2017), PNMT Wieting and Gimpel (2018).

    Example: `paraloom papers run w17-9 pnmt-1 --pairs news=scored.parquet --sts data/sts -o runs/reproduce`
    """
    sources = {}
    for text in pairs or []:
        name, sign, path = text.partition("=")
        sources[name if sign else Path(text).name.partition(".")[0]] = path if sign else text
    if recipe is not None:
        reproduced = papers.reproduce_recipe(tables, recipe, output, workers=workers)
    else:
        reproduced = papers.reproduce_tables(
            tables,
            pairs=sources,
            sts=sts,
            loop=loop,
            phrases=phrases or (),
            classifiers=classifiers or (),
            folder=output,
            encoder=encoder,
            parser=parser,
            word_frequencies=word_frequencies,
            vectors=vectors,
            simple_wikipedia=simple_wikipedia,
            ppdb=ppdb,
            size=size,
            recurrent_size=recurrent_size,
            classifier_pairs=classifier_pairs,
            tuning_size=tuning_size,
            epochs=epochs,
            seeds=seeds,
            devices=devices,
            workers=workers,
            seed=seed,
        )
    finished = []
    for table in reproduced:
        finished.append(table)
        typer.echo(table.format(), err=as_json)  # as it comes: a table takes minutes
    if page_folder is not None:
        for table in finished:
            shutil.copyfile(output / f"{table.name}.json", page_folder / f"{table.name}.json")
        typer.echo(papers.write_page(page_folder), err=True)
    summary = papers.summarize_verdicts(output)
    if as_json:
        typer.echo(as_written(output, summary=summary, tables=[table.to_dict() for table in finished]))
        return
    if summary:
        typer.echo(f"{output}: {summary}")
    rows = sum(len(table.rows) for table in finished)
    count = f"{len(finished)} table{'' if len(finished) == 1 else 's'}"
    typer.echo(f"\n{count} with {rows} row{'' if rows == 1 else 's'}, as .md and .json", err=True)
    if recipe is not None:
        conclude(output, rows=False)
        return
    then = f"tune {shlex.quote(next(iter(sources.values())))} --sts {shlex.quote(str(sts))}" if sources else ""
    conclude(output, then or (f"explore {shlex.quote(str(loop))}" if loop else ""), rows=False)


PAPERS: options.Commands = {"list": list_tables, "run": run, "page": page}
