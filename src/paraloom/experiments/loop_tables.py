"""PARK17's tables out of a run of `selftrain`: documents, sentences, kinds of beads, translation, by rounds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from paraloom.core.digests import signature
from paraloom.core.errors import DataError
from paraloom.experiments.published import PAPERS
from paraloom.experiments.tables import Figure, Reproduced

_MEASURES = ("precision", "recall", "f1")
# PARK17 name the kinds of beads Korean:English.
_KINDS = ("0:1", "1:0", "1:1", "1:2", "1:3", "2:1", "2:2", "2:3", "3:1", "3:2", "3:3")


def _documents(loop: _Loop, name: str) -> Reproduced:
    return _triples(loop, name, "documents")


def _sentences(loop: _Loop, name: str) -> Reproduced:
    return _triples(loop, name, "sentences")


def _triples(loop: _Loop, name: str, kind: str) -> Reproduced:
    found = [(number, loop.figures(f"{kind}-{number}")) for number in loop.rounds(kind)]
    rows: list[tuple[str, list[Figure]]] = [
        (f"round {number}, ours", [figures[measure] for measure in _MEASURES]) for number, figures in found
    ]
    return Reproduced(name, PAPERS[name], rows, _course("F1", [figures["f1"] for _, figures in found]), made=loop.made)


def _kinds(loop: _Loop, name: str) -> Reproduced:
    number = loop.rounds("sentences")[-1]
    kinds = loop.result(f"sentences-{number}")["kinds"]
    counts = ", ".join(str(kinds.get(kind, {}).get("gold", 0)) for kind in _KINDS)
    f1: list[Figure] = [kinds[kind]["f1"] if kinds.get(kind, {}).get("gold") else None for kind in _KINDS]
    often = [kinds[kind]["f1"] for kind in _KINDS if kinds.get(kind, {}).get("gold", 0) >= 30]
    enough = f"{sum(value >= 0.9 for value in often)} of {len(often)}"
    sentence = f"Of the kinds that the gold has 30 times or more, {enough} are found with an F1 of .90 or more."
    rows: list[tuple[str, list[Figure]]] = [(f"round {number}, ours", f1), (f"how many: {counts}", [None] * len(f1))]
    return Reproduced(name, PAPERS[name], rows, sentence, made=loop.made)


def _translation(loop: _Loop, name: str) -> Reproduced:
    tests = sorted({stage.removeprefix("bleu-").rpartition("-")[0] for stage in loop.stages if stage[:5] == "bleu-"})
    if not tests:
        raise DataError("it has no BLEU", file=str(loop.folder), remedy="Give the loop tests, or gold_sentences.")
    rounds = loop.rounds(f"bleu-{tests[0]}")
    rows: list[tuple[str, list[Figure]]] = [
        (f"round {number}, ours", [loop.figures(f"bleu-{test}-{number}").get("bleu") for test in tests])
        for number in rounds
    ]
    last = [(test, [loop.figures(f"bleu-{test}-{number}").get("bleu", 0.0) for number in rounds]) for test in tests]
    sentence = " ".join(_course(test, values) for test, values in last)
    return Reproduced(name, PAPERS[name], rows, sentence, heads=tests, made=loop.made)


TABLES: dict[str, Callable[[_Loop, str], Reproduced]] = {
    "park17-2": _documents,
    "park17-4": _sentences,
    "park17-5": _kinds,
    "park17-6": _translation,
}
"""Name on the command line → what makes the table of a loop's run."""


def reproduce_loop(folder: Path, name: str) -> Reproduced:
    """One of TABLES from the folder of a run of `paraloom selftrain`.

    Raises DataError where the folder is no such run, or the run did not measure what the table shows.
    """
    return TABLES[name](_Loop(folder), name)


class _Loop:
    """What a run of the loop measured, by the names of its stages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
            self.stages: dict[str, dict[str, Any]] = {stage["name"]: stage for stage in run["stages"]}
            self.made = signature("selftrain", run=run["name"], seed=run["seed"], digest=run["digest"][:12])
        except (OSError, KeyError, TypeError, ValueError):
            raise DataError(
                "this is no run of the loop",
                file=str(folder),
                remedy="`paraloom selftrain LOOP.toml -o RUN` makes one.",
            ) from None

    def rounds(self, kind: str) -> list[int]:
        """The rounds in which something was measured, rising."""
        named = (re.fullmatch(rf"{re.escape(kind)}-(\d+)", stage) for stage in self.stages)
        found = sorted(int(each[1]) for each in named if each and {"f1", "bleu"} & set(self.figures(each[0])))
        if not found:
            raise DataError(f"the run has not measured its {kind}", file=str(self.folder), remedy="Give the loop gold.")
        return found

    def figures(self, stage: str) -> dict[str, Any]:
        """Those of a stage; none of one that is not there."""
        return self.stages.get(stage, {}).get("figures") or {}

    def result(self, stage: str) -> dict[str, Any]:
        """The result.json of a stage."""
        path = self.folder / self.stages[stage]["folder"] / "artifact" / "result.json"
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found


def _course(what: str, values: list[float]) -> str:
    """How a figure goes from round to round.

    >>> _course("F1", [0.5, 0.6, 0.55])
    'F1 rises in 1 of 2 rounds.'
    """
    rises = sum(after > before for before, after in pairwise(values))
    if len(values) == 1:
        return f"{what} was measured in one round."
    return f"{what} rises in {rises} of {len(values) - 1} rounds."
