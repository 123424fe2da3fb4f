"""The page "Faults", made from what the trials recorded as JSON."""

from __future__ import annotations

import datetime
import fcntl
import json
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from trials import ROOT, Outcomes, Scene

DATA = ROOT / "docs/explanations/faults.json"
PAGE = ROOT / "docs/explanations/faults.md"

_COUNTS = ("held", "failed")
_HEAD = """# Faults

What was attempted against Paraloom, and whether it held: the result was right and no row missing, or there was a plain
error that left nothing behind. *Before* is the version that reviewers from outside attacked, *after* the one named
below; both went through the same trials. This page is made from `faults.json`, which this command writes:

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
    lines = [_HEAD]
    for column, version in sorted(data["versions"].items(), reverse=True):
        lines.append(f"- {column}: commit {version['commit']}, {version['date']}, {version['machine']}")
    for group, rows in data["rows"].items():
        lines += ["", f"## {group.capitalize()}", "", f"    python benchmarks/faults --only {group}", ""]
        lines += _trials_table(rows)
    if "fuzz" in data:
        lines += ["", "## Fuzzers", "", "    make fuzz", "    python benchmarks/faults --fuzz build/fuzz.jsonl", ""]
        lines += _fuzz_table(data["fuzz"])
    for unit, title in (("MB", "One line of many megabytes"), ("rows", "Many short rows")):
        measured = [record for record in data.get("readers", []) if unit in record]
        if measured:
            lines += ["", f"## {title}", "", "    python benchmarks/readers.py --json build/readers.json", ""]
            lines += ["Seconds, and megabytes of memory beyond those of the imports:", ""]
            lines += _readers_table(measured, unit)
    return "\n".join(lines) + "\n"


def _trials_table(rows: dict[str, Any]) -> list[str]:
    lines = ["| | tried | held before | failed before | held after | failed after |"]
    lines += ["| --- | ---: | ---: | ---: | ---: | ---: |"]
    for name, row in rows.items():
        counts = [str(row[column][key]) if column in row else "" for column in ("before", "after") for key in _COUNTS]
        tried = max(result["tried"] for result in row.values())
        lines.append(f"| {name} | {tried} | {' | '.join(counts)} |")
    details = []
    for name, row in rows.items():
        lost = row.get("before", {}).get("rows lost", 0)
        parts = [f"{lost:,} rows were lost before" if lost else "", row.get("after", {}).get("details", "").rstrip(".")]
        if any(parts):
            details.append(f"- {name}: {'; '.join(filter(None, parts))}.")
    return lines + (["", *details] if details else [])


def _fuzz_table(records: list[dict[str, Any]]) -> list[str]:
    lines = ["| | tried | with a result | errors with a remedy |", "| --- | ---: | ---: | ---: |"]
    for record in records:
        name = record["fuzzer"].replace("_", " ")
        lines.append(f"| {name} | {record['tried']:,} | {record['results']:,} | {record['errors']:,} |")
    return lines


def _readers_table(measured: list[dict[str, Any]], unit: str) -> list[str]:
    sizes = sorted({record[unit] for record in measured})
    lines = [f"| | {' | '.join(f'{size:,} {unit}' for size in sizes)} |", f"| --- | {'---: | ' * len(sizes)}".rstrip()]
    for reader in dict.fromkeys(record["reader"] for record in measured):
        cells = {
            record[unit]: f"{record['seconds']:.2f} s, {record['memory']:,.0f} MB"
            for record in measured
            if record["reader"] == reader
        }
        lines.append(f"| {reader} | {' | '.join(cells.get(size, '') for size in sizes)} |")
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
