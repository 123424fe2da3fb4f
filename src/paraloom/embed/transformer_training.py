"""Distillation of a small transformer: it learns a teacher's vectors and their cosines, without labels."""

from __future__ import annotations

import json
import math
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn import functional

from paraloom.core.digests import digest
from paraloom.core.errors import DataError, ModelError
from paraloom.core.hardware import supports_bfloat16
from paraloom.core.progress import progress
from paraloom.core.seeds import generator, spawn_seed
from paraloom.embed.checkpoint import TrainingState, read_checkpoint, run_with_checkpoints, write_records
from paraloom.embed.data import ArrayFile
from paraloom.embed.distillation import neighborhood_order
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.embed.transformer_network import (
    TransformerNetwork,
    TransformerShape,
    new_network,
    principal_embeddings,
)
from paraloom.embed.transformer_store import NetworkEncoder, load_transformer, padded, save_transformer
from paraloom.embed.transformer_vocabulary import TeacherVocabulary, prune, read_teacher
from paraloom.io.atomic import disk_full_as_error

Evaluator = Callable[[NetworkEncoder], Mapping[str, float]]
"""Measures an encoder during training; returns figures by name."""

BETAS = (0.9, 0.98)
"""Of Adam. The second one is low because most rows of the embeddings have a gradient in a few steps only."""

_EPSILON = 1e-8

# Below the folder of a training, until it ends.
_BEST = "checkpoint/best"
# Batches per line of the learning curve.
_LINE = 100
# Evaluations over the training, besides that of the start.
_EVALUATIONS = 10
# Sentences that are tokenized at a time.
_CHUNK = 5000
# Batches of like length that are searched together for neighbors, at most, and how much longer than the shortest of
# their sentences the longest may be.
_SLAB, _STRETCH = 32, 1.2
_EMBEDDINGS = "words.weight"


@dataclass(frozen=True)
class TransformerData:
    """n sentences as tokens, with the vectors of a teacher.

    Args:
        ids: int32, the tokens of all sentences, memory-mapped.
        offsets: int64 `(n + 1,)`, where each sentence begins.
        rows: int64 `(n,)`, the row of each sentence in `vectors`.
        vectors: float16 `(m, d)`, of norm 1, memory-mapped.
        counts: `read` = `used` + `empty` (no text, or no vector) + `too_long`.
        digest: Of all of it.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    vectors: npt.NDArray[np.float16]
    counts: dict[str, int]
    digest: str

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, sentences: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int32]]:
        """The tokens of some sentences."""
        return [self.ids[self.offsets[i] : self.offsets[i + 1]] for i in sentences.tolist()]


def distill_transformer(
    sentences: Iterable[pa.RecordBatch],
    teacher: str | Path,
    config: TransformerConfig,
    folder: str | Path,
    evaluator: Evaluator | None = None,
    *,
    seed: int = 1,
    checkpoint_seconds: float = 60.0,
) -> dict[str, Any]:
    """Train a small transformer whose vectors and cosines are those of a teacher, and save it.

    Its tokenizer is the teacher's, and its embeddings start from the principal components of the teacher's. The folder
    opens with `Encoder.load` and with sentence-transformers; it also receives `timings.json` and `curve.jsonl` (mean
    loss, its parts in the last batch, figures of the evaluator). An interrupted training resumes from
    `folder/checkpoint/` when it is called again with the same sentences and configuration, and ends with the same
    bytes.

    Args:
        sentences: Record batches with `text` and the teacher's `vector` (fixed-size lists of floats, of norm 1). The
            vectors may be those of other encoders than `teacher`, or of several joined together.
        teacher: Folder of a sentence-transformers model, for tokenizer and embeddings.
        config: Configuration.
        folder: Folder for the encoder.
        evaluator: Called with the encoder before the first step and ten times over the training; its figures become
            part of the curve, and the encoder with the highest first figure is kept. Without one it is the last.
        seed: Seed of initial weights and of the order of the sentences.
        checkpoint_seconds: Time between two checkpoints.

    Returns:
        Figures: `sentences` (counts), `steps`, `best_step` (None without an evaluator), `loss`, `dev` (the figures of
        the encoder that is kept), `tokens` (size of the vocabulary), `parameters` and `signature`.

    Raises:
        DataError: No sentence is left, or the column `vector` is missing or changes its width.
        ModelError: The teacher cannot be read, the loss is no longer finite, or a checkpoint in the folder belongs to
            another training.

    Reference:
        Reimers and Gurevych 2020 (vectors of a teacher); Wada et al. 2025, "SWE4Semantics" (in-batch softmax).

    Example:
        >>> from paraloom.io import Corpus
        >>> batches = Corpus.open("encoded").batches()                                 # doctest: +SKIP
        >>> distill_transformer(batches, "all-MiniLM-L6-v2", TransformerConfig(), "student")   # doctest: +SKIP
    """
    folder = Path(folder)
    began = time.perf_counter()
    vocabulary = read_teacher(teacher)
    data, vocabulary = stream_sentences(sentences, vocabulary, folder / "checkpoint" / "sentences", config)
    streamed = time.perf_counter()
    settings = {**asdict(config), "precision": _precision(config), "seed": seed}
    trainer = TransformerTrainer(config, initial_network(config, vocabulary, data.vectors.shape[1], seed))
    training_digest = digest([settings, data.digest])
    state = read_checkpoint(folder, trainer.tensors, training_digest)
    resumed = state.step
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        steps = _train(config, seed, data, vocabulary, trainer, state, evaluator, folder / _BEST, settings)
        run_with_checkpoints(steps, folder, state, trainer.tensors, training_digest, checkpoint_seconds)
    finally:
        torch.set_num_threads(threads)
        trainer.close()
    trained = time.perf_counter() - streamed
    timings = {
        "threads": config.threads,
        "numbering_seconds": streamed - began,
        "training_seconds": trained,
        "sentences_per_second": (state.step - resumed) * config.batch_size / trained,
    }
    write_records(folder, state.curve, timings)
    measured = [line for line in state.curve if "dev" in line]
    best = _best_line(measured)
    network = trainer.network if best is None else load_transformer(folder / _BEST).network
    best_step = None if best is None else best["step"]
    save_transformer(network, vocabulary, folder, {**settings, **data.counts, "best_step": best_step})
    shutil.rmtree(folder / "checkpoint")
    _warn(measured, best)
    return {
        "sentences": data.counts,
        "steps": state.step,
        "best_step": best_step,
        "loss": next(line["loss"] for line in reversed(state.curve) if "loss" in line),
        "dev": {} if best is None else best["dev"],
        "tokens": network.shape.vocab_size,
        "parameters": sum(value.numel() for value in network.parameters()),
        "signature": load_transformer(folder).signature,
    }


def stream_sentences(
    sentences: Iterable[pa.RecordBatch], vocabulary: TeacherVocabulary, folder: Path, config: TransformerConfig
) -> tuple[TransformerData, TeacherVocabulary]:
    """Write the tokens and the vectors of all sentences to files in `folder`; none of them stays in memory.

    Args:
        sentences: Record batches with `text` and `vector`.
        vocabulary: The teacher's.
        folder: Folder for the files.
        config: Size of the vocabulary and maximal length.

    Returns:
        The data, and the vocabulary, pruned to `config.vocab_size`.

    Raises:
        DataError: Fewer than two sentences are left, or the column `vector` is missing or changes its width.
        ConfigError: The vocabulary cannot be pruned.
    """
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"read": 0, "used": 0, "empty": 0, "too_long": 0}
    lines = folder / "lines.txt"
    with disk_full_as_error(folder):
        vectors, width = _write_lines(sentences, lines, ArrayFile(folder / "vectors"), counts)
        if config.vocab_size:
            occurrences = np.zeros(len(vocabulary.words), np.int64)
            for ids in _tokenized(lines, vocabulary):
                occurrences += np.bincount(np.concatenate([*ids, []]).astype(np.int64), minlength=len(occurrences))
            vocabulary = prune(vocabulary, occurrences, config.vocab_size)
        files = {name: ArrayFile(folder / name) for name in ("ids", "offsets", "rows")}
        files["offsets"].append(np.zeros(1, np.int64))
        row = total = 0
        for ids in _tokenized(lines, vocabulary):
            lengths = np.array([len(sentence) for sentence in ids], np.int64)
            kept = np.flatnonzero((lengths > 0) & (lengths <= config.max_length))
            counts["empty"] += int((lengths == 0).sum())
            counts["too_long"] += int((lengths > config.max_length).sum())
            files["ids"].append(np.concatenate([np.zeros(0, np.int32), *(np.array(ids[i], np.int32) for i in kept)]))
            files["offsets"].append(total + np.cumsum(lengths[kept]))
            files["rows"].append(row + kept)
            row, total = row + len(ids), total + int(lengths[kept].sum())
            counts["used"] += len(kept)
        for file in files.values():
            file.close()
    lines.unlink()
    if counts["used"] < 2:
        raise DataError(f"too few sentences are left to learn from: {counts}")
    contents = [file.digest for file in (*files.values(), vectors)]
    data = TransformerData(
        files["ids"].mapped(np.int32),
        files["offsets"].mapped(np.int64),
        files["rows"].mapped(np.int64),
        vectors.mapped(np.float16).reshape(-1, width),
        counts,
        digest([*contents, digest(vocabulary.tokenizer)]),
    )
    return data, vocabulary


def batches_of_like_length(
    data: TransformerData, config: TransformerConfig, draw: np.random.Generator
) -> npt.NDArray[np.int64]:
    """The batches of an epoch: sentences of like length, in neighborhoods under the teacher, in random order.

    Sentences that do not fill a batch are left out, other ones in each epoch.

    Args:
        data: The sentences.
        config: Sizes of batches and neighborhoods.
        draw: Generator of the order.

    Returns:
        int64 `(k, batch size)`, numbers of sentences.
    """
    neighborhood = min(config.neighborhood_size, config.batch_size, len(data))
    size = min(config.batch_size, len(data)) // neighborhood * neighborhood
    usable = draw.permutation(len(data))[: len(data) // size * size]
    lengths = np.diff(data.offsets)
    by_length = usable[np.argsort(lengths[usable], kind="stable")].reshape(-1, size)
    batches = []
    for slab in _slabs(lengths[by_length]):
        # Memory-mapped vectors are read in the order of the file.
        sentences = np.sort(by_length[slab].ravel())
        order = neighborhood_order(data.vectors[data.rows[sentences]], neighborhood, config.num_hyperplanes, draw)
        batches.append(sentences[order].reshape(-1, size))
    result = np.concatenate(batches)
    return result[draw.permutation(len(result))]


def _slabs(lengths: npt.NDArray[np.int64]) -> Iterator[slice]:
    """Runs of batches of like length, from the lengths `(k, batch size)` of sentences in ascending order."""
    start = 0
    for end in range(1, len(lengths) + 1):
        full = end == len(lengths) or end - start == _SLAB
        if full or lengths[end, -1] > _STRETCH * lengths[start, 0] + 1:
            yield slice(start, end)
            start = end


@dataclass(frozen=True)
class DistillationLoss:
    """The losses of a batch: their weighted sum, and each one by itself.

    Args:
        total: The sum, to be differentiated.
        squared: Mean squared difference of cosines.
        softmax: Mean divergence of a row's softmax from the teacher's, in nats.
        vector: Mean of 1 − cosine with the teacher's vector.
    """

    total: Tensor
    squared: float
    softmax: float
    vector: float


def distillation_loss(vectors: Tensor, teacher: Tensor, config: TransformerConfig) -> DistillationLoss:
    """Compare the vectors of a batch, and their cosines, with the teacher's.

    Args:
        vectors: `(n, d)`, n ≥ 2.
        teacher: `(n, d)`, of norm 1.
        config: Weights of the losses, and the temperature.

    Returns:
        The losses; one of weight 0 is measured too.

    Reference:
        Wada et al. 2025, "SWE4Semantics" (softmax over the cosines of a batch, the diagonal left out).
    """
    count = len(vectors)
    units = functional.normalize(vectors, dim=1)
    cosines, target = units @ units.T, teacher @ teacher.T
    itself = torch.eye(count, dtype=torch.bool)
    squared = (cosines - target).masked_fill(itself, 0).square().sum() / (count * (count - 1))
    log_p = torch.log_softmax((target / config.temperature).masked_fill(itself, -torch.inf), 1).masked_fill(itself, 0)
    log_q = torch.log_softmax((cosines / config.temperature).masked_fill(itself, -torch.inf), 1).masked_fill(itself, 0)
    p = log_p.exp().masked_fill(itself, 0)
    softmax = (p * (log_p - log_q)).sum() / count
    vector = (1 - (units * teacher).sum(1)).mean()
    total = config.squared_weight * squared + config.vector_weight * vector
    if config.softmax_weight:
        total = total + config.softmax_weight * softmax
    return DistillationLoss(total, float(squared.detach()), float(softmax.detach()), float(vector.detach()))


def initial_network(
    config: TransformerConfig, vocabulary: TeacherVocabulary, dimension: int, seed: int
) -> TransformerNetwork:
    """The network before the first step: random, but for embeddings of tokens and positions taken from the teacher.

    Args:
        config: The sizes.
        vocabulary: The teacher's.
        dimension: Dimension of the sentence vectors.
        seed: Seed of the random weights.
    """
    shape = TransformerShape(
        len(vocabulary.words),
        config.width,
        config.layers,
        config.heads,
        config.ffn_dim,
        config.max_length,
        dimension,
    )
    network = new_network(shape, spawn_seed(seed, 0))
    with torch.no_grad():
        words = principal_embeddings(vocabulary.words, config.width, seed)
        network.words.weight.copy_(torch.from_numpy(words))
    return network


class TransformerTrainer:
    """Updates a small transformer batch by batch.

    A batch is cut into `config.threads` slices, whose vectors the loss sees together and whose gradients are added in
    slice order. The embeddings are updated in the rows that a batch uses.

    Args:
        config: Training settings.
        network: The network, which is updated.
    """

    def __init__(self, config: TransformerConfig, network: TransformerNetwork) -> None:
        self.config, self.network = config, network
        self._bfloat16 = _precision(config) == "bfloat16"
        self._parameters = {name: value.detach() for name, value in network.named_parameters()}
        self._dense = {name: value for name, value in self._parameters.items() if name != _EMBEDDINGS}
        self._first = {name: torch.zeros_like(value) for name, value in self._parameters.items()}
        self._second = {name: torch.zeros_like(value) for name, value in self._parameters.items()}
        self._slices = [_with_shared_weights(network) for _ in range(config.threads)]
        self._pool = ThreadPoolExecutor(config.threads)

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """Everything that a checkpoint contains, by name: the arrays themselves."""
        kinds = {"parameters": self._parameters, "first": self._first, "second": self._second}
        return {f"{kind}.{name}": value.numpy() for kind, of_kind in kinds.items() for name, value in of_kind.items()}

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown()

    def update(
        self, ids: Sequence[npt.NDArray[np.int32]], teacher: npt.NDArray[np.float32], learning_rate: float, step: int
    ) -> DistillationLoss:
        """Take one step.

        Args:
            ids: Tokens of n sentences.
            teacher: float32 `(n, d)`, their vectors, of norm 1.
            learning_rate: Of this step.
            step: Its number, from 1.
        """
        matrix, lengths = padded(ids)
        used, local = torch.unique(matrix, return_inverse=True)
        rows = self._parameters[_EMBEDDINGS][used]
        tables = [rows.detach().requires_grad_() for _ in self._slices]
        count = min(len(self._slices), len(ids))

        def forward(index: int) -> Tensor:
            with torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16):
                result: Tensor = self._slices[index](local[index::count], lengths[index::count], tables[index])
            return result

        parts = list(self._pool.map(forward, range(count)))
        vectors = torch.empty(len(ids), self.network.shape.dimension)
        for index, part in enumerate(parts):
            vectors[index::count] = part.detach()
        vectors.requires_grad_()
        loss = distillation_loss(vectors, torch.from_numpy(teacher), self.config)
        loss.total.backward()
        gradient = vectors.grad
        assert gradient is not None
        list(self._pool.map(lambda index: parts[index].backward(gradient[index::count]), range(count)))
        self._step(used, tables[:count], count, learning_rate, step)
        return loss

    def _step(self, used: Tensor, tables: Sequence[Tensor], count: int, learning_rate: float, step: int) -> None:
        """Add the gradients of the slices and update the parameters by AdamW."""
        slices = [dict(part.named_parameters()) for part in self._slices[:count]]
        gradients = {name: _sum([part[name].grad for part in slices]) for name in self._dense}
        of_rows = _sum([table.grad for table in tables])
        norm = math.sqrt(sum(float(value.square().sum()) for value in (*gradients.values(), of_rows)))
        scale = min(1.0, self.config.clip_norm / norm) if norm > 0 else 1.0
        for name, gradient in gradients.items():
            value = self._dense[name]
            matrix = value.dim() == 2 and "positions" not in name
            decay = learning_rate * self.config.weight_decay if matrix else 0.0
            value.mul_(1 - decay)
            moments = self._first[name], self._second[name]
            value.sub_(_adam(gradient * scale, *moments, step) * learning_rate)
        first, second = self._first[_EMBEDDINGS][used], self._second[_EMBEDDINGS][used]
        change = _adam(of_rows * scale, first, second, step) * learning_rate
        self._first[_EMBEDDINGS][used], self._second[_EMBEDDINGS][used] = first, second
        self._parameters[_EMBEDDINGS][used] -= change
        for part in self._slices:
            part.zero_grad(set_to_none=True)


def learning_rate_at(config: TransformerConfig, step: int) -> float:
    """The learning rate of a step, from 1: it rises, then falls linearly.

    Example:
        >>> config = TransformerConfig(steps=100, warmup_steps=10, learning_rate=1.0, final_learning_rate=0.1)
        >>> [round(learning_rate_at(config, step), 3) for step in (1, 10, 55, 100)]
        [0.1, 1.0, 0.55, 0.1]
    """
    warmup = min(config.warmup_steps, config.steps // 10)
    if step <= warmup:
        return config.learning_rate * step / warmup
    remaining = (config.steps - step) / max(1, config.steps - warmup)
    return config.learning_rate * (config.final_learning_rate + (1 - config.final_learning_rate) * remaining)


def _train(
    config: TransformerConfig,
    seed: int,
    data: TransformerData,
    vocabulary: TeacherVocabulary,
    trainer: TransformerTrainer,
    state: TrainingState,
    evaluator: Evaluator | None,
    best: Path,
    settings: Mapping[str, Any],
) -> Iterator[None]:
    """Advance `state` to the end and yield wherever it is consistent with the weights; save the best ones."""

    def evaluate() -> None:
        if evaluator is None:
            return
        encoder = NetworkEncoder(trainer.network, vocabulary.tokenizer, config.threads)
        figures = {name: float(figure) for name, figure in evaluator(encoder).items()}
        line = {"epoch": state.epoch + bool(state.step), "step": state.step, "dev": figures}
        state.curve.append(line)
        if _best_line([other for other in state.curve if "dev" in other]) is line:
            save_transformer(trainer.network, vocabulary, best, settings)

    if not state.step and not state.curve:
        evaluate()
    with progress("distilling", config.steps, unit="batches", done=state.step) as advance:
        while state.step < config.steps:
            # The order depends on seed and epoch alone, so that checkpoints need no state of a generator.
            batches = batches_of_like_length(data, config, generator(seed, 1, state.epoch))
            while state.megabatch < len(batches) and state.step < config.steps:
                selected = batches[state.megabatch]
                teacher = data.vectors[data.rows[selected]].astype(np.float32)
                state.step += 1
                loss = trainer.update(data.take(selected), teacher, learning_rate_at(config, state.step), state.step)
                value = float(loss.total.detach())
                if not math.isfinite(value):
                    raise ModelError(
                        f"the loss is {value} in epoch {state.epoch + 1}, batch {state.step}",
                        remedy="Lower the learning rate; the last checkpoint is intact.",
                    )
                state.megabatch += 1
                state.loss += value
                state.steps += 1
                if state.step == config.steps or state.steps == _LINE:
                    parts = {"squared": loss.squared, "softmax": loss.softmax, "vector": loss.vector}
                    mean = state.loss / state.steps
                    state.curve.append({"epoch": state.epoch + 1, "step": state.step, "loss": mean, **parts})
                    state.loss, state.steps = 0.0, 0
                if state.step == config.steps or state.step % max(1, config.steps // _EVALUATIONS) == 0:
                    evaluate()
                advance(1)
                yield
            state.epoch, state.megabatch = state.epoch + 1, 0


def _best_line(measured: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The line of a curve with the highest first figure, the earliest of equal ones; NaN counts as the lowest."""
    best: Mapping[str, Any] | None = None
    for line in measured:
        figure = next(iter(line["dev"].values()))
        if best is None or figure > next(iter(best["dev"].values())) or math.isnan(next(iter(best["dev"].values()))):
            best = line
    return best


def _warn(measured: Sequence[Mapping[str, Any]], best: Mapping[str, Any] | None) -> None:
    """Warn where the training ends below its start."""
    if best is None or len(measured) < 2:
        return
    start, end = (next(iter(measured[i]["dev"].values())) for i in (0, -1))
    if end < start:
        kept = "the start" if not best["step"] else f"step {best['step']}"
        warnings.warn(
            f"the training ends below its start, {end:.2f} against {start:.2f}; the encoder of {kept} is kept",
            stacklevel=3,
        )


def _write_lines(
    sentences: Iterable[pa.RecordBatch], lines: Path, stored: ArrayFile, counts: dict[str, int]
) -> tuple[ArrayFile, int]:
    """Write the usable texts, one a line, and their vectors; returns the file of vectors and their width."""
    width = 0
    with lines.open("w", encoding="utf-8", newline="\n") as stream:
        for batch in sentences:
            texts = [" ".join((text or "").split()) for text in batch.column("text").to_pylist()]
            vectors, known = _teacher_vectors(batch)
            if width and vectors.shape[1] != width:
                raise DataError(f"expected vectors of {width} dimensions as before, got {vectors.shape[1]}")
            width = vectors.shape[1]
            kept = known & np.array([bool(text) for text in texts], bool)
            counts["read"] += len(kept)
            counts["empty"] += int((~kept).sum())
            stream.writelines(f"{text}\n" for text, keep in zip(texts, kept, strict=True) if keep)
            stored.append(vectors[kept])
    stored.close()
    if not width:
        raise DataError("no sentences were given")
    return stored, width


def _teacher_vectors(batch: pa.RecordBatch) -> tuple[npt.NDArray[np.float16], npt.NDArray[np.bool_]]:
    """The teacher's vectors, float16 `(n, d)`, and whether each one is finite and of norm 1."""
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


def _tokenized(lines: Path, vocabulary: TeacherVocabulary) -> Iterator[list[list[int]]]:
    """The tokens of all lines of a file, in chunks."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(json.dumps(vocabulary.tokenizer))
    with lines.open(encoding="utf-8", newline="\n") as stream:
        while chunk := [line[:-1] for line in islice(stream, _CHUNK)]:
            yield [encoding.ids for encoding in tokenizer.encode_batch(chunk)]


def _precision(config: TransformerConfig) -> str:
    if config.precision == "auto":
        return "bfloat16" if supports_bfloat16() else "float32"
    return config.precision


def _with_shared_weights(network: TransformerNetwork) -> TransformerNetwork:
    """A network with gradients of its own, whose weights are those of another one."""
    with torch.device("meta"):
        other = TransformerNetwork(network.shape)
    other.load_state_dict({name: value.detach() for name, value in network.state_dict().items()}, assign=True)
    return other.requires_grad_()


def _sum(gradients: Sequence[Tensor | None]) -> Tensor:
    """The sum in this order."""
    present = [gradient for gradient in gradients if gradient is not None]
    total = present[0].clone()
    for gradient in present[1:]:
        total += gradient
    return total


def _adam(gradient: Tensor, first: Tensor, second: Tensor, step: int) -> Tensor:
    """Update the moments; returns the change per unit of the learning rate."""
    first.mul_(BETAS[0]).add_(gradient, alpha=1 - BETAS[0])
    second.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
    corrected = (second / (1 - BETAS[1] ** step)).sqrt_().add_(_EPSILON)
    return first / (1 - BETAS[0] ** step) / corrected
