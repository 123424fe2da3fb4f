"""The model of p_paraphrase: gradient, optimum and calibration, missing scores, files, presets, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from scipy.optimize import approx_fprime

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.pairs.scoring.paraphrase_model import (
    FILE,
    Feature,
    LogisticModel,
    ParaphraseModel,
    ParaphraseModelConfig,
    Preset,
    balanced_weights,
    fit_logistic,
    logistic_loss,
    paraphrase_scorers,
    row_probabilities,
    set_weights,
    threshold_for,
    train_paraphrase_model,
    within_depth,
)
from paraloom.pairs.scoring.scorer import PairBatch
from paraloom.pairs.scoring.table import score


def toy(n: int = 2000, seed: int = 0) -> tuple[dict[str, npt.NDArray[np.float64]], npt.NDArray[np.float64]]:
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(2, n))
    labels = (random.random(n) < 1 / (1 + np.exp(-(1.5 * x - 0.5 * y + 0.3)))).astype(np.float64)
    return {"bleu1": x, "number_mismatch": y}, labels


def test_the_gradient_is_that_of_the_loss() -> None:
    random = np.random.default_rng(1)
    arguments: Any = (random.normal(size=(40, 3)), (random.random(40) < 0.4).astype(float), random.random(40), 0.7)
    point = random.normal(size=4)
    numeric = approx_fprime(point, lambda p: logistic_loss(p, *arguments)[0], 1e-6)
    assert logistic_loss(point, *arguments)[1] == pytest.approx(numeric, abs=1e-4)


def test_weights_are_recovered_and_probabilities_calibrated() -> None:
    scores, labels = toy(20_000)
    model = fit_logistic(scores, labels, np.ones(len(labels)), l2=0.0)
    weights = {feature.name: feature.weight / feature.scale for feature in model.features}
    assert weights["bleu1"] == pytest.approx(1.5, abs=0.1)
    assert weights["number_mismatch"] == pytest.approx(-0.5, abs=0.1)
    probabilities = model.probability(scores)
    for low in (0.1, 0.4, 0.7):
        part = (probabilities >= low) & (probabilities < low + 0.2)
        assert labels[part].mean() == pytest.approx(probabilities[part].mean(), abs=0.03)


def test_undefined_values_count_as_the_center_and_extreme_ones_as_the_bound() -> None:
    model = LogisticModel((Feature("bleu1", 2.0, 0.5, 0.5, 0.0, 1.0),), -1.0)
    p = model.probability({"bleu1": [np.nan, 0.5, 99.0, 1.0]})
    assert p[0] == p[1] == pytest.approx(1 / (1 + np.e)) and p[2] == p[3] == pytest.approx(1 / (1 + np.exp(-1)))


def test_sets_classes_and_kinds_count_the_same() -> None:
    labels, sets = [1, 1, 0, 0, 0, 1, 0], ["a"] * 5 + ["b"] * 2
    weights = balanced_weights(labels, sets, ["", "", "name", "name", "role", "", ""])
    total = weights.sum()
    assert total == pytest.approx(7)
    assert weights[:2].sum() == pytest.approx(total / 4) == pytest.approx(weights[5])
    assert weights[2:4].sum() == pytest.approx(total / 8) == pytest.approx(weights[4])


def test_fewer_scores_give_a_smaller_model() -> None:
    scores, labels = toy()
    config = ParaphraseModelConfig(features=("bleu1", "number_mismatch"), fallbacks=(("bleu1",),))
    model = train_paraphrase_model(scores, labels, ["toy"] * len(labels), [""] * len(labels), config)
    assert model.find(["src", "bleu1", "number_mismatch"]).names == ("bleu1", "number_mismatch")
    assert model.find(["bleu1"]).names == ("bleu1",)
    with pytest.raises(ConfigError, match="needs the score bleu1"):
        model.find(["src"])


def test_presets_reach_their_aims_and_are_ordered() -> None:
    scores, labels = toy(5000)
    config = ParaphraseModelConfig(features=("bleu1", "number_mismatch"), strict=0.9, balanced=0.8, loose=0.7)
    model = train_paraphrase_model(scores, labels, ["toy"] * len(labels), [""] * len(labels), config)
    weights = balanced_weights(labels, ["toy"] * len(labels), [""] * len(labels))
    probabilities = model.models[0].probability(scores)
    thresholds = []
    for name in ParaphraseModelConfig.PRESETS:
        threshold = float(model.presets[name].where.partition(">=")[2].split()[0])
        kept = probabilities >= threshold
        assert weights[kept] @ labels[kept] / weights[kept].sum() >= getattr(config, name)
        thresholds.append(threshold)
    assert thresholds == sorted(thresholds, reverse=True)
    assert threshold_for(np.array([0.2, 0.3]), np.array([0.0, 0.0]), np.ones(2), 0.9) == 0.99


def test_presets_are_conditions_without_clauses_that_are_not_needed() -> None:
    config = ParaphraseModelConfig(features=("bleu1", "number_mismatch"))
    scores = {"bleu1": np.arange(4.0), "number_mismatch": np.zeros(4), "chrf": np.array([20.0, 20.0, 95.0, 20.0])}
    model = train_paraphrase_model(scores, [0, 0, 0, 1], ["a"] * 4, [""] * 4, config)
    for preset in model.presets.values():
        assert preset.where == f"p_paraphrase >= {preset.threshold:g} and chrf <= 90"
    # The third pair is wrong, but a near copy, which no preset keeps.
    alone = {"bleu1": np.array([0.0, 0.5, 2.0, 1.0]), "number_mismatch": np.zeros(4), "chrf": scores["chrf"]}
    threshold = float(
        train_paraphrase_model(alone, [0, 0, 0, 1], ["a"] * 4, [""] * 4, config).presets["strict"].where.split()[2]
    )
    assert threshold < 0.99


def test_an_aim_that_no_threshold_reaches_is_warned_about() -> None:
    config = ParaphraseModelConfig(features=("bleu1",))
    with pytest.warns(UserWarning, match="preset 'strict': no threshold of p_paraphrase gives 90% right pairs"):
        train_paraphrase_model({"bleu1": [0, 1, 0, 1, 1]}, [0, 0, 1, 1, 1], ["a"] * 5, [""] * 5, config)


def test_scores_that_know_nothing_are_refused() -> None:
    with pytest.raises(DataError, match="none of the scores bleu1 separates"):
        train_paraphrase_model(
            {"bleu1": np.ones(4)}, [0, 0, 1, 1], ["a"] * 4, [""] * 4, ParaphraseModelConfig(features=("bleu1",))
        )


@pytest.mark.parametrize("labels", [[1, 0, 5], [1, 0, np.nan], ["1", "yes", "0"], [1, 0, None]])
def test_labels_other_than_right_and_wrong_are_refused(labels: list[Any]) -> None:
    with pytest.raises(DataError, match=r"neither 1|expected the labels"):
        train_paraphrase_model(
            {"bleu1": [1, 2, 3]}, labels, ["a"] * 3, [""] * 3, ParaphraseModelConfig(features=("bleu1",))
        )


def test_pairs_without_text_have_no_probability() -> None:
    model = ParaphraseModel((LogisticModel((Feature("bleu1", 1.0, 0.0, 1.0, 0.0, 1.0),), 0.0),), {}, {})
    rows = [{"src": a, "tgt": b} for a, b in (("a", "a"), ("a", ""), ("", "a"), (" ", "a"), ("a", None))]
    values = score(pa.RecordBatch.from_pylist(rows), paraphrase_scorers(model)).column("p_paraphrase").to_pylist()
    assert values[0] is not None and values[1:] == [None] * 4


def test_saved_and_loaded(tmp_path: Path) -> None:
    model = ParaphraseModel(
        (LogisticModel((Feature("bleu1", 2.0, 0.5, 0.5, 0.0, 1.0),), 0.25),),
        {"strict": Preset(0.9, "p_paraphrase >= 0.9")}, {"license": "MIT"},
    )  # fmt: skip
    model.save(tmp_path / "model")
    loaded = ParaphraseModel.load(tmp_path / "model")
    assert loaded.models == model.models and loaded.presets == model.presets and loaded.digest
    batch = pa.RecordBatch.from_pylist([{"src": "a dog runs", "tgt": "a dog runs"}])
    scored = score(batch, paraphrase_scorers(loaded))
    # bleu1 is not a column: it is computed, but not kept.
    bleu1 = score(batch, ["bleu1"]).column("bleu1")[0].as_py()
    assert scored.column("p_paraphrase")[0].as_py() == pytest.approx(1 / (1 + np.exp(-0.25 - 2 * (bleu1 - 0.5) / 0.5)))
    assert "bleu1" not in scored.schema.names


def test_a_score_that_was_added_before_is_read() -> None:
    model = ParaphraseModel((LogisticModel((Feature("bleu1", 1.0, 0.0, 1.0, 0.0, 10.0),), 0.0),), {}, {})
    batch = pa.RecordBatch.from_pylist([{"src": "a", "tgt": "b", "bleu1": 3.0}])
    assert score(batch, paraphrase_scorers(model)).column("p_paraphrase")[0].as_py() == pytest.approx(
        1 / (1 + np.exp(-3))
    )


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"format": 9, "models": [], "presets": {}, "card": {}}'])
def test_damaged_files(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE).write_text(content, encoding="utf-8")
    with pytest.raises(ModelError):
        ParaphraseModel.load(tmp_path)


def test_a_missing_file_and_an_unknown_feature(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not found"):
        ParaphraseModel.load(tmp_path / "none")
    model = LogisticModel((Feature("bleu1", 2.0, 0.5, 0.5, 0.0, 1.0),), 0.25)
    ParaphraseModel((model,), {}, {}).save(tmp_path)
    content = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    del content["models"][0]["features"][0]["weight"]
    (tmp_path / FILE).write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelError, match="damaged"):
        ParaphraseModel.load(tmp_path)


@pytest.mark.parametrize(
    "wrong", [{"features": ()}, {"features": ("bleu1",), "fallbacks": ((),)}, {"features": ("bleu1",), "l2": -1},
              {"features": ("bleu1",), "loose": 0.4}, {"features": ("bleu1",), "strict": 1.0}],
)  # fmt: skip
def test_bad_configurations(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ParaphraseModelConfig(**wrong)


def test_a_file_of_format_1_has_its_threshold_in_the_condition(tmp_path: Path) -> None:
    preset = {"where": "p_paraphrase >= 0.85 and chrf <= 90", "plain": "bleu1 >= 0.5"}
    content = {"format": 1, "card": {}, "presets": {"strict": preset}, "models": []}
    (tmp_path / FILE).write_text(json.dumps(content), encoding="utf-8")
    assert ParaphraseModel.load(tmp_path).presets == {"strict": Preset(0.85, preset["where"])}


def test_the_judge_is_read_as_log_odds() -> None:
    alone = LogisticModel((Feature("judge", 1.5, 0.5, 2.0, -9.0, 9.0),), -0.25)
    assert alone.probability({"judge": [0.0, 1.0]}).tolist() == pytest.approx(
        [1 / (1 + np.exp(0.25 + 1.5 * (9.0 + 0.5) / 2)), 1 / (1 + np.exp(0.25 - 1.5 * (9.0 - 0.5) / 2))]
    )


def test_a_reverse_cost_counts_only_within_the_depth_of_its_translator() -> None:
    assert within_depth(np.array([2.0, 2.0, 2.0]), np.array([0.2, 0.9, np.nan])).tolist() == pytest.approx(
        [2.0, np.nan, 2.0], nan_ok=True
    )
    by_cost = LogisticModel((Feature("reverse_cost", -2.0, 1.0, 1.0, 0.0, 9.0),), 0.0)
    by_overlap = LogisticModel((Feature("bleu1", 2.0, 0.0, 1.0, 0.0, 1.0),), 0.0)
    rows = {"src": ["a b"] * 2, "tgt": ["a b"] * 2, "bleu1": [1.0] * 2, "reverse_cost": [3.0] * 2}
    batch = pa.RecordBatch.from_pydict({**rows, "reverse_out_of_depth": [0.3, 0.97]})
    values = score(batch, paraphrase_scorers(ParaphraseModel((by_cost, by_overlap), {}, {}))).column("p_paraphrase")
    expected = [1 / (1 + np.exp(4)), 1 / (1 + np.exp(-2))]
    assert values.to_pylist() == pytest.approx(expected)


def test_pairs_with_costs_are_fitted_as_they_are_and_others_as_if_half_were_right() -> None:
    random = np.random.default_rng(5)
    labels = (random.random(4000) < 0.2).astype(float)
    costs, overlap = 1 - 0.3 * labels + random.normal(size=(2, 4000)) * 0.4
    scores = {"translation_cost": costs, "bleu1": -overlap}
    config = ParaphraseModelConfig(features=("translation_cost",), fallbacks=(("bleu1",),), strict=0.6, balanced=0.55,
                                   loose=0.5)  # fmt: skip
    with_costs, without = train_paraphrase_model(scores, labels, ["a"] * 4000, [""] * 4000, config).models
    assert with_costs.probability(scores).mean() == pytest.approx(0.2, abs=0.02)
    weights = balanced_weights(labels, ["a"] * 4000, [""] * 4000)
    assert np.average(without.probability(scores), weights=weights) == pytest.approx(0.5, abs=0.02)
    assert row_probabilities((with_costs, without), {**scores, "translation_cost": np.full(4000, np.nan)}) == (
        pytest.approx(without.probability(scores))
    )
    assert set_weights(["a", "b", "b"]).tolist() == pytest.approx([1.5, 0.75, 0.75])


def test_one_class_is_refused() -> None:
    config = ParaphraseModelConfig(features=("bleu1",))
    with pytest.raises(DataError, match="all 3 pairs are labeled as right"):
        train_paraphrase_model({"bleu1": [1, 2, 3]}, [1, 1, 1], ["a"] * 3, [""] * 3, config)
    with pytest.raises(DataError, match="undefined for all"):
        train_paraphrase_model({"bleu1": [np.nan] * 2}, [1, 0], ["a"] * 2, [""] * 2, config)


def test_each_pair_is_scored_by_the_first_regression_whose_scores_it_has() -> None:
    by_cost = LogisticModel((Feature("translation_cost", -2.0, 1.0, 1.0, 0.0, 9.0),), 0.0)
    by_overlap = LogisticModel((Feature("bleu1", 2.0, 0.0, 1.0, 0.0, 1.0),), 0.0)
    (scorer,) = paraphrase_scorers(ParaphraseModel((by_cost, by_overlap), {}, {}))
    rows = {"src": ["a b", "a b"], "tgt": ["a b", "a b"], "bleu1": [1.0, 1.0], "translation_cost": [3.0, None]}
    batch = pa.RecordBatch.from_pydict({**rows, "logprob": [-3.0, None], "tokens": [1, None]})
    expected = [1 / (1 + np.exp(4)), 1 / (1 + np.exp(-2))]
    assert scorer.compute(PairBatch(batch)).tolist() == pytest.approx(expected)
