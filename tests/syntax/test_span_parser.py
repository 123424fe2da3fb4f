"""The span parser: features, the network against torch, the best tree against a search, and what it makes of trees."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paraloom.bundled
from paraloom.core.errors import ConfigError, DataError, ModelError

pytest.importorskip("nltk", reason="parsing needs nltk: pip install 'paraloom[syntax]'")
pytest.importorskip("torch", reason="training needs torch: pip install 'paraloom[train]'")

import torch
from nltk.tree import Tree
from torch import nn

from paraloom.pipeline.pipeline import Pipeline
from paraloom.stages.syntax import TrainParser
from paraloom.syntax.parsers.spans import MAX_WORDS, SpanParser
from paraloom.syntax.span_kernels import best_splits, normalized_spans, span_index, spans_of_splits
from paraloom.syntax.span_network import SpanNetwork
from paraloom.syntax.span_training import SpanConfig, SpanModule, labeled_spans, train_span_model
from paraloom.syntax.word_features import NUM_AFFIXES, UNKNOWN, GivenVectors, WordFeatures, WordFeaturizer, affixes

TREES = [
    "(S (NP (DT The) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .))",
    "(S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .))",
    "(S (VP (VB Sleep)) (. .))",
    "(S (NP (PRP It)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .))",
]
SMALL = SpanConfig(
    epochs=150, width=16, hidden_size=12, span_size=14, batch_size=2, learning_rate=0.01, dropout=0.0, min_count=1
)


def small_vectors() -> GivenVectors:
    draw = np.random.default_rng(1)
    return GivenVectors.reduced(["the", "dog", "cat", "sees"], draw.standard_normal((4, 6)).astype(np.float32), 3)


def trained(config: SpanConfig = SMALL, **options: int) -> SpanParser:
    return SpanParser(*train_span_model([Tree.fromstring(tree) for tree in TREES], config, small_vectors(), **options))


@pytest.fixture(scope="module")
def parser() -> SpanParser:
    return trained()


def test_spans_of_a_tree_by_hand() -> None:
    spans = labeled_spans(Tree.fromstring("(S (VP (VB Go) (ADVP (RB away))))"))
    assert spans.words == ["Go", "away"]
    assert spans.tags == ["VB", "RB"]
    assert spans.labels == {(1, 2): "ADVP", (0, 2): "S+VP"}


def test_spans_are_numbered_in_the_order_of_their_ends() -> None:
    for n in range(1, 8):
        numbered = [span_index(start, end, n) for start in range(n) for end in range(start + 1, n + 1)]
        assert numbered == list(range(n * (n + 1) // 2))


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6), st.integers(0, 2**31))
def test_the_best_tree_is_that_of_a_search(n: int, seed: int) -> None:
    scores = np.random.default_rng(seed).standard_normal(n * (n + 1) // 2).astype(np.float32)
    splits = best_splits(scores, n)

    def by_splits(start: int, end: int) -> float:
        own = float(scores[span_index(start, end, n)])
        if end == start + 1:
            return own
        split = int(splits[span_index(start, end, n)])
        return own + by_splits(start, split) + by_splits(split, end)

    def best(start: int, end: int) -> float:
        own = float(scores[span_index(start, end, n)])
        splittings = [best(start, split) + best(split, end) for split in range(start + 1, end)]
        return own + (max(splittings) if splittings else 0.0)

    assert by_splits(0, n) == pytest.approx(best(0, n), abs=1e-4)


def test_features_of_words() -> None:
    featurizer = WordFeaturizer(["The", "dog"], GivenVectors(["dog", "DOG"], np.zeros((2, 3), np.int8)))
    features = featurizer.features(["The", "Dog", "barked"])
    assert features.words.tolist() == [1, UNKNOWN, UNKNOWN]
    assert features.vectors.tolist() == [0, 1, 0]  # in lower case, and of two rows the first
    assert features.affixes.shape == (3, NUM_AFFIXES)
    # Words with the same ending share its row; the first word's capital is another shape.
    assert affixes("barked", False)[6] == affixes("marked", False)[6]
    assert affixes("Dog", True)[-1] != affixes("Dog", False)[-1]


def test_given_vectors_keep_their_distances() -> None:
    draw = np.random.default_rng(2)
    full = draw.standard_normal((50, 4)).astype(np.float32) @ draw.standard_normal((4, 20)).astype(np.float32)
    full /= np.linalg.norm(full, axis=1, keepdims=True)
    reduced = GivenVectors.reduced([f"w{row}" for row in range(50)], full, 4).table.astype(np.float32)
    # The vectors span four directions: four components lose nothing but what a byte rounds.
    before = ((full[:, None] - full[None]) ** 2).sum(-1)[np.triu_indices(50, 1)]
    after = ((reduced[:, None] - reduced[None]) ** 2).sum(-1)[np.triu_indices(50, 1)]
    assert np.corrcoef(before, after)[0, 1] > 0.99


def untrained(config: SpanConfig) -> tuple[SpanModule, SpanNetwork, WordFeaturizer]:
    """A network of random weights, in torch and in numpy, and the features of its words."""
    torch.manual_seed(3)
    vectors = small_vectors()
    module = SpanModule(config, words=5, tags=4, labels=6, given=vectors.table).eval()
    for parameter in (module.norm.weight, module.norm.bias):  # which begin as ones and zeros
        nn.init.normal_(parameter)
    tensors = {name: value.numpy() for name, value in module.state_dict().items()}
    network = SpanNetwork({**tensors, "given": vectors.table})
    return module, network, WordFeaturizer(["The", "dog", "sees", "a", "cat"], vectors)


def random_sentences(featurizer: WordFeaturizer, lengths: list[int]) -> list[WordFeatures]:
    draw = np.random.default_rng(4)
    words = ["The", "dog", "sees", "a", "cat", ".", "Sleep", "It", "the", "sleeps", "in", "house"]
    return [featurizer.features(draw.choice(words, n).tolist()) for n in lengths]


@pytest.mark.parametrize("config", [SMALL, SpanConfig()], ids=["small", "default"])
def test_the_network_is_that_of_torch(config: SpanConfig) -> None:
    module, network, featurizer = untrained(config)
    lengths = [6, 1, 4, 2, 23, *range(1, 14), 40]  # more than are read together
    features = random_sentences(featurizer, lengths)
    with torch.no_grad():
        tags, labels = module(features)
    scores = list(network.score(features))
    np.testing.assert_allclose(np.concatenate([tag for tag, _ in scores]), tags, atol=2e-5)
    np.testing.assert_allclose(np.concatenate([label for _, label in scores]), labels, atol=2e-5)
    assert [len(tag) for tag, _ in scores] == lengths
    assert [len(label) for _, label in scores] == [n * (n + 1) // 2 for n in lengths]


@pytest.mark.parametrize("config", [SMALL, SpanConfig()], ids=["small", "default"])
def test_scores_are_the_same_bytes_in_any_batch(config: SpanConfig) -> None:
    _, network, featurizer = untrained(config)
    features = random_sentences(featurizer, [6, 1, 23, *range(1, 18), 40, 7])
    alone = [next(network.score([sentence])) for sentence in features]
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(features))
        for index, (tags, labels) in zip(order, network.score([features[i] for i in order]), strict=True):
            assert tags.tobytes() == alone[index][0].tobytes()
            assert labels.tobytes() == alone[index][1].tobytes()


def test_scores_do_not_depend_on_the_number_of_threads() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    _, network, featurizer = untrained(SpanConfig())
    features = random_sentences(featurizer, [5, 9, 12])
    scores = []
    for threads in (1, 2):
        with threadpoolctl.threadpool_limits(threads, user_api="blas"):
            scores.append(b"".join(part.tobytes() for parts in network.score(features) for part in parts))
    assert scores[0] == scores[1]


def test_numbers_of_spans_by_a_plain_formula() -> None:
    draw = np.random.default_rng(5)
    for n, multiple in ((1, 16), (5, 16), (6, 4)):
        ends = draw.standard_normal((n + 1, 9)).astype(np.float32)
        bias, scale, offset = draw.standard_normal((3, 9)).astype(np.float32)
        ends, bias = ends - ends.mean(axis=1, keepdims=True), bias - bias.mean()
        spans = normalized_spans(ends, bias, scale, offset, multiple)
        count = n * (n + 1) // 2
        assert len(spans) % multiple == 0 and count <= len(spans) < count + multiple
        expected = []
        for start in range(n):
            for end in range(start + 1, n + 1):
                value = ends[end] - ends[start] + bias
                expected.append(np.maximum(value / np.sqrt(value.var() + 1e-5) * scale + offset, 0))
        np.testing.assert_allclose(spans[:count], expected, atol=1e-5)
        assert not spans[count:].any()


def test_spans_of_splits_by_hand() -> None:
    splits = np.zeros(6, np.int16)
    splits[span_index(0, 3, 3)], splits[span_index(1, 3, 3)] = 1, 2
    spans = spans_of_splits(splits, 3)
    assert spans[:, :2].tolist() == [[0, 3], [0, 1], [1, 3], [1, 2], [2, 3]]
    assert spans[:, 2].tolist() == [span_index(start, end, 3) for start, end in spans[:, :2].tolist()]
    assert spans_of_splits(np.zeros(1, np.int16), 1).tolist() == [[0, 1, 0]]


@pytest.mark.slow
def test_it_learns_trees_by_heart(parser: SpanParser) -> None:
    words = [Tree.fromstring(tree).leaves() for tree in TREES]
    assert parser.parse_tokens(words) == TREES
    assert parser.parse(["The dog sees a cat."]) == TREES[:1]


def test_sentences_without_a_tree(parser: SpanParser) -> None:
    assert parser.parse(["", " ", "dog " * (MAX_WORDS + 1)]) == [None, None, None]
    long_tree, single = parser.parse(["dog " * MAX_WORDS, "Sleep"])
    assert long_tree is not None and long_tree.count("dog") == MAX_WORDS
    assert single is not None and Tree.fromstring(single).leaves() == ["Sleep"]


def test_brackets_in_a_text_stay_words(parser: SpanParser) -> None:
    (tree,) = parser.parse(["The (small) dog"])
    assert tree is not None and Tree.fromstring(tree).leaves() == ["The", "-LRB-", "small", "-RRB-", "dog"]


def test_a_parse_does_not_depend_on_its_neighbors(parser: SpanParser) -> None:
    texts = ["The dog sees a cat.", "Sleep.", "It sees the dog.", "It sleeps in the house."]
    together = parser.parse(texts)
    assert [parser.parse([text])[0] for text in texts] == together


def test_a_saved_parser_is_the_same(parser: SpanParser, tmp_path: Path) -> None:
    parser.save(tmp_path / "parser")
    loaded = SpanParser.load(tmp_path / "parser")
    words = [Tree.fromstring(tree).leaves() for tree in TREES]
    assert loaded.parse_tokens(words) == TREES
    assert loaded.signature.startswith("parser|spans:")
    parser.save(tmp_path / "again")
    assert SpanParser.load(tmp_path / "again").signature == loaded.signature


def test_the_same_seed_gives_the_same_parser() -> None:
    short = SpanConfig(epochs=1, width=8, hidden_size=4, span_size=5, batch_size=2, min_count=1)
    first, second, other = (trained(short, seed=seed).network.tensors for seed in (1, 1, 2))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not all(np.array_equal(first[name], other[name]) for name in first)


def test_damaged_folders_are_refused(parser: SpanParser, tmp_path: Path) -> None:
    folder = tmp_path / "parser"
    parser.save(folder)
    (folder / "spans.json").rename(folder / "kept")
    with pytest.raises(ModelError, match=r"spans\.json not found"):
        SpanParser.load(folder)
    stored = json.loads((folder / "kept").read_text())
    (folder / "spans.json").write_text(json.dumps({**stored, "labels": stored["labels"][1:]}))
    with pytest.raises(ModelError, match="do not belong together"):
        SpanParser.load(folder)
    (folder / "spans.json").write_text("{}")
    with pytest.raises(ModelError, match="not a parser"):
        SpanParser.load(folder)
    (folder / "kept").rename(folder / "spans.json")
    (folder / "spans.safetensors").write_bytes(b"\x80\x04pickle")
    with pytest.raises(ModelError, match="not a parser"):
        SpanParser.load(folder)


def test_bad_settings_and_no_trees() -> None:
    with pytest.raises(ConfigError, match="'epochs' must be 1 or more"):
        SpanConfig(epochs=0)
    with pytest.raises(ConfigError, match="'dropout'"):
        SpanConfig(dropout=1.0)
    with pytest.raises(DataError, match="no trees"):
        train_span_model([], SMALL, GivenVectors.none())


def test_depths_of_brackets_fit(parser: SpanParser) -> None:
    (tree,) = parser.parse(["The cat sees the dog."])
    assert tree is not None
    depths = np.cumsum([(character == "(") - (character == ")") for character in tree])
    assert depths[-1] == 0 and all(depth > 0 for depth in depths[:-1])
    assert all(abs(after - before) <= 1 for before, after in pairwise(depths.tolist()))


@pytest.mark.slow
def test_a_parser_takes_the_vectors_of_the_most_common_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[GivenVectors] = []

    def train(trees, config, vectors, **options):  # type: ignore[no-untyped-def]
        given.append(vectors)
        return train_span_model(trees, SpanConfig(epochs=1, width=8, hidden_size=6, span_size=6), vectors, **options)

    monkeypatch.setattr("paraloom.syntax.span_training.train_span_model", train)
    treebank = tmp_path / "trees.mrg"
    treebank.write_text("\n".join(TREES), encoding="utf-8")
    encoder = Path(paraloom.bundled.__file__).parent / "english"
    for number, words in enumerate((7, 0)):
        stage = TrainParser(treebank=(treebank,), method="spans", encoder=encoder, encoder_words=words, held_out=0)
        Pipeline([stage]).run(tmp_path / str(number), engine="inline")
    some, all_words = given
    assert list(some.words) == list(all_words.words)[:7] and len(all_words.words) > 10_000
    with pytest.raises(ConfigError, match="key 'encoder_words' needs an encoder"):
        TrainParser(treebank=(treebank,), encoder_words=7)
    with pytest.raises(ConfigError, match="'encoder_words' must be 0 or more"):
        TrainParser(treebank=(treebank,), encoder=encoder, encoder_words=-1)
