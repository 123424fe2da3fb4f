"""What an aligner can be given besides two texts: a lexicon, hard delimiters, embeddings; and PARK17's formula."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from toy_language import align

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.delimiters import align_between_delimiters, split_at_delimiters
from paraloom.alignment.embeddings import EmbeddingEvidence
from paraloom.alignment.lengths import VARIANCE
from paraloom.alignment.lexicon import read_lexicon
from paraloom.alignment.search import full_band
from paraloom.alignment.sentences import fit_aligner
from paraloom.alignment.text_pairs import TextPair
from paraloom.api.alignment import align as public_align
from paraloom.api.alignment import align_files
from paraloom.api.quickstart import BUNDLED
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.seeds import generator
from paraloom.io.formats.alignments import read_bead_file
from paraloom.papers.park17.aligner import PUBLISHED, Park17Weights, align_by_cosine

Command = Callable[..., tuple[int, str, str]]

WORDS = [f"wort{chr(97 + k)}" * (1 + k % 3) for k in range(15)]


def word_cosine(sources: list[str], targets: list[str]) -> float:
    a, b = Counter(" ".join(sources).split()), Counter(" ".join(targets).split())
    dot = sum(a[word] * b[word] for word in a)
    norms = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return dot / norms if norms else 0.0


def plain_score(pair: TextPair, beads: list[Bead], weights: Park17Weights = PUBLISHED) -> float:
    """Park et al.'s sum, bead by bead, as in the paper."""
    sides = pair.source, pair.target
    lengths = [[len(text) + 1 for text in side] for side in sides]
    ratio = sum(lengths[1]) / sum(lengths[0])
    total = 0.0
    for bead in beads:
        l1, l2 = (sum(side[k] for k in indices) for side, indices in zip(lengths, bead[:2], strict=True))
        if l1 and l2:
            deviation = (l2 - l1 * ratio) / math.sqrt(l1 * ratio * VARIANCE)
            cosine = word_cosine([sides[0][k] for k in bead.source], [sides[1][k] for k in bead.target])
        else:
            mean = np.mean(lengths[0]) * ratio if l1 else np.mean(lengths[1]) / ratio
            deviation, cosine = math.sqrt(mean / VARIANCE), 0.0
        total += weights.length * math.log2(math.erfc(abs(deviation) / math.sqrt(2)))
        total += weights.constant + weights.cosine * cosine
    return total


def all_alignments(sources: int, targets: int) -> list[list[Bead]]:
    if not sources and not targets:
        return [[]]
    sizes = [(a, b) for a, b in itertools.product(range(4), repeat=2) if (a and b) or a + b == 1]
    alignments = []
    for a, b in sizes:
        if a <= sources and b <= targets:
            bead = Bead(tuple(range(sources - a, sources)), tuple(range(targets - b, targets)))
            alignments += [[*before, bead] for before in all_alignments(sources - a, targets - b)]
    return alignments


@pytest.mark.parametrize("weights", [PUBLISHED, Park17Weights(0.2, 0.0, 0.8), Park17Weights(0.0, 0.6, 0.4)])
@pytest.mark.parametrize("seed", range(6))
def test_park17_finds_the_best_of_all_alignments(seed: int, weights: Park17Weights) -> None:
    rng = np.random.default_rng(seed)
    source = [" ".join(rng.choice(WORDS, rng.integers(2, 6))) for _ in range(4)]
    target = [source[0], f"{source[1]} {source[2]}", source[3]]
    pair = TextPair(source, target[: rng.integers(2, 4)])
    best = max(plain_score(pair, beads, weights) for beads in all_alignments(4, len(pair.target)))
    # The kernels look the logarithm of the length's probability up in a table of hundredths of a deviation.
    beads = align_by_cosine(pair, weights=weights)
    assert plain_score(pair, beads, weights) == pytest.approx(best, abs=0.02 + weights.length)


def test_park17_takes_the_cosine_from_the_translation() -> None:
    source, target = ["aa bb cc", "dd ee ff"], ["haus baum hund", "katze tisch stuhl"]
    pair = TextPair(source, target, [["haus baum hund", "katze tisch stuhl"]])
    assert [(bead.source, bead.target) for bead in align_by_cosine(pair)] == [((0,), (0,)), ((1,), (1,))]
    assert align_by_cosine(TextPair([], ["x"])) == [Bead((), (0,))]


def test_no_bead_crosses_a_delimiter() -> None:
    pair = TextPair(["a", "b", ".EOA", "c"], ["x", ".EOA", "y", "z"])
    beads = align_between_delimiters(
        pair,
        ".EOA",
        lambda parts: [[Bead(tuple(range(len(part.source))), tuple(range(len(part.target))))] for part in parts],
    )
    assert [(bead.source, bead.target) for bead in beads] == [((0, 1), (0,)), ((2,), (1,)), ((3,), (2, 3))]


def test_translations_are_split_at_the_same_lines() -> None:
    pair = TextPair(["a", ".EOA", "b"], ["x", ".EOA", "y"], [["A", ".EOA", "B"]], [["X", "", "Y"]])
    parts = split_at_delimiters(pair, ".EOA")
    assert [part.source_translations for part in parts] == [[["A"]], [["B"]]]
    assert [part.target_translations for part in parts] == [[["X"]], [["Y"]]]


def test_texts_with_different_numbers_of_delimiters_are_an_error() -> None:
    with pytest.raises(DataError, match=r"the source has 1 delimiters '.EOA', the target has 0"):
        split_at_delimiters(TextPair(["a", ".EOA"], ["x"]), ".EOA")


def test_a_lexicon_tells_sentences_of_equal_length_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    english = [f"e{k}" for k in range(40)]
    german = {word: f"g{k}" for k, word in enumerate(english)}
    source = [" ".join(rng.choice(english, 4, replace=False)) for _ in range(12)]
    target = [" ".join(german[word] for word in line.split()) for line in source]
    del target[5]
    (tmp_path / "lexicon.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in german.items()))
    beads = align(source, target, lexicon=read_lexicon(tmp_path / "lexicon.tsv"))
    expected = [((k,), (k - (k > 5),)) if k != 5 else ((5,), ()) for k in range(12)]
    assert [(bead.source, bead.target) for bead in beads] == expected


def test_a_lexicon_has_probabilities_in_both_directions(tmp_path: Path) -> None:
    file = tmp_path / "lexicon.tsv"
    file.write_text("Hund\tdog\t3\nHund\thound\t1\nKatze\tcat\nzwei Hunde\ttwo dogs\n\n")
    forward, backward = read_lexicon(file)
    assert sorted(forward.probabilities.tolist()) == [0.25, 0.75, 1.0]
    assert backward.probabilities.tolist() == [1.0, 1.0, 1.0]
    hunalign = tmp_path / "hunalign.dic"
    hunalign.write_text("dog @ Hund\nhound @ Hund\ncat @ Katze\n")
    assert np.array_equal(read_lexicon(hunalign)[0].words, forward.words)


def test_a_malformed_lexicon_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lexicon.tsv"
    file.write_text("Hund\tdog\nKatze\n")
    with pytest.raises(DataError, match=r"lexicon\.tsv, row 2: expected a lexicon entry, got 'Katze'"):
        read_lexicon(file)
    file.write_text("zwei Hunde\ttwo dogs\n")
    with pytest.raises(DataError, match="no entry with one word on each side"):
        read_lexicon(file)


def test_the_command_takes_delimiter_and_lexicon(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("haus baum\n.EOA\nhund katze\ntisch\n")
    (tmp_path / "a.en").write_text("house tree\n.EOA\ndog cat table\n")
    (tmp_path / "lexicon.tsv").write_text("haus\thouse\nbaum\ttree\nhund\tdog\nkatze\tcat\ntisch\ttable\n")
    verb = ["align", "sentences", "a.de", "a.en", "--hard-delimiter", ".EOA"]
    lexicon = ["--lexicon", "lexicon.tsv"]
    status, _, message = paraloom(*verb, *lexicon, "-o", "out.vecalign")
    assert status == 0, message
    align_files("a.de", "a.en", "park17.vecalign", hard_delimiter=".EOA", method="park17")
    for name in ("out.vecalign", "park17.vecalign"):
        assert ((1,), (1,)) in [(bead.source, bead.target) for bead in read_bead_file(tmp_path / name).beads]
    assert paraloom(*verb, *lexicon, "-o", "out.tsv")[0] == 0
    assert ".EOA" not in (tmp_path / "out.tsv").read_text()


def test_a_lexicon_for_a_method_without_words_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'park17'"):
        align_files("a", "b", str(tmp_path / "out.tsv"), method="park17", lexicon="c")


def test_embedding_evidence_is_the_log_ratio_of_two_normal_distributions_of_margins() -> None:
    rng = np.random.default_rng(3)
    source = rng.normal(size=(6, 8)).astype(np.float32)
    target = source + rng.normal(scale=0.5, size=(6, 8)).astype(np.float32)
    sizes = np.array([2, 1, 3, 1, 2, 1]), np.array([1, 2, 1, 4, 1, 1])
    scores = np.zeros((6, 3, 3, 7), np.float32)
    EmbeddingEvidence(source, target, sizes, 1.5).add(0, 6, full_band(6, 6), scores)
    x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (source, target))
    margins = x @ y.T - ((x @ y.mean(axis=0))[:, None] + y @ x.mean(axis=0)) / 2
    nearest = [
        margins[i, j] for i, j in enumerate(margins.argmax(axis=1)) if margins[:, j].argmax() == i
    ]  # of each other
    pairs = generator(1).integers(0, (6, 6), (2000, 2))
    random = margins[pairs[:, 0], pairs[:, 1]]
    match = stats.norm(np.median(nearest), max(np.std(nearest), random.std()))
    other = stats.norm(random.mean(), random.std())
    for i, a, j, b in itertools.product(range(6), (1, 2, 3), range(6), (1, 2, 3)):
        if i + a <= 6 and j + b <= 6:
            u = (source[i : i + a] * sizes[0][i : i + a, None]).sum(axis=0)
            v = (target[j : j + b] * sizes[1][j : j + b, None]).sum(axis=0)
            u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
            margin = min(u @ v - (u @ y.mean(axis=0) + v @ x.mean(axis=0)) / 2, match.mean())
            expected = 1.5 * max(match.logpdf(margin) - other.logpdf(margin), -6)
            assert scores[i, a - 1, b - 1, j] == pytest.approx(expected, abs=1e-4)


def test_too_few_nearest_sentences_are_no_evidence() -> None:
    scores = np.zeros((2, 1, 1, 3), np.float32)
    vectors = np.eye(2, dtype=np.float32)
    EmbeddingEvidence(vectors, vectors, (np.array([1, 1]), np.array([1, 1])), 1.0).add(0, 2, full_band(2, 2), scores)
    assert not scores.any()


def test_embeddings_align_texts_without_shared_words() -> None:
    rng = np.random.default_rng(4)
    meanings = rng.normal(size=(9, 16)).astype(np.float32)
    source, target = [f"aa{k} bb{k}" for k in range(9)], [f"yy{k} zz{k}" for k in range(9) if k != 4]
    embeddings = meanings, np.delete(meanings, 4, axis=0)
    beads = align(source, target, embeddings=embeddings, config=AlignerConfig(embedding_weight=4.0))
    expected = [((k,), (k - (k > 4),)) if k != 4 else ((4,), ()) for k in range(9)]
    assert [(bead.source, bead.target) for bead in beads] == expected


def test_other_than_one_embedding_for_each_sentence_is_an_error() -> None:
    with pytest.raises(DataError, match=r"expected one embedding for each sentence, \[2, 1\], got \[2, 2\]"):
        align(["a", "b"], ["x"], embeddings=(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)))


def test_the_command_takes_an_encoder(paraloom: Command, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The cat sleeps.\nWhere is the station?\n")
    (tmp_path / "b.txt").write_text("A cat is asleep.\nWhere can I find the station?\n")
    encoder = ["--encoder", str(BUNDLED / "english")]
    status, _, message = paraloom("align", "sentences", "a.txt", "b.txt", *encoder, "-o", "out.vecalign")
    assert status == 0, message
    beads = read_bead_file(tmp_path / "out.vecalign").beads
    assert [(bead.source, bead.target) for bead in beads] == [((0,), (0,)), ((1,), (1,))]


@pytest.mark.parametrize("value", [np.nan, np.inf, 3e38])
def test_embeddings_that_are_not_finite_are_an_error(value: float) -> None:
    """The aligner returned no bead at all."""
    vectors = np.ones((3, 4), np.float32)
    bad = vectors.copy()
    bad[1, 2] = value
    texts = ["one", "two", "three"]
    with pytest.raises(DataError, match="the embedding of source sentence 1 is not finite"):
        align(texts, texts, embeddings=(bad, vectors))
    with pytest.raises(DataError, match="the embedding of target sentence 1 is not finite"):
        align(texts, texts, embeddings=(vectors, bad))
    with pytest.raises(DataError, match="the embeddings of source and target have the shapes"):
        align(texts, texts, embeddings=(vectors, vectors[:, :2]))


def test_an_aligner_that_learns_from_no_texts_is_an_error() -> None:
    with pytest.raises(DataError, match="expected texts to learn from, got none"):
        fit_aligner([])


SHUFFLED = (
    ["Der Hund schläft im Haus.", "Gute Nacht, mein Freund.", "Wir trinken Wasser."],
    ["The dog sleeps in the house.", "Good night, my friend.", "It rains.", "We drink water."],
)


def test_the_bundled_encoder_is_evidence_by_default(paraloom: Command, tmp_path: Path) -> None:
    for name, lines in zip(("a.de", "a.en"), SHUFFLED, strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    beads = {}
    for encoder in ((), ("--encoder", "multilingual"), ("--encoder", "none")):
        status, _, message = paraloom("align", "sentences", "a.de", "a.en", *encoder, "-o", "out.vecalign", "--force")
        assert status == 0, message
        beads[encoder] = (tmp_path / "out.vecalign").read_text()
    assert beads[()] == beads["--encoder", "multilingual"] != beads["--encoder", "none"]
    aligned = [(bead.source, bead.target) for bead in public_align(*SHUFFLED)]
    assert aligned == [((0,), (0,)), ((1,), (1,)), ((), (2,)), ((2,), (3,))]
    scores = [bead.score for bead in public_align(*SHUFFLED, encoder=None)]
    assert scores == [bead.score for bead in align(*SHUFFLED)]


def test_beside_a_translation_the_encoders_words_alone_are_evidence() -> None:
    class OnlyWords:
        signature, dimension = "words", 2

        def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
            assert all(" " not in text for text in sentences)
            return np.ones((len(sentences), 2), np.float32)

    source, target = ["Guten Morgen.", "Gute Nacht."], ["Good morning.", "Good night."]
    assert len(align(source, target, source_translation=target, encoder=OnlyWords())) == 2
    with pytest.raises(AssertionError):
        align(source, target, encoder=OnlyWords())
