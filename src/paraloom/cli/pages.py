"""Commands that write HTML pages: report, show documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

import paraloom.web as reports
from paraloom.cli.declaration import Command
from paraloom.cli.output import as_written


def _report(sources: list[str | Path], *, output: str | Path = "report.html", as_json: bool = False) -> None:
    """Write one self-contained HTML page about a run, or about files that commands wrote.

    Args:
        sources: The folder of a run; or files of pairs, one or more.
        output: The page to write.
    """
    if len(sources) == 1 and Path(sources[0]).is_dir() and not (Path(sources[0]) / "corpus.json").is_file():
        page = reports.write_report(sources[0], output)
    else:
        page = reports.write_files_report(sources, output)
    typer.echo(as_written(page) if as_json else str(page))


def _show_page(page: reports.DocumentsReport, values: Mapping[str, Any]) -> None:
    output = Path(values["output"])
    if values["as_json"]:
        typer.echo(as_written(output, shown=len(page.shown), pairs=len(page.pairs)))
        return
    typer.echo(f"{len(page.shown):,} of {len(page.pairs):,} pairs in {output}", err=True)
    if values["everything"]:
        typer.echo(f"all {len(page.pairs):,} pairs in {output.with_name(output.stem + '-pairs')}", err=True)


DECLARED = [
    Command(
        name="report",
        run=_report,
        settings={"sources": {"metavar": "RUN|FILE..."}},
        examples=("runs/german -o german.html", "scored.parquet kept.parquet -o pairs.html"),
        resumes=True,
    ),
    Command(
        name="show documents",
        of="paraloom.web:write_aligned_documents",
        leave_out="show",
        flags={"pairs": "--pairs", "everything": "--all"},
        settings={
            "source": {"metavar": "SRC"},
            "target": {"metavar": "TGT"},
            "pairs": {"repeated": False, "role": "input", "metavar": None},
        },
        show=_show_page,
        help="Write one self-contained HTML page that lists aligned documents and shows them side by side, with their "
        "pictures.",
        examples=("pages.de pages.en --pairs pairs.tsv --links links.parquet --media pictures",),
        resumes=True,
    ),
]
