"""The semantic textual similarity tasks: their files, licenses and citations, and how to read them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError, DataError, nearest


@dataclass(frozen=True)
class STSTask:
    """One file of sentence pairs with a human score for each.

    Args:
        group: A year, or the name of a benchmark.
        subset: The name of the file within the group.
        file: Path below the folder of tasks.
        license: Terms of the texts and scores.
        citation: The paper that introduced it.
        default: Whether it is evaluated unless tasks are named.
    """

    group: str
    subset: str
    file: str
    license: str
    citation: str
    default: bool = True

    @property
    def name(self) -> str:
        """`group/subset`."""
        return f"{self.group}/{self.subset}"


@dataclass(frozen=True)
class STSPairs:
    """The sentence pairs of a task.

    Args:
        task: The task.
        scores: float64 (n,), human scores, higher is more similar.
        first: The first sentence of each pair.
        second: The second sentence of each pair.
    """

    task: STSTask
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

TASKS: tuple[STSTask, ...] = (
    *(
        STSTask(year, subset, f"{year}/{subset}.test.tsv", license, citation)
        for year, (subsets, license, citation) in _YEARS.items()
        for subset in subsets
    ),
    *(
        STSTask("2012-train", subset, f"2012/{subset}.train.tsv", *_YEARS["2012"][1:], default=False)
        for subset in ("MSRpar", "MSRvid", "SMTeuroparl")
    ),
    STSTask("STS-B", "dev", "stsbenchmark/sts-dev.tsv", *_STSB),
    STSTask("STS-B", "train", "stsbenchmark/sts-train.tsv", *_STSB, default=False),
    STSTask("SICK", "test", "sick2014/SICK.test.tsv", *_SICK),
    STSTask("SICK", "trial", "sick2014/SICK.trial.tsv", *_SICK, default=False),
    STSTask("PIT", "test", "pit2015/pit2015.test.tsv", *_PIT),
    STSTask("PIT", "dev", "pit2015/pit2015.dev.tsv", *_PIT, default=False),
)

W17_TASKS = frozenset(
    task.name for task in TASKS if task.default and task.group in ("2012", "2013", "2014", "2015", "SICK", "PIT")
)
"""The tasks whose mean Wieting et al. 2017 report: 22 with SMT of 2013, which is not free, so 21 of them here."""


def select_tasks(names: Iterable[str] | None = None) -> list[STSTask]:
    """Select tasks by name or group.

    Args:
        names: Names (`STS-B/dev`) or groups (`2012`); None for the default tasks.

    Returns:
        The tasks, in the order of TASKS.

    Raises:
        ConfigError: A name is unknown.

    Example:
        >>> [task.name for task in select_tasks(["STS-B", "2012/MSRpar"])]
        ['2012/MSRpar', 'STS-B/dev', 'STS-B/train']
    """
    if names is None:
        return [task for task in TASKS if task.default]
    wanted = set(names)
    known = {task.name for task in TASKS} | {task.group for task in TASKS}
    for name in sorted(wanted - known):
        raise ConfigError(f"unknown similarity task '{name}'{nearest(name, sorted(known))}")
    return [task for task in TASKS if task.name in wanted or task.group in wanted]


def read_task(folder: str | Path, task: STSTask) -> STSPairs:
    """Read a task: lines of `score<TAB>sentence1<TAB>sentence2`, without quoting; sentences are kept byte-exact.

    Args:
        folder: Folder of the tasks.
        task: The task.

    Raises:
        DataError: The file is not UTF-8, is empty, or has a row without three fields of which the first is a finite
            number (with file and row).
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
                    "expected 'score<TAB>sentence1<TAB>sentence2'",
                    file=path,
                    row=row,
                    remedy="Write three fields without quoting, the first one a number.",
                ) from None
            if not math.isfinite(scores[-1]):
                raise DataError(f"expected a finite score, got {score}", file=path, row=row)
            first.append(one)
            second.append(two)
    if not scores:
        raise DataError("the file has no rows", file=path)
    return STSPairs(task, np.array(scores), first, second)
