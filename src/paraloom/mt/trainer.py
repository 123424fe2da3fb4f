"""The state of a translator's training: weights, their moving average, optimizers, position, and the update step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraloom.core.devices import parse_device, supports_bfloat16
from paraloom.core.errors import ConfigError, RunError
from paraloom.core.seeds import worker_seed
from paraloom.mt.checkpoint import CHECKPOINT
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples
from paraloom.mt.muon import Muon
from paraloom.mt.network import (
    EMBEDDING,
    Forward,
    Shape,
    cross_entropy,
    load_model,
    new_model,
    sizes_of,
    smoothed_cross_entropy,
)
from paraloom.mt.schedule import Batch, perplexity, rate_factor, sorted_parts
from paraloom.mt.training_state import load_state, save_state

if TYPE_CHECKING:
    from transformers import MarianMTModel

ADAM_BETAS = (0.9, 0.98)

PROBE_TOKENS = 128
"""Tokens of a slice whose cross-entropy over the whole vocabulary is measured at each step, for training perplexity."""


class Trainer:
    """Updates a translator batch by batch, in slices whose gradients are added in order, whichever is ready first."""

    rates = "muon_learning_rate and adam_learning_rate"

    def __init__(self, config: TranslatorConfig, vocab_size: int, seed: int = 1, init_from: Path | None = None) -> None:
        torch.set_num_threads(1)
        self.seed = seed
        self.padding = vocab_size - 1
        model = new_model(config, vocab_size, seed) if init_from is None else load_model(init_from / CHECKPOINT)
        self.config = config = config if init_from is None else replace(config, **sizes_of(model.config))
        self._devices = find_devices(config)
        self.device = self._devices[0]
        self._model = model.to(self.device)
        self.shape = Shape.from_config(model.config)
        positions = model.model.encoder.embed_positions.weight.detach().clone()
        self.positions = {device: positions.to(device) for device in self._devices}
        self.parameters: dict[str, Tensor] = {
            name: value.detach() for name, value in model.named_parameters() if "embed_positions" not in name
        }
        self.averaged = {name: value.clone() for name, value in self.parameters.items()}
        self.best = {name: value.clone() for name, value in self.parameters.items()}
        matrices, self._vectors = _by_optimizer(self.parameters)
        self._bfloat16 = _computes_in_bfloat16(config.training_precision, self.device)
        self._muon = Muon(matrices, precision=torch.bfloat16 if self._bfloat16 else torch.float32)
        self._adam = torch.optim.Adam(self._vectors, lr=config.adam_learning_rate, betas=ADAM_BETAS, eps=1e-9)
        # Of slices on the first device, the weights are those of the trainer; the others have copies.
        self._slices = [_copied(self.parameters, device) for device in self._devices]
        self._parts = 1
        """Parts that a batch is computed in, one after the other; more after memory ran out."""
        # One for the dropout of each slice; the last one, for the sampled softmax, stays on the processor.
        self._generators = [
            torch.Generator(device).manual_seed(worker_seed(seed, i))
            for i, device in enumerate([*self._devices, torch.device("cpu")])
        ]
        self.step = self.epoch = self.position = self.tokens = self.evaluations_without_gain = 0
        self.seconds, self.best_loss, self._loss_sum, self._loss_count = 0.0, float("inf"), 0.0, 0
        self._probe_loss, self._probe_count = 0.0, 0
        self.plan: list[npt.NDArray[np.int64]] = []

    @property
    def parameter_count(self) -> int:
        """Trained parameters, shared ones counted once."""
        return sum(value.numel() for value in self.parameters.values())

    @property
    def device_names(self) -> str:
        """'cpu', or the GPUs, such as 'cuda:0 cuda:1'."""
        return "cpu" if self.device.type == "cpu" else " ".join(map(str, self._devices))

    @property
    def workers(self) -> int:
        """Threads that slices and batches of development pairs take."""
        return max(self.config.threads, len(self._slices))

    @property
    def exhausted(self) -> bool:
        """True if the development loss has not fallen for `config.patience` evaluations."""
        return 0 < self.config.patience <= self.evaluations_without_gain

    def update(self, batch: Batch, examples: Examples, pool: ThreadPoolExecutor) -> float:
        batches = [batch] if isinstance(batch, np.ndarray) else list(batch)
        whole = np.concatenate(batches)
        tokens = int(examples.target_lengths[whole].sum())
        words = self._sampled_softmax(whole, examples)
        before = [random.get_state() for random in self._generators]
        while True:
            try:
                with _fast_products(self._bfloat16 and self.device.type != "cpu"):
                    results = self._gradients(batches, examples, words, tokens, pool)
                break
            except torch.OutOfMemoryError:
                largest = max(map(len, batches))
                if self._parts >= largest:
                    raise RunError(
                        "the memory of the GPU is too small for a single pair of sentences",
                        remedy="Lower max_length or the sizes of the network.",
                    ) from None
            # The whole step again: some of its gradients were added up, and some random numbers drawn.
            self._parts *= 2
            for random, state in zip(self._generators, before, strict=True):
                random.set_state(state)
            self._clear_gradients()
            torch.cuda.empty_cache()
            part = -(-largest // self._parts)
            warnings.warn(f"out of memory: training continues with batches of {part} pairs at a time", stacklevel=2)
        loss = sum(smoothed for smoothed, _, _ in results) / tokens
        self._probe_loss += sum(plain for _, plain, _ in results)
        self._probe_count += sum(count for _, _, count in results)
        self._gather(pool)
        factor = rate_factor(self.config, self.step)
        for group in self._adam.param_groups:
            group["lr"] = self.config.adam_learning_rate * factor
        self._adam.step()
        self._muon.step(self.config.muon_learning_rate * factor, lambda tasks: _run(tasks, pool))
        self._clear_gradients()
        self._copy_to_slices()
        self.step += 1
        self.tokens += tokens
        self._loss_sum += loss
        self._loss_count += 1
        decay = min(self.config.ema_decay, (self.step + 1) / (self.step + 10))
        torch._foreach_lerp_(list(self.averaged.values()), list(self.parameters.values()), 1 - decay)
        return loss

    def evaluate(self, examples: Examples, pool: ThreadPoolExecutor) -> dict[str, float]:
        """Measure the development loss of the averaged weights; keep them if the best, or by `config.keep_last`."""
        parts = sorted_parts(examples)
        with torch.no_grad():
            losses = list(pool.map(lambda part: self._loss(part, examples), parts))
        tokens = int(examples.target_lengths.sum())
        loss = sum(smoothed for smoothed, _ in losses) / tokens
        self.evaluations_without_gain = 0 if loss < self.best_loss else self.evaluations_without_gain + 1
        if not self.evaluations_without_gain or self.config.keep_last:
            self.best_loss = loss
            for name, value in self.best.items():
                value.copy_(self.averaged[name])
        point = {
            "step": self.step,
            "loss": round(self._loss_sum / self._loss_count, 4),
            "dev_loss": round(loss, 4),
            "train_perplexity": perplexity(self._probe_loss, self._probe_count),
            "dev_perplexity": perplexity(sum(plain for _, plain in losses), tokens),
        }
        self._loss_sum, self._loss_count, self._probe_loss, self._probe_count = 0.0, 0, 0.0, 0
        return point

    def model(self) -> MarianMTModel:
        """The MarianMTModel with the averaged weights that `evaluate` kept."""
        own = dict(self._model.named_parameters())
        with torch.no_grad():
            for name, value in self.best.items():
                own[name].copy_(value)
        return self._model.cpu().eval()

    def save(self, path: Path, identity: str) -> None:
        """Write everything that `resume` needs; the file appears complete or not at all."""
        kinds = {"parameters": self.parameters, "averaged": self.averaged, "best": self.best}
        tensors = {f"{kind}.{name}": value for kind, values in kinds.items() for name, value in values.items()}
        tensors |= self._muon.state()
        for i, vector in enumerate(self._vectors):
            moments = self._adam.state[vector]
            tensors |= {f"adam.{i}.first": moments["exp_avg"], f"adam.{i}.second": moments["exp_avg_sq"]}
        for i, random in enumerate(self._generators):
            tensors[f"random.{i}"] = random.get_state()
        save_state(path, tensors, identity, self)

    def resume(self, path: Path, identity: str) -> None:
        """Continue from `path` if it exists and was saved by a training of the same data and configuration."""
        tensors = load_state(path, identity, self)
        if tensors is None:
            return
        for kind, values in (("parameters", self.parameters), ("averaged", self.averaged), ("best", self.best)):
            for name, value in values.items():
                value.copy_(tensors[f"{kind}.{name}"])
        self._copy_to_slices()
        self._muon.load(tensors)
        for i, vector in enumerate(self._vectors):
            self._adam.state[vector] = {
                "step": torch.tensor(float(self.step)),
                "exp_avg": tensors[f"adam.{i}.first"].to(self.device),
                "exp_avg_sq": tensors[f"adam.{i}.second"].to(self.device),
            }
        for i, random in enumerate(self._generators):
            random.set_state(tensors[f"random.{i}"])

    def _gradients(
        self,
        batches: Sequence[npt.NDArray[np.int64]],
        examples: Examples,
        words: Tensor | None,
        tokens: int,
        pool: ThreadPoolExecutor,
    ) -> list[tuple[float, float, int]]:
        """Add up the gradients of batches in the slices; what `_slice_loss` returns, of all parts."""
        results = []
        for batch in batches:
            for part in range(self._parts):
                slices = [batch[part :: self._parts][i :: len(self._slices)] for i in range(len(self._slices))]
                jobs = [
                    pool.submit(self._slice_loss, i, pairs, examples, words, tokens)
                    for i, pairs in enumerate(slices)
                    if len(pairs)
                ]
                wait(jobs)  # none may still run when an error of another is handled
                results += [job.result() for job in jobs]
        return results

    def _clear_gradients(self) -> None:
        for slice_parameters in self._slices:
            for value in slice_parameters.values():
                value.grad = None

    def _copy_to_slices(self) -> None:
        """Bring the copies of the weights on other devices up to date."""
        with torch.no_grad():
            for slice_parameters in self._slices:
                for name, value in slice_parameters.items():
                    if value.data_ptr() != self.parameters[name].data_ptr():
                        value.copy_(self.parameters[name], non_blocking=True)

    def _slice_loss(
        self, number: int, part: npt.NDArray[np.int64], examples: Examples, words: Tensor | None, tokens: int
    ) -> tuple[float, float, int]:
        """Smoothed loss of a slice (whose gradient stays in the slice), plain loss of some tokens, and their count."""
        parameters = self._slices[number]
        states, targets = self._states(parameters, part, examples, self._generators[number])
        embedding = parameters[EMBEDDING][: self.padding]
        # A softmax over a sample of the words has fewer competitors: its own perplexity would be too low.
        stride = -(-len(targets) // PROBE_TOKENS)
        probe = targets[::stride]
        plain = cross_entropy(states[::stride], embedding, probe)
        if words is not None:
            words = words.to(targets.device)
            index = torch.zeros(self.padding + 1, dtype=torch.int64, device=targets.device)
            index[words] = torch.arange(len(words), device=targets.device)
            embedding, targets = embedding[words], index[targets]
        loss = smoothed_cross_entropy(states, embedding, targets, self.config.label_smoothing)
        (loss / tokens).backward()
        return float(loss.detach()), plain, len(probe)

    def _loss(self, part: npt.NDArray[np.int64], examples: Examples) -> tuple[float, float]:
        """The loss of some pairs under the averaged weights, summed over tokens: smoothed, and plain."""
        states, targets = self._states(self.averaged, part, examples, None)
        embedding = self.averaged[EMBEDDING][: self.padding]
        smoothed = smoothed_cross_entropy(states, embedding, targets, self.config.label_smoothing)
        return float(smoothed), cross_entropy(states, embedding, targets)

    def _states(
        self,
        parameters: dict[str, Tensor],
        part: npt.NDArray[np.int64],
        examples: Examples,
        dropout: torch.Generator | None,
    ) -> tuple[Tensor, Tensor]:
        """Hidden states (n, d_model) and the words (n,) that they should predict, without padding."""
        device = parameters[EMBEDDING].device
        source, target = (examples.padded(part, side, self.padding).to(device) for side in (0, 1))
        decoder_input = torch.cat([torch.full_like(target[:, :1], self.padding), target[:, :-1]], 1)
        forward = Forward(self.shape, parameters, self.positions[device], self.config.dropout, dropout)
        with torch.autocast(device.type, torch.bfloat16, enabled=self._bfloat16):
            states = forward(source, source != self.padding, decoder_input)
        mask = target != self.padding
        return states[mask].float(), target[mask]

    def _sampled_softmax(self, batch: npt.NDArray[np.int64], examples: Examples) -> Tensor | None:
        """The words that the softmax of this step covers: those of the batch and random ones; None for all."""
        config = self.config
        if not config.sampled_softmax_size or self.step >= config.steps * (1 - config.full_softmax_share):
            return None
        chosen = torch.zeros(self.padding + 1, dtype=torch.bool)
        chosen[torch.from_numpy(np.concatenate([examples.target(pair) for pair in batch]).astype(np.int64))] = True
        chosen[torch.randint(self.padding, (config.sampled_softmax_size,), generator=self._generators[-1])] = True
        return chosen.nonzero()[:, 0].to(self.device)

    def _gather(self, pool: ThreadPoolExecutor) -> None:
        """Add the gradients of the slices, in order, into the parameters' own; the row of `<pad>` stays frozen."""
        names = list(self.parameters)

        def add(some: list[str]) -> None:
            for name in some:
                gradients = (own[name].grad for own in self._slices)
                total, *others = (gradient for gradient in gradients if gradient is not None)
                for other in others:
                    total.add_(other.to(total.device))
                self.parameters[name].grad = total.to(self.device)

        _run([partial(add, names[0::2]), partial(add, names[1::2])], pool)
        self.parameters[EMBEDDING].grad[self.padding] = 0  # type: ignore[index]
        torch.nn.utils.clip_grad_norm_(self._vectors, 1.0)


@contextmanager
def _fast_products(fast: bool) -> Iterator[None]:
    """Let products of float32, those of the softmax, be computed in TF32, which has more digits than bfloat16."""
    before = torch.get_float32_matmul_precision()
    if fast:
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def find_devices(config: TranslatorConfig) -> list[torch.device]:
    """The device of each slice of a batch: as many as threads on a processor, one for each GPU."""
    device = parse_device(config.device, torch.cuda.device_count())
    if device.kind == "cpu":
        return [torch.device("cpu")] * config.threads
    return [torch.device("cuda", index) for index in device.indices]


def _copied(parameters: Mapping[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {name: value.to(device).detach().requires_grad_() for name, value in parameters.items()}


def _by_optimizer(parameters: Mapping[str, Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """The matrices, which Muon updates, and what Adam does."""
    matrices = {name for name, value in parameters.items() if value.dim() == 2 and name != EMBEDDING}
    chosen = [value for name, value in parameters.items() if name in matrices]
    return chosen, [value for name, value in parameters.items() if name not in matrices]


def _computes_in_bfloat16(precision: str, device: torch.device) -> bool:
    """True if the network computes in bfloat16; ConfigError where the processor cannot."""
    able = device.type != "cpu" or supports_bfloat16()
    if precision == "bfloat16" and not able:
        raise ConfigError(
            "this processor has no instructions for bfloat16",
            remedy="Set training_precision = 'float32', or train on a GPU (device = 'cuda').",
        )
    return able and precision != "float32"


def _run(tasks: Iterable[Callable[[], None]], pool: ThreadPoolExecutor) -> None:
    for job in [pool.submit(task) for task in tasks]:
        job.result()
