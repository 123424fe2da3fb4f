"""Filters: what is kept, why the rest is not, and that sharding and order of rows change nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError
from paraloom.pairs.filtering.filters import Criteria, select, survey
from paraloom.pairs.filtering.selection import nth_key

COLUMNS = {
    "pair_id": ["1", "2", "3", "4", "5"],
    "src": ["a", "b", "c", "d", "e"],
    "tgt": ["A", "B", "C", "D", "E"],
    "trigram_overlap": pa.array([0.1, 0.9, float("nan"), None, 0.7], pa.float32()),
    "tgt_tokens": pa.array([5, 5, 5, 5, 40], pa.int32()),
}


def rows() -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(COLUMNS)


@pytest.mark.parametrize(
    ("where", "kept", "reasons"),
    [
        (
            "trigram_overlap <= 0.7",
            "1 5",
            ["not: trigram_overlap <= 0.7", *["undefined: trigram_overlap <= 0.7"] * 2],
        ),
        # NaN is no number: it does not pass a lower bound either.
        ("trigram_overlap >= 0.1", "1 2 5", ["undefined: trigram_overlap >= 0.1"] * 2),
        (
            "trigram_overlap <= 0.7 AND tgt_tokens between 3 and 30",
            "1",
            [
                "not: trigram_overlap <= 0.7",
                *["undefined: trigram_overlap <= 0.7"] * 2,
                "not: tgt_tokens BETWEEN 3 AND 30",
            ],
        ),
        ("trigram_overlap IS NULL or tgt_tokens > 30", "3 4 5", None),
        ("TGT = 'B' -- a comment", "2", None),
        ("src <> ') from (select 1'", "1 2 3 4 5", []),
        ("true", "1 2 3 4 5", []),
        ("null", "", ["undefined: NULL"] * 5),
        ("length(src) = 1 and lower(tgt) = src", "1 2 3 4 5", []),
    ],
)
def test_where(where: str, kept: str, reasons: list[str] | None) -> None:
    chosen = select(Criteria(where=where), rows())
    assert chosen.schema.names == [*COLUMNS, "keep", "reason"]
    assert chosen.column("pair_id").equals(rows().column("pair_id"))
    assert " ".join(chosen.filter(chosen.column("keep")).column("pair_id").to_pylist()) == kept
    given = [reason for reason in chosen.column("reason").to_pylist() if reason]
    assert len(given) == chosen.column("keep").to_pylist().count(False)
    assert reasons is None or given == reasons


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("trigam_overlap < 1", "no column 'trigam_overlap'.*did you mean 'trigram_overlap'"),
        ("tgt_tokens <", "syntax error"),
        ("tgt_tokens < 1)", "syntax error"),
        ("tgt_tokens + 1", "neither true nor false"),
        ("tgt_tokens < 1; drop table rows", "syntax error"),
        ("1 = 1) from range(3) where (true", "not one expression"),
        ("true), (false", "not one expression"),
        ("tgt_tokens > (select 3)", "a query within it"),
        ("avg(tgt_tokens) > 3", "avg is about many rows"),
        ("row_number() over () < 3", "a window"),
        ("random() < 0.5", "random does not give the same"),
        ("tgt_tokens > 'many'", "cannot be used"),
        ("no_such_function(src)", "no_such_function"),
        ("exists(from read_csv('/etc/passwd'))", "a query within it"),
        ("length(read_text('/etc/passwd')) > 0", "read_text"),
        ("", "^$"),
    ],
)
def test_conditions_that_are_refused(where: str, message: str) -> None:
    if not where:
        assert select(Criteria(), rows()).column("keep").to_pylist() == [True] * 5
        return
    with pytest.raises(ConfigError, match=message) as refusal:
        survey(Criteria(where=where), rows().schema, lambda columns: [rows().select(columns)])
        select(Criteria(where=where), rows())
    assert where.split("(")[0].strip() in str(refusal.value) or "column" in message


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        ({"top": 0.5}, "'by'"),
        ({"by": "bleu1"}, "'by'"),
        ({"top": 0.5, "tenth": 1, "by": "bleu1"}, "both choose by rank"),
        ({"top": 1.5, "by": "translation_cost"}, "above 0 to 1"),
        ({"top": 0.5, "by": "trigram_overlap"}, "which end"),
        ({"tenth": 0, "by": "bleu1"}, "'tenth'"),
        ({"sample": 0}, "'sample'"),
        ({"sample": 1.5}, "'sample'"),
        ({"where": "a >"}, "syntax error"),
    ],
)
def test_criteria_that_do_not_fit_together(criteria: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Criteria(**criteria)


def corpus(n: int = 1000) -> pa.RecordBatch:
    draw = random.Random(1)
    return pa.RecordBatch.from_pydict(
        {
            "pair_id": [f"p{i // 2}" for i in range(n)],
            "rank": pa.array([i % 2 for i in range(n)], pa.int32()),
            "src": ["the same"] * n,
            "tgt": ["for all"] * n,
            # Few values, so that ties must be broken; every tenth is undefined.
            "translation_cost": pa.array(
                [None if i % 10 == 0 else draw.randrange(8) / 8 for i in range(n)], pa.float32()
            ),
            "tgt_tokens": pa.array([draw.randrange(40) for _ in range(n)], pa.int32()),
        }
    )


def reading(batches: Iterable[pa.RecordBatch]) -> Callable[[Sequence[str]], Iterable[pa.RecordBatch]]:
    return lambda columns: [batch.select(list(columns)) for batch in batches]


def kept(criteria: Criteria, batches: list[pa.RecordBatch], seed: int = 0) -> list[tuple[str, int]]:
    cuts = survey(criteria, batches[0].schema, reading(batches), seed)
    found = []
    for batch in batches:
        chosen = select(criteria, batch, cuts)
        rows = chosen.filter(chosen.column("keep"))
        found += list(zip(rows.column("pair_id").to_pylist(), rows.column("rank").to_pylist(), strict=True))
    return found


@pytest.mark.parametrize(
    ("criteria", "size"),
    [
        (Criteria(sample=100), 100),
        (Criteria(sample=0.25), 250),
        (Criteria(sample=5000), 1000),
        (Criteria(sample=1.0), 1000),
        (Criteria(top=0.5, by="translation_cost"), 450),
        (Criteria(top=0.001, by="translation_cost"), 1),
        (Criteria(tenth=3, by="translation_cost"), 90),
        (Criteria(where="tgt_tokens < 20", sample=100), 100),
        (Criteria(top=0.5, by="translation_cost", sample=7), 7),
        (Criteria(where="tgt_tokens > 99", sample=7), 0),
        (Criteria(top=0.0001, by="translation_cost"), 0),
    ],
)
def test_cuts_are_exact_and_the_same_in_any_sharding(criteria: Criteria, size: int) -> None:
    whole = corpus()
    found = kept(criteria, [whole])
    assert len(found) == size
    shards = [whole.slice(start, 70) for start in range(0, len(whole), 70)]
    assert kept(criteria, shards) == found
    assert sorted(kept(criteria, shards[::-1])) == sorted(found)


def test_another_seed_draws_another_sample() -> None:
    assert kept(Criteria(sample=100), [corpus()], seed=1) != kept(Criteria(sample=100), [corpus()], seed=2)


def test_tenths_cover_all_that_is_defined_once_and_rise() -> None:
    values = {(row["pair_id"], row["rank"]): row["translation_cost"] for row in corpus().to_pylist()}
    tenths = [kept(Criteria(tenth=k, by="translation_cost"), [corpus()]) for k in range(1, 11)]
    assert sorted(row for tenth in tenths for row in tenth) == sorted(row for row in values if values[row] is not None)
    for lower, upper in pairwise(tenths):
        assert max(values[row] for row in lower) <= min(values[row] for row in upper)


@pytest.mark.parametrize(("best", "expected"), [("lowest", {0.0}), ("highest", {0.875})])
def test_top_takes_the_better_end(best: Any, expected: set[float]) -> None:
    chosen = kept(Criteria(top=0.05, by="translation_cost", best=best), [corpus()])
    values = {(row["pair_id"], row["rank"]): row["translation_cost"] for row in corpus().to_pylist()}
    assert len(chosen) == 45
    assert {values[row] for row in chosen} == expected


def test_the_order_is_where_then_rank_then_sample() -> None:
    criteria = Criteria(where="tgt_tokens < 20", top=0.5, by="translation_cost", sample=10)
    cuts = survey(criteria, corpus().schema, reading([corpus()]))
    reasons = select(criteria, corpus(), cuts).column("reason").to_pylist()
    assert {reason for reason in reasons if reason} == {
        "not: tgt_tokens < 20",
        "undefined: translation_cost",
        "not: among the lowest 0.5 by translation_cost",
        "not: in the sample of 10",
    }
    within = corpus().filter(pa.array([n < 20 for n in corpus().column("tgt_tokens").to_pylist()]))
    defined = len(within) - within.column("translation_cost").null_count
    assert reasons.count("not: among the lowest 0.5 by translation_cost") == defined - int(defined / 2 + 0.5)


@pytest.mark.parametrize("enough", [1, 10, 100_000])
def test_selection_is_sorting(enough: int) -> None:
    draw = np.random.default_rng(0)
    value = np.round(draw.normal(size=500), 1)
    value[:100] = -0.0
    lot = draw.integers(0, 2**64, 500, np.uint64)
    lot[:50] = 9
    ordered = sorted(zip((value + 0.0).tolist(), lot.tolist(), strict=True))
    pieces = [(value[i : i + 99], lot[i : i + 99]) for i in range(0, 500, 99)]
    for n in (1, 2, 77, 250, 499, 500):
        assert nth_key(lambda: pieces, n, enough=enough) == ordered[n - 1]


def test_a_sample_of_more_than_there_is_may_be_an_error(tmp_path):
    import pyarrow as pa

    from paraloom.core.errors import DataError
    from paraloom.core.schema import PAIRS
    from paraloom.io import write_corpus
    from paraloom.pipeline.toml import parse_pipeline
    from paraloom.pipeline.runner import run_pipeline

    row = {"pair_id": "1", "src": "a", "tgt": "b", "src_lang": "en", "tgt_lang": "en", "origin": "x"}
    write_corpus(tmp_path / "pairs", [pa.RecordBatch.from_pylist([row] * 3, schema=PAIRS)], kind="PAIRS")
    text = '[[stage]]\nuse = "filter"\ninput = "pairs"\nsample = 4\n'
    found = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    assert found.stages[-1].counts.kept == 3
    pipeline = parse_pipeline(text + "enough = true\n", file=tmp_path / "p.toml")
    with pytest.raises(DataError, match="4 rows are to be drawn, and there are 3"):
        run_pipeline(pipeline, tmp_path / "other", engine="inline")


def test_survivors_are_counted_before_anything_is_filtered(paraloom, tmp_path):
    import pyarrow as pa

    from paraloom.core.schema import PAIRS
    from paraloom.io import write_table
    from paraloom.pairs.filtering.filters import Criteria, select, survey
    from paraloom.pairs.filtering.survivors import survivors

    rows = [
        {
            "pair_id": str(i),
            "src": "a",
            "tgt": "b",
            "src_lang": "en",
            "tgt_lang": "en",
            "origin": "x",
            "u": i % 10,
            "v": i,
        }
        for i in range(200)
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=pa.schema([*PAIRS, ("u", pa.int64()), ("v", pa.int64())]))

    def read(columns):
        return [batch.select(columns).slice(0, 130), batch.select(columns).slice(130)]

    criteria = Criteria(where="u < 4 and v >= 100", by="v", top=0.5, best="highest", sample=7)
    found = survivors(criteria, batch.schema, read, seed=3)
    assert [(each.criterion, each.alone, each.together) for each in found] == [
        ("u < 4", 80, 80),
        ("v >= 100", 100, 40),
        ("top 0.5 by v", 100, 20),
        ("sample of 7", 7, 7),
    ]
    kept = select(criteria, batch, survey(criteria, batch.schema, read, seed=3)).column("keep").true_count
    assert kept == found[-1].together
    write_table([batch], tmp_path / "scored.parquet")
    status, out, err = paraloom("filter", "scored.parquet", "--where", "u < 4 and v >= 100", "--preview")
    assert status == 0, err
    assert "v >= 100" in out and "40   20.0 %" in out
    status, _, err = paraloom("filter", "scored.parquet", "--where", "u < 4")
    assert (status, "--preview" in err) == (1, True)
