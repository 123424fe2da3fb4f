"""Exemplars of syntax: for a pair, a sentence about something else whose tree is nearly that of the paraphrase."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from paraloom.core.config import Config, check_range
from paraloom.core.seeds import derive_seed
from paraloom.paraphrasing.examples import TEMPLATE_HEIGHT, ParsedPair
from paraloom.paraphrasing.linearization import cut_tree, nodes_of
from paraloom.text.function_words import FUNCTION_WORDS
from paraloom.text.tokens import words
from paraloom.text.trees import tree_edit_distance

_FREQUENT = 100


@dataclass(frozen=True, kw_only=True)
class ExemplarConfig(Config):
    """Selection of exemplars.

    Args:
        height: Height at which the tree of an exemplar is compared with that of the paraphrase, in levels below ROOT.
        max_distance: Maximum tree edit distance between both at this height, 0 or more.
        max_overlap: Maximum number of words of an exemplar, function words included, that the sentence or its
            paraphrase have, divided by its words; 0 to 1.
        candidates: Sentences of each template that an exemplar is chosen from.
        min_words: Minimum number of words of the paraphrase and of the exemplar.

    Raises:
        ConfigError: A value is out of its range.
    """

    height: int = 4
    max_distance: int = 4
    max_overlap: float = 0.5
    candidates: int = 200
    min_words: int = 4

    def validate(self) -> None:
        check_range(self, "height", "candidates", low=1)
        check_range(self, "max_distance", "min_words", low=0)
        check_range(self, "max_overlap", low=0, high=1)


class ExemplarPair(NamedTuple):
    """A pair with an exemplar of the syntax of the paraphrase."""

    source: str
    exemplar: str
    reference: str
    distance: int = -1


class ExemplarFinder:
    """Finds exemplars for some pairs in a stream of sentences with trees, in memory that does not grow with it.

    The rule follows Kumar et al. (2020): an exemplar is a sentence with the syntax of the reference and other content.
    Here its template at height 2 is that of the reference, it shares no content word with the sentence or the
    reference, and of the sentences that meet this, as drawn by seed, it has the smallest tree edit distance to the
    reference at `height`. The thresholds are ours. See Kumar et al. 2020, "Syntax-guided controlled generation of
    paraphrases" (SGCP), §4.
    """

    def __init__(
        self, pairs: Sequence[ParsedPair], config: ExemplarConfig | None = None, *, language: str = "en", seed: int = 1
    ) -> None:
        self.config = config or ExemplarConfig()
        self.seed = seed
        self.pairs = [
            pair for pair in pairs if pair.paraphrase_tree and len(_words(pair.paraphrase)) >= self.config.min_words
        ]
        self._function_words = _function_words(language, self.pairs)
        # Of each template the sentences with the lowest hashes: a heap whose root is the highest of them.
        self._buckets: dict[str, list[tuple[int, str, str]]] = {
            cut_tree(pair.paraphrase_tree or "", TEMPLATE_HEIGHT): [] for pair in self.pairs
        }

    def add(self, sentences: Iterable[tuple[str, str | None]]) -> None:
        """Take sentences into consideration."""
        for sentence, tree in sentences:
            if not tree:
                continue
            bucket = self._buckets.get(cut_tree(tree, TEMPLATE_HEIGHT))
            if bucket is None:
                continue
            entry = (-derive_seed(self.seed, sentence), sentence, tree)
            full = len(bucket) >= self.config.candidates
            if (full and entry[0] <= bucket[0][0]) or len(_words(sentence)) < self.config.min_words:
                continue
            if any(text == sentence for _, text, _ in bucket):
                continue
            (heapq.heappushpop if full else heapq.heappush)(bucket, entry)

    def choose(self) -> list[ExemplarPair]:
        """The pairs for which an exemplar is there, in their order, each with the nearest one."""
        results = []
        for pair in self.pairs:
            tree = pair.paraphrase_tree or ""
            nearest = self._nearest(pair, tree, self._buckets[cut_tree(tree, TEMPLATE_HEIGHT)])
            if nearest is not None:
                results.append(ExemplarPair(pair.source, nearest[1], pair.paraphrase, nearest[0]))
        return results

    def _nearest(self, pair: ParsedPair, tree: str, bucket: Sequence[tuple[int, str, str]]) -> tuple[int, str] | None:
        own = set(_words(pair.source)) | set(_words(pair.paraphrase))
        template = cut_tree(tree, self.config.height)
        labels = _labels(template)
        usable = []
        for order, sentence, other in bucket:
            units = _words(sentence)
            shared = own.intersection(units)
            if not shared <= self._function_words or sentence in (pair.source, pair.paraphrase):
                continue
            if sum(unit in shared for unit in units) > self.config.max_overlap * len(units):
                continue
            cut = cut_tree(other, self.config.height)
            usable.append((_label_distance(labels, _labels(cut)), -order, sentence, cut))
        best: tuple[int, str] | None = None
        # The distance of the labels alone is a lower bound: what comes later cannot be nearer.
        for bound, _, sentence, cut in sorted(usable):
            if bound > self.config.max_distance or (best is not None and bound >= best[0]):
                break
            distance = tree_edit_distance(cut, template)
            if distance <= self.config.max_distance and (best is None or distance < best[0]):
                best = distance, sentence
        return best


def draw_pairs(pairs: Iterable[ParsedPair], rows: int, seed: int) -> list[ParsedPair]:
    """Draw pairs with a tree and different sides from a stream, in memory that does not grow with it."""
    heap: list[tuple[int, str, str]] = []
    by_text: dict[tuple[str, str], ParsedPair] = {}
    for pair in pairs:
        key = pair.source, pair.paraphrase
        usable = pair.paraphrase_tree and pair.source.strip() and pair.source != pair.paraphrase
        if not usable or rows < 1 or key in by_text:
            continue
        entry = (-derive_seed(seed, *key), *key)
        if len(heap) < rows:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            _, source, paraphrase = heapq.heapreplace(heap, entry)
            del by_text[source, paraphrase]
        else:
            continue
        by_text[key] = pair
    return [by_text[source, paraphrase] for _, source, paraphrase in sorted(heap, reverse=True)]


def _function_words(language: str, pairs: Iterable[ParsedPair]) -> set[str]:
    if language in FUNCTION_WORDS:
        return set(FUNCTION_WORDS[language].split())
    counts = Counter(word for pair in pairs for word in _words(pair.paraphrase))
    return {word for word, _ in counts.most_common(_FREQUENT)}


def _words(text: str) -> list[str]:
    return words(text, punctuation=False)


def _labels(template: str) -> Counter[str]:
    return Counter(node.label for node in nodes_of(template))


def _label_distance(one: Counter[str], other: Counter[str]) -> int:
    """A lower bound of the tree edit distance: each operation changes one label."""
    return max((one - other).total(), (other - one).total())
