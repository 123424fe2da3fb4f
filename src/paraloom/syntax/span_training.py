"""Training of the span parser: every span of a sentence is classified, most of them as no constituent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from paraloom.core.array_types import Floats, Ints
from paraloom.core.config import check_range
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.syntax.span_kernels import span_index
from paraloom.syntax.span_network import LAYERS, SpanNetwork
from paraloom.syntax.treebank import CHAIN
from paraloom.syntax.word_features import BUCKETS, UNKNOWN, GivenVectors, WordFeatures, WordFeaturizer

if TYPE_CHECKING:
    from nltk.tree import Tree

NO_CONSTITUENT = ""  # The first label


@dataclass(frozen=True)
class SpanConfig:
    epochs: int = 14
    width: int = 200
    hidden_size: int = 200
    span_size: int = 250
    batch_size: int = 24
    learning_rate: float = 1e-3
    dropout: float = 0.35
    word_dropout: float = 0.8
    min_count: int = 2
    vector_dimension: int = 96

    def __post_init__(self) -> None:
        check_range(self, "epochs", "width", "hidden_size", "span_size", "batch_size", low=1)
        check_range(self, "min_count", "vector_dimension", low=1)
        check_range(self, "dropout", low=0, below=1)
        check_range(self, "learning_rate", above=0)
        check_range(self, "word_dropout", low=0)


class SpanModel(NamedTuple):
    network: SpanNetwork
    words: list[str]
    tags: list[str]
    labels: list[str]
    given_words: list[str]


class Example(NamedTuple):
    """A tree in numbers: features of its n words, their tags, and the label of each span."""

    features: WordFeatures
    tags: Ints
    labels: Ints


class LabeledSpans(NamedTuple):
    """A tree as words, their tags, and the labels of its constituents by (start, end)."""

    words: list[str]
    tags: list[str]
    labels: dict[tuple[int, int], str]


def labeled_spans(tree: Tree) -> LabeledSpans:
    """The words, tags and labeled spans of a tree; constituents of the same words have one label."""
    spans = LabeledSpans([], [], {})
    _add_spans(tree, spans)
    return spans


def _add_spans(tree: Tree, spans: LabeledSpans) -> None:
    if isinstance(tree[0], str):
        spans.words.append(tree[0])
        spans.tags.append(tree.label())
        return
    start = len(spans.words)
    for child in tree:
        _add_spans(child, spans)
    end = len(spans.words)
    below = spans.labels.pop((start, end), None)
    spans.labels[start, end] = tree.label() if below is None else f"{tree.label()}{CHAIN}{below}"


class SpanModule(nn.Module):
    """The network of `SpanNetwork`, for training; its parameters have the names that are read there."""

    def __init__(self, config: SpanConfig, words: int, tags: int, labels: int, given: npt.NDArray[np.int8]) -> None:
        super().__init__()
        self.word = nn.Embedding(words + 1, config.width)
        self.affix = nn.EmbeddingBag(BUCKETS, config.width, mode="mean")
        nn.init.normal_(self.word.weight, std=0.1)
        nn.init.normal_(self.affix.weight, std=0.3)
        self.boundary = nn.Parameter(torch.randn(2, config.width) * 0.3)
        table = np.concatenate([np.zeros((1, given.shape[1]), np.float32), given.astype(np.float32) / 127])
        self._given = torch.from_numpy(table)
        self.given_projection = nn.Linear(given.shape[1], config.width, bias=False)
        self.lstm = nn.LSTM(
            config.width, config.hidden_size, LAYERS, batch_first=True, bidirectional=True, dropout=config.dropout
        )
        self.dropout = nn.Dropout(config.dropout)
        self.tag_hidden, self.tag = nn.Linear(2 * config.hidden_size, 100), nn.Linear(100, tags)
        # The bias is added to the difference of two projections.
        self.span = nn.Linear(2 * config.hidden_size, config.span_size)
        self.norm = nn.LayerNorm(config.span_size)
        self.label = nn.Linear(config.span_size, labels)

    def forward(self, sentences: Sequence[WordFeatures]) -> tuple[Tensor, Tensor]:
        """Scores of the tags of all words and of the labels of all spans, one sentence after the other."""
        lengths = [len(sentence.words) for sentence in sentences]
        rows = np.repeat(np.arange(len(sentences)), lengths)
        columns = np.concatenate([np.arange(1, length + 1) for length in lengths])
        words, affixes, given = (torch.from_numpy(np.concatenate(part)) for part in zip(*sentences, strict=True))
        vectors = self.word(words) + self.affix(affixes)
        if self.given_projection.in_features:
            vectors = vectors + self.given_projection(self._given[given])
        ends = torch.tensor(lengths) + 1
        inputs = torch.zeros(len(sentences), max(lengths) + 2, vectors.shape[1])
        inputs = inputs.index_put((torch.from_numpy(rows), torch.from_numpy(columns)), vectors)
        inputs = inputs.index_put((torch.arange(len(sentences)), torch.zeros(len(sentences), dtype=torch.long)),
                                  self.boundary[0].expand(len(sentences), -1))  # fmt: skip
        inputs = inputs.index_put((torch.arange(len(sentences)), ends), self.boundary[1].expand(len(sentences), -1))
        packed = nn.utils.rnn.pack_padded_sequence(
            self.dropout(inputs), ends + 1, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        states = self.dropout(states)
        tags = self.tag(torch.relu(self.tag_hidden(states[rows, columns])))
        half = states.shape[2] // 2
        between = torch.cat([states[:, :-1, :half], states[:, 1:, half:]], dim=2)
        projected = between @ self.span.weight.T
        ends_of_spans = [np.triu_indices(length + 1, 1) for length in lengths]
        of = np.repeat(np.arange(len(sentences)), [len(first) for first, _ in ends_of_spans])
        start, stop = (np.concatenate(part) for part in zip(*ends_of_spans, strict=True))
        spans = projected[of, stop] - projected[of, start] + self.span.bias
        return tags, self.label(torch.relu(self.norm(spans)))


def train_span_model(
    trees: Sequence[Tree], config: SpanConfig, vectors: GivenVectors, *, seed: int = 1, threads: int = 1
) -> SpanModel:
    if not trees:
        raise DataError("no trees to learn from", remedy="Check that the treebank has bracketed trees.")
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    spans = [labeled_spans(tree) for tree in trees]
    counts = Counter(word for tree in spans for word in tree.words)
    words = sorted(word for word, count in counts.items() if count >= config.min_count)
    tags = sorted({tag for tree in spans for tag in tree.tags})
    labels = [NO_CONSTITUENT, *sorted({label for tree in spans for label in tree.labels.values()})]
    featurizer = WordFeaturizer(words, vectors)
    examples = [_example(tree, featurizer, tags, labels) for tree in spans]
    module = SpanModule(config, len(words), len(tags), len(labels), vectors.table)
    occurrences = np.array([0, *(counts[word] for word in words)], np.float64)
    unknown_share = config.word_dropout / (occurrences + config.word_dropout)
    _run(module, examples, unknown_share, config, seed)
    tensors = {name: value.numpy().copy() for name, value in module.state_dict().items()}
    return SpanModel(SpanNetwork({**tensors, "given": vectors.table}), words, tags, labels, list(vectors.words))


def _run(module: SpanModule, examples: Sequence[Example], unknown_share: Floats, config: SpanConfig, seed: int) -> None:
    steps = config.epochs * math.ceil(len(examples) / config.batch_size)
    adam = torch.optim.Adam(module.parameters(), lr=config.learning_rate, betas=(0.9, 0.98))
    rate = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda step: min(1, (step + 1) / 100) * (0.05 + 0.95 * (1 + math.cos(math.pi * step / steps)) / 2)
    )
    module.train()
    with progress("training the parser", config.epochs * len(examples), unit="trees") as advance:
        for batch in _batches(examples, unknown_share, config, seed):
            tag_scores, label_scores = module([example.features for example in batch])
            tags, labels = (
                torch.from_numpy(np.concatenate([getattr(example, kind) for example in batch]))
                for kind in ("tags", "labels")
            )
            # Spans grow with the square of the length: their losses are summed, per word.
            loss = cross_entropy(label_scores, labels, reduction="sum") / len(tags) + cross_entropy(tag_scores, tags)
            adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(module.parameters(), 5.0)
            adam.step()
            rate.step()
            advance(len(batch))
    module.eval()


def _batches(
    examples: Sequence[Example], unknown_share: Floats, config: SpanConfig, seed: int
) -> Iterator[list[Example]]:
    for epoch in range(config.epochs):
        draw = generator(seed, epoch)
        order = draw.permutation(len(examples))
        for start in range(0, len(order), config.batch_size):
            batch = []
            for index in order[start : start + config.batch_size]:
                example = examples[index]
                hidden = draw.random(len(example.tags)) < unknown_share[example.features.words]
                words = np.where(hidden, UNKNOWN, example.features.words)
                batch.append(example._replace(features=example.features._replace(words=words)))
            yield batch


def _example(tree: LabeledSpans, featurizer: WordFeaturizer, tags: list[str], labels: list[str]) -> Example:
    number, n = {label: index for index, label in enumerate(labels)}, len(tree.words)
    of_spans = np.zeros(n * (n + 1) // 2, np.int64)
    for (start, end), label in tree.labels.items():
        of_spans[span_index(start, end, n)] = number[label]
    return Example(featurizer.features(tree.words), np.array([tags.index(tag) for tag in tree.tags]), of_spans)
