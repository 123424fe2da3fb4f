"""W17 Table 8: classifiers that tell the references of each source from their translations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from statistics import fmean
from typing import Any, Literal, NamedTuple

from paraloom.embed.word_vectors import vectors_file
from paraloom.papers.conditions import SOURCES, TIME, translations
from paraloom.papers.measurements import Accuracies
from paraloom.papers.published import published_figures
from paraloom.papers.study import Study
from paraloom.papers.tables import INTERVAL, ExperimentCondition, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order
from paraloom.papers.w17.classifier import Kind
from paraloom.papers.w17.train_classifier import TrainClassifier

RANDOM_START = "random vectors of 300 dimensions"
_KINDS: tuple[Kind, ...] = ("lstm", "avg")
_NEGATIVES: tuple[Literal["random", "hardest"], ...] = ("random", "hardest")
_L2 = {"avg": (1e-5, 1e-6, 1e-7, 1e-8, 0.0), "lstm": (1e-6,)}
"""Weights that are tried; the paper tries all with both kinds, which takes LSTMs days of a processor."""


class ClassifierTraining(NamedTuple):
    """A trained classifier; its choice, of negatives and L2, is tuned on development references."""

    kind: Kind
    source: str
    choice: str
    seed: int


def _l2_name(l2: float) -> str:
    """A weight as a part of a stage's name: 1e6 for 1e-6."""
    return f"{l2:.0e}".replace("e-0", "e").replace("0e+00", "0")


def _l2_of(training: ClassifierTraining) -> str:
    name = training.choice.partition(" ")[2]
    return name.replace("e", "e-") if name != "0" else "none"


def classifiers(study: Study, name: str) -> ReproducedTable:
    """W17 Table 8, from classifiers that are trained for it."""
    start = RANDOM_START if study.vectors is None else f"{vectors_file(study.vectors).name}, {study.dimension} numbers"
    table = classifier_table(name, train_classifiers(study, name), start)
    return replace(table, conditions=[*table.conditions, *starmap(ExperimentCondition, translations(study))])


def train_classifiers(study: Study, name: str) -> dict[ClassifierTraining, dict[str, Any]]:
    """Train all classifiers, with both choices of negatives, in a run of each source, which commands can share."""
    figures: dict[ClassifierTraining, dict[str, Any]] = {}
    start: dict[str, Any] = (
        {} if study.vectors is None else {"vectors": study.wide_vectors(), "dimension": study.dimension}
    )
    for source, path in study.sources.items():
        reading = study.pairs_of(source, path)
        stages = {
            ClassifierTraining(kind, source, f"{negatives} {_l2_name(l2)}", seed): TrainClassifier(
                name=f"{kind}-{negatives}-l2-{_l2_name(l2)}-{seed}",
                pairs_from=(reading[-1].name,),
                kind=kind,
                negatives=negatives,
                l2=l2,
                max_pairs=study.classifier_pairs,
                held_out=study.classifier_pairs // 8,
                device=study.devices.partition(",")[0],
                **start,
            )
            for kind in _KINDS
            for negatives in _NEGATIVES
            for l2 in _L2["avg" if study.devices.startswith("cuda") else kind]
            for seed in range(1, study.seeds + 1)
        }
        result = study.run([*reading, *stages.values()], study.folder / name / source)
        figures |= {training: result.stage(stage.name).figures for training, stage in stages.items()}
    return figures


def classifier_table(
    name: str, figures: Mapping[ClassifierTraining, Mapping[str, Any]], start: str = RANDOM_START
) -> ReproducedTable:
    """W17 Table 8."""
    sources = list(dict.fromkeys(training.source for training in figures))
    ordered = sorted(figures, key=lambda training: (_KINDS.index(training.kind), sources.index(training.source)))
    measured = classifier_accuracies({training: figures[training] for training in ordered})
    rows: list[Row] = [
        (f"{kind.upper()}, {source}", [accuracies.figure for accuracies in of_system])
        for (kind, source), of_system in measured.items()
    ]
    sizes = {training.source: figures[training] for training in ordered}
    seeds = len(next(iter(measured.values()))[0].values)
    return reproduced(
        name,
        rows,
        conditions=[
            SOURCES,
            (
                "text",
                "not stated",
                "quotation marks, dashes and clitics of both sides written by one convention",
                "some references are tokenized, no translation is",
            ),
            (
                "references to train on",
                "40,000",
                ", ".join(f"{source} {of_source['pairs']:,}" for source, of_source in sizes.items()),
                "what our data give",
            ),
            (
                "references to test on",
                "5,000",
                ", ".join(f"{source} {of_source['test_sentences'] // 2:,}" for source, of_source in sizes.items()),
                "what our data give",
            ),
            ("start", "paragram-sl999", start, "paragram-sl999 is not among our data"),
            (
                "negative",
                "of 50 beams, a random one or the likeliest reference among them, tuned",
                "of those that are given, a random one or the likeliest reference, tuned",
                TIME,
            ),
            (
                "L2 of the vectors",
                "tuned: 1e-5 to 1e-8, or none",
                f"for each token, {' or '.join(dict.fromkeys(_l2_of(training) for training in ordered))}",
                TIME,
            ),
            ("epochs, optimizer", "10, Adam 0.001"),
            ("seeds", "not stated", str(seeds), "to see how much they matter"),
        ],
        notes=list(_by_origin(figures)),
        orders=classifier_orders(measured),
        seeds=seeds,
        brackets=INTERVAL,
        baselines={"untrained": "50 but for chance", "random": "50 by definition", "identity": "does not apply"},
    )


def _by_origin(figures: Mapping[ClassifierTraining, Mapping[str, Any]]) -> Iterator[str]:
    """Accuracies on the test sentences of each origin, for sources that have several."""
    of_system: dict[str, dict[str, list[float]]] = {}
    for training, of_seed in figures.items():
        origins = of_seed.get("accuracy_by_origin", {})
        if len(origins) > 1:
            means = of_system.setdefault(f"{training.kind.upper()} of {training.source}", {})
            for origin, accuracy in origins.items():
                means.setdefault(origin, []).append(100 * accuracy)
    for system, by_origin in of_system.items():
        listed = ", ".join(f"{origin} {fmean(values):.1f}" for origin, values in by_origin.items())
        yield f"Accuracy by origin, {system}: {listed}."


def classifier_accuracies(
    figures: Mapping[ClassifierTraining, Mapping[str, Any]],
) -> dict[tuple[str, str], list[Accuracies]]:
    """Accuracies on all test sentences, on references and on translations, with the better choice of negatives."""
    by_system: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = {}
    for (kind, source, choice, _), of_seed in figures.items():
        by_system.setdefault((kind, source), {}).setdefault(choice, []).append(of_seed)
    chosen = {
        system: max(choices.values(), key=lambda seeds: fmean(seed["development_accuracy"] for seed in seeds))
        for system, choices in by_system.items()
    }
    return {
        system: [
            Accuracies([100 * seed[key] for seed in seeds], seeds[0]["test_sentences"] // share)
            for key, share in (("accuracy", 1), ("reference_accuracy", 2), ("translation_accuracy", 2))
        ]
        for system, seeds in chosen.items()
    }


def classifier_orders(measured: Mapping[tuple[str, str], Sequence[Accuracies]]) -> Iterator[Order]:
    """W17 Table 8: the LSTM is better than the average of words on every corpus."""
    paper = published_figures("w17-8")
    corpora = [row.partition(", ")[2] for row in paper if row.startswith("LSTM")]
    above = fmean(paper[f"LSTM, {corpus}"][0] - paper[f"AVG, {corpus}"][0] for corpus in corpora)
    for (kind, source), of_system in measured.items():
        if kind == "lstm" and ("avg", source) in measured:
            yield Order(f"LSTM above AVG on {source}", above, of_system[0].above(measured["avg", source][0]))


TABLES: dict[str, Callable[[Study, str], ReproducedTable]] = {"w17-8": classifiers}
"""Name of a table → the function that makes it."""
