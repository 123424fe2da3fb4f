"""Distillation of a small transformer: it learns a teacher's vectors and their cosines, without labels."""

from __future__ import annotations

import math
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor
from torch.nn import functional

from paraloom.core.array_types import Float32s, Int32s
from paraloom.core.devices import Device, parse_device, supports_bfloat16
from paraloom.core.digests import digest
from paraloom.core.progress import progress
from paraloom.core.seeds import generator, spawn_seed
from paraloom.embed.checkpoint import TrainingState, best_line, read_checkpoint, run_with_checkpoints, write_records
from paraloom.embed.transformer_config import TransformerConfig
from paraloom.embed.transformer_data import TransformerData, batches_of_like_length, stream_sentences
from paraloom.embed.transformer_network import (
    TransformerNetwork,
    TransformerShape,
    bert_state,
    new_network,
    principal_embeddings,
)
from paraloom.embed.transformer_store import NetworkEncoder, load_transformer, padded, save_transformer
from paraloom.embed.transformer_vocabulary import (
    TeacherVocabulary,
    read_teacher,
    read_weights,
    transformer_config,
)

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
_EMBEDDINGS = "words.weight"


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
    """Train a small transformer on a teacher's vectors and cosines, and save it; resumes from `folder/checkpoint/`."""
    folder = Path(folder)
    began = time.perf_counter()
    device = parse_device(config.device, torch.cuda.device_count())
    vocabulary = read_teacher(teacher)
    data, vocabulary = stream_sentences(sentences, vocabulary, folder / "checkpoint" / "sentences", config)
    streamed = time.perf_counter()
    settings = {**asdict(config), "precision": _precision(config, device), "seed": seed, "device": str(device)}
    if device.kind == "cpu":
        del settings["device"]  # Folders that were trained before there was a choice do not have it.
    trainer = TransformerTrainer(config, initial_network(config, vocabulary, data.vectors.shape[1], seed, teacher))
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
    best = best_line(state.measured)
    network = trainer.network if best is None else load_transformer(folder / _BEST).network
    best_step = None if best is None else best["step"]
    save_transformer(network, vocabulary, folder, {**settings, **data.counts, "best_step": best_step})
    shutil.rmtree(folder / "checkpoint")
    _warn(state.measured, best)
    return {
        "sentences": data.counts,
        "steps": state.step,
        "best_step": best_step,
        "loss": state.last_line["loss"],
        "dev": {} if best is None else best["dev"],
        "tokens": network.shape.vocab_size,
        "parameters": sum(value.numel() for value in network.parameters()),
        "signature": load_transformer(folder).signature,
    }


@dataclass(frozen=True)
class DistillationLoss:
    """The losses of a batch: their weighted sum, and each one by itself."""

    total: Tensor
    squared: float
    softmax: float
    vector: float


def distillation_loss(vectors: Tensor, teacher: Tensor, config: TransformerConfig) -> DistillationLoss:
    """Compare the vectors of a batch and their cosines (by a softmax, Wada et al. 2025) with the teacher's."""
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
    config: TransformerConfig, vocabulary: TeacherVocabulary, dimension: int, seed: int, teacher: str | Path
) -> TransformerNetwork:
    """The network before the first step: embeddings of the teacher, and layers of it if it is a BERT of this width."""
    shape = TransformerShape(
        len(vocabulary.words), config.width, config.layers, config.heads, config.ffn_dim, config.max_length, dimension
    )
    network = new_network(shape, spawn_seed(seed, 0))
    sizes = transformer_config(teacher)
    own = (sizes.get(name) for name in ("model_type", "hidden_size", "num_attention_heads", "intermediate_size"))
    if (*own,) == ("bert", shape.width, shape.heads, shape.ffn_dim) and shape.layers <= sizes["num_hidden_layers"]:
        # Layers at equal distances, the lowest and the highest among them (Sanh et al. 2019 take every other one).
        layers = np.linspace(0, sizes["num_hidden_layers"] - 1, shape.layers).round().astype(int)
        state = bert_state(read_weights(teacher), layers.tolist())
        positions = state.pop("positions.weight")[: shape.max_length]
        state["words.weight"] = vocabulary.words
        if dimension == shape.width:
            state["dense.weight"] = np.eye(dimension, dtype=np.float32)
        network.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()}, strict=False)
        with torch.no_grad():
            network.positions.weight[: len(positions)] = torch.from_numpy(positions)
        return network
    with torch.no_grad():
        words = principal_embeddings(vocabulary.words, config.width, seed)
        network.words.weight.copy_(torch.from_numpy(words))
    return network


class TransformerTrainer:
    """Updates a small transformer batch by batch, in slices whose gradients are added in order.

    Weights and moments are in main memory; a GPU has copies, and of the embeddings the rows that a batch uses.
    """

    def __init__(self, config: TransformerConfig, network: TransformerNetwork) -> None:
        self.config, self.network = config, network
        device = parse_device(config.device, torch.cuda.device_count())
        self._bfloat16 = _precision(config, device) == "bfloat16"
        self._devices = _devices_of_slices(device, config.threads)
        self._parameters = {name: value.detach() for name, value in network.named_parameters()}
        self._dense = {name: value for name, value in self._parameters.items() if name != _EMBEDDINGS}
        self._first = {name: torch.zeros_like(value) for name, value in self._parameters.items()}
        self._second = {name: torch.zeros_like(value) for name, value in self._parameters.items()}
        self._slices = [_with_shared_weights(network) for _ in self._devices]
        self._copies = [
            _copy_dense(part, device)
            for part, device in zip(self._slices, self._devices, strict=True)
            if device.type != "cpu"
        ]
        self._pool = ThreadPoolExecutor(len(self._slices))

    @property
    def tensors(self) -> dict[str, Float32s]:
        """Everything that a checkpoint contains, by name: the arrays themselves."""
        kinds = {"parameters": self._parameters, "first": self._first, "second": self._second}
        return {f"{kind}.{name}": value.numpy() for kind, of_kind in kinds.items() for name, value in of_kind.items()}

    def close(self) -> None:
        self._pool.shutdown()

    def update(self, ids: Sequence[Int32s], teacher: Float32s, learning_rate: float, step: int) -> DistillationLoss:
        target = torch.from_numpy(teacher)
        return self.minimize(ids, lambda vectors: distillation_loss(vectors, target, self.config), learning_rate, step)

    def minimize(
        self, ids: Sequence[Int32s], loss_of: Callable[[Tensor], DistillationLoss], learning_rate: float, step: int
    ) -> DistillationLoss:
        """Make a step by any loss of the vectors `(n, d)` of n sentences."""
        for copy in self._copies:  # Before the step: weights may come from a checkpoint.
            for name, value in copy.items():
                value.copy_(self._dense[name])
        matrix, lengths = padded(ids)
        used, local = torch.unique(matrix, return_inverse=True)
        rows = self._parameters[_EMBEDDINGS][used]
        tables = [rows.to(device).detach().requires_grad_() for device in self._devices]
        count = min(len(self._slices), len(ids))

        def forward(index: int) -> Tensor:
            device = self._devices[index]
            tokens, sizes = local[index::count].to(device), lengths[index::count].to(device)
            with torch.autocast(device.type, torch.bfloat16, enabled=self._bfloat16):
                result: Tensor = self._slices[index](tokens, sizes, tables[index])
            return result

        parts = list(self._pool.map(forward, range(count)))
        vectors = torch.empty(len(ids), self.network.shape.dimension)
        for index, part in enumerate(parts):
            vectors[index::count] = part.detach()
        vectors.requires_grad_()
        loss = loss_of(vectors)
        loss.total.backward()
        gradient = vectors.grad
        assert gradient is not None
        of_parts = [gradient[index::count].to(part.device) for index, part in enumerate(parts)]
        list(self._pool.map(lambda index: parts[index].backward(of_parts[index]), range(count)))
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
    """The learning rate of a step, from 1: it rises, then falls linearly."""
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
        figures = evaluator(NetworkEncoder(trainer.network, vocabulary.tokenizer, config.threads))
        if state.measure(figures, state.epoch + bool(state.step)):
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
                state.add_loss(float(loss.total.detach()))
                state.megabatch += 1
                if state.step == config.steps or state.steps == _LINE:
                    parts = {"squared": loss.squared, "softmax": loss.softmax, "vector": loss.vector}
                    state.end_line(state.loss / state.steps, **parts)
                if state.step == config.steps or state.step % max(1, config.steps // _EVALUATIONS) == 0:
                    evaluate()
                advance(1)
                yield
            state.epoch, state.megabatch = state.epoch + 1, 0


def _warn(measured: Sequence[Mapping[str, Any]], best: Mapping[str, Any] | None) -> None:
    if best is None or len(measured) < 2:
        return
    start, end = (next(iter(measured[i]["dev"].values())) for i in (0, -1))
    if end < start:
        kept = "the start" if not best["step"] else f"step {best['step']}"
        warnings.warn(
            f"the training ends below its start, {end:.2f} against {start:.2f}; the encoder of {kept} is kept",
            stacklevel=3,
        )


def _precision(config: TransformerConfig, device: Device) -> str:
    if config.precision == "auto":
        return "bfloat16" if device.kind != "cpu" or supports_bfloat16() else "float32"
    return config.precision


def _devices_of_slices(device: Device, threads: int) -> list[torch.device]:
    if device.kind == "cpu":
        return [torch.device("cpu")] * threads
    return [torch.device(device.kind, index) for index in device.indices]


def _copy_dense(network: TransformerNetwork, device: torch.device) -> dict[str, Tensor]:
    """Give a network weights of its own on a device, all but the embeddings, which no slice reads; returns them."""
    weights = {name: value for name, value in network.named_parameters() if name != _EMBEDDINGS}
    for value in weights.values():
        value.data = value.data.to(device, copy=True)
    return {name: value.detach() for name, value in weights.items()}


def _with_shared_weights(network: TransformerNetwork) -> TransformerNetwork:
    """A network with gradients of its own, whose weights are those of another one."""
    with torch.device("meta"):
        other = TransformerNetwork(network.shape)
    other.load_state_dict({name: value.detach() for name, value in network.state_dict().items()}, assign=True)
    return other.requires_grad_()


def _sum(gradients: Sequence[Tensor | None]) -> Tensor:
    """The sum in this order, in main memory."""
    present = [gradient.cpu() for gradient in gradients if gradient is not None]
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
