"""Similarity tasks: correlations against scipy's, the protocols of the result, malformed files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from paraloom.core.errors import ConfigError, DataError
from paraloom.evaluate.correlation import pearson, spearman
from paraloom.evaluate.published import PUBLISHED, W17_MEAN
from paraloom.evaluate.sts import evaluate_sts, paired_cosines
from paraloom.evaluate.sts_tasks import TASKS, W17_TASKS, read_task, select_tasks


class Overlap:
    """Bag-of-characters vectors: an encoder whose cosines are worked out by hand."""

    signature = "overlap"
    dimension = 256

    def encode(self, sentences):
        vectors = np.zeros((len(sentences), 256), np.float32)
        for row, sentence in enumerate(sentences):
            for byte in sentence.encode():
                vectors[row, byte] += 1
        return vectors


class Constant(Overlap):
    """The same vector for everything."""

    def encode(self, sentences):
        return np.ones((len(sentences), 256), np.float32)


@pytest.fixture
def folder(tmp_path):
    for name, lines in {
        "2013/headlines.test.tsv": "5\tab\tab\n3\tab\tac\n0\tab\tcd\n",
        "2013/OnWN.test.tsv": "1\tab\tab\n2\tab\tac\n3\tab\tcd\n",
        "stsbenchmark/sts-dev.tsv": '4.5\t"ab\tab \n2\tab\tax\n1\tcd\txy\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(lines)
    return tmp_path


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [2, 3, 50])
def test_correlations_equal_scipys(n, ties):
    draw = np.random.default_rng(n)
    a, b = draw.normal(size=(2, n))
    if ties and n > 3:
        a, b = a.round(), b.round()
    assert pearson(a, b) == pytest.approx(stats.pearsonr(a, b).statistic, abs=1e-12)
    assert spearman(a, b) == pytest.approx(stats.spearmanr(a, b).statistic, abs=1e-12)


@pytest.mark.parametrize("a", [[1, 1, 1], []])
def test_correlation_of_a_constant_is_undefined(a):
    assert math.isnan(pearson(a, list(range(len(a)))))
    assert math.isnan(spearman(list(range(len(a))), a))


def test_the_result_has_every_protocol(folder):
    result = evaluate_sts(Overlap(), folder)
    # Cosines by hand: 1, 0.5, 0 in both subsets; the second one's scores run the other way.
    headlines = stats.pearsonr([5, 3, 0], [1, 0.5, 0]).statistic * 100
    assert result.row("2013", "headlines").pearson == pytest.approx(headlines, abs=1e-4)
    assert result.row("2013", "OnWN").spearman == pytest.approx(-100)
    assert result.row("2013").pearson == pytest.approx((headlines - 100) / 2, abs=1e-4)
    of_all = stats.pearsonr([5, 3, 0, 1, 2, 3], [1, 0.5, 0] * 2).statistic * 100
    assert result.row("2013", "all").pearson == pytest.approx(of_all, abs=1e-4)
    assert result.row("2013", "all").n == 6
    assert [row.subset for row in result.rows if row.group == "STS-B"] == ["dev"]
    assert "2012/MSRpar.test.tsv" in result.skipped and "2013/OnWN.test.tsv" not in result.skipped
    assert "|n:9|" in result.signature
    rows = [{key: None if value != value else value for key, value in row.items()} for row in map(vars, result.rows)]
    assert json.loads(json.dumps(result.to_dict()))["rows"] == rows
    # Three pairs are too few for an interval, six are enough.
    assert rows[0]["low"] is None
    assert result.row("2013", "all").low < of_all < result.row("2013", "all").high


def test_the_mean_over_w17s_tasks_needs_all_of_them(tmp_path):
    for number, task in enumerate(task for task in TASKS if task.default):
        path = tmp_path / task.file
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"5\tab\tab\n{number % 6}\tab\tac\n0\tab\tcd\n")
    result = evaluate_sts(Overlap(), tmp_path)
    singles = [row.pearson for row in result.rows if row.subset not in ("mean", "all") and row.group != "STS-B"]
    assert len(singles) == len(W17_TASKS) == 21
    assert result.row(W17_MEAN).pearson == pytest.approx(np.mean(singles))
    assert result.row(W17_MEAN).n == 63
    (tmp_path / "pit2015/pit2015.test.tsv").unlink()
    assert W17_MEAN not in {row.group for row in evaluate_sts(Overlap(), tmp_path).rows}


def test_a_constant_encoder_has_no_correlation(folder):
    result = evaluate_sts(Constant(), folder)
    assert math.isnan(result.row("2013").pearson)
    assert result.to_dict()["rows"][0]["pearson"] is None


def test_published_rows_only_on_request(folder):
    result = evaluate_sts(Overlap(), folder, tasks=["STS-B/dev"])
    assert "PNMT" not in str(result)
    assert "67.8" in result.format(published=True)
    best = next(row for row in PUBLISHED if row.system == "WORD,TRIGRAM, 600")
    assert best.figures == {"2012": 67.8, "2013": 62.7, "2014": 77.4, "2015": 80.3, "2016": 78.1}


@pytest.mark.parametrize(
    ("content", "row", "message"),
    [
        (b"1\ta\tb\n2\ta\n", 2, "score<TAB>"),
        (b"high\ta\tb\n", 1, "score<TAB>"),
        (b"1\ta\tb\n2\ta\t\xff\n", 2, "UTF-8"),
        (b"nan\ta\tb\n", 1, "finite"),
        (b"", None, "no rows"),
    ],
)
def test_a_malformed_task_names_file_and_row(tmp_path, content, row, message):
    task = next(task for task in TASKS if task.name == "STS-B/dev")
    path = tmp_path / task.file
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        read_task(tmp_path, task)
    assert (error.value.row, error.value.file) == (row, str(path))


def test_a_folder_without_tasks_is_an_error(tmp_path):
    with pytest.raises(DataError, match="similarity tasks not found"):
        evaluate_sts(Overlap(), tmp_path)


def test_an_unknown_task_is_named_with_the_nearest_one():
    with pytest.raises(ConfigError, match="did you mean '2012/MSRpar'"):
        select_tasks(["2012/MSRpa"])


def test_cosine_of_a_zero_vector_is_zero():
    assert paired_cosines(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)) == 0


def test_the_real_tasks_have_their_published_sizes(data: Path):
    sizes = {task.name: len(read_task(data / "sts", task).scores) for task in TASKS}
    assert [sizes[f"2012/{name}"] for name in ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews")] == [
        750,
        750,
        459,
        750,
        399,
    ]
    assert (sizes["STS-B/dev"], sizes["STS-B/train"]) == (1500, 5749)
    assert (sizes["SICK/test"], sizes["PIT/test"], sizes["PIT/dev"]) == (4927, 972, 4727)
