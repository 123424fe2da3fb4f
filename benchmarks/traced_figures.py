"""Draws figures of the papers' tables by seed, and traces each to the run that made it.

    python benchmarks/traced_figures.py --seed 53 --runs runs/papers

Prints for each its table, row and column, the table's signature, and how it is traced: *run* where the run's folder has
a NAME.json with the same signature and the same figure, *results* where the table is of a page of results whose digest
is today's, else *not traced*.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

from paraloom.papers.provenance import input_digest

DOCS = Path(__file__).parents[1] / "docs/explanations"


def figures(table: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Row and column → our figure, with its brackets and seeds."""
    columns = table["ours"]["columns"]
    rows = ((row[0], row[1:]) for row in table["ours"]["rows"])
    return {
        (row, column): figure
        for row, of_row in rows
        for column, figure in zip(columns, of_row, strict=True)
        if figure is not None
    }


def traced(table: dict[str, Any], where: tuple[str, str], runs: Path) -> str:
    """How a figure is traced."""
    inputs = table.get("inputs", {})
    results = [name.removeprefix("results ") for name in inputs if name.startswith("results ")]
    if results:
        same = all(input_digest(DOCS / f"results/{name}.json") == inputs[f"results {name}"] for name in results)
        return f"results ({', '.join(results)})" if same else "not traced: the results have changed"
    path = runs / f"{table['name']}.json"
    if not path.is_file():
        return "not traced: no run of it here"
    there = json.loads(path.read_text(encoding="utf-8"))
    same = there["signature"] == table["signature"] and figures(there).get(where) == figures(table)[where]
    return "run" if same else "not traced: the run is another one"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=53, help="of the draw")
    parser.add_argument("--count", type=int, default=10, help="figures to draw")
    parser.add_argument("--runs", type=Path, default=Path("runs/papers"), help="folder of the recipe's runs")
    arguments = parser.parse_args()
    tables = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((DOCS / "papers").glob("*-*.json"))]
    listed = [(table, where) for table in tables for where in figures(table)]
    print(f"{arguments.count} of {len(listed):,} figures\n\n| table | row | column | figure | traced to | signature |")
    print("|---|---|---|---:|---|---|")
    for table, where in random.Random(arguments.seed).sample(listed, arguments.count):
        figure = figures(table)[where]
        value = figure[0] if isinstance(figure, list) else figure
        how = traced(table, where, arguments.runs)
        print(f"| {table['name']} | {where[0]} | {where[1]} | {value:.4g} | {how} | `{table['signature']}` |")


if __name__ == "__main__":
    main()
