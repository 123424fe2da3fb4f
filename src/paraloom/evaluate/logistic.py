"""Logistic regression with an L2 penalty on dense or sparse features, fitted to convergence by L-BFGS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from paraloom.core.array_types import Floats, Ints

Features: TypeAlias = npt.NDArray[np.floating] | sparse.csr_matrix
"""float64 or, for less precise results in half the time, float32 `(n, d)`."""


@dataclass(frozen=True, eq=False)
class Logistic:
    weights: Floats  # float64 `(k, d)` for k classes, `(1, d)` for two
    intercepts: Floats  # float64 `(k,)`, `(1,)` for two

    def predict(self, features: Features) -> Ints:
        """The most probable class of each row, int64 `(n,)`."""
        scores: Floats = features @ self.weights.T + self.intercepts
        if scores.shape[1] == 1:
            return (scores[:, 0] > 0).astype(np.int64)
        return scores.argmax(axis=1)


def fit_logistic(
    features: Features,
    labels: npt.NDArray[np.integer],
    classes: int,
    strength: float,
    start: Logistic | None = None,
    *,
    tolerance: float = 1e-5,
) -> Logistic:
    """Minimize `strength` times the negative log-likelihood plus half the weights' squared norm, as scikit-learn."""
    from scipy import optimize

    n, d = features.shape
    rows = 1 if classes == 2 else classes
    signs = np.where(labels == 1, 1.0, -1.0)
    penalty = 1.0 / (strength * n)
    transposed = features.T.tocsr() if isinstance(features, sparse.csr_matrix) else features.T

    def objective(flat: Floats) -> tuple[float, Floats]:
        parameters = flat.reshape(rows, d + 1)
        weights = parameters[:, :d]
        scores: Floats = (features @ weights.T.astype(features.dtype)) + parameters[:, d]
        loss, residuals = _binary(scores, signs) if rows == 1 else _softmax(scores, labels)
        gradient = np.empty_like(parameters)
        gradient[:, :d] = (transposed @ residuals.astype(features.dtype)).T / n + penalty * weights
        gradient[:, d] = residuals.mean(axis=0)
        return loss / n + penalty / 2 * float(np.square(weights).sum()), gradient.ravel()

    initial = np.zeros(rows * (d + 1))
    if start is not None:
        initial = np.hstack([start.weights, start.intercepts[:, None]]).ravel()
    options: dict[str, object] = {"maxiter": 1000, "maxfun": 2000, "gtol": tolerance, "ftol": 0}
    solution = optimize.minimize(objective, initial, jac=True, method="L-BFGS-B", options=options)
    parameters = solution.x.reshape(rows, d + 1)
    return Logistic(np.ascontiguousarray(parameters[:, :d]), np.ascontiguousarray(parameters[:, d]))


def _binary(scores: Floats, signs: Floats) -> tuple[float, Floats]:
    """Loss, and its derivative by the score of each row `(n, 1)`."""
    margins = signs * scores[:, 0]
    losses = np.logaddexp(0.0, -margins)
    return float(losses.sum()), (-signs * np.exp(-margins - losses))[:, None]


def _softmax(scores: Floats, labels: npt.NDArray[np.integer]) -> tuple[float, Floats]:
    """Loss, and its derivatives by the scores `(n, k)`."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    totals = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    index = np.arange(len(labels))
    residuals = np.exp(shifted - totals)
    loss = float((totals[:, 0] - shifted[index, labels]).sum())
    residuals[index, labels] -= 1.0
    return loss, residuals
