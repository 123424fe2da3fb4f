"""Which figure tells outputs with other words that are right from wrong ones? And the weights of those in use.

    python benchmarks/word_changes.py areas benchmarks/readings/words/development.tsv
    python benchmarks/word_changes.py fit benchmarks/readings/words/figures.tsv

`areas` reads the columns kind, sentence, paraphrase and right, and prints the area under the ROC curve of each figure,
of the rows that have no fault by `paraloom.paraphrasing.edits`, and how many right and wrong rows had one.

`fit` reads the figures of outputs that were read, whose text not every license permits distributing: identifiers of the
output and its sentence, kind of change, right, the judge's lower verdict, the cost that the candidate had, the cosine,
and what `word_evidence` found. It prints the weights of `probability_right` for outputs without and with replaced
words, the areas, and what thresholds keep, in ten folds over sentences.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from blind_sheets import share, table
from rapidfuzz.distance import Levenshtein

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.evaluate.discrimination import evaluate_discrimination
from paraloom.mt.translator import Translator
from paraloom.pairs.scoring.paraphrase_model import fit_logistic
from paraloom.paraphrasing.edits import WORD, english_fault, english_words
from paraloom.paraphrasing.selection import JudgeLike, probability_right, text_units
from paraloom.paraphrasing.selection_config import CandidateSelection
from paraloom.paraphrasing.word_evidence import word_evidence

Figures = dict[str, npt.NDArray[np.float64]]

FIGURES, EVIDENCE = ("judge", "cost", "change"), ("fit", "gain", "likeness")
THRESHOLDS = (0.5, 0.65, 0.75, 0.8, 0.82, 0.84, 0.9)


def window(source: str, output: str, neighbors: int) -> tuple[str, str]:
    """The smallest stretch of both texts that has all words that changed, and so many words beside it."""
    first, second = source.split(), output.split()
    plain = [[(text_units(word) or [""])[0] for word in words] for words in (first, second)]
    changed = [one for one in Levenshtein.opcodes(*plain) if one.tag != "equal"]
    if not changed:
        return source, output
    start, end = changed[0], changed[-1]
    return (
        " ".join(first[max(0, start.src_start - neighbors) : end.src_end + neighbors]),
        " ".join(second[max(0, start.dest_start - neighbors) : end.dest_end + neighbors]),
    )


def verdict(judge: JudgeLike, sources: list[str], outputs: list[str]) -> npt.NDArray[np.float64]:
    """The lower verdict on both orders."""
    return np.fmin(judge.predict(sources, outputs), judge.predict(outputs, sources)).astype(np.float64)


def costs(translator: Translator, sources: list[str], targets: list[str]) -> npt.NDArray[np.float64]:
    """-log p of translations, in nats."""
    return np.array([-logprob for logprob, _ in translator.score(sources, targets)])


def figures_of(sources: list[str], outputs: list[str]) -> Figures:
    """Name of a figure → its values, of which a high one should be right."""
    selector, groups = open_selector(judge=None, language="en"), {}
    assert selector.judge is not None
    for text, group in zip(sources, as_paraphraser("english").paraphrase(sources, n=CandidateSelection.candidates),
                           strict=True):  # fmt: skip
        groups[text] = {one.text: -one.logprob for one in group}
    cost = np.array([groups[text].get(output, np.nan) for text, output in zip(sources, outputs, strict=True)])
    copy = np.array([
        min((of_one for one, of_one in groups[text].items() if text_units(one) == text_units(text)), default=np.nan)
        for text in sources
    ])  # fmt: skip
    judged, change = verdict(selector.judge, sources, outputs), selector._changes(sources, outputs)
    pairs = zip(sources, outputs, strict=True)
    evidence = np.array([word_evidence(*map(english_words, pair)) for pair in pairs])
    result = {
        "the probability without evidence of words": probability_right(judged, cost, change),
        **dict(zip(EVIDENCE, evidence.T, strict=True)),
        "the judge": judged,
        "the cost": -cost,
        "the cosine of the words": change,
        "the cost beyond that of a copy": copy - cost,
    }
    for neighbors in (1, 2, 3):
        pairs = [window(*pair, neighbors) for pair in zip(sources, outputs, strict=True)]
        sides = ([one[side] or "." for one in pairs] for side in (0, 1))
        result[f"the judge, {neighbors} words beside the change"] = verdict(selector.judge, *sides)
    there, back = Translator.load("en-de"), Translator.load("de-en")
    german = [variants[0].text for variants in there.translate(sources)]
    result["German of the sentence, from the output"] = costs(there, sources, german) - costs(there, outputs, german)
    result["the output, from that German"] = costs(back, german, sources) - costs(back, german, outputs)
    return result


def areas(readings: Path) -> None:
    """Print the areas under the curve of figures of outputs."""
    rows = [row for row in table(readings) if not english_fault(row["sentence"], row["paraphrase"])]
    figures = figures_of([row["sentence"] for row in rows], [row["paraphrase"] for row in rows])
    print(evaluate_discrimination(figures, [int(row["right"]) for row in rows], ["read"] * len(rows)).format())


def fit(readings: Path) -> None:
    """Print the weights of `probability_right`, and what it is worth on sentences that it was not fitted to."""
    for names, with_words in ((FIGURES, False), (FIGURES, True), ((*FIGURES, *EVIDENCE), True)):
        rows = [row for row in table(readings) if (WORD in row["kind"]) is with_words]
        right = np.array([int(row["right"]) for row in rows], np.float64)
        figures = {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
        of_all = fit_logistic(figures, right, np.ones(len(right)))
        weights = {one.name: round(one.weight / one.scale, 2) for one in of_all.features}
        shift = of_all.intercept - sum(one.weight * one.center / one.scale for one in of_all.features)
        averages = {one.name: round(one.center, 2) for one in of_all.features}
        print(f"{len(rows)} {'with' if with_words else 'without'} replaced words: {shift:.2f}, {weights}, {averages}")
        folds, probability = np.array([int(row["sentence"][:4], 16) % 10 for row in rows]), np.zeros(len(rows))
        for fold in range(10):
            others = folds != fold
            part = {name: values[others] for name, values in figures.items()}
            model = fit_logistic(part, right[others], np.ones(others.sum()))
            probability[~others] = model.probability({name: values[~others] for name, values in figures.items()})
        labels = [int(one) for one in right]
        print(evaluate_discrimination({"ten folds": probability}, labels, ["read"] * len(rows)).format())
        for threshold in THRESHOLDS:
            kept = probability >= threshold
            print(f"{threshold:.2f}: {kept.sum()} kept, {share(list(right[kept] == 1))} right")


def main() -> None:
    """Print areas or weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("areas", "fit"))
    parser.add_argument("readings", type=Path)
    options = parser.parse_args()
    (areas if options.what == "areas" else fit)(options.readings)


if __name__ == "__main__":
    main()
