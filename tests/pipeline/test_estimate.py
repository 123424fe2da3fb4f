"""What a run will take: samples from all over the inputs, and lines through two of them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Command
from openai_server import serve

from paraloom import Pipeline
from paraloom.core.errors import ConfigError
from paraloom.core.stage import Stage
from paraloom.io import Corpus
from paraloom.pipeline.counts import RowCounts
from paraloom.pipeline.estimate import (
    RunEstimate,
    StageEstimate,
    _expected_seconds,
    _extend,
    _line,
    _Measured,
    _shard_line,
    _steady,
    _timed_shards,
    read_estimate,
    settings_of,
)
from paraloom.pipeline.manifest import Manifest, ShardRecord
from paraloom.pipeline.result import RunResult, StageResult
from paraloom.pipeline.runner import StagePlan
from paraloom.pipeline.sampling import on_samples, sample_inputs
from paraloom.stages import BackTranslate, DistillTransformer, Filter, LoadEndpoint, ReadPairs, Score
from paraloom.web.run_folder import open_run


def write_pairs(folder: Path, rows: int) -> Path:
    path = folder / "pairs.de-en.tsv"
    path.write_text("".join(f"source {row}\ttarget {row}\n" for row in range(rows)), encoding="utf-8")
    return path


def sampled(stages: list[Stage], rows: int) -> tuple[Any, Any]:
    definition = Pipeline(stages).definition
    return definition, sample_inputs(definition, definition.steps, rows)


def numbers(sample: Any) -> list[int]:
    return [int(text.split()[1]) for block in sample.blocks for text in block.column("src").to_pylist()]


@pytest.mark.parametrize(("total", "rows"), [(1, 100), (59, 60), (100, 100), (5_000, 100), (12_345, 200)])
def test_a_sample_is_spread_over_all_rows_and_counts_them(tmp_path: Path, total: int, rows: int) -> None:
    _, samples = sampled([ReadPairs(source=write_pairs(tmp_path, total))], rows)
    sample = samples["read-pairs"]
    chosen = numbers(sample)
    assert sample.rows == total
    assert chosen == sorted(set(chosen))
    assert min(rows, total) <= len(chosen) <= max(2 * rows, 60)
    largest = max(b - a for a, b in pairwise(chosen)) if total > 1 else 1
    assert largest <= 10 * total / rows + 1, "no part of the input is left out"
    assert set(numbers(sample.every(3))) <= set(chosen)
    if total > rows:
        assert sample.every(3).sampled == pytest.approx(sample.sampled / 3, abs=20)


def test_a_corpus_outside_of_the_run_is_sampled_too(tmp_path: Path) -> None:
    read = Pipeline([ReadPairs(source=write_pairs(tmp_path, 1000))]).run(tmp_path / "run", engine="inline")
    corpus = read.stages[0].folder
    definition, samples = sampled([Score(input=corpus, scores=("length",))], 60)
    assert samples[str(corpus)].rows == Corpus.open(corpus).rows == 1000
    smaller = on_samples(definition, definition.steps, samples, num_steps=10, num_shards=2)
    assert [step.name for step in smaller.steps] == ["input-1", "score"]
    assert smaller.steps[1].source == "input-1"


def test_filters_draw_the_same_share_and_trainings_have_few_updates(tmp_path: Path) -> None:
    stages: list[Stage] = [ReadPairs(source=write_pairs(tmp_path, 8000)), Filter(sample=4000)]
    definition, samples = sampled(stages, 100)
    smaller = on_samples(definition, definition.steps, samples, num_steps=10, num_shards=2)
    assert smaller.steps[1].stage.sample == round(samples["read-pairs"].sampled / 2)  # type: ignore[attr-defined]

    training = DistillTransformer(sentences=(tmp_path,), teacher=tmp_path, steps=6000)
    definition = Pipeline([training]).definition
    smaller = on_samples(definition, definition.steps, {}, num_steps=10, num_shards=2)
    assert smaller.steps[0].stage.steps == 10  # type: ignore[attr-defined]


def result(name: str, read: int, out: int, seconds: float, kind: Any = "map") -> StageResult:
    counts = RowCounts(read=read, kept=out, rejected=read - out, out=out)
    return StageResult(name, Path("10-" + name), kind, "0", counts, seconds=seconds, memory=100)


def test_seconds_of_a_shard_of_a_row_and_for_models(tmp_path: Path) -> None:
    # Shards of 100 and of 300 rows take 2 and 4 s: 0.01 s a row and 1 s a shard. The first one of each of 2 workers
    # loads models; 30 s for 5 shards and 1,500 rows leave 10 s. Reading makes 2 shards; two rows of three are kept.
    reading = ReadPairs(source=write_pairs(tmp_path, 9000), shard_rows=4500)
    definition, samples = sampled([reading, Filter(where="true")], 900)
    step, before = definition.steps[1], StageEstimate("read-pairs", "source", 9000, 9000, 0, 0, 0, 0, 1, shards=2)
    shards = [[(rows, 9.0)] * 2 + [(rows, seconds)] * 3 for rows, seconds in ((100, 2.0), (300, 4.0))]
    small = _Measured(
        {"filter": result("filter", 500, 400, 24.0)}, {"filter": 500}, {"filter": 1}, {"filter": shards[0]}
    )
    large = _Measured(
        {"filter": result("filter", 1500, 1000, 30.0)}, {"filter": 1500}, {"filter": 3000}, {"filter": shards[1]}
    )
    estimate = _extend(step, [before], samples, small, large, workers=2)
    assert (estimate.units, estimate.rows, estimate.disk, estimate.shards) == (9000, 6000, 18_000, 2)
    assert estimate.seconds_once == pytest.approx((30 - 5 * 1 - 15) / 2)
    assert estimate.seconds_all == pytest.approx(2 * 1 + 90)
    assert estimate.seconds(2) == pytest.approx(5 + 46)


def test_a_line_through_two_samples() -> None:
    assert _line(11.0, 17.0, 300, 900, 9000, "fit") == (pytest.approx(0.01), pytest.approx(8.0))
    assert _line(2.0, 1.8, 300, 900, 9000, "fit") == (0.0, 1.8)
    assert _line(2.0, 1.8, 300, 900, 9000, "source") == (pytest.approx(0.002), 0.0)
    assert _line(2.0, 1.8, 900, 900, 900, "source") == (0.0, 1.8)


def test_loading_a_model_does_not_count_as_the_work_of_rows(tmp_path: Path) -> None:
    shards = {"part-00000.parquet": 5.0, "part-00001.parquet": 1.0, "part-00002.parquet": 1.2}
    manifest = Manifest(tmp_path)
    for name, seconds in shards.items():
        (tmp_path / name).touch()
        counts = RowCounts(read=100, kept=100, out=100)
        manifest.put("shard", ShardRecord(name, "k", {}, "", counts, seconds, 0).as_dict(), name)
    timed = _timed_shards(StageResult("score", tmp_path, "map", "0"))
    assert timed == [(100, 5.0), (100, 1.0), (100, 1.2)]
    assert _steady(timed, 1) == [(100, 1.0), (100, 1.2)]
    assert _steady(timed[:1], 1) == timed[:1]


@pytest.mark.parametrize(
    ("small", "large", "constant", "rate"),
    [
        ((100, 2.0), (300, 4.0), 1.0, 0.01),
        ((100, 2.0), (300, 2.0), 2.0, 0.0),
        ((100, 2.0), (300, 1.5), 1.5, 0.0),
        ((100, 1.0), (300, 6.0), 0.0, 0.02),
        ((300, 6.0), (300, 6.0), 0.0, 0.02),
    ],
)
def test_a_line_through_shards_of_two_sizes(small: Any, large: Any, constant: float, rate: float) -> None:
    line = _shard_line([small], [large], 5000)
    assert line == (pytest.approx(constant), pytest.approx(rate), (1.0, 1.0))


def test_the_work_of_maps_is_shared_out_and_that_of_trainings_is_not() -> None:
    mapping = StageEstimate("translate", "map", 100, 100, 1.0, 80.0, 10, 5, 10)
    training = StageEstimate("train", "fit", 100, 0, 2.0, 60.0, 30, 7, 10)
    estimate = RunEstimate("example", 4, (mapping, training))
    assert estimate.wall_seconds() == 1 + 20 + 2 + 60
    assert estimate.wall_seconds(8) == 1 + 10 + 2 + 60
    assert (estimate.memory, estimate.disk) == (40, 12)


def test_shards_are_not_divided() -> None:
    # One shard and a fifth: the second worker has little to do, further ones nothing.
    mapping = StageEstimate("translate", "map", 6000, 6000, 1.0, 60.0, 10, 5, 10, shards=1.2)
    assert mapping.seconds(1) == pytest.approx(61.0)
    assert mapping.seconds(2) == mapping.seconds(8) == pytest.approx(51.0)
    # Eleven shards, of which two workers do six and five.
    mapping = StageEstimate("translate", "map", 6000, 6000, 1.0, 60.0, 10, 5, 10, shards=11)
    assert mapping.seconds(2) == pytest.approx(1 + 60 * 6 / 11)


def test_the_interval_of_a_line_covers_it() -> None:
    # A shard of 5,000 rows takes 1 + 5 s; those of the samples differ by a tenth.
    draw, covered, rounds = np.random.default_rng(1), 0, 200
    for _ in range(rounds):
        few, many = ([(rows, (1 + 0.001 * rows) * share) for share in draw.normal(1, 0.1, 10)] for rows in (400, 4000))
        constant, rate, (low, high) = _shard_line(few, many, 5000)
        expected = constant + rate * 5000
        covered += low * expected <= 6 <= high * expected
    assert 0.85 < covered / rounds <= 1.0


def test_intervals_add_up_and_machines_have_them() -> None:
    mapping = StageEstimate("translate", "map", 100, 100, 1.0, 80.0, 10, 5, 10, shards=40, spread=(0.5, 2.0))
    training = StageEstimate("train", "fit", 100, 0, 2.0, 60.0, 30, 7, 10, spread=(1.0, 1.5))
    estimate = RunEstimate("example", 4, (mapping, training), own_memory=7)
    assert (estimate.wall_seconds(end=0), estimate.wall_seconds(end=1)) == (1 + 10 + 62, 1 + 40 + 2 + 90)
    assert replace(estimate, start=3.0).wall_seconds(end=0) == 3 + 1 + 10 + 62
    one, four, *_, largest = estimate.machines()
    assert (one["cores"], four["cores"], largest["cores"]) == (1, 4, 1000)
    assert (one["seconds"], one["high"], largest["seconds"]) == (1 + 80 + 62, 1 + 160 + 92, 1 + 2 + 62)
    assert (one["memory"], four["memory"], largest["memory"]) == (37, 47, 407), "no more workers than shards"
    assert json.loads(json.dumps(estimate.to_dict()))["machines"] == estimate.machines()


def test_a_gpu_decodes_and_other_work_widens_the_interval() -> None:
    mapping = StageEstimate("translate", "map", 100, 100, 1.0, 80.0, 10, 5, 10, shards=40, decoded=3000)
    scoring = StageEstimate("score", "map", 100, 100, 0.0, 20.0, 10, 5, 10, shards=40)
    estimate = RunEstimate("example", 4, (mapping, scoring), slowed=2.0, gpu=500.0)
    assert [estimate.wall_seconds(end=end) for end in (0, None, 1)] == [13, 26, 52]
    assert estimate.machines()[-1] == {
        "cores": 4, "seconds": 1 + 6 + 5, "low": 6, "high": 24, "memory": 40, "tokens_per_second": 500.0
    }  # fmt: skip
    text = estimate.scaled(2).format()
    assert "4, a GPU of 500 tokens/s" in text
    assert "Tokens to be decoded: 6,000 by translate." in text
    assert "took 2.0 times their processor time" in text


def test_a_larger_sample_is_not_taken_where_the_smaller_one_was_slow_at_first(tmp_path: Path) -> None:
    def measured(rows: int, seconds: float) -> _Measured:
        return _Measured({"score": StageResult("score", tmp_path, "map", "0", seconds=seconds)}, {"score": rows}, {})

    assert _expected_seconds(measured(700, 60.0), measured(2100, 60.0)) == pytest.approx(540), "60 s for 2,100 rows"
    assert _expected_seconds(measured(700, 3.0), measured(2100, 4.4)) == pytest.approx(18.9), (
        "3 s once, then 0.001 a row"
    )


def test_what_is_done_takes_no_time_any_more(tmp_path: Path) -> None:
    reading = StageEstimate("read", "source", 100, 100, 0.0, 10.0, 10, 50, 10)
    mapping = StageEstimate("score", "map", 100, 100, 1.0, 80.0, 10, 5, 10, shards=4, requests=40)
    training = StageEstimate("train", "fit", 6000, 0, 2.0, 60.0, 30, 7, 10, is_fixed=True)
    plans = [
        StagePlan("read", tmp_path, "done", "", 4, 4),
        StagePlan("score", tmp_path, "run", "unfinished", 3, 4),
        StagePlan("train", tmp_path, "run", "its input has to run first"),
    ]
    left = RunEstimate("example", 1, (reading, mapping, training)).remaining(plans)
    assert [(stage.name, stage.units, stage.requests) for stage in left.stages] == [
        ("score", 25, 10),
        ("train", 6000, 0),
    ]
    assert left.wall_seconds() == 1 + 20 + 62
    assert "not counted: read, score." in left.format()


def test_more_rows_take_more_time_but_not_more_updates() -> None:
    reading = StageEstimate("read", "source", 100, 100, 0.0, 1.0, 10, 50, 10)
    training = StageEstimate("train", "fit", 6000, 0, 2.0, 60.0, 30, 7, 10, is_fixed=True)
    estimate = RunEstimate("example", 4, (reading, training)).scaled(100)
    assert estimate.input_rows == 10_000
    assert estimate.wall_seconds() == 100 + 62
    assert estimate.disk == 5007


def test_expected_beside_taken(tmp_path: Path) -> None:
    mapping = StageEstimate("translate", "map", 100, 100, 1.0, 80.0, 10, 5, 10)
    estimate = RunEstimate("example", 4, (mapping,))
    took = StageResult("translate", Path("10"), "map", "0", seconds=42.0, shards=2, written=2)
    lines = estimate.compare(RunResult(tmp_path, (took,))).splitlines()
    assert lines[1].split() == ["translate", "84.0", "84.0", "84.0", "42.0", "0.50"]
    on_the_clock = estimate.compare(RunResult(tmp_path, (took,)), 10.5).splitlines()[-1]
    assert on_the_clock.split()[-3:] == ["21.0", "10.5", "0.50"]
    resumed = StageResult("translate", Path("10"), "map", "0", seconds=42.0, shards=2, written=1)
    assert estimate.compare(RunResult(tmp_path, (resumed,))) == ""


def test_the_command_prints_it_and_the_run_compares(paraloom: Command, tmp_path: Path) -> None:
    write_pairs(tmp_path, 500)
    pipeline = tmp_path / "pipeline.toml"
    pipeline.write_text(
        'name = "small"\n[[stage]]\nuse = "read-pairs"\nsource = "pairs.de-en.tsv"\n'
        '[[stage]]\nuse = "score"\nscores = ["length"]\n'
    )
    arguments = ["run", str(pipeline), "-o", str(tmp_path / "run"), "--workers", "1"]
    status, output, errors = paraloom(*arguments, "--plan", "--plan-rows", "100")
    assert status == 0, errors
    assert "whole run" in output and "100 " in output
    saved = read_estimate(tmp_path / "run")
    assert saved is not None and [stage.units for stage in saved.stages] == [500, 500]
    status, output, errors = paraloom(*arguments)
    assert status == 0, errors
    assert "expected, s" in output
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert ">predicted</th>" in page and "work ÷ predicted" in page
    # Other settings are another run, of which nothing was predicted; the estimate changes no digest.
    digest = json.loads((tmp_path / "run" / "run.json").read_text())["digest"]
    (tmp_path / "run" / "estimate.json").unlink()
    assert paraloom(*arguments)[0] == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["digest"] == digest
    assert "predicted" not in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    _, output, _ = paraloom(*arguments, "--plan", "--plan-rows", "100", "--json")
    assert (json.loads(output)["stages"], json.loads(output)["done"]) == ([], ["read-pairs", "score"])


def test_requests_follow_a_line_through_both_samples(tmp_path: Path) -> None:
    # 12 requests find out what the server supports, whatever the number of rows; then 2 a row.
    definition, samples = sampled([ReadPairs(source=write_pairs(tmp_path, 9000)), Filter(where="true")], 900)
    asked = {
        rows: replace(
            result("filter", rows, rows, 1.0),
            figures={"requests": 12 + 2 * rows, "input_tokens": 20 * rows, "output_tokens": 0, "cost": 0.001 * rows},
        )
        for rows in (300, 900)
    }
    small = _Measured({"filter": asked[300]}, {"filter": 300}, {"filter": 0})
    large = _Measured({"filter": asked[900]}, {"filter": 900}, {"filter": 0})
    stage = _extend(definition.steps[1], [], samples, small, large, workers=1)
    assert (stage.requests, stage.input_tokens, stage.output_tokens) == (18_012, 180_000, 0)
    assert stage.cost == pytest.approx(9.0)
    estimate = RunEstimate("example", 1, (stage,))
    assert "filter sends 18,012 requests: 180,000 tokens in, 0 tokens out, cost 9.00." in estimate.format()
    assert estimate.scaled(2).cost == estimate.scaled(2).to_dict()["cost"] == pytest.approx(18.0)
    took = StageResult("filter", tmp_path, "map", "0", shards=1, written=1, figures={"requests": 18_012, "cost": 4.5})
    lines = estimate.compare(RunResult(tmp_path, (took,))).splitlines()
    assert lines[-2:] == [
        "filter: requests expected 18,012, took 18,012, ratio 1.00",
        "filter: cost expected 9.00, took 4.50, ratio 0.50",
    ]


@pytest.mark.slow
def test_what_an_endpoint_will_be_asked_for_is_what_it_is_asked_for(tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path, 600)
    with serve() as server:
        endpoint = LoadEndpoint(
            name="endpoint", url=server.url, model="m", source="de", target="en", input_price=5.0, output_price=10.0,
            answers=str(tmp_path / "answers.sqlite"),
        )  # fmt: skip
        stages = [ReadPairs(source=pairs, shard_rows=100), endpoint, BackTranslate(translator=endpoint)]
        pipeline = Pipeline([*stages[:2], replace(stages[2], decode="greedy", check_languages=False)])
        estimate = pipeline.estimate(workers=1, rows=90)
        assert not (tmp_path / "answers.sqlite").exists()
        sent = len(server.bodies)
        took = pipeline.run(tmp_path / "run", workers=1).stages[-1].figures
    stage = estimate.stages[-1]
    for name in ("requests", "input_tokens", "output_tokens", "cost"):
        assert getattr(stage, name) == pytest.approx(took[name], rel=0.1)
    assert stage.sample_requests == sent
    kept = sum(path.stat().st_size for path in tmp_path.glob("answers.sqlite*"))
    assert 0.3 < estimate.stages[1].disk / kept < 3, "the answers of all rows are counted"


def test_too_few_rows_and_failures_on_the_sample_are_named(tmp_path: Path) -> None:
    pipeline = Pipeline([ReadPairs(source=write_pairs(tmp_path, 100)), Filter(where="srk <> ''")])
    with pytest.raises(ConfigError, match="60 rows"):
        pipeline.estimate(rows=10)
    with pytest.raises(ConfigError, match="srk"):
        pipeline.estimate(rows=100, workers=1)


def test_an_estimate_of_other_settings_is_none(tmp_path: Path) -> None:
    stages: list[Stage] = [ReadPairs(source=write_pairs(tmp_path, 100)), Score(scores=("length",))]
    stage = StageEstimate(
        "score", "map", 1, 1, 0.0, 2.0, 0, 0, 1, settings=settings_of(Pipeline(stages).definition.steps[1])
    )
    RunEstimate("pipeline", 1, (stage,)).save(tmp_path / "run")
    assert Pipeline(stages).estimate_in(tmp_path / "run") is not None
    assert Pipeline([stages[0], Score(scores=("bleu1",))]).estimate_in(tmp_path / "run") is None
    Pipeline(stages).run(tmp_path / "run", engine="inline")
    assert open_run(tmp_path / "run").predicted == {"score": 2.0}
    Pipeline([stages[0], Score(scores=("bleu1",))]).run(tmp_path / "run", engine="inline")
    assert open_run(tmp_path / "run").predicted == {}


def test_a_damaged_estimate_is_none(tmp_path: Path) -> None:
    (tmp_path / "estimate.json").write_text('{"stages": [{}]}')
    assert read_estimate(tmp_path) is None
