"""The grammar parser: reading a treebank, estimating a grammar by hand, the most likely tree against a search."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paraloom.core.errors import DataError, ModelError
from paraloom.text.trees import constituents, skeleton

pytest.importorskip("nltk", reason="parsing needs nltk: pip install 'paraloom[syntax]'")

from nltk.tree import Tree

from paraloom.papers.grammar import Grammar, binarize
from paraloom.papers.grammar_parser import MAX_WORDS, GrammarParser
from paraloom.syntax.parseval import bracket_f1, evalb_f1, tag_accuracy
from paraloom.syntax.treebank import clean, read_treebank

TREES = """
( (S (NP-SBJ-1 (DT The) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat)
     (PP (IN on) (NP (DT the) (NN mat))))) (. .)) )
(S (NP (DT The) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog)) (PP (IN on) (NP (DT the) (NN mat)))) (. .))
(S (NP-SBJ (-NONE- *)) (VP (VB Sleep)) (. .))
(S (NP (PRP It)) (VP (VBZ sleeps)) (. .))
"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    path = tmp_path / "trees.mrg"
    path.write_text(TREES * 5)
    return path


def test_constituents_by_hand() -> None:
    nodes = constituents("(S (NP (DT The) (NN dog)) (VP (VBZ sleeps)))")
    assert [tuple(node) for node in nodes] == [
        ("S", 0, 3, 0),
        ("NP", 0, 2, 1),
        ("DT", 0, 1, 2),
        ("NN", 1, 2, 2),
        ("VP", 2, 3, 1),
        ("VBZ", 2, 3, 2),
    ]


@pytest.mark.parametrize("tree", ["", "snow", "(S", "(S (NP x)", "(S x))", "((S x))", "(S x) (S y)", "()", "(S x) y"])
def test_invalid_trees_are_refused(tree: str) -> None:
    with pytest.raises(DataError, match="not one bracketed tree"):
        constituents(tree)


def test_the_skeleton_keeps_the_upper_levels() -> None:
    tree = "(S (NP (DT The) (NN dog)) (VP (VBZ sees) (NP (PRP it))) (. .))"
    assert skeleton(tree) == "(S (NP) (VP) (.))"
    assert skeleton(tree, 1) == "(S)"
    assert skeleton(tree, 3) == "(S (NP (DT) (NN)) (VP (VBZ) (NP)) (.))"


def test_a_treebank_loses_traces_and_function_tags(treebank: Path) -> None:
    trees = [tree.pformat(margin=1000) for tree in read_treebank(treebank)]
    assert len(trees) == 20
    assert trees[0].startswith("(S (NP (DT The) (NN dog)) (VP")
    assert trees[2] == "(S (VP (VB Sleep)) (. .))"


@pytest.mark.parametrize(
    ("text", "row", "message"),
    [
        ("(S (VB Go))\n(S (VB Go)\n", 2, "are not closed"),
        ("(S (VB Go)))\n", 1, "has no opening bracket"),
        ("(S (VB Go))\nGo on\n", 2, "not a bracketed tree"),
        ("(S (VB Go))\n\n(S (VB Go) ())\n", 3, "not a tree"),
    ],
)
def test_a_broken_treebank_names_its_row(tmp_path: Path, text: str, row: int, message: str) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(text)
    with pytest.raises(DataError, match=message) as error:
        list(read_treebank(path))
    assert error.value.row == row


def test_probabilities_are_relative_frequencies(treebank: Path) -> None:
    grammar = Grammar.from_trees(read_treebank(treebank))
    number = {symbol: index for index, symbol in enumerate(grammar.symbols)}
    pairs = {(left, right, parent): p for left, right, parent, p in grammar.pairs}
    # Of the NPs below an S, two are DT NN and one is a PRP alone.
    assert pairs[number["DT"], number["NN"], number["NP^<S>"]] == pytest.approx(math.log(2 / 3), abs=1e-4)
    singles = {(child, parent): p for child, parent, p in grammar.singles}
    assert singles[number["PRP"], number["NP^<S>"]] == pytest.approx(math.log(1 / 3), abs=1e-4)
    for parent in range(len(grammar.symbols)):
        shares = [math.exp(p) for *_, above, p in [*grammar.pairs, *grammar.singles] if above == parent]
        assert not shares or sum(shares) == pytest.approx(1, abs=1e-3)
    # A word that always has the same tag.
    (tag, score), *_ = sorted(grammar.tags("the", first=False), key=lambda entry: -entry[1])
    assert tag == number["DT"] and score > 0


def test_it_parses_sentences_like_those_of_the_treebank(treebank: Path) -> None:
    parser = GrammarParser(Grammar.from_trees(read_treebank(treebank)))
    assert parser.parse(["It sees the mat."]) == ["(S (NP (PRP It)) (VP (VBZ sees) (NP (DT the) (NN mat))) (. .))"]
    # An unknown word.
    assert parser.parse(["The wug sleeps."]) == ["(S (NP (DT The) (NN wug)) (VP (VBZ sleeps)) (. .))"]


def test_sentences_that_cannot_be_parsed_have_no_tree(treebank: Path) -> None:
    parser = GrammarParser(Grammar.from_trees(read_treebank(treebank)))
    assert parser.parse(["", "dog " * (MAX_WORDS + 1)]) == [None, None]
    assert parser.parse_words(["on", "on"]) is None


@settings(deadline=None, max_examples=60)
@given(text=st.text(max_size=40) | st.text(alphabet="ab ()[]{}:-.\x00\x1c\u2028", max_size=40))
def test_the_tree_of_any_text_is_valid(text: str) -> None:
    parser = GrammarParser(Grammar.from_trees(clean(Tree.fromstring(text)) for text in _ONE_LINE))
    for tree in (*parser.parse([text]), parser.parse_words(text.split())):
        assert tree is None or constituents(tree)[0].depth == 0


@settings(deadline=None, max_examples=30)
@given(words=st.lists(st.sampled_from(["the", "dog", "cat", "sees", "on", "mat", "it"]), min_size=1, max_size=5))
def test_it_finds_the_most_likely_tree(words: list[str]) -> None:
    grammar = Grammar.from_trees(clean(Tree.fromstring(text)) for text in _ONE_LINE)
    tree = GrammarParser(grammar, beam=0).parse_words(words)
    best = _search(grammar, words)
    assert (tree is None) == (best == -math.inf)
    if tree is not None:
        assert _score(grammar, tree) == pytest.approx(best, abs=1e-3)


_ONE_LINE = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (NP (DT a) (NN cat)) (PP (IN on) (NP (DT the) (NN mat))))))",
    "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog)) (PP (IN on) (NP (DT the) (NN mat)))))",
    "(S (NP (PRP it)) (VP (VBZ sleeps)))",
    "(S (NP (NN mat)) (VP (VBZ sees) (NP (PRP it))))",
]


def _search(grammar: Grammar, words: list[str]) -> float:
    """The best log-probability of a tree, by plain recursion over all splits and rules."""

    def best(symbol: int, first: int, last: int) -> float:
        score = -math.inf
        if last - first == 1:
            tags = dict(grammar.tags(words[first], first == 0))
            score = tags.get(symbol, score)
            for child, parent, p in grammar.singles:
                if parent == symbol and child in tags:
                    score = max(score, tags[child] + p)
        for left, right, parent, p in grammar.pairs:
            if parent == symbol:
                for split in range(first + 1, last):
                    score = max(score, best(left, first, split) + best(right, split, last) + p)
        return score

    return max(best(symbol, 0, len(words)) + p for symbol, p in grammar.roots)


def _score(grammar: Grammar, text: str) -> float:
    """The log-probability of a tree."""
    number = {symbol: index for index, symbol in enumerate(grammar.symbols)}
    tree = binarize(Tree.fromstring(text))
    words = tree.leaves()
    pairs = {(left, right, parent): p for left, right, parent, p in grammar.pairs}
    singles = {(child, parent): p for child, parent, p in grammar.singles}
    total = dict(grammar.roots)[number[tree.label()]]
    positions = itertools.count()
    for node in tree.subtrees():
        labels = [number[child.label()] for child in node if not isinstance(child, str)]
        if not labels:
            position = next(positions)
            total += dict(grammar.tags(words[position], position == 0))[number[node.label()]]
        elif len(labels) == 1:
            total += singles[labels[0], number[node.label()]]
        else:
            total += pairs[labels[0], labels[1], number[node.label()]]
    return total


def test_bracket_f1_by_hand() -> None:
    gold = "(S (NP (DT The) (NN dog)) (VP (VBZ sees) (NP (PRP it))))"
    predicted = "(S (NP (DT The) (NN dog)) (VP (VBZ sees)) (NP (PRP it)))"
    # Four constituents each, with S, NP and NP in common; the VP ends elsewhere.
    assert bracket_f1([(predicted, gold)]) == pytest.approx(75)
    assert bracket_f1([(gold, gold)]) == 100
    # A sentence without a tree has none of the four.
    assert bracket_f1([(None, gold), (gold, gold)]) == pytest.approx(200 * 4 / 12)


def test_evalb_f1_by_hand() -> None:
    gold = "(TOP (S (`` ``) (NP (NN snow)) (VP (VBZ falls) (PRT (RP down))) (. .) ('' '')))"
    # The quotes and the full stop are nobody's words: S still covers all others, as the VP does its two.
    predicted = "(S (`` ``) (NP (NN snow)) (VP (VBZ falls) (ADVP (RB down)) (. .)) ('' ''))"
    assert evalb_f1([(predicted, gold)]) == 100
    assert bracket_f1([(predicted, gold)]) == pytest.approx(200 * 2 / 9)  # S and NP, of 4 and 5
    # A constituent of punctuation alone does not count.
    assert evalb_f1([(gold.replace("(. .)", "(X (. .))"), gold)]) == 100
    # The VP is not found: 3 of 3 and 3 of 4.
    whole = "(S (NP (NN snow)) (VP (VBZ falls) (PRT (RP down))))"
    assert evalb_f1([("(S (NP (NN snow)) (VBZ falls) (PRT (RP down)))", whole)]) == pytest.approx(200 * 3 / 7)
    assert evalb_f1([(None, gold)]) == 0


def test_tag_accuracy_by_hand() -> None:
    gold = "(S (NP (NN snow)) (VP (VBZ falls) (PRT (RP down))))"
    assert tag_accuracy([("(S (NN snow) (VP (VBZ falls) (RB down)))", gold)]) == pytest.approx(100 * 2 / 3)
    assert tag_accuracy([(None, gold), (gold, gold)]) == 50


def test_a_missing_or_incomplete_grammar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"grammar\.json not found"):
        Grammar.load(tmp_path)
    (tmp_path / "grammar.json").write_text('{"symbols": []}')
    with pytest.raises(ModelError, match="not a grammar"):
        Grammar.load(tmp_path)


@pytest.mark.slow
def test_the_commands_train_and_parse(treebank: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    from typer.testing import CliRunner

    from paraloom.cli.main import app

    def call(*arguments: object) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.output

    assert "trees: 20" in call("train", "parser", treebank, "--method", "grammar", "-o", tmp_path / "parser")
    (tmp_path / "pairs.tsv").write_text("src\ttgt\nIt sleeps.\tThe dog sleeps.\n" + "on on\tIt sleeps.\n")
    call("parse", tmp_path / "pairs.tsv", "--parser", tmp_path / "parser", "-o", tmp_path / "parsed.parquet")
    table = pq.read_table(tmp_path / "parsed.parquet")
    assert table.column("src_parse").to_pylist() == ["(S (NP (PRP It)) (VP (VBZ sleeps)) (. .))", None]
    assert all(table.column("tgt_parse").to_pylist())
    # The statistics include the trees.
    (tmp_path / "pairs.tsv").write_text("src\ttgt\nIt sleeps.\tThe dog sleeps.\nIt sleeps.\tSleep.\n")
    call("parse", tmp_path / "pairs.tsv", "--parser", tmp_path / "parser", "-o", tmp_path / "second.parquet")
    assert "parse entropy" in call("stats", tmp_path / "second.parquet")


def test_the_real_treebank_is_parsed(data: Path) -> None:
    trees = list(read_treebank(data / "treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz"))
    assert len(trees) == 3914
    held = [tree for tree in trees[-150:] if len(tree.leaves()) <= 25]
    parser = GrammarParser(Grammar.from_trees(trees[:-150]))
    trees_found = [parser.parse_words(tree.leaves()) for tree in held]
    assert bracket_f1((ours, tree.pformat(margin=2**31)) for ours, tree in zip(trees_found, held, strict=True)) > 70
    assert sum(tree is None for tree in trees_found) <= 1
    assert parser.parse(["The man is riding a bike."])[0].startswith("(S (NP ")  # type: ignore[union-attr]
