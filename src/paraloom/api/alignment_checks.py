"""What is checked of two texts before they are aligned: their lengths, their languages, and their hard delimiters."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

from paraloom.core.errors import DataError
from paraloom.evaluate.alignment import DocumentSpan, find_divergence, find_parts
from paraloom.stages.input_checks import Direction
from paraloom.text.function_words import sample_language
from paraloom.text.language_names import language_name

# A text with this many times the characters of its translation is probably not all of it, or another one.
_MAX_RATIO = 10
# Lines whose language is identified.
_LANGUAGE_SAMPLE = 500


class NamedText(NamedTuple):
    """A text and the file that it comes from."""

    path: str
    lines: Sequence[str]

    @property
    def language(self) -> str | None:
        """The language of a sample of its lines; None where that is not clear."""
        step = max(1, len(self.lines) // _LANGUAGE_SAMPLE)
        return sample_language(self.lines[::step][:_LANGUAGE_SAMPLE])


def warn_of_lengths(source: NamedText, target: NamedText) -> None:
    """Warn if one text is many times longer than the other."""
    characters = [sum(map(len, text.lines)) for text in (source, target)]
    shorter, longer = (source, target) if characters[0] < characters[1] else (target, source)
    ratio = max(characters) / max(1, min(characters))
    if ratio >= _MAX_RATIO:
        warnings.warn(
            f"{longer.path} is {ratio:,.0f} times longer than {shorter.path} ({len(longer.lines):,} and "
            f"{len(shorter.lines):,} sentences): most of it has no counterpart. Are they the two files of one text? "
            "Cut out what the shorter one translates; for sentences anywhere in the texts: paraloom mine",
            stacklevel=3,
        )


def warn_of_languages(
    source: NamedText,
    target: NamedText,
    *,
    declared: tuple[str | None, str | None] = (None, None),
    translator: Direction | None = None,
    encoder: Sequence[str] = (),
) -> None:
    """Warn if both texts are in one language, if sides are swapped, or if a model is for other languages."""
    sides = _Sides(source, target, (source.language, target.language))
    texts = zip((source, target), sides.identified, strict=True)
    for message in (
        sides.same_language(declared) or sides.swapped(declared) or sides.unlike(translator),
        *(_unknown_to_encoder(text, language, encoder) for text, language in texts),
    ):
        if message:
            warnings.warn(message, stacklevel=3)


class _Sides(NamedTuple):
    """Two texts with their languages, as they were identified, and what may be wrong with these; '' for nothing."""

    source: NamedText
    target: NamedText
    identified: tuple[str | None, str | None]

    def same_language(self, declared: tuple[str | None, str | None]) -> str:
        language = self.identified[0]
        meant = declared[0] is not None and declared[0] == declared[1]
        if language is None or language != self.identified[1] or meant:
            return ""
        return (
            f"both texts seem to be {language_name(language)}: {self.source.path} and {self.target.path}. Give a text "
            f"and its translation; if they are to be in one language, say so: --src-lang {language} --tgt-lang "
            f"{language}"
        )

    def swapped(self, declared: tuple[str | None, str | None]) -> str:
        if None in self.identified or declared[0] == declared[1] or self.identified != declared[::-1]:
            return ""
        return (
            f"the sides are swapped: {self._named()}, but they are said to be {declared[0]} and {declared[1]}. Swap "
            "the files, or change --src-lang and --tgt-lang"
        )

    def unlike(self, translator: Direction | None) -> str:
        wrong = [
            f"{text.path} is {language_name(language)}"
            for text, language, expected in zip(self[:2], self.identified, translator or (None, None), strict=True)
            if language is not None and expected is not None and language != expected
        ]
        if not wrong or translator is None:
            return ""
        if self.identified == (translator.target, translator.source):
            return (
                f"the sides are swapped: {self._named()}, but the translator translates {translator}. Swap the files, "
                f"or use a translator from {language_name(self.identified[0])}"
            )
        return (
            f"{' and '.join(wrong)}, but the translator translates {translator}: its translations are little evidence. "
            "Use a translator of the languages of the texts, or none"
        )

    def _named(self) -> str:
        texts = zip(self[:2], self.identified, strict=True)
        return " and ".join(f"{text.path} is {language_name(language)}" for text, language in texts)


def _unknown_to_encoder(text: NamedText, language: str | None, known: Sequence[str]) -> str:
    if language is None or not known or language in known:
        return ""
    return (
        f"{text.path} is {language_name(language)}, but the encoder is of {', '.join(map(language_name, known))}: its "
        "vectors are little evidence. Use an encoder of the languages of the texts, or none"
    )


def check_delimiters(source: NamedText, target: NamedText, delimiter: str) -> None:
    """Check that two texts have the same number of hard delimiters."""
    counts = [sum(line.strip() == delimiter for line in text.lines) for text in (source, target)]
    if counts[0] == counts[1]:
        return
    parts = [find_parts(text.lines, delimiter) for text in (source, target)]
    if len(parts[0]) == len(parts[1]):
        longer = source if counts[0] > counts[1] else target
        raise DataError(
            f"{_counted(source, target, counts, delimiter)}; only {longer.path} has one at its end",
            file=longer.path,
            row=len(longer.lines),
            remedy="Delete it, or add one to the other file.",
        )
    index = _divergence(source, target, parts)
    spans = [side[index] for side in parts]
    raise DataError(
        f"{_counted(source, target, counts, delimiter)}; part {index + 1} is the first that differs much in length: "
        f"{_rows(source, spans[0])}, {_rows(target, spans[1])}",
        file=source.path,
        row=spans[0].start + 1,
        remedy="Add the missing delimiter there, or delete the one too many: parts are aligned in order.",
    )


def _counted(source: NamedText, target: NamedText, counts: Sequence[int], delimiter: str) -> str:
    return f"{source.path} has {counts[0]:,} delimiters '{delimiter}', {target.path} has {counts[1]:,}"


def _divergence(source: NamedText, target: NamedText, parts: Sequence[Sequence[DocumentSpan]]) -> int:
    """The part from which lengths, in characters of the source, do not fit."""
    sizes = [
        [sum(map(len, text.lines[part.start : part.end])) for part in side]
        for text, side in zip((source, target), parts, strict=True)
    ]
    scale = sum(sizes[0]) / max(1, sum(sizes[1]))
    return find_divergence(sizes[0], [round(size * scale) for size in sizes[1]])


def _rows(text: NamedText, part: DocumentSpan) -> str:
    if not part.size:
        return f"none before row {part.end + 1:,} of {text.path}"
    return f"rows {part.start + 1:,} to {part.end:,} of {text.path}"
