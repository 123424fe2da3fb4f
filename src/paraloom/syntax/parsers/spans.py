"""A constituency parser that labels spans of words by a small network, trained on a treebank."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import folder_digest, signature
from paraloom.core.errors import ModelError
from paraloom.syntax.span_kernels import best_splits, span_index, spans_of_splits
from paraloom.syntax.span_network import COLUMNS, Matrix, SpanNetwork
from paraloom.syntax.tokenization import penn_tokens, without_brackets
from paraloom.syntax.treebank import CHAIN
from paraloom.syntax.word_features import GivenVectors, WordFeaturizer

MODEL, WEIGHTS, GIVEN_WORDS = "spans.json", "spans.safetensors", "vectors.txt"
MAX_WORDS = 150  # Words of a sentence that is parsed; time and memory grow with their square


class SpanParser:
    """Finds the tree whose labeled spans are together the most likely, of Penn Treebank tokens (do n't)."""

    def __init__(
        self,
        network: SpanNetwork,
        words: Sequence[str],
        tags: Sequence[str],
        labels: Sequence[str],
        given_words: Sequence[str],
        name: str = "unsaved",
    ) -> None:
        self.network, self.words, self.tags, self.labels = network, list(words), list(tags), list(labels)
        self.given_words = list(given_words)
        self._name = name
        # A label may be a chain of several; the first one is that of no constituent, and opens none.
        chains = [label.split(CHAIN) if label else [] for label in self.labels]
        self._opening = ["".join(f"({label} " for label in chain) for chain in chains]
        self._depth = [len(chain) for chain in chains]
        table = np.asarray(network.tensors["given"], np.int8)
        self._featurizer = WordFeaturizer(self.words, GivenVectors(self.given_words, table))

    @classmethod
    def load(cls, folder: str | Path) -> SpanParser:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        folder = Path(folder)
        try:
            stored = json.loads((folder / MODEL).read_text(encoding="utf-8"))
            given = (folder / GIVEN_WORDS).read_text(encoding="utf-8").splitlines()
            tensors = _restored(load_file(folder / WEIGHTS))
            named = {name: stored[name] for name in ("words", "tags", "labels")}
            if len(tensors["given"]) != len(given) or len(tensors["label.bias"]) != len(named["labels"]):
                raise ModelError("the files of the parser do not belong together", file=folder, remedy=_REMEDY)
            return cls(SpanNetwork(tensors), **named, given_words=given, name=folder_digest(folder)[:12])
        except FileNotFoundError as error:
            raise ModelError(f"{Path(error.filename).name} not found", file=folder, remedy=_REMEDY) from None
        except (ValueError, KeyError, TypeError, SafetensorError) as error:
            raise ModelError(f"not a parser: {error}", file=folder, remedy=_REMEDY) from None

    def save(self, folder: Path) -> None:
        """Write the parser into a folder: tables of words in one byte per number, other weights in half precision."""
        from safetensors.numpy import save

        folder.mkdir(parents=True, exist_ok=True)
        tensors: dict[str, npt.NDArray[np.generic]] = {}
        for name, tensor in self.network.tensors.items():
            if name in _TABLES:
                tensors[name], tensors[name + _SCALE] = _quantized(np.asarray(tensor, np.float32))
            else:
                tensors[name] = np.ascontiguousarray(tensor if tensor.dtype == np.int8 else tensor.astype(np.float16))
        (folder / WEIGHTS).write_bytes(save(tensors))
        (folder / GIVEN_WORDS).write_text("".join(f"{word}\n" for word in self.given_words), encoding="utf-8")
        stored = {"words": self.words, "tags": self.tags, "labels": self.labels}
        (folder / MODEL).write_text(json.dumps(stored, ensure_ascii=False) + "\n", encoding="utf-8")

    @cached_property
    def signature(self) -> str:
        """`parser|spans:DIGEST|…`, for the metadata of the trees."""
        return signature("parser", spans=self._name, longest=MAX_WORDS)

    def parse(self, sentences: Sequence[str]) -> list[str | None]:
        return self.parse_tokens([penn_tokens(sentence) for sentence in sentences])

    def parse_tokens(self, sentences: Sequence[Sequence[str]]) -> list[str | None]:
        """Parse tokenized sentences; None as in `parse`."""
        trees: list[str | None] = [None] * len(sentences)
        numbers = [index for index, words in enumerate(sentences) if 0 < len(words) <= MAX_WORDS]
        numbers.sort(key=lambda index: len(sentences[index]))
        for start in range(0, len(numbers), COLUMNS):
            chosen = numbers[start : start + COLUMNS]
            words = [[without_brackets(word) for word in sentences[index]] for index in chosen]
            scores = self.network.score([self._featurizer.features(one) for one in words])
            for index, one, (tags, labels) in zip(chosen, words, scores, strict=True):
                trees[index] = self._tree(one, tags, labels)
        return trees

    def _tree(self, words: Sequence[str], tag_scores: Matrix, label_scores: Matrix) -> str:
        n = len(words)
        # A span without a label costs what its most likely label loses against none.
        gain = label_scores - label_scores[:, :1]
        gain[span_index(0, n, n), 0] = -np.inf  # the whole sentence is a constituent
        labels = gain.argmax(axis=1)
        spans = spans_of_splits(best_splits(gain.max(axis=1), n), n)
        opened, closed = [""] * n, [0] * n
        for start, end, label in zip(*spans[:, :2].T.tolist(), labels[spans[:, 2]].tolist(), strict=True):
            opened[start] += self._opening[label]
            closed[end - 1] += self._depth[label]
        tags = [self.tags[tag] for tag in tag_scores.argmax(axis=1).tolist()]
        return " ".join(
            f"{labels_before}({tag} {word}){')' * closing}"
            for labels_before, tag, word, closing in zip(opened, tags, words, closed, strict=True)
        )


_TABLES = ("word.weight", "affix.weight")  # The largest tensors, a row for each word or affix
_SCALE = ".scale"


def _quantized(table: Matrix) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """A table in one byte per number, and the scale of each row."""
    scales = (np.abs(table).max(axis=1, initial=0.0) / 127).astype(np.float16)
    divisors = np.where(scales > 0, scales, 1).astype(np.float32)
    return np.rint(table / divisors[:, None]).clip(-127, 127).astype(np.int8), scales


def _restored(tensors: dict[str, npt.NDArray[np.generic]]) -> dict[str, npt.NDArray[np.generic]]:
    """Tensors with tables as float32; those that an earlier version wrote have no scales."""
    for name in _TABLES:
        if (scales := tensors.pop(name + _SCALE, None)) is not None:
            tensors[name] = np.asarray(tensors[name], np.float32) * np.asarray(scales, np.float32)[:, None]
    return tensors


_REMEDY = "Train it again: 'paraloom train parser'."
