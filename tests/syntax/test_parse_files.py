"""Dependency trees, and CoNLL-U read from files, with errors that name the row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraloom.core.errors import DataError
from paraloom.papers.bbh22.productions import ProductionCounts
from paraloom.syntax.brackets import dependency_tree
from paraloom.syntax.conllu import read_conllu
from paraloom.text.trees import constituents

CONLLU = """# sent_id = 1
# text = The dog won't sleep.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tdog\tdog\tNOUN\tNN\t_\t5\tnsubj\t_\t_
3-4\twon't\t_\t_\t_\t_\t_\t_\t_\t_
3\two\twill\tAUX\tMD\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
5\tsleep\tsleep\tVERB\tVB\t_\t0\troot\t_\t_
5.1\tsleep\tsleep\tVERB\tVB\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

# a sentence without a parse

1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_
"""


def _trees(path: Path) -> list[str | None]:
    return [
        dependency_tree([word.form for word in words], [word.head for word in words], [word.relation for word in words])
        for _, words in read_conllu(path)
    ]


@pytest.mark.parametrize(
    ("words", "heads", "relations", "tree"),
    [
        (["Go"], [0], ["root"], "(root Go)"),
        (["He", "left"], [2, 0], ["nsubj", "root"], "(root (nsubj He) left)"),
        # Not projective: the words of the tree are in another order.
        (["a", "b", "c", "d"], [3, 4, 0, 3], ["x", "y", "root", "z"], "(root (x a) c (z (y b) d))"),
        (["Go", "Stop"], [0, 0], ["root", "root"], "(TOP (root Go) (root Stop))"),
        (["(", "New York", ""], [2, 0, 2], ["p", "root", "q"], "(root (p -LRB-) New_York (q _))"),
        ([], [], [], None),
    ],
)
def test_dependency_trees_by_hand(words: list[str], heads: list[int], relations: list[str], tree: str | None) -> None:
    assert dependency_tree(words, heads, relations) == tree


@pytest.mark.parametrize(
    ("heads", "message"),
    [([2, 1, 0], "cycle"), ([0, 4, 1], "got 4"), ([0, -1, 1], "got -1"), ([0, 2, 1], "got 2")],
)
def test_invalid_heads_are_refused(heads: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        dependency_tree(["a", "b", "c"], heads, ["x"] * 3)


@given(above=st.lists(st.integers(0, 10**6), min_size=1, max_size=12), order=st.randoms(use_true_random=False))
def test_every_word_has_its_depth(above: list[int], order: Any) -> None:
    # The head of word i is an earlier one, then all are shuffled: any tree can result.
    numbers = list(range(1, len(above) + 1))
    order.shuffle(numbers)
    heads = [0] * len(above)
    for i, drawn in enumerate(above):
        heads[numbers[i] - 1] = numbers[drawn % i] if i else 0
    depths = []
    for number in range(1, len(above) + 1):
        depth, head = 0, heads[number - 1]
        while head:
            depth, head = depth + 1, heads[head - 1]
        depths.append(depth)
    tree = dependency_tree([f"w{i}" for i in range(len(above))], heads, [f"r{i}" for i in range(len(above))])
    assert tree is not None
    assert {node.label: node.depth for node in constituents(tree)} == {f"r{i}": depth for i, depth in enumerate(depths)}
    assert sorted(piece.rstrip(")") for piece in tree.split() if piece[0] == "w") == sorted(
        f"w{i}" for i in range(len(above))
    )


def test_a_long_chain_of_words_is_a_tree() -> None:
    n = 20_000
    tree = dependency_tree(["w"] * n, list(range(n)), ["r"] * n)
    assert tree is not None and tree.endswith("w" + ")" * n)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_conllu_gives_dependency_trees(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "trees.conllu"
    path.write_text(CONLLU, newline=ending)
    assert _trees(path) == [
        "(root (nsubj (det The) dog) (aux wo) (advmod n't) sleep (punct .))",
        None,
        "(root Go)",
    ]


@pytest.mark.parametrize(
    ("name", "text", "row", "message"),
    [
        ("trees.conllu", "1\tGo\tgo\n", 1, "has no head of the word"),
        ("trees.conllu", CONLLU.replace("\t0\troot", "\t_\troot"), 8, "has no head of the word"),
        ("trees.conllu", CONLLU.replace("\n4\t", "\n7\t"), 7, "expected word 4, got word 7"),
        ("trees.conllu", "(S (VP Go))\n", 1, "expected the number of a word"),
    ],
)
def test_an_invalid_file_names_its_row(tmp_path: Path, name: str, text: str, row: int, message: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match=message) as error:
        _trees(path)
    assert (error.value.file, error.value.row) == (str(path), row)


def test_a_real_treebank_of_dependencies(data: Path) -> None:
    trees = _trees(data / "treebank/ud-english-ewt/en_ewt-ud-test.conllu.gz")
    assert len(trees) == 2077 and all(trees)
    counts = ProductionCounts.from_trees(trees)
    assert counts.unparsed == 0
    assert all(production.split()[0] == "root" for production in counts.counts)
    assert "root -> nsubj obj punct" in counts.most_common(20)
