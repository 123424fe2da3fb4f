"""Lines without a word, such as dirt of OCR and ornaments: they correspond to each other, or to nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from paraloom.alignment.search import Band
from paraloom.core.array_types import Float32s, Floats

# A digit, two letters in a row, or a syllable or an ideogram.
_WORD = re.compile(r"\d|[^\W\d_]{2}|[\uac00-\ud7a3\u3040-\u30ff\u3400-\u9fff]")


class WordlessEvidence:
    """Takes `cost` from a bead for each line without a word that one side has more than the other."""

    def __init__(self, source: Sequence[str], target: Sequence[str], cost: float) -> None:
        self.cost = cost
        self.counts = _cumulative_counts(source), _cumulative_counts(target)

    def add(self, first: int, rows: int, band: Band, out: Float32s) -> None:
        sources, targets = self.counts
        if not sources[-1] and not targets[-1]:
            return
        i = np.minimum(first + np.arange(rows), band.sources)
        j = np.minimum(band.lows[i][:, None] + np.arange(band.width), band.targets)
        max_size = out.shape[1]
        before = [sources[np.minimum(i + size, band.sources)] - sources[i] for size in range(1, max_size + 1)]
        after = [targets[np.minimum(j + size, band.targets)] - targets[j] for size in range(1, max_size + 1)]
        for a in range(max_size):
            for b in range(max_size):
                out[:, a, b] -= self.cost * np.abs(before[a][:, None] - after[b])


def _cumulative_counts(text: Sequence[str]) -> Floats:
    """Lines without a word before each boundary, (n + 1,)."""
    return np.concatenate([[0.0], np.cumsum([_WORD.search(line) is None for line in text])])
