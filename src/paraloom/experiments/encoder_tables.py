"""The papers' tables of encoders: sources of pairs (W17 Table 4), mega-batches, architectures, scrambling (PNMT)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paraloom.core.stage import Stage
from paraloom.evaluate.published import W17_MEAN
from paraloom.experiments.published import PAPERS
from paraloom.experiments.study import Study
from paraloom.experiments.tables import Figure, ReproducedTable
from paraloom.stages.encoders import EvaluateSts, TrainEncoder
from paraloom.stages.pairs import Filter

YEARS = ("2012", "2013", "2014", "2015")
"""The years of the STS tasks in PNMT's tables."""

_W17 = {"max_tokens": 100, "megabatch_size": 1, "two_sided": True}
_SPECS = ("word", "trigram", "lstm", "word+trigram", "word,trigram", "word+trigram+lstm", "word,trigram,lstm")
_MEGABATCHES = (1, 20, 40)
_SCRAMBLE = 0.3

Rows = Sequence[Mapping[str, Any]]
"""The rows of an evaluation on similarity tasks."""


def architectures(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 8: every architecture, trained on the same pairs of all sources."""
    trainings = {spec: {"spec": spec, "scramble": _SCRAMBLE if "lstm" in spec else 0.0} for spec in _SPECS}
    results = _evaluate(study, name, trainings)
    rows = [(f"{spec.upper()}, ours", _years(results[spec])) for spec in _SPECS]
    means = {spec: _mean_of_years(results[spec]) for spec in _SPECS}
    return ReproducedTable(name, PAPERS[name], rows, compare_best("WORD,TRIGRAM", "word,trigram", means))


def sources(study: Study, name: str) -> ReproducedTable:
    """W17 Table 4: AVG and GRAN, trained on equally many random pairs of each source."""
    trainings = {
        f"{kind}, {source}": {"spec": spec, **_W17}
        for source in study.sources
        for kind, spec in (("AVG", "word"), ("GRAN", "gran"))
    }
    single = {f"{kind}, {source}": source for source in study.sources for kind in ("AVG", "GRAN")}
    results = _evaluate(study, name, trainings, single)
    rows = [(f"{key}, ours", [_mean(results[key], W17_MEAN)]) for key in trainings]
    better = [
        source
        for source in study.sources
        if _mean(results[f"GRAN, {source}"], W17_MEAN)[0] > _mean(results[f"AVG, {source}"], W17_MEAN)[0]
    ]
    conclusion = (
        "The paper: GRAN is better than AVG on Simple Wikipedia and on back-translations, worse on PPDB. "
        f"Here it is better on {len(better)} of {len(study.sources)} ({', '.join(better) or 'none'})."
    )
    return ReproducedTable(name, PAPERS[name], rows, conclusion)


def megabatches(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 6: how many mini-batches negatives are searched in."""
    specs = ("word", "trigram", "lstm")
    trainings = {f"{spec} {size}": {"spec": spec, "megabatch_size": size} for size in _MEGABATCHES for spec in specs}
    results = _evaluate(study, name, trainings)
    rows = [
        (f"M = {size}, ours", [_mean_of_years(results[f"{spec} {size}"]) for spec in specs]) for size in _MEGABATCHES
    ]
    parts = [
        f"{spec.upper()} {', '.join(f'{figures[column]:.1f}' for _, figures in rows)}"
        for column, spec in enumerate(specs)
    ]
    conclusion = (
        f"The paper: the more, the better. Here, for M = 1, 20, 40 (means of 2012 to 2015): {'; '.join(parts)}."
    )
    return ReproducedTable(name, PAPERS[name], rows, conclusion)


def scrambling(study: Study, name: str) -> ReproducedTable:
    """PNMT §5.3: an LSTM trained with a share of the sentences scrambled, compared with one trained without."""
    trainings = {f"scrambling {share:g}": {"spec": "lstm", "scramble": share} for share in (0.0, _SCRAMBLE)}
    results = _evaluate(study, name, trainings)
    rows = [(f"{key}, ours", _years(results[key])) for key in trainings]
    without, scrambled = (_mean_of_years(results[key]) for key in trainings)
    conclusion = (
        "The paper scrambles the words of 30 % of the sentences that LSTMs read. "
        f"Here the mean is {without:.1f} without scrambling and {scrambled:.1f} with it."
    )
    return ReproducedTable(name, PAPERS[name], rows, conclusion)


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-4": sources,
    "pnmt-6": megabatches,
    "pnmt-8": architectures,
    "pnmt-scrambling": scrambling,
}
"""Name of a table → the function that makes it."""


def compare_best(title: str, name: str, means: Mapping[str, float]) -> str:
    """Compare figures with the claim that one of several encoders is the best.

    Args:
        title: The best one, as the paper writes it.
        name: The best one, as a key of `means`.
        means: A figure for each encoder.

    Example:
        >>> compare_best("WORD,TRIGRAM", "word,trigram", {"word": 60.0, "word,trigram": 61.5})
        'The paper: WORD,TRIGRAM is best on most years. Here its mean is 61.5, and none is above it.'
    """
    above = sorted((key for key in means if means[key] > means[name]), key=lambda key: -means[key])
    better = ", ".join(f"{key.upper()} ({means[key]:.1f})" for key in above)
    rest = f"above it: {better}" if above else "and none is above it"
    return f"The paper: {title} is best on most years. Here its mean is {means[name]:.1f}, {rest}."


def _evaluate(
    study: Study, name: str, trainings: Mapping[str, Mapping[str, Any]], single: Mapping[str, str] | None = None
) -> dict[str, Rows]:
    """The evaluation of an encoder for each training; `single` has the source of those that do not use all sources."""
    scored = study.scored()
    stages: list[Stage] = []
    for source, path in scored.items():
        for part, count in (("alone", study.size), ("shared", study.size // len(scored))):
            stages.append(Filter(name=f"{source}-{part}", input=path, sample=count))
    evaluations = {}
    for number, (key, settings) in enumerate(trainings.items(), start=1):
        pairs = tuple(f"{source}-shared" for source in scored)
        if single is not None:
            pairs = (f"{single[key]}-alone",)
        encoder = TrainEncoder(name=f"encoder-{number}", **{"pairs": pairs, "epochs": study.epochs, **settings})
        evaluations[key] = f"sts-{number}"
        stages += [encoder, EvaluateSts(name=evaluations[key], encoder=encoder, sts=study.sts)]
    results = study.results(stages, study.folder / name)
    return {key: results[stage]["rows"] for key, stage in evaluations.items()}


def _mean(rows: Rows, group: str) -> tuple[float, float, float]:
    """The mean over the subsets of a group, with its interval."""
    row = next(row for row in rows if (row["group"], row["subset"]) == (group, "mean"))
    return (row["pearson"], row["low"], row["high"])


def _years(rows: Rows) -> list[Figure]:
    return [_mean(rows, year) for year in YEARS]


def _mean_of_years(rows: Rows) -> float:
    return sum(_mean(rows, year)[0] for year in YEARS) / len(YEARS)
