"""How rare words are: document frequencies counted over a corpus, and the mean IDF of sentences by them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.counts import Counts
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import DataError, ModelError
from paraloom.pairs.scoring.kernels import distinct_entries
from paraloom.text.tokens import Texts, TokenLists, tokens

FILE = "rarity.safetensors"


@dataclass(frozen=True, eq=False)
class WordRarity:
    """How many of `sentences` sentences each word stands in; a sentence is a document.

    words: uint64 (v,), token ids in ascending order.  counts: int64 (v,), 1 or more.
    IDF of a word is ln(sentences / count), in nats; a word never seen counts as seen once.
    """

    words: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    sentences: int
    digest: str = ""

    @property
    def signature(self) -> str:
        """How many words and sentences, and the digest of the file."""
        return signature("idf", words=len(self.words), sentences=self.sentences, digest=self.digest or "none")

    @cached_property
    def _idf(self) -> npt.NDArray[np.float64]:
        return np.log(self.sentences / self.counts)

    def mean_idf(self, lists: TokenLists) -> npt.NDArray[np.float32]:
        """Mean IDF of the words of each sentence, repeated ones as often as they stand: float32 (n,), NaN if empty.

        Higher means rarer words.  PNMT Table 1 and W17 Table 10 count by Wikipedia's sentences.

        >>> rarity = count_words([["a b", "a c", "a d", "a b"]])
        >>> rarity.mean_idf(tokens(["a b", "d", ""])).round(3)
        array([0.347, 1.386,   nan], dtype=float32)
        """
        places = np.searchsorted(self.words, lists.ids)
        places[places == len(self.words)] = 0
        known = self.words[places] == lists.ids
        values = np.where(known, self._idf[places], np.log(self.sentences))
        sums = np.concatenate([[0.0], np.cumsum(values)])
        total = np.diff(sums[lists.offsets])
        return (total / np.where(lists.lengths > 0, lists.lengths, np.nan)).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the table into a folder."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True, exist_ok=True)
        arrays = {"words": self.words, "counts": self.counts, "sentences": np.array([self.sentences])}
        save_file(arrays, folder / FILE)

    @classmethod
    def load(cls, folder: Path) -> WordRarity:
        """What `save` wrote.  Raises ModelError when the folder has no such table."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        path = folder / FILE
        if not path.is_file():
            raise ModelError(
                f"{FILE} is missing", file=folder, remedy="Name a folder that the stage 'count-words' made."
            )
        try:
            arrays = load_file(path)
        except SafetensorError as error:
            raise ModelError(f"{FILE} is damaged: {error}", file=folder, remedy="Count the words again.") from None
        return cls(arrays["words"], arrays["counts"], int(arrays["sentences"][0]), file_digest(path)[:12])


def count_words(batches: Iterable[Texts]) -> WordRarity:
    """Count in how many sentences each word stands, batch by batch; memory grows with the vocabulary alone.

    Raises DataError when there is no word.
    """
    seen, sentences = Counts.none(), 0
    for batch in batches:
        lists = tokens(batch)
        sentences += int((lists.lengths > 0).sum())
        seen += Counts.of(distinct_entries(lists.ids, lists.offsets))
    if not len(seen):
        raise DataError("no word to count: the corpus is empty")
    return WordRarity(seen.keys, seen.times, sentences)
