"""W17 Table 8: how well a classifier tells the references of each source from their translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paraloom.core.stats import wilson_interval
from paraloom.experiments.published import PAPERS
from paraloom.experiments.study import Study
from paraloom.experiments.tables import Figure, Reproduced
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables

_PAIRS = 5_000
"""Pairs that a classifier of each source learns from (W17: 40,000): as many of each, and an LSTM ends in minutes."""


def classifiers(study: Study, name: str) -> Reproduced:
    """The average and the LSTM of every source."""
    corpora, kinds = study.scored(), ("avg", "lstm")
    stages = [
        {
            "name": f"{source}-{kind}",
            "use": "train-classifier",
            "pairs_from": [str(path)],
            "kind": kind,
            "max_pairs": _PAIRS,
            "held_out": _PAIRS // 8,
        }
        for source, path in corpora.items()
        for kind in kinds
    ]
    pipeline = pipeline_from_tables(stages, name="reproduce", seed=study.seed)
    result = run_pipeline(pipeline, study.folder / name, workers=study.workers)
    found = {
        kind: {source: _accuracies(result.stage(f"{source}-{kind}").figures) for source in corpora} for kind in kinds
    }
    rows: list[tuple[str, Sequence[Figure]]] = [
        (f"{kind.upper()}, {source}", found[kind][source]) for kind in kinds for source in corpora
    ]
    avg, lstm = ({source: row[0] for source, row in found[kind].items()} for kind in kinds)
    ahead = [source for source in corpora if lstm[source][0] > avg[source][0]]
    apart = [source for source in ahead if lstm[source][1] > avg[source][2]]
    sentence = (
        "The paper: the LSTM is ahead of the average of words on every corpus. "
        f"Here it is on {len(ahead)} of {len(corpora)} ({', '.join(ahead) or 'none'}), "
        f"with intervals that do not meet on {len(apart)}."
    )
    return Reproduced(name, PAPERS[name], rows, sentence, ("accuracy", "of references", "of translations"))


def _accuracies(figures: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """Of all test sentences, of the references and of the translations: per cent, with 95 % intervals."""
    sentences = figures["test_sentences"]
    return [
        _per_cent(figures["accuracy"], sentences),
        _per_cent(figures["reference_accuracy"], sentences // 2),
        _per_cent(figures["translation_accuracy"], sentences // 2),
    ]


def _per_cent(share: float, sentences: int) -> tuple[float, float, float]:
    low, high = wilson_interval(share * sentences, sentences)
    return (100 * share, 100 * low, 100 * high)
