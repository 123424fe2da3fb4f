"""The utility of candidates: a sum of named scores, by which `mbr` and `diverse` choose among samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paraloom.bundled import bundled_path
from paraloom.core.errors import ConfigError, DataError, suggestion
from paraloom.core.lazy import late, load_object
from paraloom.core.protocols import ScoringTranslatorLike, Variant
from paraloom.text.utility import UTILITIES, expected_utility

_distinct_values = late("paraloom.text.sequences:distinct_values")

FORWARD, REVERSE = "forward", "reverse"

METRICS = {
    "comet": "paraloom.text.learned_metrics:Comet.load",
    "metricx": "paraloom.text.learned_metrics:MetricX.load",
    "cross-encoder": "paraloom.text.cross_encoder:CrossEncoder.load",
}
"""Names of models that read source and candidate, each followed by a colon and a folder, and what loads them."""

TERMS = (FORWARD, REVERSE, *UTILITIES)
"""Names of scores: probability per subword of the candidate, that of the source given the candidate by a translator the
other way, and the mean chrF or BLEU against the samples. A name of `METRICS` with its folder is a score, too."""

Scores = npt.NDArray[np.float64]

_LEAST = 1e-12


def parse_utility(text: str) -> tuple[str, ...]:
    """The names in a utility such as `forward+reverse+chrf`."""
    names = tuple(name.strip() for name in text.split("+"))
    for name in names:
        metric, _, folder = name.partition(":")
        known = name in TERMS or (metric in METRICS and bool(folder))
        if not known or names.count(name) > 1:
            problem = "twice the score" if known else "unknown score"
            raise ConfigError(
                f"{problem} '{name}' in the utility '{text}'{'' if known else suggestion(name, TERMS)}",
                remedy=f"Write a sum of {', '.join(TERMS)}, {':FOLDER, '.join(METRICS)}:FOLDER, such as "
                "forward+reverse+chrf.",
            )
    return names


def reads_source(utility: str) -> bool:
    """True if a score of a utility compares candidates with their source."""
    return any(name == REVERSE or ":" in name for name in parse_utility(utility))


def candidate_scores(
    utility: str,
    candidates: Sequence[Sequence[Variant]],
    samples: Sequence[Sequence[Variant]],
    sources: Sequence[str] = (),
    reverse: ScoringTranslatorLike | None = None,
) -> list[dict[str, Scores]]:
    """Values from 0 to 100 of each score in a utility, for the candidates of each of n sentences; NaN where unknown."""
    names = parse_utility(utility)
    if reads_source(utility) and len(sources) != len(candidates):
        raise DataError(f"the utility '{utility}' needs the source of each group of candidates")
    texts, compared = ([[one.text for one in group] for group in groups] for groups in (candidates, samples))
    columns: dict[str, list[Scores]] = {}
    for name in names:
        if name == FORWARD:
            columns[name] = [
                100 * np.exp(np.array([min(0.0, one.logprob / max(1, one.tokens)) for one in group], np.float64))
                for group in candidates
            ]
        elif name == REVERSE:
            columns[name] = _reverse_scores(texts, sources, reverse)
        elif ":" in name:
            columns[name] = _metric_scores(texts, sources, name)
        else:
            columns[name] = expected_utility(texts, compared, name)
    return [{name: columns[name][row] for name in names} for row in range(len(texts))]


def sum_of_scores(scores: Mapping[str, Scores]) -> Scores:
    """The utility of candidates: one score as it is, of several the sum of the standard scores of their logarithms."""
    if len(scores) == 1:
        return next(iter(scores.values()))
    return np.sum([_standardized(values) for values in scores.values()], axis=0)


def product_of_scores(scores: Mapping[str, Scores]) -> Scores:
    """The product of all scores that are known, each from 0 to 1; 0 where none is."""
    values = np.stack(list(scores.values())) / 100
    known = ~np.isnan(values)
    return np.where(known.any(axis=0), np.prod(np.where(known, values, 1.0), axis=0), 0.0)


def reverse_translator(name: str, source: str | None, target: str | None) -> ScoringTranslatorLike:
    """The translator from the target into the source language: a name, a folder, or '' for the bundled one."""
    bundled = f"{target}-{source}"
    if not name and bundled_path(bundled) is None:
        raise ConfigError(
            "the score 'reverse' of a utility needs a translator the other way, and none of "
            f"{target or '?'} → {source or '?'} is bundled",
            remedy="Name one: mbr:forward+reverse+chrf,reverse=FOLDER.",
        )
    return _loaded(str(Path(name).absolute()) if name and Path(name).is_dir() else name or bundled)


@lru_cache(maxsize=2)
def _loaded(name: str) -> ScoringTranslatorLike:
    translator: ScoringTranslatorLike = load_object("paraloom.mt.translator:Translator.load")(name, check_costs=False)
    return translator


def _reverse_scores(
    texts: Sequence[Sequence[str]], sources: Sequence[str], reverse: ScoringTranslatorLike | None
) -> list[Scores]:
    if reverse is None:
        raise DataError(f"the score '{REVERSE}' needs a translator")

    def scores(pairs: Sequence[tuple[str, ...]]) -> list[float]:
        scored = reverse.score(*map(list, zip(*pairs, strict=True)))
        return [100 * np.exp(logprob / tokens) for logprob, tokens in scored]

    return _by_group(texts, _distinct_values(_flat(texts, sources), scores))


def _metric_scores(texts: Sequence[Sequence[str]], sources: Sequence[str], name: str) -> list[Scores]:
    """The values of a model for source and candidate; those without bounds by the logistic function."""
    kind, _, folder = name.partition(":")
    metric = _loaded_metric(kind, Path(folder))
    if kind == "comet" and metric.needs_reference:
        raise ConfigError(
            f"the COMET model of '{name}' needs references", remedy="Take one without, such as wmt20-comet-qe-da."
        )
    raw = metric.predict(*reversed(_flat(texts, sources))).astype(np.float64)
    if kind == "metricx":  # errors
        values = 100 * (1 - raw / load_object("paraloom.text.learned_metrics:WORST"))
    elif kind == "cross-encoder" and metric.readout.activation != "identity":
        values = 100 * raw
    else:
        values = 100 / (1 + np.exp(-raw))
    return _by_group(texts, values)


def _flat(texts: Sequence[Sequence[str]], sources: Sequence[str]) -> tuple[list[str], list[str]]:
    """All texts, and the source of each."""
    repeated = [source for source, group in zip(sources, texts, strict=True) for _ in group]
    return [text for group in texts for text in group], repeated


def _by_group(texts: Sequence[Sequence[str]], values: Scores) -> list[Scores]:
    return np.split(values, np.cumsum([len(group) for group in texts])[:-1])


@lru_cache(maxsize=2)
def _loaded_metric(kind: str, folder: Path) -> Any:
    return load_object(METRICS[kind])(folder)


def _standardized(values: Scores) -> Scores:
    logs = np.log(np.maximum(values, _LEAST))
    known = ~np.isnan(logs)
    if not known.any() or (spread := float(logs[known].std())) < _LEAST:
        return np.zeros(len(values))
    scores = (logs - logs[known].mean()) / spread
    return np.where(known, scores, scores[known].min())
