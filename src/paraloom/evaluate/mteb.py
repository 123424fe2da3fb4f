"""Similarity figures in the shape in which MTEB keeps its results, for the tasks that both measure alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paraloom import __version__
from paraloom.evaluate.sts import SimilarityTable
from paraloom.io.atomic import atomic_write

TASKS = {"2012": "STS12", "2013": "STS13", "2014": "STS14", "2015": "STS15"}
"""Our group → MTEB's task: the same pairs, all of a year taken together."""


def mteb_results(table: SimilarityTable) -> dict[str, dict[str, Any]]:
    """The content of `NAME.json` of each of MTEB's tasks that the table has the figures of.

    MTEB's figures are correlations from −1 to 1 over all pairs of a task, Spearman's first; the rows `all` here.
    """
    found = {}
    for group, task in TASKS.items():
        rows = [row for row in table.table if (row.group, row.subset) == (group, "all")]
        if rows:
            pearson, spearman = rows[0].pearson / 100, rows[0].spearman / 100
            scores = {
                "pearson": pearson,
                "spearman": spearman,
                "cosine_pearson": pearson,
                "cosine_spearman": spearman,
                "main_score": spearman,
                "hf_subset": "default",
                "languages": ["eng-Latn"],
            }
            found[task] = {
                "dataset_revision": "none",
                "task_name": task,
                "mteb_version": f"paraloom {__version__}",
                "scores": {"test": [scores]},
                "evaluation_time": None,
                "kg_co2_emissions": None,
            }
    return found


def write_mteb(table: SimilarityTable, folder: str | Path) -> list[Path]:
    """Write `STS12.json` and so on into `folder`; returns their paths."""
    written = []
    for task, content in mteb_results(table).items():
        path = Path(folder) / f"{task}.json"
        with atomic_write(path) as temporary:
            temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        written.append(path)
    return written
