"""The semantic textual similarity tasks: their files, and how to read them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.array_types import Floats
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.io.compression import decode, read_raw_lines, without_compression
from paraloom.io.records import read_records


@dataclass(frozen=True)
class STSTask:
    """One file of sentence pairs with a human score for each."""

    group: str
    subset: str
    file: str
    default: bool = True
    optional: bool = False

    @property
    def name(self) -> str:
        """`group/subset`."""
        return f"{self.group}/{self.subset}"


@dataclass(frozen=True)
class STSPairs:
    task: STSTask
    scores: Floats  # float64 (n,), human scores, higher is more similar
    first: list[str]  # The first sentence of each pair
    second: list[str]  # The second sentence of each pair


_YEARS = {
    "2012": ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"),
    "2013": ("headlines", "OnWN", "FNWN"),  # SMT, of the LDC, is not free
    "2014": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "2015": ("answers-forums", "answers-students", "belief", "headlines", "images"),
}

_2016 = ("answer-answer", "headlines", "plagiarism", "postediting", "question-question")

TASKS: tuple[STSTask, ...] = (
    *(STSTask(year, subset, f"{year}/{subset}.test.tsv") for year, subsets in _YEARS.items() for subset in subsets),
    *(
        STSTask("2012-train", subset, f"2012/{subset}.train.tsv", default=False)
        for subset in ("MSRpar", "MSRvid", "SMTeuroparl")
    ),
    *(STSTask("2016", subset, f"2016/{subset}.test.tsv", optional=True) for subset in _2016),
    STSTask("STS-B", "dev", "stsbenchmark/sts-dev.tsv"),
    STSTask("STS-B test", "test", "stsbenchmark/sts-test.tsv", optional=True),
    STSTask("STS-B", "train", "stsbenchmark/sts-train.tsv", default=False),
    STSTask("SICK", "test", "sick2014/SICK.test.tsv"),
    STSTask("SICK", "trial", "sick2014/SICK.trial.tsv", default=False),
    STSTask("SICK", "train", "sick2014/SICK.train.tsv", default=False),
    STSTask("PIT", "test", "pit2015/pit2015.test.tsv"),
    STSTask("PIT", "dev", "pit2015/pit2015.dev.tsv", default=False),
)

W17_TASKS = frozenset(
    task.name for task in TASKS if task.default and task.group in ("2012", "2013", "2014", "2015", "SICK", "PIT")
)
"""The tasks whose mean Wieting et al. 2017 report: 22 with SMT of 2013, which is not free, so 21 of them here."""


YEARS = ("2012", "2013", "2014", "2015")  # The groups of ParaNMT's tables whose files are free

MTEB_TASKS: dict[str, tuple[str, ...]] = {
    **{
        f"STS{year[2:]}": tuple(task.name for task in TASKS if task.group == year)
        for year in ("2012", "2013", "2014", "2015", "2016")
    },
    "STSBenchmark": ("STS-B test/test",),
    "SICK-R": ("SICK/train", "SICK/trial", "SICK/test"),
}
"""Task of MTEB → our tasks whose pairs it evaluates together: of a year the test files (3,108, 1,500, 3,750, 3,000 and
1,186 pairs, without SMT of 2013), of SICK all 9,927 pairs, its training set included."""

SUFFIXES = (".tsv", ".txt", ".jsonl", ".parquet")
"""Suffixes of files of pairs, plain or compressed; .tsv and .txt are the same format."""

_PAIR_COLUMNS = (("a", "b"), ("sentence1", "sentence2"))
_SIDECARS = (".meta.tsv", ".entailment.tsv")


def select_tasks(names: Iterable[str] | None = None) -> list[STSTask]:
    return _selected(TASKS, names)


def find_tasks(path: str | Path, names: Iterable[str] | None = None) -> tuple[Path, list[STSTask], list[STSTask]]:
    """Find the tasks of a file or folder: the known ones, or else each file of pairs, in the group of its folder."""
    path = Path(path)
    wanted = None if names is None else list(names)
    if path.is_file():
        own = _own_task(path.parent, path)
        return path.parent, _selected((own,), wanted), []
    if not path.exists():
        raise DataError("file or folder of similarity tasks not found", file=path, remedy="Check the path.")
    if not any((path / task.file).is_file() for task in TASKS):
        return path, _selected(_own_tasks(path), wanted), []
    selected = _named_tasks(path, wanted)
    present = [task for task in selected if (path / task.file).is_file()]
    if not present:
        raise _not_found(path, selected)
    return path, present, [task for task in selected if task not in present and not task.optional]


def _own_tasks(folder: Path) -> list[STSTask]:
    """A task for each file of pairs in a folder."""
    files = sorted(file for file in folder.rglob("*") if _is_task_file(file))
    if not files:
        raise _not_found(folder)
    return [_own_task(folder, file) for file in files]


def _named_tasks(folder: Path, names: Sequence[str] | None) -> list[STSTask]:
    """Tasks of TASKS, and further files of a folder, by name."""
    if names is None:
        return select_tasks()
    listed = {task.file for task in TASKS}
    files = [name for name in names if name not in listed and _is_task_file(folder / name)]
    own = [_own_task(folder, folder / name) for name in files]
    return select_tasks([name for name in names if name not in files]) + own


def complete_mteb_tasks(root: Path, tasks: Sequence[STSTask]) -> list[STSTask]:
    """The tasks that MTEB evaluates together with given ones, such as the training set of SICK, if all are there."""
    by_name = {task.name: task for task in TASKS}
    names = {task.name for task in tasks}
    needed = [[by_name[name] for name in of_task] for of_task in MTEB_TASKS.values() if names & set(of_task)]
    complete = [of_task for of_task in needed if all((root / task.file).is_file() for task in of_task)]
    return [task for of_task in complete for task in of_task if task.name not in names]


def read_task(folder: str | Path, task: STSTask) -> STSPairs:
    """Read a task, byte-exact: lines of `score<TAB>sentence1<TAB>sentence2`, or these keys of JSON Lines or Parquet."""
    path = Path(folder) / task.file
    read = _read_records if without_compression(path).suffix in (".jsonl", ".parquet") else _read_tsv
    scores: list[float] = []
    first: list[str] = []
    second: list[str] = []
    for row, score, one, two in read(path):
        try:
            number = float(score)
        except (TypeError, ValueError):
            raise DataError(
                f"expected a number as the score, got {str(score)[:40]!r}", file=path, row=row, remedy=_REMEDY
            ) from None
        if not math.isfinite(number):
            raise DataError(f"expected a finite score, got {score}", file=path, row=row)
        scores.append(number)
        first.append(one)
        second.append(two)
    _check_scores(scores, path)
    return STSPairs(task, np.array(scores), first, second)


_REMEDY = "A row is score<TAB>sentence1<TAB>sentence2, without quoting; the score is a number."


def _read_tsv(path: Path) -> Iterator[tuple[int, str, str, str]]:
    columns = (0, 1, 2)
    width = 3
    for row, line in enumerate(read_raw_lines(path), 1):
        fields = decode(line, path, row).split("\t")
        if row == 1 and (header := _header(fields)) is not None:
            columns, width = header, len(fields)
            continue
        if len(fields) != width:
            raise DataError(
                f"expected 'score<TAB>sentence1<TAB>sentence2', got {len(fields)} field{'s' * (len(fields) != 1)}",
                file=path,
                row=row,
                remedy=_REMEDY,
            )
        score, one, two = (fields[column] for column in columns)
        yield row, score, one, two


def _header(fields: Sequence[str]) -> tuple[int, int, int] | None:
    names = [field.strip().lower() for field in fields]
    pair = _pair_in(names)
    return None if pair is None else (names.index("score"), names.index(pair[0]), names.index(pair[1]))


def _pair_in(names: Iterable[str]) -> tuple[str, str] | None:
    """The columns of the two sentences, if there is a score, too."""
    return next((pair for pair in _PAIR_COLUMNS if {"score", *pair} <= set(names)), None)


def _read_records(path: Path) -> Iterator[tuple[int, Any, str, str]]:
    return ((record.row, *_fields(record.values, path, record.row)) for record in read_records(path))


def _fields(value: Mapping[str, Any], path: Path, row: int) -> tuple[Any, str, str]:
    pair = _pair_in(value)
    if pair is None:
        raise DataError(
            f"expected score, a, b or score, sentence1, sentence2; the columns are {', '.join(value) or 'none'}",
            file=path,
            row=row,
            remedy="Rename the columns.",
        )
    one, two = value[pair[0]], value[pair[1]]
    for name, text in zip(pair, (one, two), strict=True):
        if not isinstance(text, str):
            raise DataError(f"'{name}' must be text, got {json.dumps(text, default=str)[:40]}", file=path, row=row)
    return value["score"], one, two


def _check_scores(scores: Sequence[float], path: Path) -> None:
    if not scores:
        raise DataError("the file has no rows", file=path)
    if len(scores) < 2:
        raise DataError("expected 2 rows or more, got 1", file=path, remedy="A correlation needs pairs to compare.")
    if min(scores) == max(scores):
        raise DataError(
            f"all {len(scores)} scores are {scores[0]:g}",
            file=path,
            remedy="A correlation needs scores that differ: is the first column the score?",
        )


def _is_task_file(path: Path) -> bool:
    named = without_compression(path).suffix in SUFFIXES and not path.name.startswith(".")
    return named and not path.name.endswith(_SIDECARS) and path.is_file()


def _own_task(root: Path, path: Path) -> STSTask:
    """The task of a file that is not in TASKS."""
    file = path.relative_to(root)
    stem = without_compression(path).stem
    if path.parent == root:
        return STSTask(stem, "pairs", file.as_posix())
    return STSTask(file.parent.as_posix(), stem, file.as_posix())


def _selected(tasks: Sequence[STSTask], names: Iterable[str] | None) -> list[STSTask]:
    if names is None:
        return [task for task in tasks if task.default]
    wanted = set(names)
    known = {name for task in tasks for name in (task.name, task.group)}
    files = {task.file for task in tasks}
    for name in sorted(wanted - known - files):
        raise ConfigError(f"unknown similarity task '{name}'{nearest(name, sorted(known))}")
    return [task for task in tasks if wanted & {task.name, task.group, task.file}]


def _not_found(path: Path, tasks: Sequence[STSTask] = TASKS) -> DataError:
    return DataError(
        "similarity tasks not found",
        file=path,
        remedy="Give a file of score<TAB>sentence1<TAB>sentence2, or a folder of such files: "
        f"{', '.join(task.file for task in tasks[:3])} and so on, or .tsv, .jsonl, .parquet by any name.",
    )
