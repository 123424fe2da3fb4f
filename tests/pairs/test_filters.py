"""Filters: which rows are kept, the reasons of the others, independence of sharding and of the order of rows."""

from __future__ import annotations

import json
import random
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.schema import PAIRS
from paraloom.io import Corpus, write_corpus, write_table
from paraloom.pairs.filtering.cuts import find_cut, nth_smallest, sort_keys
from paraloom.pairs.filtering.expressions import check_columns, condition, evaluate
from paraloom.pairs.filtering.filters import Criteria, best_of_sources, check, preview_filter, select, survey
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

COLUMNS = {
    "pair_id": ["1", "2", "3", "4", "5"],
    "src": ["a", "b", "c", "d", "e"],
    "tgt": ["A", "B", "C", "D", "E"],
    "trigram_overlap": pa.array([0.1, 0.9, float("nan"), None, 0.7], pa.float32()),
    "tgt_tokens": pa.array([5, 5, 5, 5, 40], pa.int32()),
}


def rows() -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(COLUMNS)


UNDEFINED = pa.RecordBatch.from_pydict(
    {"src": ["nan", "b"], "zero": [0.0, 1.0], "infinite": [float("inf"), 1.0], "list": [[float("nan")], [1.0]]}
)


@pytest.mark.parametrize(
    "where",
    [
        "zero / zero > 0.6",
        "0.6 < zero / zero",
        "not (zero / zero <= 0.6)",
        "infinite - infinite + 1 > 0",
        "infinite * 0 between -1 and 1e9",
        "sqrt(zero - 1 + 2 * zero / zero) > 0",
        "zero / zero not in (3, 4)",
        "try_cast(src as double) > 0",
        "list[1] > 0.5",
        "case when src <> 'x' then fmod(zero, zero) else 1 end > -1",
        "ln(zero - 1) > -9",
        "cast(zero / zero as boolean)",
        "greatest(zero / zero, 0.1) > 0",
    ],
)
def test_a_computed_nan_is_undefined(where: str) -> None:
    (values,) = evaluate(condition(where), UNDEFINED)
    assert values[0].as_py() is None


def test_a_text_that_says_nan_is_a_text() -> None:
    (values,) = evaluate(condition("src = 'nan'"), UNDEFINED)
    assert values.to_pylist() == [True, False]


@pytest.mark.parametrize(
    "where",
    [
        "length(" + "replace(" * 12 + "src" + ", 'a', 'aaaaaaaaaa')" * 12 + ") > 1",
        "length(" + "replace(" * 4 + "src" + ", '', 'aaaaaaaaaa')" * 4 + ") > 1",
        "length(replace(src, 'a', tgt)) > 1",
        "length(regexp_replace(src, '', src, 'g')) > 1",
        "length(" + "regexp_replace(" * 8 + "src" + r", '(.)', '\\1\\1', 'g')" * 8 + ") > 1",
        "length(" + "replace(" * 8 + "'aaaaaaaaaa'" + ", 'a', 'aaaaaaaaaa')" * 8 + ") > 1",
        "length(" + "cast([" * 8 + "src" + "] as varchar)" * 8 + ") > 1",
    ],
)
def test_a_condition_cannot_make_texts_without_bound(where: str) -> None:
    with pytest.raises(ConfigError, match=r"times as long|must be a constant"):
        condition(where)


@pytest.mark.parametrize(
    "where",
    [
        "length(replace(replace(lower(src), ',', ''), '.', ' ')) > 1",
        r"length(regexp_replace(regexp_replace(src, '[^a-z]+', ' ', 'g'), ' +', ' ', 'g')) > 1",
        "cast(regexp_replace(src, '[^0-9]', '', 'g') as bigint) > 3",
        "concat(src, ' ', tgt) like '%a%'",
        f"src in ({', '.join(repr(str(n)) for n in range(3000))})",
        f"tgt_tokens in ({', '.join(map(str, range(3000)))})",
    ],
)
def test_everyday_replacements_are_allowed(where: str) -> None:
    assert condition(where).clauses


@pytest.mark.parametrize("distance", ["levenshtein", "damerau_levenshtein", "editdist3"])
def test_edit_distances_compare_a_thousand_characters(distance: str) -> None:
    texts = {"src": ["kitten", "x" * 5000], "tgt": ["sitting", "x" * 1000 + "y" * 4000]}
    batch = pa.RecordBatch.from_pydict(texts)
    for row, expected in enumerate((3, 0)):
        (values,) = evaluate(condition(f"{distance}(src, tgt) = {expected}"), batch)
        assert values[row].as_py()


@pytest.mark.parametrize(
    ("where", "kept", "reasons"),
    [
        (
            "trigram_overlap <= 0.7",
            "1 5",
            ["not: trigram_overlap <= 0.7", *["undefined: trigram_overlap <= 0.7"] * 2],
        ),
        # NaN passes no lower bound, nor does one that is computed.
        *(
            (where, "1 2 5", [f"undefined: {where}"] * 2)
            for where in ("(trigram_overlap - 0.0) >= 0.1", "sqrt(trigram_overlap) >= 0.1")
        ),
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
    rejected = [reason for reason in chosen.column("reason").to_pylist() if reason]
    assert len(rejected) == chosen.column("keep").to_pylist().count(False)
    assert reasons is None or rejected == reasons


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("trigam_overlap < 1", "column 'trigam_overlap' in the condition .* not found; did you mean 'trigram_overlap'"),
        ("tgt_tokens <", "syntax error at the end of the condition"),
        ("lower(src) = 'ä' and ", "syntax error at the end of the condition"),
        ("tgt_tokens < 1)", 'syntax error at or near "\\)"'),
        ("tgt_tokens + 1", "expected true or false"),
        ("tgt_tokens < 1; drop table rows", "syntax error"),
        ("1 = 1) from range(3) where (true", "expected one expression"),
        ("true), (false", "expected one expression"),
        ("tgt_tokens > (select 3)", "a subquery"),
        ("avg(tgt_tokens) > 3", "avg aggregates many rows"),
        ("row_number() over () < 3", "a window function"),
        ("random() < 0.5", "random does not give the same"),
        ("tgt_tokens > 'many'", "invalid condition"),
        ("no_such_function(src)", "no_such_function"),
        ("exists(from read_csv('/etc/passwd'))", "a subquery"),
        ("length(read_text('/etc/passwd')) > 0", "read_text"),
        # Macros hide aggregates and unnest.
        ("geomean([tgt_tokens]) > 1", "function geomean cannot be used"),
        ("wavg(tgt_tokens, tgt_tokens) > 1", "function wavg cannot be used"),
        ("generate_subscripts([1], 1) > 0", "function generate_subscripts cannot be used"),
        ("unnest([tgt_tokens]) > 1", "function unnest cannot be used"),
        # The clock, and waiting.
        ("current_localtimestamp() is null", "current_localtimestamp"),
        ("ago(interval 1 day) is null", "function ago cannot be used"),
        ("age(date '2020-01-01') is null", "function age cannot be used"),
        ("pg_sleep(1) is null", "function pg_sleep cannot be used"),
        ("current_date is null", "column 'current_date' in the condition .* not found"),
        ("current_setting('threads') = '1'", "current_setting does not give the same"),
        # Memory without bound.
        ("repeat(src, 1000000000) = 'a'", "function repeat cannot be used"),
        ("len(range(1000000000000)) > 0", "function range cannot be used"),
        ("lpad(src, 2000000000, 'x') = 'a'", "function lpad cannot be used"),
        # Anything else than a call of a function of a row.
        ("length(src) filter (where true) > 0", "length must be called without DISTINCT, FILTER"),
        ("main.length(src) > 0", "length must be called without"),
        ("lenght(src) > 0", "did you mean 'length'"),
        ("$1", "it contains a parameter"),
        ("#1 > 1", "it contains a positional reference"),
        ("grouping(tgt_tokens) = 1", "GROUPING"),
        ("len(list_filter([1], x -> x > 0)) > 0", "list_filter cannot be used"),
        ("src = 'a\0'", "a NUL character"),
        pytest.param("not " * 500 + "true", "too deeply nested", id="not"),
        pytest.param("(" * 3000 + "true" + ")" * 3000, "invalid condition", id="parentheses"),
        pytest.param("1" + "+1" * 20000 + "> 1", "invalid condition", id="sum"),
        pytest.param("src = '\ud800'", "surrogate", id="surrogate"),
    ],
)
def test_invalid_conditions_are_errors(where: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as error:
        survey(Criteria(where=where), rows().schema, lambda columns: [rows().select(columns)])
        select(Criteria(where=where), rows())
    assert where.split("(")[0].strip()[:200] in str(error.value) or "column" in message or "surrogate" in message
    assert len(str(error.value)) < 1200


@pytest.mark.parametrize(
    ("where", "kept"),
    [("score > 3", [True, False]), ("Score > 3", [False, True]), ("TGT = 'b'", [False, True])],
)
def test_columns_that_differ_in_case_are_told_apart_by_case(where: str, kept: list[bool]) -> None:
    batch = pa.RecordBatch.from_pydict({"Score": [1.0, 5.0], "score": [5.0, 1.0], "tgt": ["a", "b"]})
    assert evaluate(condition(where), batch)[0].to_pylist() == kept


@pytest.mark.parametrize("where", ["SCORE > 3", "score > 3 and Score > 1"])
def test_columns_that_sql_cannot_tell_apart_are_an_error(where: str) -> None:
    batch = pa.RecordBatch.from_pydict({"Score": [1.0, 5.0], "score": [5.0, 1.0]})
    with pytest.raises(ConfigError, match="cannot tell the columns Score and score apart"):
        check_columns(condition(where), batch.schema)
    twice = pa.RecordBatch.from_arrays([batch.column(0), batch.column(1)], names=["score", "score"])
    with pytest.raises(ConfigError, match="cannot tell the columns score and score apart"):
        evaluate(condition("score > 3"), twice)


def test_no_criteria_keep_all_rows() -> None:
    assert select(Criteria(), rows()).column("keep").to_pylist() == [True] * 5


@pytest.mark.parametrize(
    ("column", "message", "remedy"),
    [
        ("bleu1", "column 'bleu1' in the condition .* not found$", "add it with `paraloom score PAIRS --with bleu1 -o"),
        ("belu1", "did you mean 'bleu1'", "add it with `paraloom score PAIRS --with bleu1 -o"),
        (
            "paraphrase_score",
            "column 'paraphrase_score' in the condition .* not found$",
            "`paraloom score PAIRS --encoder ENCODER -o",
        ),
        ("tgt_perplexty", "did you mean 'tgt_perplexity'", "`paraloom score PAIRS --language-model MODEL -o"),
        ("tgt_token", "did you mean 'tgt_tokens'", "Columns: pair_id, src, tgt, trigram_overlap, tgt_tokens."),
        ("qqq", "column 'qqq' in the condition \"qqq > 0\" not found$", "Columns: pair_id, src, tgt"),
    ],
)
def test_a_missing_column_has_a_suggestion_and_a_remedy(column: str, message: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as error:
        check(Criteria(where=f"{column} > 0"), rows().schema)
    assert re.search(message, error.value.what)
    assert remedy in (error.value.remedy or "")


def test_a_missing_column_to_rank_by_has_a_remedy() -> None:
    with pytest.raises(ConfigError, match="column 'bleu1' to rank by not found") as error:
        check(Criteria(by="bleu1", decile=1), rows().schema)
    assert "paraloom score PAIRS --with bleu1" in (error.value.remedy or "")
    with pytest.raises(ConfigError, match="cannot rank by column 'src': expected a number, got string"):
        check(Criteria(by="src", decile=1), rows().schema)


@pytest.mark.parametrize(
    ("criteria", "message"),
    [
        ({"top": 0.5}, "'per_source', 'top' and 'decile' need 'by'"),
        ({"by": "bleu1"}, "'by' needs 'per_source', 'top', 'decile' or 'precision'"),
        ({"top": 0.5, "decile": 1, "by": "bleu1"}, "cannot be combined"),
        ({"top": 1.5, "by": "translation_cost"}, "above 0 to 1"),
        ({"top": 0.5, "by": "trigram_overlap"}, r"which end of .*\n.*--by 'trigram_overlap\?best=lowest'"),
        ({"decile": 0, "by": "bleu1"}, "'decile'"),
        ({"sample": 0}, "'sample'"),
        ({"sample": 1.5}, "'sample'"),
        ({"where": "a >"}, "syntax error"),
    ],
)
def test_criteria_that_do_not_fit_together_are_errors(criteria: dict[str, Any], message: str) -> None:
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
            # Few values, so that there are ties; one in ten is undefined.
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
    ids = []
    for batch in batches:
        chosen = select(criteria, batch, cuts)
        rows = chosen.filter(chosen.column("keep"))
        ids += list(zip(rows.column("pair_id").to_pylist(), rows.column("rank").to_pylist(), strict=True))
    return ids


@pytest.mark.parametrize(
    ("criteria", "size"),
    [
        (Criteria(sample=100), 100),
        (Criteria(sample=0.25), 250),
        (Criteria(sample=5000), 1000),
        (Criteria(sample=1.0), 1000),
        (Criteria(top=0.5, by="translation_cost"), 450),
        (Criteria(top=0.001, by="translation_cost"), 1),
        (Criteria(decile=3, by="translation_cost"), 90),
        (Criteria(where="tgt_tokens < 20", sample=100), 100),
        (Criteria(top=0.5, by="translation_cost", sample=7), 7),
        (Criteria(where="tgt_tokens > 99", sample=7), 0),
        (Criteria(top=0.0001, by="translation_cost"), 0),
    ],
)
def test_cuts_are_exact_and_do_not_depend_on_sharding(criteria: Criteria, size: int) -> None:
    whole = corpus()
    expected = kept(criteria, [whole])
    assert len(expected) == size
    shards = [whole.slice(start, 70) for start in range(0, len(whole), 70)]
    assert kept(criteria, shards) == expected
    assert sorted(kept(criteria, shards[::-1])) == sorted(expected)


def test_another_seed_draws_another_sample() -> None:
    assert kept(Criteria(sample=100), [corpus()], seed=1) != kept(Criteria(sample=100), [corpus()], seed=2)


def test_deciles_are_in_order_and_have_each_defined_row_once() -> None:
    values = {(row["pair_id"], row["rank"]): row["translation_cost"] for row in corpus().to_pylist()}
    deciles = [kept(Criteria(decile=k, by="translation_cost"), [corpus()]) for k in range(1, 11)]
    assert sorted(row for rows in deciles for row in rows) == sorted(row for row in values if values[row] is not None)
    for lower, upper in pairwise(deciles):
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


@pytest.mark.parametrize("max_in_memory", [1, 10, 100_000])
def test_the_nth_smallest_key_is_that_of_sorting(max_in_memory: int) -> None:
    draw = np.random.default_rng(0)
    value = np.round(draw.normal(size=500), 1)
    value[:100] = -0.0
    tiebreak = draw.integers(0, 2**64, 500, np.uint64)
    tiebreak[:50] = 9
    ordered = sorted(zip((value + 0.0).tolist(), tiebreak.tolist(), strict=True))
    chunks = [(value[i : i + 99], tiebreak[i : i + 99]) for i in range(0, 500, 99)]
    for n in (1, 2, 77, 250, 499, 500):
        assert nth_smallest(lambda: chunks, n, max_in_memory=max_in_memory) == ordered[n - 1]


def test_a_sample_is_found_in_one_pass() -> None:
    batches = [
        pa.RecordBatch.from_pydict({"src": [f"a {number // 2}" for number in range(start, start + 100)]})
        for start in range(0, 2000, 100)
    ]
    passes = 0

    def read() -> list[pa.RecordBatch]:
        nonlocal passes
        passes += 1
        return batches

    hashes = sorted(np.concatenate([sort_keys(batch, "", 5)[1] for batch in batches]).tolist())
    for size in (1, 7, 500, 1999, 2000, 3000):
        passes = 0
        cut = find_cut(read, seed=5, size=size)
        assert cut.upper == ((0.0, hashes[size - 1]) if size < 2000 else None) and passes == 1
    assert sum(cut.contains(batch).sum() for batch in batches) == 2000


def test_exact_sample_fails_on_a_smaller_corpus(tmp_path: Path) -> None:
    row = {"pair_id": "1", "src": "a", "tgt": "b", "src_lang": "en", "tgt_lang": "en", "origin": "x"}
    write_corpus(tmp_path / "pairs", [pa.RecordBatch.from_pylist([row] * 3, schema=PAIRS)], kind="PAIRS")
    text = '[[stage]]\nuse = "filter"\ninput = "pairs"\nsample = 4\n'
    result = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    assert result.stages[-1].counts.kept == 3
    pipeline = parse_pipeline(text + "exact_sample = true\n", file=tmp_path / "p.toml")
    with pytest.raises(DataError, match="cannot sample 4 rows: the corpus has 3"):
        run_pipeline(pipeline, tmp_path / "other", engine="inline")


@pytest.fixture
def numbers() -> pa.RecordBatch:
    row = {"src": "a", "tgt": "b", "src_lang": "en", "tgt_lang": "en", "origin": "x"}
    rows = [{**row, "pair_id": str(i), "u": i % 10, "v": i} for i in range(200)]
    return pa.RecordBatch.from_pylist(rows, schema=pa.schema([*PAIRS, ("u", pa.int64()), ("v", pa.int64())]))


def test_a_preview_counts_the_rows_that_each_criterion_keeps(numbers: pa.RecordBatch) -> None:
    read = reading([numbers.slice(0, 130), numbers.slice(130)])
    criteria = Criteria(where="u < 4 and v >= 100", by="v", top=0.5, best="highest", sample=7)
    counts = preview_filter(criteria, numbers.schema, read, seed=3)
    assert [(count.criterion, count.alone, count.together) for count in counts] == [
        ("u < 4", 80, 80),
        ("v >= 100", 100, 40),
        ("top 0.5 by v", 100, 20),
        ("sample of 7", 7, 7),
    ]
    selected = select(criteria, numbers, survey(criteria, numbers.schema, read, seed=3))
    assert selected.column("keep").true_count == counts[-1].together


def test_the_command_previews_a_filter(
    numbers: pa.RecordBatch, paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    write_table([numbers], tmp_path / "scored.parquet")
    status, out, err = paraloom("filter", "scored.parquet", "--where", "u < 4 and v >= 100", "--preview")
    assert status == 0, err
    assert "v >= 100" in out and "40   20.0 %" in out
    status, _, err = paraloom("filter", "scored.parquet", "--where", "u < 4")
    assert (status, "--preview" in err) == (1, True)


def test_the_command_previews_a_preset(paraloom: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    pairs = ["A dog sleeps.\tA dog is asleep.", "It rains.\tIt rains.", "He has two dogs.\tStocks fell by 3 percent."]
    (tmp_path / "pairs.tsv").write_text("".join(f"{pair}\n" for pair in pairs * 4))
    call = ("filter", "pairs.tsv", "--preset", "loose", "--where", "chrf < 95")
    status, out, err = paraloom(*call, "--preview")
    assert status == 0, err
    rows = json.loads(paraloom(*call, "--preview", "--json")[1])
    assert [row["criterion"].split()[0] for row in rows][:2] == ["p_paraphrase", "chrf"]
    assert all(row["criterion"] in out for row in rows) and f"together: {rows[-1]['together']} of 12 pairs" in out
    assert "rejects most" in out
    assert paraloom(*call, "-o", "kept.jsonl", "--workers", 1)[0] == 0
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == rows[-1]["together"]
    status, _, err = paraloom("filter", "pairs.tsv", "--preset", "strikt", "--preview")
    assert (status, "did you mean 'strict'" in err) == (1, True)


def test_a_function_without_its_arguments_is_an_error() -> None:
    for where in ("regexp_replace()", "replace() > 'a'"):
        with pytest.raises(ConfigError):
            evaluate(condition(where), UNDEFINED)


SOURCES = pa.RecordBatch.from_pydict(
    {
        "pair_id": ["a", "a", "a", "b", "b", "c", "d", "d"],
        "tgt": ["1", "2", "3", "4", "5", "6", "7", "8"],
        "p_paraphrase": [0.5, 0.9, 0.7, None, 0.2, 0.4, 0.8, 0.8],
    }
)


@pytest.mark.parametrize(
    ("criteria", "kept"),
    [
        (Criteria(per_source=1, by="p_paraphrase"), "2567"),  # of equal values the first one
        (Criteria(per_source=2, by="p_paraphrase"), "235678"),
        (Criteria(per_source=1, by="p_paraphrase", best="lowest"), "1567"),
        (Criteria(per_source=1, by="p_paraphrase", where="tgt <> '2'"), "3567"),
        (Criteria(per_source=1, by="p_paraphrase", top=0.5), "27"),  # half of those that are left
    ],
)
@pytest.mark.parametrize("size", [1, 3, 8])
def test_the_best_of_each_source(criteria: Criteria, kept: str, size: int) -> None:
    batches = [SOURCES.slice(start, size) for start in range(0, SOURCES.num_rows, size)]
    flags = best_of_sources(criteria, batches)
    assert flags is not None
    cuts = survey(criteria, SOURCES.schema, lambda names: [batch.select(names) for batch in batches], 1, flags)
    chosen = select(criteria, SOURCES, cuts, flags)
    assert "".join(row["tgt"] for row in chosen.to_pylist() if row["keep"]) == kept
    counts = preview_filter(criteria, SOURCES.schema, lambda names: [batch.select(names) for batch in batches])
    assert counts[-1].together == len(kept)


def test_rows_of_a_source_that_do_not_follow_each_other_are_counted() -> None:
    shuffled = SOURCES.take(pa.array([0, 3, 1, 5, 4, 2, 6, 7]))
    criteria = Criteria(per_source=1, by="p_paraphrase")
    with pytest.warns(UserWarning, match="several sources, 3 too many: sort by pair_id"):
        best_of_sources(criteria, [shuffled.slice(0, 3), shuffled.slice(3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best_of_sources(criteria, [SOURCES.slice(0, 2), SOURCES.slice(2, 0), SOURCES.slice(2)])


def test_the_best_of_each_source_in_any_sharding(tmp_path: Path) -> None:
    generator = random.Random(2)
    table = [{"pair_id": str(n // 3), "src": "a", "tgt": str(n), "src_lang": "en", "tgt_lang": "en", "origin": "t",
              "value": generator.random()} for n in range(300)]  # fmt: skip
    batch = pa.RecordBatch.from_pylist(table)
    write_corpus(tmp_path / "in", [batch.slice(0, 100), batch.slice(100, 1), batch.slice(101)], kind="PAIRS")
    stage = '[[stage]]\nuse = "filter"\ninput = "in"\nper_source = 1\nby = "value"\nbest = "highest"\n'
    result = run_pipeline(parse_pipeline(stage, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    best = {max(table[start : start + 3], key=lambda row: row["value"])["tgt"] for start in range(0, 300, 3)}
    kept = [row["tgt"] for part in Corpus.open(result.stages[-1].folder).batches(["tgt"]) for row in part.to_pylist()]
    assert set(kept) == best and len(kept) == 100


@pytest.mark.parametrize(
    ("values", "message"),
    [({"per_source": 1}, "'per_source', 'top' and 'decile' need 'by'"), ({"per_source": -1}, "0 or more"),
     ({"per_source": 1, "by": "length"}, "which end")],
)  # fmt: skip
def test_per_source_needs_a_score_to_rank_by(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Criteria(**values)


def test_distinct_keeps_one_of_equal_pairs_in_any_order_and_sharding() -> None:
    pairs = [("A cat.", "The cat."), ("a  cat.", "THE cat."), ("The cat.", "A cat."), ("A cat.", "A dog."), ("", None)]
    batch = pa.RecordBatch.from_pydict(
        {"pair_id": [str(n) for n in range(5)], "src": [p[0] for p in pairs], "tgt": [p[1] for p in pairs]}
    )
    criteria = Criteria(distinct=True)

    def kept(batches: list[pa.RecordBatch]) -> set[str]:
        cuts = json.loads(
            json.dumps(survey(criteria, batch.schema, lambda columns: [b.select(columns) for b in batches]))
        )
        marked = [select(criteria, one, cuts) for one in batches]
        assert {r for one in marked for r in one.column("reason").to_pylist()} == {None, "not: distinct"}
        return {row["pair_id"] for one in marked for row in one.to_pylist() if row["keep"]}

    first = kept([batch])
    assert len(first) == 3 and {"3", "4"} < first
    assert kept([batch.take(pa.array([n])) for n in (4, 2, 0, 1, 3)]) == first


def test_distinct_comes_before_a_share_and_is_previewed() -> None:
    batch = pa.RecordBatch.from_pydict(
        {"pair_id": list("123456"), "src": list("aabbcc"), "tgt": list("xxyyzz"), "p": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]}
    )

    def read(columns: Sequence[str]) -> list[pa.RecordBatch]:
        return [batch.select(columns)]

    criteria = Criteria(where="p > 1", distinct=True, top=0.5, by="p", best="highest")
    counts = preview_filter(criteria, batch.schema, read)
    assert [(c.criterion, c.alone, c.together) for c in counts] == [
        ("p > 1", 4, 4),
        ("distinct", 3, 2),
        ("top 0.5 by p", 3, 1),
    ]
    with pytest.raises(ConfigError, match="column 'tgt' to find repeated pairs"):
        check(Criteria(distinct=True), batch.schema.remove(2))
