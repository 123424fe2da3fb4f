"""Whether paraphrases help a classifier: accuracy with and without them, by size of the training set and seed.

    python benchmarks/label_augmentation.py -o figures.json
    python benchmarks/label_augmentation.py --tasks trec --sizes 50,100 --seeds 2

Rows of the table: *none*, the training rows alone; *paraphrases*, those of `paraloom paraphrase` that a preset keeps;
and as many further rows, of the same texts: *repeat*, the texts themselves, and *one word*, the texts with one word
replaced by a synonym of PPDB, drawn at random. The classifier is a logistic regression on TF-IDF or on the vectors of
an encoder; the strength of its penalty is chosen in five folds of the training rows, without what is added for the fold
that is tested. Differences are means over seeds, with 95 % intervals by Student's t over the seeds, each of which draws
other rows. Of all rows there is one draw: its interval is that of the paired differences of test rows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import numpy.typing as npt
from paraphrase_generators import substituted, synonyms

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.core.stats import student_t_quantile
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.classification_tasks import find_classification_tasks, read_classification_task
from paraloom.evaluate.logistic import Features, fit_logistic
from paraloom.evaluate.tfidf import TfIdf
from paraloom.paraphrasing.candidates import SelectingParaphraser
from paraloom.paraphrasing.selection_config import CandidateSelection
from paraloom.text.tokens import tokenize

TASKS = ("trec", "sst2", "subj", "tweeteval-irony")
SIZES = ("50", "200", "1000")
NONE, PARAPHRASES = "none", "paraphrases"
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
BATCH = 128
FOLDS = 5
MANY_ROWS = 1000
"""With more rows, one fold is enough to choose a penalty."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Make = Callable[[Sequence[str]], list[list[str]]]
"""Texts → for each the texts that are added for it."""


class Paraphrases:
    """The best paraphrase of each text, if a selection keeps one; each text is paraphrased once for all draws."""

    def __init__(self, preset: str) -> None:
        self.paraphraser = SelectingParaphraser(
            as_paraphraser("english"),
            open_selector(preset, judge=None, language="en"),
            n=1,
            candidates=CandidateSelection.candidates,
        )
        self.kept: dict[str, list[str]] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """The paraphrase of each text, or none."""
        missing = [text for text in dict.fromkeys(texts) if text not in self.kept]
        with progress("paraphrasing", len(missing), unit="texts") as advance:
            for first in range(0, len(missing), BATCH):
                batch = missing[first : first + BATCH]
                kept = self.paraphraser.answer(batch)[1].kept
                self.kept.update({text: [one.text for one in group] for text, group in zip(batch, kept, strict=True)})
                advance(len(batch))
        return [self.kept[text] for text in texts]


def systems(preset: str) -> dict[str, Make]:
    """What each row of the table adds."""
    paraphrases, random, table = Paraphrases(preset), generator(1), synonyms(Path(os.environ["PARALOOM_DATA"]))

    def one_word(text: str) -> str:
        variants = substituted(text, table, 20)
        return variants[random.integers(len(variants))].text if variants else text

    return {
        NONE: lambda texts: [[] for _ in texts],
        "repeat": lambda texts: [[text] * len(kept) for text, kept in zip(texts, paraphrases(texts), strict=True)],
        "one word": lambda texts: [
            [one_word(text) for _ in kept] for text, kept in zip(texts, paraphrases(texts), strict=True)
        ],
        PARAPHRASES: paraphrases,
    }


class Task:
    """A task with a fixed test, and draws of its training rows."""

    def __init__(self, name: str, folder: Path) -> None:
        task = read_classification_task(name, folder)
        texts, labels = list(task.train.texts), list(task.train.labels)
        rows = np.arange(len(texts))
        if task.test is None:
            assert task.train.folds is not None
            self.train, self.test = rows[task.train.folds != 0], rows[task.train.folds == 0]
        else:
            self.train, self.test = rows, len(texts) + np.arange(len(task.test.texts))
            texts, labels = texts + task.test.texts, labels + task.test.labels
        self.name, self.texts = name, texts
        self.classes = sorted(set(labels))
        self.labels: Ints = np.array([self.classes.index(label) for label in labels], np.int64)

    def draw(self, size: str, seed: int) -> Ints:
        """Training rows of a size."""
        order: Ints = generator(seed, 0).permutation(self.train)
        return order if size == "all" else order[: int(size)]


def right_rows(task: Task, rows: Ints, extra: list[list[str]], features: str, encoder: EncoderLike, seed: int) -> Bools:
    """Which test rows a regression on rows and what is added to them gets right."""
    parts = np.array_split(generator(seed, 1).permutation(len(rows)), FOLDS)

    def right_of(positions: Ints, tested: Ints, strengths: Sequence[float]) -> list[Bools]:
        texts = [task.texts[rows[position]] for position in positions]
        added = [(text, task.labels[rows[position]]) for position in positions for text in extra[position]]
        labels = np.array([*task.labels[rows[positions]], *(label for _, label in added)], np.int64)
        train, test = vectors(texts, [text for text, _ in added], [task.texts[row] for row in tested])
        right = []
        for strength in strengths:
            model = fit_logistic(train, labels, len(task.classes), strength, tolerance=1e-4)
            right.append(model.predict(test) == task.labels[tested])
        return right

    def vectors(texts: list[str], added: list[str], tested: list[str]) -> tuple[Features, Features]:
        if features == "tfidf":
            table = TfIdf.count([tokenize([*texts, *added])])
            return table.matrix(tokenize([*texts, *added])), table.matrix(tokenize(tested))
        train = np.asarray(encoder.encode([*texts, *added]), np.float64)
        test = np.asarray(encoder.encode(tested), np.float64)
        mean = train[: len(texts)].mean(axis=0)
        size = math.sqrt(float(np.square(train[: len(texts)] - mean).sum(axis=1).mean())) or 1.0
        return (train - mean) / size, (test - mean) / size

    folds = range(FOLDS if len(rows) <= MANY_ROWS else 1)
    totals = np.zeros(len(STRENGTHS))
    for fold in folds:
        learned = np.sort(np.concatenate([part for number, part in enumerate(parts) if number != fold]))
        totals += [right.sum() for right in right_of(learned, rows[parts[fold]], STRENGTHS)]
    best = STRENGTHS[int(np.argmax(totals))]
    return right_of(np.arange(len(rows)), task.test, [best])[0]


def interval(runs: Sequence[Bools], base: Sequence[Bools]) -> tuple[float, float]:
    """Mean difference of accuracies, in percent, and half the width of its 95 % interval by Student's t.

    Of several runs, over their accuracies; of one, over its test rows.
    """
    pairs = [100 * (run.astype(float) - other) for run, other in zip(runs, base, strict=True)]
    differences = pairs[0].tolist() if len(pairs) == 1 else [float(pair.mean()) for pair in pairs]
    count = len(differences)
    return fmean(differences), student_t_quantile(0.975, count - 1) * stdev(differences) / math.sqrt(count)


def compare(task: Task, arguments: argparse.Namespace, makers: dict[str, Make], encoder: EncoderLike) -> list[Any]:
    """A dictionary for each size, kind of features and system."""
    results = []
    for size in arguments.sizes.split(","):
        if size != "all" and int(size) >= len(task.train):
            continue
        by_system: dict[tuple[str, str], list[Bools]] = defaultdict(list)
        added: dict[str, list[int]] = defaultdict(list)
        seeds = range(1, 2 if size == "all" else arguments.seeds + 1)
        for seed in seeds:
            rows = task.draw(size, seed)
            for name, make in makers.items():
                extra = make([task.texts[row] for row in rows])
                added[name].append(sum(map(len, extra)))
                for features in arguments.features.split(","):
                    by_system[features, name].append(right_rows(task, rows, extra, features, encoder, seed))
        for (features, name), runs in by_system.items():
            row: dict[str, Any] = {"task": task.name, "size": size, "features": features, "row": name}
            row |= {"seeds": len(runs), "added": fmean(added[name])}
            row["accuracy"] = 100 * fmean(run.mean() for run in runs)
            for base in makers if name == PARAPHRASES else (NONE,):
                if base != name:
                    row[f"over_{base}"] = interval(runs, by_system[features, base])
            results.append(row)
            print(line(row), flush=True)
    return results


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    gains = (
        f"  {name.replace('_', ' ')} {value[0]:+6.2f} ± {value[1]:5.2f}"
        for name, value in row.items()
        if name.startswith("over_")
    )
    return (
        f"{row['task']:<16} {row['size']:>5} {row['features']:<8} {row['row']:<11} +{row['added']:>7,.0f} rows"
        f"  {row['accuracy']:6.2f} %{''.join(gains)}"
    )


def main() -> None:
    data = Path(os.environ.get("PARALOOM_DATA", "data"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=data / "classification")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--features", default="tfidf,encoder")
    parser.add_argument("--seeds", type=int, default=5, help="draws of training rows; of 'all', one")
    parser.add_argument("--preset", default="strict")
    parser.add_argument("--encoder", default="english", help="of the features")
    parser.add_argument("-o", "--output", type=Path, help="all figures as JSON")
    arguments = parser.parse_args()
    makers = systems(arguments.preset)
    encoder = open_encoder(arguments.encoder)
    results = []
    for name, folder in find_classification_tasks(arguments.data, arguments.tasks.split(",")).items():
        results += compare(Task(name, folder), arguments, makers, encoder)
        if arguments.output:
            arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
