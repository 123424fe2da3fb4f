"""Phrase-structure trees out of dependencies: hand-made sentences, errors, and a treebank."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraloom.core.errors import DataError
from paraloom.syntax.conllu import Word, is_conllu, read_conllu
from paraloom.syntax.treebank import constituent_tree
from paraloom.text.trees import constituents


def sentence(*lines: str) -> list[Word]:
    """Words of lines `form category tag head relation`."""
    fields = [line.split() for line in lines]
    return [Word(form, category, tag, int(head), relation) for form, category, tag, head, relation in fields]


STATEMENT = sentence(
    "In ADP IN 3 case",
    "the DET DT 3 det",
    "morning NOUN NN 7 obl",
    ", PUNCT , 3 punct",
    "he PRON PRP 7 nsubj",
    "has AUX VBZ 7 aux",
    "left VERB VBN 0 root",
    "home NOUN NN 7 obj",
    ". PUNCT . 7 punct",
)


def test_a_statement_with_a_phrase_in_front() -> None:
    assert constituent_tree(STATEMENT) == (
        "(S (PP (IN In) (NP (DT the) (NN morning))) (, ,) (NP (PRP he)) "
        "(VP (VBZ has) (VP (VBN left) (NP (NN home)))) (. .))"
    )


def test_a_question_with_an_inverted_verb() -> None:
    words = sentence(
        "Did AUX VBD 3 aux", "you PRON PRP 3 nsubj", "see VERB VB 0 root", "it PRON PRP 3 obj", "? PUNCT . 3 punct"
    )
    assert constituent_tree(words) == "(SQ (VBD Did) (NP (PRP you)) (VP (VB see) (NP (PRP it))) (. ?))"


def test_a_question_with_a_question_word() -> None:
    words = sentence(
        "Where ADV WRB 4 advmod", "do AUX VBP 4 aux", "you PRON PRP 4 nsubj", "live VERB VB 0 root", "? PUNCT . 4 punct"
    )
    assert constituent_tree(words) == ("(SBARQ (WHADVP (WRB Where)) (SQ (VBP do) (NP (PRP you)) (VP (VB live))) (. ?))")


def test_a_question_word_as_subject() -> None:
    words = sentence("Who PRON WP 2 nsubj", "came VERB VBD 0 root", "? PUNCT . 2 punct")
    assert constituent_tree(words) == "(SBARQ (WHNP (WP Who)) (SQ (VP (VBD came))) (. ?))"


def test_a_question_phrase_as_predicate() -> None:
    words = sentence(
        "What PRON WP 0 root", "is AUX VBZ 1 cop", "the DET DT 4 det", "time NOUN NN 1 nsubj", "? PUNCT . 1 punct"
    )
    assert constituent_tree(words) == ("(SBARQ (WHNP (WP What)) (SQ (VBZ is) (NP (DT the) (NN time))) (. ?))")
    words = sentence(
        "I PRON PRP 2 nsubj", "know VERB VBP 0 root", "what PRON WP 2 ccomp", "it PRON PRP 3 nsubj",
        "is AUX VBZ 3 cop", ". PUNCT . 2 punct",
    )  # fmt: skip
    assert constituent_tree(words) == (
        "(S (NP (PRP I)) (VP (VBP know) (SBAR (WHNP (WP what)) (S (NP (PRP it)) (VP (VBZ is))))) (. .))"
    )


def test_a_clause_that_begins_with_a_question_word_asks_nothing() -> None:
    words = sentence(
        "When ADV WRB 3 advmod", "he PRON PRP 3 nsubj", "came VERB VBD 6 advcl", ", PUNCT , 3 punct",
        "she PRON PRP 6 nsubj", "left VERB VBD 0 root", ". PUNCT . 6 punct",
    )  # fmt: skip
    assert constituent_tree(words) == (
        "(S (SBAR (WHADVP (WRB When)) (S (NP (PRP he)) (VP (VBD came)))) (, ,) (NP (PRP she)) (VP (VBD left)) (. .))"
    )


def test_a_relative_clause_and_a_copula() -> None:
    words = sentence(
        "The DET DT 2 det", "man NOUN NN 6 nsubj", "who PRON WP 4 nsubj", "called VERB VBD 2 acl:relcl",
        "is AUX VBZ 6 cop", "tall ADJ JJ 0 root", ". PUNCT . 6 punct",
    )  # fmt: skip
    assert constituent_tree(words) == (
        "(S (NP (NP (DT The) (NN man)) (SBAR (WHNP (WP who)) (S (VP (VBD called))))) "
        "(VP (VBZ is) (ADJP (JJ tall))) (. .))"
    )


def test_subordinate_clauses_and_infinitives() -> None:
    words = sentence(
        "I PRON PRP 2 nsubj", "think VERB VBP 0 root", "that SCONJ IN 5 mark", "he PRON PRP 5 nsubj",
        "wants VERB VBZ 2 ccomp", "to PART TO 7 mark", "go VERB VB 5 xcomp", ". PUNCT . 2 punct",
    )  # fmt: skip
    assert constituent_tree(words) == (
        "(S (NP (PRP I)) (VP (VBP think) (SBAR (IN that) (S (NP (PRP he)) "
        "(VP (VBZ wants) (S (VP (TO to) (VP (VB go)))))))) (. .))"
    )


def test_coordination_of_clauses_verb_phrases_and_nouns() -> None:
    clauses = sentence(
        "He PRON PRP 2 nsubj", "came VERB VBD 0 root", "and CCONJ CC 5 cc", "she PRON PRP 5 nsubj",
        "left VERB VBD 2 conj", ". PUNCT . 2 punct",
    )  # fmt: skip
    assert constituent_tree(clauses) == (
        "(S (S (NP (PRP He)) (VP (VBD came))) (CC and) (S (NP (PRP she)) (VP (VBD left))) (. .))"
    )
    verbs = sentence(
        "He PRON PRP 2 nsubj", "came VERB VBD 0 root", "and CCONJ CC 4 cc", "left VERB VBD 2 conj", ". PUNCT . 2 punct"
    )
    assert constituent_tree(verbs) == ("(S (NP (PRP He)) (VP (VP (VBD came)) (CC and) (VP (VBD left))) (. .))")
    nouns = sentence("cats NOUN NNS 0 root", "and CCONJ CC 3 cc", "dogs NOUN NNS 1 conj")
    assert constituent_tree(nouns) == "(NP (NP (NNS cats)) (CC and) (NP (NNS dogs)))"


def test_imperatives_particles_and_possessives() -> None:
    words = sentence(
        "Pick VERB VB 0 root", "up ADP RP 1 compound:prt", "Tom PROPN NNP 5 nmod:poss", "'s PART POS 3 case",
        "book NOUN NN 1 obj", "! PUNCT . 1 punct",
    )  # fmt: skip
    assert constituent_tree(words) == ("(S (VP (VB Pick) (PRT (RP up)) (NP (NP (NNP Tom) (POS 's)) (NN book))) (. !))")


def test_brackets_and_quotes_are_spelled_as_trees_spell_them() -> None:
    words = sentence('" PUNCT `` 2 punct', "Smile VERB VB 0 root", "\" PUNCT '' 2 punct", ":( SYM NFP 2 discourse")
    tree = constituent_tree(words)
    assert tree is not None
    assert "(`` ``)" in tree and "('' '')" in tree and "(NFP :-LRB-)" in tree


def test_crossing_constituents_give_no_tree() -> None:
    # "A hearing is scheduled on the issue today": the issue belongs to the hearing.
    words = sentence(
        "A DET DT 2 det", "hearing NOUN NN 4 nsubj", "is AUX VBZ 4 aux", "scheduled VERB VBN 0 root",
        "on ADP IN 7 case", "the DET DT 7 det", "issue NOUN NN 2 nmod", "today NOUN NN 4 obl", ". PUNCT . 4 punct",
    )  # fmt: skip
    assert constituent_tree(words) is None


def test_lists_with_long_chains_of_heads_give_no_tree() -> None:
    words = [Word("a", "NOUN", "NN", head, "conj" if head else "root") for head in range(3000)]
    assert constituent_tree(words) is None


@pytest.mark.parametrize(
    ("heads", "message"),
    [((0, 0), "one root, got 2"), ((2, 1), "one root, got 0"), ((0, 3, 2), "cycle"), ((0, 9), "got 9")],
)
def test_heads_that_are_not_a_tree(heads: tuple[int, ...], message: str) -> None:
    words = [Word("a", "NOUN", "NN", head, "dep") for head in heads]
    with pytest.raises(DataError, match=message):
        constituent_tree(words)


def test_suffixes() -> None:
    assert [is_conllu(name) for name in ("a.conllu", "a.conll.xz", "a.mrg.gz", "conllu")] == [True, True, False, False]


def test_a_treebank(data: Path) -> None:
    trees = [
        constituent_tree(words) for _, words in read_conllu(data / "treebank/ud-english-ewt/en_ewt-ud-dev.conllu.gz")
    ]
    converted = [tree for tree in trees if tree is not None]
    assert (len(trees), len(converted)) == (2001, 1956)
    nodes = [constituents(tree) for tree in converted]
    # The others are titles, names and interjections.
    assert sum(any(node.label == "VP" for node in tree) for tree in nodes) > 1300
    assert {tree[0].label for tree in nodes} <= {
        "S", "NP", "SBARQ", "SQ", "SINV", "FRAG", "INTJ", "ADJP", "ADVP", "PP", "VP", "SBAR", "WHNP", "WHADVP", "WHPP"
    }  # fmt: skip


def test_a_root_that_is_punctuation() -> None:
    assert constituent_tree(sentence(". PUNCT . 0 punct")) == "(FRAG (. .))"


@pytest.mark.parametrize("relation", ["nmod", "conj"])
def test_time_does_not_double_with_each_level_of_crossing_constituents(relation: str) -> None:
    # The first word belongs to the last one, and the root is between them: no level of the chain is in one piece.
    chain = [f"word{number} NOUN NN {number} {relation}" for number in range(2, 42)]
    assert constituent_tree(sentence("far ADV RB 42 advmod", "root NOUN NN 0 root", *chain)) is None
