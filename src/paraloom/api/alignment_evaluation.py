"""Evaluation of files of beads against gold files, one by one, or of one alignment against those of its documents."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from paraloom.api.alignment import read_sentences
from paraloom.core.batches import as_list
from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.alignment import (
    AlignmentReport,
    AlignmentScore,
    DocumentSpan,
    FileScore,
    cut_beads,
    find_divergence,
    find_parts,
)
from paraloom.io.formats.alignments import BeadFile, Side, read_bead_file

Paths = str | Path | Sequence[str | Path]

_OTHER_GOLD = "Is it the gold of another text, or of the swapped sides?"
# Published gold lacks a few sentences; one that ends much earlier than its text is probably that of another.
_MIN_COVERAGE = 0.9
_SIDES: tuple[Side, ...] = ("source", "target")


def evaluate_alignment_files(
    files: Paths, gold: Paths, *, source: Paths = (), target: Paths = (), hard_delimiter: str | None = None
) -> AlignmentReport:
    """Compute precision, recall and F1 of beads: strict and lax as vecalign counts, of each file, pooled, and by kind.

    Published gold is read as it is: a sentence may be in two beads, or beads may have gaps, such as [1, 3]:[2].

    Args:
        files: Beads: .vecalign, .ladder or .parquet.
        gold: The true beads, a file for each of the beads, in order.
        source: The source text of the beads, a sentence per line, to check indices by its length; for each file.
        target: The target text of the beads.
        hard_delimiter: The beads are of texts of several documents, separated by such lines as .EOA ('' for empty
            lines): compare each document with a gold file of its own.

    Reference:
        Thompson and Koehn 2019; their score.py.
    """
    paths, true, sources, targets = (as_list(given) for given in (files, gold, source, target))
    if not paths or not true:
        raise ConfigError("no files of beads or no gold files are given", remedy="Give one gold file for each.")
    if (sources or targets) and not len(sources) == len(targets) == len(paths):
        raise ConfigError(
            f"expected as many texts of each side as files of beads, {len(paths)}, got {len(sources)} source texts and "
            f"{len(targets)} target texts",
            remedy="Give one text of each side for each file of beads, in order, or none.",
        )
    if hard_delimiter is not None:
        if len(paths) > 1 or not sources:
            raise ConfigError(
                "a hard delimiter needs one file of beads and both of its texts, in which the delimiters are",
                remedy="Name the texts with --source and --target.",
            )
        return _evaluate_parts(str(paths[0]), [str(path) for path in true], (sources[0], targets[0]), hard_delimiter)
    if len(paths) != len(true):
        raise ConfigError(
            f"expected as many gold files as files of beads, {len(paths)}, got {len(true)}",
            remedy="Give one gold file for each, or, for one alignment of several documents, --hard-delimiter.",
        )
    scores = []
    for number, (path, gold_path) in enumerate(zip(paths, true, strict=True)):
        predicted, correct = read_bead_file(path), read_bead_file(gold_path)
        texts = (sources[number], targets[number]) if sources else None
        _check_ranges(predicted, correct, texts)
        score = AlignmentScore()
        score.add(correct.beads, predicted.beads)
        scores.append(FileScore(str(path), str(gold_path), score))
    return AlignmentReport(scores)


def _check_ranges(predicted: BeadFile, correct: BeadFile, texts: tuple[str | Path, str | Path] | None) -> None:
    for side, text in zip(_SIDES, texts or (None, None), strict=True):
        if text is not None:
            count = len(read_sentences(text))
            predicted.check_range(side, count, str(text), "Are they the beads of another text?")
            _check_gold(correct, side, count, str(text), _OTHER_GOLD)
            continue
        covered = predicted.covered(side)
        if covered is not None:
            remedy = f"{_OTHER_GOLD} If the alignment leaves out sentences at its end, name --source and --target."
            _check_gold(correct, side, covered, f"the text of {predicted.path}", remedy)


def _check_gold(gold: BeadFile, side: Side, count: int, text: str, remedy: str) -> None:
    """An error if gold has sentences that the text does not have, a warning if it lacks many at the end of the text."""
    gold.check_range(side, count, text, remedy)
    size = gold.size(side)
    if 0 < size < _MIN_COVERAGE * count:
        warnings.warn(
            f"{gold.path} names {size:,} of the {count:,} {side} sentences of {text}: is it the gold of another text?",
            stacklevel=4,
        )


def _evaluate_parts(
    path: str, true: Sequence[str], texts: tuple[str | Path, str | Path], delimiter: str
) -> AlignmentReport:
    predicted, correct = read_bead_file(path), [read_bead_file(gold) for gold in true]
    parts: list[list[DocumentSpan]] = []
    for side, text in zip(_SIDES, texts, strict=True):
        lines = read_sentences(text)
        predicted.check_range(side, len(lines), str(text), "Are they the beads of another text?")
        parts.append(find_parts(lines, delimiter))
    for side, text, side_parts in zip(_SIDES, texts, parts, strict=True):
        if len(side_parts) != len(correct):
            raise _divergence(side, text, side_parts, correct, delimiter)
    for side, text, side_parts in zip(_SIDES, texts, parts, strict=True):
        for number, (part, gold) in enumerate(zip(side_parts, correct, strict=True), 1):
            remedy = f"{_OTHER_GOLD} Gold files are in the order of the documents."
            _check_gold(gold, side, part.size, f"document {number} of {text} ({_rows(part)})", remedy)
    cut = cut_beads(predicted.beads, *parts)
    scores = []
    for beads, gold in zip(cut.parts, correct, strict=True):
        score = AlignmentScore()
        score.add(gold.beads, beads)
        scores.append(FileScore(path, gold.path, score))
    return AlignmentReport(scores, cut.crossing)


def _divergence(
    side: Side, text: str | Path, parts: list[DocumentSpan], correct: Sequence[BeadFile], delimiter: str
) -> DataError:
    """The error of a text that has another number of documents than there are gold files: where they diverge."""
    sizes = [gold.size(side) for gold in correct]
    index = find_divergence([part.size for part in parts], sizes)
    part, gold = parts[index], correct[index]
    counts = f"{len(parts):,}" if len(parts) != 1 else "1 (the delimiter does not occur between sentences)"
    return DataError(
        f"expected {len(correct):,} documents separated by '{delimiter}' in the {side}, one for each gold file, got "
        f"{counts}; they diverge at document {index + 1}: {_rows(part)} have {part.size:,} sentences, and {gold.path} "
        f"names {sizes[index]:,}",
        file=text,
        row=part.start + 1,
        remedy="Give a gold file for each document, in order, and separate the documents of both texts alike.",
    )


def _rows(part: DocumentSpan) -> str:
    return f"rows {part.start + 1:,} to {part.end:,}" if part.size else f"no rows before row {part.end + 1:,}"
