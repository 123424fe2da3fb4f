"""Muon, an optimizer that orthogonalizes the momentum of weight matrices before each step (Jordan et al. 2024).

PyTorch's own iterates in bfloat16, which processors without such arithmetic emulate ten times more slowly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Of the quintic a·x + b·x³ + c·x⁵ that moves every singular value close to 1 in five steps (Jordan et al. 2024)."""


def orthogonalize(matrices: Tensor, steps: int = 5) -> Tensor:
    """Make the singular values of matrices near 1, by Newton-Schulz in their precision (Jordan et al. 2024)."""
    a, b, c = COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2).contiguous() if tall else matrices.clone()
    x /= x.norm(dim=(1, 2), keepdim=True) + 1e-7
    for _ in range(steps):
        gram = torch.bmm(x, x.transpose(1, 2))
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class Muon:
    """Nesterov momentum, orthogonalized, scaled by √max(1, rows / columns), for matrices of one shape together."""

    def __init__(
        self, parameters: Sequence[Tensor], momentum: float = 0.95, precision: torch.dtype = torch.float32
    ) -> None:
        self.momentum = momentum
        self.precision = precision
        groups: dict[torch.Size, list[Tensor]] = {}
        for parameter in parameters:
            groups.setdefault(parameter.shape, []).append(parameter)
        self._groups = list(groups.values())
        self._moments = [torch.zeros(len(group), *group[0].shape, device=group[0].device) for group in self._groups]

    def step(self, learning_rate: float, run: Callable[[Iterable[Callable[[], None]]], None]) -> None:
        run(
            [
                partial(self._update, group[part], moments[part], learning_rate)
                for group, moments in zip(self._groups, self._moments, strict=True)
                for part in _halves(len(group))
            ]
        )

    def state(self) -> dict[str, Tensor]:
        """The momentum of each group of matrices, for a checkpoint."""
        return {f"muon.{i}": moments for i, moments in enumerate(self._moments)}

    def load(self, state: dict[str, Tensor]) -> None:
        for i, moments in enumerate(self._moments):
            moments.copy_(state[f"muon.{i}"])

    @torch.no_grad()  # here and not in step: it applies to the current thread only
    def _update(self, group: list[Tensor], moments: Tensor, learning_rate: float) -> None:
        gradients = torch.stack([parameter.grad for parameter in group])  # type: ignore[misc]
        moments.lerp_(gradients, 1 - self.momentum)
        updates = orthogonalize(gradients.lerp_(moments, self.momentum).to(self.precision)).to(gradients.dtype)
        scale = max(1.0, updates.shape[1] / updates.shape[2]) ** 0.5
        torch._foreach_add_(group, list(updates), alpha=-learning_rate * scale)


def _halves(count: int) -> list[slice]:
    return [slice(0, (count + 1) // 2), slice((count + 1) // 2, count)] if count > 1 else [slice(0, 1)]
