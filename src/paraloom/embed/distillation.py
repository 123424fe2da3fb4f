"""Distilling: a small encoder learns the similarities that a large one gives to unlabelled sentences."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.digests import digest, file_digest
from paraloom.core.errors import DataError, ModelError
from paraloom.core.progress import progress as shown
from paraloom.core.seeds import generator
from paraloom.embed.checkpoint import Progress, keep_checkpoints, read_checkpoint, write_records
from paraloom.embed.config import PartsConfig, positive, whole
from paraloom.embed.initialization import new_parts
from paraloom.embed.learner import Learner
from paraloom.embed.losses import similarity_loss
from paraloom.embed.numbering import Numbered, Numbering
from paraloom.embed.spec import Spec
from paraloom.embed.store import save
from paraloom.embed.threads import Team
from paraloom.embed.training import Dev
from paraloom.embed.units import UNITS
from paraloom.embed.vectors import file_of
from paraloom.io.atomic import disk_full_as_error

# Batches that one line of the curve sums up.
_LINE = 100
_WARMUP = 200
# Sentences whose places among the random planes are found at a time.
_CHUNK = 50_000


@dataclass(frozen=True, kw_only=True)
class StudentConfig(PartsConfig):
    """How to distil; see PartsConfig for the encoder itself.

    steps: batches in all.  batch: sentences whose similarities with each other are learned at a time.
    block: of those, so many in a row are neighbours under the teacher: among sentences drawn by chance hardly any two
    are alike.  planes: random planes that find neighbours, 2^planes regions.  rate: Adam's, which rises over 200 steps
    and falls to 0 at the end.  max_tokens: longer sentences (in words) are left out.
    """

    word_entries: int = 80_000
    trigram_entries: int = 40_000
    damping: float = 3000.0
    steps: int = 20_000
    batch: int = 512
    block: int = 32
    planes: int = 12
    rate: float = 2e-3
    max_tokens: int = 60

    def check(self) -> Spec:
        """The parsed spec; raises ConfigError that names the field which cannot be."""
        whole(self, "steps", "batch", "block", "planes", "max_tokens")
        positive(self, "rate")
        return super().check()


@dataclass(frozen=True)
class Taught:
    """n sentences and the teacher's vectors of them, float16 (n, d), of length 1.

    counts: `read` = `used` + `empty` (no word, or no vector) + `too_long`.
    """

    units: dict[str, Numbered]
    vectors: npt.NDArray[np.float16]
    counts: dict[str, int]
    digest: str


def distil_encoder(
    sentences: Iterable[pa.RecordBatch],
    config: StudentConfig,
    folder: str | Path,
    dev: Dev | None = None,
    *,
    seed: int = 1,
    vectors: str | Path | None = None,
    threads: int | None = None,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Train an encoder whose cosines are those of the `vector` of each `text`, and save it into `folder`.

    The loss is Σ (cos of ours − cos of the teacher's)² over all pairs in a batch; nothing is labelled.
    sentences: record batches with `text` and `vector` (fixed-size lists of floats).  dev: called with the encoder ten
    times over the training; its figures join the curve.  vectors: word vectors to start from (embed.vectors).
    A training that was killed goes on from `folder/checkpoint/` when called again with the same sentences and
    configuration, and ends with the same bytes, whatever `threads`.
    Raises DataError where no sentence is left, ModelError when the loss is no longer finite.

    >>> distil_encoder(Corpus.open("encoded").batches(), StudentConfig(steps=9), "encoder")    # doctest: +SKIP
    """
    spec, folder = config.check(), Path(folder)
    sizes = {unit: config.entries(unit) for unit in spec.units}
    began = time.perf_counter()
    data = stream_sentences(sentences, folder / "checkpoint" / "sentences", config.max_tokens, sizes)
    team = Team(threads)
    learner = Learner(spec, data.units, new_parts(config, seed, spec, data.units, None, vectors, team), team)
    settings = {**asdict(config), "seed": seed}
    if vectors is not None:
        settings["vectors"] = file_digest(file_of(vectors))[:12]
    mark = digest([settings, data.digest])
    progress = read_checkpoint(folder, learner.tensors, mark)
    numbered, resumed = time.perf_counter(), progress.step
    try:
        steps = _learn(config, seed, data, learner, progress, dev)
        keep_checkpoints(steps, folder, progress, learner.tensors, mark, checkpoint_seconds)
    finally:
        team.close()
    trained = time.perf_counter() - numbered
    timings = {
        "threads": team.threads,
        "numbering_seconds": numbered - began,
        "training_seconds": trained,
        "sentences_per_second": (progress.step - resumed) * config.batch / trained,
    }
    write_records(folder, progress.curve, timings)
    encoder = learner.encoder()
    save(encoder, folder, {**settings, **data.counts})
    shutil.rmtree(folder / "checkpoint")
    return {
        "sentences": data.counts,
        "steps": progress.step,
        "loss": next(line["loss"] for line in reversed(progress.curve) if "loss" in line),
        "dev": next((line["dev"] for line in reversed(progress.curve) if "dev" in line), {}),
        "entries": {unit: len(each.chosen.vocabulary) for unit, each in data.units.items()},
        "signature": encoder.signature,
    }


def stream_sentences(
    sentences: Iterable[pa.RecordBatch], folder: Path, max_tokens: int, sizes: dict[str, int]
) -> Taught:
    """Number the units of every sentence into files in `folder`, its vector beside them; no text stays in memory."""
    counts = {"read": 0, "used": 0, "empty": 0, "too_long": 0}
    width = 0
    with disk_full_as_error(folder), Numbering(folder, sizes) as numbering:
        stored = numbering.file("vectors")
        for batch in sentences:
            texts = batch.column("text").cast(pa.large_string()).fill_null("")
            vectors, known = _vectors(batch)
            width = vectors.shape[1]
            lengths = UNITS["word"].cut(texts).lengths
            empty = (lengths == 0) | ~known
            too_long = (lengths > max_tokens) & ~empty
            kept = ~(empty | too_long)
            counts["read"] += len(kept)
            counts["empty"] += int(empty.sum())
            counts["too_long"] += int(too_long.sum())
            counts["used"] += int(kept.sum())
            if kept.any():
                numbering.add(texts.filter(pa.array(kept)))
                stored.append(vectors[kept])
    if counts["used"] < 2:
        raise DataError(f"no sentences are left to learn from: {counts}")
    return Taught(numbering.numbered(), stored.mapped(np.float16).reshape(-1, width), counts, digest(numbering.digests))


def neighbourly_order(
    vectors: npt.NDArray[np.float16], block: int, planes: int, draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    """All vectors' numbers in an order drawn by chance, but for blocks of so many that lie near each other.

    Near: on the same side of random planes (Charikar 2002), or of nearly all of them, at the end of a region.
    What does not fill a block is left out.
    """
    normals = draw.standard_normal((vectors.shape[1], planes)).astype(np.float32)
    codes = np.empty(len(vectors), np.int64)
    for start in range(0, len(vectors), _CHUNK):
        sides = vectors[start : start + _CHUNK].astype(np.float32) @ normals > 0
        codes[start : start + _CHUNK] = sides @ (1 << np.arange(planes))
    order = np.lexsort((draw.random(len(vectors)), codes))
    size = min(block, len(order))
    blocks = order[: len(order) // size * size].reshape(-1, size)
    return blocks[draw.permutation(len(blocks))].ravel()


def _learn(
    config: StudentConfig, seed: int, data: Taught, learner: Learner, progress: Progress, dev: Dev | None
) -> Iterator[None]:
    """Advance `progress` to the end, yielding wherever it and the parts are whole."""
    block = min(config.block, config.batch, len(data.vectors))
    # Of few sentences a batch is all those that fill blocks: one batch is in each epoch at least.
    size = min(config.batch, len(data.vectors) // block * block)
    with shown("distilling", config.steps, unit="batches", done=progress.step) as advance:
        while progress.step < config.steps:
            # The order depends on seed and epoch alone, so a checkpoint needs no state of a generator.
            draw = generator(seed, len(learner.parts), progress.epoch)
            order = neighbourly_order(data.vectors, block, config.planes, draw)
            while (progress.megabatch + 1) * size <= len(order) and progress.step < config.steps:
                _step(config, data, learner, progress, order[progress.megabatch * size :][:size])
                progress.megabatch += 1
                if progress.step == config.steps or progress.steps == _LINE:
                    _close_line(progress, size)
                if dev is not None and (
                    progress.step % max(1, config.steps // 10) == 0 or progress.step == config.steps
                ):
                    figures = {name: float(figure) for name, figure in dev(learner.encoder()).items()}
                    progress.curve.append({"epoch": progress.epoch + 1, "step": progress.step, "dev": figures})
                advance(1)
                yield
            progress.epoch, progress.megabatch = progress.epoch + 1, 0


def _step(
    config: StudentConfig, data: Taught, learner: Learner, progress: Progress, chosen: npt.NDArray[np.int64]
) -> None:
    taught = data.vectors[chosen].astype(np.float32)
    lists = learner.take(chosen)
    loss = similarity_loss(learner.vectors(lists), taught @ taught.T)
    progress.step += 1
    if not math.isfinite(loss.value):
        raise ModelError(
            f"the loss is {loss.value} in epoch {progress.epoch + 1}, batch {progress.step}",
            remedy="Lower the learning rate; the last checkpoint is still good.",
        )
    left = 1 - (progress.step - 1) / config.steps
    learner.learn(lists, loss, config.rate * min(left, progress.step / _WARMUP), progress.step)
    progress.loss += loss.value
    progress.steps += 1


def _close_line(progress: Progress, size: int) -> None:
    """A line of the curve: the root of the mean square difference between cosines."""
    mean = progress.loss / progress.steps / max(1, size - 1)
    progress.curve.append({"epoch": progress.epoch + 1, "step": progress.step, "loss": mean, "off": mean**0.5})
    progress.loss, progress.steps = 0.0, 0


def _vectors(batch: pa.RecordBatch) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]:
    """The teacher's vectors as float16 (n, d) and whether each is finite and of length 1."""
    column = batch.column("vector") if "vector" in batch.schema.names else None
    if column is None or not pa.types.is_fixed_size_list(column.type):
        raise DataError("there is no column 'vector' of fixed-size lists", remedy="The stage `encode` adds it.")
    vectors = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1).astype(np.float16, copy=False)
    norms = np.linalg.norm(vectors.astype(np.float32), axis=1)
    return vectors, np.isfinite(norms) & (np.abs(norms - 1) < 0.05)
