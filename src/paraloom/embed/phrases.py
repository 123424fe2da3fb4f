"""Training an encoder of phrases (PGRU): one network for both sides, k contrast phrases, max-margin, SGD."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, DataError, ModelError, nearest
from paraloom.core.progress import progress as shown
from paraloom.core.seeds import generator
from paraloom.embed.average import SentenceEncoder, Vectors
from paraloom.embed.checkpoint import Progress, keep_checkpoints, read_checkpoint, write_records
from paraloom.embed.config import positive, whole
from paraloom.embed.ordered import Ordered, padded
from paraloom.embed.parts import PARTS
from paraloom.embed.phrase_state import PhraseState
from paraloom.embed.spec import parse_spec
from paraloom.embed.store import save
from paraloom.embed.vocabulary import Rows, Vocabulary
from paraloom.text.tokens import tokenize

if TYPE_CHECKING:
    from torch import Tensor

Measure = Callable[[SentenceEncoder], float]


class Example(NamedTuple):
    """A phrase, its paraphrase, and pairs that are to be less alike than these two, beside those drawn by chance."""

    phrase: str
    paraphrase: str
    contrasts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PhraseConfig:
    """How to train; the defaults are PGRU §2.5's.

    network: one of those that read in order (gru, lstm, blstm, gran), as wide as the word vectors, which stay as they
    are.  contrasts: k, phrases drawn from all of them for each mini-batch; every phrase of the batch is set against
    each (the paper draws k for every pair: as good a sample, a hundred times the work).  margin, similarity:
    max(0, margin − s(p₁, p₂) + s(p₁, c)), s being the dot product or the cosine.  dropout: of the network's output
    while it learns.  clip: the longest gradient.  rate: of plain gradient descent.  share: of the pairs that are used.
    """

    network: str = "gru"
    contrasts: int = 9
    margin: float = 1.0
    similarity: Literal["dot", "cosine"] = "dot"
    dropout: float = 0.5
    clip: float = 5.0
    rate: float = 0.3
    batch: int = 128
    epochs: int = 150
    share: float = 1.0

    def check(self) -> None:
        """Raises ConfigError that names the field which cannot be."""
        whole(self, "batch", "epochs")
        positive(self, "margin", "clip", "rate")
        networks = [name for name, kind in PARTS.items() if kind.ordered]
        if self.network not in networks:
            raise ConfigError(f"there is no network '{self.network}'{nearest(self.network, networks)}")
        if self.contrasts < 0:
            raise ConfigError(f"'contrasts' is {self.contrasts}, and must be 0 or more")
        if self.similarity not in ("dot", "cosine"):
            raise ConfigError(f"'similarity' is dot or cosine, not '{self.similarity}'")
        if not 0 <= self.dropout < 1:
            raise ConfigError(f"'dropout' is {self.dropout}, and must be from 0 to below 1")
        if not 0 < self.share <= 1:
            raise ConfigError(f"'share' is {self.share}, and must be above 0 and at most 1")


def train_phrases(
    examples: Sequence[Example],
    vectors: tuple[Sequence[str], Vectors],
    config: PhraseConfig,
    folder: str | Path,
    measure: Measure | None = None,
    *,
    seed: int = 1,
    measure_every: int = 5,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Train a phrase encoder and save it into `folder`; returns figures.

    vectors: words and float32 (V, d), which stay as they are.  An example with a phrase of unknown words only is left
    out and counted; words without a vector are left out of the others.  measure: a development figure of the encoder,
    taken every so many epochs; the encoder with the highest one is kept (PGRU §3.2 stops early so).
    A training that was killed goes on from `folder/checkpoint/` when called again with the same examples, vectors and
    configuration, and ends with the same bytes.
    Raises DataError where no example is left, ModelError when the loss is no longer finite.
    """
    import torch

    config.check()
    folder = Path(folder)
    words, table = vectors
    vocabulary = Vocabulary("word", words)
    draw = generator(seed, 17)
    data = _Phrases.of(_part(examples, config.share, draw), vocabulary)
    from paraloom.embed.networks import new_network

    network = new_network(config.network, table.shape[1], seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # phrases are short: threads would wait for each other, and add in an order of their own
    encoder = SentenceEncoder(parse_spec(config.network), {config.network: Ordered(vocabulary, table, network)})
    state = PhraseState(network, draw)
    settings = {**asdict(config), "seed": seed}
    mark = digest([settings, measure_every, examples, list(words), hashlib.sha256(table.tobytes()).hexdigest()])
    progress = read_checkpoint(folder, state.tensors, mark)
    if progress.epoch:
        state.restore()
    epochs = _learn(config, data, table, encoder, state, progress, measure, measure_every)
    keep_checkpoints(epochs, folder, progress, state.tensors, mark, checkpoint_seconds)
    network.eval()
    best = state.take_best()
    write_records(folder, progress.curve, {})
    save(encoder, folder, {**settings, **data.counts})
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    return {"examples": data.counts, "development": best, "signature": encoder.signature}


def _learn(
    config: PhraseConfig,
    data: _Phrases,
    table: Vectors,
    encoder: SentenceEncoder,
    state: PhraseState,
    progress: Progress,
    measure: Measure | None,
    measure_every: int,
) -> Iterator[None]:
    """Advance `progress` to the end, yielding after each epoch."""
    import torch

    network = state.network
    optimiser = torch.optim.SGD(network.parameters(), config.rate)
    with shown("training phrases", config.epochs, unit="epochs", done=progress.epoch) as advance:
        while progress.epoch < config.epochs:
            epoch = progress.epoch + 1
            network.train()
            for batch in _batches(len(data.pairs), config.batch, state.draw):
                loss = _loss(data, batch, config, network, table, state.draw)
                progress.step += 1
                if not math.isfinite(loss.item()):
                    raise ModelError(
                        f"the loss is {loss.item()} in epoch {epoch}, batch {progress.step}",
                        remedy="Lower the learning rate; the last checkpoint is still good.",
                    )
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                clip_gradient(network.parameters(), config.clip)
                optimiser.step()
                progress.loss, progress.steps = progress.loss + loss.item(), progress.steps + 1
            line = {"epoch": epoch, "step": progress.step, "loss": progress.loss / max(1, progress.steps)}
            progress.loss, progress.steps = 0.0, 0
            if measure is not None and (epoch % measure_every == 0 or epoch == config.epochs):
                network.eval()
                line["development"] = figure = measure(encoder)
                state.note_best(figure)
            progress.curve.append(line)
            progress.epoch = epoch
            state.note_chance()
            advance(1)
            yield


def clip_gradient(parameters: Any, longest: float) -> float:
    """Shorten the gradient of all parameters together to `longest`, where it is longer; returns its length before.

    >>> import torch
    >>> weight = torch.nn.Parameter(torch.zeros(2)); weight.grad = torch.tensor([3.0, 4.0])
    >>> clip_gradient([weight], 1.0), [round(x, 3) for x in weight.grad.tolist()]
    (5.0, [0.6, 0.8])
    """
    import torch

    return float(torch.nn.utils.clip_grad_norm_(parameters, longest))


@dataclass(frozen=True)
class _Phrases:
    """All distinct phrases as lists of words.  pairs: int64 (n, 2); contrasts: of each pair, int64 (m, 2).

    counts: `read` = `used` + `unknown`.
    """

    lists: Rows
    pairs: npt.NDArray[np.int64]
    contrasts: list[npt.NDArray[np.int64]]
    counts: dict[str, int]

    @classmethod
    def of(cls, examples: Sequence[Example], vocabulary: Vocabulary) -> _Phrases:
        """Number the phrases; examples of which a side has no known word are left out."""
        numbers: dict[str, int] = {}

        def number(text: str) -> int:
            return numbers.setdefault(text, len(numbers))

        pairs = np.array([[number(each.phrase), number(each.paraphrase)] for each in examples], np.int64).reshape(-1, 2)
        contrasts = [
            np.array([[number(a), number(b)] for a, b in each.contrasts], np.int64).reshape(-1, 2) for each in examples
        ]
        lists = vocabulary.rows(tokenize(pa.array(list(numbers), pa.large_string())))
        known = np.diff(lists.offsets) > 0
        usable: npt.NDArray[np.bool_] = np.all(known[pairs], axis=1)
        counts = {"read": len(pairs), "used": int(usable.sum()), "unknown": int((~usable).sum())}
        if not counts["used"]:
            raise DataError(f"no pair of phrases is left to train on: {counts}")
        kept = [each[known[each].all(axis=1)] for each, use in zip(contrasts, usable, strict=True) if use]
        return cls(lists, pairs[usable], kept, counts)

    @property
    def known(self) -> npt.NDArray[np.int64]:
        """Numbers of the phrases with a known word, which contrasts are drawn from."""
        return np.flatnonzero(np.diff(self.lists.offsets) > 0)


def _part(examples: Sequence[Example], share: float, draw: np.random.Generator) -> Sequence[Example]:
    if share == 1:
        return examples
    chosen = draw.permutation(len(examples))[: max(1, round(share * len(examples)))]
    return [examples[i] for i in sorted(chosen)]


def _batches(count: int, size: int, draw: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
    order = draw.permutation(count)
    return (order[start : start + size] for start in range(0, count, size))


def _loss(
    data: _Phrases,
    batch: npt.NDArray[np.int64],
    config: PhraseConfig,
    network: Any,
    table: Vectors,
    draw: np.random.Generator,
) -> Tensor:
    """The mean over the batch of Σ max(0, margin − s(p₁, p₂) + s(contrast))."""
    import torch

    pairs = data.pairs[batch]
    explicit = [data.contrasts[i] for i in batch]
    owners = np.repeat(np.arange(len(batch)), [len(each) for each in explicit])
    others = np.concatenate(explicit)
    drawn = draw.choice(data.known, config.contrasts)
    needed, places = np.unique(np.concatenate([pairs.ravel(), others.ravel(), drawn]), return_inverse=True)
    rows, mask = padded(data.lists, needed)
    vectors = network(torch.from_numpy(table[rows]), torch.from_numpy(mask))
    vectors = torch.nn.functional.dropout(vectors, config.dropout, training=True)
    if config.similarity == "cosine":
        vectors = torch.nn.functional.normalize(vectors, dim=1)
    place = torch.from_numpy(places)
    first, second = vectors[place[: pairs.size].view(-1, 2)].unbind(1)
    right = (first * second).sum(1)
    chance = vectors[place[pairs.size + others.size :]]
    by_chance = torch.relu(config.margin - right[:, None] + first @ chance.T)
    # A phrase of the pair itself is no contrast to it.
    own = torch.from_numpy((drawn[None, :, None] == pairs[:, None, :]).any(axis=2))
    total = by_chance.masked_fill(own, 0).sum()
    if len(others):
        one, two = vectors[place[pairs.size : pairs.size + others.size].view(-1, 2)].unbind(1)
        total = total + torch.relu(config.margin - right[torch.from_numpy(owners)] + (one * two).sum(1)).sum()
    return total / len(batch)
