"""The network of the span parser, for inference by numpy: a bidirectional LSTM, tags of words, labels of spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paraloom.syntax.word_features import WordFeatures

Matrix = npt.NDArray[np.float32]

LAYERS = 2
_EPSILON = 1e-5


@dataclass(frozen=True)
class SpanNetwork:
    """Scores tags and labels.

    Words are the sum of their parts (a trained vector, the mean of those of the affixes, a projection of the given
    vector), read by two bidirectional layers. A span is the difference of the projected states at its two ends.

    Args:
        tensors: float32 by name, as `SpanModule` trains them, and `given`, int8 `(V, d)`.

    Reference:
        Stern, Andreas and Klein 2017, "A minimal span-based neural constituency parser"; spans are classified one by
        one, as in Teng and Zhang 2018, "Two local models for neural constituent parsing".
    """

    tensors: Mapping[str, npt.NDArray[np.generic]]

    def _matrix(self, name: str) -> Matrix:
        return np.asarray(self.tensors[name], np.float32)

    def score(self, sentences: Sequence[WordFeatures]) -> list[tuple[Matrix, Matrix]]:
        """Score the words and spans of sentences.

        Args:
            sentences: Features of k sentences, each of one word or more.

        Returns:
            For each, with n words: scores of the tags, float32 `(n, tags)`, and of the labels of its spans, float32
            `(n (n + 1) / 2, labels)`, in the order of `span_kernels.span_index`; the first label is that of a span
            that is not a constituent.
        """
        lengths = np.array([len(sentence.words) for sentence in sentences])
        # Longest first: the sentences that still have a word at a position are the first ones.
        order = np.argsort(-lengths, kind="stable")
        states = self._read([sentences[index] for index in order], lengths[order])
        results: list[tuple[Matrix, Matrix] | None] = [None] * len(sentences)
        for position, index in enumerate(order):
            results[index] = self._score_sentence(states[position, : lengths[index] + 2])
        return [result for result in results if result is not None]

    def _read(self, sentences: Sequence[WordFeatures], lengths: npt.NDArray[np.int64]) -> Matrix:
        """States of the words between a word for the beginning and one for the end: `(k, longest + 2, 2 h)`."""
        inputs = np.zeros((len(sentences), int(lengths[0]) + 2, self._matrix("word.weight").shape[1]), np.float32)
        for row, sentence in enumerate(sentences):
            inputs[row, 0] = self._matrix("boundary")[0]
            inputs[row, 1 : lengths[row] + 1] = self._embed(sentence)
            inputs[row, lengths[row] + 1] = self._matrix("boundary")[1]
        states = inputs
        for layer in range(LAYERS):
            states = np.concatenate(
                [self._lstm(states, lengths + 2, f"l{layer}{way}") for way in ("", "_reverse")], axis=2
            )
        return states

    def _embed(self, sentence: WordFeatures) -> Matrix:
        vectors = self._matrix("word.weight")[sentence.words]
        vectors = vectors + self._matrix("affix.weight")[sentence.affixes].mean(axis=1)
        given = np.asarray(self.tensors["given"], np.float32)
        if given.size:
            known = np.concatenate([np.zeros((1, given.shape[1]), np.float32), given / 127])[sentence.vectors]
            vectors = vectors + known @ self._matrix("given_projection.weight").T
        return vectors

    def _lstm(self, inputs: Matrix, lengths: npt.NDArray[np.int64], name: str) -> Matrix:
        """The hidden states of one direction of a layer; `lengths` are sorted, longest first."""
        if name.endswith("_reverse"):
            flipped = _reverse(inputs, lengths)
            return _reverse(self._lstm_forward(flipped, lengths, name), lengths)
        return self._lstm_forward(inputs, lengths, name)

    def _lstm_forward(self, inputs: Matrix, lengths: npt.NDArray[np.int64], name: str) -> Matrix:
        weights, recurrent = self._matrix(f"lstm.weight_ih_{name}"), self._matrix(f"lstm.weight_hh_{name}").T.copy()
        bias = self._matrix(f"lstm.bias_ih_{name}") + self._matrix(f"lstm.bias_hh_{name}")
        gates = inputs @ weights.T + bias
        size = recurrent.shape[0]
        states = np.zeros((*inputs.shape[:2], size), np.float32)
        hidden, cell = np.zeros((len(inputs), size), np.float32), np.zeros((len(inputs), size), np.float32)
        for step in range(inputs.shape[1]):
            count = int(np.searchsorted(-lengths, -step))  # sentences with more words than this
            now = gates[:count, step] + hidden[:count] @ recurrent
            keep_in, keep, new, out = (now[:, part * size : (part + 1) * size] for part in range(4))
            cell[:count] = _sigmoid(keep) * cell[:count] + _sigmoid(keep_in) * np.tanh(new)
            hidden[:count] = _sigmoid(out) * np.tanh(cell[:count])
            states[:count, step] = hidden[:count]
        return states

    def _score_sentence(self, states: Matrix) -> tuple[Matrix, Matrix]:
        """Tags and labels of a sentence of n words from its states `(n + 2, 2 h)`."""
        hidden = np.maximum(states[1:-1] @ self._matrix("tag_hidden.weight").T + self._matrix("tag_hidden.bias"), 0)
        tags = hidden @ self._matrix("tag.weight").T + self._matrix("tag.bias")
        half = states.shape[1] // 2
        # Between two words: what was read before it from the left, and behind it from the right.
        between = np.concatenate([states[:-1, :half], states[1:, half:]], axis=1)
        projected = between @ self._matrix("span.weight").T
        starts, ends = np.triu_indices(len(projected), 1)
        spans = projected[ends] - projected[starts] + self._matrix("span.bias")
        spans -= spans.mean(axis=1, keepdims=True)
        spans /= np.sqrt((spans**2).mean(axis=1, keepdims=True) + _EPSILON)
        spans = np.maximum(spans * self._matrix("norm.weight") + self._matrix("norm.bias"), 0)
        return tags, spans @ self._matrix("label.weight").T + self._matrix("label.bias")


def _sigmoid(values: Matrix) -> Matrix:
    # By tanh, which does not overflow.
    result: Matrix = np.tanh(values * np.float32(0.5)) * np.float32(0.5) + np.float32(0.5)
    return result


def _reverse(states: Matrix, lengths: npt.NDArray[np.int64]) -> Matrix:
    """The first `lengths` positions of each row in reverse order, the others as they are."""
    positions = np.arange(states.shape[1])[None, :]
    source = np.where(positions < lengths[:, None], lengths[:, None] - 1 - positions, positions)
    return np.take_along_axis(states, source[:, :, None], axis=1)
