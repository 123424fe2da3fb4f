"""The commands `variants` and `diversity`: the table, every format of variants, parses, and invalid tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command
from toy_language import bitext
from toy_variants import OURS, REFERENCES, plain_ibleu, write_references, write_variants

from paraloom.api.variants import stage_names
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline


def test_diversity_prints_a_row_per_corpus(paraloom: Command, tmp_path: Path) -> None:
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
    rows = json.loads(out)
    assert [row["corpus"] for row in rows] == ["nucleus", "beam"]
    page = (tmp_path / "measured" / "report.html").read_text(encoding="utf-8")
    assert "<title>diversity" in page
    assert '<th scope="row">beam</th><td class="n">3</td><td class="n">0</td><td class="n">0.00</td>' in page
    half = {row["figure"]: row["high"] - row["value"] for row in rows[0]["figures"]}["ibleu"]
    assert f" ± {half:.2f}</td>" in page and half > 0
    ibleu = {row["figure"]: row["value"] for row in rows[0]["figures"]}["ibleu"]
    assert ibleu == pytest.approx(np.mean([plain_ibleu(texts) for _, texts in OURS]))
    status, _, err = paraloom("diversity", "--workers", 1, "nucleus", "--kernels", "ssst")
    assert status == 1 and "did you mean 'sst'" in err


@pytest.mark.slow
def test_options_about_parses_are_checked(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "v.tsv").write_text("pair_id\ttext\n1\ta\n1\tb\n")
    status, _, err = paraloom("diversity", "--workers", 1, "v.tsv", "--kernels", "sst")
    assert status == 1 and "v.tsv: tree kernels need parses" in err
    status, _, err = paraloom("diversity", "--workers", 1, "v.tsv", "--parser", "no/parser")
    assert status == 1 and "not found" in err and ".toml" not in err
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
        assert status == 1 and "the variants already have parses, in text_parse" in err


def test_only_the_sampled_sources_are_parsed_and_they_are_those_that_are_measured(
    paraloom: Command, tmp_path: Path
) -> None:
    rows = [{"pair_id": str(number // 2), "text": f"dog {number} sleeps"} for number in range(40)]
    (tmp_path / "v.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    measured = {}
    for parser in ((), ("--parser", "english")):
        status, out, err = paraloom(
            "diversity", "v.jsonl", "--limit", 5, *parser, "--json", "-o", "run", "--workers", 1
        )
        assert status == 0, err
        measured[parser] = {row["figure"]: row["value"] for row in json.loads(out)[0]["figures"]}
    plain, parsed = measured.values()
    assert plain == {name: parsed[name] for name in plain} and set(parsed) - set(plain) == {"kernel_sst"}
    report = json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))
    counts = {stage["name"]: stage["counts"] for stage in report["stages"] if "counts" in stage}
    assert counts["v--sample"]["rejected"] == 30 and counts["v--parsed"]["out"] == 10


def test_a_run_does_not_overwrite_the_folder_of_another(paraloom: Command, tmp_path: Path) -> None:
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
    assert stage_names(["a/beam", "b/beam/", "b/beam.tsv.gz", "x y.parquet"]) == [
        "beam",
        "beam-no-2",
        "beam-no-3",
        "x-y",
    ]
    assert stage_names(["a-no-2.tsv", "a", "a.tsv", "_a.tsv", "--.tsv"]) == [
        "a-no-2",
        "a",
        "a-no-3",
        "a-no-4",
        "variants",
    ]


@pytest.mark.slow
def test_names_of_files_do_not_clash_with_names_of_stages(paraloom: Command, tmp_path: Path) -> None:
    table = "pair_id\ttext\n1\ta b\n1\tb c\n"
    names = ("a", "a-read", "a--read", "references", "_b")
    for name in names:
        (tmp_path / f"{name}.tsv").write_text(table)
    (tmp_path / "dev.tsv").write_text("x\ta b\n")
    status, out, err = paraloom("diversity", "--workers", 1, *(f"{name}.tsv" for name in names), "--json")
    assert status == 0, err
    assert [row["corpus"] for row in json.loads(out)] == ["a", "a-read", "a-read-no-2", "references", "b"]


TABLES = [
    ("x.tsv", "id\ttext\n1\ta\n", "column 'pair_id' not found"),
    ("x.tsv", "pair_id\ttext\n1\ta\n1\n", "row 2: expected 2 fields, got 1"),
    ("x.tsv", "pair_id\ttext\ttokens\n1\ta\tmany\n", "row 1: 'tokens' must be a whole number, not 'many'"),
    ("x.jsonl", '{"pair_id": 1, "text": "a", "tokens": 2.7}\n', "row 1: 'tokens' must be a whole number, not 2.7"),
    (
        "x.jsonl",
        '{"pair_id": 1, "text": "a", "tokens": 30000000000}\n',
        "row 1: 'tokens' must be a whole number, not 300",
    ),
    ("x.jsonl", '{"pair_id": 1, "text": "a", "rank": 1e400}\n', "row 1: 'rank' must be a whole number, not inf"),
    ("x.jsonl", '{"pair_id": 1, "text": "a", "logprob": 1e400}\n', "row 1: 'logprob' must be a number, not inf"),
    ("x.jsonl", '{"pair_id": 1, "text": "a", "rank": true}\n', "row 1: 'rank' must be a whole number, not True"),
    ("x.jsonl", '{"pair_id": 1, "text": "a\\ud800"}\n', "row 1: the line has half of a surrogate pair"),
    ("x.jsonl", '{"pair_id": "1", "text": "a"}\n{"pair_id": "1"}\n', "row 2: 'text' is missing"),
    ("x.jsonl", "[]\n", "row 1: expected a JSON object, got list"),
    ("x.jsonl", "{\n", "row 1: the line is not valid JSON"),
    ("x.csv", "pair_id,text\n", "cannot read variants from a file of the format '.csv'"),
]


@pytest.mark.parametrize(("name", "content", "message"), TABLES)
def test_an_invalid_table_is_an_error(paraloom: Command, tmp_path: Path, name: str, content: str, message: str) -> None:
    (tmp_path / name).write_text(content)
    status, _, err = paraloom("diversity", "--workers", 1, name)
    assert status == 1 and message in err and "stage" not in err


def test_a_folder_that_is_not_a_corpus_is_an_error(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    status, _, err = paraloom("diversity", "--workers", 1, "folder")
    assert status == 1 and "folder: cannot read variants from a folder that is not a corpus" in err


def test_a_null_in_parquet_is_an_error_with_its_row(paraloom: Command, tmp_path: Path) -> None:
    pq.write_table(pa.table({"pair_id": ["1", "1"], "text": ["a", None]}), tmp_path / "x.parquet")
    status, _, err = paraloom("diversity", "--workers", 1, "x.parquet")
    assert status == 1 and "row 2: 'text' is null" in err


@pytest.mark.slow
def test_variants_are_translated_parsed_and_measured(paraloom: Command, toy_translator: Path, tmp_path: Path) -> None:
    pairs = bitext(12, seed=5)
    (tmp_path / "kal.txt").write_text("".join(f"{kal}\n" for kal, _ in pairs[:4]))
    (tmp_path / "both.tsv").write_text("".join(f"{kal}\t{en}\n" for kal, en in pairs))
    tree = "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT the) (NN cat))))\n"
    (tmp_path / "bank.mrg").write_text(tree * 20)
    assert paraloom("train", "parser", "bank.mrg", "--method", "grammar", "-o", "parser")[0] == 0
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
