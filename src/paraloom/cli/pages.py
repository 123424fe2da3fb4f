"""Commands that make or open pages: report, show documents, explore, demo."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
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
    typer.echo(as_written(page) if as_json else str(page), err=str(page) == "-")


def _show_page(page: reports.DocumentsReport, values: Mapping[str, Any]) -> None:
    output = Path(values["output"])
    if values["as_json"]:
        typer.echo(as_written(output, shown=len(page.shown), pairs=len(page.pairs)))
        return
    typer.echo(f"{len(page.shown):,} of {len(page.pairs):,} pairs in {output}", err=True)
    if values["everything"]:
        typer.echo(f"all {len(page.pairs):,} pairs in {output.with_name(output.stem + '-pairs')}", err=True)


def _explore(*, port: int = 0, browser: bool = True, **options: Any) -> None:
    """Serve the page about pairs.

    Args:
        port: Port of the page; 0 for any free one.
        browser: Open the page in a browser.
    """
    _serve(reports.opened(reports.Library(**options), port), browser)


def _demo(*, port: int = 0, browser: bool = True, **models: Any) -> None:
    """Serve the page of the models.

    Args:
        port: Port of the page; 0 for any free one.
        browser: Open the page in a browser.
    """
    _serve(reports.demo_server(reports.Demo(**models), port), browser)


def _serve(serving: AbstractContextManager[reports.ExploreServer], browser: bool) -> None:
    """Open the page in a browser where there is one, and answer until Ctrl-C."""
    with serving as server, tempfile.TemporaryDirectory() as private:
        typer.echo(f"{server.url}\nStop with Ctrl-C.")
        if browser:
            reports.open_browser(server, Path(private))
        with suppress(KeyboardInterrupt):
            server.serve_forever()


DECLARED = [
    Command(
        name="report",
        run=_report,
        help="Write one HTML page about a run, or about files.",
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
            "pairs": {"repeated": False, "metavar": None},
        },
        show=_show_page,
        help="Write one self-contained HTML page that lists aligned documents and shows them side by side, with their "
        "pictures.",
        examples=("pages.de pages.en --pairs pairs.tsv --links links.parquet --media pictures",),
        resumes=True,
    ),
    Command(
        name="demo",
        run=_demo,
        of="paraloom.web.demo:Demo",
        help="Try the models on a local page.\n\n"
        "Paraphrase, back-translate, find similar sentences. Stop it with Ctrl-C.",
        examples=("",),
    ),
    Command(
        name="explore",
        run=_explore,
        of="paraloom.web.library:Library",
        help="Look at pairs on a local page: search, threshold, judge.\n\n"
        "Sort, filter, compare, too. Stop it with Ctrl-C.",
        settings={"path": {"metavar": "FILE_OR_RUN"}},
        examples=("scored.parquet", "runs/german", "strict.parquet loose.parquet"),
    ),
]
