"""The table of free paraphrases: its rows, the selection, the sheet, several references, bad input."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path

import pytest
from commands import Command
from toy_syntax import text_of, tree_pairs

from paraloom import api
from paraloom.api.paraphrase_evaluation import ParaphraserEvaluation, read_references
from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.paraphrase_sets import ReferencedSentence

PAIRS = [
    ReferencedSentence("A dog sleeps in the garden.", ("The dog is asleep in the garden.", "A dog sleeps outside.")),
    ReferencedSentence("The film was good.", ("The movie was good.",)),
]
CANDIDATES = {
    "A dog sleeps in the garden.": ["A dog sleeps in the garden!", "A dog is sleeping in the garden."],
    "The film was good.": ["The film was good.", "Stocks fell in London."],
}


def table_of(texts: list[str]) -> list[list[str]]:
    """Candidates that are fixed; the first one is a copy, the last one of the second text means something else."""
    return [CANDIDATES[text] for text in texts]


def test_rows_and_the_selection() -> None:
    result = api.measure_paraphrasers({"fixed": table_of}, PAIRS)
    rows = {row.system: row for row in result.rows}
    assert [*rows] == ["copy", "reference", "fixed", "fixed + selection"]
    assert rows["copy"].copies == rows["fixed"].copies == 1 and rows["copy"].meaning_ibleu.value == 0
    assert rows["reference"].bleu is None and rows["reference"].self_bleu.value < 100
    # Nothing is kept of the second text's: its first candidate is measured.
    assert result.outputs is not None
    assert result.outputs["fixed + selection"] == ["A dog is sleeping in the garden.", "The film was good."]
    assert (rows["fixed + selection"].kept, rows["fixed + selection"].copies) == (0.5, 0.5)
    assert rows["copy"].meaning.value == pytest.approx(1)
    assert "judge:[" in result.signature and "selection:[selection|" in result.signature


def test_without_a_selection_and_a_judge() -> None:
    result = api.measure_paraphrasers({"fixed": table_of}, PAIRS, preset=None, judge="none", encoder=None)
    assert [row.system for row in result.rows] == ["copy", "reference", "fixed"]
    assert result.rows[0].meaning is None and "judge:[none]|selection:[none]" in result.signature


def test_the_judge_is_another_encoder() -> None:
    with pytest.raises(ConfigError, match="the encoder 'english' both selects and judges"):
        ParaphraserEvaluation({}, judge="english")
    with pytest.raises(DataError, match="no sentences to paraphrase"):
        ParaphraserEvaluation({}, judge=None).run([])


@pytest.mark.parametrize("names", [("copy",), ("reference",), ("ours", "ours + selection")])
def test_rows_have_names_of_their_own(names: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match=f"'{re.escape(names[-1])}' is the name of another row"):
        ParaphraserEvaluation(dict.fromkeys(names, table_of), judge=None)


def test_further_paraphrasers_have_other_names(paraloom: Command) -> None:
    command = ("evaluate", "paraphraser", "runs/older", "pairs.tsv", "--beside")
    status, _, err = paraloom(*command, "older=runs/oldest")
    assert status == 1 and "--beside: 'older' is the name of another row" in err
    status, _, err = paraloom(
        *("evaluate", "paraphraser", "round-trip:en-de,de-en", "pairs.tsv", "--beside", "round trip=x")
    )
    assert status == 1 and "--beside: 'round trip' is the name of another row" in err


@pytest.mark.parametrize(("option", "value", "bound"), [("rows", -1, "0 (all)"), ("candidates", 0, "1")])
def test_numbers_out_of_range(option: str, value: int, bound: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"'{option}' must be {bound} or more, got {value}")):
        ParaphraserEvaluation({}, judge=None, **{option: value})  # type: ignore[arg-type]


class German:
    """A paraphraser of another language."""

    language, signature = "de", "german"

    def paraphrase(self, texts: list[str], *, n: int = 5, seed: int = 0) -> list[list[str]]:
        return [[] for _ in texts]


def test_an_encoder_of_another_language() -> None:
    with pytest.raises(ConfigError, match=r"(?s)does not read German, the language of the paraphraser.*--judge none"):
        ParaphraserEvaluation({"german": German()}, preset=None)
    result = ParaphraserEvaluation({"german": German()}, preset=None, judge=None).run(PAIRS)
    assert result.outputs is not None and result.outputs["german"] == ["", ""]


def test_references_of_files(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tc\na b\td\ne\tf\na b\tc\n")
    assert read_references(path) == [ReferencedSentence("a b", ("c", "d")), ReferencedSentence("e", ("f",))]
    path.write_text("a b\tc\td\ne\tf\t\n")
    assert read_references(path, 2) == [ReferencedSentence("a b", ("c", "d")), ReferencedSentence("e", ("f",))]
    with pytest.raises(DataError, match="row 1: expected a sentence and 3 references, got 2"):
        read_references(path, 3)
    with pytest.raises(ConfigError, match="'references' must be 1 or more"):
        read_references(path, 0)


def test_equal_rows_of_references_are_not_held(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("a b\tc\td\n" * 20_000)
    tracemalloc.start()
    try:
        assert read_references(path, 2) == [ReferencedSentence("a b", ("c", "d"))]
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_the_command(paraloom: Command, toy_paraphraser: Path, tmp_path: Path) -> None:
    pairs = [(text_of(one), text_of(other)) for one, other in tree_pairs(12, seed=9)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    status, out, err = paraloom(
        *("evaluate", "paraphraser", f"toy={toy_paraphraser}", "pairs.tsv", "--rows", 6, "--candidates", 2),
        *("--beside", f"same={toy_paraphraser}", "--sheet", "sheet.tsv", "--samples", 2, "--json"),
    )
    assert status == 0, err
    rows = {row["system"]: row for row in json.loads(out)["rows"]}
    assert [*rows] == ["copy", "reference", "toy", "toy + selection", "same", "same + selection"]
    assert {row["n"] for row in rows.values()} == {6} and 0 <= rows["toy + selection"]["kept"] <= 1
    assert {**rows["same"], "system": "toy"} == rows["toy"]
    assert (tmp_path / "sheet.tsv.key.tsv").is_file() and "Next: paraloom evaluate sheet sheet.tsv" in err
    assert {len(line.split("\t")) for line in (tmp_path / "sheet.tsv").read_text().splitlines()} == {7}
    status, _, err = paraloom("evaluate", "paraphraser", "none", "pairs.tsv", "--sheet", "sheet.tsv")
    assert status == 1 and "sheet.tsv: the sheet exists already" in err
    status, _, err = paraloom("evaluate", "paraphraser", "round-trip:en-de", "pairs.tsv")
    assert status == 1 and "a round trip needs a translator for each direction" in err
    status, _, err = paraloom("evaluate", "paraphraser", "none", "pairs.tsv", "--beside", "here")
    assert status == 1 and "--beside 'here': expected NAME=REFERENCE" in err
