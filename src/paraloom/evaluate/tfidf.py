"""TF-IDF vectors of sentences, and the overlap of words and trigrams: what a similarity is without any training."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paraloom.core.array_types import Float32s, Floats
from paraloom.core.digests import signature
from paraloom.core.sorted_ids import find_ids
from paraloom.core.stats import IdCounts, merge_all
from paraloom.text.buffers import Texts
from paraloom.text.ngrams import character_ngrams
from paraloom.text.token_list_kernels import distinct_entries
from paraloom.text.tokens import TokenLists, tokenize

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, eq=False)
class TfIdf:
    """TF-IDF weights of tokens over sentences, as scikit-learn has them; unknown tokens are left out of the vectors."""

    frequencies: IdCounts
    sentences: int

    @classmethod
    def count(cls, batches: Iterable[TokenLists]) -> TfIdf:
        """Count in how many sentences each token occurs; memory grows with the vocabulary only."""
        parts = [(IdCounts.of(distinct_entries(lists.ids, lists.offsets)), len(lists)) for lists in batches]
        return cls(merge_all((counts for counts, _ in parts), IdCounts.empty()), sum(n for _, n in parts))

    @property
    def idf(self) -> Floats:
        """float64 `(v,)`, by token in the order of `frequencies.ids`."""
        return 1.0 + np.log((1.0 + self.sentences) / (1.0 + self.frequencies.counts))

    def matrix(self, lists: TokenLists) -> sparse.csr_matrix:
        from scipy import sparse

        vocabulary = self.frequencies.ids
        rows = np.repeat(np.arange(len(lists)), lists.lengths)
        known, columns = find_ids(vocabulary, lists.ids)
        ones = np.ones(int(known.sum()))
        counts = sparse.csr_matrix((ones, (rows[known], columns[known])), shape=(len(lists), len(vocabulary)))
        counts.sum_duplicates()
        weighted = counts.multiply(self.idf[None]).tocsr()
        norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1))).ravel()
        scales = np.divide(1.0, norms, where=norms > 0, out=np.zeros_like(norms))
        return sparse.csr_matrix(sparse.diags(scales) @ weighted)


class Overlap:
    """The obvious system: the mean of the TF-IDF cosines of words and of trigrams, counted on the test itself."""

    name = "overlap"

    def __init__(self, words: TfIdf, trigrams: TfIdf) -> None:
        self.words, self.trigrams = words, trigrams

    @classmethod
    def count(cls, batches: Iterable[Texts]) -> Overlap:
        texts = list(batches)
        return cls(TfIdf.count(map(_words, texts)), TfIdf.count(map(character_ngrams, texts)))

    @property
    def signature(self) -> str:
        """Kind of the comparison, and the number of sentences that IDF was counted on."""
        return signature("overlap", units="words+trigrams", weights="tfidf", sentences=self.words.sentences)

    def similarities(self, first: Texts, second: Texts) -> Float32s:
        """Similarity of each sentence with the sentence at the same position of another list."""
        cosines = [
            np.asarray(table.matrix(split(first)).multiply(table.matrix(split(second))).sum(axis=1)).ravel()
            for table, split in ((self.words, _words), (self.trigrams, character_ngrams))
        ]
        return ((cosines[0] + cosines[1]) / 2).astype(np.float32)


def _words(texts: Texts) -> TokenLists:
    return tokenize(texts, punctuation=False)
