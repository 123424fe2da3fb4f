"""A probabilistic grammar read off a treebank: rules, and words with their tags, by relative frequency."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from paraloom.core.digests import digest
from paraloom.core.errors import DataError, ModelError
from paraloom.syntax.treebank import binary
from paraloom.syntax.word_features import features

if TYPE_CHECKING:
    from nltk.tree import Tree

FILE = "grammar.json"
RARE = 2
"""What the shape of a word counts beside what was seen of the word itself, in sightings."""
ENOUGH = 10
"""Sightings of a shape among words seen once, from which on its tags are believed."""


@dataclass(frozen=True)
class Grammar:
    """Log-probabilities of what a tree is made of.

    symbols: labels of binary trees, tags included.  roots: (symbol, log p) of whole trees.  pairs: (left, right,
    parent, log p(left right | parent)), sorted by left.  singles: (child, parent, log p(child | parent)), a phrase over
    a lone tag, sorted by child.  words, shapes: (tag, log p(tag | word) − log p(tag)) of each word, and of each
    feature of words seldom seen (see paraloom.syntax.word_features).
    """

    symbols: list[str]
    roots: list[tuple[int, float]]
    pairs: list[tuple[int, int, int, float]]
    singles: list[tuple[int, int, float]]
    words: dict[str, list[tuple[int, float]]]
    shapes: dict[str, list[tuple[int, float]]]

    @classmethod
    def read_off(cls, trees: Iterable[Tree]) -> Grammar:
        """Relative frequencies over plain trees (treebank.read_treebank); DataError when there are none."""
        counts = _Counts()
        for tree in trees:
            counts.add(binary(tree))
        if not counts.roots:
            raise DataError("there is no tree to read a grammar off")
        return counts.grammar(cls)

    @classmethod
    def load(cls, folder: Path) -> Grammar:
        """What `save` wrote; ModelError where it is not whole."""
        path = folder / FILE
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{name: stored[name] for name in cls.__dataclass_fields__})
        except FileNotFoundError:
            raise ModelError(f"{FILE} is missing", file=folder, remedy="Train it: 'paraloom train parser'.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"not a grammar: {error}", file=path, remedy="Train it again.") from None

    def save(self, folder: Path) -> None:
        """Write grammar.json into the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(vars(self), ensure_ascii=False) + "\n", encoding="utf-8")

    @property
    def digest(self) -> str:
        """Of all that is in it."""
        return digest(json.dumps(vars(self), ensure_ascii=False))

    def tags(self, word: str, first: bool) -> list[tuple[int, float]]:
        """The tags that a word may have; a word at the beginning of a sentence may be another in lower case."""
        for seen in (word, word.lower()) if first else (word,):
            if seen in self.words:
                return self.words[seen]
        return next(self.shapes[feature] for feature in features(word, first) if feature in self.shapes)


class _Counts:
    def __init__(self) -> None:
        self.roots: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str, str]] = Counter()
        self.singles: Counter[tuple[str, str]] = Counter()
        self.tagged: Counter[tuple[str, str]] = Counter()
        self.beginnings: set[str] = set()

    def add(self, tree: Tree) -> None:
        self.roots[tree.label()] += 1
        self.beginnings.add(tree.leaves()[0])
        for node in tree.subtrees():
            if isinstance(node[0], str):
                self.tagged[node[0], node.label()] += 1
            elif len(node) == 1:
                self.singles[node[0].label(), node.label()] += 1
            else:
                self.pairs[node[0].label(), node[1].label(), node.label()] += 1

    def grammar(self, made: type[Grammar]) -> Grammar:
        tag_count: Counter[str] = Counter()
        word_count: Counter[str] = Counter()
        for (word, tag), count in self.tagged.items():
            tag_count[tag] += count
            word_count[word] += count
        parents: Counter[str] = Counter()
        for (_, _, parent), count in self.pairs.items():
            parents[parent] += count
        for (_, parent), count in self.singles.items():
            parents[parent] += count
        # A lone tag may be a whole tree: then it is a root with nothing above it.
        symbols = sorted({*parents, *tag_count, *self.roots})
        number = {symbol: place for place, symbol in enumerate(symbols)}
        total = sum(tag_count.values())
        shapes = self._shapes(word_count)

        def lexical(share: dict[str, float]) -> list[tuple[int, float]]:
            found = [(number[tag], math.log(p) - math.log(tag_count[tag] / total)) for tag, p in share.items()]
            return sorted((tag, round(score, 5)) for tag, score in found)

        words = {}
        by_word: dict[str, dict[str, int]] = {}
        for (word, tag), count in self.tagged.items():
            by_word.setdefault(word, {})[tag] = count
        # Where no word is seldom, nothing is known of those that are, and a word keeps to its own tags.
        weight = RARE if 1 in word_count.values() else 0
        for word, seen in sorted(by_word.items()):
            alike = next(shapes[feature] for feature in features(word, False) if feature in shapes)
            guess = alike if weight else {}
            times = word_count[word] + weight
            share = {tag: (seen.get(tag, 0) + weight * guess.get(tag, 0)) / times for tag in {*seen, *guess}}
            words[word] = lexical({tag: p for tag, p in share.items() if p > 1e-4})
        return made(
            symbols=symbols,
            roots=sorted((number[s], _log(count, self.roots.total())) for s, count in self.roots.items()),
            pairs=sorted(
                (number[left], number[right], number[parent], _log(count, parents[parent]))
                for (left, right, parent), count in self.pairs.items()
            ),
            singles=sorted(
                (number[child], number[parent], _log(count, parents[parent]))
                for (child, parent), count in self.singles.items()
            ),
            words=words,
            shapes={feature: lexical(share) for feature, share in sorted(shapes.items())},
        )

    def _shapes(self, word_count: Counter[str]) -> dict[str, dict[str, float]]:
        """p(tag | feature) among words that were seen once."""
        found: dict[str, Counter[str]] = {}
        every: Counter[str] = Counter()
        for (word, tag), _ in self.tagged.items():
            if word_count[word] == 1:
                every[tag] += 1
                for feature in features(word, word in self.beginnings):
                    found.setdefault(feature, Counter())[tag] += 1
        if not every:
            every.update(tag for _, tag in self.tagged)
        kept = {feature: tags for feature, tags in found.items() if tags.total() >= ENOUGH}
        kept[""] = every
        return {feature: {tag: count / tags.total() for tag, count in tags.items()} for feature, tags in kept.items()}


def _log(count: int, total: int) -> float:
    return round(math.log(count / total), 5)
