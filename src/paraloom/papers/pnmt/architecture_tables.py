"""PNMT's tables of architectures, trained on the same pairs: 8, 9 and 10, and scrambling (§5.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from paraloom.evaluate.published import YEARS_MEAN
from paraloom.evaluate.sts_tasks import YEARS
from paraloom.papers.conditions import PNMT, conditions
from paraloom.papers.encoder_baselines import about_encoders, baseline_rows, judged
from paraloom.papers.measurements import ALL_TASKS, Measurements, combined_estimate, mean_of_seeds
from paraloom.papers.pnmt.trainings import (
    LSTM_900,
    PNMT_EPOCHS,
    POOLED,
    SCRAMBLE,
    SINGLE,
    SPECS,
    WITHOUT_2016,
    pnmt_training,
    trained_specs,
)
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.study import SIMPLE_WIKIPEDIA, Study
from paraloom.papers.tables import ReproducedTable, Row, reproduced
from paraloom.papers.trainings import OVERLAP, Training, train, untrained
from paraloom.papers.verdicts import Order

_SIMPLE = "WORD,TRIGRAM, Simple Wikipedia"


def architectures(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 8: every architecture, trained on the same pairs of all sources."""
    measured, specs = _architectures(study)
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
    pairs += [("LSTM", LSTM_900)] if LSTM_900 in specs else []
    orders = [
        judged(measured, f"{better} above {worse}", better, worse, means[better] - means[worse], YEARS_MEAN)
        for better, worse in pairs
    ]
    table = paper._replace(
        columns=tuple(years), rows=tuple((row, tuple(figures[: len(years)])) for row, figures in paper.rows)
    )
    return reproduced(
        name,
        rows,
        paper=table,
        notes=["The orders are those of the means over 2012 to 2015."],
        conditions=_architecture_conditions(study, specs, ("2012 to 2016", "2012 to 2015", WITHOUT_2016)),
        **about_encoders(study),
        orders=orders,
    )


def benchmark(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 9: the encoders of Table 8 on the STS Benchmark."""
    measured, specs = _architectures(study)
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
    return reproduced(
        name, rows, conditions=_architecture_conditions(study, specs, test), **about_encoders(study), orders=orders
    )


def distances(study: Study, name: str) -> ReproducedTable:
    """PNMT Table 10: how far the encoders of one part differ from each other, task by task."""
    specs = trained_specs(study, SINGLE)
    measured = train(study, name, _trainings(study, specs)).measurements
    pairs = [(a, b) for a, b in (("WORD", "TRIGRAM"), ("WORD", "LSTM"), ("TRIGRAM", "LSTM")) if {a, b} <= set(specs)]
    distance = {f"{a} / {b}": measured.distances(a, b, ALL_TASKS) for a, b in pairs}
    starts = {f"{a} / {b}": measured.distances(untrained(a), untrained(b), ALL_TASKS) for a, b in pairs}
    rows: list[Row] = []
    for label, of_pairs in (("ours", distance), ("untrained", starts)):
        rows += [(f"{pair}, {label}", [mean_of_seeds(values)]) for pair, (values, _) in of_pairs.items()]
    rows += [
        (f"{spec} / {OVERLAP}", [mean_of_seeds(measured.distances(spec, OVERLAP, ALL_TASKS)[0])]) for spec in specs
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
    return reproduced(
        name,
        rows,
        conditions=_architecture_conditions(
            study, specs, ("the 25 sets of STS 2012 to 2016", "all tasks", WITHOUT_2016)
        ),
        **about_encoders(study),
        orders=orders,
    )


def scrambling(study: Study, name: str) -> ReproducedTable:
    """PNMT §5.3: an LSTM trained with a share of the sentences scrambled, compared with one trained without."""
    corpora = list(study.surface_scored().values())
    trainings = {
        f"LSTM, scrambling {share:g}": pnmt_training(study, "LSTM", corpora, study.size_of_recurrent, scramble=share)
        for share in (0.0, SCRAMBLE)
    }
    measured = train(study, name, trainings).measurements
    rows: list[Row] = [(f"{key}, ours", [measured.figure(key, year) for year in YEARS]) for key in trainings]
    starts = [untrained(key) for key in trainings]
    rows.append(("LSTM, untrained", [measured.figure(starts, year) for year in YEARS]))
    rows += baseline_rows(measured, YEARS)
    without, scrambled = trainings
    claim = f"scrambling {SCRAMBLE:g} above none"
    return reproduced(
        name,
        rows,
        conditions=[
            *conditions(
                study, PNMT, {"LSTM": ("lstm", PNMT_EPOCHS)}, test=("STS 2017", "STS 2012 to 2015", WITHOUT_2016)
            ),
            POOLED,
        ],
        **about_encoders(study),
        orders=[Order(claim, None, measured.difference(scrambled, without, YEARS_MEAN))],
    )


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {
    "pnmt-8": architectures,
    "pnmt-9": benchmark,
    "pnmt-10": distances,
    "pnmt-scrambling": scrambling,
}
"""Name of a table → the function that makes it."""

RECURRENT_TABLES = ("pnmt-scrambling",)
"""Tables that a study without recurrent encoders cannot make."""


def _architectures(study: Study) -> tuple[Measurements, list[str]]:
    """Figures of the encoders of PNMT Table 8, and their names."""
    trainings = _trainings(study, trained_specs(study, list(SPECS)))
    simple = study.human_pairs().get(SIMPLE_WIKIPEDIA)
    if simple is not None:
        trainings[_SIMPLE] = pnmt_training(study, "WORD,TRIGRAM", [simple], _size(study))
    return train(study, "pnmt-architectures", trainings).measurements, list(trainings)


def _trainings(study: Study, specs: Sequence[str]) -> dict[str, Training]:
    """Trainings of architectures on the same pairs of all sources."""
    corpora = list(study.surface_scored().values())
    return {
        spec: pnmt_training(study, spec, corpora, _size(study), **({"dimension": 900} if "900" in spec else {}))
        for spec in specs
    }


def _size(study: Study) -> int:
    return study.size_of_recurrent or study.size


def _architecture_conditions(study: Study, specs: Sequence[str], test: tuple[str, str, str]) -> list[tuple[str, ...]]:
    trained = {spec: (SPECS.get(spec, "word,trigram"), PNMT_EPOCHS) for spec in specs}
    listed = [*conditions(study, PNMT, trained, size=_size(study), test=test), POOLED]
    if LSTM_900 in specs:
        wide = "given vectors continued with zeros" if study.vectors is not None else "random vectors of 900 dimensions"
        listed.append(("start of the wide networks", "not stated", wide, "given vectors are narrower"))
    return listed
