"""Judging pairs by hand (PNMT Table 3): a sheet of pairs from each range of a score, and the table of its labels."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.seeds import generator
from paraloom.io.atomic import replacing
from paraloom.pairs.filtering.cuts import keys

RANGES = ((-0.1, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.0))
"""PNMT's ranges of the paraphrase score: above the first number, up to the second."""

LABELS = {"strength": (3, 2, 1), "fluency": (3, 2, 1)}
"""What a rater writes (PNMT §3.1): strength 3 the same meaning, 2 roughly, with something of importance missing or
other, 1 not the same; fluency of the translation 3 no error of grammar, 2 one or two, 1 more, or no sentence."""

_SHEET = ("number", "reference", "translation", *LABELS)
_KEY = ("number", "range", "score", "trigram_overlap", "in_range")


@dataclass(frozen=True)
class Draw:
    """Pairs drawn from one range of the score, and how many the corpus has there."""

    low: float
    high: float
    rows: list[dict[str, Any]]
    in_range: int


def draw(
    batches: Iterable[pa.RecordBatch],
    *,
    by: str = "paraphrase_score",
    ranges: Sequence[tuple[float, float]] = RANGES,
    count: int = 100,
    seed: int = 1,
) -> list[Draw]:
    """`count` pairs by chance from each range of the score; all of them where there are fewer.

    batches: scored pairs (src, tgt and the column `by`; trigram_overlap where it is there).  The same pairs are drawn
    however the corpus is sharded.  Memory: the pairs drawn, and a batch.
    """
    kept: list[list[tuple[int, dict[str, Any]]]] = [[] for _ in ranges]
    seen = [0] * len(ranges)
    for batch in batches:
        score, lots = keys(batch, by, seed)
        for place, (low, high) in enumerate(ranges):
            inside = np.flatnonzero((score > low) & (score <= high))
            seen[place] += len(inside)
            inside = inside[np.argsort(lots[inside], kind="stable")][:count]
            names = [name for name in ("src", "tgt", by, "trigram_overlap") if name in batch.schema.names]
            rows = pa.Table.from_batches([batch.select(names)]).take(pa.array(inside)).to_pylist()
            kept[place] += zip(lots[inside].tolist(), rows, strict=True)
            kept[place] = sorted(kept[place], key=lambda each: each[0])[:count]
    return [
        Draw(low, high, [{**row, "score": row[by]} for _, row in rows], total)
        for (low, high), rows, total in zip(ranges, kept, seen, strict=True)
    ]


def write_sheet(draws: Sequence[Draw], sheet: Path, *, seed: int = 1) -> Path:
    """Write the pairs in chance order for a rater to label, and beside them the key that says what each is.

    The sheet (tab-separated) shows neither score nor range, so that they cannot sway.  Returns the key's path,
    `SHEET.key.tsv`; give each rater a copy of the sheet, and keep the key.
    """
    rows = [(each, row) for each in draws for row in each.rows]
    order = generator(seed).permutation(len(rows))
    key = sheet.with_name(f"{sheet.name}.key.tsv")
    with replacing(key) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, delimiter="\t", lineterminator="\n")
        table.writerow(_KEY)
        for number, place in enumerate(order, start=1):
            each, row = rows[place]
            overlap = row.get("trigram_overlap")
            shown = "" if overlap is None else f"{overlap:.6g}"
            table.writerow([number, f"({each.low:g}, {each.high:g}]", f"{row['score']:.6g}", shown, each.in_range])
    with replacing(sheet) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, delimiter="\t", lineterminator="\n")
        table.writerow(_SHEET)
        for number, place in enumerate(order, start=1):
            table.writerow([number, *(_one_line(rows[place][1][side]) for side in ("src", "tgt")), "", ""])
    return key


def judged(sheets: Sequence[Path], key: Path) -> dict[str, Any]:
    """The table of PNMT Table 3, and how far two raters agree.

    sheets: one for each rater, labelled.  Returns `rows` (a range each: pairs in the corpus, pairs judged, mean
    trigram overlap, and for strength and fluency how often each label was given, over all raters) and `agreement`
    (Cohen's kappa, by scikit-learn, where there are two raters: -1 to 1, 0 is chance; None when both gave one and the
    same label to all pairs, which leaves it undefined).
    Raises DataError that names sheet, line and label when a label is missing or unknown.
    """
    facts = {row["number"]: row for row in _read(key, _KEY)}
    labels = [_labels(sheet, set(facts)) for sheet in sheets]
    rows = []
    for span in dict.fromkeys(sorted((row["range"] for row in facts.values()), key=_low)):
        numbers = [number for number, row in facts.items() if row["range"] == span]
        overlaps = [float(facts[number]["trigram_overlap"]) for number in numbers if facts[number]["trigram_overlap"]]
        rows.append(
            {
                "range": span,
                "in_corpus": int(facts[numbers[0]]["in_range"]),
                "judged": len(numbers),
                "trigram_overlap": round(float(np.mean(overlaps)), 4) if overlaps else None,
                **{
                    kind: {
                        str(value): sum(rater[n][kind] == value for rater in labels for n in numbers) for value in known
                    }
                    for kind, known in LABELS.items()
                },
            }
        )
    agreement = {}
    if len(labels) == 2:
        for kind in LABELS:
            first, second = ([rater[number][kind] for number in facts] for rater in labels)
            agreement[kind] = _kappa(first, second)
    return {"raters": len(labels), "rows": rows, "agreement": agreement}


def _labels(sheet: Path, numbers: set[str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for line, row in enumerate(_read(sheet, _SHEET), start=2):
        found[row["number"]] = {}
        for kind, known in LABELS.items():
            if row[kind].strip() not in map(str, known):
                raise DataError(
                    f"line {line}: {kind} is '{row[kind]}', not one of {', '.join(map(str, sorted(known)))}",
                    file=sheet,
                    remedy="Label every pair; no pair may be left out.",
                )
            found[row["number"]][kind] = int(row[kind])
    if set(found) != numbers:
        raise DataError(
            f"the sheet has {len(found)} pairs, and the key {len(numbers)}",
            file=sheet,
            remedy="Give the sheet's own key.",
        )
    return found


def _kappa(first: list[int], second: list[int]) -> float | None:
    if len({*first, *second}) == 1:
        return None
    try:
        from sklearn.metrics import cohen_kappa_score
    except ImportError:
        raise ConfigError("Cohen's kappa needs scikit-learn", remedy="pip install 'paraloom[judge]'") from None
    return round(float(cohen_kappa_score(first, second)), 4)


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    if not path.is_file():
        raise ConfigError(f"there is no file {path}")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        table = csv.DictReader(stream, delimiter="\t")
        missing = [name for name in columns if name not in (table.fieldnames or [])]
        if missing:
            raise DataError(f"column '{missing[0]}' is missing", file=path, remedy=f"It has {', '.join(columns)}.")
        return [{name: value or "" for name, value in row.items() if name} for row in table]


def _low(span: str) -> float:
    return float(span.strip("(]").split(",")[0])


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
