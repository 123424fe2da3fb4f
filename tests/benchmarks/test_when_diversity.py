"""Wrong words, the words that people share, and the rule about diversity, by hand."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from paraloom.core.seeds import generator

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def trains(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("when_diversity_trains")


@pytest.fixture
def rule(trains: Any) -> Any:
    return importlib.import_module("diversity_rule")


def test_words_are_replaced_by_others_at_the_rate(trains: Any) -> None:
    text, words = "Ein Hund, ein Haus. " * 1000, ["ein", "Baum", "Hund"]
    assert trains.corrupted(text, 0.0, words, generator(1)) == text
    wrong = trains.corrupted(text, 1.0, words, generator(1)).split()
    assert not any(new.casefold() == old.casefold() for new, old in zip(wrong, text.split(), strict=True))
    assert (wrong[1][-1], wrong[3][-1]) == (",", ".")
    some = trains.corrupted(text, 0.3, words, generator(1)).split()
    changed = sum(new != old for new, old in zip(some, text.split(), strict=True))
    assert 1100 < changed < 1300  # 1,200 expected, standard deviation 29


def test_precision_counts_words_of_other_people(trains: Any) -> None:
    sentence = trains.Sentence("Run!", ("Lauf!", "Renn los!", "Renn!"))
    assert trains.precision([("Lauf los!", sentence), ("renn", sentence)]) == pytest.approx(2 / 3)


def test_the_rule_is_where_two_lines_meet(rule: Any, tmp_path: Path) -> None:
    # One copy: 20 - 10 rate; diverse: 21 - 5 rate, so that both have 18 at rates of .2 and .6.
    rows = [
        {
            "language": "de",
            "teacher": str(rate),
            "copies": copies,
            "novelty": "novel",
            "seed": seed,
            "bleu": bleu + seed,
        }
        for copies, height, slope in (("one", 19, 10), ("independent", 20, 5))
        for rate in (0.2, 0.6)
        for seed, bleu in ((0, height - slope * rate), (2, height - slope * rate))
    ]
    (tmp_path / "trainings.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    study = rule.Study(tmp_path)
    assert study.line("one") == pytest.approx((-10, 20))
    assert study.predicted("independent", 0.6, 0.2) == pytest.approx(0)
    one, diverse = ("de", "0.2", "one", "novel"), ("de", "0.2", "independent", "novel")
    estimate = study.difference([(diverse, one)])
    # Each row has values 2 apart, a variance of 2: four degrees of freedom, t = 2.776.
    assert (estimate.value, estimate.high) == pytest.approx((2, 2 + 2.776 * 2**0.5), abs=1e-3)
    # 2 at a rate of .2 and 4 at .6; half the variance.
    gain = study.gain("independent", "bleu")
    assert (gain.value, gain.low) == pytest.approx((3, 3 - 2.776), abs=1e-3)
