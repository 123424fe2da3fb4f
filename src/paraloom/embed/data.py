"""Training data: sentences and pairs streamed into files of token ids, which batches are then read from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Ids, Int32s, Ints
from paraloom.core.digests import digest
from paraloom.core.errors import DataError
from paraloom.embed import list_kernels
from paraloom.embed.subwords import UNIT as SUBWORD
from paraloom.embed.subwords import SubwordVocabulary, normalize_for_subwords, train_subwords
from paraloom.embed.vocabulary import UNITS, CountedVocabulary, RowLists, Vocabulary, VocabularyCounter
from paraloom.io.atomic import disk_full_as_error

# Sentences that are split into subwords at a time.
_CHUNK = 5000


@dataclass(frozen=True)
class UnitLists:
    """The tokens of one kind of all training sentences."""

    lists: RowLists
    counted: CountedVocabulary

    def take(self, sentences: Ints) -> RowLists:
        """Table rows of the tokens of some sentences; those that are not in the vocabulary are left out."""
        return RowLists(*list_kernels.take(*self.lists, sentences, self.counted.rows))


Scalar = TypeVar("Scalar", bound=np.generic)


class ArrayFile:
    """A file of numbers that is written by appending, then memory-mapped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = hashlib.sha256()
        self._file = path.open("wb")

    @property
    def digest(self) -> str:
        return self._state.hexdigest()

    def append(self, values: npt.NDArray[np.generic]) -> None:
        content = np.ascontiguousarray(values).data.cast("B")
        self._file.write(content)
        self._state.update(content)

    def close(self) -> None:
        self._file.close()

    def mapped(self, kind: type[Scalar]) -> npt.NDArray[Scalar]:
        """The numbers, read-only and memory-mapped."""
        if self._path.stat().st_size:
            return np.asarray(np.memmap(self._path, kind, "r"))
        values = np.empty(0, kind)
        values.setflags(write=False)
        return values


class UnitWriter:
    """Writes the tokens of a stream of sentences to files; a context manager. No text stays in memory."""

    def __init__(
        self, folder: Path, sizes: Mapping[str, int], vocabularies: Mapping[str, Vocabulary] | None = None
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._sizes, self._vocabularies = folder, sizes, vocabularies or {}
        counted = [unit for unit in sizes if unit not in self._vocabularies and unit != SUBWORD]
        self._counters = {unit: VocabularyCounter(unit) for unit in counted}
        # Subwords are learned from the sentences themselves, which are buffered on disk until the last one.
        self._subwords_pending = SUBWORD in sizes and SUBWORD not in self._vocabularies
        self._lines = folder / "lines.txt"
        if self._subwords_pending:
            self._lines.write_bytes(b"")
        self._files: dict[str, ArrayFile] = {}
        self._totals = dict.fromkeys(sizes, 0)
        for unit in sizes:
            self.file(f"{unit}.offsets").append(np.zeros(1, np.int64))

    def __enter__(self) -> UnitWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._subwords_pending and kind is None:
            self._train_subwords()
        for file in self._files.values():
            file.close()

    def file(self, name: str) -> ArrayFile:
        """The file of this name, for numbers that accompany the sentences; created if needed."""
        if name not in self._files:
            self._files[name] = ArrayFile(self._folder / name)
        return self._files[name]

    def add(self, texts: pa.Array) -> None:
        for unit in self._sizes:
            if unit == SUBWORD and self._subwords_pending:
                with self._lines.open("a", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(f"{line}\n" for line in normalize_for_subwords(texts))
            elif unit in self._vocabularies:
                self._append(unit, *self._vocabularies[unit].row_lists(texts))
            else:
                lists = UNITS[unit].split(texts)
                self._append(unit, self._counters[unit].count(texts, lists), lists.offsets)

    def _append(self, unit: str, ids: Int32s, offsets: Ints) -> None:
        self.file(f"{unit}.rows").append(ids)
        self.file(f"{unit}.offsets").append(offsets[1:] + self._totals[unit])
        self._totals[unit] += len(ids)

    def _train_subwords(self) -> None:
        with self._lines.open(encoding="utf-8", newline="\n") as stream:
            vocabulary = SubwordVocabulary(train_subwords((line[:-1] for line in stream), self._sizes[SUBWORD]))
            stream.seek(0)
            while lines := [line[:-1] for line in islice(stream, _CHUNK)]:
                self._append(SUBWORD, *vocabulary.row_lists(lines))
        self._lines.unlink()
        self._vocabularies, self._subwords_pending = {**self._vocabularies, SUBWORD: vocabulary}, False

    def unit_lists(self) -> dict[str, UnitLists]:
        """The tokens of all sentences by kind, after the context has ended."""
        units = {}
        for unit, size in self._sizes.items():
            ids = self.file(f"{unit}.rows").mapped(np.int32)
            if unit in self._vocabularies:
                vocabulary = self._vocabularies[unit]
                rows = np.arange(len(vocabulary), dtype=np.int32)
                counts = np.bincount(ids, minlength=len(rows))
                counted = CountedVocabulary(vocabulary, rows, counts / max(1, self._totals[unit]))
            else:
                counted = self._counters[unit].most_common(size)
            units[unit] = UnitLists(RowLists(ids, self.file(f"{unit}.offsets").mapped(np.int64)), counted)
        return units

    @property
    def digests(self) -> list[str]:
        return [file.digest for file in self._files.values()]


@runtime_checkable
class BatchReader(Protocol):
    """Anything with `batches`, such as `paraloom.io.Corpus`."""

    def batches(self, columns: list[str]) -> Iterable[pa.RecordBatch]:
        """Record batches with these columns."""


Pairs: TypeAlias = BatchReader | Iterable[pa.RecordBatch]
"""A corpus, or record batches, with the text columns `src` and `tgt`."""


@dataclass(frozen=True)
class PairDataset:
    """n pairs to train on; sentences 2i and 2i + 1 are the sides of pair i."""

    units: dict[str, UnitLists]  # The sentences' tokens by kind
    # uint64 `(2n,)`, equal for sentences of the same words (in the same order, if order matters).
    keys: Ids
    # `read` = `used` + `empty` (a side without a word) + `too_long` (a side of more than max_tokens words).
    counts: dict[str, int]
    digest: str

    def __len__(self) -> int:
        return self.counts["used"]


def stream_pairs(
    pairs: Pairs,
    folder: Path,
    max_tokens: int,
    sizes: Mapping[str, int],
    vocabularies: Mapping[str, Vocabulary] | None = None,
    *,
    order_matters: bool = False,
) -> PairDataset:
    """Write the tokens of all pairs to files in `folder`; no text stays in memory."""
    counts = {"read": 0, "used": 0, "empty": 0, "too_long": 0}
    differ = False
    with disk_full_as_error(folder), UnitWriter(folder, sizes, vocabularies) as writer:
        keys = writer.file("keys")
        for texts in _usable(pairs, max_tokens, counts):
            of_texts = _sentence_keys(texts, order_matters)
            differ = differ or bool((of_texts[::2] != of_texts[1::2]).any())
            keys.append(of_texts)
            writer.add(texts)
    if not counts["used"]:
        raise DataError(
            f"no pair is left to train on: of {counts['read']}, {counts['empty']} empty, {counts['too_long']} too long",
            remedy=f"Each side of a pair needs 1 to {max_tokens} words.",
        )
    if not differ:
        raise DataError(
            f"both sides of each of the {counts['used']} pairs have the same words: there is nothing to learn",
            remedy="Check that 'src' and 'tgt' are different columns, and the paraphrases in the right one.",
        )
    return PairDataset(writer.unit_lists(), keys.mapped(np.uint64), counts, digest(writer.digests))


def _usable(pairs: Pairs, max_tokens: int, counts: dict[str, int]) -> Iterable[pa.Array]:
    """The texts of the usable pairs of each batch, src and tgt in turn; updates `counts`."""
    batches = pairs.batches(["src", "tgt"]) if isinstance(pairs, BatchReader) else pairs
    for batch in batches:
        for column in ("src", "tgt"):
            if column not in batch.schema.names:
                raise DataError(
                    f"column '{column}' is missing; columns: {', '.join(batch.schema.names) or 'none'}",
                    remedy="An encoder is trained on pairs: columns src and tgt with the same meaning.",
                )
        sides = [batch.column(column).cast(pa.large_string()).fill_null("") for column in ("src", "tgt")]
        count = batch.num_rows
        texts = pa.concat_arrays(sides).take(pa.array(np.arange(2 * count).reshape(2, count).T.ravel()))
        lengths = UNITS["word"].split(texts).lengths.reshape(count, 2)
        empty = (lengths == 0).any(axis=1)
        too_long = (lengths > max_tokens).any(axis=1) & ~empty
        kept = ~(empty | too_long)
        counts["read"] += count
        counts["empty"] += int(empty.sum())
        counts["too_long"] += int(too_long.sum())
        counts["used"] += int(kept.sum())
        if kept.any():
            yield texts.filter(pa.array(np.repeat(kept, 2)))


def _sentence_keys(texts: pa.Array, order_matters: bool) -> Ids:
    lists = UNITS["word"].split(texts)
    kernel = list_kernels.list_keys if order_matters else list_kernels.bag_keys
    keys: Ids = kernel(lists.ids, lists.offsets)
    return keys
