"""Treatment of texts that are longer than a translator takes: split, truncated, rejected, or an error."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import nan

from paraloom.core.errors import DataError
from paraloom.core.protocols import Variant
from paraloom.mt.families.base import Codec
from paraloom.mt.splitting import Long, join_variants, split_text
from paraloom.text.sequences import list_of_strings as as_texts

__all__ = ["LongTexts", "as_texts"]  # the name by which the papers' code knows it


_MAX_AROUND = 64  # Subwords of language tokens and prompts around a text


class LongTexts:
    """The texts of a translator that are longer than it takes."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self._warned = False

    def parts(self, texts: Sequence[str], long: Long) -> list[list[str]] | None:
        """The parts of each text, none of one that is rejected; None if every text is taken as it is."""
        limit = self.codec.max_source
        # No tokenizer makes more subwords than there are bytes.
        rows = [row for row, text in enumerate(texts) if 4 * len(text) + _MAX_AROUND > limit]
        rows = [row for row in rows if len(texts[row].encode()) + _MAX_AROUND > limit]
        lengths = self._lengths([texts[row] for row in rows])
        rows = [row for row, length in zip(rows, lengths, strict=True) if length > limit]
        if not rows:
            return None
        if long == "error":
            raise DataError(
                f"the text has {max(lengths)} subwords, and the model takes {limit}",
                row=rows[0] + 1,
                remedy="Translate long lines with --long split, truncate or reject.",
            )
        if long == "truncate":
            if not self._warned:
                cut = f"'{texts[rows[0]][:60]}…'"
                warnings.warn(f"lines of more than {limit} subwords are truncated, such as {cut}", stacklevel=3)
            self._warned = True
            return None
        parts = [[text] for text in texts]
        for row in rows:
            parts[row] = [] if long == "reject" else split_text(texts[row], limit, self._lengths)
        return parts

    def split(self, text: str, reserve: int) -> list[str]:
        """The parts of a normalized text; the text alone if the model takes it."""
        limit = max(1, self.codec.max_source - reserve)
        return split_text(text, limit, self._lengths) if text else [text]

    def _lengths(self, texts: list[str]) -> list[int]:
        return [len(row) for row in self.codec.encode(texts)]

    def join(self, groups: Sequence[Sequence[Variant]]) -> list[Variant]:
        """The variants of a text whose parts have these, in order; a rejected one has no parts."""
        if len(groups) == 1:
            return list(groups[0])
        if not groups:
            return [Variant("", nan, 0, reason=f"longer than {self.codec.max_source} subwords")]
        return join_variants(groups, self.codec.target)
