"""The papers' tables of filters: W17 Tables 5, 6, 7 and 12, PNMT Table 5."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from paraloom.core.errors import DataError
from paraloom.evaluate.published import W17_MEAN, YEARS_MEAN
from paraloom.io import Corpus
from paraloom.papers.conditions import PNMT, TIME, conditions
from paraloom.papers.encoder_baselines import about_encoders, baseline_rows, judged
from paraloom.papers.measurements import Measurements, SystemNames
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.study import SIMPLE_WIKIPEDIA, Study
from paraloom.papers.tables import ReproducedTable, Row, reproduced
from paraloom.papers.trainings import Training, slug, train, untrained
from paraloom.papers.verdicts import Order
from paraloom.papers.w17.filter_grids import GRIDS, Candidate
from paraloom.papers.w17.trainings import KINDS, W17_EPOCHS, kinds, w17_conditions, w17_settings, w17_training
from paraloom.papers.w17.tuning import RANDOM, compare_candidates
from paraloom.stages.pairs import Filter

MIN_PAIRS = 300
"""A source with fewer pairs in one of the ranges of length does not take part in W17 Table 5."""

_TUNED = "tuned on our pairs"
_TENTHS = ("translation_cost", "trigram_overlap", "paraphrase_score")


def length_ranges(study: Study, name: str) -> ReproducedTable:
    """W17 Table 5: encoders trained on equally many pairs of four ranges of length, the mean over the sources."""
    ranges = GRIDS["w17-length-parts"]
    corpora = {**study.surface_scored(), **_simple_wikipedia(study)}
    counts = {source: _smallest_range(folder, ranges) for source, folder in corpora.items()}
    used = {source: count for source, count in counts.items() if count >= MIN_PAIRS}
    translated = [source for source in used if source != SIMPLE_WIKIPEDIA]
    if not translated:
        raise DataError(
            f"no source has {MIN_PAIRS} pairs in each range of length; the smallest ranges have "
            + ", ".join(f"{count} ({source})" for source, count in counts.items()),
            remedy="Give a source with long translations, such as news.",
        )
    trainings = {
        f"{kind}, {source}, {candidate.label}": w17_training(
            study, kind, [corpora[source]], min(count, study.size_of(KINDS[kind])), **candidate.settings
        )
        for source, count in used.items()
        for candidate in [Candidate(RANDOM), *ranges]
        for kind in kinds(study)
    }
    measured = train(study, name, trainings).measurements

    def keys(kind: str, of_sources: Sequence[str], label: str) -> list[str]:
        return [f"{kind}, {source}, {label}" for source in of_sources]

    rows: list[Row] = []
    orders: list[Order] = []
    labels = [candidate.label for candidate in ranges]
    for suffix, of_sources in (("", translated), (f", {SIMPLE_WIKIPEDIA}", [SIMPLE_WIKIPEDIA])):
        if not set(of_sources) <= set(used):
            continue
        for kind in kinds(study):
            cells = {label: keys(kind, of_sources, label) for label in (*labels, RANDOM)}
            starts = [untrained(key) for key in cells[RANDOM]]
            figures = [measured.figure(cells[label], W17_MEAN) for label in (*labels, RANDOM)]
            start = measured.figure(starts, W17_MEAN)
            rows += [(f"{kind}{suffix}, ours", figures), (f"{kind}{suffix}, untrained", [start] * len(figures))]
            ranged = [cells[label] for label in labels]
            orders += _row_orders(measured, name, f"{kind}{suffix}", ranged, ((0, 1), (1, 2), (2, 3), (0, 3)))
    rows += baseline_rows(measured, [W17_MEAN] * (len(labels) + 1))
    listed = ", ".join(f"{source} {count:,}" for source, count in used.items())
    return reproduced(
        name,
        rows,
        columns=(*PAPERS[name].columns, RANDOM),
        conditions=[
            *w17_conditions(study),
            (
                "pairs of a range",
                "24,000",
                f"equally many in each range of a source, at most those of its smallest: {listed}",
                "what our data give",
            ),
            ("sources", "the mean over ten", f"the mean over these, without {SIMPLE_WIKIPEDIA}", "what our data give"),
        ],
        **about_encoders(study, f"column *{RANDOM}*"),
        orders=orders,
    )


def tuned_filters(*grids: str) -> Callable[[Study, str], ReproducedTable]:
    """Make a table of tuned filters, a grid per column, compared with random pairs (W17 Tables 6, 7 and 12)."""

    def reproduce(study: Study, name: str) -> ReproducedTable:
        # Perplexity and the classifier need models; the other filters do not.
        scored = study.judged() if name == "w17-7" else study.surface_scored()
        source, folder = next(iter(scored.items()))
        corpora = {source: folder, **(_simple_wikipedia(study) if name != "w17-7" else {})}
        chosen = {key: [Candidate(RANDOM), *_winners(study, path, key, grids)] for key, path in corpora.items()}
        trainings = {
            f"{kind}, {key}, {candidate.label}": w17_training(
                study, kind, [corpora[key]], study.size_of(KINDS[kind]), **candidate.settings
            )
            for key, candidates in chosen.items()
            for candidate in candidates
            for kind in kinds(study)
        }
        trained = train(study, name, trainings)
        measured = trained.measurements
        rows: list[Row] = []
        orders: list[Order] = []
        for key, candidates in chosen.items():
            suffix = "" if key == source else f", {key}"
            for kind in kinds(study):
                names = [f"{kind}, {key}, {candidate.label}" for candidate in candidates]
                figures = [measured.figure(system, W17_MEAN) for system in names]
                starts = [measured.figure(untrained(system), W17_MEAN) for system in names]
                rows += [(f"{kind}{suffix}, ours", figures), (f"{kind}{suffix}, untrained", starts)]
                with_random = [(column, 0) for column in range(1, len(names))]
                orders += _row_orders(measured, name, f"{kind}{suffix}", names, with_random)
        rows += baseline_rows(measured, [W17_MEAN] * len(PAPERS[name].columns))
        selected = [
            f"{key}: "
            + ", ".join(
                f"{column if candidate.label == RANDOM else f'{column} {candidate.label}'} "
                f"({trained.pairs(f'AVG, {key}, {candidate.label}'):,} pairs)"
                for column, candidate in zip(PAPERS[name].columns, candidates, strict=True)
            )
            for key, candidates in chosen.items()
        ]
        return reproduced(
            name,
            rows,
            conditions=[
                *w17_conditions(study),
                (
                    "tuning of filters",
                    "for each encoder, with 24,000 pairs, on STS 2016",
                    f"for AVG, with one draw of {study.tuning_size or study.size:,} pairs and at most "
                    f"{_tuning_epochs(study)} epochs, on the development pairs",
                    TIME,
                ),
                ("source", "the mean over ten", source, TIME),
                *(("selected filters", "those of its own tuning", line, _TUNED) for line in selected),
            ],
            **about_encoders(study, f"column *{RANDOM}*"),
            orders=orders,
        )

    return reproduce


def deciles(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 5: encoders trained on each tenth of the pairs by translation cost, overlap and paraphrase score."""
    source, scored = next(iter(study.scored().items()))
    folder = without_copies(study, source, scored)
    with_copies, ranked = Corpus.open(scored).rows, Corpus.open(folder).rows
    specs = {"WORD": "word", "TRIGRAM": "trigram"}
    candidates = [Candidate(RANDOM), *GRIDS["pnmt-tenths"]]
    size = min(study.size, ranked // 10)
    measured_once = {"epochs": 1, "sts": Path(study.sts).absolute(), "keep": "last"}
    trainings = {
        f"{spec}, {candidate.label}": Training(
            spec=specs[spec], corpora=[folder], size=size, criteria=candidate.settings, settings=measured_once
        )
        for candidate in candidates
        for spec in specs
    }
    trained = train(study, name, trainings)
    measured = trained.measurements

    def keys(label: str) -> list[str]:
        return [f"{spec}, {label}" for spec in specs]

    labels = {column: [f"{column}, tenth {decile}" for decile in range(1, 11)] for column in _TENTHS}
    best = {
        column: max(of_column, key=lambda label: fmean(map(trained.development, keys(label))))
        for column, of_column in labels.items()
    }
    rows: list[Row] = [("best tenth, ours", [measured.figure(keys(best[column]), YEARS_MEAN) for column in _TENTHS])]
    rows += [
        (f"tenth {decile}", [measured.figure(keys(labels[column][decile - 1]), YEARS_MEAN) for column in _TENTHS])
        for decile in range(1, 11)
    ]
    rows.append(("random pairs", [measured.figure(keys(RANDOM), YEARS_MEAN)] * len(_TENTHS)))
    starts = [untrained(key) for key in keys(RANDOM)]
    rows.append(("untrained", [measured.figure(starts, YEARS_MEAN)] * len(_TENTHS)))
    rows += baseline_rows(measured, [YEARS_MEAN] * len(_TENTHS))
    paper = dict(zip(_TENTHS, published_figures(name)["best tenth"], strict=True))
    orders = [
        judged(
            measured,
            f"best tenth by {better.replace('_', ' ')} above best by {worse.replace('_', ' ')}",
            keys(best[better]),
            keys(best[worse]),
            paper[better] - paper[worse],
            YEARS_MEAN,
        )
        for better, worse in (
            ("paraphrase_score", "trigram_overlap"),
            ("paraphrase_score", "translation_cost"),
            ("translation_cost", "trigram_overlap"),
        )
    ]
    chosen = ", ".join(best.values())
    systems = {spec: (specs[spec], 1) for spec in specs}
    return reproduced(
        name,
        rows,
        conditions=[
            *conditions(study, replace(PNMT, pairs="1 million of each tenth"), systems, size=size),
            (
                "pairs that are ranked",
                "51 million",
                f"{ranked:,} of {source}, without {with_copies - ranked:,} whose sides are equal",
                "a tenth of nothing but copies trains nothing",
            ),
            ("encoders of the mean", "WORD, TRIGRAM, LSTM", "WORD, TRIGRAM", TIME),
            ("best tenths", "not stated", f"{chosen}: by development pairs, {study.development.describe()}", _TUNED),
        ],
        **about_encoders(study, f"row *{RANDOM} pairs*"),
        orders=orders,
    )


def without_copies(study: Study, source: str, folder: Path) -> Path:
    """The scored pairs of a source whose sides differ, before tenths are cut: the highest may be copies alone."""
    result = study.run([Filter(name=source, input=folder, where="src <> tgt")], study.folder / "different")
    return result.stage(source).folder


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-5": length_ranges,
    "w17-6": tuned_filters("w17-length"),
    "w17-7": tuned_filters("w17-cost", "w17-lm", "w17-classifier"),
    "w17-12": tuned_filters("w17-overlap-1", "w17-overlap-2", "w17-overlap-3", "w17-bleu"),
    "pnmt-5": deciles,
}
"""Name of a table → the function that makes it."""


def _row_orders(
    measured: Measurements, name: str, row: str, systems: Sequence[SystemNames], compared: Iterable[tuple[int, int]]
) -> Iterator[Order]:
    """The orders of pairs of columns of a row of a table, with the better one in the paper first."""
    heads, paper = PAPERS[name].columns, published_figures(name)[row]
    for first, second in compared:
        above = paper[first] - paper[second]
        if above:
            better, worse = (first, second) if above > 0 else (second, first)
            claim = f"{row}: {heads[better]} above {heads[worse]}"
            yield judged(measured, claim, systems[better], systems[worse], abs(above), W17_MEAN)


def _winners(study: Study, folder: Path, source: str, grids: Sequence[str]) -> list[Candidate]:
    """The candidate of each grid that is best on the development task, random pairs excluded."""
    winners = []
    for grid in grids:
        encoder: dict[str, Any] = {"spec": KINDS["AVG"], **w17_settings(study)}
        tuning = study.tuning(folder, grid, encoder, epochs=_tuning_epochs(study))
        run = study.folder / "tuned" / f"{slug(source)}-{grid}"
        rows = compare_candidates(tuning, run, engine="inline", seed=study.seed)
        label = next(row["selection"] for row in rows if row["selection"] != RANDOM)
        winners.append(next(candidate for candidate in tuning.candidates() if candidate.label == label))
    return winners


def _tuning_epochs(study: Study) -> int:
    return min(W17_EPOCHS["AVG"], study.epochs)


def _simple_wikipedia(study: Study) -> dict[str, Path]:
    return {source: folder for source, folder in study.human_pairs().items() if source == SIMPLE_WIKIPEDIA}


def _smallest_range(folder: Path, ranges: Sequence[Candidate]) -> int:
    """The number of scored pairs in the smallest range of length."""
    batches = Corpus.open(folder).batches(["tgt_tokens"])
    lengths = np.concatenate([batch.column("tgt_tokens").to_numpy() for batch in batches])
    bounds = [[int(number) for number in _numbers(candidate.label)] for candidate in ranges]
    return min(int(((lengths >= low) & (lengths <= high)).sum()) for low, high in bounds)


def _numbers(label: str) -> list[str]:
    return [word for word in label.split() if word.isdigit()]
