"""Phrase similarity: SemEval 2013 task 5a and Turney's noun-modifier questions, read and answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, signature
from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.stats import wilson_interval
from paraloom.io import read_lines

Similarity: TypeAlias = Literal["cosine", "dot"]

# Rounding may part two equal products by some 1e-6; what is nearer than this is a tie.
_TIE = 1e-5


@dataclass(frozen=True)
class Judged:
    """SemEval 2013 5a: does the word mean the same as the phrase?"""

    phrase: str
    word: str
    same: bool


@dataclass(frozen=True)
class Question:
    """Turney 2012: which of the choices means the same as the two words?  The first one does.

    choices: the answer and the distractors, the two words themselves left out (they are no choice among five).
    """

    phrase: str
    choices: tuple[str, ...]

    @property
    def reversed(self) -> str:
        """The two words the other way round."""
        return " ".join(reversed(self.phrase.split(" ")))


@dataclass(frozen=True)
class PhraseRow:
    """One task's figure in percent with its 95 % interval (Wilson), over n items."""

    task: str
    accuracy: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class PhraseTable:
    """What `evaluate_phrases` found.  threshold: where SemEval's similarity parts same from different."""

    rows: tuple[PhraseRow, ...]
    threshold: float
    signature: str

    def figure(self, task: str) -> float:
        """The accuracy of a task in percent."""
        return next(row.accuracy for row in self.rows if row.task == task)

    def to_json(self) -> dict[str, Any]:
        """Everything, as json.dumps takes it."""
        return {
            "signature": self.signature,
            "threshold": self.threshold,
            "rows": [vars(row).copy() for row in self.rows],
        }

    def render(self) -> str:
        """A plain-text table for people, the paper's rows below ours."""
        lines = [f"{'task':<18} {'accuracy':>8} {'95 %':>14} {'items':>6}"]
        lines += [
            f"{row.task:<18} {row.accuracy:>8.2f} {f'[{row.low:.1f}, {row.high:.1f}]':>14} {row.n:>6}"
            for row in self.rows
        ]
        lines += ["", f"{'published (PGRU)':<28} {'SemEval2013':>12} {'Turney(5)':>10} {'Turney(10)':>10}"]
        lines += [f"{name:<28} {a:>12.2f} {b:>10.2f} {c:>10.2f}" for name, (a, b, c) in PUBLISHED.items()]
        return "\n".join([*lines, "", self.signature])


PUBLISHED: dict[str, tuple[float, float, float]] = {
    "SUM": (65.46, 39.58, 19.79),
    "FCT(LM)": (67.22, 42.59, 27.55),
    "GRU(PPDB)": (71.29, 41.44, 26.37),
    "Tree-RNN, task-specific": (71.50, 40.95, 27.20),
    "FCT, task-specific": (68.84, 41.90, 33.80),
    "GRU, task-specific": (73.44, 48.88, 39.23),
}
"""Zhou, Huang and Ji 2017, Table 1: SemEval2013, Turney2012(5), Turney2012(10)."""

FILES = {
    "semeval-train": "semeval2013-5a/en.trainSet",
    "semeval-test": "semeval2013-5a/en.testSet",
    "turney-train": "turney2012/jair.test",
    "turney-test": "turney2012/jair.train",
}
"""Below the folder of tasks.  Turney's 1,500 questions for measuring are in the file called jair.train (as the paper
counts: 1,500 to measure, 680 to learn from, of which jair.test has 432)."""


def read_judged(path: str | Path) -> list[Judged]:
    """The items of SemEval 2013 5a: four lines each, two of the phrase, the word, and 1 or 0.

    Raises DataError with the row of a record that has another form.
    """
    found = []
    for row, (first, second, word, label) in _records(path, 4):
        if label not in ("0", "1"):
            raise DataError(f"'{label}' is neither 1 nor 0", file=path, row=row + 3)
        found.append(Judged(_phrase(first, second), word, label == "1"))
    return found


def read_questions(path: str | Path) -> list[Question]:
    """Turney's questions: nine lines each, two of the phrase and seven choices, of which 2 and 3 are its own words."""
    return [
        Question(_phrase(first, second), (answer, *others[2:]))
        for _, (first, second, answer, *others) in _records(path, 9)
    ]


def texts_of_tasks(folder: str | Path) -> Iterator[str]:
    """Every phrase and word of the tasks in a folder, of training and test sets alike."""
    for name in ("semeval-train", "semeval-test"):
        for item in read_judged(Path(folder) / FILES[name]):
            yield from (item.phrase, item.word)
    for name in ("turney-train", "turney-test"):
        for question in read_questions(Path(folder) / FILES[name]):
            yield from (question.phrase, *question.choices)


def evaluate_phrases(
    encoder: EncoderLike, folder: str | Path, *, similarity: Similarity = "cosine", threshold: float | None = None
) -> PhraseTable:
    """Accuracy on SemEval2013 (5a), Turney2012(5) and Turney2012(10), as PGRU Table 1.

    SemEval: a phrase and a word are the same where their similarity is above a threshold, the best one on the
    training set unless one is given.  Turney(5): the answer's similarity is the highest of five; (10): and higher
    than those of the reversed phrase with all five.  Of equal ones each counts by its share, so that an encoder that
    knows no order gets half of (5) in (10).

    >>> evaluate_phrases(encoder, "data/phrase").figure("SemEval2013")    # doctest: +SKIP
    """
    folder = Path(folder)
    test = read_judged(folder / FILES["semeval-test"])
    questions = read_questions(folder / FILES["turney-test"])
    if threshold is None:
        train = read_judged(folder / FILES["semeval-train"])
        threshold = best_threshold(*_judged(encoder, train, similarity))
    scores, same = _judged(encoder, test, similarity)
    five, ten = answer_shares(encoder, questions, similarity)
    rows = (
        _row("SemEval2013", (scores > threshold) == same),
        _row("Turney2012(5)", five),
        _row("Turney2012(10)", ten),
    )
    how = signature("phrases", similarity=similarity, ties="shared", encoder=digest(encoder.signature)[:12])
    return PhraseTable(rows, float(threshold), how)


def best_threshold(scores: npt.NDArray[np.float32], same: npt.NDArray[np.bool_]) -> float:
    """The threshold with the highest accuracy; halfway between two scores.

    >>> best_threshold(np.float32([0.1, 0.4, 0.6]), np.array([False, True, True]))
    0.25
    """
    order = np.argsort(scores, kind="stable")
    sorted_scores = scores[order].astype(np.float64)
    # Right with k items below the threshold: the different ones below it and the same ones above it.
    below = np.concatenate([[0], np.cumsum(~same[order])])
    above = same.sum() - np.concatenate([[0], np.cumsum(same[order])])
    edges = np.concatenate([[sorted_scores[0] - 1], (sorted_scores[1:] + sorted_scores[:-1]) / 2, sorted_scores[-1:]])
    return round(float(edges[int((below + above).argmax())]), 6)


def answer_shares(
    encoder: EncoderLike, questions: Sequence[Question], similarity: Similarity = "cosine"
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """For each question 1 where the answer is the nearest choice, its share where others are as near, else 0.

    Among the five choices, and among the ten of the phrase and the reversed phrase.
    """
    words = list(dict.fromkeys(word for question in questions for word in question.choices))
    place = {word: i for i, word in enumerate(words)}
    choices = np.array([[place[word] for word in question.choices] for question in questions])
    vectors = _vectors(encoder, words, similarity)
    straight = _vectors(encoder, [question.phrase for question in questions], similarity)
    turned = _vectors(encoder, [question.reversed for question in questions], similarity)
    near = np.einsum("nd,nkd->nk", straight, vectors[choices])
    far = np.einsum("nd,nkd->nk", turned, vectors[choices])
    return _shares(near), _shares(np.concatenate([near, far], axis=1))


def _judged(
    encoder: EncoderLike, items: Sequence[Judged], similarity: Similarity
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    first = _vectors(encoder, [item.phrase for item in items], similarity)
    second = _vectors(encoder, [item.word for item in items], similarity)
    scores: npt.NDArray[np.float32] = np.einsum("nd,nd->n", first, second)
    return scores, np.array([item.same for item in items])


def _shares(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    best = scores >= scores.max(axis=1, keepdims=True) - _TIE
    return np.where(best[:, 0], 1 / best.sum(axis=1), 0.0)


def _vectors(encoder: EncoderLike, texts: list[str], similarity: Similarity) -> npt.NDArray[np.float32]:
    vectors = encoder.encode(texts)
    if similarity == "dot":
        return vectors
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, np.where(norms > 0, norms, 1), dtype=np.float32)


def _row(task: str, right: npt.NDArray[Any]) -> PhraseRow:
    share, n = float(np.mean(right)), len(right)
    low, high = wilson_interval(share * n, n)
    return PhraseRow(task, 100 * share, 100 * low, 100 * high, n)


def _phrase(first: str, second: str) -> str:
    return f"{first.partition(chr(9))[0]} {second.partition(chr(9))[0]}"


def _records(path: str | Path, size: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Each record and the row of its first line."""
    lines = iter(read_lines(path))
    for number, record in enumerate(zip_longest(*[lines] * size)):
        row = number * size + 1
        if None in record:
            raise DataError(f"the last record has not its {size} lines", file=path, row=row)
        if not (record[0].count("\t") == record[1].count("\t") == 1):
            raise DataError("'word<TAB>tag' is expected in the first two lines of a record", file=path, row=row)
        yield row, record
