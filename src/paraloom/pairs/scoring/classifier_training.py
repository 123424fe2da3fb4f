"""Trains the reference-or-translation classifier on references and their k-best translations (W17 §5.6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.counts import Counts
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator
from paraloom.pairs.scoring.classifier import Classifier, ClassifierConfig, flat, new_network
from paraloom.text.tokens import TokenLists, tokens

# Words of a sentence to learn from: an LSTM's way back keeps every state of every sentence in a batch.
_LONGEST = 512


@dataclass
class Candidates:
    """References, and the translations of each: those of reference i are translations[bounds[i] : bounds[i + 1]]."""

    references: list[str] = field(default_factory=list)
    translations: list[str] = field(default_factory=list)
    bounds: list[int] = field(default_factory=lambda: [0])

    def __len__(self) -> int:
        return len(self.references)

    def add(self, reference: str, translations: Iterable[str]) -> None:
        """One more reference."""
        self.references.append(reference)
        self.translations.extend(translations)
        self.bounds.append(len(self.translations))


def draw_candidates(batches: Iterable[pa.RecordBatch], count: int, seed: int) -> Candidates:
    """`count` references by chance, in chance order, each with its translations; all of them when there are fewer.

    batches: pairs (pair_id, src the reference, tgt a translation), those of one reference next to each other.
    Keeps `count` references in memory, whatever the size of the corpus (reservoir sampling).
    """
    rng = generator(seed)
    kept: list[tuple[str, list[str]]] = []
    for seen, (reference, translations) in enumerate(_groups(batches)):
        place = seen if seen < count else int(rng.integers(seen + 1))
        if place < len(kept):
            kept[place] = (reference, translations)
        elif place < count:
            kept.append((reference, translations))
    found = Candidates()
    for i in rng.permutation(len(kept)):
        found.add(*kept[i])
    return found


def train_classifier(
    batches: Iterable[pa.RecordBatch], config: ClassifierConfig, folder: Path, *, seed: int = 1
) -> dict[str, Any]:
    """Train on back-translated pairs, keep the epoch that is best on the held-out ones, save it in `folder`.

    Returns figures: accuracy, reference_accuracy and translation_accuracy of the test sentences (0 to 1), their
    count, and development_accuracy.  Raises DataError when there are too few pairs.
    """
    import torch

    config.check()
    drawn = draw_candidates(batches, config.pairs + 2 * config.held_out, seed)
    held_out = min(config.held_out, len(drawn) // 10)
    if held_out < 1:
        raise DataError(
            f"{len(drawn)} references are too few to train a classifier", remedy="Back-translate more of the bitext."
        )
    torch.manual_seed(seed)
    rng = generator(seed)
    development, test = range(held_out), range(held_out, 2 * held_out)
    training = np.arange(2 * held_out, len(drawn))
    words = _vocabulary(drawn, training, config.vocabulary)
    model = Classifier(config.kind, words, new_network(config.kind, len(words) + 1, config.dimension))
    references, translations = model.rows(drawn.references), model.rows(drawn.translations)
    bounds = np.array(drawn.bounds)
    vectors = list(model.network.embedding.parameters())
    others = [each for name, each in model.network.named_parameters() if not name.startswith("embedding")]
    # Lazy on the vectors, so that a step costs the words at hand and not the vocabulary.
    optimisers = [torch.optim.SparseAdam(vectors, lr=config.rate), torch.optim.Adam(others, lr=config.rate)]
    best, best_accuracy = None, -1.0
    steps = -(-len(training) // config.batch)
    with progress("training the classifier", total=config.epochs * steps, unit="steps") as advance:
        for _ in range(config.epochs):
            chosen = _counterparts(model, drawn, bounds, config.choice, rng)
            order = rng.permutation(training)
            for start in range(0, len(order), config.batch):
                part = order[start : start + config.batch]
                _update(model, optimisers, references, translations, part, chosen[part], config)
                advance(1)
            accuracy = _accuracy(model, drawn, bounds, development)["accuracy"]
            if accuracy > best_accuracy:
                best_accuracy = accuracy
                best = {name: value.clone() for name, value in model.network.state_dict().items()}
    model.network.load_state_dict(best)
    model.save(folder)
    found = _accuracy(model, drawn, bounds, test)
    return {**found, "development_accuracy": round(best_accuracy, 4), "pairs": len(training), "words": len(words)}


def _update(
    model: Classifier,
    optimisers: list[Any],
    references: TokenLists,
    translations: TokenLists,
    part: npt.NDArray[np.int64],
    chosen: npt.NDArray[np.int64],
    config: ClassifierConfig,
) -> None:
    """One step on some references and their counterparts; sentences without a word, or of too many, are left out."""
    import torch
    from torch.nn import functional

    part, chosen = _readable(references, part), _readable(translations, chosen)
    if not len(part) or not len(chosen):
        return
    inputs = [flat(references, part), flat(translations, chosen)]
    rows, lengths = (torch.cat([side[i] for side in inputs]) for i in (0, 1))
    labels = torch.cat([torch.ones(len(part), dtype=torch.int64), torch.zeros(len(chosen), dtype=torch.int64)])
    loss = functional.cross_entropy(model.network(rows, lengths), labels)
    if config.l2:
        # Of the words at hand, as often as they stand: the whole table every step would be as many times dearer.
        loss = loss + config.l2 * model.network.embedding(rows).square().sum()
    model.network.zero_grad()
    loss.backward()
    for optimiser in optimisers:
        optimiser.step()


def _readable(lists: TokenLists, chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    lengths = lists.lengths[chosen]
    return chosen[(lengths > 0) & (lengths <= _LONGEST)]


def _counterparts(
    model: Classifier, drawn: Candidates, bounds: npt.NDArray[np.int64], choice: str, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """The number of the translation that stands against each reference in this epoch: int64 (references,)."""
    if choice == "hardest":
        likeness = np.nan_to_num(model.measure(drawn.translations), nan=-1.0)
        return np.array([a + int(likeness[a:b].argmax()) for a, b in pairwise(bounds)])
    return bounds[:-1] + rng.integers(np.diff(bounds))


def _accuracy(model: Classifier, drawn: Candidates, bounds: npt.NDArray[np.int64], part: range) -> dict[str, Any]:
    """How often references, and the best translations, are told for what they are."""
    references = model.measure([drawn.references[i] for i in part])
    translations = model.measure([drawn.translations[bounds[i]] for i in part])
    right, rejected = float((references > 0.5).mean()), float((translations <= 0.5).mean())
    return {
        "accuracy": round((right + rejected) / 2, 4),
        "reference_accuracy": round(right, 4),
        "translation_accuracy": round(rejected, 4),
        "test_sentences": 2 * len(part),
    }


def _vocabulary(drawn: Candidates, training: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.uint64]:
    """Ids of the commonest words of the training sentences, in ascending order."""
    sentences = [drawn.references[i] for i in training]
    for i in training:
        sentences += drawn.translations[drawn.bounds[i] : drawn.bounds[i + 1]]
    return Counts.of(tokens(sentences).ids).commonest(size)


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, list[str]]]:
    """Each reference with its translations."""
    last, reference, translations = None, "", list[str]()
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("pair_id", "src", "tgt"))
        for pair, src, tgt in zip(*columns, strict=True):
            if pair != last:
                if translations:
                    yield reference, translations
                last, reference, translations = pair, src or "", []
            translations.append(tgt or "")
    if translations:
        yield reference, translations
