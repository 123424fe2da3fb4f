"""The stage measure-diversity: figures against sacreBLEU and by hand, and each kind of bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_trees import Prepared, parse, subset_kernel
from toy_variants import OURS, REFERENCES, plain_ibleu, write_references, write_variants

from paraloom.core.errors import ConfigError, DataError, ParaloomError
from paraloom.core.schema import PAIRS
from paraloom.evaluate.diversity.adequacy import Adequacy
from paraloom.evaluate.diversity.groups import GroupSample, whole_groups
from paraloom.evaluate.diversity.measures import VariantStatistics
from paraloom.io import write_corpus
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline


def measure(folder: Path, keys: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """The figures for run.json, and result.json, of the corpus `v` in the folder."""
    text = f'[[stage]]\nuse = "measure-diversity"\nvariants = "v"\n{keys}\n'
    stage = run_pipeline(parse_pipeline(text, file=folder / "p.toml"), folder / "run", engine="inline").stages[-1]
    return stage.figures, json.loads((stage.folder / "artifact" / "result.json").read_text())


def test_figures_agree_with_sacrebleu_and_with_hand_computed_ones(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", OURS)
    write_references(tmp_path / "r", REFERENCES)
    figures, result = measure(tmp_path, 'references = "r"')
    ibleu = [plain_ibleu(texts) for _, texts in OURS]
    assert figures["ibleu"] == pytest.approx(np.mean(ibleu), abs=1e-3)
    half = 1.959964 * np.std(ibleu, ddof=1) / math.sqrt(3)
    assert figures["ibleu_interval"] == pytest.approx(half, abs=1e-3)
    chrf = [
        np.mean([sacrebleu.sentence_chrf(text, [REFERENCES[key]]).score for text in texts]) for key, texts in OURS
    ]  # fmt: skip
    assert figures["chrf"] == pytest.approx(np.mean(chrf), abs=1e-3)
    assert figures["chrf_interval"] == pytest.approx(1.959964 * np.std(chrf, ddof=1) / math.sqrt(3), abs=1e-3)
    cost = [np.mean([(2 + rank) / len(text.split()) for rank, text in enumerate(texts)]) for _, texts in OURS]
    assert figures["cost"] == pytest.approx(np.mean(cost), abs=1e-4)
    assert figures["repeated"] == pytest.approx(1 / 9, abs=1e-4)
    assert {name: figures[name] for name in ("groups", "alone", "variants", "empty", "unreferenced", "uncosted")} == {
        "groups": 3, "alone": 0, "variants": 9, "empty": 0, "unreferenced": 0, "uncosted": 0,
    }  # fmt: skip
    words = [text.split() for _, texts in OURS for text in texts]
    assert figures["sentence_length"] == pytest.approx(np.mean([len(line) for line in words]), abs=1e-4)
    assert figures["vocabulary"] == len({word for line in words for word in line})
    rows = {row["figure"]: row for row in result["figures"]}
    assert rows["vocabulary"]["unit"] == "distinct words" and rows["cost"]["unit"].startswith("nats per token")
    assert all(row["signature"] for row in rows.values())
    assert rows["ichrf"]["signature"].startswith("ichrf|case:mixed") and "mean:groups" in rows["chrf"]["signature"]


def test_kernels_compare_parses_and_count_failed_ones(tmp_path: Path) -> None:
    parses = [
        "(S (NP (N dog)) (VP (V sleeps)))", "(S (NP (N dog)) (VP (V sleeps)))", "(S (NP (N dog))",
        "(S (NP (N a)))", None, "",
        "(S (NP (N he)) (VP (V reads)))", "(S (NP (N he)) (VP (V reads)) (. .))", "(S (X he))",
    ]  # fmt: skip
    write_variants(tmp_path / "v", OURS, parses=parses)
    figures, result = measure(
        tmp_path, 'trees = "text_parse"\nkernels = ["sst", "bbh22"]\nlabels = ["S", "NP", "VP", "N", "V", "."]'
    )
    assert figures["kernel_sst_failed"] == figures["kernel_bbh22_failed"] == {
        "a bracket is never closed": 1, "no tree": 2, "a label that is not among the known ones": 1,
    }  # fmt: skip
    assert figures["kernel_sst_short_groups"] == 1
    distance = 100 - 100 * _bbh22(parses[6], parses[7])  # type: ignore[arg-type]
    assert figures["kernel_bbh22"] == pytest.approx((0 + distance) / 2, abs=1e-3)
    assert 0 < figures["kernel_sst"] < 100
    assert result["kernels"][0]["reasons"].startswith("a bracket is never closed: 1; ")
    assert result["kernels"][0] | {"reasons": ""} == {
        "kernel": "sst", "texts": 9, "failed": 4, "short_groups": 1, "reasons": "",
    }  # fmt: skip


def _bbh22(a: str, b: str) -> float:
    """The normalized subset tree kernel with λ = 1 and bare dummy words: K(a, b) / √(K(a, a) K(b, b))."""
    x, y = Prepared(parse(a)), Prepared(parse(b))

    def k(one: Prepared, two: Prepared) -> float:
        return subset_kernel(one, two, decay=1.0, bare_words=True)

    return k(x, y) / math.sqrt(k(x, x) * k(y, y))


def test_groups_of_one_variant_have_lengths_and_costs_but_no_diversity(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", [("1", ["one"]), ("2", ["two words"])], parses=["(S (N one))", "(S (N two) (N w))"])
    figures, result = measure(tmp_path, 'trees = "text_parse"')
    assert (figures["groups"], figures["alone"]) == (0, 2)
    assert figures["ibleu"] is figures["ichrf"] is figures["kernel_sst"] is figures["repeated"] is None
    assert figures["kernel_sst_short_groups"] == 2 and figures["sentence_length"] == 1.5 and figures["cost"] == 1.5
    assert {row["value"] for row in result["figures"] if row["figure"] == "ibleu"} == {None}


def test_variants_that_are_all_equal_have_no_diversity(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", [("1", ["Same words here again."] * 3)], parses=["(S (N s))"] * 3)
    figures, _ = measure(tmp_path, 'trees = "text_parse"\nkernels = ["st", "sst", "bbh22"]')
    names = ("ibleu", "ichrf", "kernel_st", "kernel_sst", "kernel_bbh22")
    assert [figures[name] for name in names] == pytest.approx([0] * 5, abs=1e-4)
    assert figures["repeated"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["ibleu_interval"] is None


def test_empty_outputs_are_counted(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", [("1", ["", " "]), ("2", ["a b c d", ""])])
    write_references(tmp_path / "r", {"1": "a b", "2": "a b c d"})
    figures, _ = measure(tmp_path, 'references = "r"')
    assert (figures["empty"], figures["uncosted"]) == (3, 3)
    assert figures["ibleu"] == 100  # empty outputs show in `empty` only
    assert figures["chrf"] == pytest.approx((0 + 50) / 2)


def test_without_any_tree_there_are_counts_but_no_figure(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", OURS, parses=[None] * 9)
    figures, result = measure(tmp_path, 'trees = "text_parse"')
    assert figures["kernel_sst"] is None and figures["kernel_sst_failed"] == {"no tree": 9}
    assert figures["kernel_sst_short_groups"] == 3
    assert result["kernels"] == [{"kernel": "sst", "texts": 9, "failed": 9, "short_groups": 3, "reasons": "no tree: 9"}]


def test_references_that_are_missing_or_empty_are_counted(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", OURS)
    write_references(tmp_path / "r", {"1": REFERENCES["1"], "2": " "})
    figures, _ = measure(tmp_path, 'references = "r"')
    assert figures["unreferenced"] == 2
    expected = np.mean([sacrebleu.sentence_chrf(text, [REFERENCES["1"]]).score for text in OURS[0][1]])
    assert figures["chrf"] == pytest.approx(expected, abs=1e-3)


BAD: list[tuple[str, type[ParaloomError], str]] = [
    ('trees = "text_pars"', ConfigError, "column 'text_pars' not found; did you mean 'text_parse'"),
    ('trees = "text_parse"\nkernels = ["stt"]', ConfigError, "unknown tree kernel 'stt'; did you mean 'st"),
    ('trees = "text_parse"\nkernels = []', ConfigError, "'kernels' is empty"),
    ("limit = 0", ConfigError, "'limit' must be 1 or more"),
    ('references = "others"', DataError, r"no pair_id in common.* '1' and 'x:1'"),
    ('references = "wrong_side"', ConfigError, "language of the originals, en.\nTake the other side: reference_column"),
    ('references = "v"', ConfigError, "column 'tgt' not found"),
    ('references = "twice"', DataError, "row 2: '1' has two references"),
]


@pytest.mark.parametrize(("keys", "kind", "message"), BAD)
def test_invalid_input_is_refused(tmp_path: Path, keys: str, kind: type[ParaloomError], message: str) -> None:
    write_variants(tmp_path / "v", OURS, parses=["(S (N x))"] * 9)
    write_references(tmp_path / "others", {"x:1": "?"})
    write_references(tmp_path / "wrong_side", REFERENCES, langs=("tr", "en"))
    rows = [
        {"pair_id": "1", "src": "?", "tgt": text, "src_lang": "en", "tgt_lang": "tr", "origin": "x"} for text in "ab"
    ]  # fmt: skip
    write_corpus(tmp_path / "twice", [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    with pytest.raises(kind, match=message):
        measure(tmp_path, keys)


def test_a_corpus_without_variants_is_refused(tmp_path: Path) -> None:
    write_references(tmp_path / "v", REFERENCES)
    with pytest.raises(ConfigError, match="column 'text' not found"):
        measure(tmp_path)
    (tmp_path / "empty").mkdir()
    write_corpus(tmp_path / "empty" / "v", [], kind="VARIANTS")
    with pytest.raises(DataError, match="the corpus has no variants"):
        measure(tmp_path / "empty")
    write_variants(tmp_path / "empty" / "mixed" / "v", [*OURS, ("1", ["again"])])
    with pytest.raises(DataError, match="the variants of '1' are not consecutive rows"):
        measure(tmp_path / "empty" / "mixed")


def test_a_limit_samples_the_same_sources_from_every_corpus(tmp_path: Path) -> None:
    names = [f"s:{i}" for i in range(200)]
    write_variants(tmp_path / "v", [(name, [f"{name} one", f"{name} two"]) for name in names])
    figures, _ = measure(tmp_path, "limit = 30")
    assert (figures["groups"], figures["variants"]) == (30, 60)
    ids = pa.RecordBatch.from_pydict({"pair_id": names})
    sampled = GroupSample.of([ids], 30).contains(names)
    backwards = pa.RecordBatch.from_pydict({"pair_id": names[::-1]})
    assert (
        sampled.tolist() == GroupSample.of([backwards.slice(0, 90), backwards.slice(90)], 30).contains(names).tolist()
    )
    assert sampled.sum() == 30 and np.flatnonzero(sampled).max() > 100 > np.flatnonzero(sampled).min()


def test_errors_name_the_row_of_the_corpus_whatever_is_sampled(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(40)]
    write_variants(tmp_path / "v", [(name, [f"{name} one", f"{name} two"]) for name in [*names, "n0"]])
    for limit in (2, 100):
        with pytest.raises(DataError, match="row 81: the variants of 'n0' are not consecutive rows"):
            measure(tmp_path, f"limit = {limit}")


_TEXT = st.lists(st.sampled_from(["a", "bb", "the", "dog.", ""]), max_size=5).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(_TEXT, min_size=1, max_size=3), min_size=1, max_size=6), st.integers(1, 5), st.data())
def test_statistics_add_up_whatever_the_batches(groups: list[list[str]], size: int, data: st.DataObject) -> None:
    rows = [
        {"pair_id": str(i), "text": text, "logprob": -1.0, "tokens": len(text)}
        for i, texts in enumerate(groups)
        for text in texts
    ]
    references = {str(i): data.draw(_TEXT) for i in range(len(groups))}
    whole = pa.RecordBatch.from_pylist(rows)
    columns = ["text", "logprob", "tokens"]
    parts = [whole.slice(start, size) for start in range(0, len(rows), size)]
    summed = VariantStatistics()
    for batch in whole_groups(parts, columns):
        summed += VariantStatistics.of(batch, references=references)
    at_once = VariantStatistics.of(whole, references=references)
    assert summed.counts() == at_once.counts()
    assert summed.adequacy.unreferenced == at_once.adequacy.unreferenced
    for name, figure in at_once.figures().items():
        assert summed.figures()[name].value == pytest.approx(figure.value, nan_ok=True), name


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="for each of 2 variants, got 1 and 1"):
        Adequacy.of(["a", "b"], [0, 2], logprob=[-1], tokens=[1])
    with pytest.raises(DataError, match="for each of 1 groups, got 2"):
        Adequacy.of(["a", "b"], [0, 2], references=["a", "b"])
