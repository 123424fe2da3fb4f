"""Differences between translators: against sacreBLEU's public scores of every sample, by hand, and as a stage."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from sacrebleu import corpus_bleu, corpus_chrf

from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.translation_differences import differences
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

WORDS = ["the", "a", "big", "small", "dog", "cat", "sees", "hears", "runs", "away", "from", "to", "in", "park"]


def made_up(seed: int, sentences: int = 40) -> tuple[list[str], dict[str, list[list[str]]]]:
    """References, and three systems that get more and more of their words wrong; the last has two trainings."""
    rng = random.Random(seed)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(4, 9))) for _ in range(sentences)]

    def spoilt(share: float) -> list[str]:
        return [
            " ".join(rng.choice(WORDS) if rng.random() < share else word for word in text.split())
            for text in references
        ]

    return references, {"good": [spoilt(0.1)], "fair": [spoilt(0.2)], "poor": [spoilt(0.4), spoilt(0.5)]}


def test_every_sample_is_scored_as_sacrebleu_scores_it() -> None:
    references, systems = made_up(1)
    found = differences(systems, references, samples=25, seed=3)
    draws = np.random.default_rng(3).integers(len(references), size=(25, len(references)))
    for measure, score in (("bleu", corpus_bleu), ("chrf", corpus_chrf)):

        def mean(name: str, rows: list[int], score=score) -> float:  # type: ignore[no-untyped-def]
            drawn = [references[row] for row in rows]
            return float(np.mean([score([made[row] for row in rows], [drawn]).score for made in systems[name]]))

        everything = list(range(len(references)))
        for system, than in (("fair", "good"), ("poor", "good"), ("poor", "fair")):
            (one,) = [each for each in found if (each.measure, each.system, each.than) == (measure, system, than)]
            assert one.value == pytest.approx(mean(system, everything) - mean(than, everything), abs=1e-9)
            apart = [mean(system, list(rows)) - mean(than, list(rows)) for rows in draws]
            assert (one.low, one.high) == pytest.approx(tuple(np.percentile(apart, (2.5, 97.5))), abs=1e-9)
            assert np.mean(one.seeds) == pytest.approx(one.value)
    assert len(found) == 6


def test_what_is_clear_and_what_is_not() -> None:
    references, systems = made_up(2, 200)
    bleu, _ = differences({name: systems[name] for name in ("good", "poor")}, references)
    assert bleu.clear and bleu.high < 0 and len(bleu.seeds) == 2
    again = {"one": systems["good"], "two": systems["good"]}
    for same in differences(again, references, samples=50):
        assert (same.value, same.low, same.high, same.clear) == (0, 0, 0, False)


def test_the_paired_interval_is_narrower_than_of_two_systems_apart() -> None:
    from paraloom.evaluate.translation import evaluate_translation

    references, systems = made_up(4, 200)
    poor = systems["poor"][0]
    # Most of what is hard for the one is hard for the other.
    better = [text if row % 5 else references[row] for row, text in enumerate(poor)]
    one, _ = differences({"poor": [poor], "better": [better]}, references)
    halves = [evaluate_translation(made, references)["bleu_interval"] for made in (poor, better)]
    assert one.low > 0
    assert (one.high - one.low) / 2 < np.hypot(*halves)


def test_other_sentences_are_refused() -> None:
    with pytest.raises(DataError, match="no sentences to compare"):
        differences({"one": [[]], "two": [[]]}, [])
    with pytest.raises(DataError, match="of 'two' are not one a reference, of which there are 2"):
        differences({"one": [["a", "b"]], "two": [["a"]]}, ["a", "b"])


def test_translators_are_compared_in_a_run(toy_translator: Path, tmp_path: Path) -> None:
    from toy_language import bitext

    (tmp_path / "news.tsv").write_text("".join(f"{kal}\t{en}\n" for kal, en in bitext(20, seed=4)))
    measuring = f'use = "evaluate-translator"\npairs = "news"\ntranslator = "{toy_translator}"\n'
    text = (
        '[[stage]]\nname = "news"\nuse = "read-pairs"\nsource = "news.tsv"\n'
        f'[[stage]]\nname = "searched"\n{measuring}[[stage]]\nname = "greedy"\n{measuring}decode = "greedy"\n'
        '[[stage]]\nuse = "compare-translators"\nevaluations = ["searched", "greedy"]\nnames = ["beam", "greedy"]\n'
        'pairs = "news"\n'
    )
    found = run_pipeline(parse_pipeline(text, file=tmp_path / "toy.toml"), tmp_path / "run", engine="inline")
    result = json.loads((found.stages[-1].folder / "artifact" / "result.json").read_text())
    rows = result["differences"]
    assert [(row["measure"], row["system"], row["than"]) for row in rows] == [
        ("bleu", "greedy", "beam"), ("chrf", "greedy", "beam"),
    ]  # fmt: skip
    bleu = {stage.name: stage.figures.get("bleu") for stage in found.stages}
    assert rows[0]["value"] == pytest.approx(bleu["greedy"] - bleu["searched"], abs=0.02)
    assert all(row["lowest"] == row["value"] == row["highest"] for row in rows)
    # One more training of the second system, which is the first system's: its difference from it is 0.
    twice = text.replace('["searched", "greedy"]', '["searched", "greedy", "searched"]')
    twice = twice.replace('["beam", "greedy"]', '["beam", "greedy", "greedy"]')
    again = run_pipeline(parse_pipeline(twice, file=tmp_path / "toy.toml"), tmp_path / "run", engine="inline")
    both = json.loads((again.stages[-1].folder / "artifact" / "result.json").read_text())["differences"]
    for one, two in zip(rows, both, strict=True):
        assert one["value"] != 0 and two["value"] == pytest.approx(one["value"] / 2, abs=0.002)
        assert [two["lowest"], two["highest"]] == sorted([0.0, one["value"]])
    said = "translator-differences|sentences:20|paired-samples:1000|seed:1|bleu:nrefs:1,case:mixed,eff:no,tok:13a"
    assert result["signature"].startswith(said) and "chrf:nrefs:1,case:mixed,eff:yes,nc:6" in result["signature"]
    assert list(found.stages[-1].figures) == ["greedy - beam"]
    for old, new, message in (
        ('["beam", "greedy"]', '["beam"]', "key 'names' must have an entry for each of 2"),
        ('["beam", "greedy"]', '["beam", "beam"]', "two systems or more"),
    ):
        with pytest.raises(ConfigError, match=message):
            parse_pipeline(text.replace(old, new), file=tmp_path / "toy.toml")
