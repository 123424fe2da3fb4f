"""The judge of meaning: a small cross-encoder that says whether two sentences say the same."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from paraloom.bundled import JUDGE_MODEL, bundled_path
from paraloom.core.array_types import Float32s, Floats
from paraloom.core.errors import ModelError
from paraloom.text.cross_encoder import CONFIG, CrossEncoder

SAME, FORWARD, BACKWARD = "same", "forward", "backward"
"""Outputs that every judge has, as `id2label` in its configuration names them."""


@dataclass(frozen=True, eq=False)
class Judge:
    """A judge of meaning: calibrated probabilities for an ordered pair of texts."""

    encoder: CrossEncoder  # The cross-encoder
    labels: tuple[str, ...]  # Names of its outputs
    slopes: Floats  # float64 `(outputs,)`, by which logits are multiplied
    shifts: Floats  # float64 `(outputs,)`, which are added to them then

    @property
    def signature(self) -> str:
        return self.encoder.signature

    @classmethod
    def load(cls, folder: str | Path) -> Judge:
        """Load a judge from the folder that `train judge` wrote."""
        encoder = CrossEncoder.load(folder, label=SAME)
        file = Path(folder) / CONFIG
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        labels = tuple(config["id2label"][str(index)] for index in range(len(config["id2label"])))
        missing = [name for name in (SAME, FORWARD, BACKWARD) if name not in labels]
        if missing:
            raise ModelError(
                f"not a judge: 'id2label' lacks {', '.join(missing)}",
                file=file,
                remedy="Train or copy the model again.",
            )
        given = config.get("calibration") or {}
        try:
            values = np.array([given.get(name, (1.0, 0.0)) for name in labels], np.float64).reshape(len(labels), 2)
        except (TypeError, ValueError, AttributeError):
            values = np.full((len(labels), 2), np.nan)
        if not np.isfinite(values).all():
            raise ModelError("'calibration' is damaged", file=file, remedy="Train or copy the model again.")
        return cls(encoder, labels, values[:, 0], values[:, 1])

    def predict(self, firsts: Sequence[str], seconds: Sequence[str]) -> Float32s:
        """Probability that n ordered pairs say the same, float32 `(n,)`; NaN where a text is empty."""
        return self.probabilities(firsts, seconds)[:, self.labels.index(SAME)]

    def probabilities(self, firsts: Sequence[str], seconds: Sequence[str]) -> Float32s:
        """Probabilities, float32 `(n, outputs)`: of long texts the lowest of their parts; NaN of empty ones."""
        pairs = list(zip(firsts, seconds, strict=True))
        parts = {
            pair: windows(*pair) if self._is_cut(*pair) else [pair]
            for pair in dict.fromkeys(pairs) if pair[0].strip() and pair[1].strip()
        }  # fmt: skip
        values = np.full((len(pairs), len(self.labels)), np.nan, np.float32)
        if not parts:
            return values
        wanted = sorted({part for split in parts.values() for part in split})
        logits = self.encoder.logits(wanted).astype(np.float64) * self.slopes + self.shifts
        known = dict(zip(wanted, (1 / (1 + np.exp(-logits))).astype(np.float32), strict=True))
        for number, pair in enumerate(pairs):
            if pair in parts:
                values[number] = np.min([known[part] for part in parts[pair]], axis=0)
        return values

    def _is_cut(self, first: str, second: str) -> bool:
        """True if a pair has more tokens than the model reads; a token has a character or more."""
        if len(first) + len(second) < self.encoder.max_length:
            return False
        encoding = self.encoder.tokenizer.encode(first, second)
        return bool(encoding.overflowing)


@dataclass(frozen=True, eq=False)
class EntailmentJudge:
    """Any cross-encoder as a judge: both sides say the same as far as each of them entails the other."""

    encoder: CrossEncoder
    labels: ClassVar[tuple[str, ...]] = (SAME, FORWARD, BACKWARD)

    @property
    def signature(self) -> str:
        return self.encoder.signature

    def probabilities(self, firsts: Sequence[str], seconds: Sequence[str]) -> Float32s:
        """Values of n pairs, float32 `(n, 3)`: the lower of both directions, and each; NaN where a text is empty."""
        values = np.stack([self.encoder.predict(firsts, seconds), self.encoder.predict(seconds, firsts)], axis=1)
        if self.encoder.readout.activation == "identity":
            values = np.exp(-np.logaddexp(0, -values.astype(np.float64))).astype(np.float32)
        return np.column_stack([values.min(axis=1), values])


def load_judge(folder: str | Path, *, file: str = "", label: str = "") -> Judge | EntailmentJudge:
    """Load the judge of a folder: one that `train judge` wrote, or any cross-encoder in ONNX format."""
    try:
        known = json.loads((Path(folder) / CONFIG).read_text(encoding="utf-8")).get("id2label") or {}
    except (OSError, ValueError, AttributeError):
        known = {}  # CrossEncoder.load says what is wrong
    if isinstance(known, dict) and SAME in known.values():
        return Judge.load(folder)
    return EntailmentJudge(CrossEncoder.load(folder, file=file, label=label))


@lru_cache(maxsize=1)
def bundled_judge() -> Judge:
    """The judge that comes with the package, loaded once per process."""
    folder = bundled_path(JUDGE_MODEL)
    assert folder is not None
    return Judge.load(folder)


_SENTENCE = re.compile(r"\S.*?(?:[.!?]+[\"'”’)\]]*(?=\s)|\n|$)", re.DOTALL)
_WORD = re.compile(r"\w+")
_MOST_SENTENCES = 4
_MOST_WORDS = 40
_MERGED = 0.1
_SHAPES = [(1, n) for n in range(1, _MOST_SENTENCES + 1)] + [(n, 1) for n in range(2, _MOST_SENTENCES + 1)]


def windows(first: str, second: str) -> list[tuple[str, str]]:
    """Split a pair at its sentences: one against up to four, in order, those that share most words.

    All of both texts is in one of the pairs. A pair of which one side has more than four times as many sentences as
    the other comes back whole.
    """
    sides = (_sentences(first), _sentences(second))
    words = [[Counter(_WORD.findall(text.lower())) for text in side] for side in sides]
    ends = (len(sides[0]), len(sides[1]))
    best = {(0, 0): (0.0, (0, 0))}
    for start in ((i, j) for i in range(ends[0]) for j in range(ends[1])):
        for shape in _SHAPES if start in best else ():
            end = (start[0] + shape[0], start[1] + shape[1])
            if end[0] > ends[0] or end[1] > ends[1]:
                continue
            a, b = (sum(words[side][start[side] : end[side]], Counter()) for side in (0, 1))
            value = best[start][0] + 2 * (a & b).total() - _MERGED * sum(shape) * (a.total() + b.total()) / 2
            if end not in best or value > best[end][0]:
                best[end] = (value, start)
    if ends not in best:
        return [(first, second)]
    pairs: list[tuple[str, str]] = []
    while ends != (0, 0):
        start = best[ends][1]
        pairs.append((" ".join(sides[0][start[0] : ends[0]]), " ".join(sides[1][start[1] : ends[1]])))
        ends = start
    return pairs[::-1]


def _sentences(text: str) -> list[str]:
    """Sentences of a text, those of more than 40 words in parts of equal length."""
    parts = []
    for match in _SENTENCE.finditer(text):
        words = match.group().split()
        count = -(-len(words) // _MOST_WORDS)
        parts += [" ".join(words[len(words) * i // count : len(words) * (i + 1) // count]) for i in range(count)]
    return parts
