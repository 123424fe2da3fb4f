"""Bad input for judges, tried from the shell: other languages, long and empty sides, labels that decide nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paraloom import as_pairs
from paraloom.api import draw_labels

Command = Callable[..., tuple[int, str, str]]

GERMAN = [
    ("Der Hund schläft heute nicht im Haus.", "Heute schläft der Hund nicht in dem Haus."),
    ("Wir sind gestern mit dem Zug in die Stadt gefahren.", "Gestern nahmen wir den Zug in die Stadt."),
    ("Das ist ein sehr schönes Buch, das ich gelesen habe.", "Ich habe dieses schöne Buch gelesen."),
] * 10
ROWS = [{"src": f"sentence {number}", "tgt": f"phrase {number}", "judge": number / 200} for number in range(200)]


def scored(command: Command, path: Path, pairs: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], str]:
    """The rows that `score --with judge` writes, and what it says."""
    path.write_text("".join(f"{first}\t{second}\n" for first, second in pairs), encoding="utf-8")
    status, _, err = command("score", path, "--with", "judge", "-o", path.with_suffix(".jsonl"))
    assert status == 0, err
    lines = path.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines], err


def test_a_language_that_the_judge_does_not_know_is_said_with_what_to_do(paraloom: Command, tmp_path: Path) -> None:
    _, err = scored(paraloom, tmp_path / "de.tsv", GERMAN)
    assert "'src' is German, but the bundled judge is for English" in err
    assert "--judge takes a judge of another language" in err
    status, _, err = paraloom("filter", tmp_path / "de.tsv", "--preset", "balanced", "-o", tmp_path / "kept.tsv")
    assert status == 0 and "'src' is German, but the paraphrase model and the bundled judge are for English" in err
    assert "The scores are by models of another language than the pairs, so they decide little." in err


def test_long_sides_are_judged_in_windows(paraloom: Command, tmp_path: Path) -> None:
    sentences = [f"The dog number {number} sleeps in the small house near the river." for number in range(50)]
    changed = [*sentences[:40], "Nobody has ever seen a cat.", *sentences[41:]]
    one, other = " ".join(sentences), " ".join(changed)
    rows, _ = scored(paraloom, tmp_path / "long.tsv", [(one, one), (one, other)])
    # 500 words; the sentence that differs is far behind those that one window reads.
    assert rows[0]["judge"] > 0.8 > 0.3 > rows[1]["judge"]


def test_empty_sides_are_rejected_with_their_row(paraloom: Command, tmp_path: Path) -> None:
    rows, err = scored(paraloom, tmp_path / "empty.tsv", [("A dog sleeps.", ""), (" ", " "), ("A dog.", "A dog.")])
    assert len(rows) == 1 and "row 1 of empty.tsv: 'tgt' is empty" in err
    assert "row 2 of empty.tsv: 'src' and 'tgt' are empty" in err


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    """Pairs to label, and a file of the pairs."""
    as_pairs(ROWS).write(tmp_path / "pairs.parquet")
    draw_labels(tmp_path / "pairs.parquet", tmp_path / "sheet.tsv", precision=0.9)
    return tmp_path / "sheet.tsv"


def labeled(sheet: Path, name: str, label: Callable[[int], int], *, rows: int | None = None) -> Path:
    """The sheet, filled in by a rater."""
    head, *lines = sheet.read_text().splitlines()
    filled = [line.rstrip("\t") + f"\t{label(number)}" for number, line in enumerate(lines[:rows])]
    sheet.with_name(name).write_text("\n".join([head, *filled]) + "\n")
    return sheet.with_name(name)


def refused(command: Command, sheet: Path, *labels: Path, pairs: Path | None = None) -> str:
    """What `filter` says that promises nothing."""
    files = ",".join(map(str, labels))
    output = sheet.with_name("kept.jsonl")
    pairs = pairs or sheet.with_name("pairs.parquet")
    status, _, err = command("filter", pairs, "--precision", 0.9, "--labels", files, "-o", output)
    assert status == 1 and not output.exists()
    return err


def test_labels_of_one_class_and_too_few_say_how_many_are_needed(paraloom: Command, sheet: Path) -> None:
    wrong = refused(paraloom, sheet, labeled(sheet, "wrong.tsv", lambda _: 0))
    assert "cannot be promised: 0 of" in wrong and "Ask for less precision" in wrong
    few = refused(paraloom, sheet, labeled(sheet, "few.tsv", lambda _: 1, rows=3))
    assert "have no label yet" in few and "at least" in few


def test_raters_who_disagree_are_told_how_far(paraloom: Command, sheet: Path) -> None:
    first, second = labeled(sheet, "ada.tsv", lambda row: row % 2), labeled(sheet, "bob.tsv", lambda row: 1 - row % 2)
    message = refused(paraloom, sheet, first, second)
    assert (
        "raters agree on 0 of 40 pairs; 40 ties count as wrong" in message and "the sheet of a third rater" in message
    )


def test_labels_of_another_corpus_are_refused_and_some_of_it_counted(paraloom: Command, sheet: Path) -> None:
    others = [row | {"src": f"other {row['src']}"} for row in ROWS]
    as_pairs(others).write(sheet.with_name("others.parquet"))
    wrong = labeled(sheet, "labels.tsv", lambda _: 0)
    message = refused(paraloom, sheet, wrong, pairs=sheet.with_name("others.parquet"))
    assert "40 of 40 labeled pairs are not among the 200 pairs" in message and "labels.tsv, row 2" in message
    mixed = [other if number % 4 == 0 else row for number, (row, other) in enumerate(zip(ROWS, others, strict=True))]
    as_pairs(mixed).write(sheet.with_name("mixed.parquet"))
    message = refused(paraloom, sheet, wrong, pairs=sheet.with_name("mixed.parquet"))
    assert "of 40 labeled pairs are not among these, and do not count" in message
