"""Comparison of translators: against sacreBLEU's public scores of every sample, by hand, and as a stage."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from sacrebleu import corpus_bleu, corpus_chrf
from toy_language import bitext

from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.translation import evaluate_translation
from paraloom.papers.bbh22.translator_comparison import compare_translators
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

WORDS = ["the", "a", "big", "small", "dog", "cat", "sees", "hears", "runs", "away", "from", "to", "in", "park"]


def made_up(seed: int, sentences: int = 40) -> tuple[list[str], dict[str, list[list[str]]]]:
    """References, and three systems with more and more wrong words; the last has two trainings."""
    rng = random.Random(seed)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(4, 9))) for _ in range(sentences)]

    def corrupted(share: float) -> list[str]:
        return [
            " ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split())
            for text in references
        ]

    return references, {"good": [corrupted(0.1)], "fair": [corrupted(0.2)], "poor": [corrupted(0.4), corrupted(0.5)]}


def test_every_sample_is_scored_as_sacrebleu_scores_it() -> None:
    references, systems = made_up(1)
    differences = compare_translators(systems, references, samples=25, seed=3).differences
    samples = np.random.default_rng(3).integers(len(references), size=(25, len(references)))
    for metric, score in (("bleu", corpus_bleu), ("chrf", corpus_chrf)):

        def mean(name: str, rows: list[int], score=score) -> float:  # type: ignore[no-untyped-def]
            sample = [references[row] for row in rows]
            scores = [score([training[row] for row in rows], [sample]).score for training in systems[name]]
            return float(np.mean(scores))

        everything = list(range(len(references)))
        for system, baseline in (("fair", "good"), ("poor", "good"), ("poor", "fair")):
            names = (metric, system, baseline)
            (one,) = [one for one in differences if (one.metric, one.system, one.baseline) == names]
            assert one.value == pytest.approx(mean(system, everything) - mean(baseline, everything), abs=1e-9)
            resampled = [mean(system, list(rows)) - mean(baseline, list(rows)) for rows in samples]
            assert (one.low, one.high) == pytest.approx(tuple(np.percentile(resampled, (2.5, 97.5))), abs=1e-9)
            assert np.mean(one.seeds) == pytest.approx(one.value)
    assert len(differences) == 6


def test_significance_is_whether_the_interval_excludes_zero() -> None:
    references, systems = made_up(2, 200)
    bleu, _ = compare_translators({name: systems[name] for name in ("good", "poor")}, references).differences
    assert bleu.significant and bleu.high < 0 and len(bleu.seeds) == 2
    equal = {"one": systems["good"], "two": systems["good"]}
    for same in compare_translators(equal, references, samples=50).differences:
        assert (same.value, same.low, same.high, same.significant) == (0, 0, 0, False)


def test_the_paired_interval_is_narrower_than_that_of_independent_systems() -> None:
    references, systems = made_up(4, 200)
    poor = systems["poor"][0]
    # Most sentences are as hard for both.
    better = [text if row % 5 else references[row] for row, text in enumerate(poor)]
    bleu, _ = compare_translators({"poor": [poor], "better": [better]}, references).differences
    halves = [evaluate_translation(system, references).bleu.interval for system in (poor, better)]
    assert bleu.low > 0
    assert (bleu.high - bleu.low) / 2 < np.hypot(*halves)


def test_unequal_numbers_of_sentences_are_an_error() -> None:
    with pytest.raises(DataError, match="no sentences to compare"):
        compare_translators({"one": [[]], "two": [[]]}, [])
    with pytest.raises(DataError, match=r"expected 2 translations by 'two', got \[1\]"):
        compare_translators({"one": [["a", "b"]], "two": [["a"]]}, ["a", "b"])


PIPELINE = """
[[stage]]
name = "news"
use = "read-pairs"
source = "news.tsv"
[[stage]]
name = "searched"
use = "evaluate-translator"
pairs = "news"
translator = "{translator}"
[[stage]]
name = "sampled"
use = "evaluate-translator"
pairs = "news"
translator = "{translator}"
decode = "sampling"
[[stage]]
use = "compare-translators"
evaluations = {evaluations}
names = {names}
pairs = "news"
"""


@pytest.mark.slow
def test_translators_are_compared_in_a_run(toy_translator: Path, tmp_path: Path) -> None:
    (tmp_path / "news.tsv").write_text("".join(f"{kal}\t{en}\n" for kal, en in bitext(20, seed=4)))

    def run(evaluations: list[str], names: list[str]):  # type: ignore[no-untyped-def]
        lists = {"evaluations": json.dumps(evaluations), "names": json.dumps(names)}
        text = PIPELINE.format(translator=toy_translator, **lists)
        result = run_pipeline(parse_pipeline(text, file=tmp_path / "toy.toml"), tmp_path / "run", engine="inline")
        return result, json.loads((result.stages[-1].folder / "artifact" / "result.json").read_text())

    run_result, result = run(["searched", "sampled"], ["beam", "sampling"])
    rows = result["differences"]
    assert [(row["measure"], row["system"], row["than"]) for row in rows] == [
        ("bleu", "sampling", "beam"),
        ("chrf", "sampling", "beam"),
    ]
    bleu = {stage.name: stage.figures.get("bleu") for stage in run_result.stages}
    assert rows[0]["value"] == pytest.approx(bleu["sampled"] - bleu["searched"], abs=0.02)
    assert all(row["lowest"] == row["value"] == row["highest"] for row in rows)
    signature = "translator-differences|sentences:20|paired-samples:1000|seed:1|bleu:nrefs:1,case:mixed,eff:no,tok:13a"
    assert result["signature"].startswith(signature) and "chrf:nrefs:1,case:mixed,eff:yes,nc:6" in result["signature"]
    assert list(run_result.stages[-1].figures) == ["sampling - beam"]

    # One more training of the second system, which equals the first system: its difference is 0.
    _, both = run(["searched", "sampled", "searched"], ["beam", "sampling", "sampling"])
    for one, two in zip(rows, both["differences"], strict=True):
        assert two["value"] == pytest.approx(one["value"] / 2, abs=0.002)
        assert [two["lowest"], two["highest"]] == sorted([0.0, one["value"]])


@pytest.mark.parametrize("names", ['["beam"]', '["beam", "beam"]'])
def test_a_name_for_each_of_two_systems_is_needed(names: str, tmp_path: Path) -> None:
    text = PIPELINE.format(translator="model", evaluations='["searched", "sampled"]', names=names)
    with pytest.raises(ConfigError, match="names"):
        parse_pipeline(text, file=tmp_path / "toy.toml")
