"""Correctness of translation (PARK17 §2, equation 1): how literally the two sides of a bitext translate each other."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.errors import DataError
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.core.stats import Moments
from paraloom.io import Corpus
from paraloom.text.tokens import TokenLists, tokenize
from paraloom.text.word_alignment import WordAlignmentConfig, Words, align_words

# As many words without a counterpart are expected as with one, so that a word is linked only to what explains it.
_ALIGNMENT = WordAlignmentConfig(null=0.5)

Shares = npt.NDArray[np.float64]


def translated_words(a: TokenLists, b: TokenLists, b_links: Words, a_links: Words) -> Shares:
    """Share of the words of both sides of each pair that are aligned with each other; NaN for a pair without words.

    Args:
        a: Words of one side.
        b: Words of the other.
        b_links: For each word of `b` the position of its word of `a` in the sentence, negative for none.
        a_links: The same for each word of `a`.
    """
    rows = np.repeat(np.arange(len(b)), b.lengths)
    linked = np.flatnonzero(b_links >= 0)
    partners = a_links[a.offsets[rows[linked]] + b_links[linked]]
    mutual = linked[partners == linked - b.offsets[rows[linked]]]
    with np.errstate(invalid="ignore"):
        shares: Shares = 2 * np.bincount(rows[mutual], minlength=len(b)) / (a.lengths + b.lengths)
    return shares


@dataclass(frozen=True, kw_only=True)
class MeasureCorrectness(Fit):
    """Measures how literally the sides of a bitext translate each other: the share of words with a counterpart.

    People counted the correctly translated words in the paper; here a word is one if the most probable alignments in
    both directions, learned from the bitext itself, agree on it. Compare bitexts of similar size: the alignment of a
    small one is rougher.

    Args:
        pairs: Corpora of sentences and their translations, in two languages.
        max_pairs: Maximum number of pairs, the first ones; some thousands are needed to align words.

    Raises:
        DataError: When it runs: the corpora have no words.

    Reference:
        Park, Dugast, Hong, Shin and Cha 2017 (PARK17), §2, equation 1.

    Example:
        >>> MeasureCorrectness(pairs=["aligned"]).max_pairs
        100000
    """

    pairs: tuple[Ref, ...]
    max_pairs: int = 100_000

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write result.json; return the mean with its interval, and the share of pairs below one half."""
        tables = [Corpus.open(path).head(self.max_pairs, ["src", "tgt"]) for path in context.paths("pairs")]
        table = pa.concat_tables(tables).slice(0, self.max_pairs).combine_chunks()
        a, b = (tokenize(table.column(side)) for side in ("src", "tgt"))
        if not len(a.ids) or not len(b.ids):
            raise DataError("cannot align words: the pairs have no words on one side")
        shares = translated_words(a, b, *align_words(a, b, _ALIGNMENT))
        shares = shares[~np.isnan(shares)]
        figures: dict[str, Json] = {
            "pairs": len(shares),
            "correctness": Moments.of(shares).estimate().to_dict(),
            "below_half": float((shares < 0.5).mean()),
        }
        (folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return figures
