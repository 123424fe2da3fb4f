"""References and translations are written by one convention."""

from __future__ import annotations

from pathlib import Path

import pytest
from stage_runs import write_pairs

from paraloom.core.errors import DataError
from paraloom.core.stage import StageContext
from paraloom.io import Corpus
from paraloom.papers.one_convention import OneConvention, one_convention
from paraloom.papers.provenance import input_digest
from paraloom.text.tokens import words


@pytest.mark.parametrize(
    ("tokenized", "plain"),
    [
        ("georgia ’ s war – “ a disaster ”", 'Georgia\'s war - "a disaster"'),
        ("we do n't know what they 're doing", "We don't know what they're doing"),
        ("the dogs ' owners , and « i ' m » …", "The dogs' owners, and \"I'm\" ..."),
    ],
)
def test_tokenized_and_plain_text_have_the_same_words(tokenized: str, plain: str) -> None:
    one, other = one_convention([tokenized, plain]).to_pylist()
    assert words(one) == words(other)


def test_plain_text_is_left_alone() -> None:
    texts = ["Tom's dog doesn't bark at 5 o'clock - he's \"tired\".", "rock 'n' roll", "", "Straße, naïve"]
    assert one_convention(texts).to_pylist() == texts


def test_tables_are_not_made_of_bitext(tmp_path: Path) -> None:
    lines = (Path(__file__).parents[1] / "data/passages.de-en.tsv").read_text(encoding="utf-8").splitlines()[1:61]
    rows = [line.split("\t")[:2] for line in lines]
    write_pairs(tmp_path / "pairs", *((german, english) for german, english in rows))
    with pytest.raises(DataError, match="'src' is German and 'tgt' is English; these tables are for pairs in one"):
        OneConvention().check_input(Corpus.open(tmp_path / "pairs"), StageContext(seed=1))
    write_pairs(tmp_path / "english", *((english, english) for _, english in rows))
    assert OneConvention().check_input(Corpus.open(tmp_path / "english"), StageContext(seed=1)) == {}


def test_two_files_have_a_digest(tmp_path: Path) -> None:
    for name, text in {"a.x": "one", "a.y": "two", "b.x": "one", "b.y": "three"}.items():
        (tmp_path / name).write_text(text)
    assert input_digest(tmp_path / "a.{x,y}") != input_digest(tmp_path / "b.{x,y}")
