"""Texts that are aligned window by window, against the whole, and what they keep in memory."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from toy_language import align, bitext

from paraloom.alignment import nearest_words as nearest_words_module
from paraloom.alignment import windows as windows_module
from paraloom.alignment.anchors import rare_words, shared_words, word_places
from paraloom.alignment.nearest_words import encode_texts
from paraloom.alignment.prepared_pairs import PreparedPair
from paraloom.alignment.search import Alignment
from paraloom.alignment.sentences import align_pair, fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.alignment.windows import _cut, _near
from paraloom.core.beads import Bead
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.io import read_lines
from paraloom.io.arrays import StoredVectors
from paraloom.io.formats.alignments import read_bead_file
from paraloom.text.tokens import tokenize


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Windows of 60 sentences that see 20 more; the sizes of all that are prepared."""
    sizes = []
    prepare = windows_module.PreparedPair

    def prepared(pair: TextPair, *rest: object) -> PreparedPair:
        sizes.append((len(pair.source), len(pair.target)))
        return prepare(pair, *rest)

    monkeypatch.setattr(windows_module, "_WINDOW", 60)
    monkeypatch.setattr(windows_module, "_BEHIND", 20)
    monkeypatch.setattr(windows_module, "PreparedPair", prepared)
    return sizes


def toy_texts() -> tuple[list[str], list[str]]:
    """400 sentences of the toy languages: one in ten is joined with the next, one in thirty dropped."""
    pairs = bitext(400, seed=3)
    source, target = [], []
    for number, (one, other) in enumerate(pairs):
        if number % 10 == 9:
            source[-1] += " " + one
            target.append(other)
            continue
        source += [one] if number % 30 != 4 else []
        target += [other] if number % 30 != 16 else []
    return source, target


def test_windows_give_what_the_whole_gives(
    small_windows: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = toy_texts()
    beads = align(source, target)
    assert len(small_windows) == 5 * 4  # three rounds and the last alignment
    assert max(max(sizes) for sizes in small_windows) < 110
    monkeypatch.setattr(windows_module, "_WINDOW", 1000)
    whole = align(source, target)
    agreeing = {(bead.source, bead.target) for bead in beads} & {(bead.source, bead.target) for bead in whole}
    assert len(agreeing) >= 0.99 * len(whole)


def test_every_sentence_is_in_one_bead_of_the_windows(small_windows: list[tuple[int, int]]) -> None:
    source, target = toy_texts()
    pair = TextPair(source, target)
    aligner = fit_aligner([pair])
    beads = aligner.align(pair)
    assert [row for bead in beads for row in bead.source] == list(range(len(source)))
    assert [row for bead in beads for row in bead.target] == list(range(len(target)))
    assert small_windows


@pytest.mark.parametrize("missing", [0, 1])
def test_a_passage_longer_than_a_window_may_be_missing(small_windows: list[tuple[int, int]], missing: int) -> None:
    pairs = [(f"{one} Name{row}", f"{other} Name{row}") for row, (one, other) in enumerate(bitext(500, seed=4))]
    source, target = (list(side) for side in zip(*pairs, strict=True))
    del (source, target)[missing][150:300]
    beads = align(source, target)
    both = {(bead.source, bead.target) for bead in beads if bead.source and bead.target}
    shift = (150, 0) if missing else (0, 150)
    right = {((i,), (i,)) for i in range(150)} | {((i + shift[0],), (i + shift[1],)) for i in range(150, 350)}
    assert len(both & right) >= 0.9 * len(right)


def test_texts_of_very_different_lengths(small_windows: list[tuple[int, int]]) -> None:
    source, target = toy_texts()
    for few in (0, 1, 3):
        for texts in ((source, target[:few]), (source[:few], target)):
            beads = align(*texts)
            assert [row for bead in beads for row in bead.source] == list(range(len(texts[0])))
            assert [row for bead in beads for row in bead.target] == list(range(len(texts[1])))


def test_windows_of_a_real_text(small_windows: list[tuple[int, int]], data: Path) -> None:
    folder = data / "align" / "bleualign-1957"
    texts = [list(read_lines(folder / f"eval1957.{name}")) for name in ("de", "fr", "google.fr", "google.de")]
    score = AlignmentScore()
    score.add(
        read_bead_file(data / "align" / "vecalign-dev" / "dev.defr").beads,
        align_pair(TextPair(*texts[:2], *([t] for t in texts[2:]))),
    )
    assert len(small_windows) > 20
    assert score.strict.f1 >= 0.9 and score.lax.f1 >= 0.98


def test_rare_words_are_those_of_a_plain_count() -> None:
    lines = ["a a b c", "b d", "b a e", "", "b a a", "a f f", "e g"]
    sentences: dict[str, set[int]] = defaultdict(set)
    for row, line in enumerate(lines):
        for word in line.split():
            sentences[word].add(row)
    expected = {(tokenize([word]).ids[0], row) for word, rows in sentences.items() if len(rows) <= 3 for row in rows}
    for size in (1, 3, 7):
        starts = range(0, len(lines), size)
        rare = rare_words(word_places(tokenize(lines[start : start + size]), start) for start in starts)
        assert len(rare[0]) == len(expected)
        assert set(zip(*rare, strict=True)) == expected


def test_shared_words_weigh_by_how_rare_they_are() -> None:
    left = rare_words([word_places(tokenize(["x", "y z", "y"]))])
    right = rare_words([word_places(tokenize(["y", "z", "z", "w"]))])
    rows, columns, weights = shared_words(left, right)
    assert sorted(zip(rows.tolist(), columns.tolist(), weights.tolist(), strict=True)) == [
        *((1, 0, 0.5), (1, 1, 0.5), (1, 2, 0.5), (2, 0, 0.5))
    ]


def test_a_window_ends_between_two_beads_that_look_right() -> None:
    beads = np.array([[0, 1, 0, 1], [1, 1, 1, 0], [2, 1, 1, 1], [3, 1, 2, 1], [4, 1, 3, 1]])
    gains = np.array([5, -1, 5, 5, 5], np.float32)
    assert _cut(Alignment(beads, gains), 1) == 3  # after sentence 2
    assert _cut(Alignment(beads, gains), 3) == 3
    assert _cut(Alignment(beads, -gains), 1) == 1  # none looks right


def test_beads_of_the_round_before_are_those_inside_the_window() -> None:
    beads = np.array([[0, 2, 0, 1], [2, 1, 1, 1], [3, 1, 2, 0], [4, 1, 2, 2], [5, 1, 4, 1]])
    near = _near(Alignment(beads, np.arange(5, dtype=np.float32)), slice(1, 5), slice(1, 4))
    assert near.beads.tolist() == [[1, 1, 0, 1], [3, 1, 1, 2], [4, 0, 3, 0]]
    assert near.gains.tolist() == [1, 3, 0]


def test_vectors_in_a_file_are_those_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lengths:
        signature, dimension = "lengths", 2

        def encode(self, sentences: list[str]) -> np.ndarray:
            return np.array([[len(text), text.count("a")] for text in sentences], np.float32)

    source, target = toy_texts()
    expected = encode_texts(Lengths(), source, target)
    monkeypatch.setattr(nearest_words_module, "_SENTENCES", 50)
    stored = encode_texts(Lengths(), source, target)
    for memory, file in zip(expected, stored, strict=True):
        assert isinstance(file, StoredVectors) and file.shape == memory.shape and len(file) == len(memory)
        for some in (slice(None), slice(48, 103), slice(7, 7), slice(390, 1000)):
            assert np.array_equal(file[some], memory[some])
    pair = TextPair(source, target, embeddings=stored)
    assert [Bead(*bead) for bead in align_pair(pair)] == align_pair(TextPair(source, target, embeddings=expected))
