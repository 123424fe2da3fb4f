"""Encoders of two or more languages: settings for bitext, and a check of its sides before training."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.errors import DataError
from paraloom.text.function_words import sample_language
from paraloom.text.language_names import language_code, language_name

BITEXT_SETTINGS: Mapping[str, Any] = {
    "spec": "ngram",
    "dimension": 256,
    "loss": "softmax",
    "temperature": 0.1,
    "softmax_margin": 0.2,
    "batch_size": 1024,
    "learning_rate": 2e-3,
    "relative_learning_rate": 0.0,
    "epochs": 4,
    "max_tokens": 100,
}
"""Fields of `EncoderConfig` with which an encoder of two or more languages is trained on bitext.

The two sides of a pair are to be nearer to each other than to all others of the mini-batch, whatever their languages. A
sentence is the mean of its words and their n-grams, all languages in one table.
"""

# Rows of the sample whose languages are identified; between this number and twice as many.
_SAMPLE = 500

# Share of identical sides from which the bitext is doubtful: untranslated text teaches only to copy.
_MANY_IDENTICAL = 0.2


def check_bitext(name: str, batches: Iterable[pa.RecordBatch]) -> dict[str, Any]:
    """Count identical sides, identify the languages of a sample, and warn of what looks wrong."""
    sample = _Sample()
    pairs = identical = 0
    labels: set[tuple[str | None, str | None]] = set()
    for batch in batches:
        sides = [batch.column(side).cast(pa.large_string()).fill_null("") for side in ("src", "tgt")]
        pairs += batch.num_rows
        identical += pc.sum(pc.equal(*sides)).as_py() or 0
        sample.add(sides)
        labels |= _labels(batch)
    if pairs and identical == pairs:
        raise DataError(
            f"both sides of all {pairs:,} pairs are equal", file=name, remedy="Check which columns or files were read."
        )
    languages = [sample_language(side) for side in sample.sides]
    label = labels.pop() if len(labels) == 1 else (None, None)
    messages = [*_language_warnings(name, languages, label)]
    if pairs and identical / pairs > _MANY_IDENTICAL:
        messages.append(
            f"{name}: both sides of {identical:,} of {pairs:,} pairs are equal; untranslated text teaches only to copy"
        )
    for message in messages:
        warnings.warn(message, stacklevel=2)
    return {"pairs": pairs, "identical": identical, "languages": languages, "warnings": messages}


def _labels(batch: pa.RecordBatch) -> set[tuple[str | None, str | None]]:
    """The pairs of languages that the columns of a batch name; none without these columns."""
    columns = [batch.column(name).unique() for name in ("src_lang", "tgt_lang") if name in batch.schema.names]
    if len(columns) < 2:
        return set()
    first, second = ({language_code(code) for code in codes.to_pylist()} for codes in columns)
    return set(product(first, second))


def language_facts(checks: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Languages of an encoder for its model card, by which mining checks its texts."""
    codes = [code or "und" for check in checks for code in check["languages"]]
    return {"languages": ", ".join(dict.fromkeys(codes))}


def _language_warnings(
    name: str, languages: Sequence[str | None], label: tuple[str | None, str | None]
) -> Iterable[str]:
    first, second = languages
    if first and first == second:
        yield (
            f"{name}: both sides are {language_name(first)}; an encoder of two languages needs pairs of a sentence and "
            "its translation. For paraphrases in one language use --pairs"
        )
    elif label != (None, None) and label[0] != label[1]:
        swapped = (first is not None and first == label[1]) or (second is not None and second == label[0])
        if swapped:
            yield (
                f"{name}: the sides are swapped: it is labeled {label[0]}–{label[1]}, but the first side is "
                f"{language_name(first)}, the second {language_name(second)}. Swap the columns, or name the file "
                f"{label[1]}-{label[0]}"
            )


class _Sample:
    """Some 500 to 1,000 pairs, spread evenly over a stream."""

    def __init__(self) -> None:
        self.sides: tuple[list[str], list[str]] = ([], [])
        self._step, self._next, self._read = 1, 0, 0

    def add(self, sides: Sequence[pa.Array]) -> None:
        end = self._read + len(sides[0])
        while self._next < end:
            for kept, side in zip(self.sides, sides, strict=True):
                kept.append(side[self._next - self._read].as_py())
            self._next += self._step
            if len(self.sides[0]) == 2 * _SAMPLE:
                for kept in self.sides:
                    del kept[1::2]
                self._step *= 2
                self._next = len(self.sides[0]) * self._step
        self._read = end
