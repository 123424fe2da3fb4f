"""Syntax groups: root productions by hand, the choice of groups, and the stages from parsed pairs to fine-tuning."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_language import TOY_CONFIG, bitext

from paraloom.core.errors import ConfigError, DataError, ModelError
from paraloom.core.schema import PAIRS
from paraloom.core.stats import paired_difference
from paraloom.io import Corpus, write_corpus
from paraloom.papers.bbh22.productions import ProductionCounts, root_production
from paraloom.papers.bbh22.syntax_group_stages import find_syntax_groups
from paraloom.papers.bbh22.syntax_groups import SyntaxGrouping, choose_groups
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import parse_pipeline

DECLARATIVE = "(S (NP x) (VP y) (. .))"
FRONTED = "(S (PP x) (, ,) (NP y) (VP z) (. .))"
FRAGMENT = "(FRAG (NP x) (. .))"
QUESTION = "(SQ (VBZ x) (NP y) (. ?))"


@pytest.mark.parametrize(
    ("tree", "production"),
    [
        (FRONTED, "S -> PP , NP VP ."),
        ("( (S (NP x) (VP y)) )", "S -> NP VP"),
        ("((S (NP x) (VP y)))", "S -> NP VP"),
        ("(ROOT (S (NP x) (VP y)))", "S -> NP VP"),
        ("( (TOP (S1 (S (NP x) (VP y)))) )", "S -> NP VP"),
        # Two sentences below ROOT: it is the root.
        ("(ROOT (S (NP x)) (S (NP y)))", "ROOT -> S S"),
        ("(S (NP-SBJ-1 (NN x)) (VP (VB y)) (. .))", "S -> NP VP ."),
        ("(S (NP=2 x) (NP|X y) (-LRB- -LRB-))", "S -> NP NP -LRB-"),
        # A phrase that holds only a trace is left out, one that also holds a word is not.
        ("(S (NP-SBJ (-NONE- *)) (VP (VB Go)) (. .))", "S -> VP ."),
        ("(S (NP (-NONE- *) (NN x)) (VP y))", "S -> NP VP"),
        ("(TOP (NP (-NONE- *)) (S (VP y)))", "S -> VP"),
        ("(ZZZ (QQ x) (ÄÖ y))", "ZZZ -> QQ ÄÖ"),
        ("(root (nsubj (det The) dog) sleeps (punct .))", "root -> nsubj punct"),
        # With a word of its own, ROOT is a relation.
        ("(ROOT (nsubj He) sleeps)", "ROOT -> nsubj"),
        ("(root Go)", "root"),
        ("(ROOT (NP (NN x)))", "NP -> NN"),
        (None, None),
        ("(S (NP (-NONE- *)))", None),
        ("(S (NP))", None),
    ],
)
def test_root_productions_by_hand(tree: str | None, production: str | None) -> None:
    assert root_production(tree) == production


@pytest.mark.parametrize("tree", ["(S (NP x)", "(S (NP x)))", "snow", "", "(S x) (S y)", "( (S x) (S y) )"])
def test_invalid_trees_are_refused(tree: str) -> None:
    with pytest.raises(DataError, match="not one bracketed tree"):
        root_production(tree)


def test_counts_name_the_row_of_a_broken_tree() -> None:
    with pytest.raises(DataError) as error:
        ProductionCounts.from_trees([DECLARATIVE, None, "(S (NP x)"])
    assert error.value.row == 3


@given(trees=st.lists(st.sampled_from([DECLARATIVE, FRONTED, FRAGMENT, QUESTION, None])), cut=st.integers(0, 20))
def test_counts_merge_over_batches(trees: list[str | None], cut: int) -> None:
    whole = ProductionCounts.from_trees(trees)
    assert ProductionCounts.from_trees(trees[:cut]) + ProductionCounts.from_trees(trees[cut:]) == whole
    assert whole.rows == len(trees) and whole.unparsed == trees.count(None)
    assert whole.counts["S -> NP VP ."] == trees.count(DECLARATIVE)


@pytest.mark.parametrize(
    ("min_rows", "names"),
    [
        (0, [["a"], ["b"], ["c"]]),
        (20, [["a"], ["b"], ["c"]]),
        # As in a footnote of BBH22, the third is too small, so the fourth joins it; then the fifth as well.
        (30, [["a"], ["b"], ["c", "d"]]),
        (40, [["a"], ["b"], ["c", "d", "e"]]),
    ],
)
def test_small_groups_are_joined(min_rows: int, names: list[list[str]]) -> None:
    counts = Counter(a=90, b=50, c=20, d=15, e=9, f=1)
    groups = choose_groups(counts, 3, min_rows)
    assert [list(group.productions) for group in groups] == names
    assert [group.rows for group in groups] == [sum(counts[name] for name in group) for group in names]
    assert [group.group for group in groups] == [1, 2, 3]


def test_equally_frequent_productions_are_in_alphabetical_order() -> None:
    assert [g.name for g in choose_groups(Counter(dict(b=3, c=3, a=3)), 2)] == ["a", "b"]


@pytest.mark.parametrize(
    ("counts", "k", "min_rows", "message"),
    [
        (Counter(a=5, b=3), 3, 0, "give only 2 groups, not 3"),
        (Counter(a=5, b=3), 2, 4, "give only 1 groups of 4 rows or more, not 2"),
        (Counter(), 1, 0, "0 parsed rows with 0 root productions"),
    ],
)
def test_too_few_productions_are_an_error(counts: Counter[str], k: int, min_rows: int, message: str) -> None:
    with pytest.raises(DataError, match=message):
        choose_groups(counts, k, min_rows)


@given(
    sizes=st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 50), max_size=12),
    k=st.integers(1, 4),
    min_rows=st.integers(0, 60),
)
def test_groups_are_disjoint_and_large_enough(sizes: dict[str, int], k: int, min_rows: int) -> None:
    counts = Counter(sizes)
    try:
        groups = choose_groups(counts, k, min_rows)
    except DataError:
        assert _greedy(sorted(sizes.values(), reverse=True), min_rows) < k
        return
    taken = [production for group in groups for production in group.productions]
    assert len(groups) == k and len(set(taken)) == len(taken)
    assert all(group.rows >= min_rows for group in groups)
    # No remaining production is more frequent than a chosen one.
    assert not set(sizes) - set(taken) or max(sizes[e] for e in set(sizes) - set(taken)) <= min(sizes[e] for e in taken)


def _greedy(sizes: list[int], min_rows: int) -> int:
    """How many groups there are when productions are taken one by one, the most frequent first."""
    groups, rows = 0, 0
    for size in sizes:
        rows += size
        if rows >= min_rows:
            groups, rows = groups + 1, 0
    return groups


def test_invalid_numbers_are_refused() -> None:
    for k, min_rows in ((0, 0), (1, -1)):
        with pytest.raises(ConfigError):
            choose_groups(Counter(a=1), k, min_rows)


def test_missing_or_incomplete_groups_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"groups\.json not found"):
        SyntaxGrouping.load(tmp_path)
    (tmp_path / "groups.json").write_text('{"column": "tgt_parse"}')
    with pytest.raises(ModelError, match="not syntax groups"):
        SyntaxGrouping.load(tmp_path)


def test_root_productions_of_the_penn_treebank(data: Path) -> None:
    pytest.importorskip("nltk", reason="the plain reference reads trees by nltk")
    from nltk.tree import Tree

    from paraloom.syntax.treebank import clean, read_brackets, read_treebank

    path = data / "treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz"
    raw = [text for _, text in read_brackets(path)]
    counts = ProductionCounts.from_trees(raw)
    assert counts.rows == 3914 and counts.unparsed == 0
    # The reference: the roots of nltk's trees, cleaned as for a grammar.
    reference = Counter(
        f"{tree.label()} -> {' '.join(child.label() for child in tree)}" for tree in read_treebank(path)
    )
    assert counts.counts == reference
    assert counts.most_common(3)[0] == "S -> NP VP ."
    assert "S -> PP , NP VP ." in counts.most_common(10)
    assert clean(Tree.fromstring("(S (NP (-NONE- *)))")) is None


def _write(folder: Path, trees: list[str | None], pairs: list[tuple[str, str]] | None = None) -> Path:
    pairs = pairs or [(f"s{i}", f"t{i}") for i in range(len(trees))]
    rows = [
        {"pair_id": f"p{i}", "src": s, "tgt": t, "src_lang": "xk", "tgt_lang": "en", "origin": "toy", "tgt_parse": tree}
        for i, ((s, t), tree) in enumerate(zip(pairs, trees, strict=True))
    ]
    schema = PAIRS.append(pa.field("tgt_parse", pa.string()))
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=schema)], kind="PAIRS", shard_rows=40)
    return folder


TREES = [DECLARATIVE] * 50 + [FRONTED] * 30 + [FRAGMENT] * 10 + [QUESTION] * 8 + [None] * 2


def _run(folder: Path, *stages: str) -> Path:
    text = "\n".join(f"[[stage]]\n{stage}" for stage in stages)
    return run_pipeline(parse_pipeline(text, file=folder / "toy.toml"), folder / "run", workers=1).stages[-1].folder


PICK = 'use = "pick-syntax-group"\ninput = "parsed"\n'
GROUPS = 'use = "syntax-groups"\npairs = "parsed"\nmin_rows = 15'


def test_a_group_is_kept_and_the_others_are_rejected(tmp_path: Path) -> None:
    _write(tmp_path / "parsed", TREES)
    folder = _run(tmp_path, GROUPS, f'{PICK}groups = "syntax-groups"\ngroup = 3')
    kept = Corpus.open(folder)
    assert kept.rows == 18
    assert set(kept.head(20).column("tgt_parse").to_pylist()) == {FRAGMENT, QUESTION}
    rejected = Corpus.open(folder / "rejected")
    assert Counter(rejected.head(100).column("reason").to_pylist()) == {
        "in group 1": 50,
        "in group 2": 30,
        "not parsed": 2,
    }
    groups = SyntaxGrouping.load(tmp_path / "run/10-syntax-groups/artifact")
    assert (groups.rows, groups.unparsed, groups.distinct) == (100, 2, 4)


@pytest.mark.parametrize(
    ("stages", "error", "message"),
    [
        (
            ['use = "syntax-groups"\npairs = "parsed"\ncolumn = "src_parse"'],
            ConfigError,
            "column 'src_parse' of the trees not found",
        ),
        (['use = "syntax-groups"\npairs = "parsed"\ngroups = 9'], DataError, "only 4"),
        (
            [GROUPS, 'use = "pick-syntax-group"\ninput = "parsed"\ngroups = "syntax-groups"\ngroup = 4'],
            ConfigError,
            "group 4",
        ),
        ([f'{PICK}groups = "parsed"'], ModelError, "groups.json not found"),
    ],
)
def test_invalid_stages_are_refused(tmp_path: Path, stages: list[str], error: type[Exception], message: str) -> None:
    _write(tmp_path / "parsed", TREES)
    with pytest.raises(error, match=message):
        _run(tmp_path, *stages)


def test_a_corpus_without_any_tree_has_no_groups(tmp_path: Path) -> None:
    _write(tmp_path / "parsed", [None] * 10)
    with pytest.raises(DataError, match="0 parsed rows"):
        _run(tmp_path, GROUPS)


def test_a_broken_tree_is_named_by_its_row(tmp_path: Path) -> None:
    _write(tmp_path / "parsed", [*TREES, "(S (NP x)"])
    with pytest.raises(DataError) as error:
        _run(tmp_path, GROUPS)
    assert error.value.row == 101 and error.value.stage


def _counted(tmp_path: Path, before: list[str | None], *after: list[str | None], more: str = "") -> dict[str, object]:
    _write(tmp_path / "parsed", TREES)
    _write(tmp_path / "before", before)
    names = [_write(tmp_path / f"after{i}", trees).name for i, trees in enumerate(after)]
    stage = (
        f'use = "count-productions"\nbefore = "before"\nafter = {json.dumps(names)}\ngroups = "syntax-groups"\n{more}'
    )
    return json.loads((_run(tmp_path, GROUPS, stage) / "artifact/result.json").read_text())


def test_figure_1_by_hand(tmp_path: Path) -> None:
    before = [DECLARATIVE] * 70 + [FRONTED] * 20 + [QUESTION] * 8 + [None] * 2
    after = [DECLARATIVE] * 30 + [FRONTED] * 69 + [None]
    result = _counted(tmp_path, before, after, more="group_numbers = [2]\nmax_productions = 2")
    assert result["productions"] == [
        {"production": "S -> NP VP .", "before": 70, "group 2": 30},
        {"production": "S -> PP , NP VP .", "before": 20, "group 2": 69},
    ]
    assert result["translations"] == [
        {"by": "before", "rows": 100, "unparsed": 2},
        {"by": "group 2", "rows": 100, "unparsed": 1},
    ]
    (wanted,) = result["wanted"]  # type: ignore[misc]
    assert wanted["productions"] == "S -> PP , NP VP ." and wanted["rose"] == "yes"
    assert wanted["before"] == pytest.approx(20 / 98) and wanted["after"] == pytest.approx(68 / 98)


def test_the_report_shows_figure_1() -> None:
    from paraloom.web.results import result

    rows = [{"production": "S -> NP VP .", "before": 70, "group 2": 30}, {"production": "X", "before": 0, "group 2": 7}]
    page = str(result("figure-1", {"productions": rows}))
    assert page.count("<svg") == 1 and page.count("<rect") == 4
    assert "S -&gt; NP VP .: 70 before, 30 after" in page
    # The largest bar fills the chart, the next one is three sevenths as long.
    assert 'width="282"' in page and 'width="120.9"' in page
    assert "<svg" not in str(result("other", {"productions": [{"production": "x"}]}))


def test_the_interval_of_a_difference_is_that_of_newcombe(tmp_path: Path) -> None:
    # Of R's contingencytables, Newcombe_square_and_add_CI_paired_2x2(rbind(c(59, 6), c(16, 80))): 0.0046 to 0.1186.
    before = [DECLARATIVE] * 59 + [DECLARATIVE] * 6 + [FRONTED] * 16 + [FRONTED] * 80
    after = [DECLARATIVE] * 59 + [FRONTED] * 6 + [DECLARATIVE] * 16 + [FRONTED] * 80
    (wanted,) = _counted(tmp_path, before, after)["wanted"]  # type: ignore[misc]
    assert (wanted["low"], wanted["high"]) == pytest.approx((0.0046, 0.1186), abs=5e-5)
    assert wanted["rose"] == "yes"
    # Sentences whose translation lacks a tree in one of the two do not count, wherever they are.
    (apart,) = _counted(tmp_path / "b", [None, *before], [DECLARATIVE, *after])["wanted"]  # type: ignore[misc]
    assert apart == wanted


def test_intervals_of_extreme_counts() -> None:
    assert paired_difference(0, 0, 0, 20).value == 0
    low, high = paired_difference(20, 0, 0, 0).low, paired_difference(20, 0, 0, 0).high
    assert -0.25 < low < 0 < high < 0.25
    # The more they agree, the narrower.
    wide, narrow = paired_difference(25, 25, 25, 25), paired_difference(45, 5, 5, 45)
    assert narrow.high - narrow.low < 0.6 * (wide.high - wide.low)
    assert wide.value == narrow.value == 0


def test_translations_of_other_sentences_are_not_compared(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no pair_id in common"):
        _counted(tmp_path, [None, DECLARATIVE], [DECLARATIVE, None])


def test_a_lower_share_and_an_unchanged_one(tmp_path: Path) -> None:
    before = [DECLARATIVE] * 50 + [FRONTED] * 50
    result = _counted(tmp_path, before, [FRONTED] * 100, before)
    assert [(row["group"], row["rose"]) for row in result["wanted"]] == [(1, "no"), (2, "not clearly")]  # type: ignore[attr-defined]


def test_translations_without_any_tree_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of the 3 translations 'group 1' has a tree"):
        _counted(tmp_path, [DECLARATIVE], [None] * 3)


def test_groups_are_found_in_a_file_of_pairs(tmp_path: Path) -> None:
    _write(tmp_path / "parsed", TREES)
    grouping = find_syntax_groups(tmp_path / "parsed", tmp_path / "groups", min_rows=15)
    assert (grouping.rows, grouping.unparsed, grouping.distinct) == (100, 2, 4)
    assert (grouping.get(3).rows, grouping.get(3).name) == (18, "FRAG -> NP . or SQ -> VBZ NP .")
    assert SyntaxGrouping.load(tmp_path / "groups").get(1).rows == 50
    with pytest.raises(DataError, match="Ask for fewer or smaller groups"):
        find_syntax_groups(tmp_path / "parsed", tmp_path / "more", groups=9)


@pytest.mark.slow
def test_a_command_replaces_only_a_model_of_its_kind(
    tmp_path: Path, paraloom: Callable[..., tuple[int, str, str]]
) -> None:
    (tmp_path / "trees.mrg").write_text("(S (NP x) (VP y))\n")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("years of work")
    status, _, err = paraloom("train", "parser", "trees.mrg", "--method", "grammar", "-o", "thesis")
    assert status == 1 and "thesis: the output exists already" in err
    status, _, err = paraloom("train", "parser", "trees.mrg", "--method", "grammar", "-o", "thesis", "--force")
    assert status == 1 and "thesis" in err
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["thesis.tex"]
    assert paraloom("train", "parser", "trees.mrg", "--method", "grammar", "-o", "trees.mrg")[0] == 1
    assert (tmp_path / "trees.mrg").read_text() == "(S (NP x) (VP y))\n"
    (tmp_path / "grammar").mkdir()
    for _ in range(2):
        status, _, err = paraloom("train", "parser", "trees.mrg", "--method", "grammar", "-o", "grammar")
        assert status == 0, err
    assert not list(tmp_path.glob("*.paraloom"))


@pytest.mark.slow
def test_a_translator_is_fine_tuned_on_one_group(toy_translator: Path, tmp_path: Path) -> None:
    pairs = bitext(300, seed=4)
    # A toy parser: whether the subject has an adjective is the split at the root.
    _write(tmp_path / "parsed", [_toy_tree(target) for _, target in pairs], pairs)
    sizes = {name: value for name, value in asdict(TOY_CONFIG).items() if name not in ("steps", "evaluate_every")}
    settings = "\n".join(f"{name} = {json.dumps(value)}" for name, value in sizes.items())
    folder = _run(
        tmp_path,
        'use = "syntax-groups"\npairs = "parsed"\ngroups = 2',
        'name = "group-2"\nuse = "pick-syntax-group"\ninput = "parsed"\ngroups = "syntax-groups"\ngroup = 2',
        f'use = "train-translator"\nbitext = ["group-2"]\ninit_from = "{toy_translator}"\nheld_out = 20\nsteps = 20\n'
        f"evaluate_every = 10\n{settings}",
    )
    tuned = folder / "artifact"
    rows = Corpus.open(folder.parent / "20-group-2").rows
    assert 0 < rows < 300
    training = json.loads((tuned / "training.json").read_text())
    assert training["steps"] == 20 and training["pairs"] <= rows - 1
    for name in ("source.spm", "target.spm"):
        assert (tuned / name).read_bytes() == (toy_translator / name).read_bytes()
    assert (tuned / "model.bin").read_bytes() != (toy_translator / "model.bin").read_bytes()


def _toy_tree(english: str) -> str:
    words = english.split()
    nodes = " ".join(f"({'V' if word.endswith('s') else 'W'} {word})" for word in words[:3])
    return f"(S {nodes} (REST {' '.join(words[3:])}))"
