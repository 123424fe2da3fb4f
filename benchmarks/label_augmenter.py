"""Paraphrases of labeled texts: protected, selected, and different from all texts that the set has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import ParaphraseLike, ParaphraserLike
from paraloom.paraphrasing.protection import Protector
from paraloom.paraphrasing.selection import ParaphraseSelector, SelectedParaphrase
from paraloom.text.tokens import words

KNOWN, NOTHING_TO_SAY = "already in the set", "nothing to paraphrase"
"""Why a candidate is dropped, or a text is not paraphrased, besides the reasons of selection and protection."""

MIN_WORDS = 2
"""Words outside of placeholders that a text needs to be paraphrased."""

_BREAK = re.compile(r"\s*[\t\n\r]\s*")
"""Tabs and ends of lines: a paraphrase of a text without any has none, so that every table can hold it."""


class RestoredCandidate(NamedTuple):
    """A candidate with its held parts back in it."""

    text: str
    core: str
    logprob: float
    tokens: int
    distance: int | None = None
    cut: bool = False
    reason: str | None = None


class LabelAugmenter:
    """Makes paraphrases that can have the label of their text."""

    def __init__(
        self,
        paraphraser: ParaphraserLike,
        selector: ParaphraseSelector,
        protector: Protector,
        *,
        candidates: int = 10,
    ) -> None:
        if candidates < 1:
            raise ConfigError(f"'candidates' must be 1 or more, got {candidates}")
        self.paraphraser = paraphraser
        self.selector = selector
        self.protector = protector
        self.candidates = candidates
        self.dropped: Counter[str] = Counter()
        self._known: set[int] = set()

    def know(self, texts: Iterable[str]) -> None:
        """Remember texts of the set: no paraphrase equals one of them, but for case and punctuation."""
        self._known.update(map(_key, texts))

    def augment(self, texts: Sequence[str], wanted: Sequence[int], *, seed: int = 0) -> list[list[SelectedParaphrase]]:
        """Paraphrase texts."""
        results: list[list[SelectedParaphrase]] = [[] for _ in texts]
        protected = {row: self.protector.protect(texts[row]) for row, count in enumerate(wanted) if count}
        rows = [row for row, text in protected.items() if self.protector.words_left(text) >= MIN_WORDS]
        if skipped := len(protected) - len(rows):
            self.dropped[NOTHING_TO_SAY] += skipped
        if not rows:
            return results
        groups = self.paraphraser.paraphrase([protected[row].text for row in rows], n=self.candidates, seed=seed)
        if len(groups) != len(rows):
            raise DataError(
                f"the paraphraser returned {len(groups)} lists of paraphrases for {len(rows)} texts",
                remedy="It must return one list for each text, in their order.",
            )
        restored: list[list[RestoredCandidate]] = []
        for row, group in zip(rows, groups, strict=True):
            good = []
            for candidate in group:
                text, reason = self.protector.restore(protected[row], candidate.text)
                if not _BREAK.search(texts[row]):
                    text = _BREAK.sub(" ", text)
                if not reason and _key(text) in self._known and _key(text) != _key(texts[row]):
                    reason = KNOWN
                if reason:
                    self.dropped[reason] += 1
                else:
                    good.append(_restored(candidate, text, self.protector.core(protected[row], candidate.text)))
            restored.append(good)
        selection = self.selector.select(
            [texts[row] for row in rows],
            restored,
            [wanted[row] for row in rows],
            cores=[self.protector.core(protected[row], protected[row].text) for row in rows],
        )
        self.dropped.update(selection.dropped)
        for row, kept in zip(rows, selection.kept, strict=True):
            for one in kept:
                # Two texts of one batch may lead to the same paraphrase.
                if _key(one.text) in self._known:
                    self.dropped[KNOWN] += 1
                    continue
                self._known.add(_key(one.text))
                results[row].append(one)
        return results


def _restored(candidate: ParaphraseLike, text: str, core: str) -> RestoredCandidate:
    return RestoredCandidate(
        *(text, core, candidate.logprob, candidate.tokens, getattr(candidate, "distance", None)),
        *(bool(getattr(candidate, "cut", False)), getattr(candidate, "reason", None)),
    )


def _key(text: str) -> int:
    """A hash of the words of a text."""
    plain = " ".join(words(text, punctuation=False)) or text
    return int.from_bytes(blake2b(plain.encode(), digest_size=8).digest())
