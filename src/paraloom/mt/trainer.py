"""The state of a translator's training: weights, their moving average, optimizers, position, and the update step."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from paraloom.core.errors import ConfigError
from paraloom.core.hardware import supports_bfloat16
from paraloom.core.seeds import generator, spawn_seed, worker_seed
from paraloom.mt.checkpoint import CHECKPOINT
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples, batches, pad
from paraloom.mt.muon import Muon
from paraloom.mt.network import (
    EMBEDDING,
    Forward,
    Shape,
    cross_entropy,
    load_model,
    new_model,
    smoothed_cross_entropy,
)

ADAM_BETAS = (0.9, 0.98)

PROBE_TOKENS = 128
"""Tokens of a slice whose cross-entropy over the whole vocabulary is measured at each step, for training perplexity."""


class Trainer:
    """Updates a translator batch by batch.

    On a processor, a batch is cut into `config.threads` slices, one per core, whose gradients are added in slice order:
    the result depends on the number of slices, never on which one is ready first. A GPU computes the whole batch at
    once, in bfloat16, and does not repeat its last digits.

    Args:
        config: Sizes and training settings.
        vocab_size: Subwords, `<pad>` included.
        seed: Of the initial weights, the dropout and the sampled softmax.
        init_from: A translator folder whose weights to start from.

    Raises:
        ConfigError: `config.device` is not available.
    """

    def __init__(self, config: TranslatorConfig, vocab_size: int, seed: int = 1, init_from: Path | None = None) -> None:
        torch.set_num_threads(1)
        self.config = config
        self.seed = seed
        self.padding = vocab_size - 1
        model = new_model(config, vocab_size, seed) if init_from is None else load_model(init_from / CHECKPOINT)
        self.device = _find_device(config.device)
        self._model = model.to(self.device)
        self.shape = Shape.from_config(model.config)
        self.positions = model.model.encoder.embed_positions.weight.detach().clone()
        self.parameters: dict[str, Tensor] = {
            name: value.detach() for name, value in model.named_parameters() if "embed_positions" not in name
        }
        self.averaged = {name: value.clone() for name, value in self.parameters.items()}
        self.best = {name: value.clone() for name, value in self.parameters.items()}
        matrices = [name for name, value in self.parameters.items() if value.dim() == 2 and name != EMBEDDING]
        self._vectors = [value for name, value in self.parameters.items() if name not in set(matrices)]
        self._bfloat16 = self.device.type != "cpu" or supports_bfloat16()
        self._muon = Muon(
            [self.parameters[name] for name in matrices], precision=torch.bfloat16 if self._bfloat16 else torch.float32
        )
        self._adam = torch.optim.Adam(self._vectors, lr=config.adam_learning_rate, betas=ADAM_BETAS, eps=1e-9)
        slices = config.threads if self.device.type == "cpu" else 1
        self._slices = [{n: v.detach().requires_grad_() for n, v in self.parameters.items()} for _ in range(slices)]
        # One for the dropout of each slice; the last one, for the sampled softmax, stays on the processor.
        self._generators = [
            torch.Generator(device).manual_seed(worker_seed(seed, i))
            for i, device in enumerate([*[self.device] * slices, torch.device("cpu")])
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
    def exhausted(self) -> bool:
        """Whether the development loss has not fallen for `config.patience` evaluations."""
        return 0 < self.config.patience <= self.evaluations_without_gain

    def update(self, batch: npt.NDArray[np.int64], examples: Examples, pool: ThreadPoolExecutor) -> float:
        """Take one training step.

        Args:
            batch: Numbers of the pairs, int64.
            examples: The encoded pairs.
            pool: Runs the slices.

        Returns:
            The mean loss per token, in nats, with label smoothing.
        """
        tokens = int(examples.target_lengths[batch].sum())
        words = self._sampled_softmax(batch, examples)
        slices = [batch[i :: len(self._slices)] for i in range(len(self._slices))]
        jobs = [
            pool.submit(self._slice_loss, i, part, examples, words, tokens)
            for i, part in enumerate(slices)
            if len(part)
        ]
        results = [job.result() for job in jobs]
        loss = sum(smoothed for smoothed, _, _ in results) / tokens
        self._probe_loss += sum(plain for _, plain, _ in results)
        self._probe_count += sum(count for _, _, count in results)
        self._gather(len(jobs), pool)
        factor = self._schedule()
        for group in self._adam.param_groups:
            group["lr"] = self.config.adam_learning_rate * factor
        self._adam.step()
        self._muon.step(self.config.muon_learning_rate * factor, lambda tasks: _run(tasks, pool))
        for slice_parameters in self._slices:
            for value in slice_parameters.values():
                value.grad = None
        self.step += 1
        self.tokens += tokens
        self._loss_sum += loss
        self._loss_count += 1
        decay = min(self.config.ema_decay, (self.step + 1) / (self.step + 10))
        torch._foreach_lerp_(list(self.averaged.values()), list(self.parameters.values()), 1 - decay)
        return loss

    def evaluate(self, examples: Examples, pool: ThreadPoolExecutor) -> dict[str, float]:
        """Measure the development loss of the averaged weights, and keep them if they are the best so far.

        With `config.keep_last` they are kept in any case.

        Args:
            examples: The development pairs.
            pool: Runs batches of them.

        Returns:
            A point of the training curve. `loss` and `dev_loss` are in nats per token, with label smoothing: what is
            optimized. `train_perplexity` and `dev_perplexity` are without smoothing and over the whole vocabulary;
            that of training is measured since the previous point, with the weights and the dropout of each step (as in
            BBH22 Figure 4), on at most `PROBE_TOKENS` tokens per slice.
        """
        order = np.argsort(examples.target_lengths, kind="stable")
        parts = [order[i : i + 64] for i in range(0, len(order), 64)]
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
            "train_perplexity": _perplexity(self._probe_loss, self._probe_count),
            "dev_perplexity": _perplexity(sum(plain for _, plain in losses), tokens),
        }
        self._loss_sum, self._loss_count, self._probe_loss, self._probe_count = 0.0, 0, 0.0, 0
        return point

    def model(self) -> Any:
        """The MarianMTModel with the averaged weights that `evaluate` kept."""
        own = dict(self._model.named_parameters())
        with torch.no_grad():
            for name, value in self.best.items():
                own[name].copy_(value)
        return self._model.cpu().eval()

    def save(self, path: Path, identity: str) -> None:
        """Write everything that `resume` needs; the file appears complete or not at all.

        Args:
            path: The file.
            identity: Digest of data and configuration, which `resume` compares.
        """
        kinds = {"parameters": self.parameters, "averaged": self.averaged, "best": self.best}
        tensors = {f"{kind}.{name}": value for kind, values in kinds.items() for name, value in values.items()}
        tensors |= self._muon.state()
        for i, vector in enumerate(self._vectors):
            state = self._adam.state[vector]
            tensors |= {f"adam.{i}.first": state["exp_avg"], f"adam.{i}.second": state["exp_avg_sq"]}
        for i, random in enumerate(self._generators):
            tensors[f"random.{i}"] = random.get_state()
        counters = (self.step, self.epoch, self.position, self.tokens, self.evaluations_without_gain)
        progress = " ".join(repr(number) for number in (*counters, self.seconds, self.best_loss))
        part = path.with_suffix(".part")
        save_file(
            {name: value.cpu().contiguous() for name, value in tensors.items()},
            part,
            metadata={"identity": identity, "progress": progress},
        )
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(path)

    def resume(self, path: Path, identity: str) -> None:
        """Continue from `path` if it exists and was saved by a training of the same data and configuration.

        Args:
            path: The file.
            identity: Digest of data and configuration.
        """
        if not path.is_file():
            return
        with safe_open(path, "pt") as stored:
            metadata = stored.metadata()
            if metadata.get("identity") != identity:
                return
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        for kind, values in (("parameters", self.parameters), ("averaged", self.averaged), ("best", self.best)):
            for name, value in values.items():
                value.copy_(tensors[f"{kind}.{name}"])
        self._muon.load(tensors)
        numbers = metadata["progress"].split()
        self.step, self.epoch, self.position, self.tokens, self.evaluations_without_gain = map(int, numbers[:5])
        self.seconds, self.best_loss = map(float, numbers[5:])
        for i, vector in enumerate(self._vectors):
            self._adam.state[vector] = {
                "step": torch.tensor(float(self.step)),
                "exp_avg": tensors[f"adam.{i}.first"],
                "exp_avg_sq": tensors[f"adam.{i}.second"],
            }
        for i, random in enumerate(self._generators):
            random.set_state(tensors[f"random.{i}"])

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
            index = torch.zeros(self.padding + 1, dtype=torch.int64, device=self.device)
            index[words] = torch.arange(len(words), device=self.device)
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
        source = pad([examples.source(i) for i in part], self.padding).to(self.device)
        target = pad([examples.target(i) for i in part], self.padding).to(self.device)
        decoder_input = torch.cat([torch.full_like(target[:, :1], self.padding), target[:, :-1]], 1)
        forward = Forward(self.shape, parameters, self.positions, self.config.dropout, dropout)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self._bfloat16):
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

    def _gather(self, slices: int, pool: ThreadPoolExecutor) -> None:
        """Add the gradients of the slices, in order, into the parameters' own; the row of `<pad>` stays frozen."""
        names = list(self.parameters)

        def add(some: list[str]) -> None:
            for name in some:
                total = self._slices[0][name].grad
                for other in self._slices[1:slices]:
                    total.add_(other[name].grad)  # type: ignore[union-attr, arg-type]
                self.parameters[name].grad = total

        _run([partial(add, names[0::2]), partial(add, names[1::2])], pool)
        self.parameters[EMBEDDING].grad[self.padding] = 0  # type: ignore[index]
        torch.nn.utils.clip_grad_norm_(self._vectors, 1.0)

    def _schedule(self) -> float:
        """Factor of the learning rates: linear warm-up, constant, linear cool-down to zero."""
        config = self.config
        cooldown = (config.steps - self.step) / max(1, config.steps * config.cooldown_share)
        return min(1.0, (self.step + 1) / max(1, config.warmup_steps), cooldown)


class BatchSchedule:
    """The batches of a training in order, from the trainer's position on.

    The order and the subword segmentation of an epoch follow from the trainer's seed and the epoch's number alone.

    Args:
        examples: The pairs in their most likely segmentation.
        resample: (epoch, seed) → the pairs in another segmentation.
        trainer: Holds the position, which `next` advances.
    """

    def __init__(self, examples: Examples, resample: Callable[[int, int], Examples], trainer: Trainer) -> None:
        self.examples = self.plain = examples
        self.resample, self.trainer = resample, trainer

    def next(self) -> tuple[npt.NDArray[np.int64], Examples]:
        """The pair numbers of the next batch, and the examples that they refer to."""
        trainer, config = self.trainer, self.trainer.config
        # Runs twice when the training that is resumed was stopped at the end of an epoch.
        while trainer.position >= len(trainer.plan):
            if trainer.plan:
                trainer.epoch += 1
                trainer.position = 0
            # The first step of the epoch, also when a training is resumed in the middle of it.
            first_step = trainer.step - trainer.position
            if config.subword_sampling and first_step < config.steps * (1 - config.plain_subword_share):
                self.examples = self.resample(trainer.epoch, spawn_seed(trainer.seed, trainer.epoch))
            else:
                self.examples = self.plain
            trainer.plan = batches(self.examples, config.batch_tokens, generator(trainer.seed, trainer.epoch))
        batch = trainer.plan[trainer.position]
        trainer.position += 1
        return batch, self.examples


def _find_device(name: str) -> torch.device:
    """The device of that name; ConfigError if this machine does not have it."""
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    if name == "cpu" or name in gpus or (name == "cuda" and gpus):
        return torch.device(name)
    raise ConfigError(
        f"device '{name}' not found; available: {', '.join(['cpu', *gpus])}",
        remedy="" if gpus else "For GPUs, install a build of torch with CUDA.",
    )


def _perplexity(loss: float, tokens: int) -> float:
    """The exponential of the mean loss; of a very large loss, exp(700), which is still a finite number."""
    return round(math.exp(min(loss / max(1, tokens), 700.0)), 4)


def _run(tasks: Iterable[Callable[[], None]], pool: ThreadPoolExecutor) -> None:
    for job in [pool.submit(task) for task in tasks]:
        job.result()
