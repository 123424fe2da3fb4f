"""The papers' tables of statistics of pairs: W17 Tables 9 and 10, PNMT Table 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from paraloom.api.syntax import parser_fields
from paraloom.core.stage import Stage
from paraloom.core.stats import Estimate
from paraloom.io import Corpus
from paraloom.pairs.scoring.idf import SENTENCE_WORDS
from paraloom.papers.conditions import SOURCES, TIME, translations
from paraloom.papers.measurements import mean_estimate
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.study import Study
from paraloom.papers.tables import BASELINES, INTERVAL, Baseline, Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order
from paraloom.stages.analysis import PairStatistics
from paraloom.stages.pairs import Filter
from paraloom.stages.syntax import Parse

_PARSED_PAIRS = 10_000
"""References of each source that are parsed, at most: as many as the smallest source has, as entropy depends on it."""


class Measure(NamedTuple):
    """A statistic whose sign a paper reports."""

    key: str
    sign: int
    factor: float
    claim: str


DIFFERENCES = (
    Measure("unigram_entropy", 1, 1, "references have more unigram entropy"),
    Measure("trigram_entropy", 1, 1, "references have more trigram entropy"),
    Measure("unigram_repetition", -1, 100, "translations repeat more words"),
    Measure("trigram_repetition", -1, 100, "translations repeat more trigrams"),
)
"""The columns of W17 Table 9."""

CORRELATES = (
    Measure("tgt_unigram_repetition", -1, 100, "p(reference) falls with repeated words"),
    Measure("tgt_trigram_repetition", -1, 100, "p(reference) falls with repeated trigrams"),
    Measure("tgt_idf", 1, 100, "p(reference) rises with the mean IDF"),
    Measure("tgt_tokens", -1, 100, "p(reference) falls with the length"),
)
"""The columns of W17 Table 10."""


def source_statistics(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 1: length, IDF, paraphrase score and entropies of each source."""
    rows: list[Row] = []
    parsed, count = _parsed_statistics(study)
    keys = ("length", "idf", "paraphrase_score", "unigram_entropy", "parse_entropy")
    for source, statistics in _statistics(study).items():
        figures = {**statistics["reference"], **statistics}
        if source in parsed:
            figures["parse_entropy"] = parsed[source]["reference"].get("parse_entropy")
        rows.append((source, [_estimate(figures.get(key)) for key in keys]))
    return reproduced(
        name,
        rows,
        conditions=[
            SOURCES,
            *translations(study),
            ("sample", "100,000 references", "all of a source, at most 150,000", "our sources are smaller"),
            _idf(study, "of Wikipedia's sentences"),
            (
                "paraphrase score",
                "paragram-phrase vectors averaged",
                f"encoder `{study.encoder}`",
                "not among our data",
            ),
            ("parses", "Stanford parser", f"`{study.parser}`, {count:,} references of each source", "at hand"),
        ],
        orders=[*shortest_source_orders(rows), *parliament_orders(rows)],
        brackets=INTERVAL,
        baselines=_NOTHING_TRAINED,
    )


def shortest_source_orders(rows: Sequence[Row]) -> Iterator[Order]:
    """PNMT §3.1: the source with the shortest sentences has the most diverse parses."""
    lengths = {name: figures[0][0] for name, figures in rows if isinstance(figures[0], tuple)}
    entropies = {name: figures[4] for name, figures in rows if isinstance(figures[4], tuple)}
    paper = {name: figures[4] for name, figures in published_figures("pnmt-1").items()}
    above = paper.pop("CzEng 1.6") - fmean(paper.values())
    shortest = min(lengths, key=lambda name: lengths[name])
    if shortest in entropies:
        for name in entropies:
            if name != shortest:
                claim = f"the source with the shortest sentences ({shortest}) has more parse entropy than {name}"
                yield Order(claim, above, Estimate(*entropies[shortest]) - Estimate(*entropies[name]))


def parliament_orders(rows: Sequence[Row]) -> Iterator[Order]:
    """PNMT §3.1: Europarl has the least IDF, vocabulary and parse entropy, and the highest paraphrase score."""
    ours, paper = dict(rows), published_figures("pnmt-1")
    if not {"europarl", "commentary"} <= set(ours):
        return
    columns = PAPERS["pnmt-1"].columns
    for column, sign, than in ((1, -1, "lower"), (2, 1, "higher"), (3, -1, "lower"), (4, -1, "lower")):
        europarl, commentary = ours["europarl"][column], ours["commentary"][column]
        if isinstance(europarl, tuple) and isinstance(commentary, tuple):
            low, high = (commentary, europarl) if sign > 0 else (europarl, commentary)
            above = sign * (paper["Europarl"][column] - paper["News Commentary"][column])
            claim = f"europarl has a {than} {columns[column]} than commentary"
            yield Order(claim, above, Estimate(*high) - Estimate(*low))


def reference_differences(study: Study, name: str) -> ReproducedTable:
    """W17 Table 9: entropy and repetition of the references minus those of the translations."""
    rows = _rows(study, "reference_minus_translation", DIFFERENCES)
    return reproduced(
        name,
        rows,
        conditions=[
            SOURCES,
            ("pairs", "150,000 of each source", "all of a source, at most 150,000", "our sources are smaller"),
            *translations(study),
        ],
        orders=sign_orders(DIFFERENCES, rows, published_figures(name)["all ten corpora"]),
        brackets=INTERVAL,
        baselines={**_NOTHING_TRAINED, "identity": "0 by definition: references minus themselves"},
    )


def reference_correlations(study: Study, name: str) -> ReproducedTable:
    """W17 Table 10: what the probability that a translation is a reference correlates with."""
    group = "spearman_of_reference_probability"
    by_seed = [_judged_statistics(study, seed) for seed in range(1, study.seeds + 1)]
    rows: list[Row] = []
    for source in study.sources:
        of_seeds = [
            [_estimate(statistics[source][group].get(measure.key), measure.factor) for statistics in by_seed]
            for measure in CORRELATES
        ]
        rows.append((source, [_mean(figures) for figures in of_seeds]))
    return reproduced(
        name,
        rows,
        conditions=[
            SOURCES,
            *translations(study),
            ("pairs", "100,000 of each source", "three quarters of a source", "our sources are smaller"),
            (
                "classifier",
                "the LSTM of Table 8, of 40,000 references",
                f"LSTM, of the other quarter, at most {study.classifier_pairs:,} references",
                TIME,
            ),
            _idf(study, "of Wikipedia"),
            ("seeds", "not stated", f"{study.seeds}, of the classifier", "to see how much they matter"),
        ],
        orders=sign_orders(CORRELATES, rows, published_figures(name)["all ten corpora"]),
        seeds=study.seeds,
        brackets=INTERVAL,
        baselines={"untrained": "0 but for chance", "random": "0 by definition", "identity": "does not apply"},
    )


def sign_orders(measures: Sequence[Measure], rows: Sequence[Row], paper: Sequence[float]) -> Iterator[Order]:
    """The orders of a table whose figures are differences or correlations: the sign of each."""
    for source, figures in rows:
        for measure, figure, published in zip(measures, figures, paper, strict=True):
            if isinstance(figure, tuple):
                value, *ends = (measure.sign * number for number in figure[:3])
                yield Order(f"{source}: {measure.claim}", abs(published), Estimate(value, min(ends), max(ends)))


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-9": reference_differences,
    "w17-10": reference_correlations,
    "pnmt-1": source_statistics,
}
"""Name of a table → the function that makes it."""

_NOTHING_TRAINED: dict[Baseline, str] = dict.fromkeys(BASELINES, "does not apply, nothing is trained")


def _idf(study: Study, paper: str) -> tuple[str, ...]:
    if study.word_frequencies is None:
        ours = "of our own references, natural logarithm"
        return ("IDF", paper, ours, "no list of word frequencies is given (`--word-frequencies`)")
    name = Path(study.word_frequencies).name
    ours = f"of sentences of {SENTENCE_WORDS} words, expected from the counts of {name}; nats; words with a letter"
    return ("IDF", f"{paper}; no base is named (1 nat is 1.44 bits)", ours, "the list counts words, not sentences")


def _statistics(study: Study, corpora: Mapping[str, Path] | None = None, name: str = "statistics") -> dict[str, Any]:
    """The statistics of each source."""
    of_source = study.scored() if corpora is None else corpora
    stages = [PairStatistics(name=f"{source}-statistics", pairs=path) for source, path in of_source.items()]
    results = study.results(stages, study.folder / name)
    return {source: results[f"{source}-statistics"] for source in study.sources}


def _judged_statistics(study: Study, seed: int) -> dict[str, Any]:
    """The same with the probabilities of classifiers that were trained with a seed."""
    return _statistics(study, study.judged(seed), f"statistics-{seed}")


def _rows(study: Study, group: str, measures: Sequence[Measure]) -> list[Row]:
    """The measures of a group of statistics, a row for each source."""
    return [
        (source, [_estimate(statistics[group].get(measure.key), measure.factor) for measure in measures])
        for source, statistics in _statistics(study).items()
    ]


def _parsed_statistics(study: Study) -> tuple[dict[str, Any], int]:
    """The statistics of a parsed sample of each source, empty without a parser, and the size of the samples."""
    if study.parser is None:
        return {}, 0
    corpora = study.scored()
    count = min(_PARSED_PAIRS, *(Corpus.open(path).rows for path in corpora.values()))
    stages: list[Stage] = []
    for source, path in corpora.items():
        sample = Filter(name=f"{source}-sample", input=path, sample=count)
        trees = Parse(name=f"{source}-trees", input=sample, **parser_fields(study.parser), columns=("src",))
        stages += [sample, trees, PairStatistics(name=source, pairs=trees)]
    return study.results(stages, study.folder / "parsed"), count


def _mean(figures: Sequence[Figure]) -> Figure:
    """The mean of the figures of several seeds, with an interval; None if one is missing."""
    estimates = [Estimate(*figure) for figure in figures if isinstance(figure, tuple)]
    if len(estimates) < len(figures):
        return None
    mean = mean_estimate(estimates)
    return (mean.value, mean.low, mean.high, *(estimate.value for estimate in estimates if len(estimates) > 1))


def _estimate(statistic: Mapping[str, float] | None, factor: float = 1) -> Figure:
    if statistic is None:
        return None
    return (statistic["value"] * factor, statistic["low"] * factor, statistic["high"] * factor)
