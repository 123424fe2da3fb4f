"""The state of one translator's training: parameters, their running mean, moments, place, and the update."""

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

from paraloom.core.processor import has_bfloat16
from paraloom.core.seeds import worker_seed
from paraloom.mt.checkpoint import CHECKPOINT
from paraloom.mt.data import Examples, padded
from paraloom.mt.model import load_model, new_model
from paraloom.mt.muon import Muon
from paraloom.mt.network import EMBEDDING, Forward, Shape, cross_entropy, smoothed_cross_entropy

ADAM_BETAS = (0.9, 0.98)

PROBED = 128
"""Tokens of a slice whose plain cross-entropy over all words is measured at each step, for the training perplexity."""


class Trainer:
    """Updates a translator batch by batch.

    A batch is cut into `threads` slices, a core each, whose gradients are added in slice order: the result depends on
    the number of slices, never on which was ready first.
    """

    def __init__(self, config: Any, vocabulary: int, seed: int = 1, start: Path | None = None) -> None:
        torch.set_num_threads(1)
        self.config = config
        self.seed = seed
        self.padding = vocabulary - 1
        model = new_model(config, vocabulary, seed) if start is None else load_model(start / CHECKPOINT)
        self._model = model
        self.shape = Shape.of(model.config)
        self.positions = model.model.encoder.embed_positions.weight.detach().clone()
        self.parameters: dict[str, Tensor] = {
            name: value.detach() for name, value in model.named_parameters() if "embed_positions" not in name
        }
        self.mean = {name: value.clone() for name, value in self.parameters.items()}
        self.best = {name: value.clone() for name, value in self.parameters.items()}
        matrices = [name for name, value in self.parameters.items() if value.dim() == 2 and name != EMBEDDING]
        self._vectors = [value for name, value in self.parameters.items() if name not in set(matrices)]
        self._bfloat16 = has_bfloat16()
        self._muon = Muon(
            [self.parameters[name] for name in matrices], precision=torch.bfloat16 if self._bfloat16 else torch.float32
        )
        self._adam = torch.optim.Adam(self._vectors, lr=config.vector_rate, betas=ADAM_BETAS, eps=1e-9)
        self._slices = [
            {n: v.detach().requires_grad_() for n, v in self.parameters.items()} for _ in range(config.threads)
        ]
        self._generators = [torch.Generator().manual_seed(worker_seed(seed, i)) for i in range(config.threads + 1)]
        self.step = self.epoch = self.position = self.tokens = self.poor = 0
        self._last_weights = config.last_weights
        self.seconds, self.best_loss, self._loss_sum, self._loss_count = 0.0, float("inf"), 0.0, 0
        self._surprise, self._probed = 0.0, 0
        self.plan: list[npt.NDArray[np.int64]] = []

    @property
    def parameter_count(self) -> int:
        """Trained numbers, each counted once."""
        return sum(value.numel() for value in self.parameters.values())

    @property
    def exhausted(self) -> bool:
        """Whether the development loss has not fallen for as long as the configuration's patience."""
        return 0 < self.config.patience <= self.poor

    def update(self, batch: npt.NDArray[np.int64], examples: Examples, pool: ThreadPoolExecutor) -> float:
        """One step on the pairs numbered in `batch`; returns the mean loss a token (nats, smoothed)."""
        tokens = int(examples.target_lengths[batch].sum())
        words = self._candidates(batch, examples)
        slices = [batch[i :: self.config.threads] for i in range(self.config.threads)]
        jobs = [
            pool.submit(self._slice_loss, i, part, examples, words, tokens)
            for i, part in enumerate(slices)
            if len(part)
        ]
        found = [job.result() for job in jobs]
        loss = sum(each for each, _, _ in found) / tokens
        self._surprise += sum(each for _, each, _ in found)
        self._probed += sum(each for _, _, each in found)
        self._gather(len(jobs), pool)
        rate = self._rate()
        for group in self._adam.param_groups:
            group["lr"] = self.config.vector_rate * rate
        self._adam.step()
        self._muon.step(self.config.matrix_rate * rate, lambda pieces: _run(pieces, pool))
        for slice_parameters in self._slices:
            for value in slice_parameters.values():
                value.grad = None
        self.step += 1
        self.tokens += tokens
        self._loss_sum += loss
        self._loss_count += 1
        decay = min(self.config.average, (self.step + 1) / (self.step + 10))
        torch._foreach_lerp_(list(self.mean.values()), list(self.parameters.values()), 1 - decay)
        return loss

    def assess(self, examples: Examples, pool: ThreadPoolExecutor) -> dict[str, float]:
        """Development loss of the mean weights; keeps them when they are the best so far, or the last ones are wanted.

        Returns a curve's point.

        loss, dev_loss: nats a token, with smoothing; what is learned from.  train_perplexity, dev_perplexity: the
        exponential of the mean of −log p(word), without smoothing and over all words; that of training, since the
        point before, with the weights and the dropout of each step (BBH22 Figure 4), on at most PROBED tokens a slice.
        """
        order = np.argsort(examples.target_lengths, kind="stable")
        parts = [order[i : i + 64] for i in range(0, len(order), 64)]
        with torch.no_grad():
            found = list(pool.map(lambda part: self._loss(part, examples), parts))
        tokens = int(examples.target_lengths.sum())
        loss = sum(each for each, _ in found) / tokens
        self.poor = 0 if loss < self.best_loss else self.poor + 1
        if not self.poor or self._last_weights:
            self.best_loss = loss
            for name, value in self.best.items():
                value.copy_(self.mean[name])
        point = {
            "step": self.step,
            "loss": round(self._loss_sum / self._loss_count, 4),
            "dev_loss": round(loss, 4),
            "train_perplexity": _perplexity(self._surprise, self._probed),
            "dev_perplexity": _perplexity(sum(each for _, each in found), tokens),
        }
        self._loss_sum, self._loss_count, self._surprise, self._probed = 0.0, 0, 0.0, 0
        return point

    def model(self) -> Any:
        """The MarianMTModel with the mean weights that were kept: the best, or the last ones."""
        own = dict(self._model.named_parameters())
        with torch.no_grad():
            for name, value in self.best.items():
                own[name].copy_(value)
        return self._model.eval()

    def save(self, path: Path, identity: str) -> None:
        """Write all that going on needs, whole or not at all."""
        tensors = {f"{kind}.{n}": v for kind in ("parameters", "mean", "best") for n, v in getattr(self, kind).items()}
        tensors |= self._muon.state()
        for i, vector in enumerate(self._vectors):
            state = self._adam.state[vector]
            tensors |= {f"adam.{i}.first": state["exp_avg"], f"adam.{i}.second": state["exp_avg_sq"]}
        for i, generator in enumerate(self._generators):
            tensors[f"random.{i}"] = generator.get_state()
        place = (self.step, self.epoch, self.position, self.tokens, self.poor, self.seconds, self.best_loss)
        notes = {"identity": identity, "place": " ".join(repr(number) for number in place)}
        part = path.with_suffix(".part")
        save_file({name: value.contiguous() for name, value in tensors.items()}, part, metadata=notes)
        with part.open("rb+") as stream:
            os.fsync(stream.fileno())
        part.replace(path)

    def resume(self, path: Path, identity: str) -> None:
        """Go on from `path` if it is there and was written by a training of the same data and configuration."""
        if not path.is_file():
            return
        with safe_open(path, "pt") as stored:
            notes = stored.metadata()
            if notes.get("identity") != identity:
                return
            tensors = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
        for kind in ("parameters", "mean", "best"):
            for name, value in getattr(self, kind).items():
                value.copy_(tensors[f"{kind}.{name}"])
        self._muon.load(tensors)
        numbers = notes["place"].split()
        self.step, self.epoch, self.position, self.tokens, self.poor = map(int, numbers[:5])
        self.seconds, self.best_loss = map(float, numbers[5:])
        for i, vector in enumerate(self._vectors):
            self._adam.state[vector] = {
                "step": torch.tensor(float(self.step)),
                "exp_avg": tensors[f"adam.{i}.first"],
                "exp_avg_sq": tensors[f"adam.{i}.second"],
            }
        for i, generator in enumerate(self._generators):
            generator.set_state(tensors[f"random.{i}"])

    def _slice_loss(
        self, number: int, part: npt.NDArray[np.int64], examples: Examples, words: Tensor | None, tokens: int
    ) -> tuple[float, float, int]:
        """The smoothed loss of a slice, whose gradient is kept; the plain one of some of its tokens, and how many."""
        parameters = self._slices[number]
        states, wanted = self._states(parameters, part, examples, self._generators[number])
        embedding = parameters[EMBEDDING][: self.padding]
        # While the loss ranges over some words only, its own perplexity would be too low: few words are few rivals.
        every = -(-len(wanted) // PROBED)
        probed = wanted[::every]
        surprise = cross_entropy(states[::every], embedding, probed)
        if words is not None:
            places = torch.zeros(self.padding + 1, dtype=torch.int64)
            places[words] = torch.arange(len(words))
            embedding, wanted = embedding[words], places[wanted]
        loss = smoothed_cross_entropy(states, embedding, wanted, self.config.smoothing)
        (loss / tokens).backward()
        return float(loss.detach()), surprise, len(probed)

    def _loss(self, part: npt.NDArray[np.int64], examples: Examples) -> tuple[float, float]:
        """The loss of some pairs under the mean weights, a sum over tokens: smoothed, and plain."""
        states, wanted = self._states(self.mean, part, examples, None)
        embedding = self.mean[EMBEDDING][: self.padding]
        smoothed = smoothed_cross_entropy(states, embedding, wanted, self.config.smoothing)
        return float(smoothed), cross_entropy(states, embedding, wanted)

    def _states(
        self,
        parameters: dict[str, Tensor],
        part: npt.NDArray[np.int64],
        examples: Examples,
        draws: torch.Generator | None,
    ) -> tuple[Tensor, Tensor]:
        """Hidden states (n, width) and the words (n,) that they should predict, padding left out."""
        source = padded([examples.source(i) for i in part], self.padding)
        target = padded([examples.target(i) for i in part], self.padding)
        begun = torch.cat([torch.full((len(part), 1), self.padding), target[:, :-1]], 1)
        forward = Forward(self.shape, parameters, self.positions, self.config.dropout, draws)
        with torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16):
            states = forward(source, source != self.padding, begun)
        real = target != self.padding
        return states[real].float(), target[real]

    def _candidates(self, batch: npt.NDArray[np.int64], examples: Examples) -> Tensor | None:
        """The words that this step's softmax ranges over: the batch's own and some drawn ones; None for all."""
        config = self.config
        if not config.candidates or self.step >= config.steps * (1 - config.whole_softmax):
            return None
        chosen = torch.zeros(self.padding + 1, dtype=torch.bool)
        for pair in batch:
            chosen[torch.from_numpy(examples.target(pair).astype(np.int64))] = True
        chosen[torch.randint(self.padding, (config.candidates,), generator=self._generators[-1])] = True
        return chosen.nonzero()[:, 0]

    def _gather(self, slices: int, pool: ThreadPoolExecutor) -> None:
        """Add the slices' gradients, in slice order, into the parameters' own; the row of `<pad>` stays frozen."""
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

    def _rate(self) -> float:
        """Share of the full learning rate: up over the warm-up, level, down to nothing over the cool-down."""
        config = self.config
        left = (config.steps - self.step) / max(1, config.steps * config.cooldown)
        return min(1.0, (self.step + 1) / max(1, config.warmup), left)


def _perplexity(surprise: float, tokens: int) -> float:
    """exp of the mean; of a loss too large for that, the largest number there is."""
    return round(math.exp(min(surprise / max(1, tokens), 700.0)), 4)


def _run(pieces: Iterable[Callable[[], None]], pool: ThreadPoolExecutor) -> None:
    for job in [pool.submit(piece) for piece in pieces]:
        job.result()
