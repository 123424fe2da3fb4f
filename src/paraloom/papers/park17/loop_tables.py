"""The tables of Park et al. (2017), out of a run of `selftrain`: documents, sentences and translation by round."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.core.stats import Estimate, wilson_interval
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.tables import NOT_MEASURED, Baseline, Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order, without_interval
from paraloom.pipeline.fit import ARTIFACT

_MEASURES = ("precision", "recall", "f1")
_KINDS = ("0:1", "1:0", "1:1", "1:2", "1:3", "2:1", "2:2", "2:3", "3:1", "3:2", "3:3")
_MIN_GOLD = 30


class LoopRun:
    """The figures of a run of `selftrain`, or of a pipeline that aligns documents."""

    def __init__(self, folder: Path, command: str = "paraloom research selftrain LOOP.toml") -> None:
        self.folder = folder
        try:
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            self.stages: dict[str, dict[str, Any]] = {stage["name"]: stage for stage in run["stages"]}
            self.signature = signature(
                command.split()[-2], run=run["name"], seed=run["seed"], digest=run["digest"][:12]
            )
        except (OSError, KeyError, TypeError, ValueError):
            raise DataError(
                "the folder is not that of a run of the loop",
                file=folder,
                remedy=f"Make one: `{command} -o RUN`.",
            ) from None

    def rounds(self, kind: str) -> list[int]:
        """The rounds that have figures of stages named KIND-ROUND, ascending."""
        matches = (re.fullmatch(rf"{re.escape(kind)}-(\d+)", stage) for stage in self.stages)
        rounds = sorted(int(match[1]) for match in matches if match and {"f1", "bleu"} & set(self.figures(match[0])))
        if not rounds:
            raise DataError(
                f"the run did not evaluate its {kind}", file=self.folder, remedy="Name true pairs in the loop's file."
            )
        return rounds

    def figures(self, stage: str) -> dict[str, Any]:
        """The figures of a stage; empty for a stage that the run does not have."""
        return self.stages.get(stage, {}).get("figures") or {}

    def result(self, stage: str) -> dict[str, Any]:
        """The result.json of a stage."""
        path = self.folder / self.stages[stage]["folder"] / ARTIFACT / "result.json"
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return result


def documents(run: LoopRun, name: str) -> ReproducedTable:
    """PARK17 Table 2: precision, recall and F1 of document pairs."""
    return _precision_recall(run, name, "documents")


def sentences(run: LoopRun, name: str) -> ReproducedTable:
    """PARK17 Table 4: precision, recall and F1 of sentence alignments."""
    return _precision_recall(run, name, "sentences")


def bead_kinds(run: LoopRun, name: str) -> ReproducedTable:
    """PARK17 Table 5: F1 by kind of bead, source:target, after the last round."""
    number = run.rounds("sentences")[-1]
    kinds = run.result(f"sentences-{number}")["kinds"]
    gold = {kind: kinds.get(kind, {}).get("gold", 0) for kind in _KINDS}
    f1: list[Figure] = [kinds[kind]["f1"] if gold[kind] else None for kind in _KINDS]
    frequent = [kinds[kind]["f1"] for kind in _KINDS if gold[kind] >= _MIN_GOLD]
    note = (
        f"{sum(value >= 0.9 for value in frequent)} of the {len(frequent)} kinds that the gold alignment has "
        f"{_MIN_GOLD} times or more have an F1 of .90 or more."
    )
    counts = f"how many: {', '.join(map(str, gold.values()))}"
    rows: list[Row] = [(f"round {number}, ours", f1), (counts, [None] * len(f1))]
    return _table(run, name, rows, [note], orders=list(bead_orders(f1, gold)))


def translation(run: LoopRun, name: str) -> ReproducedTable:
    """PARK17 Table 6: BLEU on each test."""
    tests = sorted({stage.removeprefix("bleu-").rpartition("-")[0] for stage in run.stages if stage[:5] == "bleu-"})
    if not tests:
        raise DataError(
            "the run has no BLEU", file=run.folder, remedy="Give the loop tests, or gold_sentences, and run it again."
        )
    rounds = run.rounds(f"bleu-{tests[0]}")
    rows: list[Row] = [
        (f"round {number}, ours", [run.figures(f"bleu-{test}-{number}").get("bleu") for test in tests])
        for number in rounds
    ]
    bleu = {test: [run.figures(f"bleu-{test}-{number}").get("bleu", 0.0) for number in rounds] for test in tests}
    notes = [_trend(test, values) for test, values in bleu.items()]
    return _table(run, name, rows, notes, columns=tests, orders=list(round_orders(name, rows, tests)))


TABLES: dict[str, Callable[[LoopRun, str], ReproducedTable]] = {
    "park17-2": documents,
    "park17-4": sentences,
    "park17-5": bead_kinds,
    "park17-6": translation,
}
"""Name of a table → the function that makes it from a run."""


def round_orders(
    name: str, rows: Sequence[Row], columns: Sequence[str], first_step: int = 0, items: Sequence[int] = ()
) -> Iterator[Order]:
    """The orders of a table by round: each column rises from a round to the next.

    Args:
        name: Name of the table.
        rows: A row for each round.
        columns: Names of the columns.
        first_step: The paper's row that the first round corresponds to; negative where it has none.
        items: How many items the figures of each round are shares of; empty where they are not shares.
    """
    paper = list(published_figures(name).values())
    for step, ((before, first), (after, second)) in enumerate(pairwise(rows), start=first_step):
        rises = [b - a for a, b in zip(*paper[step : step + 2], strict=True)] if 0 <= step < len(paper) - 1 else []
        # The columns of Table 6 are a run's own tests: the paper's rise is the mean over its two.
        mean = sum(rises) / len(rises) if rises else None
        published: Sequence[float | None] = rises if len(rises) == len(columns) else [mean] * len(columns)
        counts = items[step - first_step : step - first_step + 2]
        for column, low, high, rise in zip(columns, first, second, published, strict=True):
            if isinstance(low, float) and isinstance(high, float):
                claim = f"{column}: {after.removesuffix(', ours')} above {before.removesuffix(', ours')}"
                ours = difference_of_shares(high, counts[1], low, counts[0]) if counts else without_interval(high - low)
                yield Order(claim, rise, ours, decimals=4 if high <= 1 else 2)


def bead_orders(f1: Sequence[Figure], gold: Mapping[str, int]) -> Iterator[Order]:
    """The orders of PARK17 Table 5: which kinds of beads are easier than one to one, and which are harder."""
    paper = dict(zip(_KINDS, published_figures("park17-5")["after self-training"], strict=True))
    ours = dict(zip(_KINDS, f1, strict=True))
    for kind in _KINDS:
        if kind != "1:1" and isinstance(ours[kind], float) and isinstance(ours["1:1"], float):
            above = paper[kind] - paper["1:1"]
            easier, harder = (kind, "1:1") if above > 0 else ("1:1", kind)
            shares = [(share, gold[side]) for side in (easier, harder) if isinstance(share := ours[side], float)]
            yield Order(
                f"{easier} easier than {harder}", abs(above), difference_of_shares(*shares[0], *shares[1]), decimals=4
            )


def difference_of_shares(a: float, of_a: int, b: float, of_b: int) -> Estimate:
    """a − b with its 95 % interval, for shares (or F1, as if it were one) of independent items.

    Reference:
        Newcombe 1998, "Interval estimation for the difference between independent proportions", method 10.
    """
    (low_a, high_a), (low_b, high_b) = wilson_interval(a * of_a, of_a), wilson_interval(b * of_b, of_b)
    return Estimate(a - b, a - b - math.hypot(a - low_a, high_b - b), a - b + math.hypot(high_a - a, b - low_b))


def _precision_recall(run: LoopRun, name: str, kind: str) -> ReproducedTable:
    figures = {number: run.figures(f"{kind}-{number}") for number in run.rounds(kind)}
    rows: list[Row] = [
        (f"round {number}, ours", [of_round[measure] for measure in _MEASURES]) for number, of_round in figures.items()
    ]
    note = _trend("F1", [of_round["f1"] for of_round in figures.values()])
    # Documents are paired, and sentences of a test aligned, with the translator of the round before, or of the round;
    # the paper's tables begin with its first translator, or with lengths alone.
    first_step = min(figures) + ("translator-0" in run.stages) - (2 if kind == "documents" else 0)
    items = [of_round["gold"] for of_round in figures.values() if "gold" in of_round]
    orders = round_orders(name, rows, PAPERS[name].columns, first_step, items if len(items) == len(rows) else ())
    return _table(run, name, rows, [note], orders=list(orders))


def _table(
    run: LoopRun,
    name: str,
    rows: Sequence[Row],
    notes: Sequence[str],
    *,
    columns: Sequence[str] = (),
    orders: Sequence[Order],
) -> ReproducedTable:
    baselines: dict[Baseline, str] = {
        "untrained": "the first round, without a translator or with the weakest",
        "random": NOT_MEASURED,
        "identity": NOT_MEASURED,
    }
    return reproduced(
        name,
        rows,
        notes=notes,
        columns=columns,
        signature=run.signature,
        conditions=_CONDITIONS,
        orders=orders,
        baselines=baselines,
    )


_CONDITIONS = (
    ("languages", "Korean to English", "those of the run", "a run has its own"),
    ("text", "news and magazines, 3,249 documents per side", "that of the run", "theirs is not free"),
    ("translator", "phrase-based (Moses)", "a small transformer", "what `train translator` trains"),
    ("documents are paired by", "topics (LDA), at least 0.5", "all evidence of `align documents`", "it pairs more"),
    (
        "sentences are aligned by",
        "lengths and the cosine of translated words",
        "`align sentences`, with a lexicon of its own",
        "the paper's aligner has its translator alone to go by",
    ),
    ("seeds, intervals", "one, none", "one; of shares of independent items (Newcombe), seeds not included", ""),
)


def _trend(name: str, values: list[float]) -> str:
    """A sentence on the change of a figure from round to round."""
    if len(values) == 1:
        return f"{name} was measured in one round."
    return f"{name} rises in {sum(after > before for before, after in pairwise(values))} of {len(values) - 1} rounds."
