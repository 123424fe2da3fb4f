"""The page "Faults", made from what the trials recorded as JSON."""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
from pathlib import Path
from typing import Any

from trials import ROOT, Outcomes, Scene

DATA = ROOT / "docs/explanations/faults.json"
PAGE = ROOT / "docs/explanations/faults.md"

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
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {"versions": {}, "rows": {}}
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
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def write_page() -> None:
    """Make the page from the JSON."""
    PAGE.write_text(page(json.loads(DATA.read_text(encoding="utf-8"))), encoding="utf-8")


def page(data: dict[str, Any]) -> str:
    """The page in Markdown.

    Args:
        data: What `record` wrote.
    """
    lines = [_HEAD]
    for column, version in sorted(data["versions"].items(), reverse=True):
        lines.append(f"- {column}: commit {version['commit']}, {version['date']}, {version['machine']}")
    for group, rows in data["rows"].items():
        lines += ["", f"## {group.capitalize()}", "", f"    python benchmarks/faults --only {group}", ""]
        lines += ["| | tried | held before | failed before | held after | failed after |"]
        lines += ["| --- | ---: | ---: | ---: | ---: | ---: |"]
        for name, row in rows.items():
            cells = [
                str(row[column][key]) if column in row else ""
                for column in ("before", "after")
                for key in ("held", "failed")
            ]
            tried = max(result["tried"] for result in row.values())
            lines.append(f"| {name} | {tried} | {' | '.join(cells)} |")
        details = [
            f"- {name}: {row['after']['details']}" for name, row in rows.items() if row.get("after", {}).get("details")
        ]
        lines += ["", *details] if details else []
    return "\n".join(lines) + "\n"


def _commit(source: Path) -> str:
    command = ["git", "-C", str(source), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def _processor() -> str:
    models = [line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if "model name" in line]
    return models[0].partition(":")[2].strip() if models else platform.processor()
