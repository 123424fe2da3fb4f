"""STS results in the file format of MTEB, for the tasks that both evaluate alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paraloom.core.version import __version__
from paraloom.evaluate.sts import STSResult
from paraloom.io.atomic import write_text


def mteb_results(result: STSResult) -> dict[str, dict[str, Any]]:
    """The content of MTEB's `TASK.json` files."""
    contents = {}
    for row in result.mteb:
        pearson, spearman = row.pearson / 100, row.spearman / 100
        scores = {
            "pearson": pearson,
            "spearman": spearman,
            "cosine_pearson": pearson,
            "cosine_spearman": spearman,
            "main_score": spearman,
            "hf_subset": "default",
            "languages": ["eng-Latn"],
        }
        contents[row.task] = {
            "dataset_revision": "none",
            "task_name": row.task,
            "mteb_version": f"paraloom {__version__}",
            "scores": {"test": [scores]},
            "evaluation_time": None,
            "kg_co2_emissions": None,
        }
    return contents


def write_mteb(result: STSResult, folder: str | Path) -> list[Path]:
    """Write a result as `STS12.json` and so on."""
    paths = []
    for task, content in mteb_results(result).items():
        path = Path(folder) / f"{task}.json"
        write_text(path, json.dumps(content, indent=2) + "\n")
        paths.append(path)
    return paths
