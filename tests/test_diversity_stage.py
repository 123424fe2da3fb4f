"""The stage measure-diversity and its verbs: figures against sacreBLEU and a pencil, and each kind of bad input."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_trees import Prepared, parse, subset_kernel

from paraloom.core.errors import ConfigError, DataError, ParaloomError
from paraloom.core.io import write_corpus
from paraloom.core.schema import PAIRS, VARIANTS
from paraloom.diversity.adequacy import Adequacy
from paraloom.diversity.groups import Drawn, whole_groups
from paraloom.diversity.variants import VariantStatistics
from paraloom.recipes.diversity import _names
from paraloom.run.pipeline import parse_pipeline
from paraloom.run.runner import run_pipeline

Groups = Sequence[tuple[str, Sequence[str]]]

OURS = [
    ("1", ["The dog sleeps.", "A dog is asleep.", "The dog sleeps."]),
    ("2", ["Rain fell all night.", "It rained all night long.", "All night there was rain."]),
    ("3", ["He reads.", "She reads books.", "They read."]),
]
REFERENCES = {"1": "The dog is sleeping.", "2": "It rained the whole night.", "3": "They read."}


def write_variants(folder: Path, groups: Groups, *, parses: Sequence[str | None] | None = None) -> Path:
    rows = [
        dict(zip(VARIANTS.names, (pair_id, rank, text, "m", -2.0 - rank, len(text.split())), strict=True))
        for pair_id, texts in groups
        for rank, text in enumerate(texts)
    ]  # fmt: skip
    batch = pa.RecordBatch.from_pylist(rows, schema=VARIANTS)
    batch = batch.append_column("original_lang", pa.array(["en"] * len(rows)))
    if parses is not None:
        batch = batch.append_column("text_parse", pa.array(parses, pa.string()))
    write_corpus(folder, [batch], kind="VARIANTS")
    return folder


def write_references(folder: Path, references: dict[str, str], *, langs: tuple[str, str] = ("en", "tr")) -> Path:
    rows = [
        {"pair_id": key, "src": "?", "tgt": text, "src_lang": langs[0], "tgt_lang": langs[1], "origin": "x"}
        for key, text in references.items()
    ]
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    return folder


def measure(folder: Path, keys: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """The figures for run.json, and result.json, of the corpus `v` in the folder."""
    text = f'[[stage]]\nuse = "measure-diversity"\nvariants = "v"\n{keys}\n'
    stage = run_pipeline(parse_pipeline(text, file=folder / "p.toml"), folder / "run", engine="inline").stages[-1]
    return stage.figures, json.loads((stage.folder / "artefact" / "result.json").read_text())


def plain_ibleu(texts: Sequence[str]) -> float:
    scores = [
        sacrebleu.sentence_bleu(a, [b], lowercase=True).score for a, b in itertools.permutations(texts, 2)
    ]  # fmt: skip
    return 100 - float(np.mean(scores))


def test_figures_are_those_of_sacrebleu_and_of_a_pencil(tmp_path: Path) -> None:
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
    assert figures["sentence_length"] == pytest.approx(np.mean([len(each) for each in words]), abs=1e-4)
    assert figures["vocabulary"] == len({word for each in words for word in each})
    rows = {row["figure"]: row for row in result["figures"]}
    assert rows["vocabulary"]["unit"] == "different words" and rows["cost"]["unit"].startswith("nats a token")
    assert all(row["signature"] for row in rows.values())
    assert rows["ichrf"]["signature"].startswith("ichrf|case:mixed") and "mean:groups" in rows["chrf"]["signature"]


def test_kernels_compare_parses_and_say_which_failed(tmp_path: Path) -> None:
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
    third = 100 - 100 * _bbh22(parses[6], parses[7])  # type: ignore[arg-type]
    assert figures["kernel_bbh22"] == pytest.approx((0 + third) / 2, abs=1e-3)
    assert 0 < figures["kernel_sst"] < 100
    assert result["kernels"][0]["reasons"].startswith("a bracket is never closed: 1; ")
    assert result["kernels"][0] | {"reasons": ""} == {
        "kernel": "sst", "texts": 9, "failed": 4, "short_groups": 1, "reasons": "",
    }  # fmt: skip


def _bbh22(a: str, b: str) -> float:
    """The normalised subset tree kernel with λ = 1 and bare dummy words: K(a, b) / √(K(a, a) K(b, b))."""
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
    figures, _ = measure(tmp_path, 'trees = "text_parse"\nkernels = ["st", "sst", "ptk", "bbh22"]')
    names = ("ibleu", "ichrf", "kernel_st", "kernel_sst", "kernel_ptk", "kernel_bbh22")
    assert [figures[name] for name in names] == pytest.approx([0] * 6, abs=1e-4)
    assert figures["repeated"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["ibleu_interval"] is None


def test_empty_outputs_are_counted(tmp_path: Path) -> None:
    write_variants(tmp_path / "v", [("1", ["", " "]), ("2", ["a b c d", ""])])
    write_references(tmp_path / "r", {"1": "a b", "2": "a b c d"})
    figures, _ = measure(tmp_path, 'references = "r"')
    assert (figures["empty"], figures["uncosted"]) == (3, 3)
    assert figures["ibleu"] == 100  # nothing was said, and only `empty` tells
    assert figures["chrf"] == pytest.approx((0 + 50) / 2)


def test_a_parser_that_returned_nothing_leaves_no_figure_but_its_count(tmp_path: Path) -> None:
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
    wanted = np.mean([sacrebleu.sentence_chrf(text, [REFERENCES["1"]]).score for text in OURS[0][1]])
    assert figures["chrf"] == pytest.approx(wanted, abs=1e-3)


BAD: list[tuple[str, type[ParaloomError], str]] = [
    ('trees = "text_pars"', ConfigError, "no column 'text_pars'; did you mean 'text_parse'"),
    ('trees = "text_parse"\nkernels = ["stt"]', ConfigError, "unknown tree kernel 'stt'; did you mean 'st"),
    ('trees = "text_parse"\nkernels = []', ConfigError, "there are none"),
    ("limit = 0", ConfigError, "1 group or more"),
    ('references = "others"', DataError, r"no pair_id of the variants .* '1' and 'x:1'"),
    ('references = "wrong_side"', ConfigError, "was translated from, en.\nTake the other side: reference_column"),
    ('references = "v"', ConfigError, "no column 'tgt'"),
    ('references = "twice"', DataError, "row 2: '1' has two references"),
]


@pytest.mark.parametrize(("keys", "kind", "message"), BAD)
def test_what_cannot_be_measured_is_an_error_that_names_it(
    tmp_path: Path, keys: str, kind: type[ParaloomError], message: str
) -> None:
    write_variants(tmp_path / "v", OURS, parses=["(S (N x))"] * 9)
    write_references(tmp_path / "others", {"x:1": "?"})
    write_references(tmp_path / "wrong_side", REFERENCES, langs=("tr", "en"))
    rows = [
        {"pair_id": "1", "src": "?", "tgt": text, "src_lang": "en", "tgt_lang": "tr", "origin": "x"} for text in "ab"
    ]  # fmt: skip
    write_corpus(tmp_path / "twice", [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
    with pytest.raises(kind, match=message):
        measure(tmp_path, keys)


def test_pairs_are_no_variants_and_no_variants_are_no_figures(tmp_path: Path) -> None:
    write_references(tmp_path / "v", REFERENCES)
    with pytest.raises(ConfigError, match="no column 'text'"):
        measure(tmp_path)
    (tmp_path / "empty").mkdir()
    write_corpus(tmp_path / "empty" / "v", [], kind="VARIANTS")
    with pytest.raises(DataError, match="no variants to measure"):
        measure(tmp_path / "empty")
    write_variants(tmp_path / "empty" / "mixed" / "v", [*OURS, ("1", ["again"])])
    with pytest.raises(DataError, match="the variants of '1' stand in two places"):
        measure(tmp_path / "empty" / "mixed")


def test_a_limit_draws_the_same_sources_from_every_corpus(tmp_path: Path) -> None:
    names = [f"s:{i}" for i in range(200)]
    write_variants(tmp_path / "v", [(name, [f"{name} one", f"{name} two"]) for name in names])
    figures, _ = measure(tmp_path, "limit = 30")
    assert (figures["groups"], figures["variants"]) == (30, 60)
    ids = pa.RecordBatch.from_pydict({"pair_id": names})
    drawn = Drawn.of([ids], 30).holds(names)
    backwards = pa.RecordBatch.from_pydict({"pair_id": names[::-1]})
    assert drawn.tolist() == Drawn.of([backwards.slice(0, 90), backwards.slice(90)], 30).holds(names).tolist()
    assert drawn.sum() == 30 and np.flatnonzero(drawn).max() > 100 > np.flatnonzero(drawn).min()


def test_what_is_wrong_is_told_by_the_rows_of_the_corpus_whatever_is_drawn(tmp_path: Path) -> None:
    names = [f"n{i}" for i in range(40)]
    write_variants(tmp_path / "v", [(name, [f"{name} one", f"{name} two"]) for name in [*names, "n0"]])
    for limit in (2, 100):
        with pytest.raises(DataError, match="row 81: the variants of 'n0' stand in two places"):
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


def test_numbers_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DataError, match="2 variants have 1 log probabilities"):
        Adequacy.of(["a", "b"], [0, 2], logprob=[-1], tokens=[1])
    with pytest.raises(DataError, match="1 groups have 2 references"):
        Adequacy.of(["a", "b"], [0, 2], references=["a", "b"])


Run = Callable[..., tuple[int, str, str]]


def test_the_verb_shows_a_row_a_corpus(paraloom: Run, tmp_path: Path) -> None:
    trees = ["(S (N x))", "(S (V x))", "(S (N"] * 3
    write_variants(tmp_path / "nucleus", OURS, parses=trees)
    write_variants(tmp_path / "beam", [(key, [texts[0]] * 2) for key, texts in OURS], parses=["(S (N x))"] * 6)
    write_references(tmp_path / "r", REFERENCES)
    status, out, err = paraloom(
        "diversity", "--workers", 1, "nucleus", "beam", "--references", "r", "--kernels", "sst,bbh22"
    )
    assert status == 0, err
    lines = out.splitlines()
    assert lines[0].split()[:3] == ["corpus", "sources", "alone"] and lines[0].endswith("chrF")
    assert lines[2].split()[:5] == ["beam", "3", "0", "0.00", "0.00"]
    assert "nucleus: 3 of 9 parses failed (a bracket is never closed: 3)" in out
    status, out, err = paraloom("diversity", "--workers", 1, "nucleus", "beam", "--json", "-o", "measured")
    assert status == 0, err
    found = json.loads(out)
    assert [each["corpus"] for each in found] == ["nucleus", "beam"]
    page = (tmp_path / "measured" / "report.html").read_text(encoding="utf-8")
    assert "Diversity and adequacy" in page and "<title>diversity" in page
    assert '<th scope="row">beam</th><td class="n">3</td><td class="n">0</td><td class="n">0.00</td>' in page
    half = {row["figure"]: row["high"] - row["value"] for row in found[0]["figures"]}["ibleu"]
    assert f" ± {half:.2f}</td>" in page and half > 0
    ibleu = {row["figure"]: row["value"] for row in found[0]["figures"]}["ibleu"]
    assert ibleu == pytest.approx(np.mean([plain_ibleu(texts) for _, texts in OURS]))
    status, _, err = paraloom("diversity", "--workers", 1, "nucleus", "--kernels", "ssst")
    assert status == 1 and "did you mean 'sst'" in err


def test_what_is_asked_about_trees_is_not_passed_over(paraloom: Run, tmp_path: Path) -> None:
    (tmp_path / "v.tsv").write_text("pair_id\ttext\n1\ta\n1\tb\n")
    status, _, err = paraloom("diversity", "--workers", 1, "v.tsv", "--kernels", "sst")
    assert status == 1 and "v.tsv: there are no trees for kernels to compare" in err
    status, _, err = paraloom("diversity", "--workers", 1, "v.tsv", "--parser", "no/parser")
    assert status == 1 and "there is no file or folder" in err and ".toml" not in err
    for name, text in (
        ("t.tsv", "pair_id\ttext\ttext_parse\n1\ta\t(S (N a))\n1\tb\t(S (N\n"),
        (
            "t.jsonl",
            '{"pair_id": 1, "text": "a", "text_parse": "(S (N a))"}\n{"pair_id": 1, "text": "b", "text_parse": "("}\n',
        ),
    ):
        (tmp_path / name).write_text(text)
        status, out, err = paraloom("diversity", "--workers", 1, name)
        assert status == 0 and "1 of 2 parses failed (a bracket is never closed: 1)" in out, err
        status, _, err = paraloom("diversity", "--workers", 1, name, "--parser", "p")
        assert status == 1 and "it has trees already, in text_parse" in err


def test_a_run_does_not_take_the_folder_of_another(paraloom: Run, tmp_path: Path) -> None:
    write_variants(tmp_path / "one", OURS)
    write_variants(tmp_path / "two", OURS)
    assert paraloom("diversity", "--workers", 1, "one", "-o", "measured")[0] == 0
    assert paraloom("diversity", "--workers", 1, "two", "-o", "measured")[0] == 0
    (tmp_path / "p.toml").write_text('[[stage]]\nname = "mine"\nuse = "measure-diversity"\nvariants = "one"\n')
    status, _, err = paraloom("run", "p.toml", "-o", "measured")
    assert status == 1 and "this folder holds another run, 'diversity'" in err and "another folder" in err


def test_the_same_variants_in_any_format_have_the_same_figures(tmp_path: Path) -> None:
    write_variants(tmp_path / "a", OURS)
    table = pq.read_table(tmp_path / "a" / "part-00000.parquet")
    pq.write_table(table, tmp_path / "b.parquet")
    rows = table.drop_columns(["original_lang"]).to_pylist()
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]
    (tmp_path / "d.tsv").write_text("".join(f"{line}\n" for line in lines))
    fewer = ["pair_id\ttext", *(f"{row['pair_id']}\t{row['text']}" for row in rows)]
    (tmp_path / "less.tsv").write_text("".join(f"{line}\n" for line in fewer))
    text = '[[stage]]\nname = "a-measured"\nuse = "measure-diversity"\nvariants = "a"\n'
    for name in ("b.parquet", "c.jsonl", "d.tsv", "less.tsv"):
        plain = name.partition(".")[0]
        text += f'[[stage]]\nname = "{plain}"\nuse = "read-variants"\nsource = "{name}"\n'
        text += f'[[stage]]\nname = "{plain}-measured"\nuse = "measure-diversity"\nvariants = "{plain}"\n'
    result = run_pipeline(parse_pipeline(text, file=tmp_path / "p.toml"), tmp_path / "run", engine="inline")
    first, *others, without_costs = (stage.figures for stage in result.stages if stage.name.endswith("-measured"))
    assert others == [first] * 3 and first["cost"] > 0
    assert without_costs["uncosted"] == 9 and without_costs["cost"] is None
    assert {**without_costs, "uncosted": 0, "cost": 0, "cost_interval": 0} == {**first, "cost": 0, "cost_interval": 0}


def test_stages_are_named_after_what_they_measure() -> None:
    assert _names(["a/beam", "b/beam/", "b/beam.tsv.gz", "x y.parquet"]) == ["beam", "beam-no-2", "beam-no-3", "x-y"]


TABLES = [
    ("x.tsv", "id\ttext\n1\ta\n", "no column 'pair_id'"),
    ("x.tsv", "pair_id\ttext\n1\ta\n1\n", "row 2: the row has 1 fields"),
    ("x.tsv", "pair_id\ttext\ttokens\n1\ta\tmany\n", "row 1: 'tokens' is no number: 'many'"),
    ("x.jsonl", '{"pair_id": "1", "text": "a"}\n{"pair_id": "1"}\n', "row 2: there is no text at 'text'"),
    ("x.jsonl", "[]\n", "row 1: the line is JSON, but no object"),
    ("x.jsonl", "{\n", "row 1: the line is no JSON"),
    ("x.csv", "pair_id,text\n", "variants are not read from '.csv'"),
]


@pytest.mark.parametrize(("name", "content", "message"), TABLES)
def test_a_table_that_holds_no_variants_is_an_error(
    paraloom: Run, tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    status, _, err = paraloom("diversity", "--workers", 1, name)
    assert status == 1 and message in err


def test_a_null_in_parquet_is_an_error_with_its_row(paraloom: Run, tmp_path: Path) -> None:
    pq.write_table(pa.table({"pair_id": ["1", "1"], "text": ["a", None]}), tmp_path / "x.parquet")
    status, _, err = paraloom("diversity", "--workers", 1, "x.parquet")
    assert status == 1 and "row 2: 'text' is null" in err


def test_variants_are_made_parsed_and_measured(paraloom: Run, toy_translator: Path, tmp_path: Path) -> None:
    from world import bitext

    pairs = bitext(12, seed=5)
    (tmp_path / "kal.txt").write_text("".join(f"{kal}\n" for kal, _ in pairs[:4]))
    (tmp_path / "both.tsv").write_text("".join(f"{kal}\t{en}\n" for kal, en in pairs))
    tree = "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat))))\n"
    (tmp_path / "bank.mrg").write_text(tree * 20)
    assert paraloom("train", "parser", "bank.mrg", "-o", "parser")[0] == 0
    status, _, err = paraloom(
        "variants", "kal.txt", "--translator", toy_translator, "--outputs", 2, "-o", "of-text", "--workers", 1
    )  # fmt: skip
    assert status == 0, err
    status, _, err = paraloom(
        "variants", "both.tsv", "--translator", toy_translator, "--translator", toy_translator, "--decode", "beam:2",
        "--column", "src", "-o", "of-pairs", "--workers", 1,
    )  # fmt: skip
    assert status == 0, err
    status, out, err = paraloom("diversity", "--workers", 1, "of-text", "of-pairs", "--parser", "parser", "--json")
    assert status == 0, err
    text, both = json.loads(out)
    assert (text["groups"], text["variants"], both["groups"], both["variants"]) == (4, 8, 12, 24)
    figures = {row["figure"]: row["value"] for row in both["figures"]}
    assert figures["ibleu"] == 0 and figures["cost"] > 0  # one translator, twice the same beam
    assert both["kernels"][0]["texts"] == 24
    status, out, err = paraloom("diversity", "--workers", 1, "of-pairs", "--references", "both.tsv", "--json")
    assert status == 0, err
    assert {row["figure"]: row["value"] for row in json.loads(out)[0]["figures"]}["chrf"] > 20
    assert paraloom("variants", "kal.txt", "--translator", toy_translator, "--method", "syntax", "-o", "x")[0] == 1
