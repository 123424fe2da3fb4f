"""Exemplars: other sentences with nearly the same tree, chosen by a rule that does not depend on the order."""

from __future__ import annotations

import random

import pytest

from paraloom.core.errors import ConfigError
from paraloom.papers.scpn.exemplars import ExemplarConfig, ExemplarFinder, draw_pairs
from paraloom.paraphrasing.examples import ParsedPair

CONFIG = ExemplarConfig(min_words=3)


def tree(subject: str, verb: str, rest: str = "") -> str:
    """A plain sentence."""
    return f"(S (NP (DT the) (NN {subject})) (VP (VBZ {verb}){rest}) (. .))"


def find(pair: ParsedPair, pool: dict[str, str], config: ExemplarConfig = CONFIG) -> list[tuple[str, int]]:
    """Exemplars and distances."""
    finder = ExemplarFinder([pair], config)
    finder.add(pool.items())
    return [(one.exemplar, one.distance) for one in finder.choose()]


PAIR = ParsedPair("A dog rests.", "The dog sleeps.", None, tree("dog", "sleeps"))


def test_the_nearest_tree_is_chosen() -> None:
    pool = {
        "The cat eats now.": tree("cat", "eats", " (ADVP (RB now))"),
        "The bird sings.": tree("bird", "sings"),
        "Birds sing there.": "(S (NP (NNS Birds)) (VP (VBP sing)) (ADVP (RB there)))",
    }
    # Its template at height 2 differs: what is there of the third sentence does not count.
    assert find(PAIR, pool) == [("The bird sings.", 0)]
    del pool["The bird sings."]
    # ADVP and RB are inserted.
    assert find(PAIR, pool) == [("The cat eats now.", 2)]
    assert find(PAIR, pool, ExemplarConfig(min_words=3, max_distance=1)) == []


def test_content_is_not_shared() -> None:
    pool = {"The dog barks.": tree("dog", "barks"), "The bird rests.": tree("bird", "rests")}
    assert find(PAIR, pool) == []
    # 'the' is a function word: a third of the words is allowed, not with a lower limit.
    pool = {"The bird sings.": tree("bird", "sings")}
    assert find(PAIR, pool) and not find(PAIR, pool, ExemplarConfig(min_words=3, max_overlap=0.3))
    assert find(PAIR, pool, ExemplarConfig(min_words=4)) == []


def test_the_sentences_of_a_pair_are_not_its_exemplars() -> None:
    # Function words alone, which may be shared.
    parse = "(S (NP (PRP it)) (VP (VBZ is) (NP (DT this))))"
    pair = ParsedPair("It is that.", "It is this.", None, parse)
    config = ExemplarConfig(min_words=3, max_overlap=1)
    assert find(pair, {"It is this.": parse, "It is that.": parse}, config) == []
    assert find(pair, {"This is it.": parse}, config) == [("This is it.", 0)]


def test_the_order_of_the_pool_does_not_count() -> None:
    names = [f"noun{number}" for number in range(40)]
    pool = [(f"The {name} moves.", tree(name, "moves")) for name in names]
    chosen = set()
    for seed in range(3):
        random.Random(seed).shuffle(pool)
        finder = ExemplarFinder([PAIR], ExemplarConfig(min_words=3, candidates=5))
        finder.add([*pool, *pool, ("The rock.", None)])
        assert {len(bucket) for bucket in finder._buckets.values()} == {5}
        chosen.add(finder.choose()[0].exemplar)
    assert len(chosen) == 1


def test_drawn_pairs() -> None:
    pairs = [ParsedPair(f"a {number}", f"b {number}", None, "(S (NP))") for number in range(30)]
    unusable = [ParsedPair("x", "x", None, "(S (NP))"), ParsedPair("x", "y"), ParsedPair("", "y", None, "(S (NP))")]
    drawn = draw_pairs([*pairs, *unusable, *pairs], 10, 1)
    assert drawn == draw_pairs([*unusable, *pairs[::-1]], 10, 1) and len(set(drawn)) == 10
    assert set(drawn) != set(draw_pairs(pairs, 10, 2)) and len(draw_pairs(pairs, 100, 1)) == 30
    assert draw_pairs(pairs, 0, 1) == draw_pairs(pairs, -1, 1) == []


def test_a_language_without_a_list_of_function_words() -> None:
    finder = ExemplarFinder([PAIR], CONFIG, language="xx")
    finder.add([("The bird sings.", tree("bird", "sings"))])
    assert finder.choose()[0].exemplar == "The bird sings."


def test_bad_values() -> None:
    with pytest.raises(ConfigError, match="max_overlap"):
        ExemplarConfig(max_overlap=1.5)
