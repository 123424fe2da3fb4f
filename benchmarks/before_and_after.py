"""Write what an older checkout and this one have in common: outputs of the examples, additions.

    python benchmarks/example_digests.py --repo ../before --lines 100 -o before.json
    python benchmarks/example_digests.py --lines 100 -o after.json
    python benchmarks/before_and_after.py --before ../before --digests before.json after.json

writes the tables of docs/explanations/results/before-and-after.json and its page; `older_version.py` writes the one of
runs and models.  Nothing is run: additions are counted in the diffs of the how-to pages and, for the
older version, of benchmarks/additions.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from codebase import Checkout
from example_digests import differences
from older_version import PAGE, commit
from results_pages import FOLDER, read_topic, write_pages, write_topic

HERE = Path(__file__).resolve().parents[1]
DIFFS = Path(__file__).with_name("additions")
HOWTO = HERE / "docs/howto"

REMOVED_COLUMNS = "the columns of eight removed rules are missing; all others are the same"
REASONS = {
    ("quickstart", "30-scored"): REMOVED_COLUMNS,
    ("quickstart", "40-kept"): REMOVED_COLUMNS,
    ("bundled-encoder", "50-help"): "the column `reason` of rejected rows has another wording; all others are the same",
    ("quickstart", "50-rewritten"): "the stage left the example",
}
"""Example and stage → why its output is another."""

STOPPED = {
    "bundled-encoder": "of 17, after five minutes",
    "czech-captions": "of an experiment, after five minutes",
    "german": "too few pairs are left at this size",
}
"""Example → why it was not run to its end."""

ADDITIONS = {
    "an option (`train encoder --margin`)": ("option", "add-an-option", ""),
    "a scorer with a model (`score --word-list`)": ("scorer", "add-a-model-score", "word_list.py"),
    "a kind of translator (a dictionary)": ("translator", "add-a-translator", "dictionary.py"),
    "an encoder's network (`mgru`), with its tests": ("network", "add-an-encoder", ""),
}
"""What is added → the older version's diff, the page with this version's, and the module that is the same in both."""

TABLE = "pgru-figure-2"
"""A table of a paper whose lines are counted."""


def digest_rows(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[list[str]]:
    """Example, how many stages are the same, which are not, and why."""
    for name, old in before["examples"].items():
        new = after["examples"].get(name, {"stages": {}})
        changed = {}
        stopped = "error" in old and "error" in new
        stages = {stage: parts for stage, parts in old["stages"].items() if stage in new["stages"] or not stopped}
        for stage, parts in stages.items():
            parts_changed = differences(parts, new["stages"][stage]) if stage in new["stages"] else ["missing"]
            if parts_changed:
                changed[stage] = parts_changed
        same = len(stages) - len(changed)
        end = f"both stopped after stage {len(stages)}: {STOPPED[name]}" if stopped else ""
        reasons = [f"`{stage}`: {REASONS[name, stage]}" for stage in changed]
        yield [f"`{name}`", str(same), str(len(changed)), "; ".join([*reasons, *filter(None, [end])])]


def added(diff: str, module: str) -> tuple[int, int, int]:
    """Files of a diff, lines that it writes, and of these those of a module."""
    files = re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE)
    by_file: Counter[str] = Counter()
    current = ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            current = line.removeprefix("+++ b/")
        elif line.startswith("+"):
            by_file[current] += 1
    own = sum(count for name, count in by_file.items() if module and name.endswith(module))
    return len(files), sum(by_file.values()), own


def addition_rows(before: Checkout, after: Checkout) -> Iterator[list[str]]:
    """What is added, files and lines before and now."""
    for what, (name, page, module) in ADDITIONS.items():
        diffs = re.findall(r"^```diff\n(.*?)^```$", (HOWTO / f"{page}.md").read_text(encoding="utf-8"), re.M | re.S)
        diff = next(one for one in diffs if module in one)
        cells = []
        for text in ((DIFFS / f"{name}.diff").read_text(encoding="utf-8"), diff):
            files, lines, own = added(text, module)
            cells += [str(files), f"{lines - own} + {own}" if own else str(lines)]
        yield [f"[{what}](../../howto/{page}.md)", *cells]
    sizes = [table_size(side) for side in (before, after)]
    yield [
        f"[a table of a paper](../../howto/paper-tables.md#add-a-table) (`{TABLE}`)",
        *(str(number) for size in sizes for number in (3, size)),
    ]


def table_size(checkout: Checkout) -> int:
    """Lines of a table: its published figures, its function and entry among the tables, and the catalog's entry."""
    folder = next(path for path in (checkout.repo / "src/paraloom").glob("*/catalog.toml")).parent
    catalog = (folder / "catalog.toml").read_text(encoding="utf-8").split("[[table]]")
    total = next(one for one in catalog if f'table = "{TABLE}"' in one).strip().count("\n") + 2
    for path in folder.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        maker = re.search(rf'"{TABLE}": (\w+)', text)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and maker and node.name == maker.group(1):
                total += (node.end_lineno or 0) - node.lineno + 2
            if isinstance(node, ast.Dict):
                total += sum(
                    (value.end_lineno or 0) - key.lineno + 1
                    for key, value in zip(node.keys, node.values, strict=True)
                    if isinstance(key, ast.Constant) and key.value == TABLE and isinstance(value, ast.Call)
                )
    return total


def main() -> None:
    """Write the tables and the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, required=True, help="the older checkout")
    parser.add_argument("--digests", type=Path, nargs=2, required=True, metavar=("BEFORE", "AFTER"))
    options = parser.parse_args()
    before, after = (Checkout.read(repo.resolve()) for repo in (options.before, HERE))
    digests = [json.loads(path.read_text(encoding="utf-8")) for path in options.digests]
    shared: dict[str, Any] = {
        "command": ["python benchmarks/before_and_after.py --before BEFORE --digests before.json after.json"],
        "commit": commit(HERE),
        "date": date.today().isoformat(),
        "version": "0.2",
        "machine": "cores",
        "earlier": [f"{commit(before.repo)}"],
    }
    lines = digests[0]["lines"]
    results = [
        {
            "heading": "Outputs of the examples",
            **shared,
            "text": [
                f"Stages of each example, on {lines} lines of each data file and with trainings of some steps: "
                "rows, arrays of models and figures have the same digest, or the reason why not. "
                "`python benchmarks/example_digests.py` makes both files."
            ],
            "columns": ["example", "stages the same", "others", "reason"],
            "align": "lrrl",
            "rows": list(digest_rows(*digests)),
        },
        {
            "heading": "What an addition takes",
            **shared,
            "text": [
                "Files, and lines that the diff writes, without the index of commands, which is generated; after + the "
                "lines of the new module, which are the same in both. This version's diffs are on the linked pages, "
                "the older one's in `benchmarks/additions`."
            ],
            "columns": ["", "before, files", "lines", "now, files", "lines"],
            "align": "lrrrr",
            "rows": list(addition_rows(before, after)),
        },
    ]
    path = FOLDER / f"{PAGE}.json"
    topic = read_topic(path)
    written = {result.get("heading") for result in results}
    kept = [result for result in topic["results"] if result.get("heading") not in written]
    write_topic(path, {**topic, "results": [results[0], *kept, *results[1:]]})
    write_pages()


if __name__ == "__main__":
    main()
