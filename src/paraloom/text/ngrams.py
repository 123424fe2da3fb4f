"""N-grams of tokens, bigrams of words, and n-grams of characters, also within words, as lists of 64-bit ids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import ConfigError
from paraloom.text import token_kernels as kernels
from paraloom.text import word_ngram_kernels
from paraloom.text.buffers import Texts, string_array, text_buffers
from paraloom.text.normalize import lowercase
from paraloom.text.tokens import TokenLists, TokenSpans, token_spans, token_strings

# Smallest and largest n of n-grams within words; in Hangul, Han and kana a character is a syllable or a word.
_ORDERS, _SYLLABIC_ORDERS = np.array([3, 5]), np.array([1, 3])

# First bytes of combining marks and of Hangul letters: text without them is composed already.
_UNCOMPOSED = (0xCC, 0xCD, 0xE1)


def ngrams(lists: TokenLists, n: int) -> TokenLists:
    """List the n-grams of each list of tokens.

    Args:
        lists: Lists of token ids.
        n: Tokens of an n-gram, 1 or more; 1 returns `lists` itself.

    Returns:
        As many lists, of the ids of their n-grams in order; empty for a list shorter than n.

    Raises:
        ConfigError: n is less than 1.

    Example:
        >>> from paraloom.text.tokens import tokenize
        >>> ngrams(tokenize(["a b a b", "a"]), 2).lengths.tolist()
        [3, 0]
    """
    _check_order(n)
    if n == 1:
        return lists
    return TokenLists(*kernels.ngrams(lists.ids, lists.offsets, n))


def character_ngrams(texts: Texts, n: int = 3, *, boundary: bool = True, lower: bool = True) -> TokenLists:
    """List the n-grams of characters of each text, spaces included.

    Args:
        texts: Texts.
        n: Characters of an n-gram, 1 or more.
        boundary: Adds one space at both ends of each text.
        lower: Lowercases the texts.

    Returns:
        One list per text; the id of an n-gram is `token_hash` of its characters.

    Raises:
        ConfigError: n is less than 1.

    Reference:
        Wieting and Gimpel 2018 (ParaNMT), the TRIGRAM encoder: n = 3.

    Example:
        >>> from paraloom.text.tokens import token_hash
        >>> [hex(i) for i in character_ngrams(["Ab"])[0]] == [hex(token_hash(g)) for g in (" ab", "ab ")]
        True
    """
    _check_order(n)
    return TokenLists(*kernels.character_ngrams(*text_buffers(lowercase(texts) if lower else texts), n, boundary))


def word_bigrams(texts: Texts) -> TokenLists:
    """List each two consecutive tokens of each text, lowercased, punctuation included.

    Args:
        texts: Texts.

    Returns:
        One list per text; the id of a bigram is `token_hash` of its tokens with a space between.

    Example:
        >>> from paraloom.text.tokens import token_hash
        >>> word_bigrams(["A dog!"])[0].tolist() == [token_hash("a dog"), token_hash("dog !")]
        True
    """
    spans = token_spans(texts)
    return TokenLists(*kernels.hash_bigrams(spans.data, spans.starts, spans.ends, spans.offsets))


def spell_word_bigrams(texts: Texts, positions: npt.NDArray[np.int64]) -> list[str]:
    """Spell one bigram of each text.

    Args:
        texts: n texts.
        positions: int64 `(n,)`, position of the bigram in the list of its text, as `word_bigrams` gives it.

    Example:
        >>> spell_word_bigrams(["A dog!"], np.array([1]))
        ['dog !']
    """
    lists = token_strings(texts)
    first = pa.array(lists.offsets.to_numpy()[:-1] + positions)
    second = pc.add(first, 1)
    bigrams: list[str] = pc.binary_join_element_wise(
        lists.values.take(first), lists.values.take(second), pa.scalar(" ", pa.large_string())
    ).to_pylist()
    return bigrams


def word_ngrams(texts: Texts) -> TokenLists:
    """List the words of each text and the n-grams of their characters, as fastText does.

    A word, or a punctuation mark, is a token of `tokenize`, lowercased and in Unicode NFC. It is marked as `<word>`;
    its units are all runs of 3 to 5 characters of that, and the whole. In a word with Hangul, Han or kana they are runs
    of 1 to 3 characters, because each of these characters says as much as a few letters.

    Args:
        texts: Texts.

    Returns:
        One list per text, word by word; the id of a unit is `token_hash` of its characters.

    Reference:
        Bojanowski et al. 2017, "Enriching word vectors with subword information", §3.2.

    Example:
        >>> from paraloom.text.tokens import token_hash
        >>> units = ["<ab", "<ab>", "ab>"]
        >>> word_ngrams(["Ab"])[0].tolist() == [token_hash(unit) for unit in units]
        True
    """
    spans = _composed_spans(texts)
    return TokenLists(
        *word_ngram_kernels.word_ngrams(spans.data, spans.starts, spans.ends, spans.offsets, _ORDERS, _SYLLABIC_ORDERS)
    )


def spell_word_ngrams(texts: Texts, positions: npt.NDArray[np.int64]) -> list[str]:
    """Spell one unit of each text.

    Args:
        texts: n texts.
        positions: int64 `(n,)`, position of the unit in the list of its text, as `word_ngrams` gives it.

    Example:
        >>> spell_word_ngrams(["Hello", "한국어"], np.array([0, 2]))
        ['<he', '한']
    """
    spans = _composed_spans(texts)
    data, bounds = word_ngram_kernels.spell_word_ngrams(
        spans.data, spans.starts, spans.ends, spans.offsets, _ORDERS, _SYLLABIC_ORDERS, positions
    )
    flat = pa.LargeStringArray.from_buffers(len(positions), pa.py_buffer(bounds), pa.py_buffer(data))
    spelled: list[str] = flat.to_pylist()
    return spelled


def _composed_spans(texts: Texts) -> TokenSpans:
    array = string_array(texts)
    data, offsets = text_buffers(array)
    data = data[offsets[0] : offsets[-1]]
    if any((data == byte).any() for byte in _UNCOMPOSED):
        array = pc.utf8_normalize(array, form="NFC")
    return token_spans(array)


def ngram_totals(lengths: npt.NDArray[np.integer], n: int) -> npt.NDArray[np.int32]:
    """Count the n-grams of texts by their lengths.

    Args:
        lengths: Tokens of each text, `(rows,)`.
        n: Tokens of an n-gram, 1 or more.

    Returns:
        int32 `(rows,)`, 0 for a text that is too short.

    Example:
        >>> import numpy as np
        >>> ngram_totals(np.array([1, 5]), 2).tolist()
        [0, 4]
    """
    totals: npt.NDArray[np.int32] = np.maximum(np.asarray(lengths, np.int32) - np.int32(n - 1), 0)
    return totals


def _check_order(n: int) -> None:
    if n < 1:
        raise ConfigError(f"the order of n-grams must be 1 or more, got {n}")
