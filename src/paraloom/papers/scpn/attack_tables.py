"""SCPN's adversarial examples: labels that paraphrases flip, before and after training on paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple, cast

import numpy as np

from paraloom.bundled import JUDGE_MODEL, bundled_path
from paraloom.core.digests import digest
from paraloom.core.stats import Estimate
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.resampling import mean_scores, sample_counts
from paraloom.io.records import write_records
from paraloom.pairs.scoring.judge import Judge
from paraloom.papers.conditions import TIME
from paraloom.papers.measurements import Accuracies, combined_estimate, mean_of_seeds
from paraloom.papers.published import PAPERS, published_figures
from paraloom.papers.scpn.attacks import KEPT, Attack, by_copying, by_one_word, by_templates, by_translation, reworded
from paraloom.papers.scpn.broken_labels import Bools, LabelClassifier, LabeledSplit, Rewordings
from paraloom.papers.study import Study
from paraloom.papers.tables import SEED_RANGE, Figure, ReproducedTable, Row, reproduced
from paraloom.papers.verdicts import Order

TASKS = {"sst2": "SST", "trec": "TREC"}
"""Folder of a task → its name in the table."""

_PAPERS = {"SST": "SST", "TREC": "SICK"}

SCPN, ROUND_TRIP, ONE_WORD, COPY = "SCPN", "NMT-BT", "one word", "copy"
"""Attacks: by ten templates, by translation and back, by a word's neighbors in vectors, by nothing."""

ATTACKED = 200
"""Test texts that are paraphrased, drawn at random."""

EXAMPLES = "adversaries.csv"
"""What broke the first classifiers at kept meaning, for readers, in the folder of the table."""

TRAINED = (SCPN, ROUND_TRIP, COPY)
"""Attacks whose paraphrases classifiers are trained on, too."""

_FURTHER = ("broken, any meaning", "broken, any meaning, augmented", "texts added")


@dataclass(frozen=True)
class LabeledStudy:
    """A folder of labeled texts, and the settings: seeds, encoder, and the size of a training."""

    folder: Path
    study: Study


class _AttackOutcome(NamedTuple):
    """Classifiers of all seeds: what they got right of m test texts, and wrong of p paraphrases of such texts."""

    right: Bools  # `(seeds, m)`
    flipped: Bools  # `(seeds, p)`
    rewordings: Rewordings
    added: float

    @property
    def broken(self) -> Bools:
        """`(seeds, n)`: texts of which a paraphrase that keeps the meaning is flipped."""
        return self.rewordings.broken(self.flipped & self.rewordings.keep)

    @property
    def validity(self) -> Accuracies:
        """Share of the paraphrases that are flipped whose meaning is kept, × 100."""
        valid = (self.flipped & self.rewordings.keep).sum(axis=1)
        flipped = np.maximum(1, self.flipped.sum(axis=1))
        return Accuracies((100 * valid / flipped).tolist(), max(1, round(float(flipped.mean()))))


def attack_table(inputs: LabeledStudy, name: str) -> ReproducedTable:
    """SCPN Table 4: texts that paraphrases break, and accuracy, before and after training on paraphrases."""
    study, folder = inputs.study, inputs.study.folder / name
    encoder = cast(SentenceEncoder, open_encoder(study.encoder))
    judge = Judge.load(bundled_path(JUDGE_MODEL) or JUDGE_MODEL)
    attacks = {
        SCPN: by_templates("english"),
        ROUND_TRIP: by_translation("en-de", "de-en"),
        ONE_WORD: by_one_word(encoder),
        COPY: by_copying(),
    }
    rows: list[Row] = []
    orders: list[Order] = []
    examples: list[Sequence[str]] = []
    for task_folder, task in TASKS.items():
        split = LabeledSplit.read(inputs.folder, task_folder, study.seed)
        outcomes: dict[str, list[_AttackOutcome]] = {}
        for label, attack in attacks.items():

            def rewordings(texts: Sequence[str], attack: Attack = attack) -> Rewordings:
                return Rewordings(reworded(attack, judge, texts, folder / "paraphrases"))

            outcomes[label] = _outcomes(split, rewordings, encoder, study, trained=label in TRAINED)
            rows.append((f"{label}, {task}, ours", _figures(*outcomes[label])))
            examples += [(task, label, *example) for example in _examples(split, outcomes[label][0])]
        orders += _orders(task, outcomes)
    columns = ("task", "attack", "source", "paraphrase")
    write_records((dict(zip(columns, example, strict=True)) for example in examples), folder / EXAMPLES, columns)
    return reproduced(
        name,
        rows,
        columns=(*PAPERS[name].columns, *_FURTHER),
        conditions=_conditions(study),
        orders=orders,
        seeds=study.seeds,
        brackets=SEED_RANGE,
        baselines={
            "untrained": "does not apply, a template needs a trained paraphraser",
            "random": f"rows *{ONE_WORD}*",
            "identity": f"rows *{COPY}*",
        },
        signature=replace(study, sources={}).signature,
        inputs={
            "encoder": encoder.signature,
            "judge": judge.signature,
            **{f"attack {label}": digest(attack.signature)[:12] for label, attack in attacks.items()},
        },
    )


TABLES: dict[str, Callable[[LabeledStudy, str], ReproducedTable]] = {"scpn-attack": attack_table}
"""Name of a table → the function that makes it from labeled texts."""


def _outcomes(
    split: LabeledSplit,
    rewordings: Callable[[Sequence[str]], Rewordings],
    encoder: SentenceEncoder,
    study: Study,
    *,
    trained: bool,
) -> list[_AttackOutcome]:
    """Classifiers that learned from texts alone and, where `trained`, from their paraphrases that keep the meaning."""
    attacked = rewordings(split.test[:ATTACKED])
    outcomes = []
    for augmented in (False, True)[: 1 + trained]:
        right, flipped, added = [], [], []
        for seed in range(study.seed, study.seed + study.seeds):
            texts, labels = split.draw(study.size, seed)
            groups = rewordings(texts).groups if augmented else [()] * len(texts)
            kept = [[one.text for one in group if one.keeps] for group in groups]
            classifier = LabelClassifier(encoder, texts, labels, kept, split.classes)
            right.append(classifier.predict(split.test) == split.test_labels)
            flipped.append(attacked.flipped(classifier, split.test_labels, right[-1]))
            added.append(sum(map(len, kept)))
        outcomes.append(_AttackOutcome(np.stack(right), np.stack(flipped), attacked, fmean(added)))
    return outcomes


def _figures(before: _AttackOutcome, after: _AttackOutcome | None = None) -> list[Figure]:
    def shares(of: Callable[[_AttackOutcome], Bools]) -> list[Figure]:
        return [
            None if one is None else mean_of_seeds((100 * of(one).mean(axis=1)).tolist()) for one in (before, after)
        ]

    validity = mean_of_seeds(before.validity.values) if before.flipped.any() else None
    accuracies, broken = shares(lambda one: one.right), shares(lambda one: one.broken)
    of_any = shares(lambda one: one.rewordings.broken(one.flipped))
    added = None if after is None else after.added
    return [validity, accuracies[0], broken[0], accuracies[1], broken[1], *of_any, added]


def _examples(split: LabeledSplit, outcome: _AttackOutcome) -> Iterator[tuple[str, str]]:
    """Text and paraphrase of what broke the classifier of the first seed at kept meaning."""
    rewordings = outcome.rewordings
    for index in np.flatnonzero(outcome.flipped[0] & rewordings.keep).tolist():
        yield split.test[int(rewordings.owners[index])], rewordings.flat[index].text


def _orders(task: str, outcomes: Mapping[str, Sequence[_AttackOutcome]]) -> Iterator[Order]:
    """What the paper says of its paraphrases beside translations back, and of training on both."""
    theirs = {label: published_figures("scpn-attack")[f"{label}, {_PAPERS[task]}"] for label in (SCPN, ROUND_TRIP)}
    where = task if task == _PAPERS[task] else f"{task} ({_PAPERS[task]} in the paper)"
    (ours, ours_after), (back, back_after) = outcomes[SCPN], outcomes[ROUND_TRIP]

    def order(claim: str, published: float, estimate: Estimate) -> Order:
        return Order(f"{where}: {claim}", round(published, 1), estimate)

    validity = theirs[SCPN][0] - theirs[ROUND_TRIP][0]
    valid = (ours.validity, back.validity) if validity > 0 else (back.validity, ours.validity)
    first, second = (SCPN, ROUND_TRIP) if validity > 0 else (ROUND_TRIP, SCPN)
    yield order(
        f"more of what {first} flips keeps its meaning than of {second}", abs(validity), valid[0].above(valid[1])
    )
    breaks = theirs[SCPN][2] - theirs[ROUND_TRIP][2]
    yield order(f"{SCPN} breaks more than {ROUND_TRIP}", breaks, _difference(ours.broken, back.broken))
    for label, before, after in ((SCPN, ours, ours_after), (ROUND_TRIP, back, back_after)):
        fewer = theirs[label][2] - theirs[label][4]
        yield order(f"{label} breaks fewer after training on its own", fewer, _difference(before.broken, after.broken))
    accuracy = theirs[SCPN][3] - theirs[ROUND_TRIP][3]
    claim = f"trained on {SCPN}'s better than on {ROUND_TRIP}'s"
    yield order(claim, accuracy, _difference(ours_after.right, back_after.right))


def _difference(ours: Bools, theirs: Bools) -> Estimate:
    """Difference of shares × 100 of the same texts, with an interval over texts (bootstrap) and seeds (Welch)."""
    of_texts = 100 * (ours.mean(axis=0) - theirs.mean(axis=0))
    resampled = mean_scores(of_texts.tolist(), sample_counts(len(of_texts)))[1:]
    values, others = ((100 * one.mean(axis=1)).tolist() for one in (ours, theirs))
    return combined_estimate(values, others, resampled)


def _conditions(study: Study) -> list[tuple[str, ...]]:
    judge = f"the judge of meaning gives {KEPT} or more in both orders; in the last columns all"
    return [
        ("attacked texts", "the development sets", f"{ATTACKED} texts of each test, drawn at random", TIME),
        ("training texts", "all of the training sets", f"{study.size} of each, other ones for each seed", TIME),
        ("paraphrases that count", "by overlap of n-grams and by a cosine", judge, "it reads both sentences at once"),
    ]
