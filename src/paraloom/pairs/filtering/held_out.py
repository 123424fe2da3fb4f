"""Texts of test sets as an index, so that neither they nor their near-duplicates end up in training data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.array_types import Bools, Ids, Ints
from paraloom.core.errors import DataError
from paraloom.core.lazy import late
from paraloom.core.sorted_ids import find_ids
from paraloom.io.compression import read_lines
from paraloom.io.records import Record, has_records, read_records
from paraloom.text import token_kernels as kernels
from paraloom.text.buffers import Texts, string_array, text_buffers
from paraloom.text.ngrams import ngrams
from paraloom.text.normalize import lowercase, normalize
from paraloom.text.tokens import token_hash, tokenize

_duplicates = "paraloom.pairs.filtering.duplicates"
sketches, sketch_bands = late(f"{_duplicates}:sketches"), late(f"{_duplicates}:sketch_bands")
_kernels = "paraloom.pairs.filtering.duplicate_kernels"
mark_similar, letters_and_digits = late(f"{_kernels}:mark_similar"), late(f"{_kernels}:letters_and_digits")

_EMPTY = np.uint64(0)

NEAR = 0.5
"""Jaccard similarity of near-duplicates of test texts: one word of eight is replaced."""

ORDERS = (13, 8)
"""Words in a row that a training text and a test text must not share: the rules of GPT-3 and of PaLM."""


class _Keys:
    """A set of 64-bit keys, and which of them were looked up."""

    def __init__(self, keys: Iterable[Ids]) -> None:
        self.keys = np.unique(np.concatenate([np.empty(0, np.uint64), *keys]))
        self.met = np.zeros(len(self.keys), np.bool_)

    def look_up(self, keys: Ids) -> Bools:
        """Whether each key is in the set, remembered."""
        known, places = find_ids(self.keys, keys)
        self.met[places[known]] = True
        return known

    def was_met(self, keys: Ids) -> Bools:
        """Whether each key of the set was looked up."""
        known, places = find_ids(self.keys, keys)
        return known & self.met[places] if len(self.met) else known


class _Features(NamedTuple):
    """What texts are compared by: a hash of each, n-grams of words by order, and MinHash sketches."""

    hashes: Ids
    grams: tuple[tuple[Ids, Ints], ...]
    sketches: npt.NDArray[np.uint32]


class HeldOut:
    """Test texts, by which training texts are found that are equal or near to one of them.

    Case, punctuation and runs of white space do not matter. A text takes some 700 bytes; with `equal_only`, eight. See
    Brown et al. 2020, "Language models are few-shot learners", appendix C (13-grams); Chowdhery et al. 2022, "PaLM", §8
    (8-grams); Broder 1997 (near-duplicates).
    """

    def __init__(self, texts: Iterable[Texts], *, similarity: float = NEAR, equal_only: bool = False) -> None:
        self.similarity, self.equal_only = similarity, equal_only
        features = [self._features(column) for column in texts]
        self._equal = _Keys(of.hashes[of.hashes != _EMPTY] for of in features)
        self._grams = [_Keys(of.grams[i][0] for of in features) for i in range(0 if equal_only else len(ORDERS))]
        if equal_only:
            return
        # Equal texts have equal sketches.
        known = [of.sketches[of.hashes != _EMPTY] for of in features if len(of.hashes)]
        self._sketches = np.unique(np.concatenate(known), axis=0) if known else np.empty((0, 64), np.uint32)
        self._similar = np.zeros(len(self._sketches), np.bool_)
        bands = sketch_bands(self._sketches, similarity)
        order = np.argsort(bands, axis=None, kind="stable")
        self._bands, self._rows = bands.ravel()[order], order // max(1, bands.shape[1])
        # Bands with the same first bits are neighbors: where they begin is looked up, not searched.
        bits = (2 * len(order) + 1).bit_length()
        self._shift = np.uint64(64 - bits)
        firsts = np.bincount((self._bands >> self._shift).astype(np.int64), minlength=1 << bits)
        self._starts = np.concatenate([[0], np.cumsum(firsts)]).astype(np.int32)

    @property
    def hashes(self) -> Ids:
        """Hashes of the texts, ascending."""
        return self._equal.keys

    def find(self, texts: Texts) -> npt.NDArray[np.int8]:
        """The level of each text, an index of `reasons.HELD_OUT`."""
        of = self._features(texts)
        near = [self._equal.look_up(of.hashes)]
        for keys, (grams, offsets) in zip(self._grams, of.grams, strict=True):
            near.append(_any(keys.look_up(grams), offsets))
        if not self.equal_only:
            bands = sketch_bands(of.sketches, self.similarity)
            known = (self._bands, self._starts, self._shift, self._rows, self._sketches)
            near.append(mark_similar(of.sketches, bands, *known, self.similarity, self._similar))
        return _levels(near, of.hashes)

    def met(self, texts: Texts) -> npt.NDArray[np.int8]:
        """How near the texts that `find` was given came to each of these test texts, an index of `reasons.HELD_OUT`."""
        of = self._features(texts)
        near = [self._equal.was_met(of.hashes)]
        for keys, (grams, offsets) in zip(self._grams, of.grams, strict=True):
            near.append(_any(keys.was_met(grams), offsets))
        if not self.equal_only:
            similar = {row.tobytes() for row in self._sketches[self._similar]}
            near.append(np.array([row.tobytes() in similar for row in of.sketches], np.bool_))
        return _levels(near, of.hashes)

    def _features(self, texts: Texts) -> _Features:
        plain = comparable(texts)
        hashes = _hashes(plain)
        if self.equal_only:
            return _Features(hashes, (), np.empty((len(hashes), 0), np.uint32))
        words = tokenize(plain)
        grams = (ngrams(words, order) for order in ORDERS)
        return _Features(hashes, tuple((of.ids, of.offsets) for of in grams), sketches(plain, plain=True))


def _any(near: Bools, offsets: Ints) -> Bools:
    counts = np.concatenate([[0], np.cumsum(near)])
    some: Bools = counts[offsets[1:]] > counts[offsets[:-1]]
    return some


def _levels(near: list[Bools], hashes: Ids) -> npt.NDArray[np.int8]:
    levels = np.zeros(len(hashes), np.int8)
    for level in range(len(near), 0, -1):
        levels[near[level - 1] & (hashes != _EMPTY)] = level
    return levels


def comparable(texts: Texts) -> pa.Array:
    """Texts as they are compared: in lower case, without punctuation, words separated by single blanks."""
    return lowercase(without_punctuation(texts))


def without_punctuation(texts: Texts) -> pa.Array:
    """Texts in which punctuation, symbols and white space between words are replaced by single blanks."""
    array = string_array(texts)
    data, offsets, ascii_only = letters_and_digits(*text_buffers(array))
    plain = pa.LargeStringArray.from_buffers(len(array), pa.py_buffer(offsets), pa.py_buffer(data))
    if ascii_only.all():
        return plain
    others = pa.array(~ascii_only)
    words = pc.replace_substring_regex(normalize(array.filter(others)), pattern=r"[\pP\pS\s]+", replacement=" ")
    return pc.replace_with_mask(plain, others, pc.utf8_trim(words, characters=" "))


def _hashes(plain: pa.Array) -> Ids:
    """A hash of each text: uint64 (n,); 0 for a text without words."""
    data, offsets = text_buffers(plain)
    hashes: Ids = kernels.hash_spans(data, offsets[:-1], offsets[1:])
    return np.where(np.diff(offsets) > 0, np.where(hashes == _EMPTY, 1, hashes), _EMPTY).astype(np.uint64)


def rows_of(path: str | Path) -> Iterator[Record]:
    """The rows of a file of any format; a line of plain text is one."""
    if not has_records(path):
        return (Record(row, {"text": line}) for row, line in enumerate(read_lines(path), 1))
    return read_records(path, header=False)


def is_text(value: object) -> bool:
    """Labels, numbers and names say nothing; scripts without blanks have words of a letter."""
    return isinstance(value, str) and (len(value.split()) > 2 or not (value.isascii() or len(value) < 6))


def texts_in(value: object) -> Iterator[str]:
    """The texts of a row, also those inside lists and objects, such as the messages of a chat."""
    if isinstance(value, (dict, list, tuple)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)
    elif is_text(value):
        yield str(value)


def texts_of_test(path: str | Path) -> list[str]:
    """The distinct texts of a test set, of three words or more."""
    texts = list(dict.fromkeys(text for row in rows_of(path) for text in texts_in(row.values)))
    if not texts:
        raise DataError("the test has no text of three words or more", file=path)
    return texts


def is_held_out(text: str, share: float) -> bool:
    """True if a text is among the share of all texts that is held out, by its hash alone."""
    return token_hash(text) < share * 2.0**64
