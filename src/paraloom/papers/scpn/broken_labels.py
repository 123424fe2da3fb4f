"""Labels that paraphrases break: a classifier gets a text right, and a paraphrase of it wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import DataError
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.evaluate.classification import STRENGTHS
from paraloom.evaluate.classification_tasks import find_classification_tasks, read_classification_task
from paraloom.evaluate.logistic import fit_logistic
from paraloom.papers.scpn.attacks import Rewording, plain_text

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_HELD_OUT = 5


@dataclass(frozen=True)
class LabeledSplit:
    """Texts and labels to learn from, and to test with, these in random order."""

    train: list[str]
    train_labels: Ints
    test: list[str]
    test_labels: Ints
    classes: int

    @classmethod
    def read(cls, folder: Path, name: str, seed: int) -> LabeledSplit:
        """Read a task of a folder."""
        (path,) = find_classification_tasks(folder, [name]).values()
        task = read_classification_task(name, path)
        if task.test is None:
            raise DataError("the task has no test texts", file=path, remedy="Give train.tsv and test.tsv.")
        names = sorted(set(task.train.labels))
        train, test = (
            np.array([names.index(one) for one in part.labels], np.int64) for part in (task.train, task.test)
        )
        order, texts = generator(seed, 0).permutation(len(test)), plain_text(task.test.texts)
        return cls(plain_text(task.train.texts), train, [texts[row] for row in order], test[order], len(names))

    def draw(self, size: int, seed: int) -> tuple[list[str], Ints]:
        """Texts and labels of one training."""
        rows = generator(seed, 1).permutation(len(self.train))[:size]
        return [self.train[row] for row in rows], self.train_labels[rows]


class LabelClassifier:
    """A logistic regression on vectors of texts and of what is added to each; a fifth of the texts tunes it."""

    def __init__(
        self, encoder: EncoderLike, texts: Sequence[str], labels: Ints, added: Sequence[Sequence[str]], classes: int
    ) -> None:
        self._encoder = encoder
        flat = [one for group in added for one in group]
        own = np.arange(len(texts))
        owners = np.concatenate([own, np.repeat(own, [len(group) for group in added])])
        vectors = np.asarray(encoder.encode([*texts, *flat]), np.float64)
        self._mean = vectors[: len(texts)].mean(axis=0)
        self._size = math.sqrt(float(np.square(vectors[: len(texts)] - self._mean).sum(axis=1).mean())) or 1.0
        vectors, targets = (vectors - self._mean) / self._size, labels[owners]
        learned, asked = owners % _HELD_OUT > 0, own[own % _HELD_OUT == 0]

        def right(strength: float) -> int:
            model = fit_logistic(vectors[learned], targets[learned], classes, strength, tolerance=1e-4)
            return int((model.predict(vectors[asked]) == labels[asked]).sum())

        self._model = fit_logistic(vectors, targets, classes, max(STRENGTHS, key=right))

    def predict(self, texts: Sequence[str]) -> Ints:
        """The class of each text."""
        vectors = np.asarray(self._encoder.encode(list(texts)), np.float64)
        return self._model.predict((vectors - self._mean) / self._size)


@dataclass(frozen=True)
class Rewordings:
    """The paraphrases of n texts, in a row."""

    groups: Sequence[Sequence[Rewording]]

    @cached_property
    def flat(self) -> list[Rewording]:
        """All of them."""
        return [one for group in self.groups for one in group]

    @cached_property
    def owners(self) -> Ints:
        """The text that each is of."""
        return np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])

    @cached_property
    def keep(self) -> Bools:
        """Which of them keep the meaning, by the judge."""
        return np.array([one.keeps for one in self.flat], bool)

    def flipped(self, classifier: LabelClassifier, labels: Ints, right: Bools) -> Bools:
        """Which of them a classifier gets wrong, of texts that it got right."""
        predicted = classifier.predict([one.text for one in self.flat])
        return right[self.owners] & (predicted != labels[self.owners])

    def broken(self, flipped: Bools) -> Bools:
        """`(seeds, n)`: the texts of which one is flipped, out of `(seeds, p)` of paraphrases."""
        return np.stack([np.bincount(self.owners[row], minlength=len(self.groups)) > 0 for row in flipped])
