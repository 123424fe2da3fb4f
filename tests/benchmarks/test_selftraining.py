"""The documents of the benchmarks of self-training: lines joined and dropped as the gold beads say."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from paraloom.core.beads import Bead
from paraloom.papers.park17.selftraining import read_loop, stage_tables


def load(name: str) -> ModuleType:
    """A benchmark as a module."""
    path = Path(__file__).parents[2] / f"benchmarks/{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_benchmark", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    return load("selftraining")


def test_lines_have_the_beads_that_their_kind_says(benchmark: ModuleType) -> None:
    assert set(benchmark.LINES) == set(benchmark.SHARES)
    for kind, (source, target) in benchmark.LINES.items():
        assert (len(source), len(target)) == kind
        if source and target:
            assert sum(source) == sum(target)
            # Lines end together only at the end of the bead: a smaller bead is not possible.
            ends = [{sum(side[: k + 1]) for k in range(len(side))} for side in (source, target)]
            assert ends[0] & ends[1] == {sum(source)}


def test_a_document_is_cut_into_gold_beads(benchmark: ModuleType) -> None:
    sentences = [(f"s{i}", f"t{i}") for i in range(2000)]
    document = benchmark.cut(sentences, random.Random(3))
    # Every line is in one bead, in order, and beads have the same sentences on both sides.
    assert [i for bead in document.gold for i in bead.source] == list(range(len(document.source)))
    assert [i for bead in document.gold for i in bead.target] == list(range(len(document.target)))
    for bead in document.gold:
        numbers = [
            [word[1:] for i in indices for word in side[i].split()]
            for side, indices in ((document.source, bead.source), (document.target, bead.target))
        ]
        assert numbers[0] == numbers[1] or not (bead.source and bead.target)
    kinds = Counter((len(bead.source), len(bead.target)) for bead in document.gold)
    total = sum(benchmark.SHARES.values())
    for kind, share in benchmark.SHARES.items():
        expected = share / total * len(document.gold)
        assert abs(kinds[kind] - expected) <= 5 * expected**0.5 + 1


def test_the_loops_are_valid(benchmark: ModuleType, tmp_path: Path) -> None:
    world = benchmark.World([], tmp_path)
    for number, settings in enumerate(benchmark.LOOPS.values()):
        file = tmp_path / f"{number}.toml"
        file.write_text(benchmark.loop_file(tmp_path, world, settings, 1), encoding="utf-8")
        _, _, config = read_loop(file)
        stages = {stage["name"]: stage for stage in stage_tables(config, benchmark.ROUNDS)}
        assert stages["translator-1"]["use"] == "train-phrase-translator"
        assert stages["sentences-1"].get("method") == stages["within-1"].get("method")


def test_beads_that_a_loop_trains_on(benchmark: ModuleType) -> None:
    document = benchmark.cut([("aaaa", "bbbb"), ("cccc", "dddd")], random.Random(1))
    gold = [Bead((0,), (0,))] if document.source and document.target else []
    pairs = list(benchmark.bead_pairs([document], [[*gold, Bead((), (0,))]]))
    assert len(pairs) == len(gold)
    assert benchmark.plausible([("aaaa", "bbbb"), ("a", "b" * 30), ("aaaa", "aaaa"), ("a", "b")]) == [("aaaa", "bbbb")]


def test_a_cell_has_mean_deviation_and_interval(benchmark: ModuleType) -> None:
    assert benchmark.cell([1.0, 2.0, 3.0], 2, [0.5, 0.7]) == "2.00 ± 1.00 [0.60]"
    assert benchmark.cell([1000.0], 0, []) == "1000"


def test_beads_of_two_languages_whose_lines_are_cut_apart() -> None:
    third = load("third_language")
    line = third.Line
    source = [line("a b", frozenset({0, 1})), line("c", frozenset({2})), line("e", frozenset({4}))]
    target = [line("A", frozenset({0})), line("B C", frozenset({1, 2})), line("D", frozenset({3}))]
    assert list(third.gold_pairs(source, target)) == [("a b c", "A B C")]
    assert set(third.gold_pairs(source[2:], [line("E", frozenset({4})), line("F", frozenset({5}))])) == {("e", "E")}
    lines = third.cut([f"t{i}" for i in range(500)], random.Random(1))
    strings = [number for item in lines for number in sorted(item.strings)]
    assert strings == sorted(set(strings)) and len(strings) < 500
    assert all(item.text.split() == [f"t{i}" for i in sorted(item.strings)] for item in lines)
