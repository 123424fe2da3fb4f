"""The papers' tables of encoders: sources and size of the pairs (W17 Tables 4 and 13, PNMT 4), mega-batches, models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from paraloom.core.seeds import generator
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.published import W17_MEAN, YEARS_MEAN
from paraloom.evaluate.sts_tasks import YEARS
from paraloom.experiments.conditions import PNMT, TIME, W17, conditions
from paraloom.experiments.measurements import (
    ALL_TASKS,
    Measurements,
    SystemNames,
    combined_estimate,
    mean_of_seeds,
)
from paraloom.experiments.published import PAPERS, published_figures
from paraloom.experiments.study import PPDB, SIMPLE_WIKIPEDIA, Study, is_recurrent
from paraloom.experiments.tables import (
    NOT_MEASURED,
    SEED_RANGE,
    Baseline,
    ExperimentCondition,
    Figure,
    ReproducedTable,
    Row,
)
from paraloom.experiments.trainings import (
    GIVEN_VECTORS,
    OVERLAP,
    TrainedEncoders,
    Training,
    train,
    untrained,
)
from paraloom.experiments.verdicts import Order
from paraloom.io import Corpus

KINDS = {"GRAN": "gran", "AVG": "word"}
"""W17's encoders and their specs."""

W17_EPOCHS = {"GRAN": 3, "AVG": 20}
"""Passes over the pairs in W17."""

PNMT_EPOCHS = 5
"""Passes over the pairs in PNMT."""

_SIZE_FACTORS = {"GRAN": 4, "AVG": 7}
_LSTM_900 = "LSTM, 900"
_SIMPLE = "WORD,TRIGRAM, Simple Wikipedia"
_SPECS = {
    "WORD": "word",
    "TRIGRAM": "trigram",
    "LSTM": "lstm",
    _LSTM_900: "lstm",
    "BLSTM, 900": "blstm",
    "WORD+TRIGRAM": "word+trigram",
    "WORD+TRIGRAM+LSTM": "word+trigram+lstm",
    "WORD,TRIGRAM": "word,trigram",
    "WORD,TRIGRAM,LSTM": "word,trigram,lstm",
}
_SINGLE = ("WORD", "TRIGRAM", "LSTM")
_MEGABATCHES = (1, 20, 40)
_SCRAMBLE = 0.3
_EXAMPLES = 3


def w17_training(study: Study, kind: str, corpora: Sequence[Path], size: int, **criteria: Any) -> Training:
    """A training of AVG or GRAN as in W17: its loss, negatives from the mini-batch, the best epoch on STS-B dev."""
    settings = {
        **w17_settings(study),
        "epochs": min(W17_EPOCHS[kind], study.epochs),
        "sts": Path(study.sts).absolute(),
        "keep": "best",
    }
    return Training(spec=KINDS[kind], corpora=corpora, size=size, criteria=criteria, settings=settings)


def w17_settings(study: Study) -> dict[str, Any]:
    """Fields of `TrainEncoder` as in W17."""
    return {"max_tokens": 100, "megabatch_size": 1, "two_sided": True}


def kinds(study: Study) -> list[str]:
    """W17's encoders that the study trains."""
    return list(KINDS) if study.size_of_recurrent else ["AVG"]


def w17_conditions(study: Study, pairs: str = W17.pairs) -> list[ExperimentCondition]:
    """The conditions of AVG and GRAN in W17's tables.

    Args:
        study: Data and settings.
        pairs: Pairs of a training in the paper.
    """
    paper = W17 if pairs == W17.pairs else replace(W17, pairs=pairs)
    return conditions(study, paper, {kind: (KINDS[kind], W17_EPOCHS[kind]) for kind in kinds(study)})


def about_encoders(study: Study, random: str = NOT_MEASURED) -> dict[str, Any]:
    """The fields of a table of encoders that say what its rows and brackets are.

    Args:
        study: Data and settings.
        random: Where the table has pairs drawn at random, or an encoder that guesses.
    """
    given = GIVEN_VECTORS if study.vectors is not None else OVERLAP
    baselines: dict[Baseline, str] = {"untrained": "rows or columns of that name", "random": random}
    brackets = SEED_RANGE if study.seeds > 1 else ""
    return {"seeds": study.seeds, "brackets": brackets, "baselines": {**baselines, "identity": f"row *{given}*"}}


def baseline_rows(measurements: Measurements, groups: Sequence[str | None]) -> list[Row]:
    """Rows of the systems that need no training.

    Args:
        measurements: Figures.
        groups: The group of tasks of each column; None for a column without a figure.
    """
    names = [name for name in (OVERLAP, GIVEN_VECTORS) if name in measurements.systems]
    return [(name, [None if group is None else measurements.figure(name, group) for group in groups]) for name in names]


def judged(
    measurements: Measurements, claim: str, better: SystemNames, worse: SystemNames, published: float, group: str
) -> Order:
    """One order of two systems."""
    return Order(claim, published, measurements.difference(better, worse, group))


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
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        columns=heads,
        conditions=[
            *w17_conditions(study),
            ExperimentCondition(
                "sources",
                "ten back-translated corpora, phrases of PPDB XL, 167,689 pairs of Simple Wikipedia",
                f"pairs of AVG: {counts}",
                "what our data give; our PPDB has single words",
            ),
        ],
        **about_encoders(study),
        orders=list(_source_orders(measured, list(translated), "few, " if fewer else "AVG, ")),
    )


def _source_orders(measured: Measurements, translated: Sequence[str], avg: str) -> Iterator[Order]:
    """The orders of W17 Table 4; `avg` begins the names of the averages that had as many pairs as GRAN."""
    present = [source for source in (SIMPLE_WIKIPEDIA, PPDB) if f"AVG, {source}" in measured.systems]
    published = published_figures("w17-4")
    mean = _mean_of_rows(published, (SIMPLE_WIKIPEDIA, PPDB))
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


def _mean_of_rows(rows: Mapping[str, Sequence[float]], without: Sequence[str]) -> tuple[float, ...]:
    """The mean of each column over all rows but some."""
    kept = [figures for name, figures in rows.items() if name not in without]
    return tuple(fmean(column) for column in zip(*kept, strict=True))


def scaled(study: Study, name: str) -> ReproducedTable:
    """W17 Table 13: several times as many back-translated pairs, beside Simple Wikipedia and PPDB."""
    human, translated = study.human_pairs(), list(study.surface_scored().values())
    small, large = "back-translated, as in Table 4", "back-translated, scaled"
    trainings: dict[str, Training] = {}
    for kind in kinds(study):
        size = study.size_of(KINDS[kind])
        more = size * _SIZE_FACTORS[kind]
        for source, folder in human.items():
            trainings[f"{kind}, {source}"] = w17_training(study, kind, [folder], more)
        trainings[f"{kind}, {small}"] = w17_training(study, kind, translated, size)
        trainings[f"{kind}, {large}"] = w17_training(study, kind, translated, more)
    trained = train(study, name, trainings)
    measured = trained.measurements
    rows: list[Row] = []
    for label in (*human, small, large):
        keys = [f"{kind}, {label}" for kind in KINDS]
        figures = [measured.figure(key, W17_MEAN) if key in measured.systems else None for key in keys]
        starts = [
            measured.figure(untrained(key), W17_MEAN) if untrained(key) in measured.systems else None for key in keys
        ]
        counts = [float(trained.pairs(key)) if key in measured.systems else None for key in keys]
        rows.append((f"{label}, ours", [*figures, *starts, *counts]))
    rows += baseline_rows(measured, [W17_MEAN, W17_MEAN, None, None, None, None])
    paper = published_figures(name)
    published = {PPDB: paper[PPDB], SIMPLE_WIKIPEDIA: paper["Simple Wikipedia, 100,000 and 168,000 pairs"]}
    published |= {small: paper["back-translated, 24,000 pairs"], large: paper["back-translated, scaled"]}
    orders = []
    for better, worse in ((large, small), (large, SIMPLE_WIKIPEDIA), (large, PPDB), (SIMPLE_WIKIPEDIA, PPDB)):
        for column, kind in enumerate(KINDS):
            pair = (f"{kind}, {better}", f"{kind}, {worse}")
            above = published[better][column] - published[worse][column]
            if above > 0 and set(pair) <= set(measured.systems):
                orders.append(judged(measured, f"{kind}: {better} above {worse}", *pair, above, W17_MEAN))
    heads = [*KINDS, *(untrained(kind) for kind in KINDS), *(f"pairs, {kind}" for kind in KINDS)]
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        columns=heads,
        conditions=[
            *w17_conditions(study),
            ExperimentCondition(
                "scaled pairs",
                "one source (Common Crawl, Czech or German) after tuned filters: 100,000 for GRAN, 167,689 for AVG",
                "all sources, not filtered: four times as many for GRAN, seven times for AVG",
                TIME,
            ),
        ],
        **about_encoders(study),
        orders=orders,
    )


def source_comparison(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 4: WORD, TRIGRAM and LSTM, trained on each source of back-translated pairs."""
    corpora = study.surface_scored()
    specs = _trained_specs(study, _SINGLE)
    trainings = {
        f"{spec}, {source}": _pnmt_training(study, spec, [folder], study.size_of(_SPECS[spec]))
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
                [
                    measured.figure(named(f"{spec}, {source}"), YEARS_MEAN) if spec in specs else None
                    for spec in _SINGLE
                ],
            )
            for source in corpora
        ]
    rows += baseline_rows(measured, [YEARS_MEAN] * len(_SINGLE))
    lengths = {source: _mean_length(folder) for source, folder in corpora.items()}
    shortest = min(lengths, key=lambda source: lengths[source])
    paper = published_figures(name)
    others = _mean_of_rows(paper, ("CzEng 1.6",))
    orders = [
        judged(
            measured,
            f"{spec}: the source with the shortest sentences ({shortest}) above {source}",
            f"{spec}, {shortest}",
            f"{spec}, {source}",
            paper["CzEng 1.6"][_SINGLE.index(spec)] - others[_SINGLE.index(spec)],
            YEARS_MEAN,
        )
        for spec in specs
        for source in corpora
        if source != shortest
    ]
    listed = ", ".join(f"{source} {length:.1f}" for source, length in lengths.items())
    counts = ", ".join(f"{source} {trained.pairs(f'WORD, {source}'):,}" for source in corpora)
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        conditions=[
            *conditions(study, _OF_EACH_SOURCE, {spec: (_SPECS[spec], PNMT_EPOCHS) for spec in specs}),
            ExperimentCondition(
                "sources",
                "Common Crawl, CzEng 1.6, Europarl, News Commentary",
                f"pairs of WORD: {counts}",
                "what our data give",
            ),
            ExperimentCondition(
                "words of a translation",
                "shortest in CzEng, the best source",
                listed,
                f"an order compares the source with the shortest sentences, {shortest}, with another",
            ),
        ],
        **about_encoders(study),
        orders=orders,
    )


def megabatches(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 6: how many mini-batches negatives are searched in."""
    specs = _trained_specs(study, _SINGLE)
    corpora = list(study.surface_scored().values())
    trainings = {
        _megabatch_key(spec, size): _pnmt_training(
            study, spec, corpora, study.size_of(_SPECS[spec]), megabatch_size=size
        )
        for size in _MEGABATCHES
        for spec in specs
    }
    measured = train(study, name, trainings).measurements
    rows: list[Row] = [
        (
            f"M = {size}, ours",
            [measured.figure(_megabatch_key(spec, size), YEARS_MEAN) if spec in specs else None for spec in _SINGLE],
        )
        for size in _MEGABATCHES
    ]
    starts = {spec: [untrained(_megabatch_key(spec, size)) for size in _MEGABATCHES] for spec in specs}
    rows.append(
        ("untrained", [measured.figure(starts[spec], YEARS_MEAN) if spec in specs else None for spec in _SINGLE])
    )
    rows += baseline_rows(measured, [YEARS_MEAN] * len(_SINGLE))
    paper = published_figures(name)
    orders = [
        judged(
            measured,
            f"{spec}: M = {more} above M = {fewer}",
            _megabatch_key(spec, more),
            _megabatch_key(spec, fewer),
            paper[f"M = {more}"][_SINGLE.index(spec)] - paper[f"M = {fewer}"][_SINGLE.index(spec)],
            YEARS_MEAN,
        )
        for more, fewer in ((20, 1), (40, 20), (40, 1))
        for spec in specs
    ]
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        conditions=[*conditions(study, PNMT, {spec: (_SPECS[spec], PNMT_EPOCHS) for spec in specs}), _POOLED],
        **about_encoders(study),
        orders=orders,
    )


def negatives(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 7: which negatives mini-batches and mega-batches give, by an encoder of Table 6."""
    corpora = list(study.surface_scored().values())
    spec = "WORD"
    size = _MEGABATCHES[-1]
    key = _megabatch_key(spec, size)
    trained = train(study, name, {key: _pnmt_training(study, spec, corpora, study.size, megabatch_size=size)})
    encoder = open_encoder(trained.folders[key][0])
    texts = list(
        dict.fromkeys(
            text
            for folder in trained.selections[key][0]
            for batch in Corpus.open(folder).batches(["src"])
            for text in batch.column("src").to_pylist()
            if 5 <= len(text.split()) <= 15
        )
    )
    order = generator(study.seed).permutation(len(texts))
    texts = [texts[index] for index in order[: 100 * size].tolist()]
    vectors = encoder.encode(texts)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    cosines = vectors[:100] @ vectors.T
    np.fill_diagonal(cosines, -1)
    rows: list[Row] = []
    examples = []
    nearest = {size: cosines[:, : 100 * size].argmax(axis=1) for size in _MEGABATCHES}
    for size, negative in nearest.items():
        rows.append((f"M = {size}, ours", [float(cosines[np.arange(len(cosines)), negative].mean())]))
    for original in range(min(_EXAMPLES, len(texts))):
        chosen = "; ".join(f"M = {size}: *{texts[negative[original]]}*" for size, negative in nearest.items())
        examples.append(f"*{texts[original]}* {chosen}.")
    paper = " ".join(
        [
            "In the paper, for *sir, i'm just trying to protect.* M = 1: *i mean, colonel*;",
            "M = 20: *i only ask that the baby be safe.*; M = 40: *just trying to survive. on instinct.*",
        ]
    )
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        notes=[paper, "Ours, the first sentences of a mega-batch:", *examples],
        conditions=[
            *conditions(study, PNMT, {spec: (_SPECS[spec], PNMT_EPOCHS)}, test=_NEGATIVES),
            ExperimentCondition("encoder", "BLSTM", spec, TIME),
        ],
        baselines={"untrained": NOT_MEASURED, "random": NOT_MEASURED, "identity": "1 by definition"},
    )


def architectures(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 8: every architecture, trained on the same pairs of all sources."""
    trained, specs = _architectures(study)
    measured = trained.measurements
    years = [year for year in (*YEARS, "2016") if measured.has(year)]
    rows: list[Row] = []
    for label, named in (("ours", str), ("untrained", untrained)):
        rows += [(f"{spec}, {label}", [measured.figure(named(spec), year) for year in years]) for spec in specs]
    rows += baseline_rows(measured, years)
    paper = PAPERS[name]
    means = {row: fmean(figures[: len(YEARS)]) for row, figures in published_figures(name).items()}
    best = "WORD,TRIGRAM"
    pairs = [(best, spec) for spec in specs if spec != best]
    pairs += [(mix, part) for mix in ("WORD+TRIGRAM",) for part in ("WORD", "TRIGRAM")]
    pairs += [("LSTM", _LSTM_900)] if _LSTM_900 in specs else []
    orders = [
        judged(measured, f"{better} above {worse}", better, worse, means[better] - means[worse], YEARS_MEAN)
        for better, worse in pairs
    ]
    table = paper._replace(
        columns=tuple(years), rows=tuple((row, tuple(figures[: len(years)])) for row, figures in paper.rows)
    )
    return ReproducedTable(
        name,
        table,
        rows,
        notes=["The orders are those of the means over 2012 to 2015."],
        conditions=_architecture_conditions(study, specs, ("2012 to 2016", "2012 to 2015", _WITHOUT_2016)),
        **about_encoders(study),
        orders=orders,
    )


def benchmark(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 9: the encoders of Table 8 on the STS Benchmark."""
    trained, specs = _architectures(study)
    measured = trained.measurements
    group, column = ("STS-B test", "test") if measured.has("STS-B test") else ("STS-B/dev", "dev")
    rows: list[Row] = [(f"{spec}, ours", [measured.figure(spec, group)]) for spec in specs]
    rows += [(untrained(spec), [measured.figure(untrained(spec), group)]) for spec in specs]
    rows += baseline_rows(measured, [group])
    paper = {row: figure for row, (figure,) in published_figures(name).items()}
    best = "WORD,TRIGRAM"
    orders = [
        judged(measured, f"{best} above {spec}", best, spec, paper[best] - paper[spec], group)
        for spec in specs
        if paper.get(spec, paper[best]) < paper[best]
    ]
    test = ("STS-B test", f"STS-B {column}, which no training chose its epoch by", "the test is not among our data")
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        conditions=_architecture_conditions(study, specs, test),
        **about_encoders(study),
        orders=orders,
    )


def distances(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 10: how far the encoders of Table 8 differ from each other, task by task."""
    trained, specs = _architectures(study)
    measured = trained.measurements
    pairs = [(a, b) for a, b in (("WORD", "TRIGRAM"), ("WORD", "LSTM"), ("TRIGRAM", "LSTM")) if {a, b} <= set(specs)]
    distance = {f"{a} / {b}": measured.distances(a, b, ALL_TASKS) for a, b in pairs}
    starts = {f"{a} / {b}": measured.distances(untrained(a), untrained(b), ALL_TASKS) for a, b in pairs}
    rows: list[Row] = []
    for label, of_pairs in (("ours", distance), ("untrained", starts)):
        rows += [(f"{pair}, {label}", [mean_of_seeds(values)]) for pair, (values, _) in of_pairs.items()]
    rows += [
        (f"{spec} / {OVERLAP}", [mean_of_seeds(measured.distances(spec, OVERLAP, ALL_TASKS)[0])])
        for spec in specs
        if spec in _SINGLE
    ]
    paper = {row: figure for row, (figure,) in published_figures(name).items()}
    orders = []
    for more, fewer in (
        ("TRIGRAM / LSTM", "WORD / TRIGRAM"),
        ("WORD / TRIGRAM", "WORD / LSTM"),
        ("TRIGRAM / LSTM", "WORD / LSTM"),
    ):
        if {more, fewer} <= set(distance):
            (ours, first), (theirs, second) = distance[more], distance[fewer]
            estimate = combined_estimate(ours, theirs, first - second)
            orders.append(Order(f"{more} farther apart than {fewer}", paper[more] - paper[fewer], estimate))
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        conditions=_architecture_conditions(
            study, specs, ("the 25 sets of STS 2012 to 2016", "all tasks", _WITHOUT_2016)
        ),
        **about_encoders(study),
        orders=orders,
    )


def scrambling(study: Study, name: str) -> ReproducedTable:
    """PNMT §5.3: an LSTM trained with a share of the sentences scrambled, compared with one trained without."""
    corpora = list(study.surface_scored().values())
    trainings = {
        f"LSTM, scrambling {share:g}": _pnmt_training(study, "LSTM", corpora, study.size_of_recurrent, scramble=share)
        for share in (0.0, _SCRAMBLE)
    }
    measured = train(study, name, trainings).measurements
    rows: list[Row] = [(f"{key}, ours", [measured.figure(key, year) for year in YEARS]) for key in trainings]
    starts = [untrained(key) for key in trainings]
    rows.append(("LSTM, untrained", [measured.figure(starts, year) for year in YEARS]))
    rows += baseline_rows(measured, YEARS)
    without, scrambled = trainings
    claim = f"scrambling {_SCRAMBLE:g} above none"
    return ReproducedTable(
        name,
        PAPERS[name],
        rows,
        conditions=[
            *conditions(
                study, PNMT, {"LSTM": ("lstm", PNMT_EPOCHS)}, test=("STS 2017", "STS 2012 to 2015", _WITHOUT_2016)
            ),
            _POOLED,
        ],
        **about_encoders(study),
        orders=[Order(claim, None, measured.difference(scrambled, without, YEARS_MEAN))],
    )


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "w17-4": sources,
    "w17-13": scaled,
    "pnmt-4": source_comparison,
    "pnmt-6": megabatches,
    "pnmt-7": negatives,
    "pnmt-8": architectures,
    "pnmt-9": benchmark,
    "pnmt-10": distances,
    "pnmt-scrambling": scrambling,
}
"""Name of a table → the function that makes it."""

RECURRENT_TABLES = ("pnmt-scrambling",)
"""Tables that a study without recurrent encoders cannot make."""

_POOLED = ExperimentCondition(
    "source", "CzEng 1.6", "all sources, equally many pairs of each as far as it has them", "one source has too few"
)
_OF_EACH_SOURCE = replace(PNMT, pairs="100,000 of each source")
_WITHOUT_2016 = "STS 2016 and 2017 are not among our data"
_YEARS_FOR_2017 = ("STS 2017", "STS 2012 to 2015", _WITHOUT_2016)
_NEGATIVES = (
    "three examples",
    "cosine of 100 sentences with the nearest of the others; three examples",
    "figures say more than examples",
)


def _architectures(study: Study) -> tuple[TrainedEncoders, list[str]]:
    """The encoders of PNMT Table 8, and their names."""
    corpora = list(study.surface_scored().values())
    specs = _trained_specs(study, list(_SPECS))
    size = study.size_of_recurrent or study.size
    trainings = {
        spec: _pnmt_training(study, spec, corpora, size, **({"dimension": 900} if "900" in spec else {}))
        for spec in specs
    }
    simple = study.human_pairs().get(SIMPLE_WIKIPEDIA)
    if simple is not None:
        trainings[_SIMPLE] = _pnmt_training(study, "WORD,TRIGRAM", [simple], size)
    return train(study, "pnmt-architectures", trainings), list(trainings)


def _architecture_conditions(
    study: Study, specs: Sequence[str], test: tuple[str, str, str]
) -> list[ExperimentCondition]:
    trained = {spec: (_SPECS.get(spec, "word,trigram"), PNMT_EPOCHS) for spec in specs}
    listed = [*conditions(study, PNMT, trained, size=study.size_of_recurrent or study.size, test=test), _POOLED]
    if _LSTM_900 in specs:
        wide = "given vectors continued with zeros" if study.vectors is not None else "random vectors of 900 dimensions"
        listed.append(
            ExperimentCondition("start of the wide networks", "not stated", wide, "given vectors are narrower")
        )
    return listed


def _trained_specs(study: Study, names: Sequence[str]) -> list[str]:
    """The encoders that the study trains."""
    return [name for name in names if study.size_of_recurrent or not is_recurrent(_SPECS[name])]


def _pnmt_training(study: Study, spec: str, corpora: Sequence[Path], size: int, **settings: Any) -> Training:
    """A training as in PNMT: the last of five epochs, with negatives from 20 mini-batches, LSTMs on scrambled words."""
    scramble = {"scramble": _SCRAMBLE} if is_recurrent(_SPECS[spec]) else {}
    epochs = min(PNMT_EPOCHS, study.epochs)
    return Training(spec=_SPECS[spec], corpora=corpora, size=size, settings={"epochs": epochs, **scramble, **settings})


def _megabatch_key(spec: str, size: int) -> str:
    return f"{spec}, M = {size}"


def _mean_length(folder: Path) -> float:
    """Mean number of words of the translations of scored pairs."""
    lengths = [batch.column("tgt_tokens").to_numpy() for batch in Corpus.open(folder).batches(["tgt_tokens"])]
    return float(np.concatenate(lengths).mean())
