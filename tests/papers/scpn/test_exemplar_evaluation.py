"""Distances to references and exemplars by hand; the commands with a toy paraphraser."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command
from toy_syntax import write_parsed_pairs

from paraloom.core.errors import ConfigError, DataError
from paraloom.papers import write_exemplars
from paraloom.papers.scpn.exemplar_evaluation import WHOLE, ExemplarResult, evaluate_exemplars, exemplar_signature
from paraloom.papers.scpn.measure_exemplars import _read_set, find_exemplars, measure_exemplars

PLAIN = "(S (NP (PRP It)) (VP (VBZ rains)))"
FRONTED = "(S (ADVP (RB Now)) (NP (PRP it)) (VP (VBZ rains)))"


def test_by_hand() -> None:
    row = evaluate_exemplars(
        "x",
        sources=["Rain falls", "Now it rains"],
        outputs=["It rains", "now it rains!"],
        references=["It rains", "It rains"],
        trees={"output": [PLAIN, None], "reference": [PLAIN, PLAIN], "exemplar": [FRONTED, PLAIN]},
        heights=(1, 2, WHOLE),
    )
    # An output without a tree is one unknown label: S relabeled, and 0, 2 or 4 labels inserted.
    assert [row.ted_reference[height].value for height in (1, 2, WHOLE)] == [1 / 2, 3 / 2, 5 / 2]
    # Against FRONTED: none at height 1, ADVP at height 2, ADVP and RB in all.
    assert [row.ted_exemplar[height].value for height in (1, 2, WHOLE)] == [1 / 2, (1 + 3) / 2, (2 + 5) / 2]
    # ROUGE-1: 1 and 2 · 2 / (3 + 2); ROUGE-2: 1 and 2 · 1 / (2 + 1).
    assert [one.value for one in row.rouge] == pytest.approx([90, 100 * (1 + 2 / 3) / 2, 90])
    assert (row.copies, row.parsed, row.n, row.known) == (1 / 2, 1 / 2, 2, None)


def test_the_table() -> None:
    row = evaluate_exemplars(
        "x",
        sources=["Rain"],
        outputs=["It rains"],
        references=["It rains"],
        trees={"output": [PLAIN], "reference": [PLAIN], "exemplar": [FRONTED]},
        heights=(2, WHOLE),
        known=1.0,
    )
    described = exemplar_signature([("a", "b", "c")], parser="p", heights=(2, WHOLE), forced=4, rule="given", seed=1)
    lines = ExemplarResult((row,), described).format().splitlines()
    assert lines[0].startswith("| system | TED-R@2 | TED-E@2 | TED-R@tree | TED-E@tree | BLEU |")
    assert "| x | 0.00 [0.00, 0.00] | 1.00 [1.00, 1.00] | 0.00 [0.00, 0.00] | 2.00 [2.00, 2.00] |" in lines[2]
    assert "exemplars|ted:zhang-shasha|heights:2+tree|forced:4|root:none|parser:" in lines[-1]
    assert described != exemplar_signature(
        [("a", "b", "c")], parser="q", heights=(2, WHOLE), forced=4, rule="given", seed=1
    )
    with pytest.raises(DataError, match="expected one output, reference and tree"):
        evaluate_exemplars("x", sources=["a"], outputs=[], references=["b"], trees={})


def test_files_of_exemplars(tmp_path: Path) -> None:
    rows = [{"src": f"a {number}", "exemplar": "b", "tgt": "c"} for number in range(3)]
    path = tmp_path / "set.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    assert [one.source for one in _read_set(path, 2)] == ["a 0", "a 1"]
    rows[1]["exemplar"] = None  # type: ignore[assignment]
    pq.write_table(pa.Table.from_pylist(rows), path)
    with pytest.raises(DataError, match=r"set.parquet, row 2: column 'exemplar' is empty"):
        list(_read_set(path, 3))
    pq.write_table(pa.Table.from_pylist(rows).drop_columns(["tgt"]), path)
    with pytest.raises(DataError, match=r"set.parquet: column 'tgt' not found"):
        list(_read_set(path, 3))


def test_bad_input(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing.parquet: file not found"):
        find_exemplars(tmp_path / "nothing.parquet")
    for rows in (0, -1):
        with pytest.raises(ConfigError, match=f"'rows' must be 1 or more, got {rows}"):
            find_exemplars(tmp_path, rows=rows)
        with pytest.raises(ConfigError, match=f"'rows' must be 1 or more, got {rows}"):
            measure_exemplars(tmp_path, tmp_path, rows=rows)


@pytest.mark.slow
def test_the_commands(paraloom: Command, toy_paraphraser: Path, tmp_path: Path) -> None:
    write_parsed_pairs(tmp_path / "pairs", 60, seed=7)
    # The toy language has few words: an exemplar shares some with the pair in most cases.
    count = write_exemplars(tmp_path / "pairs", tmp_path / "set.parquet", rows=8)
    rows = pq.read_table(tmp_path / "set.parquet").to_pylist()
    assert rows and len(rows) == count and all(row["exemplar"] not in (row["src"], row["tgt"]) for row in rows)
    assert all(row["exemplar_distance"] <= 4 for row in rows)
    for given, more in (("set.parquet", ()), ("pairs", ("--save-exemplars", "again.parquet"))):
        status, out, err = paraloom(
            *("research", "evaluate-control", toy_paraphraser, given, "--by", "exemplar", "--rows", 8, "--json"),
            *("--beside", f"other={toy_paraphraser}", *more),
        )
        assert status == 0, err
        table = {row["system"]: row for row in json.loads(out)["rows"]}
        assert [*table] == [
            *("source copied", "exemplar copied", "reference", "no control", "exemplar", "nearest of 5"),
            *("other: no control", "other: exemplar", "other: nearest of 5"),
        ]
        assert table["exemplar copied"]["ted_exemplar"]["4"]["value"] == table["source copied"]["copies"] - 1 == 0
        assert table["reference"]["ted_reference"]["4"]["value"] == 0
        assert table["reference"]["bleu"]["value"] == pytest.approx(100)
        assert table["exemplar"]["known"] == 1 and table["other: exemplar"]["bleu"] == table["exemplar"]["bleu"]
    assert pq.read_table(tmp_path / "again.parquet").to_pylist() == rows
    exists = (toy_paraphraser, "set.parquet", "--by", "exemplar", "--save-exemplars", "set.parquet")
    status, _, err = paraloom("research", "evaluate-control", *exists)
    assert (status, "the file exists" in err, pq.read_table(tmp_path / "set.parquet").to_pylist()) == (1, True, rows)
    status, _, err = paraloom("research", "evaluate-control", toy_paraphraser, "pairs", "--pool", "pairs")
    assert status == 2 and "are for --by exemplar" in " ".join(err.split())
    with pytest.raises(DataError, match="has an exemplar"):
        write_exemplars(tmp_path / "pairs", tmp_path / "none.parquet", max_overlap=0)
