"""A probabilistic grammar learned from a treebank: rules, and words with their tags, by relative frequency."""

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
from paraloom.syntax.treebank import CHAIN

if TYPE_CHECKING:
    from nltk.tree import Tree

FILE = "grammar.json"
BETWEEN, ABOVE = "|", "^"
"""Separators in binarized labels: `NP|<NN>` is a part of an NP with more than two children, `NP^<S>` an NP below an S;
for `S+VP` see `treebank.CHAIN`."""
PRIOR = 2
"""Weight of the tags of similar words, in occurrences of the word itself."""
MIN_FEATURE_COUNT = 10
"""Words that occur once and have a feature, from which on the tags of the feature are used."""
MIN_TAG_SHARE = 1e-4
"""Tags that are less likely than this for a word are left out."""


@dataclass(frozen=True)
class Grammar:
    """A binarized probabilistic context-free grammar; symbols are numbered, probabilities are logarithms.

    Args:
        roots: (symbol, log p) of whole trees.
        pairs: (left, right, parent, log p(left right | parent)), sorted by left.
        singles: (child, parent, log p(child | parent)) of phrases over a single tag, sorted by child.
        words: (tag, log p(tag | word) − log p(tag)) for each word.
        shapes: The same for each feature of rare words (`word_features`).
    """

    symbols: list[str]
    roots: list[tuple[int, float]]
    pairs: list[tuple[int, int, int, float]]
    singles: list[tuple[int, int, float]]
    words: dict[str, list[tuple[int, float]]]
    shapes: dict[str, list[tuple[int, float]]]

    @classmethod
    def from_trees(cls, trees: Iterable[Tree]) -> Grammar:
        """Estimate the grammar by relative frequencies."""
        counts = _Counts()
        for tree in trees:
            counts.add(binarize(tree))
        if not counts.roots:
            raise DataError("no trees to learn a grammar from", remedy="Check that the treebank has bracketed trees.")
        return counts.grammar()

    @classmethod
    def load(cls, folder: Path) -> Grammar:
        """Read what `save` wrote."""
        path = folder / FILE
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{name: stored[name] for name in cls.__dataclass_fields__})
        except FileNotFoundError:
            raise ModelError(f"{FILE} not found", file=folder, remedy="Train it: 'paraloom train parser'.") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"not a grammar: {error}", file=path, remedy="Train it again.") from None

    def save(self, folder: Path) -> None:
        """Write grammar.json into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / FILE).write_text(json.dumps(vars(self), ensure_ascii=False) + "\n", encoding="utf-8")

    @property
    def digest(self) -> str:
        """SHA-256 of the grammar."""
        return digest(json.dumps(vars(self), ensure_ascii=False))

    def tags(self, word: str, first: bool) -> list[tuple[int, float]]:
        """The possible tags of a word; the first word of a sentence is also looked up in lower case."""
        for spelling in (word, word.lower()) if first else (word,):
            if spelling in self.words:
                return self.words[spelling]
        return next(self.shapes[feature] for feature in word_features(word, first) if feature in self.shapes)


def word_features(word: str, first: bool) -> tuple[str, ...]:
    """Features by which the tags of a rare word are guessed, from the most specific to '', which all words share."""
    shape = _shape(word, first)
    suffixes = tuple(f"{shape}:{word[-length:].lower()}" for length in (3, 2, 1) if len(word) > length)
    return (*suffixes, shape, "")


def _shape(word: str, first: bool) -> str:
    if any(c.isdigit() for c in word):
        return "1" if all(c.isdigit() or not c.isalnum() for c in word) else "1a"
    if not any(c.isalpha() for c in word):
        return "."
    hyphen = "-" if "-" in word[1:-1] else ""
    if word.islower() or (first and word[1:].islower()):
        return f"a{hyphen}"
    return f"A{hyphen}" if word.isupper() and len(word) > 1 else f"Aa{hyphen}"


class _Counts:
    """Occurrences in binarized trees."""

    def __init__(self) -> None:
        self.roots: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str, str]] = Counter()
        self.singles: Counter[tuple[str, str]] = Counter()
        self.tagged: Counter[tuple[str, str]] = Counter()
        self.first_words: set[str] = set()

    def add(self, tree: Tree) -> None:
        self.roots[tree.label()] += 1
        self.first_words.add(tree.leaves()[0])
        for node in tree.subtrees():
            if isinstance(node[0], str):
                self.tagged[node[0], node.label()] += 1
            elif len(node) == 1:
                self.singles[node[0].label(), node.label()] += 1
            else:
                self.pairs[node[0].label(), node[1].label(), node.label()] += 1

    def grammar(self) -> Grammar:
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
        # A tag alone may be a whole tree: then it is a root that is not among the parents.
        symbols = sorted({*parents, *tag_count, *self.roots})
        number = {symbol: index for index, symbol in enumerate(symbols)}
        total = sum(tag_count.values())
        shapes = self._shapes(word_count)

        def lexical(shares: dict[str, float]) -> list[tuple[int, float]]:
            scores = [(number[tag], math.log(p) - math.log(tag_count[tag] / total)) for tag, p in shares.items()]
            return sorted((tag, round(score, 5)) for tag, score in scores)

        words = {word: lexical(shares) for word, shares in self._word_shares(word_count, shapes)}
        return Grammar(
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
            shapes={feature: lexical(shares) for feature, shares in sorted(shapes.items())},
        )

    def _word_shares(
        self, word_count: Counter[str], shapes: dict[str, dict[str, float]]
    ) -> Iterable[tuple[str, dict[str, float]]]:
        """p(tag | word), smoothed with the tags of similar rare words."""
        tags_of: dict[str, dict[str, int]] = {}
        for (word, tag), count in self.tagged.items():
            tags_of.setdefault(word, {})[tag] = count
        # Without rare words nothing is known about their tags, and a word keeps to its own.
        prior = PRIOR if 1 in word_count.values() else 0
        for word, own in sorted(tags_of.items()):
            similar = next(shapes[feature] for feature in word_features(word, False) if feature in shapes)
            guess = similar if prior else {}
            total = word_count[word] + prior
            shares = {tag: (own.get(tag, 0) + prior * guess.get(tag, 0)) / total for tag in {*own, *guess}}
            yield word, {tag: p for tag, p in shares.items() if p > MIN_TAG_SHARE}

    def _shapes(self, word_count: Counter[str]) -> dict[str, dict[str, float]]:
        """p(tag | feature) among words that occur once."""
        by_feature: dict[str, Counter[str]] = {}
        rare: Counter[str] = Counter()
        for (word, tag), _ in self.tagged.items():
            if word_count[word] == 1:
                rare[tag] += 1
                for feature in word_features(word, word in self.first_words):
                    by_feature.setdefault(feature, Counter())[tag] += 1
        if not rare:
            rare.update(tag for _, tag in self.tagged)
        kept = {feature: tags for feature, tags in by_feature.items() if tags.total() >= MIN_FEATURE_COUNT}
        kept[""] = rare
        return {feature: {tag: count / tags.total() for tag, count in tags.items()} for feature, tags in kept.items()}


def _log(count: int, total: int) -> float:
    return round(math.log(count / total), 5)


def binarize(tree: Tree) -> Tree:
    """Give each node at most two children, and annotate labels with one sibling and the parent.

    A grammar learned from such trees knows the context of a phrase. See Johnson 1998, "PCFG models of linguistic tree
    representations"; Klein and Manning 2003, "Accurate unlexicalized parsing".
    """
    tree = tree.copy(deep=True)
    tree.collapse_unary(collapsePOS=False, collapseRoot=True, joinChar=CHAIN)
    tree.chomsky_normal_form(factor="right", horzMarkov=1, vertMarkov=1, childChar=BETWEEN, parentChar=ABOVE)
    return tree


def original_labels(label: str) -> tuple[str, ...]:
    """The treebank labels that a binarized one stands for, outermost first; none for a part of a phrase."""
    return () if BETWEEN in label else tuple(label.split(ABOVE)[0].split(CHAIN))
