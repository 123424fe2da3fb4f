"""Training of a phrase encoder over fixed word vectors: a recurrent network, max-margin loss, SGD (PGRU)."""

from __future__ import annotations

import hashlib
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.config import Config, check_range
from paraloom.core.digests import digest
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.progress import progress
from paraloom.core.seeds import generator, spawn_seed
from paraloom.embed.average import SentenceEncoder, Vectors
from paraloom.embed.checkpoint import TrainingState, read_checkpoint, run_with_checkpoints, write_records
from paraloom.embed.spec import PARTS, parse_spec
from paraloom.embed.store import save_encoder
from paraloom.embed.vocabulary import RowLists, Vocabulary, padded
from paraloom.papers.pgru.phrase_tasks import Similarity
from paraloom.papers.recurrent_encoders import Recurrent
from paraloom.text.tokens import tokenize

if TYPE_CHECKING:
    from torch import Tensor

PhraseEvaluator = Callable[[SentenceEncoder], float]
"""Measures a phrase encoder during training; higher is better."""


class PhraseExample(NamedTuple):
    """A phrase and its paraphrase."""

    phrase: str
    paraphrase: str
    negatives: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class PhraseConfig(Config):
    """Configuration of the training of a phrase encoder; the defaults are those of PGRU §2.5.

    Args:
        network: Recurrent network: pgru, the GRU as the paper writes it; gru (torch's), lstm, blstm or gran. Word
            vectors are not trained.
        hidden_size: Dimension of the states of `pgru` and so of the phrase vectors (200 in the paper); 0 for that of
            the word vectors, which other networks always have.
        num_negatives: k, phrases drawn at random for each pair, among those of its mini-batch, which are encoded once.
        margin: Of max(0, margin − s(p₁, p₂) + s(p₁, negative)).
        similarity: s, `dot` product or `cosine`.
        dropout: Of the network's output during training.
        max_grad_norm: Gradients with a larger norm are scaled down to it.
        learning_rate: Of stochastic gradient descent.
        batch_size: Pairs in a mini-batch.
        epochs: Passes over the pairs.
        sample_fraction: Fraction of the pairs that are used, drawn at random.

    Raises:
        ConfigError: Names the field whose value is out of range.
    """

    network: str = "pgru"
    hidden_size: int = 0
    num_negatives: int = 9
    margin: float = 1.0
    similarity: Similarity = "dot"
    dropout: float = 0.5
    max_grad_norm: float = 5.0
    learning_rate: float = 0.3
    batch_size: int = 128
    epochs: int = 150
    sample_fraction: float = 1.0

    def validate(self) -> None:
        """Check the ranges of all values."""
        super().validate()
        check_range(self, "batch_size", "epochs", low=1)
        check_range(self, "margin", "max_grad_norm", "learning_rate", above=0)
        networks = [name for name, kind in PARTS.items() if kind.recurrent]
        if self.network not in networks:
            raise ConfigError(f"unknown network '{self.network}'{nearest(self.network, networks)}")
        check_range(self, "num_negatives", "hidden_size", low=0)
        if self.hidden_size and not PARTS[self.network].own_dimension:
            own = [name for name, kind in PARTS.items() if kind.own_dimension]
            raise ConfigError(
                f"the states of '{self.network}' are as wide as the word vectors",
                remedy=f"Leave out 'hidden_size', or set network = '{own[0]}'.",
            )
        check_range(self, "dropout", low=0, below=1)
        check_range(self, "sample_fraction", above=0, high=1)


def train_phrases(
    examples: Sequence[PhraseExample],
    vectors: tuple[Sequence[str], Vectors],
    config: PhraseConfig,
    folder: str | Path,
    evaluator: PhraseEvaluator | None = None,
    *,
    seed: int = 1,
    evaluate_every: int = 5,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Train a phrase encoder and save it; if stopped, the same call resumes and ends with the same bytes."""
    import torch

    from paraloom.papers.encoder_networks import new_network

    folder = Path(folder)
    words, table = vectors
    vocabulary = Vocabulary("word", words)
    data = _Phrases.of(_sample(examples, config.sample_fraction, generator(seed, 17)), vocabulary)
    network = new_network(config.network, config.hidden_size or table.shape[1], seed, table.shape[1])
    # Phrases are short: more threads would wait for each other, and sum in another order.
    torch.set_num_threads(1)
    encoder = SentenceEncoder(parse_spec(config.network), {config.network: Recurrent(vocabulary, table, network)})
    best = _BestNetwork(network)
    settings = {**asdict(config), "seed": seed}
    training_digest = digest(
        [settings, evaluate_every, examples, list(words), hashlib.sha256(table.tobytes()).hexdigest()]
    )
    state = read_checkpoint(folder, best.tensors, training_digest)
    epochs = _train(config, data, table, encoder, best, state, evaluator, evaluate_every, seed)
    run_with_checkpoints(epochs, folder, state, best.tensors, training_digest, checkpoint_seconds)
    network.eval()
    figure = best.restore()
    write_records(folder, state.curve, {})
    save_encoder(encoder, folder, {**settings, **data.counts})
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    return {"examples": data.counts, "development": figure, "signature": encoder.signature}


class _BestNetwork:
    """A network in training, and its best state so far; `tensors`, of a checkpoint, may share its memory."""

    def __init__(self, network: Any) -> None:
        self.network = network
        values = {name: value.numpy() for name, value in network.state_dict().items()}
        self.tensors: dict[str, Any] = {
            **{f"network.{name}": value for name, value in values.items()},
            **{f"best.{name}": np.zeros_like(value) for name, value in values.items()},
            "figure": np.full(1, -np.inf),
        }

    def record(self, figure: float) -> None:
        """Keep the present network if its figure is higher than all before."""
        if figure > self.tensors["figure"][0]:
            self.tensors["figure"][0] = figure
            for name, value in self.network.state_dict().items():
                self.tensors[f"best.{name}"][...] = value.numpy()

    def restore(self) -> float | None:
        """Set the network to the best one; returns its figure, None where none was measured."""
        import torch

        best = float(self.tensors["figure"][0])
        if not math.isfinite(best):
            return None
        names = self.network.state_dict()
        self.network.load_state_dict({name: torch.from_numpy(self.tensors[f"best.{name}"]) for name in names})
        return best


def _train(
    config: PhraseConfig,
    data: _Phrases,
    table: Vectors,
    encoder: SentenceEncoder,
    best: _BestNetwork,
    state: TrainingState,
    evaluator: PhraseEvaluator | None,
    evaluate_every: int,
    seed: int,
) -> Iterator[None]:
    """Advance `state` to the end and yield after each epoch."""
    import torch

    network = best.network
    optimizer = torch.optim.SGD(network.parameters(), config.learning_rate)
    with progress("training phrases", config.epochs, unit="epochs", done=state.epoch) as advance:
        while state.epoch < config.epochs:
            epoch = state.epoch + 1
            # Each epoch has random numbers of its own, so that a resumed training draws the same.
            draw = generator(seed, 17, epoch)
            torch.manual_seed(spawn_seed(seed, epoch))
            network.train()
            for batch in _batches(len(data.pairs), config.batch_size, draw):
                loss = _loss(data, batch, config, network, table, draw)
                state.step += 1
                state.add_loss(loss.item())
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                clip_gradient(network.parameters(), config.max_grad_norm)
                optimizer.step()
            line = {"epoch": epoch, "step": state.step, "loss": state.loss / max(1, state.steps)}
            state.loss, state.steps = 0.0, 0
            if evaluator is not None and (epoch % evaluate_every == 0 or epoch == config.epochs):
                network.eval()
                line["development"] = figure = evaluator(encoder)
                best.record(figure)
            state.curve.append(line)
            state.epoch = epoch
            advance(1)
            yield


def clip_gradient(parameters: Any, max_norm: float) -> float:
    """Scale the gradient of all parameters together down to a maximal norm; returns the norm before."""
    import torch

    return float(torch.nn.utils.clip_grad_norm_(parameters, max_norm))


@dataclass(frozen=True)
class _Phrases:
    """All distinct phrases as lists of words; pairs of their numbers, `(n, 2)`, and negatives of each, `(m, 2)`."""

    lists: RowLists
    pairs: npt.NDArray[np.int64]
    negatives: list[npt.NDArray[np.int64]]
    counts: dict[str, int]

    @classmethod
    def of(cls, examples: Sequence[PhraseExample], vocabulary: Vocabulary) -> _Phrases:
        """Number the phrases; examples of which a side has no known word are left out."""
        numbers: dict[str, int] = {}

        def number(text: str) -> int:
            return numbers.setdefault(text, len(numbers))

        pairs = np.array(
            [[number(example.phrase), number(example.paraphrase)] for example in examples], np.int64
        ).reshape(-1, 2)
        negatives = [
            np.array([[number(a), number(b)] for a, b in example.negatives], np.int64).reshape(-1, 2)
            for example in examples
        ]
        lists = vocabulary.look_up(tokenize(pa.array(list(numbers), pa.large_string())))
        known = np.diff(lists.offsets) > 0
        usable: npt.NDArray[np.bool_] = np.all(known[pairs], axis=1)
        counts = {"read": len(pairs), "used": int(usable.sum()), "unknown": int((~usable).sum())}
        if not counts["used"]:
            raise DataError(
                f"no pair of phrases is left to train on: {counts}",
                remedy="Give word vectors that contain the words of the phrases.",
            )
        kept = [rows[known[rows].all(axis=1)] for rows, use in zip(negatives, usable, strict=True) if use]
        return cls(lists, pairs[usable], kept, counts)


def _sample(examples: Sequence[PhraseExample], fraction: float, draw: np.random.Generator) -> Sequence[PhraseExample]:
    if fraction == 1:
        return examples
    selected = draw.permutation(len(examples))[: max(1, round(fraction * len(examples)))]
    return [examples[i] for i in sorted(selected)]


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
    """The mean over the batch of Σ max(0, margin − s(p₁, p₂) + s(negative))."""
    import torch

    pairs = data.pairs[batch]
    explicit = [data.negatives[i] for i in batch]
    owners = np.repeat(np.arange(len(batch)), [len(rows) for rows in explicit])
    explicit_pairs = np.concatenate(explicit)
    drawn = draw.choice(pairs.ravel(), (len(pairs), config.num_negatives))
    needed, inverse = np.unique(np.concatenate([pairs.ravel(), explicit_pairs.ravel()]), return_inverse=True)
    rows, mask = padded(data.lists, needed)
    vectors = network(torch.from_numpy(table[rows]), torch.from_numpy(mask))
    vectors = torch.nn.functional.dropout(vectors, config.dropout, training=True)
    if config.similarity == "cosine":
        vectors = torch.nn.functional.normalize(vectors, dim=1)
    index = torch.from_numpy(inverse)
    first, second = vectors[index[: pairs.size].view(-1, 2)].unbind(1)
    positive = (first * second).sum(1)
    negatives = (first @ vectors.T).gather(1, torch.from_numpy(np.searchsorted(needed, drawn)))
    losses = torch.relu(config.margin - positive[:, None] + negatives)
    # A phrase of the pair itself is not a negative of it.
    own = torch.from_numpy((drawn[:, :, None] == pairs[:, None, :]).any(axis=2))
    total = losses.masked_fill(own, 0).sum()
    if len(explicit_pairs):
        one, two = vectors[index[pairs.size :].view(-1, 2)].unbind(1)
        total = total + torch.relu(config.margin - positive[torch.from_numpy(owners)] + (one * two).sum(1)).sum()
    return total / len(batch)
