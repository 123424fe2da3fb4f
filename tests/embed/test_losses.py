"""Losses over the sentences of a batch: values against their definition in float64, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

from paraloom.embed.losses import contrastive_loss, distribution_loss

# Pairs 0 and 3 share their first side; the second side of pair 1 is the first side of pair 2.
KEYS, OTHERS = np.array([7, 8, 9, 7], np.uint64), np.array([1, 9, 3, 4], np.uint64)
SHARED = {(0, 3), (3, 0), (1, 2), (2, 1)}


def log_softmax(scores: list[float]) -> np.ndarray:
    scores = np.array(scores)
    return scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())


def units_of(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)


def contrastive(vectors: np.ndarray, temperature: float, margin: float = 0.0) -> float:
    """The loss by its definition."""
    count = len(vectors) // 2
    first, second = np.split(units_of(vectors), 2)
    total = 0.0
    for i in range(count):
        others = [j for j in range(count) if j != i and (i, j) not in SHARED]
        forth = [first[i] @ second[j] / temperature for j in [i, *others]]
        back = [first[j] @ second[i] / temperature for j in [i, *others]]
        forth[0], back[0] = forth[0] - margin / temperature, back[0] - margin / temperature
        total -= (log_softmax(forth)[0] + log_softmax(back)[0]) / 2
    return total / count


def distribution(vectors: np.ndarray, target: np.ndarray, temperature: float) -> float:
    """The loss by its definition."""
    cosines, total = units_of(vectors) @ units_of(vectors).T, 0.0
    for i in range(len(vectors)):
        others = [j for j in range(len(vectors)) if j != i]
        wanted = log_softmax([target[i, j] / temperature for j in others])
        total += np.exp(wanted) @ (wanted - log_softmax([cosines[i, j] / temperature for j in others]))
    return total / len(vectors)


def check_gradient(gradient: np.ndarray, vectors: np.ndarray, value) -> None:
    for at in np.ndindex(vectors.shape):
        shift = np.zeros(vectors.shape)
        shift[at] = 1e-5
        slope = (value(vectors + shift) - value(vectors - shift)) / 2e-5
        assert gradient[at] == pytest.approx(slope, abs=1e-4)


@pytest.mark.parametrize(("temperature", "margin"), [(0.1, 0.0), (1.0, 0.0), (0.5, 0.2)])
def test_contrastive_loss_equals_its_definition(temperature, margin):
    vectors = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
    loss = contrastive_loss(vectors, KEYS, OTHERS, temperature, margin)
    assert loss.value == pytest.approx(contrastive(vectors.astype(np.float64), temperature, margin), rel=1e-4)
    check_gradient(loss.gradient, vectors.astype(np.float64), lambda moved: contrastive(moved, temperature, margin))


def test_pairs_that_share_a_sentence_are_no_negatives():
    same = np.zeros(3, np.uint64)
    loss = contrastive_loss(np.random.default_rng(1).normal(size=(6, 2)).astype(np.float32), same, same, 0.1)
    assert loss.value == pytest.approx(0, abs=1e-6) and not loss.gradient.any() and loss.violations == 0


def test_contrastive_loss_equals_torch():
    torch = pytest.importorskip("torch")
    vectors = np.random.default_rng(2).normal(size=(12, 5)).astype(np.float32)
    keys = np.arange(12, dtype=np.uint64)
    loss = contrastive_loss(vectors, keys[:6], keys[6:], 0.05)
    tensor = torch.tensor(vectors, requires_grad=True)
    units = torch.nn.functional.normalize(tensor)
    scores, diagonal = units[:6] @ units[6:].T / 0.05, torch.arange(6)
    cross_entropy = torch.nn.functional.cross_entropy
    expected = (cross_entropy(scores, diagonal) + cross_entropy(scores.T, diagonal)) / 2
    expected.backward()
    assert loss.value == pytest.approx(expected.item(), rel=1e-4)
    np.testing.assert_allclose(loss.gradient, tensor.grad.numpy(), atol=1e-4)
    greater = scores.detach() > scores.detach().diagonal()[:, None]
    greater_back = scores.detach() > scores.detach().diagonal()
    assert loss.violations == int(greater.any(1).sum() + greater_back.any(0).sum())


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_distribution_loss_equals_its_definition(temperature):
    draw = np.random.default_rng(3)
    vectors, teacher = draw.normal(size=(5, 4)).astype(np.float32), units_of(draw.normal(size=(5, 6)))
    target = (teacher @ teacher.T).astype(np.float32)
    loss = distribution_loss(vectors, target, temperature)
    assert loss.value == pytest.approx(distribution(vectors.astype(np.float64), target, temperature), rel=1e-4)
    check_gradient(loss.gradient, vectors.astype(np.float64), lambda moved: distribution(moved, target, temperature))


@pytest.mark.parametrize("of", [contrastive_loss, distribution_loss])
def test_a_zero_vector_has_no_gradient_and_an_infinite_one_no_loss(of):
    def loss(vectors: np.ndarray):
        keys = np.arange(4, dtype=np.uint64)
        if of is contrastive_loss:
            return of(vectors, keys[:2], keys[2:], 0.1)
        return of(vectors, np.eye(4, dtype=np.float32), 0.1)

    vectors = np.float32([[0, 0], [1, 0], [0, 1], [1, 1]])
    assert np.isfinite(loss(vectors).value) and not loss(vectors).gradient[0].any()
    vectors[3] = 3e38
    assert np.isnan(loss(vectors).value)
