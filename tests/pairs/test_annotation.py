"""Judging by hand: what is drawn, what the sheet hides, the table and the raters' agreement by pencil."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pytest

from paraloom.core.errors import DataError
from paraloom.pairs.annotation import RANGES, draw, judged, write_sheet


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


def labelled(sheet: Path, copy: Path, strength: list[int], fluency: int = 3) -> Path:
    with sheet.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    with copy.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, list(rows[0]), delimiter="\t")
        table.writeheader()
        for i, row in enumerate(rows):
            table.writerow({**row, "strength": strength[i % len(strength)], "fluency": fluency})
    return copy


def test_the_draw_is_the_same_at_any_sharding_and_counts_every_pair() -> None:
    batch = pairs()
    whole = draw([batch], count=7)
    parts = draw([batch.slice(0, 123), batch.slice(123)], count=7)
    assert [each.rows for each in whole] == [each.rows for each in parts]
    assert [(len(each.rows), each.in_range) for each in whole] == [(7, 80)] * len(RANGES)
    assert all(each.low < row["score"] <= each.high for each in whole for row in each.rows)


def test_the_sheet_hides_the_score_and_the_key_keeps_it(tmp_path: Path) -> None:
    key = write_sheet(draw([pairs()], count=3), tmp_path / "sheet.tsv")
    text = (tmp_path / "sheet.tsv").read_text(encoding="utf-8").splitlines()
    assert text[0] == "number\treference\ttranslation\tstrength\tfluency"
    assert len(text) == 1 + 15
    assert all("0." not in line for line in text)
    assert "(0.8, 1]" in key.read_text(encoding="utf-8")


def test_the_table_counts_labels_and_agreement(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.tsv"
    key = write_sheet(draw([pairs()], count=4), sheet)
    first = labelled(sheet, tmp_path / "a.tsv", [3, 2])
    second = labelled(sheet, tmp_path / "b.tsv", [3, 2])
    table = judged([first, second], key)
    assert table["agreement"] == {"strength": 1.0, "fluency": None}
    assert sum(row["strength"]["3"] for row in table["rows"]) == 20
    assert [row["judged"] for row in table["rows"]] == [4] * 5
    assert table["rows"][0]["range"] == "(-0.1, 0.2]"
    # Each says 3 half of the time, they agree half of the time: no more than chance.
    third = labelled(sheet, tmp_path / "c.tsv", [3, 3, 2, 2])
    assert judged([first, third], key)["agreement"]["strength"] == pytest.approx(0.0, abs=1e-9)


def test_a_missing_label_is_named(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.tsv"
    key = write_sheet(draw([pairs()], count=1), sheet)
    with pytest.raises(DataError, match="line 2: strength is ''"):
        judged([sheet], key)
