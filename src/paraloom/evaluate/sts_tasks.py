"""The similarity tasks: where each file lies, what it may be used for, whom to cite, and how to read one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError, nearest


@dataclass(frozen=True)
class Task:
    """One file of sentence pairs with a human's score for each.

    group: the table's block (a year, or a benchmark's name).  subset: the file's own name in it.
    file: below the folder of tasks.  default: part of the table unless tasks are named.
    """

    group: str
    subset: str
    file: str
    licence: str
    citation: str
    default: bool = True

    @property
    def name(self) -> str:
        """`group/subset`, what a user types."""
        return f"{self.group}/{self.subset}"


@dataclass(frozen=True)
class TaskPairs:
    """A task's rows: scores float64 (n,), higher is more alike, and the two sentences of each row."""

    task: Task
    scores: npt.NDArray[np.float64]
    first: list[str]
    second: list[str]


_YEARS = {
    "2012": (
        ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews"),
        "MSRpar, MSRvid: Microsoft Research terms; rest not stated",
        "Agirre, Cer, Diab, Gonzalez-Agirre 2012, SemEval-2012 Task 6",
    ),
    "2013": (
        ("headlines", "OnWN", "FNWN"),
        "not stated (SMT, LDC's, is left out)",
        "Agirre, Cer, Diab, Gonzalez-Agirre, Guo 2013, *SEM 2013 shared task",
    ),
    "2014": (
        ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
        "not stated",
        "Agirre et al. 2014, SemEval-2014 Task 10",
    ),
    "2015": (
        ("answers-forums", "answers-students", "belief", "headlines", "images"),
        "forums and images CC BY-SA; rest not stated",
        "Agirre et al. 2015, SemEval-2015 Task 2",
    ),
}

_STSB = ("scores CC BY-SA 4.0; text: each its own", "Cer, Diab, Agirre, Lopez-Gazpio, Specia 2017, SemEval-2017 Task 1")
_SICK = ("CC BY-NC-SA 3.0", "Marelli et al. 2014, SemEval-2014 Task 1")
_PIT = ("not stated", "Xu, Callison-Burch, Dolan 2015, SemEval-2015 Task 1")

TASKS: tuple[Task, ...] = (
    *(
        Task(year, subset, f"{year}/{subset}.test.tsv", licence, citation)
        for year, (subsets, licence, citation) in _YEARS.items()
        for subset in subsets
    ),
    *(
        Task("2012-train", subset, f"2012/{subset}.train.tsv", *_YEARS["2012"][1:], default=False)
        for subset in ("MSRpar", "MSRvid", "SMTeuroparl")
    ),
    Task("STS-B", "dev", "stsbenchmark/sts-dev.tsv", *_STSB),
    Task("STS-B", "train", "stsbenchmark/sts-train.tsv", *_STSB, default=False),
    Task("SICK", "test", "sick2014/SICK.test.tsv", *_SICK),
    Task("SICK", "trial", "sick2014/SICK.trial.tsv", *_SICK, default=False),
    Task("PIT", "test", "pit2015/pit2015.test.tsv", *_PIT),
    Task("PIT", "dev", "pit2015/pit2015.dev.tsv", *_PIT, default=False),
)

W17_TASKS = frozenset(
    task.name for task in TASKS if task.default and task.group in ("2012", "2013", "2014", "2015", "SICK", "PIT")
)
"""The tasks whose mean Wieting et al. 2017 print: 22 with SMT of 2013, which is not free, so 21 of them here."""


def choose_tasks(names: Iterable[str] | None = None) -> list[Task]:
    """The tasks of these names or groups, in the table's order; None means all defaults.

    Raises ConfigError for a name that does not exist.

    >>> [task.name for task in choose_tasks(["STS-B", "2012/MSRpar"])]
    ['2012/MSRpar', 'STS-B/dev', 'STS-B/train']
    """
    if names is None:
        return [task for task in TASKS if task.default]
    wanted = set(names)
    known = {task.name for task in TASKS} | {task.group for task in TASKS}
    for name in sorted(wanted - known):
        raise ConfigError(f"there is no similarity task '{name}'{nearest(name, sorted(known))}")
    return [task for task in TASKS if task.name in wanted or task.group in wanted]


def read_task(folder: str | Path, task: Task) -> TaskPairs:
    """Read `score<TAB>sentence1<TAB>sentence2` lines, no quoting, sentences byte-exact.

    Raises DataError with file and row for invalid UTF-8, a row that has not three fields, a score that is no number,
    or a file without rows.
    """
    path = Path(folder) / task.file
    scores: list[float] = []
    first: list[str] = []
    second: list[str] = []
    with path.open("rb") as lines:
        for row, line in enumerate(lines, 1):
            try:
                score, one, two = line.decode("utf-8").rstrip("\n").split("\t")
                scores.append(float(score))
            except UnicodeDecodeError as error:
                raise DataError(f"not valid UTF-8 (byte {error.start + 1} of the line)", file=path, row=row) from None
            except ValueError:
                raise DataError(
                    "not 'score<TAB>sentence1<TAB>sentence2'",
                    file=path,
                    row=row,
                    remedy="Three fields, no quoting, the first one a number.",
                ) from None
            if not math.isfinite(scores[-1]):
                raise DataError(f"score {score} is not finite", file=path, row=row)
            first.append(one)
            second.append(two)
    if not scores:
        raise DataError("the file has no rows", file=path)
    return TaskPairs(task, np.array(scores), first, second)
