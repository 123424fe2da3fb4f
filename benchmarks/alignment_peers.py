"""Sentence aligners to compare ours with: by position, hunalign's and vecalign's methods, and hunalign itself."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.alignment.embeddings import BlockCosines
from paraloom.alignment.lexicon import bead_tokens, learn_lexicon
from paraloom.alignment.park17 import align_by_cosine
from paraloom.alignment.search import Band, LogPriors, band_along, best_alignment, path_from_lengths
from paraloom.alignment.sentences import TextPair, to_beads
from paraloom.core.beads import Bead
from paraloom.core.seeds import generator
from paraloom.io.formats.alignments import read_beads
from paraloom.text.tokens import token_strings, tokenize

Floats = npt.NDArray[np.float64]
Vectors = npt.NDArray[np.float32]

# vecalign's defaults: sentences of both sides of a bead together, the cost of an unaligned sentence as a percentile of
# the costs of random pairs, and how many of them are drawn.
_MAX_SENTENCES, _GAP_PERCENTILE, _RANDOM_PAIRS = 4, 20, 2000
# Random sentences of the other side that the costs of each sentence are normalized by.
_NORM_SAMPLES = 100
_RADIUS = 20


def by_position(source: Sequence[str], target: Sequence[str]) -> list[Bead]:
    """Doing nothing: line i belongs to line i."""
    return [Bead((i,), (i,)) for i in range(min(len(source), len(target)))]


def like_hunalign(source: Sequence[str], target: Sequence[str]) -> list[Bead]:
    """Two passes: by lengths and equal words, then by a word-by-word translation with a dictionary of the first pass.

    The cosine of words is in place of hunalign's share of equal ones, with the weights of PARK17's formula.

    Reference:
        Varga et al. 2005, Parallel Corpora for Medium Density Languages, §4.
    """
    first = align_by_cosine(TextPair(source, target), 2)
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
    return align_by_cosine(TextPair(source, target, [texts]), 2)


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


def like_vecalign(source: Sequence[str], target: Sequence[str], vectors: tuple[Vectors, Vectors]) -> list[Bead]:
    """Dynamic programming over vecalign's costs and a fixed cost of unaligned sentences, in a band.

    A bead has the sum of its sentences' vectors, of any encoder, where vecalign encodes their concatenation; the band
    follows lengths and is widened, where vecalign's follows averaged neighbors.

    Reference:
        Thompson and Koehn 2019, §3.
    """
    units = [side / np.maximum(np.linalg.norm(side, axis=1, keepdims=True), 1e-9) for side in vectors]
    costs = NormalizedCosts(units[0], units[1])
    size = _MAX_SENTENCES - 1
    kinds = np.zeros((size + 1, size + 1))
    kinds[np.add.outer(np.arange(size + 1), np.arange(size + 1)) > _MAX_SENTENCES] = -1e30
    kinds[0, :] = kinds[:, 0] = -1e30
    kinds[0, 1] = kinds[1, 0] = -costs.gap
    lengths = [np.array([len(text) for text in side], np.float64) for side in (source, target)]
    path = path_from_lengths(*lengths)

    def make_band(radius: int) -> Band:
        return band_along(path, len(target), radius, 8)

    priors = LogPriors(kinds, (-costs.gap, -costs.gap))
    return to_beads(best_alignment([costs], priors, len(source), len(target), make_band, _RADIUS))


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
        return read_beads(files[3])


def _random_costs(vectors: Vectors, others: Vectors) -> Floats:
    """1 − the cosine of each sentence with some random sentences of the other side, the mean: float64 (n,)."""
    sample = others[generator(1).integers(0, len(others), _NORM_SAMPLES)].mean(axis=0)
    costs: Floats = 1 - (vectors @ sample).astype(np.float64)
    return costs
