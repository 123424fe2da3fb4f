"""Manual evaluation: the sample, the sheet and its key, the table of ratings and the agreement of raters."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from paraloom.core.errors import DataError
from paraloom.io.sheets import quote_formula, unquote_formula
from paraloom.pairs.annotation import (
    RANGES,
    RangeSample,
    sample_ranges,
    summarize_ratings,
    write_rating_sheet,
)


def pairs(count: int = 400) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "pair_id": [str(i) for i in range(count)],
            "src": [f"reference {i}" for i in range(count)],
            "tgt": [f"translation\t{i}" for i in range(count)],
            "paraphrase_score": pa.array([(i % 10) / 10 + 0.05 for i in range(count)], pa.float32()),
            "trigram_overlap": pa.array([0.5] * count, pa.float32()),
        }
    )


def label(sheet: Path, copy: Path, strength: list[int], fluency: int = 3) -> Path:
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    with copy.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), delimiter="\t")
        table.writeheader()
        for i, row in enumerate(rows):
            table.writerow({**row, "strength": strength[i % len(strength)], "fluency": fluency})
    return copy


def test_the_sample_does_not_depend_on_sharding_and_counts_all_pairs() -> None:
    batch = pairs()
    whole = sample_ranges([batch], count=7)
    parts = sample_ranges([batch.slice(0, 123), batch.slice(123)], count=7)
    assert [sample.rows for sample in whole] == [sample.rows for sample in parts]
    assert [(len(sample.rows), sample.in_range) for sample in whole] == [(7, 80)] * len(RANGES)
    assert all(sample.low < row["score"] <= sample.high for sample in whole for row in sample.rows)


def test_the_sheet_hides_the_score_and_the_key_keeps_it(tmp_path: Path) -> None:
    key = write_rating_sheet(sample_ranges([pairs()], count=3), tmp_path / "sheet.tsv")
    text = (tmp_path / "sheet.tsv").read_text(encoding="utf-8").splitlines()
    assert text[0] == "number\treference\ttranslation\tstrength\tfluency"
    assert len(text) == 1 + 15
    assert all("0." not in line for line in text)
    assert "(0.8, 1]" in key.read_text(encoding="utf-8")


def test_the_table_has_labels_and_agreement(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.tsv"
    key = write_rating_sheet(sample_ranges([pairs()], count=4), sheet)
    first = label(sheet, tmp_path / "a.tsv", [3, 2])
    second = label(sheet, tmp_path / "b.tsv", [3, 2])
    table = summarize_ratings([first, second], key)
    assert table["agreement"] == {"strength": 1.0, "fluency": None}
    assert sum(row["strength"]["3"] for row in table["rows"]) == 20
    assert [row["judged"] for row in table["rows"]] == [4] * 5
    assert table["rows"][0]["range"] == "(-0.1, 0.2]"
    # Both give 3 to half of the pairs and agree on half of them: no more than chance.
    third = label(sheet, tmp_path / "c.tsv", [3, 3, 2, 2])
    assert summarize_ratings([first, third], key)["agreement"]["strength"] == pytest.approx(0.0, abs=1e-9)


def test_a_missing_label_is_an_error_with_its_line(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.tsv"
    key = write_rating_sheet(sample_ranges([pairs()], count=1), sheet)
    with pytest.raises(DataError, match="line 2: strength is ''"):
        summarize_ratings([sheet], key)


@pytest.mark.parametrize("text", ['=HYPERLINK("http://a.example")', "+1", "-1", "@SUM(A1)", "＝1", "'=1", "'", "''x"])
def test_formulas_in_sheets_are_quoted_reversibly(text: str, tmp_path: Path) -> None:
    quoted = quote_formula(text)
    assert quoted == f"'{text}"
    assert unquote_formula(quoted) == text
    sample = RangeSample(0.0, 1.0, [{"src": text, "tgt": f"a {text}", "score": 0.5}], 1)
    write_rating_sheet([sample], tmp_path / "sheet.tsv")
    with (tmp_path / "sheet.tsv").open(encoding="utf-8", newline="") as stream:
        row = next(csv.DictReader(stream, delimiter="\t"))
    assert (row["reference"], row["translation"]) == (quoted, f"a {text}")


@pytest.mark.parametrize("text", ["", "a = b", "“=1”", "1-2"])
def test_other_texts_of_sheets_stay_as_they_are(text: str) -> None:
    assert quote_formula(text) == text == unquote_formula(text)
