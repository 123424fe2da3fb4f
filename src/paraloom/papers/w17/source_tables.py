"""The papers' tables of the source and the number of pairs that encoders are trained on: W17 4 and 13, PNMT 4."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paraloom.evaluate.published import W17_MEAN, YEARS_MEAN
from paraloom.io import Corpus
from paraloom.papers.conditions import PNMT, TIME, conditions
from paraloom.papers.encoder_baselines import about_encoders, baseline_rows, judged, mean_of_rows
from paraloom.papers.measurements import Measurements
from paraloom.papers.pnmt.trainings import PNMT_EPOCHS, SINGLE, SPECS, pnmt_training, trained_specs
from paraloom.papers.published import published_figures
from paraloom.papers.study import PPDB, SIMPLE_WIKIPEDIA, Study
from paraloom.papers.tables import Figure, ReproducedTable, Row, reproduced
from paraloom.papers.trainings import Training, train, untrained
from paraloom.papers.verdicts import Order
from paraloom.papers.w17.trainings import KINDS, kinds, w17_conditions, w17_training

_SMALL, _LARGE = "back-translated, as in Table 4", "back-translated, scaled"
_SIZE_FACTORS = {"GRAN": 4, "AVG": 7}
_OF_EACH_SOURCE = replace(PNMT, pairs="100,000 of each source")


def sources(study: Study, name: str) -> ReproducedTable:
    """W17 Table 4: AVG and GRAN, trained on equally many random pairs of each source."""
    translated = study.surface_scored()
    corpora = {**study.human_pairs(), **translated}
    fewer = study.size_of_recurrent if study.size_of_recurrent < study.size else 0
    trainings = {}
    for source, folder in corpora.items():
        for kind in kinds(study):
            size = study.size_of(KINDS[kind])
            trainings[f"{kind}, {source}"] = w17_training(study, kind, [folder], size)
        if fewer:
            trainings[f"few, {source}"] = w17_training(study, "AVG", [folder], fewer)
    trained = train(study, name, trainings)
    measured = trained.measurements
    columns = [*(f"{kind}, " for kind in KINDS), *(["few, "] if fewer else [])]

    def figure(key: str) -> Figure:
        return measured.figure(key, W17_MEAN) if key in measured.systems else None

    rows: list[Row] = []
    for source in corpora:
        figures = [figure(f"{column}{source}") for column in columns]
        rows.append((f"{source}, ours", [*figures, *(figure(untrained(f"{kind}, {source}")) for kind in KINDS)]))
    blank: list[str | None] = [None] * len(columns[2:])
    rows += baseline_rows(measured, [W17_MEAN, W17_MEAN, *blank, None, None])
    heads = [*KINDS, *([f"AVG, {fewer:,} pairs"] if fewer else []), *(untrained(kind) for kind in KINDS)]
    counts = ", ".join(f"{source} {trained.pairs(f'AVG, {source}'):,}" for source in corpora)
    return reproduced(
        name,
        rows,
        columns=heads,
        conditions=[
            *w17_conditions(study),
            (
                "sources",
                "ten back-translated corpora, phrases of PPDB XL, 167,689 pairs of Simple Wikipedia",
                f"pairs of AVG: {counts}",
                "what our data give; our PPDB has single words",
            ),
        ],
        **about_encoders(study),
        orders=_source_orders(measured, list(translated), "few, " if fewer else "AVG, "),
    )


def _source_orders(measured: Measurements, translated: Sequence[str], avg: str) -> Iterator[Order]:
    """The orders of W17 Table 4; `avg` begins the names of the averages that had as many pairs as GRAN."""
    present = [source for source in (SIMPLE_WIKIPEDIA, PPDB) if f"AVG, {source}" in measured.systems]
    published = published_figures("w17-4")
    mean = mean_of_rows(published, (SIMPLE_WIKIPEDIA, PPDB))
    if f"GRAN, {translated[0]}" in measured.systems:
        for source in [*present, *translated]:
            gran, average = published.get(source, mean)
            above = gran - average
            named = {"GRAN": f"GRAN, {source}", "AVG": f"{avg}{source}"}
            better, worse = ("GRAN", "AVG") if above > 0 else ("AVG", "GRAN")
            claim = f"{better} above {worse} on {source}"
            yield judged(measured, claim, named[better], named[worse], abs(above), W17_MEAN)
    for column, kind in enumerate(KINDS):
        everything = [f"{kind}, {source}" for source in translated]
        if PPDB not in present or everything[0] not in measured.systems:
            continue
        others = {"back-translated pairs (mean)": (everything, mean[column])}
        if SIMPLE_WIKIPEDIA in present:
            others[SIMPLE_WIKIPEDIA] = ([f"{kind}, {SIMPLE_WIKIPEDIA}"], published[SIMPLE_WIKIPEDIA][column])
        for label, (keys, figure) in others.items():
            above = figure - published[PPDB][column]
            if above > 0:
                yield judged(measured, f"{kind}: {label} above PPDB", keys, f"{kind}, {PPDB}", above, W17_MEAN)
            elif above < 0:
                yield judged(measured, f"{kind}: PPDB above {label}", f"{kind}, {PPDB}", keys, -above, W17_MEAN)


def scaled(study: Study, name: str) -> ReproducedTable:
    """W17 Table 13: several times as many back-translated pairs, beside Simple Wikipedia and PPDB."""
    human, translated = study.human_pairs(), list(study.surface_scored().values())
    trainings: dict[str, Training] = {}
    for kind in kinds(study):
        size = study.size_of(KINDS[kind])
        more = size * _SIZE_FACTORS[kind]
        for source, folder in human.items():
            trainings[f"{kind}, {source}"] = w17_training(study, kind, [folder], more)
        trainings[f"{kind}, {_SMALL}"] = w17_training(study, kind, translated, size)
        trainings[f"{kind}, {_LARGE}"] = w17_training(study, kind, translated, more)
    trained = train(study, name, trainings)
    measured = trained.measurements
    rows: list[Row] = []
    for label in (*human, _SMALL, _LARGE):
        keys = [f"{kind}, {label}" for kind in KINDS]
        figures = [measured.figure(key, W17_MEAN) if key in measured.systems else None for key in keys]
        starts = [
            measured.figure(untrained(key), W17_MEAN) if untrained(key) in measured.systems else None for key in keys
        ]
        counts = [float(trained.pairs(key)) if key in measured.systems else None for key in keys]
        rows.append((f"{label}, ours", [*figures, *starts, *counts]))
    rows += baseline_rows(measured, [W17_MEAN, W17_MEAN, None, None, None, None])
    heads = [*KINDS, *(untrained(kind) for kind in KINDS), *(f"pairs, {kind}" for kind in KINDS)]
    return reproduced(
        name,
        rows,
        columns=heads,
        conditions=[
            *w17_conditions(study),
            (
                "scaled pairs",
                "one source (Common Crawl, Czech or German) after tuned filters: 100,000 for GRAN, 167,689 for AVG",
                "all sources, not filtered: four times as many for GRAN, seven times for AVG",
                TIME,
            ),
        ],
        **about_encoders(study),
        orders=_scaled_orders(measured),
    )


def _scaled_orders(measured: Measurements) -> Iterator[Order]:
    """The orders of W17 Table 13: more pairs are better, and back-translated ones than those of people."""
    paper = published_figures("w17-13")
    published = {PPDB: paper[PPDB], SIMPLE_WIKIPEDIA: paper["Simple Wikipedia, 100,000 and 168,000 pairs"]}
    published |= {_SMALL: paper["back-translated, 24,000 pairs"], _LARGE: paper["back-translated, scaled"]}
    for better, worse in ((_LARGE, _SMALL), (_LARGE, SIMPLE_WIKIPEDIA), (_LARGE, PPDB), (SIMPLE_WIKIPEDIA, PPDB)):
        for column, kind in enumerate(KINDS):
            pair = (f"{kind}, {better}", f"{kind}, {worse}")
            above = published[better][column] - published[worse][column]
            if above > 0 and set(pair) <= set(measured.systems):
                yield judged(measured, f"{kind}: {better} above {worse}", *pair, above, W17_MEAN)


def source_comparison(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 4: WORD, TRIGRAM and LSTM, trained on each source of back-translated pairs."""
    corpora = study.surface_scored()
    specs = trained_specs(study, SINGLE)
    trainings = {
        f"{spec}, {source}": pnmt_training(study, spec, [folder], study.size_of(SPECS[spec]))
        for source, folder in corpora.items()
        for spec in specs
    }
    trained = train(study, name, trainings)
    measured = trained.measurements
    rows: list[Row] = []
    for label, named in (("ours", str), ("untrained", untrained)):
        rows += [
            (
                f"{source}, {label}",
                [measured.figure(named(f"{spec}, {source}"), YEARS_MEAN) if spec in specs else None for spec in SINGLE],
            )
            for source in corpora
        ]
    rows += baseline_rows(measured, [YEARS_MEAN] * len(SINGLE))
    lengths = {source: _mean_length(folder) for source, folder in corpora.items()}
    shortest = min(lengths, key=lambda source: lengths[source])
    listed = ", ".join(f"{source} {length:.1f}" for source, length in lengths.items())
    counts = ", ".join(f"{source} {trained.pairs(f'WORD, {source}'):,}" for source in corpora)
    return reproduced(
        name,
        rows,
        conditions=[
            *conditions(study, _OF_EACH_SOURCE, {spec: (SPECS[spec], PNMT_EPOCHS) for spec in specs}),
            (
                "sources",
                "Common Crawl, CzEng 1.6, Europarl, News Commentary",
                f"pairs of WORD: {counts}",
                "what our data give",
            ),
            (
                "words of a translation",
                "shortest in CzEng, the best source",
                listed,
                f"an order compares the source with the shortest sentences, {shortest}, with another",
            ),
        ],
        **about_encoders(study),
        orders=_shortest_source_orders(measured, specs, corpora, shortest),
    )


def _shortest_source_orders(
    measured: Measurements, specs: Sequence[str], sources: Iterable[str], shortest: str
) -> Iterator[Order]:
    """The orders of PNMT Table 4: CzEng, whose sentences are the shortest, is the best source."""
    paper = published_figures("pnmt-4")
    others = mean_of_rows(paper, ("CzEng 1.6",))
    for spec in specs:
        above = paper["CzEng 1.6"][SINGLE.index(spec)] - others[SINGLE.index(spec)]
        for source in sources:
            if source != shortest:
                claim = f"{spec}: the source with the shortest sentences ({shortest}) above {source}"
                yield judged(measured, claim, f"{spec}, {shortest}", f"{spec}, {source}", above, YEARS_MEAN)


def _mean_length(folder: Path) -> float:
    """Mean number of words of the translations of scored pairs."""
    lengths = [batch.column("tgt_tokens").to_numpy() for batch in Corpus.open(folder).batches(["tgt_tokens"])]
    return float(np.concatenate(lengths).mean())


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-4": sources,
    "w17-13": scaled,
    "pnmt-4": source_comparison,
}
"""Name of a table → the function that makes it."""
