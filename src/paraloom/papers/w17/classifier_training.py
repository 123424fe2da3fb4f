"""Trains the classifier of references and translations on references and their k-best translations (W17 §5.6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.devices import parse_device
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.core.stats import IdCounts
from paraloom.embed.vocabulary import Vocabulary
from paraloom.embed.word_vectors import read_vector_words, read_vectors
from paraloom.papers.w17.classifier import Classifier, ClassifierConfig, flat, new_network
from paraloom.text.tokens import TokenLists, token_hash, tokenize

# Longer sentences are left out: the backward pass of an LSTM keeps every state of every sentence in a batch.
_MAX_WORDS = 512


@dataclass
class ReferenceTranslations:
    """References, their origins, and translations: those of reference i are `translations[bounds[i]:bounds[i + 1]]`."""

    references: list[str] = field(default_factory=list)
    translations: list[str] = field(default_factory=list)
    bounds: list[int] = field(default_factory=lambda: [0])
    origins: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.references)

    def add(self, reference: str, translations: Iterable[str], origin: str = "") -> None:
        """Append a reference and its translations."""
        self.references.append(reference)
        self.origins.append(origin)
        self.translations.extend(translations)
        self.bounds.append(len(self.translations))


def sample_references(batches: Iterable[pa.RecordBatch], count: int, seed: int) -> ReferenceTranslations:
    """Sample references with their translations, by reservoir sampling: only `count` references are kept in memory."""
    rng = generator(seed)
    kept: list[tuple[str, list[str], str]] = []
    for seen, group in enumerate(_groups(batches)):
        slot = seen if seen < count else int(rng.integers(seen + 1))
        if slot < len(kept):
            kept[slot] = group
        elif slot < count:
            kept.append(group)
    sample = ReferenceTranslations()
    for i in rng.permutation(len(kept)):
        sample.add(*kept[i])
    return sample


def train_classifier(
    batches: Iterable[pa.RecordBatch],
    config: ClassifierConfig,
    folder: Path,
    *,
    seed: int = 1,
    device: str = "cpu",
    vectors: str | Path | None = None,
) -> dict[str, Any]:
    """Train a classifier on back-translated pairs, and save the best epoch on development references (W17 §5.6.1)."""
    import torch

    used = parse_device(device, torch.cuda.device_count())
    sample = sample_references(batches, config.max_pairs + 2 * config.held_out, seed)
    held_out = min(config.held_out, len(sample) // 10)
    if held_out < 1:
        raise DataError(
            f"{len(sample)} references are too few to train a classifier: it needs 10 or more",
            remedy="Back-translate more of the bitext.",
        )
    torch.manual_seed(seed)
    rng = generator(seed)
    development, test = range(held_out), range(held_out, 2 * held_out)
    training = np.arange(2 * held_out, len(sample))
    words = _vocabulary(sample, training, config.vocab_size)
    network = new_network(config.kind, len(words) + 1, config.dimension)
    given = 0 if vectors is None else _start_with(network, words, vectors, config.dimension)
    network = network.to(torch.device(used.kind, used.indices[0]))
    model = Classifier(config.kind, words, network)
    references, translations = model.rows(sample.references), model.rows(sample.translations)
    bounds = np.array(sample.bounds)
    embedding = list(model.network.embedding.parameters())
    others = [value for name, value in model.network.named_parameters() if not name.startswith("embedding")]
    # Sparse for the word vectors, so that the cost of a step depends on its words and not on the vocabulary.
    optimizers = [
        torch.optim.SparseAdam(embedding, lr=config.learning_rate),
        torch.optim.Adam(others, lr=config.learning_rate),
    ]
    best, best_accuracy = None, -1.0
    steps = -(-len(training) // config.batch_size)
    with progress("training the classifier", total=config.epochs * steps, unit="steps") as advance:
        for _ in range(config.epochs):
            negatives = _negatives(model, sample, bounds, config.negatives, rng)
            order = rng.permutation(training)
            for start in range(0, len(order), config.batch_size):
                part = order[start : start + config.batch_size]
                _update(model, optimizers, references, translations, part, negatives[part], config)
                advance(1)
            accuracy = _accuracy(model, sample, bounds, development)["accuracy"]
            if accuracy > best_accuracy:
                best_accuracy = accuracy
                best = {name: value.clone() for name, value in model.network.state_dict().items()}
    model.network.load_state_dict(best)
    model.save(folder)
    figures = _accuracy(model, sample, bounds, test)
    origins = dict.fromkeys(sample.origins[i] for i in test)
    if len(origins) > 1:
        parts = {origin: [i for i in test if sample.origins[i] == origin] for origin in origins}
        accuracies = {origin: _accuracy(model, sample, bounds, part)["accuracy"] for origin, part in parts.items()}
        figures["accuracy_by_origin"] = accuracies
    counts = {"pairs": len(training), "words": len(words), **({} if vectors is None else {"given_vectors": given})}
    return {**figures, "development_accuracy": round(best_accuracy, 4), **counts}


def _start_with(network: Any, words: npt.NDArray[np.uint64], vectors: str | Path, dimension: int) -> int:
    """Give words of the vocabulary that a file has vectors of these; returns how many."""
    import torch

    listed = read_vector_words(vectors)
    given = read_vectors(vectors, Vocabulary("word", listed), dimension)
    ids = np.array([token_hash(listed[row]) for row in given.rows.tolist()], np.uint64)
    positions = np.minimum(np.searchsorted(words, ids), len(words) - 1)
    known = words[positions] == ids
    rows = torch.from_numpy(positions[known] + 1)
    with torch.no_grad():
        network.embedding.weight[rows] = torch.from_numpy(given.vectors[known])
    return int(known.sum())


def _update(
    model: Classifier,
    optimizers: list[Any],
    references: TokenLists,
    translations: TokenLists,
    part: npt.NDArray[np.int64],
    negatives: npt.NDArray[np.int64],
    config: ClassifierConfig,
) -> None:
    """One step on some references and their negatives; sentences without words or with too many are left out."""
    import torch
    from torch.nn import functional

    part, negatives = _usable(references, part), _usable(translations, negatives)
    if not len(part) or not len(negatives):
        return
    where = model.network.output.weight.device
    inputs = [flat(references, part, where), flat(translations, negatives, where)]
    rows, lengths = (torch.cat([side[i] for side in inputs]) for i in (0, 1))
    labels = (torch.arange(len(part) + len(negatives), device=where) < len(part)).long()
    loss = functional.cross_entropy(model.network(rows, lengths), labels)
    if config.l2:
        # Of the words of this step only, as often as they occur: the whole table would make steps far slower.
        loss = loss + config.l2 * model.network.embedding(rows).square().sum()
    model.network.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()


def _usable(lists: TokenLists, chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    lengths = lists.lengths[chosen]
    return chosen[(lengths > 0) & (lengths <= _MAX_WORDS)]


def _negatives(
    model: Classifier, sample: ReferenceTranslations, bounds: npt.NDArray[np.int64], how: str, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Index of the translation that is the negative of each reference in this epoch: int64 (references,)."""
    if how == "hardest":
        probability = np.nan_to_num(model.reference_probability(sample.translations), nan=-1.0)
        return np.array([start + int(probability[start:end].argmax()) for start, end in pairwise(bounds)])
    return bounds[:-1] + rng.integers(np.diff(bounds))


def _accuracy(
    model: Classifier, sample: ReferenceTranslations, bounds: npt.NDArray[np.int64], part: Sequence[int]
) -> dict[str, Any]:
    """Share of references and best translations that are classified correctly."""
    references = model.reference_probability([sample.references[i] for i in part])
    translations = model.reference_probability([sample.translations[bounds[i]] for i in part])
    right, rejected = float((references > 0.5).mean()), float((translations <= 0.5).mean())
    return {
        "accuracy": round((right + rejected) / 2, 4),
        "reference_accuracy": round(right, 4),
        "translation_accuracy": round(rejected, 4),
        "test_sentences": 2 * len(part),
    }


def _vocabulary(sample: ReferenceTranslations, training: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.uint64]:
    """Ids of the most frequent words of the training sentences, ascending."""
    sentences = [sample.references[i] for i in training]
    for i in training:
        sentences += sample.translations[sample.bounds[i] : sample.bounds[i + 1]]
    return IdCounts.of(tokenize(sentences).ids).most_common(size)


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[str], str]]:
    """Each reference with its translations and its origin."""
    last, reference, translations, origin = None, "", list[str](), ""
    for batch in batches:
        names = [name for name in ("pair_id", "src", "tgt", "origin") if name in batch.schema.names]
        columns = [batch.column(name).to_pylist() for name in names]
        for pair, src, tgt, *source in zip(*columns, strict=True):
            if pair != last:
                if translations:
                    yield reference, translations, origin
                last, reference, translations = pair, src or "", []
                origin = (source[0] if source else "") or ""
            translations.append(tgt or "")
    if translations:
        yield reference, translations, origin
