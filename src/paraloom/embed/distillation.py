"""Distillation: a small encoder learns the cosines that a large one gives to sentences without labels."""

from __future__ import annotations

import shutil
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Bools, Float32s, Ids, Ints
from paraloom.core.config import check_range
from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.protocols import START
from paraloom.core.seeds import generator
from paraloom.embed import list_kernels
from paraloom.embed.checkpoint import TrainingState, read_checkpoint, run_with_checkpoints, write_records
from paraloom.embed.config import PartsConfig
from paraloom.embed.data import UnitLists, UnitWriter
from paraloom.embed.losses import Loss, distribution_loss, similarity_loss
from paraloom.embed.network_parts import PartTraining
from paraloom.embed.store import load_encoder, save_encoder
from paraloom.embed.threads import ThreadTeam
from paraloom.embed.training import BEST, Evaluator, Learner, initial_parts
from paraloom.embed.vocabulary import UNITS
from paraloom.embed.word_vectors import vectors_file
from paraloom.io.atomic import disk_full_as_error


def teacher_vectors(batch: pa.RecordBatch) -> tuple[npt.NDArray[np.float16], Bools]:
    column = batch.column("vector") if "vector" in batch.schema.names else None
    if column is None or not pa.types.is_fixed_size_list(column.type):
        raise DataError(
            "column 'vector' (fixed-size lists) not found", remedy="The stage `encode` adds it to a corpus."
        )
    # `flatten` leaves null lists out.
    filled = pa.array(np.zeros(column.type.list_size, np.float16)).cast(column.type.value_type)
    empty = pa.FixedSizeListArray.from_arrays(filled, column.type.list_size)[0]
    vectors = column.fill_null(empty).flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
    vectors = vectors.astype(np.float16, copy=False)
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return vectors, np.isfinite(norms) & (np.abs(norms - 1) < 0.05)


# Batches per line of the learning curve.
_LINE = 100
# Steps in which the learning rate rises.
_WARMUP = 200
# Sentences that are hashed at a time.
_CHUNK = 50_000
# Sentences that are held out, at most, and one of how many; fewer than the last number cannot be compared.
_HELD_OUT, _ONE_OF, _FEWEST = 1000, 50, 3
# The step of the first evaluation after the start, and the factor from one evaluation to the next.
_FIRST, _GROWTH = 50, 1.25
# How much more a later encoder has to agree: while few sentences are learned by heart, agreement hardly changes.
_MARGIN = 0.25
# A training ends early at this multiple of the step of the encoder that is kept, which counts as at least that step.
_PATIENCE, _EARLIEST = 4, 250


@dataclass(frozen=True, kw_only=True)
class DistillationConfig(PartsConfig):
    """Configuration of a distillation. The fields of `PartsConfig` come in addition.

    Args:
        steps: Number of batches, at most: a training ends when held-out sentences have not gained for three quarters
            of its steps.
        batch_size: Sentences whose cosines with each other are learned at a time.
        neighborhood_size: Sentences of a batch that are neighbors of each other under the teacher; among randomly
            drawn sentences hardly any two are similar.
        num_hyperplanes: Random hyperplanes of the hash that finds neighbors: 2 ** num_hyperplanes regions.
        loss: `squared`, the squared differences of cosines; `softmax`, the divergence of the distributions over the
            other sentences of the batch, in which near ones count most; or `both`, their sum.
        temperature: τ of `softmax`.
        softmax_weight: Factor of `softmax` in `both`.
        learning_rate: Rate of Adam; it rises for 200 steps and then falls linearly to 0.
        max_tokens: Sentences with more words than this are left out.
    """

    word_vocab_size: int = 80_000
    trigram_vocab_size: int = 40_000
    frequency_damping: float = 3000.0
    steps: int = 20_000
    batch_size: int = 512
    neighborhood_size: int = 32
    num_hyperplanes: int = 12
    loss: Literal["squared", "softmax", "both"] = "squared"
    temperature: float = 0.05
    softmax_weight: float = 1.0
    learning_rate: float = 2e-3
    max_tokens: int = 60

    def validate(self) -> None:
        """Check the architecture and the ranges of all values."""
        super().validate()
        check_range(self, "steps", "batch_size", "neighborhood_size", "num_hyperplanes", "max_tokens", low=1)
        check_range(self, "learning_rate", "temperature", "softmax_weight", above=0)


@dataclass(frozen=True)
class DistillationData:
    """n sentences with the vectors of a teacher."""

    units: dict[str, UnitLists]  # The sentences' tokens by kind
    vectors: npt.NDArray[np.float16]  # float16 `(n, d)`, of norm 1
    trained: Ints  # int64, the rows of sentences to train on
    held_out: Ints  # int64, the rows of sentences on which student and teacher are compared
    counts: dict[str, int]  # `read` = `used` + `held_out` + `empty` (no word, or no vector) + `too_long`
    digest: str


def distill_encoder(
    sentences: Iterable[pa.RecordBatch],
    config: DistillationConfig,
    folder: str | Path,
    evaluator: Evaluator | None = None,
    *,
    seed: int = 1,
    vectors: str | Path | None = None,
    threads: int | None = None,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Train an encoder whose cosines are those of a teacher; resumes from `folder/checkpoint/`.

    Saves the encoder that agrees best with the teacher on sentences that are held out.
    """
    spec, folder = config.parsed_spec, Path(folder)
    sizes = {unit: config.vocab_size(unit) for unit in spec.units}
    began = time.perf_counter()
    data = stream_sentences(sentences, folder / "checkpoint" / "sentences", config.max_tokens, sizes)
    team = ThreadTeam(threads)
    parts = initial_parts(PartTraining(config, team, seed), spec, data.units, None, vectors)
    learner = Learner(spec, data.units, parts, team)
    save_encoder(learner.encoder(), folder / START, asdict(config))
    settings = {**asdict(config), "seed": seed}
    if vectors is not None:
        settings["vectors"] = file_digest(vectors_file(vectors))[:12]
    training_digest = digest([settings, data.digest])
    state = read_checkpoint(folder, learner.tensors, training_digest)
    streamed, resumed = time.perf_counter(), state.step
    try:
        steps = _train(config, seed, data, learner, state, evaluator, folder / BEST)
        run_with_checkpoints(steps, folder, state, learner.tensors, training_digest, checkpoint_seconds)
    finally:
        team.close()
    trained = time.perf_counter() - streamed
    timings = {
        "threads": team.threads,
        "numbering_seconds": streamed - began,
        "training_seconds": trained,
        "sentences_per_second": (state.step - resumed) * config.batch_size / trained,
    }
    write_records(folder, state.curve, timings)
    encoder, kept = load_encoder(folder / BEST), kept_line(state.measured)
    save_encoder(encoder, folder, {**settings, **data.counts, "best_step": kept["step"]})
    shutil.rmtree(folder / "checkpoint")
    if not kept["step"]:
        warnings.warn("no step agrees better with the teacher than the untrained start, which is kept", stacklevel=2)
    return {
        "sentences": data.counts,
        "steps": state.step,
        "best_step": kept["step"],
        "loss": state.last_line["loss"],
        "dev": kept["dev"],
        "untrained": state.measured[0]["dev"],
        "entries": {unit: len(lists.counted.vocabulary) for unit, lists in data.units.items()},
        "signature": encoder.signature,
    }


def stream_sentences(
    sentences: Iterable[pa.RecordBatch], folder: Path, max_tokens: int, sizes: dict[str, int]
) -> DistillationData:
    """Write the tokens and the vectors of all sentences to files in `folder`; no text stays in memory."""
    counts = {"read": 0, "used": 0, "empty": 0, "too_long": 0}
    width = 0
    with disk_full_as_error(folder), UnitWriter(folder, sizes) as writer:
        stored, keys = writer.file("vectors"), writer.file("keys")
        for batch in sentences:
            texts = batch.column("text").cast(pa.large_string()).fill_null("")
            vectors, known = teacher_vectors(batch)
            width = vectors.shape[1]
            words = UNITS["word"].split(texts)
            empty = (words.lengths == 0) | ~known
            too_long = (words.lengths > max_tokens) & ~empty
            kept = ~(empty | too_long)
            counts["read"] += len(kept)
            counts["empty"] += int(empty.sum())
            counts["too_long"] += int(too_long.sum())
            counts["used"] += int(kept.sum())
            if kept.any():
                writer.add(texts.filter(pa.array(kept)))
                stored.append(vectors[kept])
                keys.append(list_kernels.bag_keys(words.ids, words.offsets)[kept])
    if counts["used"] < 2:
        raise DataError(f"too few sentences are left to learn from: {counts}")
    trained, held_out = split_held_out(keys.mapped(np.uint64))
    counts["held_out"] = counts["used"] - len(trained)
    counts["used"] = len(trained)
    teacher = stored.mapped(np.float16).reshape(-1, width)
    return DistillationData(writer.unit_lists(), teacher, trained, held_out, counts, digest(writer.digests))


def split_held_out(keys: Ids) -> tuple[Ints, Ints]:
    """The rows to train on and, by their keys, those to hold out: the first of each key, no other is trained on."""
    different, first = np.unique(keys, return_index=True)
    count = min(_HELD_OUT, len(different) // _ONE_OF)
    if count < _FEWEST:
        # Too few to hold any out: those that are trained on are compared.
        return np.arange(len(keys)), first
    return np.flatnonzero(keys >= different[count]), first[:count]


def neighborhood_order(
    vectors: npt.NDArray[np.float16],
    size: int,
    num_hyperplanes: int,
    draw: np.random.Generator,
    rows: Ints | None = None,
) -> Ints:
    """A random order of runs of `size` vectors on the same side of nearly all random hyperplanes (Charikar 2002).

    Of the vectors in some rows, or of all.
    """
    normals = draw.standard_normal((vectors.shape[1], num_hyperplanes)).astype(np.float32)
    codes = np.empty(len(vectors), np.int64)
    for start in range(0, len(vectors), _CHUNK):
        sides = vectors[start : start + _CHUNK].astype(np.float32) @ normals > 0
        codes[start : start + _CHUNK] = sides @ (1 << np.arange(num_hyperplanes))
    if rows is None:
        rows = np.arange(len(vectors))
    order = rows[np.lexsort((draw.random(len(rows)), codes[rows]))]
    size = min(size, len(order))
    neighborhoods = order[: len(order) // size * size].reshape(-1, size)
    return neighborhoods[draw.permutation(len(neighborhoods))].ravel()


def _train(
    config: DistillationConfig,
    seed: int,
    data: DistillationData,
    learner: Learner,
    state: TrainingState,
    evaluator: Evaluator | None,
    best: Path,
) -> Iterator[None]:
    """Advance `state` to the end and yield wherever it is consistent with the parts; saves the best encoder."""
    teacher = data.vectors[data.held_out].astype(np.float32)

    def evaluate() -> None:
        figures = {"agreement": agreement(config, learner.forward(learner.take(data.held_out)), teacher)}
        if evaluator is not None:
            figures |= evaluator(learner.encoder())
        state.measure(figures, state.epoch + bool(state.step))
        if kept_line(state.measured) is state.curve[-1]:
            save_encoder(learner.encoder(), best)

    if not state.curve and not state.step:
        evaluate()
    neighborhood = min(config.neighborhood_size, config.batch_size, len(data.trained))
    # With few sentences, a batch consists of all full neighborhoods: every epoch has at least one batch.
    size = min(config.batch_size, len(data.trained) // neighborhood * neighborhood)
    with progress("distilling", config.steps, unit="batches", done=state.step) as advance:
        while not _ended(config, state):
            # The order depends on seed and epoch alone, so that checkpoints need no state of a generator.
            draw = generator(seed, len(learner.parts), state.epoch)
            order = neighborhood_order(data.vectors, neighborhood, config.num_hyperplanes, draw, data.trained)
            while (state.megabatch + 1) * size <= len(order) and not _ended(config, state):
                _train_step(config, data, learner, state, order[state.megabatch * size :][:size])
                state.megabatch += 1
                last = state.step == config.steps
                if last or state.step >= max(_FIRST, _GROWTH * state.measured[-1]["step"]):
                    evaluate()
                if state.steps == _LINE or _ended(config, state):
                    mean = state.loss / state.steps / max(1, size - 1)
                    state.end_line(mean, off=mean**0.5)  # the root mean square difference of cosines
                advance(1)
                yield
            state.epoch, state.megabatch = state.epoch + 1, 0


def _ended(config: DistillationConfig, state: TrainingState) -> bool:
    """True after the last step, or where the agreement has not risen for long."""
    return state.step >= min(config.steps, _PATIENCE * max(_EARLIEST, kept_line(state.measured)["step"]))


def kept_line(measured: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The line of a curve whose encoder is kept: it agrees best, by a margin over those before it."""
    kept = measured[0]
    for line in measured:
        if line["dev"]["agreement"] > kept["dev"]["agreement"] + _MARGIN:
            kept = line
    return kept


def agreement(config: DistillationConfig, vectors: Float32s, teacher: Float32s) -> float:
    """How much of the loss of n sentences whose cosines are all 0 is gone, × 100: 100 for the teacher's cosines."""
    target = teacher @ teacher.T
    whole = _loss(config, np.zeros_like(vectors), target).value
    return 100 * (1 - _loss(config, vectors, target).value / max(whole, 1e-9))


def _train_step(
    config: DistillationConfig, data: DistillationData, learner: Learner, state: TrainingState, selected: Ints
) -> None:
    teacher = data.vectors[selected].astype(np.float32)
    lists = learner.take(selected)
    loss = _loss(config, learner.forward(lists), teacher @ teacher.T)
    state.step += 1
    state.add_loss(loss.value)
    remaining = 1 - (state.step - 1) / config.steps
    learner.update(lists, loss, config.learning_rate * min(remaining, state.step / _WARMUP), state.step)


def _loss(config: DistillationConfig, vectors: Float32s, target: Float32s) -> Loss:
    if config.loss == "squared":
        return similarity_loss(vectors, target)
    near = distribution_loss(vectors, target, config.temperature)
    if config.loss == "softmax":
        return near
    all_pairs, factor = similarity_loss(vectors, target), np.float32(config.softmax_weight)
    gradient = all_pairs.gradient + factor * near.gradient
    return Loss(all_pairs.value + config.softmax_weight * near.value, 0, gradient, near.active)
