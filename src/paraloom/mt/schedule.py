"""Shared by all trainers of translators: their interface, the order of batches, and the factor of learning rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from paraloom.core.batches import batches_by_length
from paraloom.core.seeds import generator, spawn_seed
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples, batches

Batch: TypeAlias = npt.NDArray[np.int64] | Sequence[npt.NDArray[np.int64]]
"""Numbers of pairs, int64; or several such arrays."""


class Counters(Protocol):
    """How far a training is."""

    step: int
    epoch: int
    position: int
    tokens: int
    evaluations_without_gain: int
    seconds: float
    best_loss: float


class TrainerLike(Counters, Protocol):
    """The state of a training, whichever the network."""

    config: TranslatorConfig
    rates: str
    seed: int
    plan: list[npt.NDArray[np.int64]]

    @property
    def parameter_count(self) -> int:
        """Trained parameters."""

    @property
    def device_names(self) -> str:
        """Where it computes."""

    @property
    def workers(self) -> int:
        """Threads that it can use."""

    @property
    def exhausted(self) -> bool:
        """True if the development loss has not fallen for `config.patience` evaluations."""

    def update(self, batch: Batch, examples: Examples, pool: ThreadPoolExecutor) -> float:
        """Take one step; returns the mean loss per token, in nats."""

    def evaluate(self, examples: Examples, pool: ThreadPoolExecutor) -> dict[str, float]:
        """Measure the development loss, keep the weights if they are the best so far, and return a point."""

    def save(self, path: Path, identity: str) -> None:
        """Write everything that `resume` needs."""

    def resume(self, path: Path, identity: str) -> None:
        """Continue from a file, if it is there and has this identity."""


class BatchSchedule:
    """Batches from the trainer's position on; order and segmentation follow from the seed and the epoch."""

    def __init__(self, examples: Examples, resample: Callable[[int, int], Examples], trainer: TrainerLike) -> None:
        self.examples = self.plain = examples
        self.resample, self.trainer = resample, trainer

    def next(self) -> tuple[list[npt.NDArray[np.int64]], Examples]:
        """The pair numbers of the next `config.accumulate` batches, fewer at the end of an epoch, and the examples."""
        trainer, config = self.trainer, self.trainer.config
        # Runs twice when the training that is resumed was stopped at the end of an epoch.
        while trainer.position >= len(trainer.plan):
            if trainer.plan:
                trainer.epoch += 1
                trainer.position = 0
            # The first step of the epoch, also when a training is resumed in the middle of it.
            first_step = trainer.step - -(-trainer.position // config.accumulate)
            sampled = config.subword_sampling > 0 and first_step < config.steps * (1 - config.plain_subword_share)
            if sampled:
                self.examples = self.resample(trainer.epoch, spawn_seed(trainer.seed, trainer.epoch))
            else:
                self.examples = self.plain
            trainer.plan = batches(self.examples, config.batch_tokens, generator(trainer.seed, trainer.epoch))
        chosen = trainer.plan[trainer.position : trainer.position + config.accumulate]
        trainer.position += len(chosen)
        return chosen, self.examples


def sorted_parts(examples: Examples) -> list[npt.NDArray[np.int64]]:
    """Numbers of development pairs of similar length, 64 at a time."""
    return batches_by_length(examples.target_lengths, 64)


def rate_factor(config: TranslatorConfig, step: int) -> float:
    """Factor of the learning rates: linear warm-up, constant, linear cool-down to zero."""
    cooldown = (config.steps - step) / max(1, config.steps * config.cooldown_share)
    return min(1.0, (step + 1) / max(1, config.warmup_steps), cooldown)


def perplexity(loss: float, tokens: int) -> float:
    """The exponential of the mean loss; of a very large loss, exp(700), which is still a finite number."""
    return round(math.exp(min(loss / max(1, tokens), 700.0)), 4)
