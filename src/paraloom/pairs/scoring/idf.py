"""Inverse document frequency: in how many sentences each word occurs, and the mean IDF of other sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import DataError, ModelError
from paraloom.core.stats import IdCounts
from paraloom.pairs.scoring.token_list_kernels import distinct_entries
from paraloom.text.buffers import Texts
from paraloom.text.tokens import TokenLists, tokenize

FILE = "rarity.safetensors"


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """In how many sentences each word of a corpus occurs; a sentence is a document.

    The IDF of a word is ln(sentences / count), in nats; an unknown word counts as `unseen`.

    Args:
        words: Ids of the words, uint64 `(v,)`, ascending.
        counts: Sentences that contain each word, int64 `(v,)`, 1 or more.
        sentences: Number of sentences.
        digest: Digest of the file that the table was loaded from.
        unseen: Count of a word that the table does not have.
    """

    words: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.int64]
    sentences: int
    digest: str = ""
    unseen: int = 1

    @property
    def signature(self) -> str:
        """Number of words and sentences, and the digest of the file."""
        return signature("idf", words=len(self.words), sentences=self.sentences, digest=self.digest or "none")

    @cached_property
    def _idf(self) -> npt.NDArray[np.float64]:
        return np.log(self.sentences / self.counts)

    def mean_idf(self, lists: TokenLists) -> npt.NDArray[np.float32]:
        """Compute the mean IDF of the words of each sentence; repeated words count as often as they occur.

        Reference:
            Wieting and Gimpel 2018 (PNMT), Table 1; Wieting, Mallinson, Gimpel 2017 (W17), Table 10.
        """
        positions = np.searchsorted(self.words, lists.ids)
        positions[positions == len(self.words)] = 0
        known = self.words[positions] == lists.ids
        values = np.where(known, self._idf[positions], np.log(self.sentences / self.unseen))
        sums = np.concatenate([[0.0], np.cumsum(values)])
        total = np.diff(sums[lists.offsets])
        return (total / np.where(lists.lengths > 0, lists.lengths, np.nan)).astype(np.float32)

    def save(self, folder: Path) -> None:
        """Write the table into a folder."""
        from safetensors.numpy import save

        folder.mkdir(parents=True, exist_ok=True)
        arrays = {"words": self.words, "counts": self.counts, "sentences": np.array([self.sentences])}
        if self.unseen != 1:
            arrays["unseen"] = np.array([self.unseen])
        (folder / FILE).write_bytes(save(arrays))

    @classmethod
    def load(cls, folder: Path) -> DocumentFrequencies:
        """Load a table that `save` wrote."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        path = folder / FILE
        if not path.is_file():
            raise ModelError(
                f"{FILE} not found", file=folder, remedy="Give a folder that `paraloom train word-counts` wrote."
            )
        try:
            arrays = load_file(path)
        except SafetensorError as error:
            raise ModelError(
                f"{FILE} is damaged: {error}", file=folder, remedy="Run `paraloom train word-counts` again."
            ) from None
        unseen = int(arrays["unseen"][0]) if "unseen" in arrays else 1
        return cls(arrays["words"], arrays["counts"], int(arrays["sentences"][0]), file_digest(path)[:12], unseen)


def count_document_frequencies(batches: Iterable[Texts]) -> DocumentFrequencies:
    """Count in how many sentences each word occurs. Memory grows with the vocabulary only."""
    counts, sentences = IdCounts.empty(), 0
    for batch in batches:
        lists = tokenize(batch)
        sentences += int((lists.lengths > 0).sum())
        counts += IdCounts.of(distinct_entries(lists.ids, lists.offsets))
    if not len(counts):
        raise DataError("the corpus has no words to count")
    return DocumentFrequencies(counts.ids, counts.counts, sentences)


def listed_frequencies(words: Sequence[str], counts: Sequence[int]) -> DocumentFrequencies:
    """Frequencies from a list of words, such as Wikipedia's: each occurrence of a word counts as a document.

    Such a list says neither how many sentences there were nor in how many a word occurs, so that the IDF of a word is
    higher than by sentences, by about the logarithm of their length for every word. A word that is not listed counts as
    the rarest one that is.
    """
    ids = tokenize([" ".join(words)]).ids
    if len(ids) != len(words):
        raise DataError(
            "the list has words that are several tokens", remedy="Give one word a line, without blanks and punctuation."
        )
    order = np.argsort(ids)
    numbers = np.asarray(counts, np.int64)
    return DocumentFrequencies(ids[order], numbers[order], int(numbers.sum()), unseen=int(numbers.min()))
