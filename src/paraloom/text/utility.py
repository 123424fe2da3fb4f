"""Expected utility of candidate texts: their mean chrF or BLEU against samples, each compared with each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from paraloom.core.array_types import Floats, Ints
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.text.bleu import BLEU_ORDER, bleu_from_counts
from paraloom.text.buffers import code_points
from paraloom.text.characters import white_table
from paraloom.text.chrf import CHRF_ORDER, chrf_from_counts
from paraloom.text.ngram_kernels import prefixes_of, shared_in_groups, visible
from paraloom.text.tokens import tokenize

UTILITIES = ("chrf", "bleu")  # Metrics of `expected_utility`

_BLOCK_PAIRS = 1 << 18

_Metric: TypeAlias = Callable[[Sequence[str], Ints, Ints, Ints, Ints], tuple[Floats, Floats]]


def expected_utility(
    candidates: Sequence[Sequence[str]], samples: Sequence[Sequence[str]], metric: str = "chrf"
) -> list[Floats]:
    """Compute the mean score of each candidate against samples (MBR, Eikema and Aziz 2020), for each of n sentences."""
    scores_of = _metric(metric)
    if len(candidates) != len(samples):
        raise DataError(f"expected samples for {len(candidates)} sentences, got those of {len(samples)}")
    utilities: list[Floats] = []
    for block in _blocks(candidates, samples):
        utilities += _utilities(block, scores_of)
    return utilities


def pairwise_similarity(groups: Sequence[Sequence[str]], metric: str = "chrf") -> list[Floats]:
    """Compute how alike the texts of each group are, each compared with each."""
    scores_of = _metric(metric)
    tables: list[Floats] = []
    for block in _blocks(groups, groups):
        pairs = _pairs(block)
        forward, backward = scores_of(*pairs)
        tables += _tables(block, pairs.bounds, (forward + backward) / 200)
    return tables


def _tables(block: Sequence[_Group], bounds: Ints, values: Floats) -> Iterator[Floats]:
    """The pairs of each group as a table of its texts, repeated ones included."""
    for number, group in enumerate(block):
        table = np.empty((len(group.texts),) * 2)
        mean = values[bounds[number] : bounds[number + 1]]
        table[group.left, group.right] = table[group.right, group.left] = mean
        np.fill_diagonal(table, 1.0)
        yield table[np.ix_(group.candidates, group.candidates)]


class _Group(NamedTuple):
    """Distinct texts of a sentence, and the pairs of them that are compared, each in both directions."""

    texts: list[str]
    candidates: list[int]
    weights: Floats
    left: Ints
    right: Ints


def _group(candidates: Sequence[str], samples: Sequence[str]) -> _Group:
    texts = list(dict.fromkeys([*candidates, *samples]))
    index = {text: number for number, text in enumerate(texts)}
    occurrences = Counter(samples)
    weights = np.fromiter((occurrences[text] for text in texts), np.float64, len(texts))
    chosen = np.zeros(len(texts), np.bool_)
    chosen[np.array([index[text] for text in candidates], np.int64)] = True
    left, right = np.triu_indices(len(texts))
    needed = (chosen[left] & (weights[right] > 0)) | (chosen[right] & (weights[left] > 0))
    return _Group(texts, [index[text] for text in candidates], weights, left[needed], right[needed])


def _blocks(candidates: Sequence[Sequence[str]], samples: Sequence[Sequence[str]]) -> Iterator[list[_Group]]:
    """The groups in blocks, whose pairs fit into memory."""
    block: list[_Group] = []
    pairs = 0
    for texts, of_sentence in zip(candidates, samples, strict=True):
        block.append(_group(texts, of_sentence))
        pairs += len(block[-1].left)
        if pairs >= _BLOCK_PAIRS:
            yield block
            block, pairs = [], 0
    if block:
        yield block


class _Pairs(NamedTuple):
    texts: list[str]
    groups: Ints
    left: Ints
    right: Ints
    bounds: Ints


def _pairs(block: Sequence[_Group]) -> _Pairs:
    groups, bounds = (
        np.cumsum([0, *sizes], dtype=np.int64)
        for sizes in ([len(group.texts) for group in block], [len(group.left) for group in block])
    )
    left, right = (
        np.concatenate([getattr(group, side) + start for group, start in zip(block, groups, strict=False)])
        for side in ("left", "right")
    )
    return _Pairs([text for group in block for text in group.texts], groups, left, right, bounds)


def _utilities(block: Sequence[_Group], scores_of: _Metric) -> list[Floats]:
    texts, groups, left, right, _ = pairs = _pairs(block)
    forward, backward = scores_of(*pairs)
    weights = np.concatenate([group.weights for group in block])
    totals = np.bincount(left, forward * weights[right], len(texts))
    other = left != right
    totals += np.bincount(right[other], (backward * weights[left])[other], len(texts))
    utilities = []
    for group, start in zip(block, groups, strict=False):
        with np.errstate(invalid="ignore"):
            utilities.append(totals[start + np.array(group.candidates, np.int64)] / group.weights.sum())
    return utilities


def _metric(name: str) -> _Metric:
    if name not in UTILITIES:
        raise ConfigError(f"unknown metric '{name}'{nearest(name, UTILITIES)}")
    return _scores_of_chrf if name == "chrf" else _scores_of_bleu


def _scores_of_chrf(texts: Sequence[str], groups: Ints, left: Ints, right: Ints, bounds: Ints) -> tuple[Floats, Floats]:
    """chrF of the left texts against the right ones, and of the right ones against the left."""
    ids, offsets = visible(*code_points(texts), white_table())
    shared = shared_in_groups(prefixes_of(ids), offsets, groups, left, right, bounds, CHRF_ORDER)
    lengths = np.diff(offsets)
    forward, backward = (
        np.nan_to_num(chrf_from_counts(shared, lengths[ours], lengths[theirs]), copy=False)
        for ours, theirs in ((left, right), (right, left))
    )
    return forward, backward


def _scores_of_bleu(texts: Sequence[str], groups: Ints, left: Ints, right: Ints, bounds: Ints) -> tuple[Floats, Floats]:
    """Sentence BLEU of the left texts against the right ones, and of the right ones against the left."""
    lists = tokenize(texts, lower=False)
    shared = shared_in_groups(prefixes_of(lists.ids), lists.offsets, groups, left, right, bounds, BLEU_ORDER)
    lengths = lists.lengths
    forward, backward = (
        bleu_from_counts(shared, lengths[ours], lengths[theirs]) for ours, theirs in ((left, right), (right, left))
    )
    return forward, backward
