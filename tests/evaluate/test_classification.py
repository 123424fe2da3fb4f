"""Classification of frozen vectors: the regression against scikit-learn's, the splits, intervals, malformed files."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import sparse

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stats import wilson_interval
from paraloom.evaluate.classification import _splits, evaluate_classification
from paraloom.evaluate.classification_tasks import find_classification_tasks, read_classification_task
from paraloom.evaluate.logistic import Logistic, fit_logistic
from paraloom.io import open_write

WORDS = {"animal": ["dog", "cat", "cow"], "money": ["bank", "stock", "price"], "food": ["bread", "rice", "soup"]}


class WordCounts:
    """Counts of the words of WORDS: vectors in which the classes are separable."""

    signature = "word-counts"
    dimension = 9

    def encode(self, sentences):
        words = [word for of_class in WORDS.values() for word in of_class]
        return np.float32([[text.split().count(word) for word in words] for text in sentences])


class Zero(WordCounts):
    """The same vector for everything."""

    signature = "zero"

    def encode(self, sentences):
        return np.zeros((len(sentences), 9), np.float32)


def lines(count, seed, classes=("animal", "money", "food")):
    """All words of a class as often, in an order that differs by seed; the first class is a little more frequent."""
    rows, seen = [], dict.fromkeys(classes, seed)
    for i in range(count):
        label = classes[0] if i % 10 == 9 else classes[i % len(classes)]
        seen[label] += 4
        first, second = (WORDS[label][index] for index in divmod(seen[label] % 9, 3))
        rows.append((label, f"the {first} and the {second}"))
    return rows


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_write(path) as stream:
        stream.write("".join("\t".join(map(str, row)) + "\n" for row in rows).encode())


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "topic/train.tsv", lines(60, 1))
    write(tmp_path / "topic/test.tsv.gz", lines(30, 2))
    write(tmp_path / "folds/all.tsv.xz", [(i % 4, *row) for i, row in enumerate(lines(480, 3, ("animal", "money")))])
    write(tmp_path / "fine/train.tsv", [(label, f"{label}:x", text) for label, text in lines(40, 4)])
    write(tmp_path / "fine/val.tsv", [(label, f"{label}:x", text) for label, text in lines(10, 5)])
    write(tmp_path / "fine/test.tsv", [(label, f"{label}:x", text) for label, text in lines(20, 6)])
    (tmp_path / "notes").mkdir()
    return tmp_path


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("strength", [0.3, 30.0])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_regression_is_that_of_scikit_learn(classes, strength, kind):
    linear_model = pytest.importorskip("sklearn.linear_model")
    draw = np.random.default_rng(0)
    features = draw.normal(size=(200, 6))
    labels = (features[:, :classes] + draw.normal(size=(200, classes))).argmax(axis=1)
    theirs = linear_model.LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(features, labels)
    ours = fit_logistic(kind(features), labels, classes, strength, tolerance=1e-9)
    np.testing.assert_allclose(ours.weights, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.predict(kind(features)), theirs.predict(features))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_minimum_is_one_by_numerical_gradient(classes):
    draw = np.random.default_rng(1)
    features, labels = draw.normal(size=(60, 4)), draw.integers(0, classes, 60)
    best = fit_logistic(features, labels, classes, 2.0, tolerance=1e-9)

    def objective(weights, intercepts):
        scores = features @ weights.T + intercepts
        scores = np.hstack([np.zeros_like(scores), scores]) if classes == 2 else scores
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return -2.0 * logs[np.arange(60), labels].sum() + np.square(weights).sum() / 2

    for index in np.ndindex(best.weights.shape):
        step = np.zeros_like(best.weights)
        step[index] = 1e-5
        change = objective(best.weights + step, best.intercepts) - objective(best.weights - step, best.intercepts)
        assert abs(change / 2e-5) < 1e-4
    again = fit_logistic(features, labels, classes, 2.0, Logistic(best.weights, best.intercepts))
    np.testing.assert_allclose(again.weights, best.weights, atol=1e-4)


def test_rows_are_doing_nothing_the_obvious_untrained_and_the_encoders(folder):
    result = evaluate_classification({"ours": WordCounts()}, folder, untrained={"ours": Zero()})
    systems = ["majority class", "TF-IDF", "ours, untrained", "ours"]
    assert [(row.task, row.system) for row in result.rows] == [
        (task, system) for task in ("fine", "folds", "topic", "mean") for system in systems
    ]
    for task in ("fine", "folds", "topic"):
        assert result.accuracy(task, "ours") == result.accuracy(task, "TF-IDF") == 100.0
    # Without information a regression predicts the most frequent class.
    assert result.accuracy("topic", "ours, untrained") == result.accuracy("topic", "majority class")
    row = next(row for row in result.rows if row.task == "topic" and row.role == "majority")
    low, high = wilson_interval(round(row.accuracy * 30 / 100), 30)
    assert (row.n, row.train, row.classes) == (30, 60, 3)
    assert (row.low, row.high) == pytest.approx((100 * low, 100 * high))
    mean = result.accuracy("mean", "majority class")
    assert mean == pytest.approx(np.mean([result.accuracy(t, "majority class") for t in ("fine", "folds", "topic")]))
    gain = next(one for one in result.differences if (one.task, one.baseline) == ("topic", "ours, untrained"))
    assert gain.value == pytest.approx(100 - row.accuracy)
    assert 0 < gain.low < gain.value < gain.high
    record = json.loads(json.dumps(result.to_dict()))
    assert record["classification"][0]["strength"] is None
    assert "ours - TF-IDF" in result.format() and "|tasks:3|n:530|" in result.signature


def test_the_same_seed_gives_the_same_result(folder):
    one, two = (evaluate_classification(WordCounts(), folder, ["folds"], seed=5) for _ in range(2))
    assert one == two
    assert [row.system for row in one.rows] == ["majority class", "TF-IDF", "encoder"]


def test_tests_and_held_out_parts_are_never_learned_from(folder):
    for name, path in find_classification_tasks(folder).items():
        task = read_classification_task(name, path)
        splits = list(_splits(task, seed=1))
        for split in splits:
            assert not set(split.test.tolist()) & set(split.train.tolist())
            assert not set(split.held_out.tolist()) & set(split.learned.tolist())
            assert not set(split.held_out.tolist()) & set(split.test.tolist())
        if task.train.folds is not None:
            assert len(splits) == 4
            assert sorted(row for split in splits for row in split.test.tolist()) == list(range(480))
    (split,) = _splits(read_classification_task("fine", folder / "fine"), seed=1)
    assert split.held_out.tolist() == list(range(60, 70))  # the development file, after train and test


def test_one_folder_is_one_task(folder):
    assert list(find_classification_tasks(folder / "topic")) == ["topic"]
    assert list(find_classification_tasks(folder, ["topic", "fine"])) == ["fine", "topic"]


@pytest.mark.parametrize(
    ("files", "row", "message"),
    [
        ({"train.tsv": "a\tx\nb\ty\n"}, None, "test file not found"),
        ({"test.tsv": "a\tx\nb\ty\n"}, None, "train file not found"),
        ({"train.tsv": "a\tx\na\ty\n", "test.tsv": "a\tx\n"}, None, "expected two classes or more, got one: 'a'"),
        ({"train.tsv": "a\tx\nb\ty\n", "test.tsv": ""}, None, "the file is empty"),
        ({"train.tsv": "a\tx\nb\n", "test.tsv": "a\tx\n"}, 2, "expected 2 fields as in the first row, got 1 field"),
        ({"train.tsv": "a x\n", "test.tsv": "a\tx\n"}, 1, "expected label<TAB>text, got 1 field"),
        ({"train.tsv": "a\tx\n\ty\n", "test.tsv": "a\tx\n"}, 2, "the label is empty"),
        ({"train.tsv": "a\tx\nb\ty\n", "test.tsv": "a\tx\nc\ty\n"}, 2, "class 'c' is not in train.tsv"),
        ({"all.tsv": "1\ta\tx\none\tb\ty\n"}, 2, "expected the number of a fold, got 'one'"),
        ({"all.tsv": "1\ta\tx\n1\tb\ty\n"}, None, "all rows are in one fold"),
    ],
)
def test_malformed_tasks_name_file_and_row(tmp_path, files, row, message):
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as error:
        evaluate_classification(WordCounts(), tmp_path)
    assert error.value.row == row
    assert str(tmp_path) in str(error.value.file)


def test_unknown_names(folder):
    with pytest.raises(ConfigError, match="unknown classification task 'topics'; did you mean 'topic'"):
        evaluate_classification(WordCounts(), folder, ["topics"])
    with pytest.raises(DataError, match="classification tasks not found"):
        evaluate_classification(WordCounts(), folder / "notes")
    with pytest.raises(DataError, match="folder of labeled texts not found"):
        evaluate_classification(WordCounts(), folder / "missing")
    with pytest.raises(ConfigError, match="'untrained' names 'theirs'"):
        evaluate_classification({"ours": WordCounts()}, folder, untrained={"theirs": Zero()})
    with pytest.raises(ConfigError, match="no encoder"):
        evaluate_classification({}, folder)


def test_texts_without_folds_are_divided_by_their_hash(tmp_path):
    rows = [(label, f"{text} {number % 20}") for number, (label, text) in enumerate(lines(60, 7))]
    write(tmp_path / "all.tsv", rows * 2)
    folds = read_classification_task("x", tmp_path).train.folds
    assert set(folds.tolist()) <= set(range(10))
    np.testing.assert_array_equal(folds[:60], folds[60:])  # equal texts are in the same fold


def test_the_real_tasks_have_their_sizes(data):
    tasks = find_classification_tasks(data / "classification")
    sizes = {name: read_classification_task(name, path) for name, path in tasks.items()}
    assert {"trec", "sst2", "sst5", "mr", "subj", "mpqa"} <= set(sizes)
    assert (len(sizes["trec"].train.texts), len(set(sizes["trec"].train.labels))) == (5452, 6)
    assert len(sizes["mr"].train.texts) == 10662 and len(set(sizes["mr"].train.folds.tolist())) == 10
    assert sizes["sst2"].dev is not None and math.isclose(len(sizes["sst2"].dev.texts), 872)


def test_a_fold_may_leave_one_text_to_learn_from(tmp_path):
    (tmp_path / "all.tsv").write_text("1\tanimal\tdog\n2\tmoney\tbank\n2\tanimal\tcat\n")
    result = evaluate_classification(WordCounts(), tmp_path)
    # Each fold learns one class: 1 of 3 texts is of it.
    assert result.accuracy(tmp_path.name, "encoder") == pytest.approx(100 / 3)
