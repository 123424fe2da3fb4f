"""N-grams of tokens and of characters, as lists of 64-bit ids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paraloom.core.errors import ConfigError
from paraloom.text import token_kernels as kernels
from paraloom.text.buffers import Texts, text_buffers
from paraloom.text.normalize import lowercase
from paraloom.text.tokens import TokenLists


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
