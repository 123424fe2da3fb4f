"""Inverse document frequency: in how many sentences each word occurs, and the mean IDF of other sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Float32s, Floats, Ids, Ints
from paraloom.core.digests import file_digest, signature
from paraloom.core.errors import DataError, ModelError
from paraloom.core.sorted_ids import find_ids
from paraloom.core.stats import IdCounts
from paraloom.text.buffers import Texts
from paraloom.text.normalize import lowercase
from paraloom.text.token_list_kernels import distinct_entries
from paraloom.text.tokens import TokenLists, tokenize

FILE = "rarity.safetensors"

SENTENCE_WORDS = 21
"""Mean number of words of a sentence, for lists that count words: that of Wikipedia's sentences in WikiQA."""

_WORDS = 2  # of the tables that are saved: 1 counted punctuation, and contractions whole
_MARKS = r"[^\pL\pM\pN]+"


@dataclass(frozen=True, eq=False)
class DocumentFrequencies:
    """In how many sentences each word of a corpus occurs; a sentence is a document.

    The IDF of a word is ln(sentences / count), in nats; an unknown word counts as `unseen`. Words are runs of letters,
    marks and digits with a letter among them, in lower case: "don't" is "don" and "t", as in lists of words, and
    neither punctuation nor numbers are words.
    """

    words: Ids  # Ids of the words, uint64 `(v,)`, ascending
    counts: Ints  # Sentences that contain each word, int64 `(v,)`, 1 or more
    sentences: int  # Number of sentences
    digest: str = ""  # Digest of the file that the table was loaded from
    unseen: int = 1  # Count of a word that the table does not have

    @property
    def signature(self) -> str:
        """Number of words and sentences, and the digest of the file."""
        return signature(
            "idf", words=len(self.words), sentences=self.sentences, tokens="letters", digest=self.digest or "none"
        )

    @cached_property
    def _idf(self) -> Floats:
        return np.log(self.sentences / self.counts)

    def mean_idf(self, texts: Texts) -> Float32s:
        """Mean IDF of each sentence's words, repeated ones each time (PNMT Table 1, W17 Table 10); NaN without."""
        lists = words_with_letters(texts)
        known, positions = find_ids(self.words, lists.ids)
        values = np.where(known, self._idf[positions], np.log(self.sentences / self.unseen))
        sums = np.concatenate([[0.0], np.cumsum(values)])
        total = np.diff(sums[lists.offsets])
        return (total / np.where(lists.lengths > 0, lists.lengths, np.nan)).astype(np.float32)

    def known_share(self, texts: Texts) -> float:
        """Share of the words of some sentences, repeated ones each time, that the table has; 1 without words."""
        known, _ = find_ids(self.words, words_with_letters(texts).ids)
        return float(known.mean()) if len(known) else 1.0

    def save(self, folder: Path) -> None:
        from safetensors.numpy import save

        folder.mkdir(parents=True, exist_ok=True)
        arrays = {
            "words": self.words,
            "counts": self.counts,
            "sentences": np.array([self.sentences]),
            "version": np.array([_WORDS]),
        }
        if self.unseen != 1:
            arrays["unseen"] = np.array([self.unseen])
        (folder / FILE).write_bytes(save(arrays))

    @classmethod
    def load(cls, folder: Path) -> DocumentFrequencies:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        path = folder / FILE
        if not path.is_file():
            raise ModelError(
                f"{FILE} not found", file=folder, remedy="Give a folder that `paraloom train word-counts` wrote."
            )
        try:
            arrays = load_file(path)
            if "version" not in arrays or arrays["version"][0] != _WORDS:
                raise ModelError(
                    f"{FILE} has the words of another version, which counted punctuation",
                    file=folder,
                    remedy="Run `paraloom train word-counts` again.",
                )
            unseen = int(arrays["unseen"][0]) if "unseen" in arrays else 1
            return cls(arrays["words"], arrays["counts"], int(arrays["sentences"][0]), file_digest(path)[:12], unseen)
        except (SafetensorError, KeyError, IndexError) as error:
            raise ModelError(
                f"{FILE} is damaged: {error}", file=folder, remedy="Run `paraloom train word-counts` again."
            ) from None


def count_document_frequencies(batches: Iterable[Texts]) -> DocumentFrequencies:
    """Count in how many sentences each word occurs. Memory grows with the vocabulary only."""
    counts, sentences = IdCounts.empty(), 0
    for batch in batches:
        lists = words_with_letters(batch)
        sentences += int((lists.lengths > 0).sum())
        counts += IdCounts.of(distinct_entries(lists.ids, lists.offsets))
    if not len(counts):
        raise DataError("the corpus has no words to count")
    return DocumentFrequencies(counts.ids, counts.counts, sentences)


def listed_frequencies(
    words: Sequence[str], counts: Sequence[int], sentence_words: float = SENTENCE_WORDS
) -> DocumentFrequencies:
    """Frequencies from a list of words with the number of their occurrences, such as Wikipedia's.

    A list does not say in how many sentences a word occurs: of N = all occurrences / `sentence_words` sentences, a word
    that occurs c times is expected in N (1 - exp(-c / N)). A word that is not listed counts as the rarest one that is.
    """
    lists = words_with_letters(words)
    split = np.flatnonzero(lists.lengths != 1)
    if len(split):
        raise DataError(
            f"'{words[split[0]]}' in the list is {lists.lengths[split[0]]} words",
            row=int(split[0]) + 1,
            remedy="Give one word a line, of letters, without blanks, numbers and punctuation.",
        )
    order = np.argsort(lists.ids)
    occurrences = np.asarray(counts, np.float64)
    sentences = max(1.0, occurrences.sum() / sentence_words)
    expected = np.maximum(1, np.rint(-sentences * np.expm1(-occurrences / sentences))).astype(np.int64)
    total = max(round(sentences), int(expected.max()))
    return DocumentFrequencies(lists.ids[order], expected[order], total, unseen=int(expected.min()))


def words_with_letters(texts: Texts) -> TokenLists:
    """The ids of the words of texts that IDF is of: parts of tokens that have a letter."""
    spaced = pc.utf8_trim_whitespace(pc.replace_substring_regex(lowercase(texts), pattern=_MARKS, replacement=" "))
    lists = pc.split_pattern(spaced, " ")
    parts = lists.flatten()
    lettered = pc.match_substring_regex(parts, r"\pL").to_numpy(zero_copy_only=False)
    kept = np.concatenate([[0], np.cumsum(lettered)])
    offsets = np.asarray(lists.offsets)
    return TokenLists(tokenize(parts.filter(pa.array(lettered))).ids, kept[offsets - offsets[0]])
