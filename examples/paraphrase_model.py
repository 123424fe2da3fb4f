"""Train the model behind `p_paraphrase` and the presets of `paraloom filter`, and test it and its scores.

    PARALOOM_DATA=/path/to/corpora python examples/paraphrase_model.py -o runs/paraphrase-model

The model is a logistic regression over cheap scores. It is trained on Tatoeba's English sentences with a common French
translation (CC BY 2.0 FR), on look-alikes made of them by rule, on neighbors and on weak translations. Then tables are
printed: how well each score tells right from wrong on each set, with intervals; the same for models trained on all
sources but the one they are tested on; what each preset keeps; and how many pairs each group of scores takes a second.
About ten minutes on two cores; a stopped run resumes.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from paraloom import Pipeline
from paraloom.bundled import bundled_path
from paraloom.core.stage import Stage, StageContext
from paraloom.evaluate.discrimination import DiscriminationResult, evaluate_discrimination
from paraloom.io import Corpus
from paraloom.pairs.scoring.paraphrase_model import (
    CHANGES,
    ParaphraseModel,
    ParaphraseModelConfig,
    train_paraphrase_model,
)
from paraloom.pipeline.fit import ARTIFACT
from paraloom.pipeline.result import RunResult
from paraloom.stages import (
    Clean,
    CommonTranslations,
    EvaluateScores,
    Filter,
    JoinPairs,
    LabelPairs,
    MakeLookalikes,
    MismatchPairs,
    ReadLabeledPairs,
    ReadPairs,
    RoundTripPairs,
    Score,
    TrainParaphraseModel,
)
from paraloom.stages.labels import LabeledScores, read_labeled, signs_of

SCORES = ("overlap", "bleu1", "chrf", "ratio", "mismatch", "meaning", "glitches")
RULES = (
    *("name_mismatch", "quantity_mismatch", "unit_mismatch", "negation_mismatch", "role_swap"),
    "wrong_language",
)
RATED = (
    *("quantity_mismatch", "unit_mismatch", "negation_mismatch", "name_mismatch"),
    *("role_swap", "wrong_language"),
)
FEATURES = ("reverse_cost", "translation_cost", *RULES)
SURFACE = ("bigram_overlap", "chrf", "order_inversions", *RULES)
FALLBACKS = (
    ("paraphrase_score", "translation_cost", *RULES),
    ("translation_cost", *SURFACE),
    ("paraphrase_score", "reverse_cost", "round_trip_chrf", *SURFACE),
    ("paraphrase_score", *SURFACE),
    ("src_content_missing", *SURFACE),
)
"""For back-translations without a reverse translator, and without an encoder either; for other pairs with both, without
a reverse translator, and without any model."""

_NOT_TRANSLATED = 3
CONFIG = ParaphraseModelConfig(features=FEATURES, fallbacks=FALLBACKS)

SOURCES = {
    "Tatoeba": ("tatoeba", "sample"),
    "news": ("news",),
    "questions": ("questions",),
    "MRPC": ("mrpc",),
    "tweets": ("tweets",),
}
"""Sources of labeled pairs, and the names of their sets; of each source, all sets are left out together."""

DESCRIPTION = (
    "For English sentence pairs. Trained on Tatoeba's sentences (CC BY 2.0 FR) with a common French translation, on "
    "look-alikes and neighbors of them, and on their round trips through German."
)


def right_pairs(data: Path, sample: Path) -> list[Stage]:
    """Pairs that mean the same, of four sources: `tatoeba`, `sample`, `news` and `questions`."""
    references = data / "bitext/wmt-news/en-two-references.tsv.gz"
    questions = data / "paraphrase/quora-50k/test.tsv.gz"
    english: dict[str, Any] = {"src_lang": "en", "tgt_lang": "en"}
    unchecked: dict[str, Any] = {"max_words": 0, "max_word_ratio": 0, "min_alphabetic_words": 0}
    unchecked |= {"min_alphabetic_characters": 0, "allow_identical": True}
    return [
        ReadPairs(name="sample", source=sample, src_column="en", tgt_column="en_second", origin="sample", **english),
        ReadPairs(name="tatoeba-fr", source=data / "bitext/tatoeba/fr-en.tsv.gz", src_lang="fr", tgt_lang="en",
                  origin="tatoeba"),
        CommonTranslations(name="tatoeba-all", bitext="tatoeba-fr", limit=6000, keep_pivot=False),
        # The model is trained on these, and tested on the sample: no sentence is in both.
        Clean(name="tatoeba-unseen", input="tatoeba-all", held_out=("sample",), **unchecked),
        Filter(name="tatoeba", input="tatoeba-unseen", where="length(src) >= 20 and length(tgt) >= 20", sample=2500),
        ReadLabeledPairs(name="news-all", source=references, labeled_set="news", src_column=4, tgt_column=5),
        Filter(name="news", input="news-all", where="lower(src) != lower(tgt) and length(src) <= 200", sample=600),
        ReadLabeledPairs(name="questions-all", source=questions, labeled_set="questions", label_column=3,
                         right=("new",), wrong=()),
        Filter(name="questions", input="questions-all", where="lower(src) != lower(tgt)", sample=600),
    ]  # fmt: skip


def wrong_pairs(name: str, title: str) -> list[Stage]:
    """Two labeled corpora of a source: `NAME-rules` with look-alikes and neighbors, `NAME-translations`."""
    rules, translations = f"{title}, look-alikes", f"{title}, translations"
    trip: dict[str, Any] = {"translator": "en-de", "back_translator": "de-en", "wrong_below": 30.0}
    trip["pivot_decode"] = "topk:10"
    trip["labeled_set"] = translations
    return [
        LabelPairs(name=f"{name}-right", input=name, label=1, labeled_set=rules),
        MakeLookalikes(name=f"{name}-changed-all", input=name, labeled_set=rules),
        Filter(name=f"{name}-changed", input=f"{name}-changed-all", sample=1500),
        MakeLookalikes(name=f"{name}-copies-all", input=name, changed="src", labeled_set=rules),
        Filter(name=f"{name}-copies", input=f"{name}-copies-all", sample=1000),
        MismatchPairs(name=f"{name}-neighbors", input=name, labeled_set=rules),
        JoinPairs(name=f"{name}-rules", keep_columns=True,
                  corpora=tuple(f"{name}-{part}" for part in ("right", "changed", "copies", "neighbors"))),
        RoundTripPairs(name=f"{name}-beam", input=name, **trip),
        RoundTripPairs(name=f"{name}-samples", input=name, decode="topk:10", **trip),
        JoinPairs(name=f"{name}-translations", corpora=(f"{name}-beam", f"{name}-samples"), keep_columns=True),
    ]  # fmt: skip


def labeled_pairs(data: Path) -> list[Stage]:
    """Pairs that people labeled as right and wrong: `mrpc` and `tweets`."""
    mrpc, tweets = data / "paraphrase/mrpc/msr_paraphrase_train.tsv", data / "paraphrase/twitter-url/test.tok.tsv.gz"
    return [
        ReadLabeledPairs(name="mrpc-all", source=mrpc, labeled_set="MRPC", label_column=1, src_column=4, tgt_column=5),
        Filter(name="mrpc", input="mrpc-all", sample=1000),
        ReadLabeledPairs(name="tweets-all", source=tweets, labeled_set="tweets", label_column=1, src_column=2,
                         tgt_column=3),
        Filter(name="tweets", input="tweets-all", sample=1000),
    ]  # fmt: skip


TITLES = {"tatoeba": "Tatoeba", "sample": "Tatoeba, held out", "news": "news", "questions": "questions"}
CORPORA = (*(f"{name}-{part}" for name in TITLES for part in ("rules", "translations")), "mrpc", "tweets")
"""The labeled corpora; those of Tatoeba come first, and the model is trained on the first two."""


def pipeline(data: Path, sample: Path) -> Pipeline:
    """Make, score and test all labeled pairs, and train the model in between."""
    stages = [*right_pairs(data, sample), *labeled_pairs(data)]
    for name, title in TITLES.items():
        stages += wrong_pairs(name, title)
    for name in CORPORA:
        scores = ("translation_cost", *SCORES) if name.endswith("-translations") else SCORES
        stages.append(
            Score(name=f"{name}-scored", input=name, scores=scores, encoder="english", reverse_translator="en-de")
        )
    training = tuple(f"{name}-scored" for name in CORPORA[:2])
    stages.append(
        TrainParaphraseModel(name="model", pairs=training, features=FEATURES, fallbacks=FALLBACKS,
                             license="CC BY 2.0 FR", description=DESCRIPTION)
    )  # fmt: skip
    for name in CORPORA:
        stages.append(Score(name=f"{name}-p", input=f"{name}-scored", scores=("chrf",), paraphrase_model="model"))
    stages.append(EvaluateScores(name="scores", pairs=tuple(f"{name}-p" for name in CORPORA)))
    return Pipeline(stages, name="paraphrase-model", seed=1)


def pairs_per_second(corpus: Corpus) -> dict[str, float]:
    """Speed of each group of scores in one process, on pairs that have a pivot."""
    batch = next(iter(corpus.batches()))
    batch = batch.select([name for name in batch.schema.names if name in ("src", "tgt", "src_lang", "tgt_lang",
                                                                          "pivot", "pivot_lang")])  # fmt: skip
    english, german = bundled_path("english"), bundled_path("en-de")
    assert english is not None and german is not None
    groups: dict[str, tuple[Score, dict[str, Path]]] = {name: (Score(scores=(name,)), {}) for name in SCORES}
    groups["paraphrase_score"] = (Score(scores=(), encoder="english"), {"encoder": english})
    groups["reverse_cost, reverse_cost_gap, round_trip_chrf"] = (
        Score(scores=(), reverse_translator="en-de"),
        {"reverse_translator": german},
    )
    speeds = {}
    for name, (stage, inputs) in groups.items():
        context = StageContext(seed=1, inputs=inputs)
        stage.apply(batch.slice(0, 10), context)  # compiles kernels and loads models
        started, rounds = time.perf_counter(), 0
        while time.perf_counter() - started < 1:
            stage.apply(batch, context)
            rounds += 1
        speeds[name] = rounds * batch.num_rows / (time.perf_counter() - started)
    return speeds


def leave_one_out(pairs: LabeledScores, sources: dict[str, set[str]]) -> DiscriminationResult:
    """The area under the ROC curve on each source, by a model that was trained on all the others."""
    probabilities = np.full(len(pairs.labels), np.nan)
    for sets in sources.values():
        inside = np.isin(pairs.sets, sorted(sets))
        model = train_paraphrase_model(
            {name: values[~inside] for name, values in pairs.scores.items()},
            pairs.labels[~inside], pairs.sets[~inside], pairs.kinds[~inside], CONFIG, signs=signs_of(CONFIG.scores),
        )  # fmt: skip
        scores = {name: values[inside] for name, values in pairs.scores.items()}
        translated = ~np.isnan(scores["translation_cost"])
        probabilities[inside] = np.where(
            translated, model.models[0].probability(scores), model.models[_NOT_TRANSLATED].probability(scores)
        )
    return evaluate_discrimination({"trained on the other sources": probabilities}, pairs.labels, pairs.sets)


def kept(pairs: LabeledScores, probability: np.ndarray, thresholds: dict[str, float]) -> list[str]:
    """Lines of a table: what the threshold of each preset keeps of right and of wrong pairs, set by set."""
    lines = ["| kept of right, of wrong pairs |" + "".join(f" {name} |" for name in thresholds)]
    lines.append("| --- |" + " ---: |" * len(thresholds))
    near_copy = pairs.scores["chrf"] > CONFIG.max_chrf
    near_copy |= np.fmax.reduce([pairs.scores[name] for name in CHANGES]) == 0
    for name in dict.fromkeys(pairs.sets.tolist()):
        cells = []
        for threshold in thresholds.values():
            chosen = (probability >= threshold) & ~near_copy
            right, wrong = ((pairs.sets == name) & (pairs.labels == label) & ~near_copy for label in (1, 0))
            cells.append(f" {chosen[right].mean():.0%}, {chosen[wrong].mean():.1%} |")
        lines.append(f"| {name} |" + "".join(cells))
    return lines


def rates(pairs: LabeledScores) -> list[str]:
    """Lines of a table: how often each rule finds something, in right pairs, changed ones and bad translations."""
    right, wrong = pairs.labels == 1, pairs.labels == 0
    columns = {
        "right: Tatoeba": right & (pairs.sets == "Tatoeba, look-alikes"),
        "right: news": right & (pairs.sets == "news, look-alikes"),
        "bad translations": wrong & (pairs.kinds == "weak translation"),
    }
    changed = {"quantity_mismatch": "number", "negation_mismatch": "negation", "name_mismatch": "name",
               "role_swap": "role"}  # fmt: skip
    header = [*(f"{name} ({inside.sum():,})" for name, inside in columns.items()), "changed: Tatoeba", "changed: news"]
    lines = [f"| score above 0 | {' | '.join(header)} |", "| --- |" + " ---: |" * len(header)]
    for name in RATED:
        positive = pairs.scores[name] > 0
        cells = [f"{positive[inside].mean():.1%}" for inside in columns.values()]
        for source in ("Tatoeba, look-alikes", "news, look-alikes"):
            rows = wrong & (pairs.sets == source) & (pairs.kinds == changed.get(name, "-"))
            cells.append(f"{positive[rows].mean():.0%} of {rows.sum()}" if rows.any() else "–")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def report(result: RunResult) -> None:
    """Print the tables."""
    print((result.stage("scores").folder / ARTIFACT / "table.txt").read_text(encoding="utf-8"))
    corpora = [Corpus.open(result.stage(f"{name}-p").folder) for name in CORPORA]
    names = list(dict.fromkeys([*CONFIG.scores, "p_paraphrase", *RATED]))
    pairs = read_labeled(corpora, names)
    sets = {source: {title for name in members for title in _set_names(name)} for source, members in SOURCES.items()}
    print("\nModels trained on all sources but the one that they are tested on:\n")
    print(leave_one_out(pairs, sets).format())
    model = result.stage("model")
    print(f"\n{model.figures}\n")
    presets = ParaphraseModel.load(model.folder / ARTIFACT).presets
    chosen = {name: float(preset.where.split()[2]) for name, preset in presets.items()}
    probability = pairs.scores["p_paraphrase"]
    print("\n".join(kept(pairs, probability, chosen)))
    print(f"\nThresholds of p_paraphrase: {chosen}, near copies left out.\n")
    print("\n".join(rates(pairs)) + "\n")
    print("| scores | pairs/s, one process |\n| --- | ---: |")
    for name, speed in pairs_per_second(Corpus.open(result.stage("tatoeba-translations").folder)).items():
        print(f"| {name} | {speed:,.0f} |")


def _set_names(name: str) -> tuple[str, ...]:
    title = TITLES.get(name)
    return (f"{title}, look-alikes", f"{title}, translations") if title else ({"mrpc": "MRPC"}.get(name, name),)


def main() -> None:
    """Run the pipeline and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/paraphrase-model"), help="run folder")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    sample = Path(__file__).parent.parent / "src/paraloom/bundled/sample.de-en.tsv"
    report(pipeline(Path(options.data), sample).run(options.output))


if __name__ == "__main__":
    main()
