"""The network of the span parser, for inference by numpy: a bidirectional LSTM, tags of words, labels of spans."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s
from paraloom.syntax.span_kernels import normalized_spans
from paraloom.syntax.word_features import NUM_AFFIXES, UNKNOWN, WordFeatures

Matrix = Float32s

LAYERS = 2
COLUMNS = 16
"""Sentences that are read together, and spans that are labeled together. Every product of matrices has this many
columns, filled or not: libraries round products of other sizes differently, and a score must not depend on its
neighbors."""
_PRODUCTS = 1 << 18
"""Multiplications of a product that OpenBLAS computes in one thread. Larger ones are cut: sums of several threads are
rounded differently, and on a busy machine the threads mostly wait for each other."""


@dataclass(frozen=True)
class SpanNetwork:
    """Scores tags, and labels of spans, each a difference of projected states at its ends (Stern et al. 2017)."""

    # float32 by name, as `SpanModule` trains them, and `given`, int8 `(V, d)`.
    tensors: Mapping[str, npt.NDArray[np.generic]]

    def score(self, sentences: Sequence[WordFeatures]) -> Iterator[tuple[Matrix, Matrix]]:
        """Score words and spans; the same bytes whatever else is in the call, fastest in the order of lengths."""
        for start in range(0, len(sentences), COLUMNS):
            yield from self._score_block(sentences[start : start + COLUMNS])

    def _score_block(self, sentences: Sequence[WordFeatures]) -> Iterator[tuple[Matrix, Matrix]]:
        """Score up to `COLUMNS` sentences: arrays of (positions, numbers, sentences)."""
        weights = self._weights
        lengths = [len(sentence.words) for sentence in sentences]
        states = self._embed(sentences)
        for layer in weights.layers:
            states = _read(layer, states, lengths)
        tags = weights.tag(np.maximum(weights.tag_hidden(states[1:-1]), 0))
        half = states.shape[1] // 2
        # Between two words: what was read before it from the left, and behind it from the right.
        between = np.concatenate([states[:-1, :half], states[1:, half:]], axis=1)
        projected = np.ascontiguousarray(weights.span(between).transpose(2, 0, 1))
        for number, n in enumerate(lengths):
            spans = normalized_spans(projected[number, : n + 1], *weights.norm, COLUMNS)
            blocks = weights.label(spans.reshape(-1, COLUMNS, spans.shape[1]).transpose(0, 2, 1))
            labels = blocks.transpose(0, 2, 1).reshape(len(spans), -1)
            yield tags[:n, :, number], labels[: n * (n + 1) // 2]

    def _embed(self, sentences: Sequence[WordFeatures]) -> Matrix:
        """Vectors of the words between one for the beginning and one for the end: `(longest + 2, width, COLUMNS)`."""
        weights = self._weights
        shape = max(len(sentence.words) for sentence in sentences) + 2, COLUMNS
        inputs = np.zeros((*shape, weights.word.shape[1]), np.float32)
        given = np.full(shape, UNKNOWN)
        for number, sentence in enumerate(sentences):
            end = len(sentence.words) + 1
            affixes = weights.affix[sentence.affixes[:, 0]]
            for column in range(1, NUM_AFFIXES):
                affixes += weights.affix[sentence.affixes[:, column]]
            inputs[0, number], inputs[end, number] = weights.boundary
            inputs[1:end, number] = weights.word[sentence.words] + affixes * np.float32(1 / NUM_AFFIXES)
            given[1:end, number] = sentence.vectors
        vectors = np.ascontiguousarray(inputs.transpose(0, 2, 1))
        if weights.given.size:
            known = weights.given[given].transpose(0, 2, 1).astype(np.float32, order="C")
            vectors += weights.given_projection(known)
        return vectors

    @cached_property
    def _weights(self) -> _Weights:
        matrices = {name: np.asarray(tensor, np.float32) for name, tensor in self.tensors.items() if name != "given"}
        table = np.asarray(self.tensors["given"], np.int8)
        # The mean of a span is subtracted from its numbers: so it is from those of its two ends.
        span, bias = (matrices[name] - matrices[name].mean(axis=0) for name in ("span.weight", "span.bias"))
        return _Weights(
            word=matrices["word.weight"],
            affix=matrices["affix.weight"],
            boundary=matrices["boundary"],
            given=np.concatenate([np.zeros((1, table.shape[1]), np.int8), table]),
            given_projection=_Linear.of(matrices["given_projection.weight"] / np.float32(127)),
            layers=[_layer(matrices, layer) for layer in range(LAYERS)],
            tag_hidden=_Linear.of(matrices["tag_hidden.weight"], matrices["tag_hidden.bias"]),
            tag=_Linear.of(matrices["tag.weight"], matrices["tag.bias"]),
            span=_Linear.of(span),
            norm=(bias, matrices["norm.weight"], matrices["norm.bias"]),
            label=_Linear.of(matrices["label.weight"], matrices["label.bias"]),
        )


class _Linear(NamedTuple):
    """A linear map to m numbers."""

    parts: Matrix
    bias: Matrix | None
    size: int

    @classmethod
    def of(cls, weight: Matrix, bias: Matrix | None = None) -> _Linear:
        """The map of a weight `(m, d)` and a bias `(m,)`."""
        return cls(_cut(weight), None if bias is None else bias[:, None], len(weight))

    def __call__(self, columns: Matrix) -> Matrix:
        """Map `(…, d, COLUMNS)` to `(…, m, COLUMNS)`."""
        products = self.parts @ columns[..., None, :, :]
        result: Matrix = products.reshape(*columns.shape[:-2], -1, COLUMNS)[..., : self.size, :]
        if self.bias is not None:
            result += self.bias
        return result


def _cut(weight: Matrix) -> Matrix:
    """A weight `(m, d)` in parts `(parts, rows, d)`, each small enough for a product in one thread."""
    size, width = weight.shape
    parts = -(-size * width * COLUMNS // _PRODUCTS) or 1
    rows = -(-size // parts)
    padded = np.zeros((parts * rows, width), np.float32)
    padded[:size] = weight
    return padded.reshape(parts, rows, width)


class _Layer(NamedTuple):
    """A bidirectional LSTM: from inputs and from states to `(2 * 4 h)`, three gates at half scale and new values."""

    inputs: _Linear
    recurrent: Matrix


class _Weights(NamedTuple):
    """The tensors in the form in which they are multiplied."""

    word: Matrix
    affix: Matrix
    boundary: Matrix
    given: npt.NDArray[np.int8]
    given_projection: _Linear
    layers: list[_Layer]
    tag_hidden: _Linear
    tag: _Linear
    span: _Linear
    norm: tuple[Matrix, Matrix, Matrix]
    label: _Linear


def _layer(matrices: Mapping[str, Matrix], layer: int) -> _Layer:
    names = f"l{layer}", f"l{layer}_reverse"
    inputs = np.concatenate([_gates(matrices[f"lstm.weight_ih_{name}"]) for name in names])
    biases = (matrices[f"lstm.bias_ih_{name}"] + matrices[f"lstm.bias_hh_{name}"] for name in names)
    recurrent = np.stack([_cut(_gates(matrices[f"lstm.weight_hh_{name}"])) for name in names])
    return _Layer(_Linear.of(inputs, np.concatenate([_gates(bias) for bias in biases])), recurrent)


def _gates(matrix: Matrix) -> Matrix:
    """Torch's order (input, memory, new values, output) → that of `_Layer`."""
    to_input, memory, new, output = np.split(matrix, 4)
    # sigmoid(x) = tanh(x / 2) / 2 + 1/2
    return np.concatenate([np.float32(0.5) * np.concatenate([to_input, memory, output]), new])


def _read(layer: _Layer, inputs: Matrix, lengths: Sequence[int]) -> Matrix:
    """Read `(positions, d, COLUMNS)` in both directions; the states are `(positions, 2 h, COLUMNS)`."""
    positions, size, half = len(inputs), layer.recurrent.shape[3], np.float32(0.5)
    gates = layer.inputs(inputs).reshape(positions, 2, 4 * size, COLUMNS)
    for number, n in enumerate(lengths):
        # A closed gate keeps the state at zero until the end of the sentence comes, read from the right.
        gates[n + 2 :, 1, :size, number] = -np.inf
    states = np.empty((positions, 2 * size, COLUMNS), np.float32)
    hidden, cell = np.zeros((2, size, COLUMNS), np.float32), np.zeros((2, size, COLUMNS), np.float32)
    products = np.empty((*layer.recurrent.shape[:3], COLUMNS), np.float32)
    now = products.reshape(2, -1, COLUMNS)[:, : 4 * size]
    shares, new = now[:, : 3 * size], now[:, 3 * size :]
    to_input, memory, output = (shares[:, part * size : (part + 1) * size] for part in range(3))
    for left in range(positions):
        right = positions - 1 - left
        np.matmul(layer.recurrent, hidden[:, None], out=products)
        now[0] += gates[left, 0]
        now[1] += gates[right, 1]
        np.tanh(now, out=now)
        shares *= half
        shares += half
        new *= to_input
        cell *= memory
        cell += new
        np.tanh(cell, out=hidden)
        hidden *= output
        states[left, :size], states[right, size:] = hidden
    return states
