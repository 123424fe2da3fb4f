"""Tokenizes texts to flat lists of 64-bit token ids that Arrow and numba share."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraloom.core.array_types import Ids, Ints
from paraloom.text import token_kernels as kernels
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.characters import SYMBOLS, character_class, class_table
from paraloom.text.normalize import lowercase

# One word: letters and digits, apostrophes and hyphens between letters, points between digits; or one other character.
_WORD = re.compile(r"(?:[a0]|(?<=a)'(?=a)|(?<=0)\.(?=0))+")
_TOKEN = re.compile(_WORD.pattern + r"|[^ ]")
_64_BITS = (1 << 64) - 1


class _Shapes(dict[int, str]):
    """Symbol of the class of each code point, looked up once."""

    def __missing__(self, point: int) -> str:
        self[point] = SYMBOLS[character_class(chr(point))]
        return self[point]


_SHAPES = _Shapes()


@dataclass(frozen=True, eq=False)
class TokenLists:
    """n lists of token ids in two flat, read-only arrays; an id is a hash of the token, the same on all machines."""

    ids: Ids  # uint64 `(tokens,)`
    offsets: Ints  # int64 `(n + 1,)`; list i is `ids[offsets[i]:offsets[i + 1]]`

    def __post_init__(self) -> None:
        # Read-only views: numba compiles a kernel once instead of once for each kind of array.
        for name, kind in (("ids", np.uint64), ("offsets", np.int64)):
            values = np.ascontiguousarray(getattr(self, name), kind).view()
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Ids:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def lengths(self) -> Ints:
        """Number of tokens of each list, int64 `(n,)`."""
        return np.diff(self.offsets)

    def to_arrow(self) -> pa.LargeListArray:
        """The same memory as an Arrow array of n lists of uint64."""
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), pa.array(self.ids))


@dataclass(frozen=True, eq=False)
class TokenSpans:
    """Positions of the tokens of n texts in their bytes: token k is `data[starts[k]:ends[k]]`."""

    data: npt.NDArray[np.uint8]  # uint8 `(bytes,)`, UTF-8
    starts: Ints  # int64 `(tokens,)`
    ends: Ints  # int64 `(tokens,)`
    # int64 `(n + 1,)`; the tokens of text i are those from `offsets[i]` to `offsets[i + 1]`.
    offsets: Ints

    def to_lists(self) -> TokenLists:
        return TokenLists(kernels.hash_spans(self.data, self.starts, self.ends), self.offsets)


def tokenize(texts: Texts, *, lower: bool = True, punctuation: bool = True) -> TokenLists:
    """Tokenize texts to ids: words (runs of letters, marks and digits, with joiners) and single other characters."""
    return token_spans(texts, lower=lower, punctuation=punctuation).to_lists()


def token_spans(texts: Texts, *, lower: bool = True, punctuation: bool = True) -> TokenSpans:
    """Locate the tokens of `tokenize` in the bytes of the (lowercased) texts."""
    data, offsets = text_buffers(lowercase(texts) if lower else texts)
    # A token has at least one byte; pages of an array that are never touched take no memory.
    starts, ends = np.empty(len(data), np.int64), np.empty(len(data), np.int64)
    lists = kernels.segment(data, offsets, class_table(), punctuation, starts, ends)
    starts, ends = starts[: lists[-1]], ends[: lists[-1]]
    for values in (starts, ends, lists):
        values.setflags(write=False)
    return TokenSpans(data, starts, ends, lists)


def token_strings(texts: Texts) -> pa.LargeListArray:
    """Tokenize texts to strings, list by list as `tokenize` gives their ids."""
    spans = token_spans(texts)
    copied, bounds = kernels.copy_spans(spans.data, spans.starts, spans.ends)
    flat = pa.LargeStringArray.from_buffers(len(spans.starts), pa.py_buffer(bounds), pa.py_buffer(copied))
    # From a buffer: `pa.array` of an array of NumPy imports pandas where it is installed.
    kind, buffers = pa.large_list(pa.large_string()), [None, pa.py_buffer(spans.offsets)]
    return pa.LargeListArray.from_buffers(kind, len(spans.offsets) - 1, buffers, children=[flat])


def words(text: str, *, lower: bool = True, punctuation: bool = True) -> list[str]:
    """Tokenize one text by a regular expression: the reference that `tokenize` is tested against."""
    if lower:
        text = text.lower() if text.isascii() else lowercase([text])[0].as_py()
    shape = text.translate(_SHAPES)
    return [text[slice(*match.span())] for match in (_TOKEN if punctuation else _WORD).finditer(shape)]


def token_hash(token: str) -> int:
    """Hash a token to its id, 0 to 2**64 - 1: FNV-1a of the UTF-8 bytes, then the finalizer of SplitMix64."""
    value = 0xCBF29CE484222325
    for byte in token.encode():
        value = (value ^ byte) * 0x100000001B3 & _64_BITS
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _64_BITS
    return value ^ value >> 31
