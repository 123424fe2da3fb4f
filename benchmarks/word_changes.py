"""Which figure tells outputs with other words that are right from wrong ones? What was tried beside the rules.

    python benchmarks/word_changes.py benchmarks/readings/words/development.tsv

The table has the columns kind, sentence, paraphrase and right. Printed is the area under the ROC curve of each figure,
of the rows that have no fault by `paraloom.paraphrasing.edits`, and how many right and wrong rows had one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from judged_paraphrases import table
from rapidfuzz.distance import Levenshtein

from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.evaluate.discrimination import evaluate_discrimination
from paraloom.mt.translator import Translator
from paraloom.paraphrasing.edits import english_fault
from paraloom.paraphrasing.selection import JudgeLike, probability_right, text_units
from paraloom.paraphrasing.selection_config import CandidateSelection

Figures = dict[str, npt.NDArray[np.float64]]


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
    result = {
        "the probability": probability_right(judged, cost, change),
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


def main() -> None:
    """Print the areas."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readings", type=Path)
    rows = [row for row in table(parser.parse_args().readings) if not english_fault(row["sentence"], row["paraphrase"])]
    figures = figures_of([row["sentence"] for row in rows], [row["paraphrase"] for row in rows])
    print(evaluate_discrimination(figures, [int(row["right"]) for row in rows], ["read"] * len(rows)).format())


if __name__ == "__main__":
    main()
