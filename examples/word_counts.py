"""Count which English words are neighbors, and which stand for each other where sentences have a translation in common.

    PARALOOM_DATA=/path/to/corpora PAIRS=build/paraphrase-pairs python examples/word_counts.py

Makes the table of `paraloom.paraphrasing.word_evidence` that comes with the package, of text whose licenses permit it:
forum posts, questions, titles and headlines, glosses and examples, captions, letters, essays and manuals. No sentence
of the held-out pairs (PAIRS/test.tsv) is counted. Half a minute on one core.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import combinations, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.bundled import WORD_COUNTS
from paraloom.io import read_lines
from paraloom.paraphrasing.edits import english_words
from paraloom.paraphrasing.word_evidence import END, FACTOR, SHIFT, START, WordCounts, keys_of_substitution
from paraloom.text.tokens import token_hash, tokenize

DATA, PAIRS = Path(os.environ["PARALOOM_DATA"]), Path(os.environ["PAIRS"])
SENTENCES = (
    *("forum.reddit-posts", "questions.reddit-titles", "titles.reddit-other-links", "headlines.reddit-press"),
    *("headlines.clickbait", "headlines.clickbait-2", "questions.opentrivia", "questions.stackoverflow-titles"),
    *("glosses.open-english-wordnet", "examples.open-english-wordnet", "glosses.wordset", "examples.wordset"),
    *("captions.coco-texygen", "mixed.masc"),
)
TATOEBA = ("tatoeba/de-en", "tatoeba/fr-en", "tatoeba/cs-en", "tatoeba-2/es-en")
BITEXT = (
    *("bible-2/de-en", "privacyguides/de-en", "opensource-guide/es-en", "django-girls/fr-en"),
    *("debian-handbook/es-en", "python-docs/es-en"),
)
MOST_PAIRS, LONGEST_PHRASE, MOST_SPANS = 30, 3, 2
"""Of the sentences that one sentence translates; words of a phrase; stretches in which two sentences differ."""
BLOCK, MIN_WORD_COUNT = 100_000, 20


def translations() -> Iterator[tuple[str, str]]:
    """Language and foreign sentence, and its translation, of Tatoeba."""
    for name in TATOEBA:
        for line in read_lines(str(DATA / "bitext" / f"{name}.tsv.gz")):
            foreign, english = line.split("\t")[:2]
            yield f"{name} {foreign.lower()}", english


def sentences() -> Iterator[str]:
    """All sentences, those of Tatoeba once."""
    for name in SENTENCES:
        yield from read_lines(str(DATA / "sentences-en" / f"{name}.txt.xz"))
    for line in read_lines(str(DATA / "paraphrase" / "coco-captions-val" / "captions.tsv.gz")):
        yield line.split("\t")[-1]
    yield from dict.fromkeys(english for _, english in translations())
    for name in BITEXT:
        yield from (line.split("\t")[1] for line in read_lines(str(DATA / "bitext" / f"{name}.tsv.gz")))


def distinct(keys: list[npt.NDArray[np.uint32]], min_count: int) -> dict[int, float]:
    """Key → how often it occurs."""
    values, counts = np.unique(np.concatenate(keys), return_counts=True)
    often = counts >= min_count
    return dict(zip(values[often].tolist(), counts[often].tolist(), strict=True))


def neighbors(held_out: set[str], min_count: int, min_word_count: int) -> dict[int, float]:
    """Key of a word, and of two words beside each other → how often it occurs."""
    words, pairs, lines, factor = [], [], iter(sentences()), np.uint64(FACTOR)
    start, end = (np.uint64(token_hash(mark)) for mark in (START, END))
    while block := [line.replace("’", "'") for line in islice(lines, BLOCK)]:
        lists = tokenize([line for line in block if line not in held_out])
        ids = np.insert(lists.ids, lists.offsets[:-1], start)
        ends = np.append(np.flatnonzero(ids == start)[1:], len(ids))
        ids = np.insert(ids, ends, end)
        words.append((ids >> np.uint64(SHIFT)).astype(np.uint32))
        inside = (ids[1:] != start) & (ids[:-1] != end)
        pairs.append(((ids[:-1] * factor + ids[1:]) >> np.uint64(SHIFT)).astype(np.uint32)[inside])
    return distinct(pairs, min_count) | distinct(words, min_word_count)


def substitutes(held_out: set[str]) -> dict[int, float]:
    """Key of two phrases of which one stands for the other, and of each → in how many pairs of sentences."""
    groups, pairs = defaultdict[str, set[str]](set), dict[tuple[str, str], None]()
    for foreign, english in translations():
        groups[foreign].add(english)
    for group in groups.values():
        pairs.update(dict.fromkeys(islice(combinations(sorted(group), 2), MOST_PAIRS)))
    for line in read_lines(str(DATA / "paraphrase" / "tatoeba-pivot" / "pairs.tsv.gz")):
        one, other = sorted(line.split("\t")[:2])
        pairs[one, other] = None
    counts = Counter[int]()
    for pair in pairs:
        if held_out.intersection(pair):
            continue
        first, second = map(english_words, pair)
        codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
        changed = [(first[code[1] : code[2]], second[code[3] : code[4]]) for code in codes if code[0] != "equal"]
        max_length = max((len(side) for both in changed for side in both), default=0)
        if len(changed) <= MOST_SPANS and max_length <= LONGEST_PHRASE:
            for one, other in changed:
                counts.update(set(keys_of_substitution(" ".join(one), " ".join(other))))
    return dict(counts)


def main() -> None:
    """Write the table of the package, or another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=WORD_COUNTS)
    parser.add_argument(
        "--min-count", type=int, default=4, help="times that two words are neighbors (default: %(default)s)"
    )
    options = parser.parse_args()
    held_out = {cell for line in read_lines(str(PAIRS / "test.tsv")) for cell in line.split("\t")}
    beside, instead = neighbors(held_out, options.min_count, MIN_WORD_COUNT), substitutes(held_out)
    WordCounts.of(beside | instead).save(options.output)
    print(f"{len(beside)} of words and neighbors, {len(instead)} of phrases: {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
