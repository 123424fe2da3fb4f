"""Reference or translation? A classifier of single sentences (W17 §5.6.1): averaged word vectors, or an LSTM."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from paraloom.core.config import Config, check_range
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ModelError
from paraloom.text.buffers import Texts
from paraloom.text.tokens import TokenLists, tokenize

Kind = Literal["avg", "lstm"]
WEIGHTS, CONFIG = "classifier.safetensors", "classifier.json"
_BATCH_SIZE = {"cpu": 500, "cuda": 8_000}
"""Sentences that are classified at a time, at most, by kind of device."""

_BATCH_WORDS = 100_000
"""Words that are classified at a time, at most, padding included: what is computed of them takes a gigabyte."""

# On a processor an LSTM reads sentences sorted by length in padded batches of this size: torch's backward pass through
# packed sequences is several times as slow there, and the last states are the same.
_PADDED_BATCH_SIZE = 32


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig(Config):
    """Configuration of the classifier. The defaults are those of W17 §5.6.1, which tunes `l2` and `negatives`.

    Args:
        kind: 'avg', the mean of the word vectors, or 'lstm', the last state of an LSTM; a softmax over the two classes
            follows.
        dimension: Dimension of the word vectors and of the state of the LSTM.
        vocab_size: Number of most frequent words that have a vector; all others share one.
        max_pairs: Maximum number of references to train on, each with one of its translations.
        held_out: Number of references for development, and again for the test.
        negatives: Which translation of a reference is its negative example in an epoch: a 'random' one, or the
            'hardest', the one to which the classifier gives the highest probability of being a reference.
        l2: Weight of the squared word vectors in the loss.
        epochs: Number of epochs; the best one on the development references is kept.
        batch_size: References per step.
        learning_rate: Learning rate of Adam.

    Raises:
        ConfigError: A value is out of range.
    """

    kind: Kind = "lstm"
    dimension: int = 300
    vocab_size: int = 40_000
    max_pairs: int = 40_000
    held_out: int = 5_000
    negatives: Literal["random", "hardest"] = "random"
    l2: float = 1e-6
    epochs: int = 10
    batch_size: int = 100
    learning_rate: float = 0.001

    def validate(self) -> None:
        check_range(self, "dimension", "vocab_size", "max_pairs", "held_out", "epochs", "batch_size", low=1)


@dataclass(frozen=True, eq=False)
class Classifier:
    """A classifier of references and translations; word i of ascending `words` has row i + 1, others row 0."""

    kind: Kind
    words: npt.NDArray[np.uint64]
    network: Any
    digest: str = ""

    @property
    def signature(self) -> str:
        """The kind and the digest of the weights."""
        return signature(f"reference-{self.kind}", words=len(self.words), digest=self.digest or "none")

    def rows(self, texts: Texts) -> TokenLists:
        """Rows of the embedding for the words of each sentence."""
        lists = tokenize(texts)
        positions = np.searchsorted(self.words, lists.ids)
        positions[positions == len(self.words)] = 0
        known = self.words[positions] == lists.ids
        return TokenLists(np.where(known, positions + 1, 0).astype(np.uint64), lists.offsets)

    def reference_probability(self, sentences: list[str]) -> npt.NDArray[np.float32]:
        """Compute the probability that sentences are references, written by a person."""
        import torch

        lists = self.rows(sentences)
        lengths = lists.lengths
        probabilities = np.full(len(sentences), np.nan, np.float32)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        where = self.network.output.weight.device
        with torch.inference_mode():
            for part in _parts(order, lengths[order], _BATCH_SIZE[where.type], _BATCH_WORDS):
                logits = self.network(*flat(lists, part, where))
                probabilities[part] = logits.softmax(1)[:, 1].cpu().numpy()
        return probabilities

    @cached_property
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """All arrays that are saved."""
        weights = {name: value.detach().cpu().numpy() for name, value in self.network.state_dict().items()}
        return {"words": self.words, **weights}

    def save(self, folder: Path) -> None:
        """Write the classifier into a folder."""
        from safetensors.numpy import save

        folder.mkdir(parents=True, exist_ok=True)
        (folder / WEIGHTS).write_bytes(
            save({name: np.ascontiguousarray(value) for name, value in self.tensors.items()})
        )
        (folder / CONFIG).write_text(json.dumps({"kind": self.kind}) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Classifier:
        """Load a classifier that `save` wrote."""
        import torch
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        for name in (CONFIG, WEIGHTS):
            if not (folder / name).is_file():
                raise ModelError(
                    f"{name} not found",
                    file=folder,
                    remedy="Give a folder that `paraloom research train-classifier` wrote.",
                )
        try:
            kind = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["kind"]
            arrays = load_file(folder / WEIGHTS)
            words = arrays.pop("words")
            network = new_network(kind, *arrays["embedding.weight"].shape)
            network.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})
        except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"the classifier cannot be read: {error}",
                file=folder,
                remedy="Run `paraloom research train-classifier` again.",
            ) from None
        return cls(kind, words, network.eval(), file_digest(folder / WEIGHTS)[:12])


def _parts(
    order: npt.NDArray[np.integer], lengths: npt.NDArray[np.integer], sentences: int, words: int
) -> Iterator[npt.NDArray[np.integer]]:
    """Cut sentences into batches of at most so many sentences and, padding included, words."""
    start = 0
    while start < len(order):
        ascending = lengths[start : start + sentences]
        count = int(np.searchsorted(ascending * np.arange(1, len(ascending) + 1), words, side="right"))
        yield order[start : start + max(1, count)]
        start += max(1, count)


def new_network(kind: Kind, rows: int, dimension: int) -> Any:
    """Make an untrained network."""
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(rows, dimension, sparse=True)
            nn.init.normal_(self.embedding.weight, std=0.1)
            if kind == "lstm":
                self.lstm = nn.LSTM(dimension, dimension, batch_first=True)
            self.output = nn.Linear(dimension, 2)

        def forward(self, words: Any, lengths: Any) -> Any:
            vectors = self.embedding(words)
            if kind == "avg":
                sentence = torch.repeat_interleave(torch.arange(len(lengths)), lengths).to(words.device)
                sums = vectors.new_zeros(len(lengths), dimension).index_add_(0, sentence, vectors)
                return self.output(sums / lengths[:, None].to(words.device))
            # A GPU reads all sentences at once: there, each call costs more than the padding does.
            size = _PADDED_BATCH_SIZE if words.device.type == "cpu" else len(lengths)
            order = lengths.argsort()
            starts = lengths.cumsum(0) - lengths
            states = [self.last_states(vectors, starts[part], lengths[part]) for part in order.split(size)]
            return self.output(torch.cat(states)[order.argsort().to(words.device)])

        def last_states(self, vectors: Any, starts: Any, lengths: Any) -> Any:
            """States after the last words of sentences that begin at `starts`: (sentences, dimension)."""
            last = lengths[:, None] - 1
            # A shorter sentence repeats its last word; the states there are not used.
            positions = starts[:, None] + torch.minimum(torch.arange(int(lengths.max())), last)
            states = self.lstm(vectors[positions.to(vectors.device)])[0]
            return states[torch.arange(len(lengths)).to(vectors.device), last[:, 0].to(vectors.device)]

    return Network()


def flat(lists: TokenLists, chosen: npt.NDArray[np.integer], device: Any = "cpu") -> tuple[Any, Any]:
    """Some lists as the input of a network: their entries one after another, and their lengths."""
    import torch

    parts = [lists[i] for i in chosen]
    entries = np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
    return torch.from_numpy(entries).to(device), torch.tensor([len(part) for part in parts])
