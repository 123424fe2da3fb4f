"""Whether paraphrases help a classifier: accuracy with and without them, by size of the training set and seed.

    python benchmarks/label_augmentation.py --model paraphraser-en --lexicon lexicon.tsv -o figures.json
    python benchmarks/label_augmentation.py --tasks trec --sizes 50,100 --seeds 2 --rows none,repeat,round-trip

Rows of the table: *none*, the training rows alone; *repeat*, each of them as often as with paraphrases; *synonyms*,
one or two phrases replaced by the lexicon (`paraloom research lexicon PAIRS -o FILE`); *round-trip*, by two
translators; *free* and *templates*, by the paraphraser. All but the first two are made by `LabelAugmenter`:
placeholders, candidates, selection. The classifier is a logistic regression on TF-IDF or on the vectors of an
encoder; the strength of its penalty is chosen in five folds of the training rows, without paraphrases of the fold
that is tested. Differences from *none* and *repeat* are means over seeds, with 95 % intervals by Student's t over the
seeds, each of which draws other rows. Of all rows there is one draw: its interval is that of the paired differences
of test rows.
"""

from __future__ import annotations

import argparse
import csv
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
from label_augmenter import LabelAugmenter

from paraloom.api import Paraphraser, RoundTripParaphraser, open_selector
from paraloom.api.paraphrase_sources import as_paraphraser
from paraloom.core.progress import progress
from paraloom.core.protocols import EncoderLike, ParaphraserLike
from paraloom.core.seeds import generator
from paraloom.core.stats import student_t_quantile
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.classification_tasks import find_classification_tasks, read_classification_task
from paraloom.evaluate.logistic import Features, fit_logistic
from paraloom.evaluate.tfidf import TfIdf
from paraloom.paraphrasing.candidates import TemplateCandidates
from paraloom.paraphrasing.protection import Protector
from paraloom.text.tokens import tokenize

TASKS = ("trec", "sst2", "subj", "tweeteval-irony")
SIZES = ("50", "100", "500", "1000", "all")
ROWS = ("none", "repeat", "synonyms", "round-trip", "free", "templates")
STRENGTHS = (0.1, 1.0, 10.0, 100.0)
BATCH = 128
FOLDS = 5
MANY_ROWS = 1000
"""With more rows, one fold is enough to choose a penalty."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Make = Callable[[Sequence[str]], list[list[str]]]
"""Texts → for each the texts that are added for it."""


class Synonyms:
    """Candidates with one or two phrases replaced by those of a lexicon, chosen at random by its scores."""

    def __init__(self, path: Path, candidates: int, seed: int) -> None:
        self.entries: dict[str, list[tuple[str, float]]] = defaultdict(list)
        with path.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
                self.entries[row["phrase"]].append((row["paraphrase"], float(row["score"])))
        self.candidates = candidates
        self.random = generator(seed)

    def __call__(self, texts: list[str]) -> list[list[str]]:
        return [[self._variant(text.split()) for _ in range(self.candidates)] for text in texts]

    def _variant(self, words: list[str]) -> str:
        for _ in range(2):
            spans = [
                (start, stop)
                for start in range(len(words))
                for stop in range(start + 1, min(start + 3, len(words)) + 1)
                if " ".join(words[start:stop]).lower() in self.entries
            ]
            if not spans:
                break
            start, stop = spans[self.random.integers(len(spans))]
            options = self.entries[" ".join(words[start:stop]).lower()]
            scores = np.array([score for _, score in options])
            chosen = options[self.random.choice(len(options), p=scores / scores.sum())][0]
            words = [*words[:start], *chosen.split(), *words[stop:]]
        return " ".join(words)


def augmenting(paraphraser: ParaphraserLike, arguments: argparse.Namespace) -> Make:
    """What a paraphraser adds to texts; each text is paraphrased once for all sizes and seeds."""
    selector = open_selector(arguments.preset, encoder=arguments.encoder)
    kept: dict[str, list[str]] = {}

    def make(texts: Sequence[str]) -> list[list[str]]:
        missing = [text for text in dict.fromkeys(texts) if text not in kept]
        with progress("paraphrasing", len(missing), unit="texts") as advance:
            for first in range(0, len(missing), BATCH):
                batch = missing[first : first + BATCH]
                augmenter = LabelAugmenter(paraphraser, selector, Protector(), candidates=arguments.candidates)
                groups = augmenter.augment(batch, [arguments.n] * len(batch), seed=1)
                kept.update({text: [one.text for one in group] for text, group in zip(batch, groups, strict=True)})
                advance(len(batch))
        return [kept[text] for text in texts]

    return make


def systems(arguments: argparse.Namespace) -> dict[str, Make]:
    """The rows that can be computed with what is given."""
    wanted = [name.strip() for name in arguments.rows.split(",")]
    makers: dict[str, Make] = {"none": lambda texts: [[] for _ in texts]}
    makers["repeat"] = lambda texts: [[text] * arguments.n for text in texts]
    if "synonyms" in wanted and arguments.lexicon:
        lexicon = Synonyms(arguments.lexicon, arguments.candidates, 1)
        makers["synonyms"] = augmenting(as_paraphraser(lexicon), arguments)
    if "round-trip" in wanted:
        makers["round-trip"] = augmenting(RoundTripParaphraser.load(arguments.forward, arguments.backward), arguments)
    if {"free", "templates"} & set(wanted) and arguments.model:
        model = Paraphraser.load(arguments.model)
        makers["free"] = augmenting(TemplateCandidates(model), arguments)
        makers["templates"] = augmenting(TemplateCandidates(model, template="auto"), arguments)
    return {name: makers[name] for name in wanted if name in makers}


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
            for base in ("none", "repeat"):
                if base != name and (features, base) in by_system:
                    row[f"over_{base}"] = interval(runs, by_system[features, base])
            results.append(row)
            print(line(row), flush=True)
    return results


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    gains = (
        f"  over {base} {row[f'over_{base}'][0]:+6.2f} ± {row[f'over_{base}'][1]:5.2f}"
        for base in ("none", "repeat")
        if f"over_{base}" in row
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
    parser.add_argument("--rows", default=",".join(ROWS))
    parser.add_argument("--features", default="tfidf,encoder")
    parser.add_argument("--seeds", type=int, default=5, help="draws of training rows; of 'all', one")
    parser.add_argument("-n", type=int, default=1, help="paraphrases of each text at most")
    parser.add_argument("--candidates", type=int, default=10)
    parser.add_argument("--preset", default="balanced")
    parser.add_argument("--encoder", default="english", help="of the selection, and of the features")
    parser.add_argument("--forward", default="en-de")
    parser.add_argument("--backward", default="de-en")
    parser.add_argument("--model", type=Path, help="a folder of `train paraphraser`, for 'free' and 'templates'")
    parser.add_argument("--lexicon", type=Path, help="a .tsv of `paraloom research lexicon`, for 'synonyms'")
    parser.add_argument("-o", "--output", type=Path, help="all figures as JSON")
    arguments = parser.parse_args()
    makers = systems(arguments)
    encoder = open_encoder(arguments.encoder)
    results = []
    for name, folder in find_classification_tasks(arguments.data, arguments.tasks.split(",")).items():
        results += compare(Task(name, folder), arguments, makers, encoder)
        if arguments.output:
            arguments.output.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
