"""Write a sample of Tatoeba (CC BY 2.0 FR): German sentences, each with two English translations that differ.

    python examples/quickstart_sample.py $PARALOOM_DATA/bitext/tatoeba/de-en.tsv.gz > sample.de-en.tsv

The bundled translators are not trained on these sentences. The second translation is never shown to a pipeline: it
measures how close the paraphrases that a filter keeps are to what another person wrote.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from paraloom.core.seeds import generator

NAMES = re.compile(r"\b(Tom|Maria|Mary)\b")
"""Names that Tatoeba's authors use in every other sentence."""


def words(text: str) -> frozenset[str]:
    """The words of a sentence, lower-cased; contractions are one word."""
    return frozenset(re.findall(r"[\w']+", text.lower()))


def candidates(file: Path, min_words: int, max_words: int) -> Iterator[tuple[str, str, str]]:
    """German sentences of some length, with the two of their translations that differ in the most words."""
    translations: dict[str, list[str]] = defaultdict(list)
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            german, english = line.rstrip("\n").split("\t")
            translations[german].append(english)
    for german, choices in translations.items():
        if len(choices) < 2 or not min_words <= len(german.split()) <= max_words or NAMES.search(german):
            continue
        first, second = max(combinations(choices, 2), key=lambda pair: len(words(pair[0]) ^ words(pair[1])))
        if len(words(first) ^ words(second)) >= 3:
            yield german, first, second


def main() -> None:
    """Draw the sample by seed and print it in the order of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="Tatoeba, German and English between tabs, gzip")
    parser.add_argument("--size", type=int, default=400, help="sentences (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows = list(candidates(options.file, min_words=7, max_words=25))
    chosen = sorted(generator(options.seed).permutation(len(rows))[: options.size])
    print("de\ten\ten_second")
    for row in chosen:
        print("\t".join(rows[row]))


if __name__ == "__main__":
    main()
