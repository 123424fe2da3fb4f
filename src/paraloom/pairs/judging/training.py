"""Training of a judge on labeled pairs of token lists."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from paraloom.core.array_types import Float32s, Int32s, Ints
from paraloom.core.progress import progress
from paraloom.pairs.judging.network import OUTPUTS, JudgeNetwork

UNKNOWN = 255
"""Label of an output that is not known for a pair."""

_LENGTH_STEP = 16
_GROUP = 64


@dataclass(frozen=True)
class TokenPairs:
    tokens: npt.NDArray[np.uint16]  # uint16, the tokens of all texts one after another
    offsets: Ints  # int64 `(texts + 1,)`, where each text begins
    sides: Int32s  # int32 `(n, 2)`, numbers of the two texts of each pair
    labels: npt.NDArray[np.uint8]  # uint8 `(n, outputs)`, 0, 1 or `UNKNOWN`
    weights: Float32s  # float32 `(n,)`

    def __len__(self) -> int:
        return len(self.sides)

    def take(self, rows: npt.NDArray[np.integer | np.bool_]) -> TokenPairs:
        """Some of the pairs; texts are shared."""
        return TokenPairs(self.tokens, self.offsets, self.sides[rows], self.labels[rows], self.weights[rows])


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    epochs: float = 5  # Passes over the pairs
    batch: int = 512  # Pairs of a batch
    learning_rate: float = 2e-4  # Highest rate; it rises over the first twentieth of the steps and falls to 0
    decay: float = 0.01  # Weight decay
    max_length: int = 160  # Maximum number of tokens of a pair; the sides are cut to half of it each
    soft_weight: float = 0.6  # Share of the loss that compares with the logits of a larger judge, if there is one
    seed: int = 1  # Seed of order, dropout and new weights


class PairFeeder:
    """Batches of pairs as tensors, put together on the device."""

    def __init__(self, pairs: TokenPairs, special: tuple[int, int, int], max_length: int, device: torch.device) -> None:
        self.pad, self.first, self.last = special
        self.device = device
        self.tokens = torch.from_numpy(np.append(pairs.tokens, [0] * max_length).astype(np.int32)).to(device)
        self.starts = torch.from_numpy(pairs.offsets[:-1]).to(device)
        self.max_side = (max_length - 3) // 2
        lengths = np.minimum(np.diff(pairs.offsets), self.max_side)
        self.lengths = torch.from_numpy(lengths).to(device)
        self.sides = torch.from_numpy(pairs.sides.astype(np.int64)).to(device)
        self.sizes = lengths[pairs.sides].sum(1) + 3

    def inputs(self, rows: Ints, swap: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Ids, mask and sides `(rows, length)` of some pairs; where `swap` is true, the sides change places."""
        length = min(-(-int(self.sizes[rows].max()) // _LENGTH_STEP) * _LENGTH_STEP, 2 * self.max_side + 3)
        sides = self.sides[torch.from_numpy(rows).to(self.device)]
        if swap is not None:
            sides = torch.where(swap[:, None], sides.flip(1), sides)
        starts, counts = self.starts[sides], self.lengths[sides]
        position = torch.arange(length, device=self.device)[None, :]
        a_end = counts[:, :1] + 1
        end = a_end + counts[:, 1:] + 1
        in_a, in_b = (position >= 1) & (position < a_end), (position > a_end) & (position < end)
        index = torch.where(in_a, starts[:, :1] + position - 1, starts[:, 1:] + position - a_end - 1)
        ids = self.tokens[torch.where(in_a | in_b, index, 0)].long()
        ids = torch.where(in_a | in_b, ids, self.pad)
        ids = torch.where(position == 0, self.first, ids)
        ids = torch.where((position == a_end) | (position == end), self.last, ids)
        return ids, (position <= end).long(), ((position > a_end) & (position <= end)).long()

    def batches(self, size: int, random: np.random.Generator) -> Iterator[Ints]:
        """Numbers of pairs, each once, in random order, with pairs of like length together."""
        order = random.permutation(len(self.sizes))
        groups = [order[start : start + size * _GROUP] for start in range(0, len(order), size * _GROUP)]
        for group in groups:
            ranked = group[np.argsort(self.sizes[group], kind="stable")]
            parts = [ranked[start : start + size] for start in range(0, len(ranked), size)]
            for index in random.permutation(len(parts)).tolist():
                yield parts[index]


_SWAPPED = [OUTPUTS.index(name) for name in ("same", "backward", "forward", "tgt_formed", "src_formed")]


def train(
    network: JudgeNetwork,
    pairs: TokenPairs,
    special: tuple[int, int, int],
    config: JudgeConfig,
    *,
    soft: Float32s | None = None,
) -> float:
    """Train a network in place, also on a larger judge's logits `soft`; returns the mean loss of the last steps."""
    device = next(network.parameters()).device
    random = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    feeder = PairFeeder(pairs, special, min(config.max_length, network.shape.positions), device)
    labels = torch.from_numpy(pairs.labels.astype(np.float32)).to(device)
    weights = torch.from_numpy(pairs.weights).to(device)
    teacher = None if soft is None else torch.sigmoid(torch.from_numpy(soft.astype(np.float32)).to(device))
    steps = max(1, math.ceil(config.epochs * math.ceil(len(pairs) / config.batch)))
    decayed = [value for value in network.parameters() if value.ndim > 1]
    other = [value for value in network.parameters() if value.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": config.decay}, {"params": other, "weight_decay": 0.0}],
        lr=config.learning_rate, betas=(0.9, 0.98), fused=device.type == "cuda",
    )  # fmt: skip
    warm = max(1, steps // 20)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / max(1, steps - warm)))
    )
    importance = torch.tensor(_IMPORTANCE, device=device)
    network.train()
    losses: list[Tensor] = []
    order = itertools.chain.from_iterable(feeder.batches(config.batch, random) for _ in itertools.count())
    # On a processor, the gradients of attention by plain products take a quarter less time.
    attention = sdpa_kernel(SDPBackend.MATH) if device.type == "cpu" else nullcontext()
    with attention, progress("training", steps, unit="batches") as advance:
        for step, rows in enumerate(itertools.islice(order, steps), start=1):
            chosen = torch.from_numpy(rows).to(device)
            swap = torch.rand(len(rows), device=device) < 0.5
            inputs = feeder.inputs(rows, swap)
            wanted = labels[chosen]
            wanted = torch.where(swap[:, None], wanted[:, _SWAPPED], wanted)
            known = (wanted != UNKNOWN).float() * weights[chosen][:, None]
            with torch.autocast(device.type, torch.bfloat16, enabled=_computes_bfloat16(device)):
                logits = network(*inputs).float()
            target = wanted.clamp(max=1.0)
            if teacher is not None:
                taught = teacher[chosen]
                taught = torch.where(swap[:, None], taught[:, _SWAPPED], taught)
                share = config.soft_weight * torch.ones_like(target)
                share = torch.where(wanted == UNKNOWN, 1.0, share)
                target = share * taught + (1 - share) * target
                known = torch.where(wanted == UNKNOWN, 0.3 * weights[chosen][:, None], known)
            losses_of = torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
            loss = (losses_of * known * importance).sum() / (known * importance).sum().clamp(min=1.0)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if step > 0.9 * steps:
                losses.append(loss.detach())
            advance(1)
    network.eval()
    return float(torch.stack(losses).mean()) if losses else float("nan")


_IMPORTANCE = (1.0, 0.5, 0.5, 0.15, 0.15)
"""Weight of each output in the loss."""


def _computes_bfloat16(device: torch.device) -> bool:
    """True if a device multiplies in 16 bits: faster than in 32, on a processor more than twice as fast."""
    return device.type == "cuda" or (device.type == "cpu" and torch.cpu._is_avx512_bf16_supported())


@torch.no_grad()
def logits_of(
    network: JudgeNetwork, pairs: TokenPairs, special: tuple[int, int, int], *, batch: int, max_length: int
) -> Float32s:
    """Logits `(n, outputs)` of pairs."""
    device = next(network.parameters()).device
    network.eval()
    feeder = PairFeeder(pairs, special, min(max_length, network.shape.positions), device)
    order = np.argsort(feeder.sizes, kind="stable")
    values = np.zeros((len(pairs), len(OUTPUTS)), np.float32)
    for start in range(0, len(order), batch):
        rows = order[start : start + batch]
        with torch.autocast(device.type, torch.bfloat16, enabled=_computes_bfloat16(device)):
            values[rows] = network(*feeder.inputs(rows)).float().cpu().numpy()
    return values
