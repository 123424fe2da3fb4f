"""Sheets of unpicked paraphrases to judge by hand: written blind, with a key of the systems; counted when filled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.results import ResultRecord, markdown_table
from paraloom.core.seeds import generator
from paraloom.core.stats import Estimate, wilson_interval
from paraloom.evaluate.base import EvaluationResult
from paraloom.io.sheets import Numbered, check_key, check_new_sheet, key_path, read_numbered, write_sheet
from paraloom.text.normalize import collapse_spaces

QUESTIONS = ("keeps_meaning", "grammatical", "differs")
"""Columns to fill in with y or n: the output means the same; it is a sentence without faults; it differs by more than
spelling, punctuation or inflection."""

SHEET_COLUMNS = ("number", "input", "reference", "output", *QUESTIONS)
_KEY_COLUMNS = ("number", "set", "systems")
_ALL = "all three"


@dataclass(frozen=True)
class SheetRow(ResultRecord):
    set: str
    system: str
    n: int  # Outputs that were judged
    # Question, or 'all three' → share of the outputs with y, and its 95 % interval (Wilson).
    shares: dict[str, tuple[float, float, float]]


@dataclass(frozen=True)
class SheetResult(EvaluationResult):
    rows: tuple[SheetRow, ...]  # A row for each set and system

    def format(self) -> str:
        names = [*QUESTIONS, _ALL]
        header = ["set", "system", "n", *(name.replace("_", " ") for name in names)]
        rows = [
            (row.set, row.system, str(row.n), *(Estimate(*row.shares[name]).format(".0%") for name in names))
            for row in self.rows
        ]
        return "\n".join(markdown_table(header, rows, left=2))


def check_sheet(path: str | Path) -> None:
    """Refuse to write a sheet where one is, or its key."""
    check_new_sheet(Path(path), key_path(path))


def write_paraphrase_sheet(
    path: str | Path,
    sets: Mapping[str, tuple[Sequence[str], Sequence[Sequence[str]], Mapping[str, Sequence[str]]]],
    *,
    samples: int = 30,
    seed: int = 1,
) -> int:
    """Write a sheet to judge, without names, what all systems make of the same drawn sentences, and its key."""
    check_sheet(path)
    if samples < 1:
        raise ConfigError(f"'samples' must be 1 or more, got {samples}")
    rows: list[tuple[str, str, str, str, str]] = []
    for number, (name, (sources, references, outputs)) in enumerate(sets.items()):
        drawn = sorted(generator(seed, number).permutation(len(sources))[:samples].tolist())
        for index in drawn:
            systems: dict[str, list[str]] = defaultdict(list)
            for system, texts in outputs.items():
                systems[collapse_spaces(texts[index])].append(collapse_spaces(system).replace(",", ";"))
            # The systems are in the order of the table here, which the shuffle hides.
            source, reference = collapse_spaces(sources[index]), " / ".join(map(collapse_spaces, references[index]))
            rows += [(name, source, reference, text, ",".join(names)) for text, names in systems.items()]
    order = generator(seed, len(sets)).permutation(len(rows))
    shuffled = [rows[index] for index in order]
    sheet = [(number, *row[1:4], *("" for _ in QUESTIONS)) for number, row in enumerate(shuffled, start=1)]
    key = [(number, collapse_spaces(row[0]), row[4]) for number, row in enumerate(shuffled, start=1)]
    write_sheet(path, SHEET_COLUMNS, sheet, key=(_KEY_COLUMNS, key))
    return len(rows)


def count_sheet(path: str | Path, key: str | Path | None = None) -> SheetResult:
    """Count a sheet that was filled in.

    Args:
        path: A sheet of `--sheet`, filled in with y and n.
        key: Its key. Default: SHEET.key.tsv, beside it.
    """
    sheet, keys = _read(path, SHEET_COLUMNS), _read(key_path(path) if key is None else key, _KEY_COLUMNS)
    check_key(path, sheet, keys)
    answers: dict[tuple[str, str], list[dict[str, bool]]] = defaultdict(list)
    for line, (number, row) in enumerate(sheet.items(), start=2):
        verdicts = {question: _answer(row[question], question, path, line) for question in QUESTIONS}
        for system in keys[number]["systems"].split(","):
            answers[keys[number]["set"], system].append(verdicts)
    return SheetResult(
        tuple(
            SheetRow(name, system, len(rows), {question: _share(rows, question) for question in (*QUESTIONS, _ALL)})
            for (name, system), rows in sorted(answers.items())
        )
    )


def _share(rows: Sequence[Mapping[str, bool]], question: str) -> tuple[float, float, float]:
    count = sum(all(row.values()) if question == _ALL else row[question] for row in rows)
    return (count / len(rows), *wilson_interval(count, len(rows)))


def _answer(cell: str, question: str, path: str | Path, line: int) -> bool:
    answer = {"y": True, "yes": True, "1": True, "n": False, "no": False, "0": False}.get(cell.strip().lower())
    if answer is None:
        raise DataError(
            f"expected y or n in column '{question}', got '{cell.strip()}'", file=path, row=line, remedy="Fill it in."
        )
    return answer


def _read(path: str | Path, columns: Sequence[str]) -> Numbered:
    remedy = "Give a sheet that `--sheet` wrote, with its key and its header."
    return read_numbered(path, columns, kind="sheet of paraphrases", remedy=remedy)
