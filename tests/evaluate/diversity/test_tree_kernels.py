"""Tree kernels: values by hand, parity with plain recursion, properties of a kernel, and invalid trees."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_trees import Prepared, parse, subset_kernel

from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.diversity.tree_differences import TreeStatistics, tree_kernel_difference
from paraloom.evaluate.diversity.tree_kernels import (
    BBH22,
    NO_NUMBER,
    TreeKernel,
    failures,
    kernel,
)
from paraloom.evaluate.diversity.tree_reading_kernels import MAX_NODES
from paraloom.evaluate.diversity.trees import read_trees
from paraloom.syntax.brackets import dependency_tree
from paraloom.syntax.conllu import read_conllu
from paraloom.syntax.treebank import read_brackets
from paraloom.text.tokens import token_hash

NP = "(NP (D a) (N cat))"
VP = f"(VP (V brought) {NP})"
SST = TreeKernel("sst")
SETTINGS = [
    TreeKernel("st"),
    SST,
    TreeKernel("st", decay=0.7, bare_words=True),
    TreeKernel("sst", decay=0.7, bare_words=True),
    BBH22,
]


def raw(a: str, b: str, setting: TreeKernel, leaves: str = "words") -> float:
    x, y = read_trees([a], leaves=leaves), read_trees([b], leaves=leaves)  # type: ignore[arg-type]
    return float(kernel(x, y, setting, normalize=False)[0])


def dependencies_of(path: Path) -> Iterator[str | None]:
    for _, words in read_conllu(path):
        yield dependency_tree(*zip(*((word.form, word.head, word.relation) for word in words), strict=True))


def gram(trees: object, setting: TreeKernel, normalize: bool = True) -> np.ndarray:
    n = len(trees)  # type: ignore[arg-type]
    pairs = np.indices((n, n)).reshape(2, -1).T
    return kernel(trees, trees, setting, pairs=pairs, normalize=normalize).reshape(n, n)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def penn(data: Path) -> list[str]:
    return [tree for _, tree in read_brackets(data / "treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz")]


@pytest.fixture(scope="module")
def conllu(data: Path) -> Path:
    return data / "treebank/ud-english-ewt/en_ewt-ud-dev.conllu.gz"


@pytest.mark.parametrize(
    ("a", "b", "setting", "leaves", "expected"),
    [
        # D a, N cat; the NP with each of them cut off or not.
        (NP, NP, TreeKernel("sst", decay=1.0), "words", 2 + 4),
        # V, D, N, four of NP, and VP with V cut off or not and NP cut off or in one of its four ways.
        (VP, VP, TreeKernel("sst", decay=1.0), "words", 3 + 4 + 2 * 5),
        (VP, VP, TreeKernel("st", decay=1.0), "words", 5),
        (f"(S (N Mary) {VP})", f"(S (N Mary) {VP})", TreeKernel("st", decay=1.0), "words", 7),
        # Without their words the two N are equal, so that they make four pairs.
        (f"(S (N Mary) {VP})", f"(S (N Mary) {VP})", TreeKernel("st", decay=1.0), "dummy", 5 + 4),
        # λ for D and N each, λ (1 + λ)² for NP; λ³ for the whole NP as a subtree.
        (NP, NP, TreeKernel("sst", decay=0.4), "words", 2 * 0.4 + 0.4 * 1.4**2),
        (NP, NP, TreeKernel("st", decay=0.4), "words", 2 * 0.4 + 0.4**3),
        (NP, "(NP (D a) (N dog))", TreeKernel("sst", decay=0.4), "words", 0.4 + 0.4 * 1.4),
        (NP, "(NP (N cat))", TreeKernel("sst", decay=0.4), "words", 0.4),
        # Four pairs of words, each of D and N with or without its own, NP over them: 3 · 3.
        (NP, NP, BBH22, "dummy", 4 + 2 + 2 + 9),
        (NP, NP, TreeKernel("st", decay=0.5, bare_words=True), "words", 2 / 2 + 2 / 4 + 1 / 32),
        # A word next to a phrase is part of the production, and not a fragment.
        ("(X (A a) , (B b))", "(X (A a) , (B c))", TreeKernel("sst", decay=0.5), "words", 0.5 + 0.5 * 1.5),
        ("(X (A a) , (B b))", "(X (A a) ; (B b))", TreeKernel("sst", decay=0.5), "words", 1.0),
        # A node without children equals only its like, never a word or a phrase.
        ("(S (NP) (VP))", "(S (NP) (VP))", TreeKernel("sst", decay=0.5), "dummy", 0.5),
        ("(S (NP) (VP))", "(S (NP x) (VP x))", TreeKernel("sst", decay=0.5), "dummy", 0.0),
        ("(S (NP))", "(S NP)", TreeKernel("sst", decay=0.5), "words", 0.0),
    ],
)
def test_values_by_hand(a: str, b: str, setting: TreeKernel, leaves: str, expected: float) -> None:
    assert raw(a, b, setting, leaves) == pytest.approx(expected, rel=1e-12)
    assert raw(b, a, setting, leaves) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "word", ["e-mail", "it's", "3.5", "$", "%", "1\u00a01/2", "été", "日本", "*T*-1", "-LRB-", "a|b"]
)
def test_every_word_becomes_one_dummy(word: str) -> None:
    a, b = read_trees(["(NP (D a) (N dog))"]), read_trees([f"(NP (D a) (N {word}))"])
    assert (a.labels == b.labels).all()
    assert kernel(a, b, SST).tolist() == [1.0]
    kept = [read_trees([text], leaves="words") for text in ("(NP (D a) (N dog))", f"(NP (D a) (N {word}))")]
    assert kernel(*kept, SST)[0] == pytest.approx((0.4 + 0.4 * 1.4) / (0.8 + 0.4 * 1.96))


def symmetric(count: int, value: Callable[[int, int], float]) -> np.ndarray:
    """The matrix of a symmetric function, each value computed once."""
    matrix = np.zeros((count, count))
    for i, j in zip(*np.triu_indices(count), strict=True):
        matrix[i, j] = matrix[j, i] = value(i, j)
    return matrix


# With bare words every pair of words is compared, so fewer trees are enough.
@pytest.mark.parametrize(("setting", "count"), [(TreeKernel("sst"), 200), (TreeKernel("st"), 200), (BBH22, 50)])
def test_penn_trees_against_plain_recursion(penn: list[str], setting: TreeKernel, count: int) -> None:
    plain = [Prepared(parse(text)) for text in penn[:count]]
    how = (setting.decay, int(setting.kind == "sst"), setting.bare_words)
    expected = symmetric(count, lambda i, j: subset_kernel(plain[i], plain[j], *how))
    trees = read_trees(penn[:count])
    np.testing.assert_allclose(gram(trees, setting, normalize=False), expected, rtol=1e-10)
    norm = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(gram(trees, setting), expected / norm / norm[:, None], rtol=1e-10)


def brackets(sentence: str) -> str:
    """A CoNLL-U sentence as brackets, by recursion."""
    rows = [line.split("\t") for line in sentence.split("\n") if line[:1] not in ("#", "")]
    rows = [row for row in rows if row[0].isdigit()]

    def node(row: list[str]) -> str:
        below = [(int(other[0]), node(other)) for other in rows if other[6] == row[0]]
        # Brackets are words in CoNLL-U, but would be brackets here.
        word = row[1].replace("(", "-LRB-").replace(")", "-RRB-").replace(" ", "_")
        return f"({row[7]} {' '.join(text for _, text in sorted([*below, (int(row[0]), word)]))})"

    return node(next(row for row in rows if row[6] == "0"))


def test_dependencies_of_ewt_are_read_and_compared(conllu: Path) -> None:
    sentences = gzip.decompress(conllu.read_bytes()).decode().split("\n\n")[:200]
    texts = [brackets(sentence) for sentence in sentences]
    trees, expected = read_trees(list(islice(dependencies_of(conllu), 200))), read_trees(texts)
    assert (trees.labels == expected.labels).all()
    assert (trees.sizes == expected.sizes).all()
    assert (trees.offsets == expected.offsets).all()
    plain = [Prepared(parse(text)) for text in texts]
    sst = symmetric(200, lambda i, j: subset_kernel(plain[i], plain[j], 0.4))
    np.testing.assert_allclose(gram(trees, TreeKernel("sst"), False), sst, rtol=1e-10)


def test_no_tree_of_the_corpora_fails(penn: list[str], conllu: Path) -> None:
    dependencies = list(dependencies_of(conllu))
    assert len(penn) == 3914 and len(dependencies) == 2001
    for trees in (read_trees(penn), read_trees(dependencies)):
        for setting in SETTINGS:
            assert failures(trees, setting) == {}


LEAVES = st.sampled_from(["a", "b", "(C)"])
TREES = st.recursive(
    st.builds(lambda label, words: f"({label} {' '.join(words)})", st.sampled_from("AB"), st.lists(LEAVES, min_size=1)),
    lambda below: st.builds(
        lambda label, children: f"({label} {' '.join(children)})",
        st.sampled_from("ABC"),
        st.lists(st.one_of(below, LEAVES), min_size=1, max_size=4),
    ),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(st.lists(TREES, min_size=2, max_size=5), st.sampled_from(SETTINGS), st.sampled_from(["dummy", "words"]))
def test_properties_of_a_kernel(texts: list[str], setting: TreeKernel, leaves: str) -> None:
    trees = read_trees(texts, leaves=leaves)  # type: ignore[arg-type]
    values = gram(trees, setting)
    assert (np.diag(values) == 1).all()
    np.testing.assert_allclose(values, values.T, rtol=1e-12)
    assert values.min() >= 0 and values.max() <= 1
    assert np.linalg.eigvalsh(values).min() >= -1e-9
    plain = [Prepared(parse(text, leaves == "dummy")) for text in texts]
    how = (setting.decay, int(setting.kind == "sst"), setting.bare_words)
    expected = [[subset_kernel(x, y, *how) for y in plain] for x in plain]
    np.testing.assert_allclose(gram(trees, setting, False), expected, rtol=1e-9, atol=1e-300)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="( )ab\n", max_size=25))
def test_any_text_is_a_tree_or_has_a_reason(text: str) -> None:
    trees = read_trees(["(S (NP x))", text, "(S (NP x))"])
    assert trees.good[0] and trees.good[2]
    assert trees.good[1] == (len(trees[1][0]) > 0)
    values = kernel(trees, trees, SST, pairs=[(0, 2), (0, 1), (1, 1)])
    assert values[0] == 1
    assert np.isnan(values[1:]).all() == (not trees.good[1])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no tree"),
        (" \n", "no tree"),
        ("(S (NP x)", "a bracket is never closed"),
        ("(", "a bracket is never closed"),
        ("( (S (NP x))", "a bracket is never closed"),
        ("(S (NP x)))", "a bracket closes that was never opened"),
        (")", "a bracket closes that was never opened"),
        ("(S ((NP x)))", "a node has no label"),
        ("()", "a node has no label"),
        ("( ( (S x) ) )", "a node has no label"),
        ("(S x) (S y)", "more than one tree"),
        ("( (S x) (S y) )", "more than one tree"),
        ("snow", "text outside of the tree"),
        ("(S x) y", "text outside of the tree"),
        ("( (S x) y)", "text outside of the tree"),
        ("(NP)", "one node alone, without children"),
        ("(Q x)", "a label that is not among the known ones"),
        ("(S " + "x " * MAX_NODES + ")", f"more than {MAX_NODES} nodes"),
    ],
)
def test_invalid_trees_have_a_reason(text: str, reason: str) -> None:
    known = ["S", "NP", "VP"]
    trees = read_trees(["(S (NP x) (VP x))", text, "(NP x)"], labels=known)
    assert trees.good.tolist() == [True, False, True]
    assert trees.failures() == failures(trees, SST) == {reason: 1}
    assert len(trees[1][0]) == 0


def test_arrays() -> None:
    trees = read_trees(["(S (NP x)", "( (S (NP x) (VP (V y))) )", None], leaves="words")  # type: ignore[list-item]
    labels, sizes = trees[1]
    assert sizes.tolist() == [6, 2, 1, 3, 2, 1]
    assert labels[[0, 1, 3, 4]].tolist() == [token_hash(label) for label in ("S", "NP", "VP", "V")]
    assert np.shares_memory(labels, trees.labels) and np.shares_memory(trees[-2][1], trees.sizes)
    assert not labels.flags.writeable
    with pytest.raises(IndexError):
        trees[3]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: str(setting))
def test_deep_trees(setting: TreeKernel) -> None:
    depth = 3000
    chain = "(A " * depth + "x" + ")" * depth
    trees = read_trees([chain, chain, f"(B {chain})", "(A x)"])
    values = kernel(trees, trees, setting, pairs=[(0, 1), (0, 2), (0, 3)])
    assert values[0] == 1 and 0 < values[2] < values[1] <= 1


def test_a_unary_chain_by_hand() -> None:
    # From p nodes above the last: p + 1 fragments reach the word, and fewer do not.
    n = 500
    chain = "(A " * n + "x" + ")" * n
    above = np.arange(1, n)
    others = np.minimum.outer(above, above).sum() - above.sum()
    assert raw(chain, chain, TreeKernel("sst", decay=1.0)) == n * (n + 1) // 2 + others


def test_trees_that_a_kernel_cannot_count_are_failures() -> None:
    wide = f"(S {'(N x) ' * 1001})"
    trees = read_trees([wide, "(S (N x))", "(S (N x)"])
    assert failures(trees, SST) == {"a bracket is never closed": 1}
    assert failures(trees, BBH22) == {"a bracket is never closed": 1, NO_NUMBER: 1}
    # Large kernels do not overflow when they are normalized.
    large = read_trees([f"(S {'(N x) ' * 900})", f"(S {'(N x) ' * 900})"])
    assert kernel(large, large, TreeKernel(decay=1.0), pairs=[(0, 1)])[0] == pytest.approx(1)


def test_group_differences_and_counts() -> None:
    a, b, c = "(S (NP x) (VP x))", "(S (NP x) (VP x) (. x))", "(FRAG (NN x))"
    trees = read_trees([a, c, a, b, c, "", "(S", c])
    groups = [0, 1, 0, 0, 1, 2, 2, 2]
    values = tree_kernel_difference(trees, groups, SST)
    near = 0.8 / np.sqrt((0.8 + 0.4 * 1.4**2) * (1.2 + 0.4 * 1.4**3))
    assert values[:2] == pytest.approx([100 - 100 * (1 + 2 * near) / 3, 0])
    assert np.isnan(values[2])
    whole = TreeStatistics.of(trees, groups, SST)
    assert (whole.groups, whole.short, whole.trees) == (3, 1, 8)
    assert whole.failed == {"no tree": 1, "a bracket is never closed": 1}
    assert whole.differences.estimate().value == pytest.approx(values[:2].mean())
    parts = TreeStatistics.of(read_trees([a, a, b]), [0, 0, 0], SST) + TreeStatistics.of(
        read_trees([c, c, "", "(S", c]), [0, 0, 1, 1, 1], SST
    )
    assert (parts.groups, parts.short, parts.trees, parts.failed) == (3, 1, 8, whole.failed)
    assert parts.differences.mean == pytest.approx(whole.differences.mean)
    assert parts.signature == whole.signature and "kind:sst|decay:0.4" in whole.signature
    with pytest.raises(ConfigError, match="cannot be added"):
        whole + TreeStatistics.of(trees, groups, BBH22)
    assert tree_kernel_difference(read_trees([]), [], SST).tolist() == []


def test_signature_has_all_settings() -> None:
    trees = read_trees([], leaves="words")
    assert (
        TreeKernel("sst")
        .signature(trees)
        .startswith("tree_kernel|kind:sst|decay:0.4|bare_words:no|leaves:words|version:")
    )


def test_invalid_arguments_are_refused() -> None:
    trees, words = read_trees(["(S x)"]), read_trees(["(S x)"], leaves="words")
    for call in (
        lambda: TreeKernel("sct"),  # type: ignore[arg-type]
        lambda: TreeKernel(decay=0.0),
        lambda: TreeKernel(decay=1.5),
        lambda: read_trees([], leaves="dumy"),  # type: ignore[arg-type]
        lambda: kernel(trees, words, SST),
        lambda: kernel(trees, read_trees([]), SST),
        lambda: kernel(trees, trees, SST, pairs=[(0, -1)]),
        lambda: kernel(trees, trees, SST, pairs=[(0, 1)]),
        lambda: tree_kernel_difference(trees, [-1], SST),
        lambda: tree_kernel_difference(trees, [0.5], SST),
    ):
        with pytest.raises(ConfigError):
            call()
    with pytest.raises(DataError, match="group"):
        tree_kernel_difference(trees, [0, 1], SST)
