"""Training curves: the values that a model's `curve.jsonl` recorded, one chart for each kind of quantity."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from paraloom.web.charts import Curve, curves
from paraloom.web.formatting import label, number
from paraloom.web.templates import draw

_PROGRESS = ("step", "update", "epoch")
_NOT_DRAWN = frozenset({*_PROGRESS, "seconds", "minutes", "time", "rate", "learning_rate", "lr", "tokens", "pairs"})
_MAX_POINTS = 300


def training(name: str, artifact: Path, best_step: object = None) -> Markup | None:
    """The training curves of one artifact, of which a distillation kept a step; None if none were recorded."""
    records = read_curve(artifact / "curve.jsonl")
    progress = next((key for key in _PROGRESS if any(key in record for record in records)), None)
    if progress is None:
        return None
    lines: dict[str, list[tuple[float, float]]] = {}
    for record in records:
        for key, value in record.items():
            if key not in _NOT_DRAWN and progress in record:
                lines.setdefault(key, []).append((record[progress], value))
    if not lines:
        return None
    kinds: dict[str, list[Curve]] = {}
    single: list[tuple[str, str]] = []
    for key, points in lines.items():
        if len(points) == 1:
            single.append((label(key), number(points[0][1])))
        else:
            kind = next((kind for kind in ("loss", "perplexity") if kind in key), key)
            kinds.setdefault(kind, []).append(Curve(label(key), thinned(sorted(points))))
    charts = [(label(kind), curves(f"{name}: {label(kind)}", of_kind, progress)) for kind, of_kind in kinds.items()]
    return draw("training", name, charts, [*single, *_untrained(lines, best_step)])


def _untrained(lines: Mapping[str, Sequence[tuple[float, float]]], best_step: object) -> Iterator[tuple[str, str]]:
    """Development figures before the first step, at their best or where one was kept, and at the end."""
    for key, points in lines.items():
        before = [value for at, value in points if at == 0]
        after = [value for at, value in points if at > 0]
        if key.startswith("dev") and before and after:
            best = min if "loss" in key else max
            kept = next((value for at, value in points if at == best_step), best(after))
            values = f"{number(before[0])} → {number(kept)}, at the end {number(points[-1][1])}"
            yield f"{label(key)}: untrained → {'best' if best_step is None else 'kept'}", values


def thinned(points: Sequence[tuple[float, float]], max_points: int = _MAX_POINTS) -> list[tuple[float, float]]:
    """A curve of about `max_points` points: means of neighboring points, and the last point unchanged."""
    if len(points) <= max_points:
        return list(points)
    size = -(-len(points) // max_points)
    groups = [points[start : start + size] for start in range(0, len(points), size)]
    means = [(sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group)) for group in groups]
    return [*means, points[-1]]


def read_curve(path: Path) -> list[Mapping[str, float]]:
    """The finite numbers of each line of a `curve.jsonl`; lines that an interruption cut off are skipped."""
    if not path.is_file():
        return []
    records: list[Mapping[str, float]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(dict(_numbers(record)))
    return records


def _numbers(record: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, float]]:
    """The finite numbers of a record; those of nested records under both keys."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{key} ")
        elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield f"{prefix}{key}", float(value)
