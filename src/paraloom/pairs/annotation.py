"""Manual evaluation of pairs (PNMT Table 3): sheets of pairs from each range of a score, and the table of ratings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.seeds import generator
from paraloom.core.stats import cohen_kappa
from paraloom.io.sheets import Numbered, check_key, key_path, read_numbered, write_sheet
from paraloom.pairs.filtering.cuts import sort_keys
from paraloom.text.normalize import collapse_spaces

RANGES = ((-0.1, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""PNMT's ranges of the paraphrase score, without the lower bound, with the upper one."""

LABELS = {"strength": (3, 2, 1), "fluency": (3, 2, 1)}
"""The labels of a rater (PNMT §3.1). Strength: 3 same meaning, 2 roughly the same, with something important missing or
different, 1 not the same. Fluency of the translation: 3 no grammatical errors, 2 one or two, 1 more, or no sentence."""

Labels: TypeAlias = dict[str, dict[str, int]]
"""Number of a pair → kind of label → what one annotator says."""

SHEET_COLUMNS = ("number", "reference", "translation", *LABELS)
"""Columns of a sheet."""

KEY_COLUMNS = ("number", "range", "score", "trigram_overlap", "in_range")
"""Columns of the key of a sheet."""


@dataclass(frozen=True)
class RangeSample:
    """A random sample of the pairs in one range of a score."""

    low: float
    high: float
    rows: list[dict[str, Any]]
    in_range: int


def sample_ranges(
    batches: Iterable[pa.RecordBatch],
    *,
    by: str = "paraphrase_score",
    ranges: Sequence[tuple[float, float]] = RANGES,
    count: int = 100,
    seed: int = 1,
) -> list[RangeSample]:
    """Sample pairs from each range of a score. The sample does not depend on how the corpus is sharded."""
    samples: list[list[tuple[int, dict[str, Any]]]] = [[] for _ in ranges]
    totals = [0] * len(ranges)
    for batch in batches:
        score, tiebreak = sort_keys(batch, by, seed)
        names = [name for name in ("src", "tgt", by, "trigram_overlap") if name in batch.schema.names]
        for index, (low, high) in enumerate(ranges):
            inside = np.flatnonzero((score > low) & (score <= high))
            totals[index] += len(inside)
            inside = inside[np.argsort(tiebreak[inside], kind="stable")][:count]
            rows = pa.Table.from_batches([batch.select(names)]).take(pa.array(inside)).to_pylist()
            samples[index] += zip(tiebreak[inside].tolist(), rows, strict=True)
            samples[index] = sorted(samples[index], key=lambda item: item[0])[:count]
    return [
        RangeSample(low, high, [{**row, "score": row[by]} for _, row in sample], total)
        for (low, high), sample, total in zip(ranges, samples, totals, strict=True)
    ]


def write_rating_sheet(samples: Sequence[RangeSample], sheet: Path, *, seed: int = 1) -> Path:
    """Write a sheet of pairs in random order, without scores, for raters to label, and a key that they do not see."""
    rows = [(sample, row) for sample in samples for row in sample.rows]
    order = generator(seed).permutation(len(rows))
    facts: list[Sequence[object]] = []
    texts: list[Sequence[object]] = []
    for number, index in enumerate(order, start=1):
        sample, row = rows[index]
        figures = [_rounded(row.get(name)) for name in ("score", "trigram_overlap")]
        facts.append([number, f"({sample.low:g}, {sample.high:g}]", *figures, sample.in_range])
        texts.append([number, *(collapse_spaces(row[side]) for side in ("src", "tgt")), "", ""])
    write_sheet(sheet, SHEET_COLUMNS, texts, key=(KEY_COLUMNS, facts))
    return key_path(sheet)


def _rounded(figure: float | None) -> Decimal | None:
    """Six digits; a number, which a sheet does not quote as it does texts with a sign."""
    return None if figure is None else Decimal(f"{figure:.6g}")


def summarize_ratings(sheets: Sequence[Path], key: Path) -> dict[str, Any]:
    """Count the labels in each range of a score, and how far two annotators agree, as in PNMT Table 3.

    Args:
        sheets: Labeled sheets, one per annotator.
        key: The key that was written with the sheet.
    """
    facts = _read(key, KEY_COLUMNS)
    labels = [_read_labels(sheet, facts) for sheet in sheets]
    rows = []
    spans = dict.fromkeys(row["range"] for row in facts.values())
    for span in sorted(spans, key=lambda span: _key_number(span.strip("(]").split(",")[0], float, key)):
        numbers = [number for number, row in facts.items() if row["range"] == span]
        overlaps = [_key_number(text, float, key) for number in numbers if (text := facts[number]["trigram_overlap"])]
        row = {
            "range": span,
            "in_corpus": _key_number(facts[numbers[0]]["in_range"], int, key),
            "judged": len(numbers),
            "trigram_overlap": round(float(np.mean(overlaps)), 4) if overlaps else None,
        }
        rows.append(row | _label_counts(labels, numbers))
    agreement = {kind: _agreement(labels, kind, facts) for kind in LABELS} if len(labels) == 2 else {}
    return {"raters": len(labels), "rows": rows, "agreement": agreement}


def _label_counts(labels: Sequence[Labels], numbers: Sequence[str]) -> dict[str, dict[str, int]]:
    """Kind of label → value → how often the annotators gave it to these pairs."""
    return {
        kind: {str(value): sum(rater[n][kind] == value for rater in labels for n in numbers) for value in values}
        for kind, values in LABELS.items()
    }


def _agreement(labels: Sequence[Labels], kind: str, numbers: Collection[str]) -> float | None:
    first, second = ([rater[number][kind] for number in numbers] for rater in labels)
    kappa = cohen_kappa(first, second)
    return None if kappa is None else round(kappa, 4)


def _read_labels(sheet: Path, facts: Numbered) -> Labels:
    labels: Labels = {}
    rows = _read(sheet, SHEET_COLUMNS)
    for line, (number, row) in enumerate(rows.items(), start=2):
        labels[number] = {}
        for kind, values in LABELS.items():
            if row[kind].strip() not in map(str, values):
                raise DataError(
                    f"line {line}: {kind} is '{row[kind]}', expected one of {', '.join(map(str, sorted(values)))}",
                    file=sheet,
                    remedy="Label all pairs of the sheet.",
                )
            labels[number][kind] = int(row[kind])
    check_key(sheet, rows, facts)
    return labels


def _read(path: Path, columns: Sequence[str]) -> Numbered:
    remedy = "Give a file that `paraloom research judge sample` wrote."
    return read_numbered(path, columns, kind="sheet of pairs", remedy=remedy)


Number = TypeVar("Number", int, float)


def _key_number(text: str, kind: type[Number], key: Path) -> Number:
    try:
        return kind(text)
    except ValueError:
        raise DataError(
            f"expected a number, got '{text}'",
            file=key,
            remedy="Give the key as `paraloom research judge sample` wrote it.",
        ) from None
