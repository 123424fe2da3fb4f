"""The loss of the recipe for a tuned teacher, by hand."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'paraloom[train]'")

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def recipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    spec = importlib.util.spec_from_file_location("home_teacher", EXAMPLES / "home_teacher.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "home_teacher", module)
    spec.loader.exec_module(module)
    return module


def on_circle(*degrees: float) -> Any:
    return torch.tensor([[math.cos(math.radians(angle)), math.sin(math.radians(angle))] for angle in degrees])


def test_loss_of_two_pairs(recipe: Any) -> None:
    """Each side finds the other one among three, by cosine through τ; all guides agree that nothing else is nearer."""
    angles, tau = (0, 60, 10, 80), recipe.TEMPERATURE
    vectors = on_circle(*angles)
    loss = recipe.contrast(3 * vectors, vectors, np.array([], np.int64), 0.5, False)
    expected = 0.0
    for i, other in enumerate((2, 3, 0, 1)):
        logits = {j: math.cos(math.radians(angles[i] - angles[j])) / tau for j in range(4) if j != i}
        expected += math.log(sum(map(math.exp, logits.values()))) - logits[other]
    assert loss.softmax == pytest.approx(expected / 4, rel=1e-4)
    assert loss.vector == 0.0
    assert float(loss.total) == pytest.approx(expected / 4, rel=1e-4)


def test_guide_leaves_out_what_it_has_nearer_than_the_paraphrase(recipe: Any) -> None:
    """The guide has all of them near one spot but the second paraphrase."""
    vectors, guide = on_circle(0, 60, 10, 80), on_circle(0, 1.5, 0.5, 80)
    loss = recipe.contrast(vectors, guide, np.array([], np.int64), 0.0, False)

    def near(a: float, b: float) -> float:
        return math.cos(math.radians(a - b)) / recipe.TEMPERATURE

    def softmax_loss(target: float, *others: float) -> float:
        return math.log(sum(map(math.exp, (target, *others)))) - target

    # Only for the one at 60° the guide has others nearer than its paraphrase, and those are all: none stays.
    expected = softmax_loss(near(0, 10), near(0, 60), near(0, 80)) + softmax_loss(
        near(10, 0), near(10, 80), near(10, 60)
    )
    expected += 0.0 + softmax_loss(near(80, 60), near(80, 0), near(80, 10))
    assert loss.softmax == pytest.approx(expected / 4, rel=1e-3, abs=1e-4)


def test_hard_negatives_come_below_all_pairs(recipe: Any) -> None:
    """log(1 + Σ exp((wrong − right) / τ)), the wrong pairs being both sides of pair 1 with its negative."""
    vectors, angles = on_circle(0, 60, 10, 80, 75), (0, 60, 10, 80, 75)
    loss = recipe.contrast(vectors, vectors[:4], np.array([1]), 2.0, True)

    def cosine(a: int, b: int) -> float:
        return math.cos(math.radians(angles[a] - angles[b]))

    right, wrong = (cosine(0, 2), cosine(1, 3)), (cosine(1, 4), cosine(3, 4))
    total = 1 + sum(math.exp((w - r) / recipe.TEMPERATURE) for w in wrong for r in right)
    assert loss.vector == pytest.approx(math.log(total), rel=1e-4)
    assert float(loss.total) == pytest.approx(loss.softmax + 2 * loss.vector, rel=1e-4)


def test_hard_negative_comes_below_its_own_pair(recipe: Any) -> None:
    """log(1 + exp((wrong − right) / τ)), the wrong pair being the first side of pair 1 with its negative."""
    vectors = on_circle(0, 60, 10, 80, 75)
    loss = recipe.contrast(vectors, vectors[:4], np.array([1]), 2.0, False)
    wrong, right = math.cos(math.radians(15)), math.cos(math.radians(20))
    assert loss.vector == pytest.approx(math.log1p(math.exp((wrong - right) / recipe.TEMPERATURE)), rel=1e-4)
    assert float(loss.total) == pytest.approx(loss.softmax + 2 * loss.vector, rel=1e-4)
