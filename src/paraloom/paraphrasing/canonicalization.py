"""The standard form of noisy texts by rules and a list of words; numbers, links and names stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from paraloom.core.digests import signature
from paraloom.paraphrasing.protection import Protector
from paraloom.paraphrasing.spelling import Speller

CHANGED, UNCHANGED, KEPT = STATUSES = ("changed", "unchanged", "kept")
"""What happened to a text: it has another form; it is its own standard form; it was not looked at."""

NO_WORDS = "without words to write"
"""Why a text was kept: nothing but placeholders is in it."""


class CanonicalText(NamedTuple):
    """The standard form of a text."""

    text: str
    source: str
    status: str
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return self._asdict()


class Canonicalizer:
    """Writes the standard form of texts by a speller; numbers, links, names and the like are placeholders."""

    def __init__(self, speller: Speller, protector: Protector | None = None) -> None:
        self.speller = speller
        self.protector = protector or Protector()

    @property
    def signature(self) -> str:
        """Kinds of what is held, and the digest of the speller's words."""
        return f"rules|{signature('canonical', hold=','.join(self.protector.kinds), speller=self.speller.signature)}"

    def canonicalize(self, texts: Sequence[str]) -> list[CanonicalText]:
        """Write the standard form of texts."""
        return [self._canonical(text) for text in texts]

    def _canonical(self, text: str) -> CanonicalText:
        protected = self.protector.protect(text)
        if not self.protector.words_left(protected):
            return CanonicalText(text, text, KEPT, NO_WORDS)
        form, problem = self.protector.restore(protected, self.speller.standard_form(protected.text))
        if problem or form == text:
            return CanonicalText(text, text, UNCHANGED)
        return CanonicalText(form, text, CHANGED)
