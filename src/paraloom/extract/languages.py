"""Judges the language of pages by their prose: program code is left out, and part of a page may be untranslated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from paraloom.text.languages import LanguageIdentifier

MIN_IDENTIFIABLE = 120
"""Characters of a text from which on lingua uses trigrams only."""

MIN_SHARE = 0.1
"""Minimum share of a page's prose in the language that the page declares; with less, it is not translated at all."""

# Characters of a text that are enough to identify its language.
_SAMPLE = 3000

# A declared language is wrong only if its probability is below this: Croatian may look slightly more like Bosnian.
_MIN_PROBABILITY = 0.1

# Paragraphs that are judged one by one: the first ones, of some bytes each. Bytes, because a syllable of Korean, which
# has three, says as much as two or three Latin letters.
_MAX_PARAGRAPHS, _MIN_BYTES = 100, 12


class PageProse(NamedTuple):
    """The paragraphs of a page that are not program code, and the language that it declares."""

    paragraphs: Sequence[str]
    declared: str | None

    @property
    def text(self) -> str:
        """All of the prose."""
        return "\n".join(self.paragraphs)


def identify_pages(
    pages: Sequence[PageProse], identifier: LanguageIdentifier | None, *, keep_declared: bool = False
) -> list[str | None]:
    """The language of each page: the declared one where that can be, None where it cannot be identified.

    A declared language is accepted where it is probable for the whole of the prose, or where `MIN_SHARE` of the prose
    is in paragraphs of that language: much of a translated page may be left in the original.
    """
    languages: list[str | None] = [None] * len(pages)
    if identifier is None:
        return languages
    checked = [
        index
        for index, page in enumerate(pages)
        if page.declared is None
        or (page.declared in identifier.languages and not keep_declared and len(page.text) >= MIN_IDENTIFIABLE)
    ]
    samples = [pages[index].text[:_SAMPLE] for index in checked]
    for index, language in zip(checked, identifier.identify(samples), strict=True):
        languages[index] = language
    doubtful = [index for index in checked if pages[index].declared not in (None, languages[index])]
    for index in _probably_as_declared([pages[index] for index in doubtful], identifier):
        languages[doubtful[index]] = pages[doubtful[index]].declared
    return languages


def _probably_as_declared(pages: Sequence[PageProse], identifier: LanguageIdentifier) -> Iterator[int]:
    """The pages whose declared language is not ruled out."""
    declared = [page.declared or "" for page in pages]
    probabilities = identifier.probabilities([page.text[:_SAMPLE] for page in pages], declared)
    for index, page in enumerate(pages):
        # NaN: the declared language cannot be ruled out.
        if not probabilities[index] <= _MIN_PROBABILITY or declared_share(page, identifier) >= MIN_SHARE:
            yield index


def declared_share(page: PageProse, identifier: LanguageIdentifier) -> float:
    """The share of a page's prose, in bytes of UTF-8, in paragraphs of the language that it declares; 0 without any."""
    sizes = [len(text.encode("utf-8", "replace")) for text in page.paragraphs]
    chosen = [index for index, size in enumerate(sizes) if size >= _MIN_BYTES][:_MAX_PARAGRAPHS]
    identified = identifier.identify([page.paragraphs[index][:_SAMPLE] for index in chosen])
    own = sum(sizes[index] for index, lang in zip(chosen, identified, strict=True) if lang == page.declared)
    return own / max(1, sum(sizes[index] for index in chosen))
