"""The page "Faults", made from what the trials recorded as JSON."""

from __future__ import annotations

import datetime
import fcntl
import json
import platform
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from trials import ROOT, Outcomes, Scene

DATA = ROOT / "docs/explanations/faults.json"
PAGE = ROOT / "docs/explanations/faults.md"

_HEAD = """# Faults

What was attempted against Paraloom, and whether it held: the result was right and no row missing, or there was a plain
error that left nothing behind. **{holds}**; what nothing could tell is said below the table. *Before* is
the version that reviewers from outside attacked, *now* the one named below; empty cells were not tried. Kills are
SIGINT, SIGTERM, and SIGKILL to the first process, to a worker and to all, until each run ended. This page is made from
`faults.json`, which the last command writes:

    python benchmarks/faults --only GROUP
    python benchmarks/faults --record after
"""


def record(column: str, scene: Scene, group: str, name: str, outcomes: Outcomes, seconds: float) -> None:
    """Add the result of a kind of trials to the JSON.

    Args:
        column: 'before' or 'after'.
        scene: The version that was tried.
        group: Group of the trials.
        name: Their name, the key of a row.
        outcomes: What came of them.
        seconds: What they took.
    """
    with (Path(tempfile.gettempdir()) / "paraloom-faults.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Several groups may be tried at the same time.
        data = _read()
        _add(data, column, scene, group, name, outcomes, seconds)
        _write(data)


def _add(
    data: dict[str, Any], column: str, scene: Scene, group: str, name: str, outcomes: Outcomes, seconds: float
) -> None:
    data["versions"][column] = {
        "commit": _commit(scene.source),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{_processor()}, Python {platform.python_version()}",
    }
    failed = min(outcomes.tried, outcomes.tracebacks + outcomes.wrong + bool(outcomes.lost))
    data["rows"].setdefault(group, {}).setdefault(name, {})[column] = {
        "tried": outcomes.tried,
        "held": outcomes.tried - failed,
        "failed": failed,
        "tracebacks": outcomes.tracebacks,
        "rows lost": outcomes.lost,
        "seconds": round(seconds),
        "details": outcomes.details,
    }


def take_in(fuzz: Path | None, readers: Path | None) -> None:
    """Add what `make fuzz` and `benchmarks/readers.py --json` wrote to the JSON.

    Args:
        fuzz: Lines of JSON, one for each fuzzer.
        readers: A list of measurements.
    """
    data = _read()
    if fuzz is not None:
        records = [json.loads(line) for line in fuzz.read_text(encoding="utf-8").splitlines()]
        data["fuzz"] = sorted(records, key=lambda record: record["fuzzer"])
    if readers is not None:
        data["readers"] = json.loads(readers.read_text(encoding="utf-8"))
    _write(data)


def write_page() -> None:
    """Make the page from the JSON."""
    PAGE.write_text(page(_read()), encoding="utf-8")


def page(data: dict[str, Any]) -> str:
    """The page in Markdown.

    Args:
        data: What `record` and `take_in` wrote.
    """
    after = [row["after"] for rows in data["rows"].values() for row in rows.values() if "after" in row]
    failed = sum(result["failed"] for result in after)
    tried = sum(result["tried"] for result in after)
    lines = [_HEAD.format(holds=f"{failed:,} of {tried:,} trials fail" if failed else "All of it holds now")]
    for column, version in sorted(data["versions"].items(), reverse=True):
        name = {"after": "now"}.get(column, column)
        lines.append(f"- {name}: commit {version['commit']}, {version['date']}, {version['machine']}")
    lines += ["", *_trials_table(data["rows"])]
    if "fuzz" in data:
        lines += ["", "## Fuzzers", "", "    make fuzz", "    python benchmarks/faults --fuzz build/fuzz.jsonl", ""]
        lines += _fuzz_table(data["fuzz"])
    if data.get("readers"):
        lines += ["", "## Large files", "", "    python benchmarks/readers.py --json build/readers.json", ""]
        lines += ["Seconds, and megabytes of memory beyond those of the imports: one long line, many rows."]
        lines += ["", *_readers_table(data["readers"])]
    return "\n".join(lines) + "\n"


def _trials_table(groups: dict[str, dict[str, Any]]) -> list[str]:
    lines = ["| group | trial | tried | failed before | failed now |", "| --- | --- | ---: | ---: | ---: |"]
    details = []
    for group, rows in groups.items():
        for number, (name, row) in enumerate(rows.items()):
            failed = [str(row[column]["failed"]) if column in row else "" for column in ("before", "after")]
            tried = max(result["tried"] for result in row.values())
            lines.append(f"| {'' if number else group} | {name} | {tried} | {' | '.join(failed)} |")
            lost = row.get("before", {}).get("rows lost", 0)
            said = row.get("after", {}).get("details", "").rstrip(".").split("; ")
            parts = [f"{lost:,} rows were lost before" if lost else "", *said[2 if group == "kills" else 0 :]]
            if any(parts):
                details.append(f"- {name}: {'; '.join(filter(None, parts))}.")
    return [*lines, "", *details]


def _fuzz_table(records: list[dict[str, Any]]) -> list[str]:
    """A row for each fuzzer, over all that it is given: formats, methods."""
    totals: dict[str, Counter[str]] = {}
    for record in records:
        name, _, kind = record["fuzzer"].replace("_", " ").partition("[")
        counts = totals.setdefault(name, Counter())
        counts.update({"kinds": bool(kind), **{key: record[key] for key in ("tried", "results", "errors")}})
    lines = ["| | kinds | tried | with a result | errors with a remedy |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, counts in totals.items():
        shown = (f"{counts[key]:,}" for key in ("tried", "results", "errors"))
        lines.append(f"| {name} | {counts['kinds'] or ''} | {' | '.join(shown)} |")
    return lines


def _readers_table(measured: list[dict[str, Any]]) -> list[str]:
    """A row for each reader, with the largest of each unit."""
    largest = {unit: max(record.get(unit, 0) for record in measured) for unit in ("MB", "rows")}
    heads = [f"{size:,} {unit}" for unit, size in largest.items()]
    lines = [f"| | {' | '.join(heads)} |", "| --- | ---: | ---: |"]
    for reader in dict.fromkeys(record["reader"] for record in measured):
        cells = []
        for unit, size in largest.items():
            of = [one for one in measured if one["reader"] == reader and one.get(unit) == size]
            cells.append(f"{of[0]['seconds']:.2f} s, {of[0]['memory']:,.0f} MB" if of else "")
        lines.append(f"| {reader} | {' | '.join(cells)} |")
    return lines


def _read() -> dict[str, Any]:
    return json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"versions": {}, "rows": {}}


def _write(data: dict[str, Any]) -> None:
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def _commit(source: Path) -> str:
    command = ["git", "-C", str(source), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def _processor() -> str:
    models = [line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if "model name" in line]
    return models[0].partition(":")[2].strip() if models else platform.processor()
