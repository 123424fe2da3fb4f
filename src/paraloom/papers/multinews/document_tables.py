"""The table of Afli, Lohar and Way (2017), MultiNews, out of a run of `examples/help-documents.toml`."""

from __future__ import annotations

from collections.abc import Callable

from paraloom.papers.result_files import FinishedRun
from paraloom.papers.tables import ReproducedTable, Row, reproduced

_LANGUAGES = {"cs": "Czech", "de": "German", "ko": "Korean"}
_METHODS = {
    "multinews": "MultiNews as published, S + W + N of all pages",
    "multinews-pictures": "MultiNews and pictures",
    "shared": "words that are the same in both languages",
    "scores": "MultiNews' scores, sizes scaled, of pages that share words",
    "no-pictures": "words and MultiNews' scores, no pictures",
    "all": "all evidence but topics, the default",
}
_COLUMNS = ("precision", "recall", "F1", "gold pairs")


def aligned_pages(run: FinishedRun, name: str) -> ReproducedTable:
    """MultiNews Table 2: pairs of pages, the paper's method first; the methods that the run has."""
    rows: list[Row] = []
    pages: list[int] = []
    for method, label in _METHODS.items():
        for language, spoken in _LANGUAGES.items():
            figures = run.figures(f"{language}-{method}")
            if figures:
                numbers = [float(figures[key]) for key in ("precision", "recall", "f1", "gold")]
                rows.append((f"{spoken}, {label}, ours", numbers))
                pages.append(figures["documents"][1])
    guess = f"precision {1 / max(pages):.4f} at most, one page of {max(pages):,}" if pages else "not measured"
    return reproduced(
        name,
        rows,
        notes=["The paper counts its pairs and does not say how many are right. Here the gold pairs are known."],
        columns=_COLUMNS,
        signature=run.signature,
        baselines={
            "untrained": "does not apply, nothing is trained",
            "random": guess,
            "identity": f"rows *{_METHODS['shared']}*",
        },
    )


TABLES: dict[str, Callable[[FinishedRun, str], ReproducedTable]] = {"multinews-2": aligned_pages}
"""Name of a table → the function that makes it from a run."""
