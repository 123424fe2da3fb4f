"""The lexicon: alignments of an artificial corpus with known links, phrases worked out by hand."""

from __future__ import annotations

import numpy as np

from paraloom.pairs.lexicon import LexiconConfig, paraphrase_lexicon
from paraloom.text.phrase_kernels import phrase_pairs, symmetrize
from paraloom.text.tokens import tokenize
from paraloom.text.word_alignment import align_words

WORDS = [f"w{chr(97 + i)}" for i in range(26)]


def corpus(count: int, seed: int = 0) -> tuple[list[str], list[str], list[list[int]]]:
    """Sentences, the same in other words (the first two sometimes swapped), and the position of each word's origin."""
    rng = np.random.default_rng(seed)
    a, b, links = [], [], []
    for _ in range(count):
        words = list(rng.choice(WORDS, size=rng.integers(3, 8), replace=False))
        order = list(range(len(words)))
        if rng.random() < 0.5:
            order[0], order[1] = order[1], order[0]
        a.append(" ".join(words))
        b.append(" ".join(f"x{words[i]}" for i in order))
        links.append(order)
    return a, b, links


def test_alignment_finds_the_links_of_an_artificial_language() -> None:
    a, b, links = corpus(400)
    forth, back = align_words(tokenize(a), tokenize(b))
    wanted = np.concatenate(links)
    assert (forth == wanted).mean() > 0.98
    offsets = tokenize(a).offsets
    returned = [back[offsets[i] : offsets[i + 1]][order] for i, order in enumerate(links)]
    assert np.mean(np.concatenate([row == np.arange(len(row)) for row in returned])) > 0.98


def test_symmetrization_grows_from_the_intersection() -> None:
    grid = np.zeros((4, 4), np.bool_)
    # Both directions have 0-0 and 2-2; one has 1-1, adjacent to 0-0; one has 3-0, adjacent to none.
    symmetrize(np.array([0, 1, 2], np.int32), np.array([0, -1, 2, 0], np.int32), grid)
    assert grid[:4, :3].nonzero()[0].tolist() == [0, 1, 2]
    assert not grid[3].any()


def test_phrases_are_consistent_with_the_links() -> None:
    # a: 0 1 2, b: 1 0 2 (the first two swapped): no phrase consists of words 1 and 2 of a.
    links = np.array([1, 0, 2], np.int32)
    bounds = np.array([0, 3])
    spans = np.zeros((20, 5), np.int32)
    count = phrase_pairs(links, bounds, links, bounds, 2, spans)
    assert {tuple(row[1:]) for row in spans[:count].tolist()} == {
        (0, 1, 1, 1),
        (1, 1, 0, 1),
        (2, 1, 2, 1),
        (0, 2, 0, 2),
    }


def test_the_lexicon_has_each_word_and_no_word_as_its_own_paraphrase() -> None:
    a, b, _ = corpus(300)
    table = paraphrase_lexicon(a, b, LexiconConfig(max_phrase_length=1)).to_pydict()
    best = dict(reversed(list(zip(table["phrase"], table["paraphrase"], strict=True))))
    assert all(best[word] == f"x{word}" for word in WORDS)
    assert all(p != q for p, q in zip(table["phrase"], table["paraphrase"], strict=True))
    assert all(
        phrase in (src + " " + tgt)
        for phrase, src, tgt in zip(table["phrase"], table["src"], table["tgt"], strict=True)
    )
    assert all(0 < score <= 1 for score in table["score"])
