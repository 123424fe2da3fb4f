"""Commands about the papers' tables: papers run, page and check."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from paraloom import api, papers
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written, conclude
from paraloom.core.errors import ConfigError

if TYPE_CHECKING:
    from paraloom.papers.tables import ReproducedTable


def _check(folder: str | Path, *, inputs: list[str] | None = None, as_json: bool = False) -> None:
    """Say which tables of a folder are stale: made by other code than today's, or of other inputs than those named.

    Args:
        folder: A folder with NAME.json of tables.
        inputs: An input as the tables name it, such as 'pairs tatoeba=FOLDER' or vectors=FILE, to compare. Repeatable.
    """
    states = papers.check_tables(folder, dict(map(_named, inputs or [])))
    as_rows = [state.to_dict() for state in states]
    typer.echo(json.dumps(as_rows, ensure_ascii=False) if as_json else papers.format_states(states))
    if any(state.state == "stale" for state in states):
        raise typer.Exit(1)


def _page(folder: str | Path, *, as_json: bool = False) -> None:
    """Write the page of verdicts beside a folder of tables, FOLDER.md, and a page for each paper and table into it.

    Args:
        folder: A folder with page.toml and NAME.json of tables.
    """
    written = papers.write_page(folder)
    typer.echo(json.dumps({"output": str(written)}, ensure_ascii=False) if as_json else written)


def _run(
    *,
    recipe: str | Path | None = None,
    page_folder: Path | None = None,
    pairs: list[str] | None = None,
    output: Path = Path("runs/reproduce"),
    as_json: bool = False,
    **options: object,
) -> None:
    """Make the papers' tables from your own pairs, next to the published figures; if stopped, run it again to resume.

    Without TABLES: list them, with what each costs and needs. W17 is Wieting, Mallinson and Gimpel (2017), PNMT
    Wieting and Gimpel (2018).

    Args:
        recipe: A recipe, such as examples/papers.toml: run its pipelines from raw data, then make the tables with its
            settings, instead of options other than --output, --workers, --page and --json.
        page_folder: A folder with page.toml and NAME.json of tables: the tables that are made are copied there, and the
            page is written beside it, FOLDER.md.
        pairs: Back-translated pairs of one source; filters are tuned on the first. Repeatable.
        output: Folder of the runs.
    """
    if not options.get("names"):
        _list([recipe, page_folder, pairs, *options.values()], as_json=as_json)
        return
    _check_files([path for path in map(options.get, ("simple_wikipedia", "ppdb")) if path])
    if recipe is not None:
        reproduced = papers.reproduce_recipe(options["names"], recipe, output, workers=options.get("workers"))
    else:
        given = {name: value for name, value in options.items() if value is not None}
        reproduced = papers.reproduce_tables(pairs=dict(map(_named, pairs or [])), folder=output, **given)
    finished = []
    for table in reproduced:
        finished.append(table)
        typer.echo(table.format(), err=as_json)  # as it comes: a table takes minutes
    if page_folder is not None:
        _add_to_page(page_folder, [output / f"{table.name}.json" for table in finished])
    _conclude(output, finished, options.get("loop") if recipe is None else None, as_json=as_json)


def _check_files(paths: list[object]) -> None:
    """Check that the files of settings exist, before any table is begun."""
    for path in paths:
        if not all(file.exists() for file in api.files_named(str(path))):
            raise ConfigError("file not found", file=str(path), remedy="Check the name and the folder.")


def _add_to_page(folder: Path, tables: list[Path]) -> None:
    """Copy tables beside those of a page, and write it."""
    for table in tables:
        shutil.copyfile(table, folder / table.name)
    typer.echo(papers.write_page(folder), err=True)


def _list(settings: list[object], *, as_json: bool) -> None:
    """List the tables; refused where settings are given, which are for making some."""
    if any(value not in (None, []) for value in settings):
        raise typer.BadParameter("name the tables to make, or `all`")
    entries = [asdict(entry) for entry in papers.catalog_entries()]
    typer.echo(json.dumps(entries, ensure_ascii=False) if as_json else papers.list_tables())


def _conclude(output: Path, finished: Sequence[ReproducedTable], loop: object, *, as_json: bool) -> None:
    """The verdicts of all tables of a folder, and how many were made."""
    summary = papers.summarize_verdicts(output)
    if as_json:
        typer.echo(as_written(output, summary=summary, tables=[table.to_dict() for table in finished]))
        return
    if summary:
        typer.echo(f"{output}: {summary}")
    count, rows = len(finished), sum(len(table.rows) for table in finished)
    typer.echo(f"\n{count} table{'s' * (count != 1)} with {rows} row{'s' * (rows != 1)}, as .md and .json", err=True)
    conclude(output, f"explore {shlex.quote(str(loop))}" if loop else "", rows=False)


def _named(text: str) -> tuple[str, str]:
    """Name and path of NAME=PAIRS; pairs without a name have that of their file."""
    name, sign, path = text.partition("=")
    return (name, path) if sign else (Path(text).name.partition(".")[0], text)


DECLARED = [
    Command(
        name="papers run",
        run=_run,
        of="paraloom.papers.runner:reproduce_tables",
        stage="paraloom.papers.study:Study",
        leave_out="folder sources encoder tuning_size",
        everyday="recipe page_folder pairs sts loop documents phrases size seeds",
        flags={"page_folder": "--page", "pairs": "--pairs", "devices": "--device"},
        settings={
            "names": {"metavar": "TABLES", "default": None},
            "pairs": {"role": "", "metavar": "NAME=PAIRS"},
            **{name: {"role": "input"} for name in ("parser", "simple_wikipedia", "ppdb")},
        },
        examples=("", "w17-9 pnmt-1 --pairs news=scored.parquet --sts data/sts -o runs/reproduce"),
        resumes=True,
        watched=True,
    ),
    Command(name="papers page", run=_page, examples=("docs/papers",)),
    Command(
        name="papers check",
        run=_check,
        flags={"inputs": "--input"},
        settings={"inputs": {"metavar": "NAME=PATH"}},
        examples=("docs/papers",),
    ),
]
