"""Tables of encoders and filters: their rows, orders and conditions, from measurements that are made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.schema import PAIRS
from paraloom.evaluate.published import W17_MEAN, YEARS_MEAN
from paraloom.evaluate.sts_tasks import TASKS, STSPairs
from paraloom.io import Corpus, write_corpus
from paraloom.papers.measurements import ALL_TASKS, Measurements, combined_estimate
from paraloom.papers.pnmt import architecture_tables, megabatch_tables
from paraloom.papers.published import PAPERS
from paraloom.papers.study import Study, padded_vectors
from paraloom.papers.tables import ReproducedTable, table_json
from paraloom.papers.trainings import (
    GIVEN_VECTORS,
    OVERLAP,
    TrainedEncoders,
    Training,
    shares,
    slug,
    untrained,
)
from paraloom.papers.w17 import selection_tables, source_tables

MODULES = (source_tables, megabatch_tables, architecture_tables, selection_tables)
PAIRS_PER_TASK = 40
SOURCES = ("news", "talks")


def tasks() -> list[STSPairs]:
    """The default tasks, with random scores."""
    rng = np.random.default_rng(1)
    return [STSPairs(task, rng.random(PAIRS_PER_TASK), [], []) for task in TASKS if task.default]


def noisy(data: list[STSPairs], noise: float, seed: int) -> np.ndarray:
    """Similarities that are the scores and noise."""
    scores = np.concatenate([pairs.scores for pairs in data])
    return scores + noise * np.random.default_rng(seed).standard_normal(len(scores))


def test_a_figure_is_the_mean_over_seeds_with_its_range() -> None:
    data = tasks()
    measured = Measurements(data, {"a": np.stack([noisy(data, 0.1, 1), noisy(data, 0.3, 2)])}, resamples=10)
    by_hand = []
    for row in (noisy(data, 0.1, 1), noisy(data, 0.3, 2)):
        columns = row.reshape(len(data), PAIRS_PER_TASK)
        r = [100 * np.corrcoef(pairs.scores, column)[0, 1] for pairs, column in zip(data, columns, strict=True)]
        of_year = [np.mean([x for x, pairs in zip(r, data, strict=True) if pairs.task.group == "2012"])]
        by_hand.append(float(of_year[0]))
    assert measured.values("a", "2012") == pytest.approx(by_hand)
    assert measured.figure("a", "2012") == pytest.approx((np.mean(by_hand), min(by_hand), max(by_hand), *by_hand))
    assert measured.values(["a", "a"], YEARS_MEAN) == pytest.approx(measured.values("a", YEARS_MEAN))


def test_a_difference_has_an_interval_over_pairs_and_seeds() -> None:
    data = tasks()
    good = np.stack([noisy(data, 0.2, seed) for seed in (1, 2, 3)])
    bad = np.stack([noisy(data, 0.6, seed) for seed in (4, 5, 6)])
    measured = Measurements(data, {"good": good, "bad": bad, "fixed": bad[:1]}, resamples=200)
    better = measured.difference("good", "bad", W17_MEAN)
    assert 0 < better.low < better.value < better.high
    opposite = measured.difference("bad", "good", W17_MEAN)
    assert opposite.value == pytest.approx(-better.value) and opposite.high < 0
    same = measured.difference("good", "good", W17_MEAN)
    assert same.low < 0 < same.high and same.value == 0
    # Seeds widen the interval of the test pairs alone.
    alone = Measurements(data, {"good": good[:1], "fixed": bad[:1]}, resamples=200).difference("good", "fixed", "2012")
    assert alone.low < alone.value < alone.high


def test_both_parts_of_an_interval_are_combined() -> None:
    resampled = np.array([1.0, 3.0])
    pairs_alone = combined_estimate([2.0], [0.0], resampled)
    # The standard deviation of the samples is 1.
    assert pairs_alone.high - pairs_alone.value == pytest.approx(1.96, abs=0.001)
    both = combined_estimate([70.0, 71.0, 72.0], [68.0, 69.0, 70.0], resampled)
    assert both.high - both.value == pytest.approx((1.96**2 + 2.267**2) ** 0.5, abs=0.001)
    # Against something that is not trained: Student's t with two degrees of freedom, 4.303 · 1 / √3.
    one = combined_estimate([70.0, 71.0, 72.0], [68.0], np.zeros(2))
    assert one.high - one.value == pytest.approx(2.484, abs=0.001)


def test_distances_between_encoders() -> None:
    data = tasks()
    measured = Measurements(data, {"a": noisy(data, 0.2, 1)[None], "b": noisy(data, 0.5, 2)[None]}, resamples=20)
    (value,), resampled = measured.distances("a", "b", ALL_TASKS)
    by_task = [abs(measured.values("a", task.task.name)[0] - measured.values("b", task.task.name)[0]) for task in data]
    assert value == pytest.approx(float(np.mean(by_task))) and resampled.shape == (20,)


def test_pairs_are_drawn_equally_from_all_sources() -> None:
    assert shares([1000, 10, 50], 90) == [40, 10, 40]
    assert shares([3, 3], 100) == [3, 3]
    assert slug("AVG, news, tgt_tokens >= 11 and tgt_tokens <= 20") == (
        "avg-news-tgt-tokens-from-11-and-tgt-tokens-upto-20"
    )


def test_vectors_continue_with_zeros(tmp_path: Path) -> None:
    vectors = tmp_path / "given.txt"
    vectors.write_text("dog 1 2\ncat 3 4\n", encoding="utf-8")
    array = padded_vectors(vectors, 4, tmp_path / "wide")
    assert np.load(array).tolist() == [[1, 2, 0, 0], [3, 4, 0, 0]]
    assert array.with_suffix(".txt").read_text(encoding="utf-8") == "dog\ncat\n"
    with pytest.raises(Exception, match="more than the 1 of the network"):
        padded_vectors(vectors, 1, tmp_path / "narrow")


@pytest.fixture
def corpora(tmp_path: Path) -> dict[str, Path]:
    """Scored pairs by source, with enough pairs in each range of length."""
    schema = pa.schema([*PAIRS, ("tgt_tokens", pa.int32())])
    folders = {}
    for source in (*SOURCES, "simple"):
        rows = [
            {
                "pair_id": f"{source}:{i}",
                "src": " ".join(["the", "dog", f"number{i}", "of", "the", "house"]),
                "tgt": f"dog {i}",
                "src_lang": "en",
                "tgt_lang": "en",
                "origin": source,
                "tgt_tokens": 5 + 10 * (i % 4) + (source == "news"),
            }
            for i in range(1300)
        ]
        folders[source] = tmp_path / "scored" / source
        write_corpus(folders[source], [pa.RecordBatch.from_pylist(rows, schema=schema)], kind="PAIRS", shard_rows=2000)
    return folders


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch, corpora: dict[str, Path], tmp_path: Path) -> Study:
    """A study whose trainings are not done: later ones of a table are better by their noise."""
    calls: dict[str, Mapping[str, Training]] = {}

    def train(study: Study, name: str, trainings: Mapping[str, Training]) -> TrainedEncoders:
        calls[name] = trainings
        data = tasks()
        measured: dict[str, Any] = {}
        for index, (key, training) in enumerate(trainings.items()):
            assert training.size > 0 and all(folder.is_dir() for folder in training.corpora)
            noise = 1.0 / (1 + index)
            measured[key] = np.stack([noisy(data, noise, 10 * index + seed) for seed in range(study.seeds)])
            measured[untrained(key)] = np.stack([noisy(data, 2.0, seed) for seed in range(study.seeds)])
        measured[OVERLAP] = measured[GIVEN_VECTORS] = noisy(data, 1.5, 999)[None]
        folders = {key: [tmp_path] * study.seeds for key in trainings}
        selections = {key: [list(training.corpora)] * study.seeds for key, training in trainings.items()}
        return TrainedEncoders(Measurements(data, measured, resamples=50), folders, selections)

    def selected(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
        return [{"selection": "random"}, *({"selection": c.label} for c in arguments[0].candidates())]

    for module in MODULES:
        monkeypatch.setattr(module, "train", train)
    monkeypatch.setattr(selection_tables, "compare_candidates", selected)
    scored = {source: corpora[source] for source in SOURCES}
    monkeypatch.setattr(Study, "scored", lambda self: scored)
    monkeypatch.setattr(Study, "judged", lambda self: scored)
    monkeypatch.setattr(Study, "surface_scored", lambda self: scored)
    human = {"Simple Wikipedia": corpora["simple"], "PPDB": corpora["talks"]}
    monkeypatch.setattr(Study, "human_pairs", lambda self: human)
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("dog 1 2\ncat 3 4\n", encoding="utf-8")
    curve = [
        {"epoch": 0, "dev": {"dev_pearson": 40.0}},
        {"epoch": 1, "loss": 0.1},
        {"epoch": 1, "dev": {"dev_pearson": 50.0}},
    ]
    (tmp_path / "curve.jsonl").write_text("\n".join(map(json.dumps, curve)), encoding="utf-8")
    chooses = tmp_path / "chooses.tsv"
    chooses.write_text("5\ta dog\ta dog\n0\ta dog\ta bank\n", encoding="utf-8")
    sources = {source: str(folder) for source, folder in scored.items()}
    return Study(
        sources=sources,
        sts=str(chooses),
        folder=tmp_path / "run",
        vectors=vectors,
        size=200,
        recurrent_size=100,
        seeds=2,
    )


ALL = {name: table for module in MODULES for name, table in module.TABLES.items()}


@pytest.mark.parametrize("name", ALL)
def test_every_table_has_starts_baselines_conditions_and_verdicts(name: str, study: Study) -> None:
    table = ALL[name](study, name)
    text = table.format()
    assert "| start | paragram-sl999, 300 dimensions | word vectors of 2 dimensions (vectors.txt)" in text
    assert "| seeds | not stated | 2, each with other pairs" in text
    assert all(condition.why or condition.ours == condition.paper for condition in table.conditions)
    assert ReproducedTable.from_dict(json.loads(table_json(table.to_dict()))).format() == text
    assert "untrained" in text and OVERLAP in text
    assert table.orders and f"Of {sum(order.counted for order in table.orders)} order" in text
    assert all(order.published is None or order.published > 0 for order in table.orders)
    if name != "pnmt-10":
        assert "| given vectors averaged |" in text
    columns = len(table.columns or table.paper.columns)
    assert all(len(figures) == columns for _, figures in table.rows)
    assert table.to_dict()["orders"] == [order.to_dict() for order in table.orders]


@pytest.mark.parametrize("name", [name for name in ALL if name not in architecture_tables.RECURRENT_TABLES])
def test_tables_without_recurrent_encoders(name: str, study: Study) -> None:
    fewer = Study(**{**vars(study), "recurrent_size": 0})
    assert "GRAN above" not in ALL[name](fewer, name).format()


def test_the_paper_is_printed_with_the_orders_that_it_has(study: Study) -> None:
    text = ALL["w17-4"](study, "w17-4").format()
    assert "| German News, paper | 66.5 | 64.7 |" in text
    assert "| GRAN above AVG on Simple Wikipedia | +1.4 |" in text and "| AVG above GRAN on PPDB | +1.3 |" in text
    assert "| GRAN: Simple Wikipedia above PPDB | +2.7 |" in text
    text = ALL["pnmt-8"](study, "pnmt-8").format()
    assert "| WORD,TRIGRAM above WORD,TRIGRAM, Simple Wikipedia | +4.15 |" in text
    assert "LSTM, 900, ours" in text and "given vectors continued with zeros" in text
    text = ALL["w17-5"](study, "w17-5").format()
    assert "| GRAN: 0-10 above 30-100 | +1.8 |" in text
    assert "Simple Wikipedia: 10-20 above 0-10" in text


def test_sources_without_long_sentences_have_no_ranges(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection_tables, "MIN_PAIRS", 5000)
    with pytest.raises(Exception, match="no source has 5000 pairs in each range of length"):
        ALL["w17-5"](study, "w17-5")


def test_tenths_are_cut_of_the_pairs_whose_sides_differ(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [
        {"pair_id": str(i), "src": f"dog {i}", "tgt": f"dog {i}" if i % 4 == 0 else f"hound {i}", "origin": "news"}
        for i in range(40)
    ]
    folder = study.folder.parent / "with-copies"
    write_corpus(folder, [pa.RecordBatch.from_pylist(pairs, schema=PAIRS)], kind="PAIRS", shard_rows=100)
    kept = Corpus.open(selection_tables.without_copies(study, "news", folder))
    ids = [row["pair_id"] for batch in kept.batches(["pair_id"]) for row in batch.to_pylist()]
    assert ids == [str(i) for i in range(40) if i % 4]
    monkeypatch.setattr(Study, "scored", lambda self: {"news": folder})
    listed = {condition.name: condition.ours for condition in ALL["pnmt-5"](study, "pnmt-5").conditions}
    assert listed["pairs that are ranked"] == "30 of news, without 10 whose sides are equal"
    assert listed["pairs of a training"] == "at most 3"


def test_published_tables_are_complete() -> None:
    for name in ("w17-4", "w17-13", *(f"pnmt-{number}" for number in (4, 5, 6, 8, 9, 10))):
        assert name in PAPERS
