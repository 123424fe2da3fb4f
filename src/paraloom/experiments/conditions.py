"""The conditions that are printed with each table of encoders: start, pairs, epochs, seeds, verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from paraloom.embed.word_vectors import vectors_file
from paraloom.experiments.study import Study


def conditions(
    study: Study, trained: Mapping[str, tuple[str, int]], *, best: bool = False, size: int | None = None
) -> list[str]:
    """How a table's encoders were made, and what differs from the paper.

    Args:
        study: Data and settings.
        trained: Name of an encoder → its spec, and its epochs in the paper.
        best: Whether the best epoch counts, as in W17, and not the last, as in PNMT.
        size: Pairs of every training; default: those of the study for each spec.
    """
    if study.vectors is None:
        start = "random vectors of 300 dimensions, those of averages damped by frequency"
    else:
        start = (
            f"word vectors of {study.dimension} dimensions ({vectors_file(study.vectors).name}), whose words are all "
            "that are known; trigrams from random vectors"
        )
    epochs: dict[str, list[str]] = {}
    for name, (_, in_paper) in trained.items():
        limited = min(in_paper, study.epochs)
        text = f"{limited}" if limited == in_paper else f"{limited} (the paper: {in_paper})"
        epochs.setdefault(text, []).append(name)
    passes = "; ".join(
        f"{text}" if len(epochs) == 1 else f"{' and '.join(names)} {text}" for text, names in epochs.items()
    )
    sizes = {size if size is not None else study.size_of(spec): None for spec, _ in trained.values()}
    if len(sizes) > 1:
        pairs = f"{study.size:,}, for recurrent encoders {study.size_of_recurrent:,}"
    else:
        pairs = f"{next(iter(sizes)):,}"
    specs = ", ".join(f"{name} = `{spec}`" for name, (spec, _) in trained.items() if name.lower() != spec)
    chosen = (
        "the best on STS-B dev counts, which may be the start (the paper: the best on STS 2016)"
        if best
        else "the last counts"
    )
    lines = [
        f"Start: {start}. The papers: paragram-sl999, 300 dimensions.",
        f"Pairs of each training, at most: {pairs}. Epochs: {passes}; {chosen}.",
        f"Seeds: {study.seeds}, each with other pairs and other random weights"
        + (
            "; figures are means, with the lowest and the highest; starts of recurrent encoders are of one seed."
            if study.seeds > 1
            else "."
        ),
        "Verdicts are from 95 % intervals of the difference, over test pairs (paired bootstrap)"
        + (" and seeds (Welch)." if study.seeds > 1 else "; the choice of the seed is not in them."),
        "Vectors of averages learn at a rate relative to their size (the papers: 0.001 for all).",
    ]
    return lines[:2] + ([f"Encoders: {specs}."] if specs else []) + lines[2:]
