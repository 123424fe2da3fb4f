"""Reference or translation?  A classifier of single sentences (W17 §5.6.1): averaged words, or an LSTM."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import ConfigError, ModelError
from paraloom.text.tokens import Texts, TokenLists, tokens

Kind = Literal["avg", "lstm"]
WEIGHTS, CONFIG = "classifier.safetensors", "classifier.json"
_BATCH = 500

# While it learns, an LSTM reads its sentences in order of length, so many at a time, padded: torch's way back through
# packed ones is several times as slow on a processor, and the last states are the same.
_PADDED_TOGETHER = 32


@dataclass(frozen=True, kw_only=True)
class ClassifierConfig:
    """How the classifier is built and trained; W17 §5.6.1 has these values, and tunes `l2` and `choice`.

    kind: 'avg', the mean of the word vectors, or 'lstm', the last state of one; a softmax over two classes on top.
    pairs: references to train on, each with one of its translations; held_out: for development and for the test, each.
    choice: which of a reference's k-best translations is its counterpart in an epoch: one by 'chance', or the
    'hardest', the one that the classifier takes most for a reference.  l2: weight of the squared word vectors.
    vocabulary: commonest words that have a vector; all others share one.
    """

    kind: Kind = "lstm"
    dimension: int = 300
    vocabulary: int = 40_000
    pairs: int = 40_000
    held_out: int = 5_000
    choice: Literal["chance", "hardest"] = "chance"
    l2: float = 1e-6
    epochs: int = 10
    batch: int = 100
    rate: float = 0.001

    def check(self) -> None:
        """Raise ConfigError when a value is none of those that it may be."""
        if self.kind not in ("avg", "lstm"):
            raise ConfigError(f"kind is 'avg' or 'lstm', not '{self.kind}'")
        if self.choice not in ("chance", "hardest"):
            raise ConfigError(f"choice is 'chance' or 'hardest', not '{self.choice}'")
        if min(self.dimension, self.vocabulary, self.pairs, self.held_out, self.epochs, self.batch) < 1:
            raise ConfigError("dimension, vocabulary, pairs, held_out, epochs and batch are 1 or more")


@dataclass(frozen=True, eq=False)
class Classifier:
    """A trained classifier: `measure` gives p(reference) of sentences.

    words: uint64 (v,), token ids in ascending order; word i has row i + 1, row 0 is for all others.
    network: the torch module of `new_network`.
    """

    kind: Kind
    words: npt.NDArray[np.uint64]
    network: Any
    digest: str = ""

    @property
    def signature(self) -> str:
        """The kind and the digest of the weights."""
        return signature(f"reference-{self.kind}", words=len(self.words), digest=self.digest or "none")

    def rows(self, texts: Texts) -> TokenLists:
        """The rows of the words of each sentence."""
        lists = tokens(texts)
        places = np.searchsorted(self.words, lists.ids)
        places[places == len(self.words)] = 0
        known = self.words[places] == lists.ids
        return TokenLists(np.where(known, places + 1, 0).astype(np.uint64), lists.offsets)

    def measure(self, sentences: list[str]) -> npt.NDArray[np.float32]:
        """p(reference), 0 to 1, higher reads more like a person's sentence: float32 (n,); NaN without words."""
        import torch

        lists = self.rows(sentences)
        lengths = lists.lengths
        found = np.full(len(sentences), np.nan, np.float32)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        with torch.inference_mode():
            for start in range(0, len(order), _BATCH):
                part = order[start : start + _BATCH]
                logits = self.network(*flat(lists, part))
                found[part] = logits.softmax(1)[:, 1].numpy()
        return found

    @cached_property
    def tensors(self) -> dict[str, npt.NDArray[Any]]:
        """All that is stored."""
        weights = {name: value.detach().numpy() for name, value in self.network.state_dict().items()}
        return {"words": self.words, **weights}

    def save(self, folder: Path) -> None:
        """Write the classifier into a folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        save_file({name: np.ascontiguousarray(value) for name, value in self.tensors.items()}, folder / WEIGHTS)
        (folder / CONFIG).write_text(json.dumps({"kind": self.kind}) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Classifier:
        """What `save` wrote.  Raises ModelError when a file is missing or damaged."""
        import torch
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        for name in (CONFIG, WEIGHTS):
            if not (folder / name).is_file():
                raise ModelError(f"{name} is missing", file=folder, remedy="Name a folder with a trained classifier.")
        try:
            kind = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["kind"]
            arrays = load_file(folder / WEIGHTS)
            words = arrays.pop("words")
            network = new_network(kind, *arrays["embedding.weight"].shape)
            network.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})
        except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
            raise ModelError(f"the classifier cannot be read: {error}", file=folder) from None
        return cls(kind, words, network.eval(), file_digest(folder / WEIGHTS)[:12])


def new_network(kind: Kind, rows: int, dimension: int) -> Any:
    """A module from (rows int64 (t,), lengths int64 (n,)) to logits (n, 2): translation, reference."""
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
                sentence = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
                sums = torch.zeros(len(lengths), dimension).index_add_(0, sentence, vectors)
                return self.output(sums / lengths[:, None])
            sentences = vectors.split(lengths.tolist())
            if torch.is_grad_enabled():
                order = lengths.argsort()
                states = [self.last_states(sentences, part, lengths) for part in order.split(_PADDED_TOGETHER)]
                return self.output(torch.cat(states)[order.argsort()])
            padded = nn.utils.rnn.pad_sequence(list(sentences), batch_first=True)
            packed = nn.utils.rnn.pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
            return self.output(self.lstm(packed)[1][0][-1])

        def last_states(self, sentences: Any, part: Any, lengths: Any) -> Any:
            padded = nn.utils.rnn.pad_sequence([sentences[i] for i in part], batch_first=True)
            return self.lstm(padded)[0][torch.arange(len(part)), lengths[part] - 1]

    return Network()


def flat(lists: TokenLists, chosen: npt.NDArray[np.integer]) -> tuple[Any, Any]:
    """The chosen lists as torch tensors: their rows one after another, int64 (t,), and their lengths, int64 (n,)."""
    import torch

    parts = [lists[i] for i in chosen]
    joined = np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
    return torch.from_numpy(joined), torch.tensor([len(part) for part in parts])
