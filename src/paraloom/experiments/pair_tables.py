"""The papers' tables about pairs themselves: statistics (W17 Tables 9 and 10, PNMT 1), classifiers (W17 8), ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from paraloom.core.stage import Stage
from paraloom.core.stats import wilson_interval
from paraloom.experiments.published import PAPERS
from paraloom.experiments.study import Study
from paraloom.experiments.tables import Figure, ReproducedTable
from paraloom.stages.analysis import PairStatistics
from paraloom.stages.pairs import Filter
from paraloom.stages.scores import TrainClassifier
from paraloom.stages.syntax import Parse
from paraloom.workflows.analysis import draw_sheet

_PARSED_PAIRS = 10_000
"""References of each source that are parsed. Entropy depends on their number, so it is the same for all sources."""

_CLASSIFIER_PAIRS = 5_000
"""Pairs of each source that a classifier is trained on (40,000 in W17), so that an LSTM takes minutes."""


def source_statistics(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 1: length, IDF, paraphrase score and entropies of each source."""
    rows: list[tuple[str, Sequence[Figure]]] = []
    parsed = _parsed_statistics(study)
    keys = ("length", "idf", "paraphrase_score", "unigram_entropy", "parse_entropy")
    for source, statistics in _statistics(study).items():
        figures = {**statistics["reference"], **statistics}
        if source in parsed:
            figures["parse_entropy"] = parsed[source]["reference"].get("parse_entropy")
        rows.append((source, [_estimate(figures.get(key)) for key in keys]))
    return ReproducedTable(name, PAPERS[name], rows, _shortest_source(rows))


def reference_differences(study: Study, name: str) -> ReproducedTable:
    """W17 Table 9: entropy and repetition of the references minus those of the translations."""
    measures = {"unigram_entropy": 1, "trigram_entropy": 1, "unigram_repetition": -1, "trigram_repetition": -1}
    rows = [
        (
            source,
            [
                _estimate(statistics["reference_minus_translation"].get(key), 100 if "repetition" in key else 1)
                for key in measures
            ],
        )
        for source, statistics in _statistics(study).items()
    ]
    conclusion = compare_signs(PAPERS[name].columns, list(measures.values()), [figures for _, figures in rows])
    return ReproducedTable(name, PAPERS[name], rows, conclusion)


def reference_correlations(study: Study, name: str) -> ReproducedTable:
    """W17 Table 10: what the probability that a translation is a reference correlates with."""
    measures = {"tgt_unigram_repetition": -1, "tgt_trigram_repetition": -1, "tgt_idf": 1, "tgt_tokens": -1}
    rows = [
        (
            source,
            [_estimate(statistics["spearman_of_reference_probability"].get(key), 100) for key in measures],
        )
        for source, statistics in _statistics(study).items()
    ]
    conclusion = compare_signs(PAPERS[name].columns, list(measures.values()), [figures for _, figures in rows])
    return ReproducedTable(name, PAPERS[name], rows, conclusion)


def classifiers(study: Study, name: str) -> ReproducedTable:
    """W17 Table 8: how well classifiers tell the references of each source from their translations."""
    kinds: tuple[Literal["avg", "lstm"], ...] = ("avg", "lstm")
    corpora = study.scored()
    stages = [
        TrainClassifier(
            name=f"{source}-{kind}",
            pairs_from=(path,),
            kind=kind,
            max_pairs=_CLASSIFIER_PAIRS,
            held_out=_CLASSIFIER_PAIRS // 8,
        )
        for source, path in corpora.items()
        for kind in kinds
    ]
    result = study.run(stages, study.folder / name)
    accuracies = {
        kind: {source: _accuracies(result.stage(f"{source}-{kind}").figures) for source in corpora} for kind in kinds
    }
    rows: list[tuple[str, Sequence[Figure]]] = [
        (f"{kind.upper()}, {source}", accuracies[kind][source]) for kind in kinds for source in corpora
    ]
    avg, lstm = ({source: row[0] for source, row in accuracies[kind].items()} for kind in kinds)
    better = [source for source in corpora if lstm[source][0] > avg[source][0]]
    disjoint = [source for source in better if lstm[source][1] > avg[source][2]]
    conclusion = (
        "The paper: the LSTM is better than the average of words on every corpus. "
        f"Here it is on {len(better)} of {len(corpora)} ({', '.join(better) or 'none'}), "
        f"with disjoint intervals on {len(disjoint)}."
    )
    return ReproducedTable(name, PAPERS[name], rows, conclusion, ("accuracy", "of references", "of translations"))


def rating_sheet(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 3: pairs for people to rate; the table itself is made from their ratings."""
    source, pairs = next(iter(study.scored().items()))
    folder = study.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    key = draw_sheet(str(pairs), folder / "sheet.tsv", by="paraphrase_score", count=100, seed=study.seed)
    conclusion = (
        f"100 pairs of {source} from each range are in {folder / 'sheet.tsv'}. Two annotators label a copy each; "
        f"`paraloom judge table RATER1 RATER2 --key {key}` prints the table."
    )
    return ReproducedTable(name, PAPERS[name], [], conclusion)


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-8": classifiers,
    "w17-9": reference_differences,
    "w17-10": reference_correlations,
    "pnmt-1": source_statistics,
    "pnmt-3": rating_sheet,
}
"""Name of a table → the function that makes it."""


def compare_signs(columns: Sequence[str], expected: Sequence[int], rows: Sequence[Sequence[Figure]]) -> str:
    """On how many sources differences have the sign that a paper reports, with an interval that excludes 0.

    Args:
        columns: Names of the differences.
        expected: 1 or −1 for each of them.
        rows: For each source a value with its interval per column, or None.

    Example:
        >>> compare_signs(["entropy"], [1], [[(0.2, 0.1, 0.3)], [(0.1, -0.1, 0.3)], [(-0.2, -0.3, -0.1)]])
        'As in the paper: entropy on 1 of 3 (opposite on 1, undecided on 1).'
    """
    parts = []
    for column, (head, sign) in enumerate(zip(columns, expected, strict=True)):
        intervals = [figure for figure in (row[column] for row in rows) if isinstance(figure, tuple)]
        same = sum(min(sign * low, sign * high) > 0 for _, low, high in intervals)
        opposite = sum(max(sign * low, sign * high) < 0 for _, low, high in intervals)
        undecided = len(intervals) - same - opposite
        rest = f" (opposite on {opposite}, undecided on {undecided})" if same < len(intervals) else ""
        parts.append(f"{head} on {same} of {len(intervals)}{rest}")
    return "As in the paper: " + "; ".join(parts) + "."


def _shortest_source(rows: Sequence[tuple[str, Sequence[Figure]]]) -> str:
    """The conclusion of PNMT Table 1."""
    lengths = {name: figures[0][0] for name, figures in rows if isinstance(figures[0], tuple)}
    scores = {name: figures[2][0] for name, figures in rows if isinstance(figures[2], tuple)}
    shortest = min(lengths, key=lambda name: lengths[name])
    sentence = (
        "The paper: CzEng has by far the shortest sentences. "
        f"Here {shortest} has the shortest ({lengths[shortest]:.1f} words)"
    )
    if scores:
        low, high = (select(scores, key=lambda name: scores[name]) for select in (min, max))
        sentence += f"; the paraphrase score ranges from {scores[low]:.2f} ({low}) to {scores[high]:.2f} ({high})"
    return sentence + "."


def _statistics(study: Study) -> dict[str, Any]:
    """The statistics of each source."""
    stages = [PairStatistics(name=f"{source}-statistics", pairs=path) for source, path in study.scored().items()]
    results = study.results(stages, study.folder / "statistics")
    return {source: results[f"{source}-statistics"] for source in study.sources}


def _parsed_statistics(study: Study) -> dict[str, Any]:
    """The statistics of a parsed sample of each source; empty without a parser."""
    if study.parser is None:
        return {}
    stages: list[Stage] = []
    for source, path in study.scored().items():
        sample = Filter(name=f"{source}-sample", input=path, sample=_PARSED_PAIRS)
        trees = Parse(name=f"{source}-trees", input=sample, parser=Path(study.parser).absolute(), columns=("src",))
        stages += [sample, trees, PairStatistics(name=source, pairs=trees)]
    return study.results(stages, study.folder / "parsed")


def _estimate(statistic: Mapping[str, float] | None, factor: float = 1) -> Figure:
    if statistic is None:
        return None
    return (statistic["value"] * factor, statistic["low"] * factor, statistic["high"] * factor)


def _accuracies(figures: Mapping[str, Any]) -> list[tuple[float, float, float]]:
    """Accuracy on all test sentences, on references and on translations: percent, with 95 % intervals."""
    sentences = figures["test_sentences"]
    return [
        _percent(figures["accuracy"], sentences),
        _percent(figures["reference_accuracy"], sentences // 2),
        _percent(figures["translation_accuracy"], sentences // 2),
    ]


def _percent(share: float, sentences: int) -> tuple[float, float, float]:
    low, high = wilson_interval(share * sentences, sentences)
    return (100 * share, 100 * low, 100 * high)
