"""Classification of frozen vectors by logistic regression, beside the majority class, TF-IDF and untrained vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from paraloom.core.array_types import Bools, Ints
from paraloom.core.digests import digest, signature
from paraloom.core.errors import ConfigError
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.results import ResultRecord, text_table
from paraloom.core.seeds import generator
from paraloom.core.stats import Estimate, paired_difference, wilson_interval
from paraloom.evaluate.base import EvaluationResult
from paraloom.evaluate.classification_tasks import (
    ClassificationTask,
    find_classification_tasks,
    read_classification_task,
)
from paraloom.evaluate.logistic import Features, Logistic, fit_logistic
from paraloom.evaluate.tfidf import TfIdf
from paraloom.evaluate.untrained import encoders_by_name
from paraloom.text.tokens import tokenize

STRENGTHS = tuple(4.0**power for power in range(-1, 6))
"""Inverse strengths of the penalty to choose from, for features whose mean squared norm is 1; the strongest first."""

HELD_OUT = 0.1  # Share of the training texts that the strength is chosen on, where a development file is missing
MEAN = "mean"  # The row of the mean over the tasks

MAJORITY, TFIDF = "majority class", "TF-IDF"


# While the strength is chosen, regressions need not be exact.
_COARSE, _EXACT = 1e-4, 1e-5


@dataclass(frozen=True)
class ClassificationRow(ResultRecord):
    """Accuracy of one system on one task."""

    task: str  # The task, or `mean`
    system: str
    role: str  # 'majority', 'tfidf', 'untrained' or 'encoder'
    train: int  # Texts that each regression learned from (of folds, the mean)
    n: int  # Texts that were tested
    classes: int  # Number of classes
    accuracy: float  # Share of right predictions, in percent
    low: float  # Lower end of the 95 % interval (Wilson; of a mean, from those of its tasks)
    high: float  # Upper end of that interval
    # The inverse strength of the penalty that was chosen (of folds, the median); NaN without a regression.
    strength: float = math.nan


@dataclass(frozen=True)
class ClassificationDifference(ResultRecord):
    """Accuracy of an encoder minus that of a baseline, in points."""

    task: str
    system: str
    baseline: str  # What its training started from, or TF-IDF
    value: float
    low: float  # Lower end of the 95 % interval of the difference of two proportions of the same texts (Newcombe)
    high: float  # Upper end of that interval


@dataclass(frozen=True)
class ClassificationResult(EvaluationResult):
    """Result of `evaluate_classification`."""

    rows: tuple[ClassificationRow, ...]  # Accuracies, task by task; with several tasks, the means at the end
    # Each encoder minus what it started from, and minus TF-IDF, by task.
    differences: tuple[ClassificationDifference, ...]
    signature: str  # What was measured and how
    encoders: dict[str, str]

    def accuracy(self, task: str, system: str) -> float:
        for row in self.rows:
            if (row.task, row.system) == (task, system):
                return row.accuracy
        raise ConfigError(f"row '{task}/{system}' not found in the result")

    def to_dict(self) -> dict[str, Any]:
        return {
            "signature": self.signature,
            "encoders": self.encoders,
            "classification": [row.to_dict() for row in self.rows],
            "differences": [one.to_dict() for one in self.differences],
        }

    def format(self) -> str:
        """A table of systems by tasks, each accuracy with its interval, and the differences."""
        tasks = list(dict.fromkeys(row.task for row in self.rows))
        lines = ["accuracy in percent of logistic regression on frozen vectors, with 95 % intervals"]
        cells: dict[str, dict[str, str]] = {}
        for row in self.rows:
            cells.setdefault(row.system, {})[row.task] = Estimate(row.accuracy, row.low, row.high).format(".1f")
        lines += _table(tasks, cells)
        compared: dict[str, dict[str, str]] = {}
        for one in self.differences:
            figure = Estimate(one.value, one.low, one.high).format("+.1f")
            compared.setdefault(f"{one.system} - {one.baseline}", {})[one.task] = figure
        if compared:
            lines += ["", "difference in points, with 95 % intervals", *_table(tasks, compared)]
        return "\n".join([*lines, "", self.signature])


def evaluate_classification(
    encoder: EncoderLike | Mapping[str, EncoderLike],
    folder: str | Path,
    tasks: Iterable[str] | None = None,
    *,
    untrained: EncoderLike | Mapping[str, EncoderLike] | None = None,
    seed: int = 1,
) -> ClassificationResult:
    """Classify texts by their frozen vectors, with logistic regression (L2).

    The strength of the penalty is chosen on the development file, or on a tenth of the training texts that is held
    out; then the regression is fitted to all training texts. Rows beside the encoders: the majority class (doing
    nothing), TF-IDF of the words (the obvious), and what an encoder's training started from.

    Args:
        encoder: Any sentence encoder, or several by name.
        folder: A folder with `train.tsv` and `test.tsv` (and `dev.tsv`) of lines `label<TAB>text`, or `all.tsv` of
            lines `fold<TAB>label<TAB>text` for a test of each fold; or a folder of such folders. Plain or compressed.
        tasks: Names of subfolders; all by default.
        untrained: What the training of the encoder started from; for several encoders, by their names.
        seed: Seed for choosing the held-out texts.

    Returns:
        Accuracies in percent with intervals, and differences of each encoder to what it started from and to TF-IDF.

    Raises:
        ConfigError: A task is unknown, or `untrained` names an unknown encoder.
        DataError: A task lacks a test file, has one class only, or a malformed row (with file and row).

    Reference:
        Conneau and Kiela 2018, "SentEval": frozen vectors, the strength chosen on held-out data, ten folds.

    Example:
        >>> import paraloom, tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> rows = ["animal\\ta dog sleeps", "money\\tstocks fell", "animal\\ta cat sleeps", "money\\tthe bank gains"]
        >>> _ = (folder / "train.tsv").write_text("\\n".join(rows * 5))
        >>> _ = (folder / "test.tsv").write_text("animal\\ta dog and a cat\\nmoney\\tstocks gain")
        >>> result = evaluate_classification(paraloom.Encoder.load("english"), folder)
        >>> result.accuracy(folder.name, "majority class")
        50.0
    """
    encoders, starts = encoders_by_name(encoder, untrained)
    by_name = find_classification_tasks(folder, tasks)
    rows: list[ClassificationRow] = []
    differences: list[ClassificationDifference] = []
    with progress("classifying", (2 + len(encoders) + len(starts)) * len(by_name), unit="regressions") as advance:
        for name, path in by_name.items():
            experiment = _Experiment(read_classification_task(name, path), seed)
            right: dict[str, Bools] = {}
            for system, role, model in _systems(encoders, starts):
                outcome = experiment.outcome(role, model)
                rows.append(experiment.row(system, role, outcome))
                right[system] = outcome.right
                advance(1)
            for system in encoders:
                baselines = [f"{system}, untrained", TFIDF] if system in starts else [TFIDF]
                differences += [_difference(name, system, baseline, right) for baseline in baselines]
    if len(by_name) > 1:
        rows += _means(rows)
    how = signature(
        "classification",
        regression="logistic",
        penalty="l2",
        strength="held-out",
        tasks=len(by_name),
        n=sum(row.n for row in rows if row.role == "majority" and row.task != MEAN),
        seed=seed,
        encoders=digest([model.signature for model in encoders.values()])[:12],
    )
    signatures = {name: model.signature for name, model in encoders.items()}
    return ClassificationResult(tuple(rows), tuple(differences), how, signatures)


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Tested texts that a system got right, and the strengths that it chose."""

    right: Bools
    strengths: Sequence[float] = ()


class _Experiment:
    """A task as one list of texts, with the rows of each training, its held-out part and its test."""

    def __init__(self, task: ClassificationTask, seed: int) -> None:
        self.name = task.name
        parts = [part for part in (task.train, task.test, task.dev) if part is not None]
        self.texts = [text for part in parts for text in part.texts]
        self.classes = sorted(set(task.train.labels))
        index = {label: number for number, label in enumerate(self.classes)}
        self.labels = np.array([index[label] for part in parts for label in part.labels], np.int64)
        self.splits = list(_splits(task, seed))

    def row(self, system: str, role: str, outcome: _Outcome) -> ClassificationRow:
        right, n = int(outcome.right.sum()), len(outcome.right)
        low, high = wilson_interval(right, n)
        train = round(fmean(len(split.train) for split in self.splits))
        strength = median(outcome.strengths) if outcome.strengths else math.nan
        percent = (100 * right / n, 100 * low, 100 * high)
        return ClassificationRow(self.name, system, role, train, n, len(self.classes), *percent, strength)

    def outcome(self, role: str, model: EncoderLike | None) -> _Outcome:
        if model is not None:
            return self._encoder(model)
        return self._majority() if role == "majority" else self._tfidf()

    def _majority(self) -> _Outcome:
        parts = []
        for split in self.splits:
            counts = Counter(self.labels[split.train].tolist())
            common = min(counts, key=lambda label: (-counts[label], label))
            parts.append(self.labels[split.test] == common)
        return _Outcome(np.concatenate(parts))

    def _tfidf(self) -> _Outcome:
        lists = tokenize(self.texts)
        results = []
        for split in self.splits:
            table = TfIdf.count([tokenize([self.texts[row] for row in split.train.tolist()])])
            results.append(self._classify(table.matrix(lists), split))
        return _join(results)

    def _encoder(self, model: EncoderLike) -> _Outcome:
        vectors = np.asarray(model.encode(self.texts), np.float64)
        results = []
        for split in self.splits:
            centered = vectors - vectors[split.train].mean(axis=0)
            size = math.sqrt(float(np.square(centered[split.train]).sum(axis=1).mean()))
            results.append(self._classify(centered / (size or 1.0), split))
        return _join(results)

    def _classify(self, features: Features, split: _Split) -> _Outcome:
        count = len(self.classes)
        # The choice needs no more than single precision, and takes half the time.
        single = features.astype(np.float32)
        learned = single[split.learned], self.labels[split.learned]
        held_out, answers = single[split.held_out], self.labels[split.held_out]
        best, chosen, regression = -1, STRENGTHS[0], None
        start: Logistic | None = None
        worse = 0
        for strength in STRENGTHS:
            start = fit_logistic(*learned, count, strength, start, tolerance=_COARSE)
            right = int((start.predict(held_out) == answers).sum())
            if right > best:
                best, chosen, regression, worse = right, strength, start, 0
            else:
                worse += 1
                if worse == 2:
                    break
        train = features[split.train], self.labels[split.train]
        final = fit_logistic(*train, count, chosen, regression, tolerance=_EXACT)
        return _Outcome(final.predict(features[split.test]) == self.labels[split.test], (chosen,))


@dataclass(frozen=True, eq=False)
class _Split:
    """Rows of one training: `learned` and `held_out` to choose the strength with, all of `train`, and `test`."""

    learned: Ints
    held_out: Ints
    train: Ints
    test: Ints


def _splits(task: ClassificationTask, seed: int) -> Iterator[_Split]:
    rows = np.arange(len(task.train.labels))
    folds = task.train.folds
    if folds is not None:
        for number, fold in enumerate(sorted(set(folds.tolist()))):
            train = rows[folds != fold]
            yield _Split(*_hold_out(train, seed, number), train, rows[folds == fold])
        return
    tested = len(task.test.labels) if task.test is not None else 0
    test = len(rows) + np.arange(tested)
    if task.dev is not None:
        yield _Split(rows, len(rows) + tested + np.arange(len(task.dev.labels)), rows, test)
    else:
        yield _Split(*_hold_out(rows, seed, 0), rows, test)


def _hold_out(rows: Ints, seed: int, number: int) -> tuple[Ints, Ints]:
    if len(rows) == 1:
        return rows, rows
    order = generator(seed, number).permutation(rows)
    size = max(1, round(HELD_OUT * len(rows)))
    return np.sort(order[size:]), np.sort(order[:size])


def _join(outcomes: Sequence[_Outcome]) -> _Outcome:
    strengths = [strength for outcome in outcomes for strength in outcome.strengths]
    return _Outcome(np.concatenate([outcome.right for outcome in outcomes]), strengths)


def _systems(
    encoders: Mapping[str, EncoderLike], starts: Mapping[str, EncoderLike]
) -> Iterator[tuple[str, str, EncoderLike | None]]:
    """Name, role and encoder of each row."""
    yield MAJORITY, "majority", None
    yield TFIDF, "tfidf", None
    for name, model in encoders.items():
        if name in starts:
            yield f"{name}, untrained", "untrained", starts[name]
        yield name, "encoder", model


def _difference(task: str, system: str, baseline: str, right: Mapping[str, Bools]) -> ClassificationDifference:
    ours, theirs = right[system], right[baseline]
    counts = [int((a & b).sum()) for a, b in ((theirs, ours), (theirs, ~ours), (~theirs, ours), (~theirs, ~ours))]
    estimate = paired_difference(*counts)
    percent = (100 * estimate.value, 100 * estimate.low, 100 * estimate.high)
    return ClassificationDifference(task, system, baseline, *percent)


def _means(rows: Sequence[ClassificationRow]) -> list[ClassificationRow]:
    by_system: dict[str, list[ClassificationRow]] = {}
    for row in rows:
        by_system.setdefault(row.system, []).append(row)
    means = []
    for system, of_system in by_system.items():
        accuracy = fmean(row.accuracy for row in of_system)
        half = math.hypot(*((row.high - row.low) / 2 for row in of_system)) / len(of_system)
        train, n = (sum(getattr(row, key) for row in of_system) for key in ("train", "n"))
        bounds = (accuracy, accuracy - half, accuracy + half)
        means.append(ClassificationRow(MEAN, system, of_system[0].role, train, n, 0, *bounds))
    return means


def _table(columns: Sequence[str], rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    return text_table(
        ["", *columns], [(name, *(cells.get(column, "-") for column in columns)) for name, cells in rows.items()]
    )
