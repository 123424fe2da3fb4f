"""Lexical shortlists: the target subwords that a source sentence may translate to, which alone decoding scores."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.mt.data import Examples
from paraloom.text.tokens import TokenLists
from paraloom.text.word_alignment import word_links

SHORTLIST_FILE = "vmap.txt"  # CTranslate2's name for a vocabulary map
COMMON = 500  # Most frequent target subwords, which every sentence may use
PER_SUBWORD = 25  # Target subwords of each source subword
MAX_PAIRS = 100_000  # Training pairs that are aligned


def write_shortlist(examples: Examples, pieces: Sequence[str], folder: Path) -> Path:
    """Write the 25 target subwords aligned most often with each source subword, and the 500 commonest (W17 §3.1)."""
    count = min(len(examples), MAX_PAIRS)
    source, target = (_lists(examples, side, count) for side in (0, 1))
    partner = word_links(source, target)
    starts = np.repeat(source.offsets[:-1], target.lengths)
    linked = partner >= 0
    a = source.ids[starts[linked] + partner[linked]].astype(np.int64)
    b = target.ids[linked].astype(np.int64)
    pairs, times = np.unique(a * len(pieces) + b, return_counts=True)
    a, b = pairs // len(pieces), pairs % len(pieces)
    order = np.lexsort((b, -times, a))
    ids, frequency = np.unique(target.ids, return_counts=True)
    common = ids[np.lexsort((ids, -frequency))][:COMMON]
    lines = ["\t" + " ".join(pieces[int(i)] for i in common)]
    bounds = np.flatnonzero(np.diff(a[order], prepend=-1, append=-1))
    for first, last in pairwise(bounds):
        best = b[order[first : min(last, first + PER_SUBWORD)]]
        lines.append(f"{pieces[int(a[order[first]])]}\t" + " ".join(pieces[int(i)] for i in best))
    path = folder / SHORTLIST_FILE
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _lists(examples: Examples, side: int, count: int) -> TokenLists:
    starts, ends = examples.bounds[side : 2 * count : 2], examples.bounds[side + 1 : 2 * count + 1 : 2]
    lengths = ends - starts
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    positions: npt.NDArray[np.int64] = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - starts, lengths)
    return TokenLists(np.asarray(examples.ids[positions], np.uint64), offsets)
