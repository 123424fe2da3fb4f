"""Filters with a promised precision: sheets that are drawn and filled in, cuts, raters, and labels that do not fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paraloom import Pairs, Pipeline, as_pairs
from paraloom.api import draw_labels, preview_filter
from paraloom.cli.main import app
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.sheets import read_sheet, sheet_lines
from paraloom.pairs.filtering.judgments import SHEET_COLUMNS, pair_keys, read_judgments
from paraloom.stages import Filter

ROWS = 1200


def table(**columns: Any) -> pa.Table:
    """Pairs whose translation says whether they are right; the better the score, the more often."""
    random = np.random.default_rng(1)
    scores = random.random(ROWS)
    right = random.random(ROWS) < np.minimum(1, 0.3 + scores)
    texts = {
        "src": [f"reference {number}" for number in range(ROWS)],
        "tgt": [f"=translation\t{number}  {'right' if one else 'wrong'}" for number, one in enumerate(right)],
    }
    return pa.table({**texts, "judge": scores, **columns})


def fill(sheet: Path, label: Callable[[dict[str, str]], str] | None = None, *, rows: slice = slice(None)) -> Path:
    """Fill in a sheet as a rater does, in place."""
    filled = read_sheet(sheet, SHEET_COLUMNS, kind="sheet", remedy="")
    for row in filled[rows]:
        row["right"] = label(row) if label else "1" if row["translation"].endswith("right") else "0"
    sheet.write_text("".join(sheet_lines(SHEET_COLUMNS, [list(row.values()) for row in filled])), encoding="utf-8")
    return sheet


def sheets(folder: Path, count: int, pairs: pa.Table, precision: float = 0.8, **criteria: Any) -> list[Path]:
    """Sheets drawn one after the other, each filled in."""
    filled: list[Path] = []
    for number in range(count):
        sheet = folder / f"sheet{number}.tsv"
        if draw_labels(pairs, sheet, precision=precision, labels=filled, **criteria):
            filled.append(fill(sheet))
    return filled


def right(pairs: Pairs) -> float:
    """Share of right pairs."""
    return float(np.mean([row["tgt"].endswith("right") for row in pairs.to_list()]))


def test_sheets_certify_a_cut(tmp_path: Path) -> None:
    labels = sheets(tmp_path, 4, table())
    kept = as_pairs(table()).filter(precision=0.8, labels=labels)
    assert right(kept) >= 0.8
    assert len(kept) > ROWS / 10
    result = as_pairs(table()).filter(precision=0.8, labels=labels).write(tmp_path / "kept.parquet")
    promise = result.stages[-1].figures["promise"]
    assert promise["by"] == "judge" and promise["summary"] in result.format()
    assert promise["rows"] == len(kept) + result.stages[-1].reasons["labeled wrong"]
    assert preview_filter(table(), precision=0.8, labels=labels)[0].alone == len(kept)


def test_lower_is_better_for_costs(tmp_path: Path) -> None:
    costs = pa.array(-np.asarray(table()["judge"]))
    pairs = table().drop_columns("judge").append_column("cost", costs)
    criteria: dict[str, Any] = {"by": "cost", "best": "lowest"}
    same = sheets(tmp_path, 4, pairs, **criteria)
    kept = as_pairs(pairs).filter(precision=0.8, labels=same, **criteria).to_list()
    first = as_pairs(table()).filter(precision=0.8, labels=same).to_list()
    assert [row["tgt"] for row in kept] == [row["tgt"] for row in first]


def test_rows_without_a_score_are_rejected(tmp_path: Path) -> None:
    scores = np.asarray(table()["judge"]).copy()
    scores[::3] = np.nan
    pairs = table().set_column(2, "judge", pa.array(scores))
    result = as_pairs(pairs).filter(precision=0.8, labels=sheets(tmp_path, 4, pairs)).write(tmp_path / "kept.parquet")
    assert result.stages[-1].reasons["undefined: judge"] == ROWS / 3


def test_where_is_met_by_drawn_and_kept_pairs(tmp_path: Path) -> None:
    where = "src LIKE '%1%'"
    labels = sheets(tmp_path, 4, table(), where=where)
    assert all("1" in row["reference"] for sheet in labels for row in read_sheet(sheet, (), kind="", remedy=""))
    assert all("1" in row["src"] for row in as_pairs(table()).filter(where, precision=0.8, labels=labels).to_list())


def test_copies_count_once(tmp_path: Path) -> None:
    twice = pa.concat_tables([table(), table()])
    labels = sheets(tmp_path, 4, table())
    once = as_pairs(table()).filter(precision=0.8, labels=labels)
    assert len(as_pairs(twice).filter(precision=0.8, labels=labels)) == 2 * len(once)


def refused(labels: list[Path], precision: float = 0.8, pairs: pa.Table | None = None) -> str:
    """What a filter says that promises nothing."""
    with pytest.raises((ConfigError, DataError)) as caught:
        len(as_pairs(table() if pairs is None else pairs).filter(precision=precision, labels=labels))
    return str(caught.value)


def test_too_few_labels_are_counted(tmp_path: Path) -> None:
    assert "a precision is promised by labels, and none are given" in refused([])
    blank = tmp_path / "blank.tsv"
    draw_labels(table(), blank, precision=0.8)
    assert "no pair has a label" in refused([blank])
    fill(blank, rows=slice(0, 25))
    assert "15 of the first 40 pairs have no label yet" in refused([blank])
    assert "more labels are needed" in refused([fill(blank, lambda row: "y")], precision=0.9)


def test_too_many_wrong_ones_are_said(tmp_path: Path) -> None:
    labels: list[Path] = []
    for number in range(2):
        draw_labels(table(), tmp_path / f"{number}.tsv", precision=0.95, labels=labels)
        labels.append(fill(tmp_path / f"{number}.tsv", lambda row: "n"))
    message = refused(labels, precision=0.95)
    assert "a precision of 95 % with a confidence of 95 % cannot be promised: 0 of" in message
    assert "Ask for less precision" in message


def test_labels_of_another_corpus_are_named(tmp_path: Path) -> None:
    labels = sheets(tmp_path, 1, table())
    others = table().set_column(0, "src", pa.array([f"other {number}" for number in range(ROWS)]))
    message = refused(labels, pairs=others)
    assert "40 of 40 labeled pairs are not among the 1,200 pairs" in message
    assert "sheet0.tsv, row 2" in message


def test_labels_that_were_chosen_promise_nothing(tmp_path: Path) -> None:
    rows = [(number, row["src"], row["tgt"], 1) for number, row in enumerate(table().slice(0, 300).to_pylist())]
    chosen = tmp_path / "chosen.tsv"
    chosen.write_text("".join(sheet_lines(SHEET_COLUMNS, rows)))
    assert "they are not a random sample" in refused([chosen])


def test_majority_of_raters_decides_and_ties_are_wrong(tmp_path: Path) -> None:
    text = "number\treference\ttranslation\tright_ada\tright_bob\n"
    (tmp_path / "two.tsv").write_text(text + "1\ta\tb\ty\tn\n2\tc\td\tyes\t1\n3\te\tf\t0\t\n")
    (tmp_path / "third.tsv").write_text("src\ttgt\tlabel\na\tb\t1\ng\th\t\n")
    first = read_judgments([tmp_path / "two.tsv"])
    keys = pair_keys("aceg", "bdfh").tolist()
    assert [first.labels.get(key) for key in keys] == [0, 1, 0, None]
    assert first.format() == "raters agree on 1 of 2 pairs; 1 ties count as wrong"
    both = read_judgments([tmp_path / "two.tsv", tmp_path / "third.tsv"])
    assert [both.labels.get(key) for key in keys] == [1, 1, 0, None]


BAD_SHEETS = [
    ("number\treference\ttranslation\tright\n1\ta\tb\tmaybe\n", "row 2: unknown label 'maybe' in column 'right'"),
    ("reference\ttranslation\tright\na\tb\t1\na \tb\t0\n", "row 3: the pair of row 2 again, with another label"),
    ("reference\ttranslation\tnote\na\tb\t1\n", "column 'right' not found"),
    ("left\tother\tright\na\tb\t1\n", "column 'reference' and 'translation' not found"),
    ("reference\ttranslation\tright\na\tb\t\n", "no pair has a label"),
]


@pytest.mark.parametrize(("text", "message"), BAD_SHEETS)
def test_bad_sheets_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "sheet.tsv").write_text(text)
    with pytest.raises(DataError) as caught:
        read_judgments([tmp_path / "sheet.tsv"])
    assert message in str(caught.value)


def test_strength_of_rating_sheets_counts(tmp_path: Path) -> None:
    text = "number\treference\ttranslation\tstrength\tfluency\n1\ta\tb\t3\t2\n2\tc\td\t2\t3\n"
    (tmp_path / "sheet.tsv").write_text(text)
    assert list(read_judgments([tmp_path / "sheet.tsv"]).labels.values()) == [1, 0]


def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    pairs = as_pairs(table())
    refused: list[tuple[dict[str, Any], str]] = [
        ({"precision": 1.0}, "'precision' must be between 0 and 1"),
        ({"precision": 0.9, "confidence": 0.0}, "'confidence' must be between 0 and 1"),
        ({"precision": 0.9, "top": 0.5, "by": "judge"}, "'precision' cannot be combined"),
        ({"labels": ["a.tsv"]}, "'labels' need 'precision'"),
        ({"precision": 0.9, "by": "unknown"}, "unknown which end of 'unknown' is the better one"),
    ]
    for criteria, message in refused:
        with pytest.raises(ConfigError, match=message):
            pairs.filter(**criteria)
    with pytest.raises(ConfigError, match="column judge or p_paraphrase not found"):
        draw_labels(table().drop_columns("judge"), tmp_path / "sheet.tsv", precision=0.9)
    draw_labels(table(), tmp_path / "sheet.tsv", precision=0.9)
    with pytest.raises(ConfigError, match="the sheet exists already"):
        draw_labels(table(), tmp_path / "sheet.tsv", precision=0.9)


def test_command_refuses_without_output_then_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: object) -> int:
        with pytest.raises(SystemExit) as ended:
            app(["filter", str(tmp_path / "scored.parquet"), "--precision", "0.8", *map(str, arguments)])
        return int(ended.value.code or 0)

    as_pairs(table()).write(tmp_path / "scored.parquet")
    kept, labels = tmp_path / "kept.parquet", ""
    assert run("-o", kept) == 1
    for number in range(4):
        sheet = tmp_path / f"sheet{number}.html"
        drawn = run("--draw", sheet, *(["--labels", labels] if labels else []))
        assert drawn == 0 and sheet.is_file()
        labels = ",".join(filter(None, [labels, str(fill(sheet.with_suffix(".tsv")))]))
        if number == 0:
            capsys.readouterr()
            assert run("--labels", labels, "-o", kept) == 1 and not kept.exists()
            assert "cannot be promised yet" in capsys.readouterr().err
    assert run("--labels", labels, "-o", kept) == 0 and kept.is_file()
    assert "at least 80 % are right, with a confidence of 95 %" in capsys.readouterr().err


def test_pipeline_in_toml_reads_labels(tmp_path: Path) -> None:
    labels = sheets(tmp_path, 4, table())
    pairs = as_pairs(table())
    text = Pipeline([Filter(input=pairs.corpus().folder, precision=0.8, labels=labels)], name="promised").to_toml()
    (tmp_path / "promised.toml").write_text(text)
    result = Pipeline.from_toml(tmp_path / "promised.toml").run(tmp_path / "run")
    assert result.stages[-1].counts.out == len(as_pairs(table()).filter(precision=0.8, labels=labels))
