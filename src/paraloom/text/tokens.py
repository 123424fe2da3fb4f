"""Text: normalised, split into sentences, and turned into lists of token ids that Arrow and numba share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError
from paraloom.text import token_kernels as kernels
from paraloom.text.characters import SYMBOLS, character_class, class_table

Texts: TypeAlias = Sequence[str] | pa.Array | pa.ChunkedArray
"""n texts; a null counts as an empty one."""

# One word: letters and digits, apostrophes and hyphens between letters, points between digits; or one other character.
_WORD = re.compile(r"(?:[a0]|(?<=a)'(?=a)|(?<=0)\.(?=0))+")
_TOKEN = re.compile(_WORD.pattern + r"|[^ ]")
_ODD_SPACE = r"[\pZ\p{Cc}\x{200B}\x{FEFF}]+"
_64_BITS = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class TokenLists:
    """n lists of token ids, laid flat: `ids` uint64 (tokens,), list i from offsets[i] to offsets[i + 1].

    offsets: int64 (n + 1,).  An id is a 64-bit hash of the token, so ids of separate calls, runs and machines compare.
    Both arrays are read-only.

    >>> lists = tokens(["a b a", ""])
    >>> len(lists), lists.lengths.tolist(), bool(lists[0][0] == lists[0][2])
    (2, [3, 0], True)
    """

    ids: npt.NDArray[np.uint64]
    offsets: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        # Read-only views: numba compiles a kernel once instead of once for each kind of array.
        for name, kind in (("ids", np.uint64), ("offsets", np.int64)):
            values = np.ascontiguousarray(getattr(self, name), kind).view()
            values.setflags(write=False)
            object.__setattr__(self, name, values)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> npt.NDArray[np.uint64]:
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """int64 (n,): tokens of each list."""
        return np.diff(self.offsets)

    def to_arrow(self) -> pa.LargeListArray:
        """The same memory as Arrow lists of uint64 (large lists: their offsets are 64 bits wide, as ours)."""
        return pa.LargeListArray.from_arrays(pa.array(self.offsets), pa.array(self.ids))


def tokens(texts: Texts, *, lower: bool = True, punctuation: bool = True) -> TokenLists:
    """Token ids of each text, for overlap, counts and vocabularies.

    A token is a word (a run of letters, marks and digits, with apostrophes and hyphens between letters and `. , :`
    between digits) or one other character that is no space; `punctuation=False` leaves those others out.
    The id of a token is `token_hash` of it; `words` and `spellings` give the tokens themselves.

    >>> bool(tokens(["Don't!"])[0][0] == token_hash("don't"))
    True
    """
    return token_spans(texts, lower=lower, punctuation=punctuation).lists()


@dataclass(frozen=True, eq=False)
class TokenSpans:
    """Where the tokens of n texts stand in their bytes: token k is data[starts[k] : ends[k]].

    data: uint8 (bytes,), UTF-8.  starts, ends: int64 (tokens,).  offsets: int64 (n + 1,), the tokens of text i are
    those from offsets[i] to offsets[i + 1].
    """

    data: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]

    def lists(self) -> TokenLists:
        """The tokens as lists of ids."""
        return TokenLists(kernels.hash_spans(self.data, self.starts, self.ends), self.offsets)


def token_spans(texts: Texts, *, lower: bool = True, punctuation: bool = True) -> TokenSpans:
    """The tokens that `tokens` gives, as places in the bytes of the (lower-cased) texts.

    >>> spans = token_spans(["Ein Wort."])
    >>> spans.starts.tolist(), spans.ends.tolist()
    ([0, 4, 8], [3, 8, 9])
    """
    data, offsets = text_buffers(lowered(texts) if lower else texts)
    # A token has one byte or more; memory that is never touched is never taken.
    starts, ends = np.empty(len(data), np.int64), np.empty(len(data), np.int64)
    lists = kernels.segment(data, offsets, class_table(), punctuation, starts, ends)
    starts, ends = starts[: lists[-1]], ends[: lists[-1]]
    for values in (starts, ends, lists):
        values.setflags(write=False)
    return TokenSpans(data, starts, ends, lists)


def spellings(texts: Texts, *, lower: bool = True, punctuation: bool = True) -> pa.LargeListArray:
    """The tokens themselves, list by list as `tokens` has their ids.

    A vocabulary is `ids, first = np.unique(tokens(x).ids, return_index=True)` and `spellings(x).values.take(first)`.

    >>> spellings(["It is 3.5 °C."]).to_pylist()
    [['it', 'is', '3.5', '°', 'c', '.']]
    """
    spans = token_spans(texts, lower=lower, punctuation=punctuation)
    copied, bounds = kernels.copy_spans(spans.data, spans.starts, spans.ends)
    flat = pa.LargeStringArray.from_buffers(len(spans.starts), pa.py_buffer(bounds), pa.py_buffer(copied))
    return pa.LargeListArray.from_arrays(pa.array(spans.offsets), flat)


def words(text: str, *, lower: bool = True, punctuation: bool = True) -> list[str]:
    """The tokens of one text, by a regular expression: the definition that `tokens` is tested against.

    >>> words("Don't ask: a well-known 3.5%!")
    ["don't", 'ask', ':', 'a', 'well-known', '3.5', '%', '!']
    >>> words("'tis - 1,000.", punctuation=False)
    ['tis', '1,000']
    """
    if lower:
        text = lowered([text])[0].as_py()
    shape = "".join(SYMBOLS[character_class(character)] for character in text)
    return [text[slice(*match.span())] for match in (_TOKEN if punctuation else _WORD).finditer(shape)]


def token_hash(token: str) -> int:
    """The id that `tokens` (and `character_ngrams`) give to this token, 0 to 2**64 - 1.

    FNV-1a of its UTF-8 bytes, then the finaliser of SplitMix64.

    >>> hex(token_hash("a"))
    '0x2c0bdbf481420f8'
    """
    value = 0xCBF29CE484222325
    for byte in token.encode():
        value = (value ^ byte) * 0x100000001B3 & _64_BITS
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _64_BITS
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _64_BITS
    return value ^ value >> 31


def ngrams(lists: TokenLists, n: int) -> TokenLists:
    """Ids of the n-grams of each list, in order; a list shorter than n has none, and n = 1 gives `lists` itself.

    >>> ngrams(tokens(["a b a b", "a"]), 2).lengths.tolist()
    [3, 0]
    """
    _at_least_one(n)
    if n == 1:
        return lists
    return TokenLists(*kernels.ngrams(lists.ids, lists.offsets, n))


def character_ngrams(texts: Texts, n: int = 3, *, boundary: bool = True, lower: bool = True) -> TokenLists:
    """Ids of each n neighbouring characters, blanks included: the input of PNMT's TRIGRAM encoder.

    The text is lower-cased and, with `boundary`, has one blank added at both ends.  An id is `token_hash` of the
    characters.

    >>> [hex(i) for i in character_ngrams(["Ab"])[0]] == [hex(token_hash(g)) for g in (" ab", "ab ")]
    True
    """
    _at_least_one(n)
    return TokenLists(*kernels.character_ngrams(*text_buffers(lowered(texts) if lower else texts), n, boundary))


def text_buffers(texts: Texts) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """What kernels read: the UTF-8 bytes, uint8 (bytes,), and the offsets of the texts, int64 (n + 1,); read-only.

    An array of large strings is not copied.

    >>> data, offsets = text_buffers(["ab", "", "ü"])
    >>> data.tobytes().decode(), offsets.tolist()
    ('abü', [0, 2, 2, 4])
    """
    array = _as_array(texts)
    _, offsets, data = array.buffers()
    if not len(array):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    bounds = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8)
    content = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    for values in (bounds, content):
        values.setflags(write=False)
    return content, bounds


def code_points(texts: Texts) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The characters of n texts as Unicode code points, int32 (characters,), and the offsets of the texts (n + 1,).

    >>> points, offsets = code_points(["aü", "€"])
    >>> points.tolist(), offsets.tolist()
    ([97, 252, 8364], [0, 2, 3])
    """
    points, offsets = kernels.code_points(*text_buffers(texts))
    for values in (points, offsets):
        values.setflags(write=False)
    return points, offsets


def lowered(texts: Texts) -> pa.Array:
    """Lower-cased character by character, whatever stands around it (so 'Σ' is always 'σ')."""
    return pc.utf8_lower(_as_array(texts))


def lowered_in_context(texts: Texts) -> pa.Array:
    """Lower-cased as Python's str.lower does it, for figures that have to be those of peers: Σ at a word's end is ς.

    >>> lowered_in_context(["ΌΣΟΣ"]).to_pylist(), lowered(["ΌΣΟΣ"]).to_pylist()
    (['όσος'], ['όσοσ'])
    """
    return pa.array([text.lower() for text in _as_array(texts).to_pylist()], pa.large_string())


def normalise(texts: Texts) -> pa.Array:
    """Unicode NFC; runs of blanks, control characters and odd white space become one blank; none at the ends.

    >>> normalise(["  a\\u00a0\\tb\\u2028 "]).to_pylist()
    ['a b']
    """
    composed = pc.utf8_normalize(_as_array(texts), form="NFC")
    return pc.utf8_trim(pc.replace_substring_regex(composed, pattern=_ODD_SPACE, replacement=" "), characters=" ")


def sentences(text: str, lang: str) -> list[str]:
    """The sentences of a text, by the rules of pySBD for the language (its primary subtag counts).

    Raises ConfigError for a language without rules.

    >>> sentences("Dr. Smith came. He left.", "en")
    ['Dr. Smith came.', 'He left.']
    """
    found = (sentence.strip() for sentence in _splitter(lang.split("-")[0].lower()).segment(text))
    return [sentence for sentence in found if sentence]


@cache
def _splitter(lang: str) -> Any:
    from pysbd import Segmenter
    from pysbd.languages import LANGUAGE_CODES

    if lang not in LANGUAGE_CODES:
        raise ConfigError(
            f"there are no rules to split sentences of '{lang}'; known are {', '.join(sorted(LANGUAGE_CODES))}",
            remedy="Give the language whose punctuation is nearest, or one sentence a line.",
        )
    return Segmenter(language=lang, clean=False)


def _as_array(texts: Texts) -> pa.Array:
    array = texts if isinstance(texts, pa.Array | pa.ChunkedArray) else pa.array(texts, pa.large_string())
    # 64-bit offsets: a gigabyte of text fits, and the kernels meet one type only.
    array = array.cast(pa.large_string())
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.large_string())
    return array.fill_null("") if array.null_count else array


def _at_least_one(n: int) -> None:
    if n < 1:
        raise ConfigError(f"an n-gram has one part or more, not {n}")
