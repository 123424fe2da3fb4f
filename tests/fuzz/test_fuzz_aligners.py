"""Fuzzers of the aligners: every sentence is in one bead and every document in one pair at most, whatever they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from fuzzing import SECONDS, fuzz
from hypothesis import strategies as st
from toy_language import align

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.delimiters import align_between_delimiters
from paraloom.alignment.documents import align_documents
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead, check_beads
from paraloom.papers.park17.aligner import align_by_cosine

pytestmark = pytest.mark.slow

sentences = st.one_of(
    st.sampled_from(
        ["", " ", "Paris 1900.", "a b c", "word " * 300, "x" * 3000, "\x00", "\u202eא", "日本語", "👍", "...", "1 2 3"]
    ),
    st.text(max_size=20),
)
texts = st.lists(sentences, max_size=8)
numbers = st.one_of(st.floats(-3, 3, width=32), st.sampled_from([0.0, float("nan"), float("inf"), 3e38, 1e-40]))


@st.composite
def pairs_with_vectors(draw: st.DrawFn) -> tuple[list[str], list[str], tuple[np.ndarray, np.ndarray]]:
    source, target = draw(texts), draw(texts)
    sides = [np.array([draw(st.lists(numbers, min_size=3, max_size=3)) for _ in side]) for side in (source, target)]
    return source, target, (np.float32(sides[0].reshape(-1, 3)), np.float32(sides[1].reshape(-1, 3)))


def check_all(beads: list[Bead], source: list[str], target: list[str]) -> None:
    check_beads(beads, len(source), len(target))
    assert sorted(index for bead in beads for index in bead.source) == list(range(len(source)))
    assert sorted(index for bead in beads for index in bead.target) == list(range(len(target)))
    assert all(np.isfinite(bead.score) for bead in beads)


def lengths_and_words(example: tuple[list[str], list[str]]) -> None:
    check_all(align(*example), *example)


def embeddings(example: tuple[list[str], list[str], tuple[np.ndarray, np.ndarray]]) -> None:
    source, target, vectors = example
    check_all(align(source, target, embeddings=vectors), source, target)


def translations(example: tuple[list[str], list[str]]) -> None:
    source, target = example
    beads = align(source, target, source_translation=source[::-1], config=AlignerConfig(max_bead_size=2, band_radius=1))
    check_all(beads, source, target)


def cosine(example: tuple[list[str], list[str]]) -> None:
    check_all(align_by_cosine(TextPair(*example)), *example)


def delimiters(example: tuple[list[str], list[str]]) -> None:
    source, target = (["#", *side, "#"] for side in example)
    beads = align_between_delimiters(
        TextPair(source, target), "#", lambda parts: [align(part.source, part.target) for part in parts]
    )
    check_all(beads, source, target)


def several(example: list[tuple[list[str], list[str]]]) -> None:
    texts = [TextPair(*pair) for pair in example]
    aligner = fit_aligner(texts)
    for text in texts:
        check_all(aligner.align(text), list(text.source), list(text.target))


def documents(example: tuple[list[str], list[str]]) -> None:
    pairs = align_documents(*example)
    for indices, side in zip((pairs.sources, pairs.targets), example, strict=True):
        assert len(set(indices.tolist())) == len(indices) == len(pairs.scores)
        assert all(0 <= index < len(side) for index in indices.tolist())
    assert np.isfinite(pairs.scores).all()


both = st.tuples(texts, texts)
ALIGNERS: dict[str, tuple[Callable[..., None], st.SearchStrategy[object]]] = {
    "lengths and words": (lengths_and_words, both),
    "embeddings": (embeddings, pairs_with_vectors()),
    "translations": (translations, both),
    "cosine": (cosine, both),
    "delimiters": (delimiters, both),
    "several texts": (several, st.lists(both, max_size=3)),
    "documents": (documents, both),
}


@pytest.mark.parametrize("name", ALIGNERS)
def test_an_aligner_loses_no_sentence(name: str) -> None:
    check, examples = ALIGNERS[name]
    fuzz(check, examples, SECONDS / len(ALIGNERS))
