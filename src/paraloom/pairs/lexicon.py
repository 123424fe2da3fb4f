"""A paraphrase lexicon by bilingual pivoting: phrases of one language that have translations in common (PGRU §2.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from paraloom.core.array_types import Bools, Floats, Ids, Ints
from paraloom.core.config import Config, check_range
from paraloom.core.errors import DataError
from paraloom.text.buffers import Texts
from paraloom.text.phrase_kernels import hash_spans
from paraloom.text.tokens import TokenLists, token_strings, tokenize
from paraloom.text.word_alignment import WordAlignmentConfig, align_words, aligned_phrases

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("phrase", "paraphrase")),
        ("pivots", pa.int32()),
        *((name, pa.float32()) for name in ("probability", "inverse", "score")),
    ]
)
"""Columns of a lexicon: how many pivot languages have an entry, p(paraphrase | phrase), the reverse, and the score."""

# Phrase pairs of a pivot that are counted at the same time, 32 bytes each; beyond them the rarest are forgotten.
_MAX_COUNTED = 20_000_000
# Translations of a phrase that are less probable than this are left out of the sum.
_LEAST = 1e-3
# Subtracted from each count: a phrase pair that was seen once is not certain.
_DISCOUNT = 0.5
# Score of parts of phrases that have a lower one, or none: most are unknown rather than wrong.
_LEAST_PART = 0.03
# Phrases whose paraphrases are computed at a time.
_BLOCK = 4096
# By which the hash of a pair's first phrase is multiplied.
_FIRST = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, kw_only=True)
class LexiconConfig(WordAlignmentConfig, Config):
    """Configuration of a lexicon: which phrase pairs it keeps, and how words are aligned.

    Args:
        max_phrase_length: Maximum number of words of a phrase.
        min_count: Minimum number of times that a phrase and a translation must be aligned with each other.
        min_score: Minimum score of an entry: the geometric mean of both probabilities, each times its number of pivot
            languages; for phrases that begin or end alike, the geometric mean of this and the score of the rest, .03
            at least; 1 at most.
        max_paraphrases: Maximum number of paraphrases of a phrase, the best by score.
    """

    max_phrase_length: int = 6
    min_count: int = 2
    min_score: float = 0.025
    max_paraphrases: int = 20

    def validate(self) -> None:
        check_range(self, "max_phrase_length", "min_count", "max_paraphrases", low=1)
        check_range(self, "min_score", low=0, high=1)


def pivot_lexicon(pivots: Iterable[Iterable[tuple[Texts, Texts]]], config: LexiconConfig | None = None) -> pa.Table:
    """Phrases with Σ_f p(f | e₁) p(e₂ | f), f of any pivot language (Bannard and Callison-Burch 2005)."""
    config = config or LexiconConfig()
    phrases = Phrases(config.max_phrase_length)
    pivoted = []
    for blocks in pivots:
        counts = count_phrases(blocks, phrases, config)
        pivoted.append(pivot(counts, phrases, config.min_count))
        phrases.keep(np.concatenate([part.known for part in pivoted]))
    if not any(len(part.known) for part in pivoted):
        raise DataError("cannot extract a lexicon: no phrase has a translation", remedy="Give more bitext.")
    return _entries(pivoted, phrases, config)


class Phrases:
    """The words of phrases, by the phrase's hash."""

    def __init__(self, max_length: int) -> None:
        self.keys = np.empty(0, np.uint64)
        self._ids = np.empty((0, max_length), np.uint64)
        self._words: dict[int, str] = {}

    def add(self, texts: Texts, tokens: TokenLists, starts: Ints, lengths: Ints) -> Ids:
        """Add phrases of tokenized texts; returns the hash of each."""
        keys = hash_spans(tokens.ids, starts, lengths)
        ids, first = np.unique(tokens.ids, return_index=True)
        new = np.flatnonzero([key not in self._words for key in ids.tolist()])
        strings = token_strings(texts).values.take(pa.array(first[new])).to_pylist()
        self._words.update(zip(ids[new].tolist(), strings, strict=True))
        distinct, first = np.unique(keys, return_index=True)
        first = first[~np.isin(distinct, self.keys, assume_unique=True)]
        columns = np.arange(self._ids.shape[1])
        positions = np.minimum(starts[first, None] + columns, len(tokens.ids) - 1)
        rows = np.where(columns < lengths[first, None], tokens.ids[positions], np.uint64(0))
        everything = np.concatenate([self.keys, keys[first]])
        order = np.argsort(everything)
        self.keys, self._ids = everything[order], np.concatenate([self._ids, rows])[order]
        return keys

    def keep(self, keys: Ids) -> None:
        """Forget all phrases but these."""
        kept = np.isin(self.keys, keys)
        self.keys, self._ids = self.keys[kept], self._ids[kept]

    def texts(self, keys: Ids) -> list[str]:
        return [" ".join(self._words[word] for word in row if word) for row in self._rows(keys).tolist()]

    def of_letters(self, keys: Ids) -> Bools:
        """True for phrases whose words are all of letters: neither punctuation nor numbers."""
        words = (key for key, word in self._words.items() if word.replace("'", "").replace("-", "").isalpha())
        return np.asarray(np.isin(self._rows(keys), np.array([0, *words], np.uint64)).all(axis=1))

    def _rows(self, keys: Ids) -> Ids:
        rows: Ids = self._ids[np.searchsorted(self.keys, keys)]
        return rows


class PhraseCounts(NamedTuple):
    """How often pairs of a foreign phrase and one of the language itself are aligned, each pair once."""

    pairs: Ids
    foreign: Ids
    phrases: Ids
    counts: Ints


def count_phrases(
    blocks: Iterable[tuple[Texts, Texts]], phrases: Phrases, config: LexiconConfig | None = None
) -> PhraseCounts:
    """Count the aligned phrases of a bitext, (foreign, own) texts, a block at a time."""
    config = config or LexiconConfig()
    empty = np.empty(0, np.uint64)
    total = PhraseCounts(empty, empty, empty, np.empty(0, np.int64))
    for foreign, own in blocks:
        a, b = tokenize(foreign), tokenize(own)
        if not len(a.ids) or not len(b.ids):
            continue
        spans = aligned_phrases(a, b, *align_words(a, b, config), config.max_phrase_length)
        f = hash_spans(a.ids, a.offsets[spans[:, 0]] + spans[:, 1], spans[:, 2])
        e = phrases.add(own, b, b.offsets[spans[:, 0]] + spans[:, 3], spans[:, 4])
        total = _added(total, PhraseCounts(f * _FIRST ^ e, f, e, np.ones(len(f), np.int64)))
    return total


def _added(total: PhraseCounts, more: PhraseCounts) -> PhraseCounts:
    """The sum of counts, without the rarest pairs where there are too many."""
    pairs, foreign, phrases, counts = (np.concatenate(columns) for columns in zip(total, more, strict=True))
    pairs, first, owners = np.unique(pairs, return_index=True, return_inverse=True)
    counts = np.bincount(owners, counts).astype(np.int64)
    total, floor = PhraseCounts(pairs, foreign[first], phrases[first], counts), 1
    while len(total.pairs) > _MAX_COUNTED:
        floor += 1
        frequent = total.counts >= floor
        total = PhraseCounts(
            total.pairs[frequent], total.foreign[frequent], total.phrases[frequent], total.counts[frequent]
        )
    return total


class Pivoted(NamedTuple):
    """Phrases that have a translation, how often; and p(paraphrase | phrase) through one pivot language."""

    known: Ids
    totals: Ints
    phrases: Ids
    paraphrases: Ids
    probabilities: Floats


def pivot(counts: PhraseCounts, phrases: Phrases, min_count: int = 1, discount: float = _DISCOUNT) -> Pivoted:
    """p(e₂ | e₁) = Σ_f p(f | e₁) p(e₂ | f), of phrases of letters."""
    from scipy import sparse

    own, rows = np.unique(counts.phrases, return_inverse=True)
    foreign, columns = np.unique(counts.foreign, return_inverse=True)
    forward, backward = (
        (counts.counts - discount) / np.bincount(owners, counts.counts)[owners] for owners in (rows, columns)
    )
    kept = phrases.of_letters(own)[rows] & (counts.counts >= min_count) & (np.minimum(forward, backward) >= _LEAST)
    there, back = (
        sparse.csr_matrix((part[kept], (rows[kept], columns[kept])), (len(own), len(foreign)))
        for part in (forward, backward)
    )
    back = sparse.csr_matrix(back.T)
    known = np.flatnonzero(np.diff(there.indptr))
    totals = np.bincount(rows, counts.counts)[known].astype(np.int64)
    parts: list[tuple[Ids, Ids, Floats]] = [(own[:0], own[:0], np.empty(0))]
    for start in range(0, len(known), _BLOCK):
        block = known[start : start + _BLOCK]
        product = (there[block] @ back).tocoo()
        first = block[product.row]
        probable = (product.data >= _LEAST) & (first != product.col)
        parts.append((own[first[probable]], own[product.col[probable]], product.data[probable]))
    return Pivoted(own[known], totals, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _entries(pivoted: list[Pivoted], phrases: Phrases, config: LexiconConfig) -> pa.Table:
    """The entries of all pivots together, the best first."""
    known, owners = np.unique(np.concatenate([part.known for part in pivoted]), return_inverse=True)
    totals = np.bincount(owners, np.concatenate([part.totals for part in pivoted]))
    one, two = (np.concatenate([part[column] for part in pivoted]) for column in (2, 3))
    # The probability that a translation of the phrase is of this pivot, times that of the paraphrase.
    values = np.concatenate(
        [part.totals[np.searchsorted(part.known, part.phrases)] * part.probabilities for part in pivoted]
    )
    pairs, first, owners, pivots = np.unique(
        one * _FIRST ^ two, return_index=True, return_inverse=True, return_counts=True
    )
    one, two = one[first], two[first]
    probability = np.bincount(owners, values) / totals[np.searchsorted(known, one)]
    reverse = two * _FIRST ^ one
    positions = np.minimum(np.searchsorted(pairs, reverse), max(0, len(pairs) - 1))
    inverse = np.where(pairs[positions] == reverse, probability[positions], 0.0)
    score = np.minimum(1.0, np.sqrt(probability * pivots * inverse * pivots[positions]))
    # The score of a part, 1 at most, may raise that of an entry to its square root.
    rows = np.flatnonzero((score >= config.min_score**2) & (score > 0))
    texts = [phrases.texts(column[rows]) for column in (one, two)]
    score = _with_parts(list(zip(*texts, strict=True)), score[rows])
    columns = [pa.array(text) for text in texts]
    columns += [pa.array(values[rows]) for values in (pivots, probability, inverse)]
    table = pa.table([*columns, pa.array(score)], names=SCHEMA.names).cast(SCHEMA)
    table = table.filter(pa.array((score >= config.min_score) & (score > 0)))
    order = [("score", "descending"), ("phrase", "ascending"), ("paraphrase", "ascending")]
    return _best(table.sort_by(order), config.max_paraphrases)


def _with_parts(entries: list[tuple[str, str]], scores: Floats) -> Floats:
    """Scores that count the part in which phrases with words in common differ; 0 if a phrase is part of the other."""
    known = {entries[row]: scores[row] for row in np.flatnonzero(scores > _LEAST_PART)}
    new = scores.copy()
    for row, entry in enumerate(entries):
        part = _difference(*entry)
        if f" {entry[0]} " in f" {entry[1]} " or f" {entry[1]} " in f" {entry[0]} ":
            new[row] = 0.0
        elif part != entry and all(part):
            new[row] = np.sqrt(scores[row] * known.get(part, _LEAST_PART))
    return new


def _difference(one: str, two: str) -> tuple[str, str]:
    """Two phrases without the words that they begin or end with in common."""
    a, b = one.split(), two.split()
    for side in (0, -1):
        while a and b and a[side] == b[side]:
            del a[side], b[side]
    return " ".join(a), " ".join(b)


def _best(table: pa.Table, limit: int) -> pa.Table:
    """The first `limit` entries of each phrase."""
    _, owners = np.unique(table.column("phrase").to_numpy(), return_inverse=True)
    order = np.argsort(owners, kind="stable")
    ranks = np.empty(len(owners), np.int64)
    ranks[order] = np.arange(len(owners)) - np.searchsorted(owners[order], owners[order])
    return table.filter(pa.array(ranks < limit))
