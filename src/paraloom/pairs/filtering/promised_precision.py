"""Filters with a promised precision: the cut that labels certify among the rows of a corpus, and the rows to label."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Bools, Ids
from paraloom.core.errors import DataError
from paraloom.core.sorted_ids import find_ids
from paraloom.pairs.filtering.certified_cut import (
    FIRST_LABELS,
    CertifiedCut,
    Ranking,
    certified_cut,
    fewest_labels,
    next_to_label,
)
from paraloom.pairs.filtering.cuts import score_values
from paraloom.pairs.filtering.judgments import Judgments, pair_keys, read_judgments

_SIDES = ("src", "tgt")


@dataclass(frozen=True)
class Target:
    by: str
    highest: bool
    precision: float
    confidence: float
    labels: tuple[Path, ...]


@dataclass(frozen=True)
class PromisedCut:
    """A cut that `certified_cut` found, with the labels that are known to be wrong."""

    by: str
    highest: bool
    threshold: float
    rows: int
    labels: int
    right: int
    wrong: tuple[int, ...]
    summary: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> PromisedCut:
        """The cut that `to_json` returned, also after a round trip through a file."""
        return cls(**{**values, "wrong": tuple(values["wrong"])})

    @property
    def clause(self) -> str:
        return condition_text(self.by, self.highest, self.threshold)

    def contains(self, batch: pa.RecordBatch) -> Bools:
        value = score_values(batch, self.by)
        return value >= self.threshold if self.highest else value <= self.threshold

    def labeled_wrong(self, batch: pa.RecordBatch) -> Bools:
        return np.isin(_keys(batch), np.array(self.wrong, np.uint64))


def condition_text(by: str, highest: bool, threshold: float) -> str:
    return f"{by} {'>=' if highest else '<='} {threshold:.6g}"


def promised_cut(batches: Iterable[pa.RecordBatch], target: Target) -> PromisedCut:
    """Find the lowest cut that keeps the promise. Memory: some 60 bytes for each row."""
    judgments = read_judgments(target.labels)
    ranking, keys = _ranking(batches, target, judgments.labels)
    _check_match(judgments, keys, target)
    cut = certified_cut(ranking, target.precision, target.confidence)
    if cut.threshold is None:
        raise _refusal(ranking, cut, target, judgments, _unused(judgments, keys))
    promise = (
        f"{_clause(cut.threshold, target)}: of {cut.rows:,} pairs (of {len(keys):,}) at least "
        f"{100 * target.precision:.4g} % are right, with a confidence of {100 * target.confidence:.4g} %; "
        f"{cut.right:,} of {cut.labels:,} labeled ones are"
    )
    return PromisedCut(
        target.by,
        target.highest,
        _outward(cut.threshold, target),
        cut.rows,
        cut.labels,
        cut.right,
        tuple(sorted(key for key, label in judgments.labels.items() if not label)),
        "; ".join(filter(None, [promise, judgments.format(), _unused(judgments, keys)])),
    )


def pairs_to_label(read: Callable[[], Iterable[pa.RecordBatch]], target: Target) -> list[tuple[str, str]]:
    """Draw the pairs to label next, in random order."""
    judgments = read_judgments(target.labels) if target.labels else None
    ranking, keys = _ranking(read(), target, judgments.labels if judgments else {})
    if judgments:
        _check_match(judgments, keys, target)
    chosen = keys[next_to_label(ranking, target.precision, target.confidence)]
    texts: dict[int, tuple[str, str]] = {}
    for batch in read():
        of_batch = _keys(batch)
        rows = np.flatnonzero(np.isin(of_batch, chosen))
        sides = (batch.column(side).take(pa.array(rows)).to_pylist() for side in _SIDES)
        texts |= {int(of_batch[row]): (a or "", b or "") for row, a, b in zip(rows, *sides, strict=True)}
    return [texts[key] for key in chosen.tolist()]


def _keys(batch: pa.RecordBatch) -> Ids:
    return pair_keys(*(batch.column(side).to_pylist() for side in _SIDES))


def _ranking(batches: Iterable[pa.RecordBatch], target: Target, labels: dict[int, int]) -> tuple[Ranking, Ids]:
    """The distinct pairs with a defined score; of copies the one with the best score."""
    values, keys = [np.zeros(0)], [np.zeros(0, np.uint64)]
    for batch in batches:
        value = score_values(batch, target.by)
        defined = ~np.isnan(value)
        values.append(value[defined] if target.highest else -value[defined])
        keys.append(_keys(batch)[defined])
    value, key = np.concatenate(values), np.concatenate(keys)
    if not len(value):
        raise DataError(f"no pair has a defined value of '{target.by}'", remedy="Add the score, or choose another one.")
    order = np.lexsort((-value, key))
    order = order[np.append(True, key[order][1:] != key[order][:-1])]
    value, key = value[order], key[order]
    known = np.full(len(key), -1, np.int8)
    labeled = np.array(sorted(labels), np.uint64)
    present, rows = find_ids(key, labeled)
    known[rows[present]] = [labels[int(number)] for number in labeled[present]]
    return Ranking(value, key, known), key


def _unused(judgments: Judgments, keys: Ids) -> str:
    """How many labels are of other pairs; '' if none is."""
    others = len(judgments.labels) - int(np.isin(np.array(list(judgments.labels), np.uint64), keys).sum())
    return f"{others:,} of {len(judgments.labels):,} labeled pairs are not among these, and do not count" * bool(others)


def _check_match(judgments: Judgments, keys: Ids, target: Target) -> None:
    """Refuse labels most of which are of other pairs."""
    labeled = np.array(list(judgments.labels), np.uint64)
    others = labeled[~np.isin(labeled, keys)]
    if 2 * len(others) > len(labeled):
        file, row = judgments.places[int(others[0])]
        raise DataError(
            f"{len(others):,} of {len(labeled):,} labeled pairs are not among the {len(keys):,} pairs that have a "
            f"'{target.by}' and meet the other criteria; this is the first one",
            file=file,
            row=row,
            remedy="Give labels that were drawn from this corpus with these criteria (--draw).",
        )


def _outward(threshold: float, target: Target) -> float:
    return threshold if target.highest else -threshold


def _clause(threshold: float, target: Target) -> str:
    return condition_text(target.by, target.highest, _outward(threshold, target))


def _refusal(ranking: Ranking, cut: CertifiedCut, target: Target, judgments: Judgments, unused: str) -> DataError:
    """The error that says why nothing can be promised, and what helps."""
    known = int((ranking.labels >= 0).sum())
    wanted = f"a precision of {100 * target.precision:.4g} % with a confidence of {100 * target.confidence:.4g} %"
    missing = int((ranking.labels[ranking.first] < 0).sum())
    if missing:
        unlabeled = f"{missing} of the first {int(ranking.first.sum())} pairs have no label yet"
        if known - int((ranking.labels[ranking.first] >= 0).sum()) > known // 2:
            return DataError(
                f"{known:,} pairs are labeled, but they are not a random sample: {missing} of the {FIRST_LABELS} pairs "
                "that are drawn first are not among them",
                file=target.labels[0],
                remedy="Draw pairs with --draw SHEET.tsv, and label all of them; chosen ones promise nothing.",
            )
        return DataError(
            "; ".join(filter(None, [unlabeled, unused])),
            file=target.labels[0],
            remedy="Label all pairs of the sheet, then draw others with --draw: at least "
            f"{fewest_labels(target.precision, target.confidence)}.",
        )
    shares = f"{cut.right:,} of {cut.labels:,} labeled pairs with {_clause(cut.tested, target)} are right"
    if labels := "; ".join(filter(None, [judgments.format(), unused])):
        shares += f" ({labels})"
    if cut.more_labels is None:
        return DataError(
            f"{wanted} cannot be promised: {shares}",
            file=target.labels[0],
            remedy="Ask for less precision, or rank by a better score (--by)."
            + " With the sheet of a third rater among --labels, the majority decides." * bool(judgments.ties),
        )
    return DataError(
        f"{wanted} cannot be promised yet: {shares}; about {cut.more_labels:,} more labels are needed",
        file=target.labels[0],
        remedy="Draw pairs with --draw MORE.tsv, label them, and give all sheets to --labels.",
    )
