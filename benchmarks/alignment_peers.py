"""Sentence aligners to compare ours with: by position, hunalign's and vecalign's methods, and hunalign itself."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.alignment.lexicon import bead_tokens, learn_lexicon
from paraloom.alignment.search import (
    Alignment,
    Band,
    LogPriors,
    band_along,
    best_alignment,
    path_from_anchors,
    path_from_beads,
    path_from_lengths,
)
from paraloom.alignment.sentences import to_beads
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead
from paraloom.core.seeds import generator
from paraloom.io.formats.alignments import read_bead_file
from paraloom.papers.park17.aligner import BlockCosines, align_by_cosine
from paraloom.text.tokens import token_strings, tokenize

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

# vecalign's defaults: sentences of both sides of a bead together, the cost of an unaligned sentence as a percentile of
# the costs of random pairs, and how many of them are drawn.
_MAX_SENTENCES, _GAP_PERCENTILE, _RANDOM_PAIRS = 4, 20, 2000
# Random sentences of the other side that the costs of each sentence are normalized by.
_NORM_SAMPLES = 100
# Boundaries on each side of the path of the level before, and sentences of which the whole table is searched.
_RADIUS, _COARSEST = 10, 300
# Source lines of a part that hunalign aligns at a time.
_PART = 4000


def by_position(source: Sequence[str], target: Sequence[str]) -> list[Bead]:
    """Doing nothing: line i belongs to line i."""
    return [Bead((i,), (i,)) for i in range(min(len(source), len(target)))]


def like_hunalign(source: Sequence[str], target: Sequence[str]) -> list[Bead]:
    """Two passes: by lengths and equal words, then by a word-by-word translation with a dictionary of the first pass.

    The cosine of words is in place of hunalign's share of equal ones, with the weights of PARK17's formula. Long texts
    are cut at words that occur once on each side, as hunalign's partialAlign cuts them.

    Reference:
        Varga et al. 2005, Parallel Corpora for Medium Density Languages, §4.
    """
    cuts = _cuts(source, target)
    first = _align_parts(source, target, None, cuts)
    single = [(b.source[0], 1, b.target[0], 1) for b in first if len(b.source) == len(b.target) == 1]
    beads = np.array(single, np.int64).reshape(-1, 4)
    words = tokenize(source), tokenize(target)
    lexicon = learn_lexicon(bead_tokens(words[0], beads[:, :2]), bead_tokens(words[1], beads[:, 2:]))
    if lexicon is None:
        return first
    names = dict(zip(words[1].ids.tolist(), token_strings(target).values.to_pylist(), strict=True))
    translated = lexicon.translate(words[0])
    texts = [
        " ".join(names.get(word, "") for word in translated.ids[start:end].tolist())
        for start, end in zip(translated.offsets[:-1], translated.offsets[1:], strict=True)
    ]
    return _align_parts(source, target, texts, cuts)


def _cuts(source: Sequence[str], target: Sequence[str]) -> list[tuple[int, int]]:
    """Boundaries of both texts that correspond, some _PART source lines apart, the ends included."""
    rare = [{word: row for word, row, count in _words(side) if count == 1} for side in (source, target)]
    shared = sorted((rare[0][word], rare[1][word]) for word in rare[0].keys() & rare[1].keys())
    rows, columns = np.array(shared, np.int64).reshape(-1, 2).T
    path = path_from_anchors([(rows, columns, np.ones(len(rows)))], len(source), len(target))
    if path is None:
        path = path_from_lengths(*(np.array([len(text) for text in side], np.float64) for side in (source, target)))
    return [
        *((row, int(path[row] + 0.5)) for row in range(0, max(1, len(source) - _PART // 2), _PART)),
        (len(source), len(target)),
    ]


def _words(texts: Sequence[str]) -> list[tuple[int, int, int]]:
    """Each word of a text with the last line that has it and its number of occurrences."""
    lists = tokenize(texts)
    owners = np.repeat(np.arange(len(lists)), lists.lengths)
    ids, inverse, counts = np.unique(lists.ids, return_inverse=True, return_counts=True)
    rows = np.zeros(len(ids), np.int64)
    rows[inverse] = owners
    return list(zip(ids.tolist(), rows.tolist(), counts.tolist(), strict=True))


def _align_parts(
    source: Sequence[str], target: Sequence[str], translation: Sequence[str] | None, cuts: list[tuple[int, int]]
) -> list[Bead]:
    beads = []
    for (i, j), (end_i, end_j) in pairwise(cuts):
        translations = [] if translation is None else [translation[i:end_i]]
        part = align_by_cosine(TextPair(source[i:end_i], target[j:end_j], translations), 2)
        beads += [Bead(tuple(i + s for s in bead.source), tuple(j + t for t in bead.target)) for bead in part]
    return beads


class NormalizedCosts:
    """vecalign's costs of beads, negative: (1 − cos) · sentences of each side / mean cost with random sentences.

    Args:
        source: Unit vectors of the source sentences, float32 (m, d).
        target: Unit vectors of the target sentences, float32 (n, d).

    Reference:
        Thompson and Koehn 2019, Vecalign: Improved Sentence Alignment in Linear Time and Space, §3.1.
    """

    def __init__(self, source: Vectors, target: Vectors) -> None:
        self._cosines = BlockCosines(source, target)
        norms = [_random_costs(source, target), _random_costs(target, source)]
        self._norms = [np.concatenate([[0.0], np.cumsum(side)]) for side in norms]
        rows = generator(1).integers(0, (len(source), len(target)), (_RANDOM_PAIRS, 2)).T
        cosines = np.einsum("nd,nd->n", source[rows[0]], target[rows[1]])
        costs = (1 - cosines) * 2 / (norms[0][rows[0]] + norms[1][rows[1]])
        self.gap = float(np.percentile(costs, _GAP_PERCENTILE))

    def add(self, first: int, rows: int, band: Band, out: Vectors) -> None:
        """See `search.Evidence`."""
        for block in self._cosines.blocks(first, rows, band, out.shape[1]):
            i, j = first + block.row, int(band.lows[first + block.row]) + block.starts
            sizes = np.arange(1, len(block.cosines) + 1)
            source_norms = (self._norms[0][i + sizes] - self._norms[0][i]) / sizes
            target_norms = (self._norms[1][j + block.targets] - self._norms[1][j]) / block.targets
            norms = (source_norms[:, None] + target_norms) / 2
            costs = (1 - block.cosines) * sizes[:, None] * block.targets / np.maximum(norms, 1e-3)
            out[block.row, : len(sizes), block.targets - 1, : len(block.starts)] -= costs


def like_vecalign(source: Vectors, target: Vectors) -> list[Bead]:
    """Dynamic programming over vecalign's costs and a fixed cost of unaligned sentences, from coarse to fine.

    As in vecalign, neighbors are averaged until few are left; the best path among those gives the band among twice as
    many. A bead has the sum of its sentences' vectors, of any encoder, where vecalign encodes their concatenation.

    Args:
        source: Vectors of the source sentences, float32 (m, d).
        target: Vectors of the target sentences, float32 (n, d).

    Reference:
        Thompson and Koehn 2019, §3.
    """
    units = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9) for side in (source, target)]
    return to_beads(_best_path(units[0], units[1], _path_of_halves(units[0], units[1]), _MAX_SENTENCES))


def _path_of_halves(source: Vectors, target: Vectors) -> Floats:
    """The path of the texts with each two neighbors averaged, in rows of the texts themselves."""
    ends = np.array([0.0, len(source)]), np.array([0.0, len(target)])
    if min(len(source), len(target)) <= _COARSEST:
        return np.interp(np.arange(len(source) + 1), *ends)
    halves = [_halved(source), _halved(target)]
    coarse = _best_path(halves[0], halves[1], _path_of_halves(halves[0], halves[1]), 2)
    path = path_from_beads(coarse.beads, len(halves[0]))
    rows = np.minimum(2 * np.arange(len(path)), len(source))
    return np.interp(np.arange(len(source) + 1), rows, np.minimum(2 * path, len(target)))


def _halved(vectors: Vectors) -> Vectors:
    """Unit vectors of each two neighbors together; the last one may be alone."""
    sums = np.add.reduceat(vectors, np.arange(0, len(vectors), 2), axis=0)
    halves: Vectors = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    return halves


def _best_path(source: Vectors, target: Vectors, path: Floats, max_sentences: int) -> Alignment:
    """The cheapest beads of so many sentences of both sides near a path; among few, in the whole table."""
    costs = NormalizedCosts(source, target)
    size = max_sentences - 1
    kinds = np.zeros((size + 1, size + 1))
    kinds[np.add.outer(np.arange(size + 1), np.arange(size + 1)) > max_sentences] = -1e30
    kinds[0, :] = kinds[:, 0] = -1e30
    kinds[0, 1] = kinds[1, 0] = -costs.gap

    def make_band(radius: int) -> Band:
        return band_along(path, len(target), radius, 2)

    priors = LogPriors(kinds, (-costs.gap, -costs.gap))
    radius = len(target) if min(len(source), len(target)) <= _COARSEST else _RADIUS
    return best_alignment([costs], priors, len(source), len(target), make_band, radius)


def hunalign(source: Sequence[str], target: Sequence[str]) -> list[Bead] | None:
    """What the program hunalign finds, without a dictionary; None where it is not installed."""
    program = shutil.which("hunalign")
    if program is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("null.dic", "source", "target", "beads.ladder")]
        for file, lines in zip(files, ([], source, target), strict=False):
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        ended = subprocess.run([program, *files[:3]], check=True, capture_output=True, text=True)
        files[3].write_text(ended.stdout, encoding="utf-8")
        return read_bead_file(files[3]).beads


def _random_costs(vectors: Vectors, others: Vectors) -> Floats:
    """1 − the cosine of each sentence with some random sentences of the other side, the mean: float64 (n,)."""
    sample = others[generator(1).integers(0, len(others), _NORM_SAMPLES)].mean(axis=0)
    costs: Floats = 1 - (vectors @ sample).astype(np.float64)
    return costs
