"""Training of an encoder on sentence pairs: hard negatives from mega-batches, margin loss, Adam, exact resume."""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.core.array_types import Float32s, Ints
from paraloom.core.config import check_keys
from paraloom.core.devices import training_devices
from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError
from paraloom.core.progress import progress
from paraloom.core.protocols import START
from paraloom.core.seeds import generator
from paraloom.embed.average import SentenceEncoder, Vectors, normalize_vectors
from paraloom.embed.average_training import BatchGradient, TrainableAverage, TrainablePart
from paraloom.embed.bilingual import BITEXT_SETTINGS, check_bitext, language_facts
from paraloom.embed.checkpoint import TrainingState, best_line, read_checkpoint, run_with_checkpoints, write_records
from paraloom.embed.config import EncoderConfig
from paraloom.embed.data import PairDataset, Pairs, UnitLists, stream_pairs
from paraloom.embed.losses import Loss, batch_triples, contrastive_loss, hardest_negatives, margin_loss
from paraloom.embed.network_parts import PartTraining, network_parts
from paraloom.embed.spec import PARTS, Spec
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.threads import ThreadTeam
from paraloom.embed.vocabulary import RowLists, Vocabulary
from paraloom.embed.word_vectors import read_vector_words, read_vectors, vectors_file
from paraloom.io import read_pairs

Evaluator = Callable[[SentenceEncoder], Mapping[str, float]]
"""Measures an encoder during training; returns figures by name."""

BEST = "checkpoint/best"  # Folder of the best encoder so far, below that of a training, until it ends

# Mini-batches per line of the learning curve.
_LINE = 20


def initial_parts(
    training: PartTraining,
    spec: Spec,
    units: Mapping[str, UnitLists],
    init_from: SentenceEncoder | None,
    vectors: str | Path | None,
) -> dict[str, TrainablePart]:
    parts: dict[str, TrainablePart] = {}
    config, pretrained = training.config, None
    if vectors is not None:
        if init_from is not None:
            raise ConfigError("'init_from' and 'vectors' cannot be combined", remedy="Leave one of them out.")
        if "word" not in units:
            raise ConfigError(
                f"'vectors' is set, but no part of '{spec}' reads words",
                remedy="Leave 'vectors' out, or add the part 'word'.",
            )
        pretrained = read_vectors(vectors, units["word"].counted.vocabulary, config.dimension)
    for index, name in enumerate(spec.parts):
        kind = PARTS[name]
        vocabulary, _, frequencies = units[kind.unit].counted
        source = init_from.parts[name] if init_from else None
        if source is not None:
            table = source.vectors
        else:
            table = generator(training.seed, index).standard_normal((len(vocabulary), config.dimension), np.float32)
            weights = 1 / (1 + (0.0 if kind.recurrent else config.frequency_damping) * frequencies)
            table *= (config.init_std(name) * weights).astype(np.float32)[:, None]
            if pretrained is not None and kind.unit == "word":
                table[pretrained.rows] = pretrained.vectors
        if kind.recurrent:
            parts[name] = network_parts(name).trainable(name, vocabulary, table, source, training)
        else:
            rate = training.relative_learning_rate
            parts[name] = TrainableAverage(
                vocabulary, table, training.team, config.embedding_l2, relative_learning_rate=rate
            )
    return parts


@dataclass(frozen=True)
class Learner:
    """An encoder during training."""

    spec: Spec
    units: Mapping[str, UnitLists]
    parts: Mapping[str, TrainablePart]
    team: ThreadTeam

    @property
    def dimension(self) -> int:
        return next(iter(self.parts.values())).dimension

    @property
    def tensors(self) -> dict[str, Float32s]:
        """Everything that a checkpoint contains, by name: the arrays themselves."""
        return {f"{name}.{key}": tensor for name, part in self.parts.items() for key, tensor in part.state.items()}

    def encoder(self) -> SentenceEncoder:
        return SentenceEncoder(self.spec, {name: part.frozen() for name, part in self.parts.items()}, self.team.threads)

    def take(self, sentences: Ints) -> dict[str, RowLists]:
        lists = {unit: self.units[unit].take(sentences) for unit in self.spec.units}
        return {name: lists[PARTS[name].unit] for name in self.parts}

    def forward(self, lists: Mapping[str, RowLists]) -> Vectors:
        """Compute the vectors of n sentences, float32 `(n, width)`, from their tokens by part."""
        count = len(next(iter(lists.values())).offsets) - 1
        dimension = self.dimension
        vectors = np.zeros((count, self.spec.width(dimension)), np.float32)
        for name, column in self.spec.columns(dimension).items():
            self.parts[name].forward(lists[name], vectors, column)
        return vectors

    def update(self, lists: Mapping[str, RowLists], loss: Loss, learning_rate: float, step: int) -> None:
        """One optimizer step of every part; `step` counts from 1."""
        for name, column in self.spec.columns(self.dimension).items():
            batch = BatchGradient(lists[name], loss.gradient, loss.active, column)
            self.parts[name].update(batch, learning_rate, step)


def train_encoder(
    pairs: Pairs,
    config: EncoderConfig,
    folder: str | Path,
    evaluator: Evaluator | None = None,
    *,
    seed: int = 1,
    init_from: str | Path | None = None,
    vectors: str | Path | None = None,
    vector_words: bool = False,
    threads: int | None = None,
    devices: str = "cpu",
    keep_best: bool = False,
    checkpoint_seconds: float = 60.0,
    facts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Train an encoder on sentence pairs (PNMT §4, §5) and save it; resumes from `folder/checkpoint/`."""
    if keep_best and evaluator is None:
        raise ConfigError("the best epoch is unknown without an evaluator", remedy="Give tasks to evaluate on.")
    folder, device_names = Path(folder), training_devices(devices)
    start_encoder = None if init_from is None else load_encoder(init_from)
    spec = start_encoder.spec if start_encoder else config.parsed_spec
    given = _given_vocabularies(start_encoder, vectors, vector_words)
    began = time.perf_counter()
    sizes = {unit: config.vocab_size(unit) for unit in spec.units}
    recurrent = {PARTS[name].recurrent for name in spec.parts}
    numbered = folder / "checkpoint" / "pairs"
    data = stream_pairs(pairs, numbered, config.max_tokens, sizes, given, order_matters=True in recurrent)
    if len(data) < config.batch_size:
        warnings.warn(
            f"a batch of {config.batch_size} pairs is larger than the corpus of {len(data)}: an epoch is a single step",
            stacklevel=2,
        )
    streamed = time.perf_counter()
    settings = asdict(config) | {"seed": seed} | _start_settings(start_encoder, vectors, vector_words)
    team = ThreadTeam(threads)
    settings_of_parts = PartTraining(config, team, seed, device_names, config.precision, config.relative_learning_rate)
    parts = initial_parts(settings_of_parts, spec, data.units, start_encoder, vectors)
    learner = Learner(spec, data.units, parts, team)
    save_encoder(learner.encoder(), folder / START, settings)
    training = _Training(config, seed, data, learner)
    training_digest = digest([{**config.removed_fields, **settings}, data.digest])
    state = read_checkpoint(folder, learner.tensors, training_digest)
    resumed = state.step
    try:
        steps = training.run(state, evaluator, folder / BEST if keep_best else None)
        run_with_checkpoints(steps, folder, state, learner.tensors, training_digest, checkpoint_seconds)
    finally:
        team.close()
    trained = time.perf_counter() - streamed

    encoder = load_encoder(folder / BEST) if keep_best else learner.encoder()
    done = (state.step - resumed) / max(1, state.step)
    timings = {
        "threads": team.threads,
        "numbering_seconds": streamed - began,
        "training_seconds": trained,
        "pairs_per_second": done * len(data) * config.epochs / trained,
    }
    write_records(folder, state.curve, timings)
    save_encoder(encoder, folder, {**(facts or {}), **settings, **data.counts})
    shutil.rmtree(folder / "checkpoint")
    warn_if_below_start(state.curve, keep_best)
    return {
        "pairs": data.counts,
        "steps": state.step,
        "loss": state.last_line["loss"],
        "violations": state.last_line["violations"],
        **development_figures(state.curve, keep_best),
        "entries": {unit: len(lists.counted.vocabulary) for unit, lists in data.units.items()},
        "signature": encoder.signature,
    }


def _given_vocabularies(
    start: SentenceEncoder | None, vectors: str | Path | None, vector_words: bool
) -> dict[str, Vocabulary]:
    """Token type → the vocabulary that the training starts from; others are counted in the pairs."""
    given = {part.vocabulary.unit: part.vocabulary for part in start.parts.values()} if start else {}
    if vector_words:
        if vectors is None:
            raise ConfigError("'vector_words' is set without 'vectors'", remedy="Give 'vectors', or leave it out.")
        given["word"] = Vocabulary("word", read_vector_words(vectors))
    return given


def _start_settings(
    start: SentenceEncoder | None, vectors: str | Path | None, vector_words: bool
) -> dict[str, str | bool]:
    """What the training starts from, for the model's folder and its digest."""
    settings: dict[str, str | bool] = {"init_from": start.signature if start else "random"}
    if vectors is not None:
        settings["vectors"] = file_digest(vectors_file(vectors))[:12]
    if vector_words:
        settings["vector_words"] = True
    return settings


class _Training:
    """The training loop: data, parameters, and one mega-batch after the other."""

    def __init__(self, config: EncoderConfig, seed: int, data: PairDataset, learner: Learner) -> None:
        self.config, self.seed, self.data, self.learner = config, seed, data, learner
        self._salt = len(learner.parts)
        self._pairs_per_megabatch = config.batch_size * (1 if config.loss == "softmax" else config.megabatch_size)

    def run(self, state: TrainingState, evaluator: Evaluator | None, best: Path | None = None) -> Iterator[None]:
        """Advance `state` to the end and yield wherever it is consistent; saves the best encoder into `best`."""
        pairs, epochs, size = len(self.data), self.config.epochs, self._pairs_per_megabatch
        if evaluator is not None and not state.step and not state.curve:
            self._evaluate(evaluator, state, best, epoch=0)
        train = self._train_contrastive if self.config.loss == "softmax" else self._train_margin
        done = min(state.epoch * pairs + state.megabatch * size, epochs * pairs)
        with progress("training", epochs * pairs, unit="pairs", done=done) as advance:
            while state.epoch < epochs:
                # The order depends on seed and epoch alone, so that checkpoints need no state of a generator.
                order = generator(self.seed, self._salt, state.epoch).permutation(pairs)
                while state.megabatch * size < pairs:
                    selected = order[state.megabatch * size : (state.megabatch + 1) * size]
                    train(selected, state)
                    state.megabatch += 1
                    if state.steps >= _LINE:
                        _end_line(state)
                    advance(len(selected))
                    yield
                _end_line(state)
                if evaluator is not None:
                    self._evaluate(evaluator, state, best, epoch=state.epoch + 1)
                state.epoch, state.megabatch = state.epoch + 1, 0
                yield

    def _evaluate(self, evaluator: Evaluator, state: TrainingState, best: Path | None, epoch: int) -> None:
        encoder = self.learner.encoder()
        if state.measure(evaluator(encoder), epoch) and best is not None:
            save_encoder(encoder, best)

    def _train_contrastive(self, selected: Ints, state: TrainingState) -> None:
        first, second = 2 * selected, 2 * selected + 1
        lists = self._scrambled(self.learner.take(np.concatenate([first, second])), state.step)
        vectors = self.learner.forward(lists)
        keys = self.data.keys[first], self.data.keys[second]
        loss = contrastive_loss(vectors, *keys, self.config.temperature, self.config.softmax_margin)
        self._update(lists, loss, state, 2 * len(selected))

    def _train_margin(self, selected: Ints, state: TrainingState) -> None:
        first, second = 2 * selected, 2 * selected + 1
        keys = self.data.keys[first], self.data.keys[second]
        learner = self.learner
        of_first = hardest_negatives(normalize_vectors(learner.forward(learner.take(first))), *keys, learner.team)
        of_second = None
        if self.config.two_sided:
            vectors = normalize_vectors(learner.forward(learner.take(second)))
            of_second = hardest_negatives(vectors, *keys[::-1], learner.team)
        for start in range(0, len(selected), self.config.batch_size):
            batch = slice(start, start + self.config.batch_size)
            negatives = [first[np.maximum(of_first[batch], 0)]]
            if of_second is not None:
                negatives.append(second[np.maximum(of_second[batch], 0)])
            count = len(first[batch])
            lists = learner.take(np.concatenate([first[batch], second[batch], *negatives]))
            lists = self._scrambled(lists, state.step)
            triples = batch_triples(count, of_first[batch], None if of_second is None else of_second[batch])
            loss = margin_loss(learner.forward(lists), triples, self.config.margin, count)
            self._update(lists, loss, state, len(triples.anchors))

    def _update(self, lists: dict[str, RowLists], loss: Loss, state: TrainingState, triples: int) -> None:
        state.step += 1
        state.add_loss(loss.value)
        self.learner.update(lists, loss, self.config.learning_rate, state.step)
        state.violations += loss.violations
        state.triples += triples

    def _scrambled(self, lists: dict[str, RowLists], step: int) -> dict[str, RowLists]:
        """Scrambling (PNMT §5.3): recurrent parts read the words of some sentences in random order."""
        recurrent = [name for name in self.learner.parts if PARTS[name].recurrent]
        if not recurrent or not self.config.scramble:
            return lists
        draw = generator(self.seed, self._salt + 1, step)
        shuffled = scrambled(lists[recurrent[0]], self.config.scramble, draw)
        return {name: shuffled if name in recurrent else rows for name, rows in lists.items()}


def scrambled(lists: RowLists, probability: float, draw: np.random.Generator) -> RowLists:
    lengths = np.diff(lists.offsets)
    shuffled = np.repeat(draw.random(len(lengths)) < probability, lengths)
    positions = np.arange(len(lists.rows), dtype=np.float64)
    # Sort within each list: by a random number where it is shuffled, otherwise by position.
    keys = np.where(shuffled, draw.random(len(positions)), positions)
    order = np.lexsort((keys, np.repeat(np.arange(len(lengths)), lengths)))
    return RowLists(lists.rows[order], lists.offsets)


def development_figures(curve: Sequence[Mapping[str, Any]], keep_best: bool) -> dict[str, Mapping[str, float]]:
    """`dev`, the evaluator's figures of the encoder that is saved, and `untrained`, those of its start."""
    measured = [line for line in curve if "dev" in line]
    if not measured:
        return {"dev": {}}
    kept = (best_line(measured) if keep_best else None) or measured[-1]
    untrained = {} if measured[0]["epoch"] else {"untrained": measured[0]["dev"]}
    return {"dev": kept["dev"], **untrained}


def warn_if_below_start(curve: Sequence[Mapping[str, Any]], keep_best: bool) -> None:
    """Warn where a training made the encoder worse than its start, by the first figure of the evaluator."""
    measured = [(next(iter(line["dev"].values())), line["epoch"]) for line in curve if "dev" in line]
    if len(measured) < 2 or measured[0][1]:
        return
    start, (best, epoch) = measured[0][0], max(measured, key=lambda item: (item[0], -item[1]))
    if keep_best and not epoch:
        warnings.warn(f"no epoch is better than the untrained start ({start:.2f}), which is kept", stacklevel=3)
    elif not keep_best and measured[-1][0] < start:
        better = f"; it was best after epoch {epoch} ({best:.2f}): keep = 'best' keeps that" if epoch else ""
        warnings.warn(
            f"the encoder ends below its untrained start, {measured[-1][0]:.2f} against {start:.2f}{better}",
            stacklevel=3,
        )


def _end_line(state: TrainingState) -> None:
    if state.steps:
        state.end_line(state.loss / state.steps, violations=state.violations / state.triples)


def train_on_files(
    sources: Sequence[str | Path],
    is_bitext: bool,
    folder: str | Path,
    config: Mapping[str, object],
    *,
    seed: int,
    threads: int | None,
) -> None:
    """Train an encoder on all pairs of some files; see `Encoder.train`."""
    settings = {**(BITEXT_SETTINGS if is_bitext else {}), **config}
    check_keys(EncoderConfig, settings)
    checks = [check_bitext(str(source), read_pairs(source)) for source in sources] if is_bitext else []
    batches = chain.from_iterable(read_pairs(source) for source in sources)
    facts = language_facts(checks) if is_bitext else {}
    train_encoder(batches, EncoderConfig(**settings), folder, seed=seed, threads=threads, facts=facts)
