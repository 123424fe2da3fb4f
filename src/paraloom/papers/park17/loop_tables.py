"""Table 5 of Park et al. (2017), out of a run of `selftrain`: beads by kind, after the last round."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from paraloom.core.errors import DataError
from paraloom.core.stats import Estimate, wilson_interval
from paraloom.papers.published import published_figures
from paraloom.papers.result_files import FinishedRun
from paraloom.papers.tables import NOT_MEASURED, Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order

_KINDS = ("0:1", "1:0", "1:1", "1:2", "1:3", "2:1", "2:2", "2:3", "3:1", "3:2", "3:3")
_MIN_GOLD = 30
_STEPS = ("translator", "documents", "sentences")
_TRANSLATORS = {
    "train-phrase-translator": ("phrase-based, weights not tuned", "Moses is not at hand"),
    "train-translator": ("a small transformer", "what `train translator` trains"),
}


def bead_kinds(run: FinishedRun, name: str) -> ReproducedTable:
    """PARK17 Table 5: F1 by kind of bead, source:target, after the last round."""
    matches = (re.fullmatch(r"sentences-(\d+)", stage) for stage in run.stages)
    rounds = [int(match[1]) for match in matches if match and "f1" in run.figures(match[0])]
    if not rounds:
        raise DataError(
            "the run did not evaluate its sentences", file=run.folder, remedy="Name true pairs in the loop's file."
        )
    number = max(rounds)
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
    return reproduced(
        name,
        rows,
        notes=[note],
        conditions=_conditions(run, number),
        signature=run.signature,
        orders=list(bead_orders(f1, gold)),
        baselines={"untrained": "does not apply", "random": NOT_MEASURED, "identity": NOT_MEASURED},
    )


TABLES: dict[str, Callable[[FinishedRun, str], ReproducedTable]] = {"park17-5": bead_kinds}
"""Name of a table → the function that makes it from a run."""


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


def _conditions(run: FinishedRun, number: int) -> list[tuple[str, ...]]:
    """How the last round translated and aligned, by the settings of its stages."""
    translator, documents, sentences = (run.stages.get(f"{name}-{number}", {}) for name in _STEPS)
    own = [stage.get("configuration", {}).get("method") == "park17" for stage in (documents, sentences)]
    evidence = ("all evidence of `align documents`", "it pairs more")
    lexicon = ("`align sentences`, with a lexicon of its own", "the paper's aligner has its translator alone to go by")
    return [
        ("translator", "phrase-based (Moses)", *_TRANSLATORS.get(translator.get("use", ""), ("not known", "no name"))),
        ("documents are paired by", "topics (LDA), at least 0.5", *(() if own[0] else evidence)),
        ("sentences are aligned by", "lengths and the cosine of translated words", *(() if own[1] else lexicon)),
    ]


def difference_of_shares(a: float, of_a: int, b: float, of_b: int) -> Estimate:
    """a − b with its 95 % interval, for shares (or F1) of independent items (Newcombe 1998, method 10)."""
    (low_a, high_a), (low_b, high_b) = wilson_interval(a * of_a, of_a), wilson_interval(b * of_b, of_b)
    return Estimate(a - b, a - b - math.hypot(a - low_a, high_b - b), a - b + math.hypot(high_a - a, b - low_b))
