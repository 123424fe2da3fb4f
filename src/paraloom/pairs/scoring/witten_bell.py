"""Interpolated n-gram language models of characters or words, trained without extras."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np

from paraloom.core.array_types import Ids, Ints
from paraloom.core.errors import DataError
from paraloom.pairs.scoring.language_model import BEGIN, END, UNKNOWN, NgramModel, symbols_of
from paraloom.pairs.scoring.language_model_kernels import COUNT, FOLLOWED, HISTORY, KINDS, SHORTER, SIZE, count_ngrams
from paraloom.text.buffers import Texts
from paraloom.text.token_kernels import START, build_table
from paraloom.text.tokens import TokenLists, token_hash

Units: TypeAlias = Literal["characters", "words"]

ORDERS: dict[Units, int] = {"characters": 6, "words": 3}
"""Units → default order of the n-grams."""

_BATCH_SYMBOLS = 1_000_000
_NEVER = -99.0  # What ARPA files have as the logarithm for the beginning, which is never predicted


def train_witten_bell(batches: Iterable[Texts], *, units: Units = "characters", order: int = 0) -> NgramModel:
    """Train an n-gram model with Witten–Bell smoothing, unpruned; some 150 bytes for each different n-gram.

    Each order is interpolated with the next lower one, the lowest with the uniform distribution over the vocabulary,
    the end of the sentence and one unknown symbol; written as back-off weights, these are the same probabilities. See
    Witten and Bell 1991, "The zero-frequency problem"; Chen and Goodman 1998, §2.5.
    """
    order = order or ORDERS[units]
    begin, end = (np.uint64(token_hash(mark)) for mark in (BEGIN, END))
    table, facts, entries = np.zeros(16, np.uint64), np.zeros((16, 6), np.int64), 0
    for batch in batches:
        lists = symbols_of(batch, units)
        filled = np.flatnonzero(lists.lengths)
        for rows in np.array_split(filled, 1 + len(lists.ids) // _BATCH_SYMBOLS):
            part = TokenLists(
                np.concatenate([np.empty(0, np.uint64), *(lists[row] for row in rows)]),
                np.concatenate([[0], np.cumsum(lists.lengths[rows])]),
            )
            room = entries + order * (len(part.ids) + 2 * len(rows)) + 2
            if 2 * room > len(table):
                table, facts = _grown(table, facts, room)
            entries += count_ngrams(part.ids, part.offsets, order, begin, end, table, facts)
    if not entries:
        raise DataError("the corpus has no sentences to train a language model on")
    return _model(table, facts, order, units)


def _grown(table: Ids, facts: Ints, room: int) -> tuple[Ids, Ints]:
    """The same entries in a hash table with room for more."""
    filled = np.flatnonzero(table)
    larger, positions = build_table(table[filled], room)
    moved = np.zeros((len(larger), facts.shape[1]), np.int64)
    moved[positions > 0] = facts[filled][positions[positions > 0] - 1]
    return larger, moved


def _model(table: Ids, facts: Ints, order: int, units: Units) -> NgramModel:
    """p(w | h) = (count(h w) + kinds(h) p(w | shorter h)) / (followed(h) + kinds(h)), from the uniform one upwards."""
    filled = np.flatnonzero(table)
    filled = filled[np.argsort(table[filled])]
    keys, facts = table[filled], facts[filled]
    followed, kinds = facts[:, FOLLOWED], facts[:, KINDS]
    root = int(np.searchsorted(keys, START))
    shorter, history = (np.searchsorted(keys, facts[:, column].view(np.uint64)) for column in (SHORTER, HISTORY))
    uniform = 1.0 / (kinds[root] + 1)  # The symbols and the end, and an unknown one
    probabilities = np.zeros(len(keys))
    for size in range(1, order + 1):
        rows = np.flatnonzero(facts[:, SIZE] == size)
        of = history[rows]
        lower = probabilities[shorter[rows]] if size > 1 else uniform
        probabilities[rows] = (facts[rows, COUNT] + kinds[of] * lower) / (followed[of] + kinds[of])
    backoffs = np.zeros(len(keys))
    is_history = followed > 0
    backoffs[is_history] = np.log10(kinds[is_history] / (followed + kinds)[is_history])
    logprobs = np.full(len(keys), _NEVER)
    predicted = probabilities > 0
    logprobs[predicted] = np.log10(probabilities[predicted])
    unknown = np.uint64(token_hash(UNKNOWN[0]))
    return NgramModel(
        np.append(np.delete(keys, root), unknown),
        np.append(np.delete(logprobs, root), backoffs[root] + np.log10(uniform)).astype(np.float32),
        np.append(np.delete(backoffs, root), 0.0).astype(np.float32),
        order,
        units,
    )
