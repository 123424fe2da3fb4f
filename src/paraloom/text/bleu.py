"""Sentence BLEU from shared n-grams and lengths: BLEU+1 as W17 uses it, and sacreBLEU's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paraloom.core.array_types import Float32s, Floats, Ints
from paraloom.text.ngrams import ngram_totals

BLEU_ORDER = 4  # Maximum order of the n-grams, in words


def bleu_plus_one_from_counts(
    shared: Sequence[npt.NDArray[np.integer]],
    translation_lengths: npt.NDArray[np.integer],
    reference_lengths: npt.NDArray[np.integer],
) -> Float32s:
    """Compute BLEU+1 (Nakov et al. 2012): every order's precision and the reference's length are smoothed by one."""
    c = np.where(np.asarray(translation_lengths) > 0, translation_lengths, np.nan)
    r = np.where(np.asarray(reference_lengths) > 0, reference_lengths, np.nan)
    logs = [np.log((m + 1.0) / (ngram_totals(translation_lengths, n) + 1.0)) for n, m in enumerate(shared, start=1)]
    brevity = np.minimum(0.0, 1.0 - (r + 1.0) / c)
    bleu: Floats = np.exp(np.mean(logs, axis=0) + brevity)
    return bleu.astype(np.float32)


def bleu_from_counts(shared: npt.NDArray[np.integer], translation_lengths: Ints, reference_lengths: Ints) -> Floats:
    """sacreBLEU's sentence BLEU (Post 2018), 'exp' smoothing: the k-th order without a match counts as 1 / 2ᵏ."""
    totals = np.maximum(translation_lengths[:, None] - np.arange(BLEU_ORDER), 0)
    smoothed = 0.5 ** np.cumsum(shared == 0, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(totals > 0, np.log(np.where(shared > 0, shared, smoothed) / totals), 0).sum(1)
        orders = (totals > 0).sum(1)
        brevity = np.minimum(0, 1 - reference_lengths / translation_lengths)
        bleu: Floats = 100 * np.exp(logs / orders + brevity)
    bleu[shared[:, 0] == 0] = 0
    return bleu
