"""What an aligner may be given beside two texts: a lexicon, bounds that no bead crosses, PARK17's formula."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from paraloom.align.band import whole_band
from paraloom.align.block_cosines import VectorMatch, usual_cosine
from paraloom.align.boundaries import between_bounds, parted
from paraloom.align.given_lexicon import read_lexicon
from paraloom.align.lengths import VARIANCE
from paraloom.align.sentences import AlignerConfig, TextPair, align
from paraloom.align.translated import COSINE, FIXED, LENGTH, align_by_cosine
from paraloom.cli.main import app
from paraloom.core.beads import Bead
from paraloom.core.errors import ConfigError, DataError
from paraloom.io.formats.alignments import read_beads
from paraloom.workflows.align import align_files
from paraloom.workflows.quickstart import BUNDLED

WORDS = [f"wort{chr(97 + k)}" * (1 + k % 3) for k in range(15)]


def word_cosine(sources: list[str], targets: list[str]) -> float:
    a, b = Counter(" ".join(sources).split()), Counter(" ".join(targets).split())
    dot = sum(a[word] * b[word] for word in a)
    norms = math.sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return dot / norms if norms else 0.0


def plain_score(pair: TextPair, beads: list[Bead]) -> float:
    """Park et al.'s sum, bead by bead, written from the paper."""
    sides = pair.source, pair.target
    lengths = [[len(text) + 1 for text in side] for side in sides]
    ratio = sum(lengths[1]) / sum(lengths[0])
    total = 0.0
    for bead in beads:
        l1, l2 = (sum(side[k] for k in places) for side, places in zip(lengths, bead[:2], strict=True))
        if l1 and l2:
            deviation = (l2 - l1 * ratio) / math.sqrt(l1 * ratio * VARIANCE)
            cosine = word_cosine([sides[0][k] for k in bead.source], [sides[1][k] for k in bead.target])
        else:
            mean = np.mean(lengths[0]) * ratio if l1 else np.mean(lengths[1]) / ratio
            deviation, cosine = math.sqrt(mean / VARIANCE), 0.0
        total += LENGTH * math.log2(math.erfc(abs(deviation) / math.sqrt(2))) + FIXED + COSINE * cosine
    return total


def every_alignment(sources: int, targets: int) -> list[list[Bead]]:
    if not sources and not targets:
        return [[]]
    kinds = [(a, b) for a, b in itertools.product(range(4), repeat=2) if (a and b) or a + b == 1]
    found = []
    for a, b in kinds:
        if a <= sources and b <= targets:
            bead = Bead(tuple(range(sources - a, sources)), tuple(range(targets - b, targets)))
            found += [[*before, bead] for before in every_alignment(sources - a, targets - b)]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_parks_alignment_is_the_best_of_all_by_their_formula(seed: int) -> None:
    draw = np.random.default_rng(seed)
    source = [" ".join(draw.choice(WORDS, draw.integers(2, 6))) for _ in range(4)]
    joined = [source[0], f"{source[1]} {source[2]}", source[3]]
    pair = TextPair(source, joined[: draw.integers(2, 4)])
    found = align_by_cosine(pair)
    best = max(plain_score(pair, beads) for beads in every_alignment(4, len(pair.target)))
    # The kernels add the length's logarithm from a table of hundredths of a deviation.
    assert plain_score(pair, found) == pytest.approx(best, abs=0.02)


def test_parks_alignment_takes_the_cosine_from_the_translation() -> None:
    source, target = ["aa bb cc", "dd ee ff"], ["haus baum hund", "katze tisch stuhl"]
    pair = TextPair(source, target, [["haus baum hund", "katze tisch stuhl"]])
    assert [(bead.source, bead.target) for bead in align_by_cosine(pair)] == [((0,), (0,)), ((1,), (1,))]
    assert align_by_cosine(TextPair([], ["x"])) == [Bead((), (0,))]


def test_no_bead_crosses_a_bound() -> None:
    pair = TextPair(["a", "b", ".EOA", "c"], ["x", ".EOA", "y", "z"])
    found = between_bounds(
        pair,
        ".EOA",
        lambda parts: [[Bead(tuple(range(len(p.source))), tuple(range(len(p.target))))] for p in parts],
    )
    assert [(bead.source, bead.target) for bead in found] == [((0, 1), (0,)), ((2,), (1,)), ((3,), (2, 3))]


def test_translations_are_cut_at_the_same_lines() -> None:
    pair = TextPair(["a", ".EOA", "b"], ["x", ".EOA", "y"], [["A", ".EOA", "B"]], [["X", "", "Y"]])
    parts = parted(pair, ".EOA")
    assert [part.source_translations for part in parts] == [[["A"]], [["B"]]]
    assert [part.target_translations for part in parts] == [[["X"]], [["Y"]]]


def test_texts_with_different_numbers_of_bounds_are_refused() -> None:
    with pytest.raises(DataError, match=r"source has 1 lines '.EOA', the target 0"):
        parted(TextPair(["a", ".EOA"], ["x"]), ".EOA")


def test_a_given_lexicon_finds_what_lengths_cannot(tmp_path: Path) -> None:
    """Sentences of equal length in another order of neighbours: only the words tell which is missing."""
    draw = np.random.default_rng(1)
    english = [f"e{k}" for k in range(40)]
    german = {word: f"g{k}" for k, word in enumerate(english)}
    source = [" ".join(draw.choice(english, 4, replace=False)) for _ in range(12)]
    target = [" ".join(german[word] for word in line.split()) for line in source]
    del target[5]
    (tmp_path / "lexicon.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in german.items()))
    found = align(TextPair(source, target), given=read_lexicon(tmp_path / "lexicon.tsv"))
    wanted = [((k,), (k - (k > 5),)) if k != 5 else ((5,), ()) for k in range(12)]
    assert [(bead.source, bead.target) for bead in found] == wanted


def test_a_lexicon_has_its_shares_in_both_directions(tmp_path: Path) -> None:
    file = tmp_path / "lexicon.tsv"
    file.write_text("Hund\tdog\t3\nHund\thound\t1\nKatze\tcat\nzwei Hunde\ttwo dogs\n\n")
    ahead, back = read_lexicon(file)
    assert sorted(ahead.shares.tolist()) == [0.25, 0.75, 1.0]
    assert back.shares.tolist() == [1.0, 1.0, 1.0]
    turned = tmp_path / "hunalign.dic"
    turned.write_text("dog @ Hund\nhound @ Hund\ncat @ Katze\n")
    assert np.array_equal(read_lexicon(turned)[0].words, ahead.words)


def test_a_line_that_is_no_entry_is_named(tmp_path: Path) -> None:
    file = tmp_path / "lexicon.tsv"
    file.write_text("Hund\tdog\nKatze\n")
    with pytest.raises(DataError, match="no entry of a lexicon") as error:
        read_lexicon(file)
    assert error.value.row == 2
    file.write_text("zwei Hunde\ttwo dogs\n")
    with pytest.raises(DataError, match="no entry of one word"):
        read_lexicon(file)


def test_the_command_takes_bounds_lexicon_and_method(tmp_path: Path) -> None:
    (tmp_path / "a.de").write_text("haus baum\n.EOA\nhund katze\ntisch\n")
    (tmp_path / "a.en").write_text("house tree\n.EOA\ndog cat table\n")
    (tmp_path / "lexicon.tsv").write_text("haus\thouse\nbaum\ttree\nhund\tdog\nkatze\tcat\ntisch\ttable\n")
    verb = ["align", "sentences", *(str(tmp_path / name) for name in ("a.de", "a.en")), "--bound", ".EOA"]
    lexicon = ["--lexicon", str(tmp_path / "lexicon.tsv")]
    for more in (lexicon, ["--method", "park17"]):
        result = CliRunner().invoke(app, [*verb, *more, "-o", str(tmp_path / "out.vecalign")])
        assert result.exit_code == 0, result.output
        assert ((1,), (1,)) in [(bead.source, bead.target) for bead in read_beads(tmp_path / "out.vecalign")]
    result = CliRunner().invoke(app, [*verb, *lexicon, "-o", str(tmp_path / "out.tsv")])
    assert result.exit_code == 0 and ".EOA" not in (tmp_path / "out.tsv").read_text()


def test_a_lexicon_that_a_method_has_no_use_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'park17' has no use for a lexicon"):
        align_files("a", "b", str(tmp_path / "out.tsv"), method="park17", lexicon="c")


def test_what_an_encoder_says_is_vecaligns_cost_turned_round() -> None:
    draw = np.random.default_rng(3)
    source, target = (draw.normal(size=(n, 4)).astype(np.float32) for n in (4, 5))
    sizes = np.array([2, 1, 3, 1]), np.array([1, 2, 1, 4, 1])
    scores = np.zeros((4, 3, 3, 6), np.float32)
    VectorMatch(source, target, sizes, 1.5).add(0, 4, whole_band(4, 5), scores)
    usual = usual_cosine(source, target)
    for i, a, j, b in itertools.product(range(4), (1, 2, 3), range(5), (1, 2, 3)):
        if i + a <= 4 and j + b <= 5:
            x = (source[i : i + a] * sizes[0][i : i + a, None]).sum(axis=0)
            y = (target[j : j + b] * sizes[1][j : j + b, None]).sum(axis=0)
            cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
            wanted = 1.5 * (1 - (1 - cosine) * a * b / (1 - usual))
            assert scores[i, a - 1, b - 1, j] == pytest.approx(wanted, abs=1e-4)


def test_vectors_find_what_no_word_tells() -> None:
    draw = np.random.default_rng(4)
    meanings = draw.normal(size=(9, 16)).astype(np.float32)
    source, target = [f"aa{k} bb{k}" for k in range(9)], [f"yy{k} zz{k}" for k in range(9) if k != 4]
    pair = TextPair(source, target, vectors=(meanings, np.delete(meanings, 4, axis=0)))
    wanted = [((k,), (k - (k > 4),)) if k != 4 else ((4,), ()) for k in range(9)]
    assert [(bead.source, bead.target) for bead in align(pair, AlignerConfig(vectors=4.0))] == wanted


def test_vectors_are_one_for_each_sentence() -> None:
    with pytest.raises(DataError, match="not one vector for each sentence"):
        TextPair(["a", "b"], ["x"], vectors=(np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)))


def test_the_command_takes_an_encoder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The cat sleeps.\nWhere is the station?\n")
    (tmp_path / "b.txt").write_text("A cat is asleep.\nWhere can I find the station?\n")
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    out = tmp_path / "out.vecalign"
    verb = ["align", "sentences", *files, "--encoder", str(BUNDLED / "english"), "-o", str(out)]
    result = CliRunner().invoke(app, verb)
    assert result.exit_code == 0, result.output
    assert [(bead.source, bead.target) for bead in read_beads(out)] == [((0,), (0,)), ((1,), (1,))]
