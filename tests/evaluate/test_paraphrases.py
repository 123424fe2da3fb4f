"""Figures of free paraphrases, by hand and by sacreBLEU; public sets; sheets to judge by hand."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from commands import Command

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.seeds import generator
from paraloom.core.stage import StageContext
from paraloom.core.stats import wilson_interval
from paraloom.evaluate.paraphrase_sets import (
    TEST_IMAGES,
    ReferencedSentence,
    draw_sentences,
    is_test_image,
)
from paraloom.evaluate.paraphrase_sheet import QUESTIONS, count_sheet, write_paraphrase_sheet
from paraloom.evaluate.paraphrases import ParaphraseResult, evaluate_paraphrases, meaning_ibleu, repeats_itself
from paraloom.evaluate.resampling import corpus_scores, mean_scores, sample_counts, with_interval
from paraloom.io.sheets import key_path
from paraloom.stages import Split

SOURCES = ["A dog runs off into the wood.", "The cat sleeps in the garden today.", "It rains."]
OUTPUTS = ["A dog runs away into the wood.", "The cat sleeps in the garden today.", "It it rains."]
REFERENCES = [
    ["The dog runs away into a wood."],
    ["Today the cat sleeps in a garden.", "A cat sleeps."],
    ["Rain falls."],
]


def test_corpus_scores_are_those_of_sacrebleu() -> None:
    row = evaluate_paraphrases("x", SOURCES, OUTPUTS, REFERENCES, samples=50)
    streams = [[one[0] for one in REFERENCES], [one[1] if len(one) > 1 else None for one in REFERENCES]]
    bleu = sacrebleu.BLEU(lowercase=True).corpus_score(OUTPUTS, streams).score
    own = sacrebleu.BLEU(lowercase=True).corpus_score(OUTPUTS, [SOURCES]).score
    chrf = sacrebleu.CHRF(lowercase=True).corpus_score(OUTPUTS, streams).score
    assert row.bleu is not None and row.chrf is not None and row.ibleu is not None
    assert (row.bleu.value, row.self_bleu.value, row.chrf.value) == pytest.approx((bleu, own, chrf))
    assert row.ibleu[0.8].value == pytest.approx(0.8 * bleu - 0.2 * own)
    assert row.ibleu[0.9].value == pytest.approx(0.9 * bleu - 0.1 * own)
    assert row.bleu.low <= row.bleu.value <= row.bleu.high


def test_a_sample_is_scored_as_its_sentences() -> None:
    counts = np.array([[2, 1, 0]])
    scores = corpus_scores(sacrebleu.BLEU(), OUTPUTS, [[source] for source in SOURCES], counts)
    outputs, sources = ([texts[0], texts[0], texts[1]] for texts in (OUTPUTS, SOURCES))
    assert scores[1] == pytest.approx(sacrebleu.BLEU().corpus_score(outputs, [sources]).score)
    assert mean_scores([3.0, 6.0, 0.0], counts).tolist() == [3, 4]
    assert with_interval(mean_scores([3.0] * 3, sample_counts(3, 10))).format() == "3 [3, 3]"
    assert sample_counts(7, 5).sum(axis=1).tolist() == [7] * 5


@pytest.mark.parametrize("n", [1, 7, 1000])
def test_samples_are_drawn_one_by_one_from_one_stream(n: int) -> None:
    drawn = generator(3, n).integers(n, size=(20, n))
    assert np.array_equal(sample_counts(n, 20, 3), [np.bincount(row, minlength=n) for row in drawn])


def test_samples_take_little_more_memory_than_their_counts() -> None:
    sample_counts(10, 10)
    tracemalloc.start()
    try:
        counts = sample_counts(2000, 200)
        assert tracemalloc.get_traced_memory()[1] < 1.2 * counts.nbytes
    finally:
        tracemalloc.stop()


def test_shares_by_hand() -> None:
    row = evaluate_paraphrases("x", SOURCES, OUTPUTS, REFERENCES, similarities=[0.9, 1.0, 0.8], samples=20)
    assert (row.copies, row.repeats, row.distinct) == (1 / 3, 1 / 3, 1)
    assert row.length_ratio == pytest.approx((7 / 7 + 7 / 7 + 3 / 2) / 3)
    assert row.meaning is not None and row.meaning.value == pytest.approx(0.9)
    own = [sacrebleu.sentence_bleu(OUTPUTS[i], [SOURCES[i]], lowercase=True).score for i in (0, 2)]
    harmonic = [5 / (4 / 90 + 1 / (100 - own[0])), 0, 5 / (4 / 80 + 1 / (100 - own[1]))]
    assert row.meaning_ibleu is not None and row.meaning_ibleu.value == pytest.approx(sum(harmonic) / 3)


def test_odd_values() -> None:
    assert meaning_ibleu(-0.5, 10) == meaning_ibleu(float("nan"), 10) == meaning_ibleu(1, 100) == 0
    assert meaning_ibleu(1, 0) == pytest.approx(100)
    assert repeats_itself("a b c d a b c") and not repeats_itself("a b c a b d")
    row = evaluate_paraphrases("x", ["A"], [""], None, samples=5)
    assert (row.bleu, row.chrf, row.ibleu, row.meaning, row.length_ratio) == (None, None, None, None, 0)
    with pytest.raises(DataError, match="expected outputs and references of 2 sentences, got 1, 2"):
        evaluate_paraphrases("x", ["A", "B"], ["C"], [["D"], ["E"]])


def test_the_table() -> None:
    # The third one is too short for BLEU: a sample of it alone has less than 100.
    row = evaluate_paraphrases("copy", SOURCES[:2], SOURCES[:2], REFERENCES[:2], samples=20, kept=0.5)
    text = ParaphraseResult((row,), "signature").format().splitlines()
    assert text[0].count("|") == text[1].count("|") == text[2].count("|") and text[-1] == "n = 2 · signature"
    assert "| 100.0 [100.0, 100.0] |" in text[2] and "| 100.0% | 0.0% | 100.0% | 1.00 | 50.0% |" in text[2]
    figures = row.to_dict()
    assert figures["copies"] == 1 and set(figures["ibleu"]) == {"0.8", "0.9"}


def test_drawn_sentences() -> None:
    sentences = [ReferencedSentence(str(number), ("x",)) for number in range(50)]
    drawn = draw_sentences(sentences, 10, 1)
    assert len(drawn) == 10 and drawn == sorted(drawn, key=lambda one: int(one.source))
    assert set(draw_sentences(sentences[::-1], 10, 1)) == set(drawn) != set(draw_sentences(sentences, 10, 2))


def test_captions_are_split_by_image() -> None:
    images = [str(number) for number in range(2000)]
    held = [is_test_image(image) for image in images]
    assert 400 < sum(held) < 600 and is_test_image(" 26 ") == is_test_image("26")
    # What trains on captions splits them with the stage.
    batch = pa.RecordBatch.from_pydict({"src": images})
    split = Split(share=TEST_IMAGES, column="src").apply(batch, StageContext(seed=1))
    assert split.column("keep").to_pylist() == [not value for value in held]


def filled(sheet: Path, answers: dict[str, str]) -> None:
    """Fill in a sheet: output → three answers."""
    header, *lines = sheet.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    sheet.write_text("\n".join([header, *("\t".join([*row[:4], *answers[row[3]]]) for row in rows)]) + "\n")


def test_a_sheet(tmp_path: Path, paraloom: Command) -> None:
    sheet = tmp_path / "sheet.tsv"
    systems = {"one": ["a\tb", "c", "d"], "two": ["e", "c", "f"]}
    sets = {"toy": (["x", "y", "z"], [["r", "s"], ["t"], ["u"]], systems)}
    # Of each source two outputs, but for the source where both are equal.
    assert write_paraphrase_sheet(sheet, sets, samples=3, seed=1) == 5
    text = sheet.read_text(encoding="utf-8")
    assert text.splitlines()[0].split("\t")[4:] == list(QUESTIONS) and "\tx\tr / s\ta b\t" in text and "one" not in text
    assert write_paraphrase_sheet(tmp_path / "again.tsv", sets, samples=3, seed=1) == 5
    assert (tmp_path / "again.tsv").read_bytes() == sheet.read_bytes()
    with pytest.raises(DataError, match="expected y or n in column 'keeps_meaning', got ''"):
        count_sheet(sheet)
    filled(sheet, {"a b": "yyy", "c": "yny", "d": "nnn", "e": "yyn", "f": "yyy"})
    rows = {row.system: row for row in count_sheet(sheet).rows}
    assert rows["one"].shares["keeps_meaning"] == (2 / 3, *wilson_interval(2, 3))
    assert rows["one"].shares["all three"][0] == rows["two"].shares["all three"][0] == 1 / 3
    assert rows["two"].shares["differs"][0] == 2 / 3 and rows["two"].n == 3
    status, out, _ = paraloom("evaluate", "sheet", sheet)
    assert status == 0 and "| toy | one | 3 | 67% [21%, 94%] | 33% [6%, 79%] |" in out
    key_path(sheet).write_text("number\tset\tsystems\n1\ttoy\tone\n")
    status, _, err = paraloom("evaluate", "sheet", sheet)
    assert status == 1 and "the sheet has 5 rows, its key 1" in err


def test_odd_sheets(tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.tsv"
    sets = {"toy\tset": (["x"], [["r"]], {"ours, new": ["a"], "theirs": ["a"]})}
    with pytest.raises(ConfigError, match="'samples' must be 1 or more, got 0"):
        write_paraphrase_sheet(sheet, sets, samples=0)
    write_paraphrase_sheet(sheet, sets)
    filled(sheet, {"a": "yyy"})
    rows = [(row.set, row.system, row.n) for row in count_sheet(sheet).rows]
    assert rows == [("toy set", "ours; new", 1), ("toy set", "theirs", 1)]
    header, line = sheet.read_text().splitlines()
    sheet.write_text(f"{header}\n{line}\n{line}\n")
    with pytest.raises(DataError, match=r"sheet.tsv, row 3: number 1 is in two rows"):
        count_sheet(sheet)
