"""Sentence alignment within pairs of documents: the aligner learns from some pairs and aligns all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from paraloom.alignment.aligner_config import AlignerConfig
from paraloom.alignment.document_features import Documents, read_text_pairs
from paraloom.alignment.document_pairs import DocumentPair
from paraloom.alignment.methods import Weights, fit_method
from paraloom.alignment.nearest_words import encoder_lexicon
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead
from paraloom.core.errors import DataError
from paraloom.core.progress import progress
from paraloom.core.seeds import generator

# Random pairs that the aligner learns from, and pairs whose texts are in memory at a time.
_TRAINING_PAIRS, _BLOCK = 500, 1000


class AlignedDocuments(NamedTuple):
    pair: DocumentPair
    texts: TextPair
    beads: list[Bead]


def align_within(
    source: Documents,
    target: Documents,
    pairs: Sequence[DocumentPair],
    config: AlignerConfig | None = None,
    *,
    method: str = "evidence",
    weights: Weights = None,
    seed: int = 1,
) -> Iterator[AlignedDocuments]:
    """Align the sentences of paired documents, by their translations if they have any; a paragraph is a sentence."""
    config = config or AlignerConfig()
    config.check()
    rows = [_rows_by_name(side.ids) for side in (source, target)]
    numbered = [(_row(rows[0], pair.source), _row(rows[1], pair.target)) for pair in pairs]
    if not pairs:
        return
    sample = np.sort(generator(seed).permutation(len(pairs))[:_TRAINING_PAIRS])
    texts = list(read_text_pairs(source, target, [numbered[index] for index in sample]))
    lexicons = []
    if source.encoder is not None:
        lexicons = encoder_lexicon(source.encoder, [text.source for text in texts], [text.target for text in texts])
    aligner = fit_method(method, texts, config, lexicons=lexicons, weights=weights)
    originals = _originals(source), _originals(target)
    translated = originals != (source, target)
    with progress("aligning sentences", len(pairs), unit="documents") as advance:
        for start in range(0, len(pairs), _BLOCK):
            block = slice(start, start + _BLOCK)
            compared = list(read_text_pairs(source, target, numbered[block]))
            shown = list(read_text_pairs(*originals, numbered[block])) if translated else compared
            for pair, texts_compared, texts_shown in zip(pairs[block], compared, shown, strict=True):
                _check_lines(texts_compared, texts_shown, pair)
                yield AlignedDocuments(pair, texts_shown, aligner.align(texts_compared))
                advance(1)


def _originals(documents: Documents) -> Documents:
    """The documents before they were translated into a third language; the documents themselves if they were not."""
    if documents.read_originals is None:
        return documents
    return replace(documents, read_paragraphs=documents.read_originals, read_translations=None)


def _check_lines(compared: TextPair, shown: TextPair, pair: DocumentPair) -> None:
    for name, translation, original in (
        (pair.source, compared.source, shown.source),
        (pair.target, compared.target, shown.target),
    ):
        if len(translation) != len(original):
            raise DataError(
                f"{name}: the text has {len(original)} lines, its translation has {len(translation)}",
                remedy="Give one translated line for each line of the text, in the same order.",
            )


def _rows_by_name(ids: Sequence[str]) -> dict[str, int]:
    """The row of each name; -1 for one that several documents have."""
    rows: dict[str, int] = {}
    for row, name in enumerate(ids):
        rows[name] = -1 if name in rows else row
    return rows


def _row(rows: dict[str, int], name: str) -> int:
    if name not in rows:
        raise DataError(
            f"document '{name}' not found in the corpus", remedy="Give the corpora whose documents were paired."
        )
    if rows[name] < 0:
        raise DataError(
            f"several documents of the corpus have the name '{name}'", remedy="Give each document a name of its own."
        )
    return rows[name]
