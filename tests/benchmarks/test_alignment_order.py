"""The texts of the benchmark of local order: gold beads move with their sentences."""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead, check_beads


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks/alignment_order.py"
    spec = importlib.util.spec_from_file_location("alignment_order_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def gold_text(benchmark: ModuleType, beads: int = 200) -> tuple[object, set[tuple[str, str]]]:
    """A text whose sentences are named by their bead, and the beads as texts; every fifth bead has two targets."""
    source, target, gold = [], [], []
    for number in range(beads):
        size = 2 if number % 5 == 0 else 1
        gold.append(Bead((len(source),), tuple(range(len(target), len(target) + size))))
        source.append(f"s{number}")
        target += [f"t{number}.{part}" for part in range(size)]
    text = benchmark.GoldText(TextPair(source, target), gold)
    return text, named(text)


def named(text: object) -> set[tuple[str, str]]:
    pair, gold = text.pair, text.gold  # type: ignore[attr-defined]
    return {
        (" ".join(pair.source[i] for i in bead.source), " ".join(pair.target[j] for j in bead.target))
        for bead in gold
        if bead.source and bead.target
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_gold_beads_move_with_their_sentences(benchmark: ModuleType, seed: int) -> None:
    text, beads = gold_text(benchmark)
    changed = benchmark.disordered(text, seed)
    pair = changed.pair
    check_beads(changed.gold, len(pair.source), len(pair.target))
    assert named(changed) <= beads
    dropped = {bead for bead in beads if bead not in named(changed)}
    assert 20 <= len(dropped) <= 32  # a tenth, up to the end of a passage
    assert sum(len(bead.source) for bead in changed.gold) == len(pair.source)
    assert sum(len(bead.target) for bead in changed.gold) == len(pair.target)


def test_moved_passages_cross_and_dropped_ones_do_not(benchmark: ModuleType) -> None:
    text, beads = gold_text(benchmark)
    moved = benchmark.disordered(text, 1, dropped=0.0)
    assert named(moved) == beads
    places = [bead.target[0] for bead in moved.gold]
    assert [bead.source[0] for bead in moved.gold] == list(range(200))
    assert places != sorted(places)
    dropped = benchmark.disordered(text, 1, moved=0.0)
    both = [bead.target[0] for bead in dropped.gold if bead.source and bead.target]
    assert both == sorted(both) and len(both) < 200
    same = benchmark.disordered(text, 1, moved=0.0, dropped=0.0)
    assert same.pair.source == text.pair.source and list(same.gold) == list(text.gold)


def test_no_gold_bead_crosses_the_end_of_a_passage(benchmark: ModuleType) -> None:
    """Beads 0 and 1 cross: they are in one passage."""
    gold = [Bead((0,), (1,)), Bead((1,), (0,)), *[Bead((k,), (k,)) for k in range(2, 40)]]
    text = benchmark.GoldText(TextPair([f"s{k}" for k in range(40)], [f"t{k}" for k in range(40)]), gold)
    ranges = benchmark.passages(text, random.Random(1))
    assert all(len(source) == len(target) for source, target in ranges)
    assert [row for source, _ in ranges for row in source] == list(range(40))
    assert {0, 1} <= set(ranges[0][0]) and all(source.start != 1 for source, _ in ranges)
