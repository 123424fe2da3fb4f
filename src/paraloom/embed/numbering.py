"""Sentences as training wants them: their units numbered in files, streamed there once, then read in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.embed import list_kernels
from paraloom.embed.subwords import UNIT, SubwordVocabulary, learn_subwords, plain
from paraloom.embed.units import UNITS
from paraloom.embed.vocabulary import Chosen, Rows, Vocabulary, VocabularyCounter

# Sentences that are cut into sub-words at a time.
_CHUNK = 5000


@dataclass(frozen=True)
class Numbered:
    """One kind of unit of all sentences: provisional numbers flat on disk, and what they stand for."""

    lists: Rows
    chosen: Chosen

    def take(self, sentences: npt.NDArray[np.int64]) -> Rows:
        """The lists of table rows of some sentences."""
        return Rows(*list_kernels.take(*self.lists, sentences, self.chosen.rows))


class Growing:
    """A file of numbers that is appended to, and then read where it lies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = hashlib.sha256()
        self._file = path.open("wb")

    @property
    def digest(self) -> str:
        return self._state.hexdigest()

    def append(self, values: npt.NDArray[Any]) -> None:
        """Numbers behind those that are there."""
        content = np.ascontiguousarray(values).data.cast("B")
        self._file.write(content)
        self._state.update(content)

    def close(self) -> None:
        """No more numbers come."""
        self._file.close()

    def mapped(self, kind: type[np.generic]) -> npt.NDArray[Any]:
        """The file's numbers, read-only, paged in as they are used."""
        if self._path.stat().st_size:
            return np.asarray(np.memmap(self._path, kind, "r"))
        values = np.empty(0, kind)
        values.setflags(write=False)
        return values


class Numbering:
    """Writes the units of a stream of sentences into `folder`; no text stays in memory.

    sizes: entries of the vocabulary of each kind of unit, which is counted on the way; `known`: vocabularies that are
    settled already instead.
    """

    def __init__(self, folder: Path, sizes: Mapping[str, int], known: Mapping[str, Vocabulary] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._sizes, self._known = folder, sizes, known or {}
        self._counters = {unit: VocabularyCounter(unit) for unit in sizes if unit not in self._known and unit != UNIT}
        # Sub-words are learned from the sentences themselves, which wait on the disk until the last has come.
        self._waiting = UNIT in sizes and UNIT not in self._known
        self._lines = folder / "lines.txt"
        if self._waiting:
            self._lines.write_bytes(b"")
        self._files: dict[str, Growing] = {}
        self._totals = dict.fromkeys(sizes, 0)
        for unit in sizes:
            self.file(f"{unit}.offsets").append(np.zeros(1, np.int64))

    def __enter__(self) -> Numbering:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._waiting and kind is None:
            self._learn_subwords()
        for file in self._files.values():
            file.close()

    def file(self, name: str) -> Growing:
        """A file of this name, for numbers that go with the sentences."""
        if name not in self._files:
            self._files[name] = Growing(self._folder / name)
        return self._files[name]

    def add(self, texts: pa.Array) -> None:
        """The next sentences, large_string."""
        for unit in self._sizes:
            if unit == UNIT and self._waiting:
                with self._lines.open("a", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(f"{line}\n" for line in plain(texts))
            elif unit in self._known:
                self._append(unit, *self._known[unit].lists(texts))
            else:
                lists = UNITS[unit].cut(texts)
                self._append(unit, self._counters[unit].number(texts, lists), lists.offsets)

    def _append(self, unit: str, numbers: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> None:
        self.file(f"{unit}.rows").append(numbers)
        self.file(f"{unit}.offsets").append(offsets[1:] + self._totals[unit])
        self._totals[unit] += len(numbers)

    def _learn_subwords(self) -> None:
        with self._lines.open(encoding="utf-8", newline="\n") as stream:
            vocabulary = SubwordVocabulary(learn_subwords((line[:-1] for line in stream), self._sizes[UNIT]))
            stream.seek(0)
            while lines := [line[:-1] for line in islice(stream, _CHUNK)]:
                self._append(UNIT, *vocabulary.lists(lines))
        self._lines.unlink()
        self._known, self._waiting = {**self._known, UNIT: vocabulary}, False

    def numbered(self) -> dict[str, Numbered]:
        """Each kind of unit of all sentences, once the files are closed."""
        units = {}
        for unit, size in self._sizes.items():
            if unit in self._known:
                rows = np.arange(len(self._known[unit]), dtype=np.int32)
                counts = np.bincount(self.file(f"{unit}.rows").mapped(np.int32), minlength=len(rows))
                chosen = Chosen(self._known[unit], rows, counts / max(1, self._totals[unit]))
            else:
                chosen = self._counters[unit].most_common(size)
            places = self.file(f"{unit}.rows").mapped(np.int32), self.file(f"{unit}.offsets").mapped(np.int64)
            units[unit] = Numbered(Rows(*places), chosen)
        return units

    @property
    def digests(self) -> list[str]:
        """Of every file."""
        return [file.digest for file in self._files.values()]
