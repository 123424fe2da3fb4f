"""The state of a recurrent network's training: weights, Adam, position, and the update step."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from paraloom.core.devices import parse_device
from paraloom.core.seeds import spawn_seed
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.data import Examples
from paraloom.mt.schedule import Batch, perplexity, rate_factor, sorted_parts
from paraloom.mt.training_state import load_state, save_state
from paraloom.papers.scpn.layers import Dropout
from paraloom.papers.scpn.network import RecurrentNetwork, Tensors
from paraloom.paraphrasing.config import RecurrentConfig


class RecurrentTrainer:
    """Updates a recurrent network batch by batch, with Adam.

    The weights that are kept are those with the lowest development loss. Dropout follows from the seed and the number
    of the step. On a processor, as many threads as `config.threads` compute; another number gives other last digits.
    """

    rates = "recurrent_learning_rate"

    def __init__(
        self, network: RecurrentNetwork, config: TranslatorConfig, recurrent: RecurrentConfig, seed: int = 1
    ) -> None:
        device = parse_device(config.device, torch.cuda.device_count())
        self._device = torch.device("cpu") if device.kind == "cpu" else torch.device("cuda", device.indices[0])
        torch.set_num_threads(config.threads)
        self.config, self.recurrent, self.seed = config, recurrent, seed
        self.network = network.to(self._device)
        self._parameters = list(network.parameters())
        self._optimizer = torch.optim.Adam(self._parameters, lr=recurrent.recurrent_learning_rate)
        self._best = [value.detach().clone() for value in self._parameters]
        self._random = torch.Generator(self._device)
        self.step = self.epoch = self.position = self.tokens = self.evaluations_without_gain = 0
        self.seconds, self.best_loss = 0.0, float("inf")
        self._loss_sum, self._loss_tokens = 0.0, 0
        self.plan: list[npt.NDArray[np.int64]] = []

    @property
    def parameter_count(self) -> int:
        """Trained parameters."""
        return sum(value.numel() for value in self._parameters)

    @property
    def device_names(self) -> str:
        """'cpu', or the GPU, such as 'cuda:0'."""
        return str(self._device)

    @property
    def workers(self) -> int:
        """One: threads are within operations."""
        return 1

    @property
    def exhausted(self) -> bool:
        """True if the development loss has not fallen for `config.patience` evaluations."""
        return 0 < self.config.patience <= self.evaluations_without_gain

    def update(self, batch: Batch, examples: Examples, pool: ThreadPoolExecutor) -> float:
        """Take one training step."""
        batches = [batch] if isinstance(batch, np.ndarray) else list(batch)
        parts = [self._tensors(part, examples) for part in batches]
        tokens = sum(int((targets != self.network.padding).sum()) for _, targets in parts)
        self._random.manual_seed(spawn_seed(self.seed, self.step))
        drop = Dropout(self.config.dropout, self._random)
        self._optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for inputs, targets in parts:
            loss = self.network.loss(self.network.encode(inputs, drop), targets, drop)
            (loss / tokens).backward()  # type: ignore[no-untyped-call]
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(self._parameters, self.recurrent.gradient_norm)
        for group in self._optimizer.param_groups:
            group["lr"] = self.recurrent.recurrent_learning_rate * rate_factor(self.config, self.step)
        self._optimizer.step()
        self.step += 1
        self.tokens += tokens
        self._loss_sum += total
        self._loss_tokens += tokens
        return total / tokens

    def evaluate(self, examples: Examples, pool: ThreadPoolExecutor) -> dict[str, float]:
        """Measure the development loss, and keep the weights if they are the best, or if `config.keep_last`."""
        loss = self._development_loss(examples)
        self.evaluations_without_gain = 0 if loss < self.best_loss else self.evaluations_without_gain + 1
        if not self.evaluations_without_gain or self.config.keep_last:
            self.best_loss = loss
            self._best = [value.detach().clone() for value in self._parameters]
        mean = self._loss_sum / max(1, self._loss_tokens)
        self._loss_sum, self._loss_tokens = 0.0, 0
        return {
            "step": self.step,
            "loss": round(mean, 4),
            "dev_loss": round(loss, 4),
            "train_perplexity": perplexity(mean, 1),
            "dev_perplexity": perplexity(loss, 1),
        }

    def model(self) -> RecurrentNetwork:
        """The network with the weights that `evaluate` kept."""
        with torch.no_grad():
            for value, best in zip(self._parameters, self._best, strict=True):
                value.copy_(best)
        return self.network.eval()

    def save(self, path: Path, identity: str) -> None:
        """Write everything that `resume` needs; the file appears complete or not at all."""
        tensors: dict[str, Tensor] = {}
        for (name, value), best in zip(self._named(), self._best, strict=True):
            moments = self._optimizer.state[value]
            tensors |= {f"parameters.{name}": value.detach(), f"best.{name}": best}
            tensors |= {f"first.{name}": moments["exp_avg"], f"second.{name}": moments["exp_avg_sq"]}
        save_state(path, tensors, identity, self)

    def resume(self, path: Path, identity: str) -> None:
        """Continue from `path` if it exists and was saved by a training of the same data and configuration."""
        tensors = load_state(path, identity, self)
        if tensors is None:
            return
        self._best = [tensors[f"best.{name}"].to(self._device) for name, _ in self._named()]
        with torch.no_grad():
            for name, value in self._named():
                value.copy_(tensors[f"parameters.{name}"])
                self._optimizer.state[value] = {
                    "step": torch.tensor(float(self.step)),
                    "exp_avg": tensors[f"first.{name}"].to(self._device),
                    "exp_avg_sq": tensors[f"second.{name}"].to(self._device),
                }

    def _named(self) -> list[tuple[str, torch.nn.Parameter]]:
        return list(self.network.named_parameters())

    def _tensors(self, part: npt.NDArray[np.int64], examples: Examples) -> tuple[Tensors, Tensor]:
        """Inputs and targets of some pairs."""
        inputs = self.network.inputs([examples.source(pair) for pair in part])
        return inputs, self.network.targets([examples.target(pair) for pair in part])

    @torch.no_grad()
    def _development_loss(self, examples: Examples) -> float:
        total, tokens = 0.0, 0
        for part in sorted_parts(examples):
            inputs, targets = self._tensors(part, examples)
            total += float(self.network.loss(self.network.encode(inputs), targets))
            tokens += int((targets != self.network.padding).sum())
        return total / tokens
