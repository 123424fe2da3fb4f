"""Bilingual lexicons: learned from beads by word alignment, or read from a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from paraloom.alignment.numbered_words import ExpectedWords, entries_between
from paraloom.core.array_types import Float32s, Ids, Ints
from paraloom.core.errors import DataError
from paraloom.core.sorted_ids import find_ids
from paraloom.io import read_lines
from paraloom.text.tokens import TokenLists, tokenize
from paraloom.text.word_alignment import WordAlignmentConfig, word_links

# EM iterations: which words go together matters, not their exact probabilities.
_ITERATIONS = 3


class BilingualLexicon(NamedTuple):
    """Translation probabilities p(translation | word)."""

    words: Ids
    starts: Ints
    translations: Ids
    probabilities: Float32s

    def expected_words(self, lists: TokenLists) -> ExpectedWords:
        present, indices = find_ids(self.words, lists.ids)
        counts = np.zeros(len(lists.ids), np.int64)
        counts[present] = np.diff(self.starts)[indices[present]]
        ends = np.cumsum(counts)
        entries = np.repeat(np.where(present, self.starts[indices], 0), counts)
        entries = entries + np.arange(len(entries)) - np.repeat(ends - counts, counts)
        offsets = np.concatenate([[0], ends])[lists.offsets]
        causes = np.repeat(lists.ids, counts)
        sizes = lists.lengths.astype(np.float64)
        return ExpectedWords(self.translations[entries], causes, self.probabilities[entries], offsets, sizes)

    def translate(self, lists: TokenLists) -> TokenLists:
        """Replace each word by its most probable translation; a word without an entry stays."""
        owners = np.repeat(np.arange(len(self.words)), np.diff(self.starts))
        order = np.lexsort((-self.probabilities, owners))
        best = order[np.searchsorted(owners[order], np.arange(len(self.words))).clip(max=max(0, len(order) - 1))]
        has_entries = np.diff(self.starts) > 0
        known, indices = find_ids(self.words, lists.ids)
        present = known & has_entries[indices]
        return TokenLists(np.where(present, self.translations[best[indices]], lists.ids), lists.offsets)


def learn_lexicon(source: TokenLists, target: TokenLists) -> BilingualLexicon | None:
    """Estimate p(target word | source word) by word alignment, less one count: no bead supports itself alone."""
    linked = word_links(source, target, WordAlignmentConfig(iterations=_ITERATIONS))
    owners = np.repeat(np.arange(len(target)), target.lengths)
    aligned = linked >= 0
    words = source.ids[source.offsets[owners[aligned]] + linked[aligned]]
    pairs, counts = np.unique(np.stack([words, target.ids[aligned]], axis=1), axis=0, return_counts=True)
    pairs, counts = pairs[counts > 1], counts[counts > 1]
    if not len(pairs):
        return None
    types, frequencies = np.unique(source.ids, return_counts=True)
    indices = np.searchsorted(types, pairs[:, 0])
    probabilities = ((counts - 1) / frequencies[indices]).astype(np.float32)
    starts = np.searchsorted(indices, np.arange(len(types) + 1)).astype(np.int64)
    return BilingualLexicon(types, starts, np.ascontiguousarray(pairs[:, 1]), probabilities)


def read_lexicon(path: str | Path) -> tuple[BilingualLexicon, BilingualLexicon]:
    """Read lines of source word, target word and optional probability, or of hunalign's `target @ source`."""
    words: list[str] = []
    translations: list[str] = []
    weights: list[float] = []
    for row, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.rstrip("\n").split("\t")]
        if len(fields) == 1 and " @ " in line:
            target, _, source = line.partition(" @ ")
            fields = [source.strip(), target.strip()]
        try:
            source, target, *rest = fields
            weight = float(rest[0]) if rest else 1.0
        except ValueError:
            raise DataError(
                f"expected a lexicon entry, got '{line.strip()[:60]}'",
                file=str(path),
                row=row,
                remedy="Write a source word, a target word and optionally a probability, separated by tabs.",
            ) from None
        words.append(source)
        translations.append(target)
        weights.append(max(weight, 0.0))
    left, right = tokenize(words), tokenize(translations)
    single = (left.lengths == 1) & (right.lengths == 1) & (np.array(weights) > 0)
    if not single.any():
        raise DataError(
            "the lexicon has no entry with one word on each side",
            file=str(path),
            remedy="Write a source word, a target word and optionally a probability, separated by tabs.",
        )
    pairs = list(
        zip(
            left.ids[left.offsets[:-1][single]].tolist(),
            right.ids[right.offsets[:-1][single]].tolist(),
            np.array(weights)[single].tolist(),
            strict=True,
        )
    )
    return _lexicon_from_pairs(pairs), _lexicon_from_pairs([(b, a, weight) for a, b, weight in pairs])


def _lexicon_from_pairs(pairs: list[tuple[int, int, float]]) -> BilingualLexicon:
    table: dict[int, dict[int, float]] = defaultdict(dict)
    for word, translation, weight in pairs:
        table[word][translation] = max(weight, table[word].get(translation, 0.0))
    words = np.array(sorted(table), np.uint64)
    entries = [sorted(table[int(word)].items()) for word in words]
    starts = np.concatenate([[0], np.cumsum([len(entry) for entry in entries])]).astype(np.int64)
    translations = np.array([translation for entry in entries for translation, _ in entry], np.uint64)
    probabilities = [weight / sum(value for _, value in entry) for entry in entries for _, weight in entry]
    return BilingualLexicon(words, starts, translations, np.array(probabilities, np.float32))


def bead_tokens(lists: TokenLists, beads: Ints) -> TokenLists:
    entries, offsets = entries_between(lists.offsets[beads[:, 0]], lists.offsets[beads[:, 0] + beads[:, 1]])
    return TokenLists(lists.ids[entries], offsets)


def spread_evenly(lengths: Sequence[int], max_count: int) -> list[Ints]:
    starts = np.cumsum([0, *lengths])
    count = min(int(starts[-1]), max_count)
    chosen = np.arange(count) * int(starts[-1]) // max(count, 1)
    bounds = np.searchsorted(chosen, starts)
    return [chosen[a:b] - start for a, b, start in zip(bounds, bounds[1:], starts, strict=False)]


def concatenate(lists: Sequence[TokenLists]) -> TokenLists:
    sizes = np.concatenate([[0], np.cumsum([len(part.ids) for part in lists])])
    offsets = [part.offsets[:-1] + start for part, start in zip(lists, sizes[:-1], strict=True)]
    return TokenLists(np.concatenate([part.ids for part in lists]), np.concatenate([*offsets, sizes[-1:]]))
