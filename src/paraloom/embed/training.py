"""Training an encoder on sentence pairs: mega-batches of hardest negatives, margin loss, exact resume."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import ConfigError, ModelError
from paraloom.core.progress import progress as shown
from paraloom.core.seeds import generator
from paraloom.embed.average import SentenceEncoder, unit
from paraloom.embed.checkpoint import Progress, keep_checkpoints, read_checkpoint, write_records
from paraloom.embed.config import EncoderConfig
from paraloom.embed.devices import parse_devices
from paraloom.embed.hard_negatives import hardest_negatives
from paraloom.embed.initialization import new_parts
from paraloom.embed.learner import Learner
from paraloom.embed.losses import batch_triples, margin_loss
from paraloom.embed.pairs import Pairs, TrainingPairs, stream_pairs
from paraloom.embed.parts import PARTS
from paraloom.embed.store import load_encoder, save
from paraloom.embed.threads import Team
from paraloom.embed.vectors import file_of
from paraloom.embed.vocabulary import Rows

Dev = Callable[[SentenceEncoder], Mapping[str, float]]

# Below the folder of a training, until it ends.
_BEST = "checkpoint/best"

# Mini-batches that one line of the curve sums up.
_LINE = 20


def train_encoder(
    pairs: Pairs,
    config: EncoderConfig,
    folder: str | Path,
    dev: Dev | None = None,
    *,
    seed: int = 1,
    start: str | Path | None = None,
    vectors: str | Path | None = None,
    threads: int | None = None,
    devices: str = "cpu",
    keep_best: bool = False,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Train on the `src` and `tgt` of `pairs` and save the encoder into `folder`; returns figures.

    seed: of the vectors at the start and of the order of pairs.  start: the folder of an encoder to go on from, whose
    spec, dimension and vocabularies are then used.  vectors: a text file of word vectors (embed.vectors) that words
    start from instead of random ones, where it has them.
    dev: called with the encoder after each epoch; its figures join the curve.  keep_best: save the encoder as it was
    after the epoch at which the first of them was highest, instead of the last.  threads: None for all processors.
    devices: where the networks of parts that read in order compute: cpu, cuda (every GPU), or some of them, as
    cuda:0,cuda:1; averages are bound by memory and stay with the processor.
    The folder gets `curve.jsonl` (loss, violations as a share of triples, dev figures) and `timings.json`.  A training
    that was killed goes on from `folder/checkpoint/` when called again with the same pairs and configuration, and ends
    with the same bytes; so it does with any number of threads.
    Raises ModelError, naming epoch and batch, when the loss is no longer finite (the last checkpoint stays).

    >>> train_encoder(Corpus.open("pairs"), EncoderConfig(epochs=1), "encoder")    # doctest: +SKIP
    """
    if keep_best and dev is None:
        raise ConfigError("the best epoch is not known without a development figure", remedy="Give tasks to measure.")
    spec, folder, places = config.check(), Path(folder), parse_devices(devices)
    origin = None if start is None else load_encoder(start)
    spec = origin.spec if origin else spec
    known = {part.vocabulary.unit: part.vocabulary for part in origin.parts.values()} if origin else {}
    scratch = folder / "checkpoint" / "pairs"
    began = time.perf_counter()
    sizes = {unit: config.entries(unit) for unit in spec.units}
    ordered = any(PARTS[name].ordered for name in spec.parts)
    data = stream_pairs(pairs, scratch, config.max_tokens, sizes, known, ordered=ordered)
    numbered = time.perf_counter()
    settings = asdict(config) | {"seed": seed, "start": origin.signature if origin else "random"}
    if vectors is not None:
        settings["vectors"] = file_digest(file_of(vectors))[:12]
    team = Team(threads)
    parts = new_parts(config, seed, spec, data.units, origin, vectors, team, places, config.precision)
    learner = Learner(spec, data.units, parts, team)
    training = _Training(config, seed, data, learner)
    mark = digest([settings, data.digest])
    progress = read_checkpoint(folder, learner.tensors, mark)
    resumed = progress.step
    try:
        steps = training.run(progress, dev, folder / _BEST if keep_best else None)
        keep_checkpoints(steps, folder, progress, learner.tensors, mark, checkpoint_seconds)
    finally:
        team.close()
    trained = time.perf_counter() - numbered

    encoder = load_encoder(folder / _BEST) if keep_best else learner.encoder()
    done = (progress.step - resumed) / max(1, progress.step)
    timings = {
        "threads": team.threads,
        "numbering_seconds": numbered - began,
        "training_seconds": trained,
        "pairs_per_second": done * len(data) * config.epochs / trained,
    }
    write_records(folder, progress.curve, timings)
    save(encoder, folder, {**settings, **data.counts})
    shutil.rmtree(folder / "checkpoint")
    last = [line for line in progress.curve if "loss" in line][-1]
    return {
        "pairs": data.counts,
        "steps": progress.step,
        "loss": last["loss"],
        "violations": last["violations"],
        "dev": next((line["dev"] for line in reversed(progress.curve) if "dev" in line), {}),
        "entries": {unit: len(numbered.chosen.vocabulary) for unit, numbered in data.units.items()},
        "signature": encoder.signature,
    }


class _Training:
    """The loop: what it reads, what it changes, and one mega-batch after the other."""

    def __init__(self, config: EncoderConfig, seed: int, data: TrainingPairs, learner: Learner) -> None:
        self.config, self.seed, self.data, self.learner = config, seed, data, learner
        self._salt = len(learner.parts)

    def run(self, progress: Progress, dev: Dev | None, best: Path | None = None) -> Iterator[None]:
        """Advance `progress` to the end, yielding wherever it and the parts are whole; the best encoder into `best`."""
        pairs, epochs = len(self.data), self.config.epochs
        done = min(progress.epoch * pairs + progress.megabatch * self._size(progress.epoch), epochs * pairs)
        with shown("training", epochs * pairs, unit="pairs", done=done) as advance:
            while progress.epoch < epochs:
                size = self._size(progress.epoch)
                # The order depends on seed and epoch alone, so a checkpoint needs no state of a generator.
                order = generator(self.seed, self._salt, progress.epoch).permutation(pairs)
                while progress.megabatch * size < pairs:
                    chosen = order[progress.megabatch * size : (progress.megabatch + 1) * size]
                    self._megabatch(chosen, progress)
                    progress.megabatch += 1
                    if progress.steps >= _LINE:
                        _close_line(progress)
                    advance(len(chosen))
                    yield
                _close_line(progress)
                if dev is not None:
                    self._measure(dev, progress, best)
                progress.epoch, progress.megabatch = progress.epoch + 1, 0
                yield

    def _size(self, epoch: int) -> int:
        """Pairs of a mega-batch."""
        return self.config.batch * self.config.joined(epoch)

    def _measure(self, dev: Dev, progress: Progress, best: Path | None) -> None:
        encoder = self.learner.encoder()
        figures = {name: float(figure) for name, figure in dev(encoder).items()}
        if best is not None and is_best(figures, progress.curve):
            save(encoder, best, {})
        progress.curve.append({"epoch": progress.epoch + 1, "step": progress.step, "dev": figures})

    def _megabatch(self, chosen: npt.NDArray[np.int64], progress: Progress) -> None:
        first, second = 2 * chosen, 2 * chosen + 1
        keys = self.data.keys[first], self.data.keys[second]
        learner = self.learner
        from_first = hardest_negatives(unit(learner.vectors(learner.take(first))), *keys, learner.team)
        from_second = None
        if self.config.two_sided:
            from_second = hardest_negatives(unit(learner.vectors(learner.take(second))), *keys[::-1], learner.team)
        for start in range(0, len(chosen), self.config.batch):
            batch = slice(start, start + self.config.batch)
            negatives = [first[np.maximum(from_first[batch], 0)]]
            if from_second is not None:
                negatives.append(second[np.maximum(from_second[batch], 0)])
            count = len(first[batch])
            lists = learner.take(np.concatenate([first[batch], second[batch], *negatives]))
            lists = self._shuffled(lists, progress.step)
            triples = batch_triples(count, from_first[batch], None if from_second is None else from_second[batch])
            loss = margin_loss(learner.vectors(lists), triples, self.config.margin, count)
            progress.step += 1
            if not math.isfinite(loss.value):
                raise ModelError(
                    f"the loss is {loss.value} in epoch {progress.epoch + 1}, batch {progress.step}",
                    remedy="Lower the learning rate; the last checkpoint is still good.",
                )
            learner.learn(lists, loss, self.config.rate, progress.step)
            progress.loss += loss.value
            progress.violations += loss.violations
            progress.triples += len(triples.anchors)
            progress.steps += 1

    def _shuffled(self, lists: dict[str, Rows], step: int) -> dict[str, Rows]:
        """Scrambling (PNMT §5.3): some sentences' words in another order, for the parts to which order counts."""
        ordered = [name for name in self.learner.parts if PARTS[name].ordered]
        if not ordered or not self.config.scramble:
            return lists
        draw = generator(self.seed, self._salt + 1, step)
        shuffled = scrambled(lists[ordered[0]], self.config.scramble, draw)
        return {name: shuffled if name in ordered else each for name, each in lists.items()}


def scrambled(lists: Rows, share: float, draw: np.random.Generator) -> Rows:
    """The lists, each with probability `share` in an order drawn by chance.

    >>> scrambled(Rows(np.int32([1, 2, 3]), np.int64([0, 3])), 0.0, np.random.default_rng(1)).rows.tolist()
    [1, 2, 3]
    """
    lengths = np.diff(lists.offsets)
    chosen = np.repeat(draw.random(len(lengths)) < share, lengths)
    places = np.arange(len(lists.rows), dtype=np.float64)
    # Sorting within each list by a number drawn for each word; the others by where they stand.
    keys = np.where(chosen, draw.random(len(places)), places)
    order = np.lexsort((keys, np.repeat(np.arange(len(lengths)), lengths)))
    return Rows(lists.rows[order], lists.offsets)


def is_best(figures: Mapping[str, float], curve: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the first of the figures is above that of every epoch in the curve so far; NaN is above nothing.

    >>> is_best({"dev_pearson": 70.0}, [{"epoch": 1, "dev": {"dev_pearson": 69.0}}])
    True
    """
    name, figure = next(iter(figures.items()))
    before = [line["dev"][name] for line in curve if "dev" in line]
    return not before or figure > max(before)


def _close_line(progress: Progress) -> None:
    if progress.steps:
        progress.curve.append(
            {
                "epoch": progress.epoch + 1,
                "step": progress.step,
                "loss": progress.loss / progress.steps,
                "violations": progress.violations / progress.triples,
            }
        )
    progress.loss, progress.violations, progress.triples, progress.steps = 0.0, 0, 0, 0
