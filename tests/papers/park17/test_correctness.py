"""Correctness of translation, PARK17's equation 1: words that both directions of a word alignment link."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paraloom.core.errors import ParaloomError
from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus
from paraloom.papers.park17.correctness import MeasureCorrectness, translated_words
from paraloom.pipeline.pipeline import Pipeline
from paraloom.text.tokens import tokenize


def test_shares_by_hand() -> None:
    a = tokenize(["das Haus brennt", "", "ja doch"])
    b = tokenize(["the house is burning", "no", "yes"])
    # the—das, house—Haus and burning—brennt agree, 'is' has no counterpart: 6 of 7 words; of 'ja doch' and 'yes' none,
    # as 'yes' is linked to 'doch', which is linked to nothing.
    b_links = np.array([0, 1, -1, 2, -1, 1], np.int32)
    a_links = np.array([0, 1, 3, 0, -1], np.int32)
    assert translated_words(a, b, b_links, a_links).tolist() == pytest.approx([6 / 7, 0, 0])
    empty = tokenize([""])
    assert np.isnan(translated_words(empty, empty, b_links[:0], a_links[:0])).all()


def test_free_translations_have_a_lower_share(tmp_path: Path) -> None:
    """Each word of an artificial language has one translation; in half of the pairs every second word is another."""
    draw = np.random.default_rng(1)
    words = draw.integers(0, 40, (2_000, 8))
    other = np.where(np.arange(8) % 2, draw.integers(40, 80, words.shape), words)

    def sentences(rows: np.ndarray, letter: str) -> list[str]:
        return [" ".join(f"{letter}{word}" for word in row) for row in rows.tolist()]

    measured = {}
    for name, targets in (("literal", words), ("free", other)):
        columns = {"src": sentences(words, "a"), "tgt": sentences(targets, "b")}
        rows = [
            {"pair_id": f"{i}", "src": src, "tgt": tgt, "src_lang": "xx", "tgt_lang": "yy", "origin": "toy"}
            for i, (src, tgt) in enumerate(zip(*columns.values(), strict=True))
        ]
        write_corpus(tmp_path / name, [pa.RecordBatch.from_pylist(rows, schema=PAIRS)], kind="PAIRS")
        run = Pipeline([MeasureCorrectness(name="m", pairs=(str(tmp_path / name),))]).run(
            tmp_path / f"{name}-run", engine="inline"
        )
        measured[name] = run.stages[-1].figures
        written = json.loads((run.stages[-1].folder / "artifact/result.json").read_text(encoding="utf-8"))
        assert written == measured[name] and written["pairs"] == 2_000
    assert measured["literal"]["correctness"]["value"] == pytest.approx(1, abs=0.02)
    assert measured["free"]["correctness"]["value"] == pytest.approx(0.5, abs=0.03)
    assert measured["literal"]["below_half"] == 0


def test_pairs_without_words_are_an_error(tmp_path: Path) -> None:
    row = {"pair_id": "1", "src": "", "tgt": "a", "src_lang": "xx", "tgt_lang": "yy", "origin": "toy"}
    write_corpus(tmp_path / "pairs", [pa.RecordBatch.from_pylist([row], schema=PAIRS)], kind="PAIRS")
    with pytest.raises(ParaloomError, match="no words on one side"):
        Pipeline([MeasureCorrectness(name="m", pairs=(str(tmp_path / "pairs"),))]).run(
            tmp_path / "run", engine="inline"
        )
