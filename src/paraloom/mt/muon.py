"""Muon: momentum whose matrices are made orthogonal before each step (Jordan et al. 2024).

PyTorch's own runs its iteration in bfloat16, which a processor without bfloat16 arithmetic emulates ten times slower;
one that has it is three to five times as fast so as in float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
"""Quintic a·x + b·x³ + c·x⁵ that drives every singular value near 1 in five steps (Jordan et al. 2024)."""


def orthogonalise(matrices: Tensor, steps: int = 5) -> Tensor:
    """Replace the singular values of each matrix by numbers near 1 (within 0.7 and 1.2), singular vectors kept.

    matrices: (k, m, n).  Newton–Schulz iteration on products alone, so that it costs what matrix products cost, in
    the precision that the matrices come in.
    """
    a, b, c = COEFFICIENTS
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2).contiguous() if tall else matrices.clone()
    x /= x.norm(dim=(1, 2), keepdim=True) + 1e-7
    for _ in range(steps):
        gram = torch.bmm(x, x.transpose(1, 2))
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.transpose(1, 2) if tall else x


class Muon:
    """Updates a model's matrices: Nesterov momentum, orthogonalised, scaled by √max(1, rows / columns).

    parameters: two-dimensional, none of them an embedding (Adam serves those).  Matrices of one shape go together.
    precision: of the iteration; momentum and parameters keep theirs.
    """

    def __init__(
        self, parameters: Sequence[Tensor], momentum: float = 0.95, precision: torch.dtype = torch.float32
    ) -> None:
        self.momentum = momentum
        self.precision = precision
        groups: dict[torch.Size, list[Tensor]] = {}
        for parameter in parameters:
            groups.setdefault(parameter.shape, []).append(parameter)
        self._groups = list(groups.values())
        self._moments = [torch.zeros(len(group), *group[0].shape) for group in self._groups]

    def step(self, rate: float, run: Callable[[Iterable[Callable[[], None]]], None]) -> None:
        """One update from the parameters' .grad; `run` executes the independent pieces of it, in parallel if it can."""
        run(
            [
                partial(self._update, group[part], moments[part], rate)
                for group, moments in zip(self._groups, self._moments, strict=True)
                for part in _halves(len(group))
            ]
        )

    def state(self) -> dict[str, Tensor]:
        """Moments by group number, to be kept in a checkpoint."""
        return {f"muon.{i}": moments for i, moments in enumerate(self._moments)}

    def load(self, state: dict[str, Tensor]) -> None:
        """Take over the moments of a checkpoint."""
        for i, moments in enumerate(self._moments):
            moments.copy_(state[f"muon.{i}"])

    @torch.no_grad()  # here and not in step: it holds for a thread at a time
    def _update(self, group: list[Tensor], moments: Tensor, rate: float) -> None:
        gradients = torch.stack([parameter.grad for parameter in group])  # type: ignore[misc]
        moments.lerp_(gradients, 1 - self.momentum)
        updates = orthogonalise(gradients.lerp_(moments, self.momentum).to(self.precision)).to(gradients.dtype)
        scale = max(1.0, updates.shape[1] / updates.shape[2]) ** 0.5
        for parameter, update in zip(group, updates, strict=True):
            parameter.add_(update, alpha=-rate * scale)


def _halves(count: int) -> list[slice]:
    return [slice(0, (count + 1) // 2), slice((count + 1) // 2, count)] if count > 1 else [slice(0, 1)]
