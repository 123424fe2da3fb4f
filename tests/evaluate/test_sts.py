"""Similarity tasks: correlations against scipy's, the protocols of the result, malformed files."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.seeds import generator
from paraloom.evaluate.published import PUBLISHED, PUBLISHED_MTEB, W17_MEAN, YEARS_MEAN
from paraloom.evaluate.resampling import pearson, percentile_interval, resampled_pearson, spearman
from paraloom.evaluate.sts import evaluate_sts, paired_cosines
from paraloom.evaluate.sts_tasks import MTEB_TASKS, TASKS, W17_TASKS, find_tasks, read_task, select_tasks
from paraloom.io import open_write


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


def test_values_that_differ_by_rounding_are_a_constant():
    cosines = np.float32([1, 1.0000001, 0.9999999, 1, 0.99999994])
    assert math.isnan(pearson(range(5), cosines)) and math.isnan(spearman(range(5), cosines))
    assert not resampled_pearson(np.arange(5.0), cosines[None], 20, 1, 0).any()
    assert spearman(range(3), [0, 1e-9, 2e-9]) == pytest.approx(1)
    # Others differ, however little of their size.
    assert spearman([1, 2, 3], [1e9 + 1, 1e9 + 2, 1e9 + 3]) == pytest.approx(1)
    assert spearman([1, 2, 3], [1, 2, np.inf]) == pytest.approx(1)
    assert pearson([1e9, 1e9 + 100, 1e9 + 200], [1, 2, 3]) == pytest.approx(1)


def test_samples_without_a_correlation_do_not_count(tmp_path):
    scores, similarities = np.float64([5, 5, 5, 0]), np.float64([[0.8, 0.8, 0.8, 0.1]])
    resampled = resampled_pearson(scores, similarities, 400, 1, 0, math.nan)[:, 0]
    assert np.isnan(resampled).any() and percentile_interval(resampled) == pytest.approx((100, 100))
    (tmp_path / "same.tsv").write_text("".join(f"{score}\ta\tb\n" for score in range(4)))
    (tmp_path / "other.tsv").write_text("0\tab\tcd\n3\tab\tac\n5\tab\tab\n4\tab\tba\n")
    undefined, defined = evaluate_sts(Constant(), tmp_path).differences, evaluate_sts(Overlap(), tmp_path).differences
    assert all(math.isnan(end) for row in undefined for end in (row.value, row.low, row.high))
    assert [math.isnan(row.low) for row in sorted(defined, key=lambda row: row.group)] == [False, True]


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
    for number, task in enumerate(task for task in TASKS if task.default and not task.optional):
        path = tmp_path / task.file
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"5\tab\tab\n{number % 6}\tab\tac\n0\tab\tcd\n")
    result = evaluate_sts(Overlap(), tmp_path)
    singles = [row.pearson for row in result.rows if row.subset not in ("mean", "all") and row.group != "STS-B"]
    assert len(singles) == len(W17_TASKS) == 21
    assert result.row(W17_MEAN).pearson == pytest.approx(np.mean(singles))
    assert result.row(W17_MEAN).n == 63
    years = [result.row(year).pearson for year in ("2012", "2013", "2014", "2015")]
    assert result.row(YEARS_MEAN).pearson == pytest.approx(np.mean(years))
    (tmp_path / "pit2015/pit2015.test.tsv").unlink()
    assert W17_MEAN not in {row.group for row in evaluate_sts(Overlap(), tmp_path).rows}


def test_a_constant_encoder_has_no_correlation(folder):
    result = evaluate_sts(Constant(), folder)
    assert math.isnan(result.row("2013").pearson)
    assert result.to_dict()["rows"][0]["pearson"] is None


def test_published_rows_only_on_request(folder):
    result = evaluate_sts(Overlap(), folder, tasks=["STS-B/dev"])
    assert "PNMT" not in str(result)
    assert "PNMT" not in result.format(published=True)  # no row of the papers has STS-B dev
    of_year = evaluate_sts(Overlap(), folder, tasks=["2013"])
    assert "62.7" in of_year.format(published=True) and "62.7" not in of_year.format()
    best = next(row for row in PUBLISHED if row.system == "WORD,TRIGRAM, 600")
    assert best.figures == {"2012": 67.8, "2013": 62.7, "2014": 77.4, "2015": 80.3, "2016": 78.1}
    assert best.figure(YEARS_MEAN) == pytest.approx(72.05)
    assert next(row for row in PUBLISHED if row.source == "W17 Table 4").figure(YEARS_MEAN) is None
    assert {row.system.split(" ")[0]: row.figures["STS12"] for row in PUBLISHED_MTEB}["potion-base-8M"] == (62.2, 72.1)
    assert all(len(row.figures) >= 8 for row in PUBLISHED_MTEB)


@pytest.mark.parametrize(
    ("content", "row", "message"),
    [
        (b"1\ta\tb\n2\ta\n", 2, "score<TAB>"),
        (b"1\ta\tb\nhigh\ta\tb\n", 2, "expected a number as the score, got 'high'"),
        (b"1\ta\tb\n", None, "2 rows or more, got 1"),
        (b"3\ta\tb\n3\tb\tc\n", None, "all 2 scores are 3"),
        (b"1\ta\tb\n2\ta\t\xff\n", 2, "UTF-8"),
        (b"nan\ta\tb\n", 1, "finite"),
        (b"", None, "the file is empty"),
        (b"score\ta\tb\n", None, "no rows"),
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


@pytest.mark.parametrize(
    ("name", "content", "row", "message"),
    [
        ("a.jsonl", '{"score": 1, "a": "x", "b": "y"}\n{"score": 2, "a": "x"}\n', 2, "expected score, a, b"),
        ("a.jsonl", '{"score": 1, "a": "x", "b": null}\n', 1, "'b' must be text"),
        ("a.jsonl", '{"score": "much", "a": "x", "b": "y"}\n', 1, "expected a number"),
        ("a.jsonl", "score\n", 1, "not valid JSON"),
    ],
)
def test_a_malformed_line_of_json_names_file_and_row(tmp_path, name, content, row, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as error:
        evaluate_sts(Overlap(), tmp_path / name)
    assert (error.value.row, error.value.file) == (row, str(tmp_path / name))


def test_a_parquet_file_without_the_columns_names_those_it_has(tmp_path):
    pq.write_table(pa.table({"label": [1.0, 2.0], "a": ["x", "y"], "b": ["x", "z"]}), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="the columns are label, a, b"):
        evaluate_sts(Overlap(), tmp_path / "a.parquet")


ROWS = [(5.0, "ab", "ab"), (3.0, "ab", "ac"), (0.0, "ab", "cd")]


def _write(path: Path, names: tuple[str, str] = ("a", "b")) -> None:
    lines = "".join(f"{score}\t{one}\t{two}\n" for score, one, two in ROWS)
    objects = "".join(json.dumps({"score": row[0], names[0]: row[1], names[1]: row[2]}) + "\n" for row in ROWS)
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist([json.loads(line) for line in objects.splitlines()]), path)
    else:
        with open_write(path) as stream:
            stream.write((objects if ".jsonl" in path.name else lines).encode())


@pytest.mark.parametrize("name", ["own.tsv", "own.txt", "own.tsv.gz", "own.tsv.xz", "own.jsonl", "own.parquet"])
@pytest.mark.parametrize("names", [("a", "b"), ("sentence1", "sentence2")])
def test_a_file_of_any_format_is_a_task(tmp_path, name, names):
    _write(tmp_path / name, names)
    result = evaluate_sts(Overlap(), tmp_path / name)
    assert [(row.group, row.subset, row.n) for row in result.rows] == [("own", "pairs", 3)]
    assert result.row("own", "pairs").pearson == pytest.approx(stats.pearsonr([5, 3, 0], [1, 0.5, 0]).statistic * 100)
    assert result.mteb == () and result.skipped == ()


def test_a_header_gives_the_order_of_the_columns(tmp_path):
    lines = ["sentence1\tScore\tid\tsentence2", *(f"{one}\t{score}\tx\t{two}" for score, one, two in ROWS)]
    (tmp_path / "own.tsv").write_text("\n".join(lines))
    pairs = read_task(*_only_task(tmp_path / "own.tsv"))
    assert (pairs.scores.tolist(), pairs.first, pairs.second) == ([5, 3, 0], ["ab"] * 3, ["ab", "ac", "cd"])


def _only_task(path):
    root, (task,), _ = find_tasks(path)
    return root, task


def test_any_folder_of_files_is_a_folder_of_tasks(tmp_path):
    for name in ("forum/easy.tsv", "forum/hard.tsv.gz", "help.jsonl", "forum/hard.meta.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        _write(tmp_path / name)
    result = evaluate_sts(Overlap(), tmp_path)
    rows = [(row.group, row.subset) for row in result.rows]
    assert rows == [*(("forum", name) for name in ("easy", "hard", "mean", "all")), ("help", "pairs")]
    assert [task.name for task in find_tasks(tmp_path, ["forum"])[1]] == ["forum/easy", "forum/hard"]
    assert [task.name for task in find_tasks(tmp_path, ["help.jsonl"])[1]] == ["help/pairs"]
    with pytest.raises(ConfigError, match="unknown similarity task 'forumm'"):
        find_tasks(tmp_path, ["forumm"])
    with pytest.raises(DataError, match="file or folder of similarity tasks not found"):
        find_tasks(tmp_path / "missing")


def test_files_of_your_own_beside_the_known_tasks_are_named(folder):
    _write(folder / "own.tsv")
    assert [task.name for task in find_tasks(folder, ["2013", "own.tsv"])[1]] == [
        "2013/headlines",
        "2013/OnWN",
        "own/pairs",
    ]
    assert "own" not in {row.group for row in evaluate_sts(Overlap(), folder).rows}


def test_baselines_are_rows_with_paired_differences(folder):
    result = evaluate_sts({"ours": Overlap()}, folder, untrained={"ours": Constant()}, vectors=Overlap(), resamples=200)
    assert [(one.name, one.role) for one in result.systems] == [
        ("ours", "encoder"),
        ("ours, untrained", "untrained"),
        ("overlap", "overlap"),
        ("given vectors averaged", "vectors"),
    ]
    equal = [one for one in result.differences if one.baseline == "given vectors averaged"]
    assert [(one.group, one.value, one.low, one.high) for one in equal] == [("2013", 0, 0, 0), ("STS-B", 0, 0, 0)]
    # The untrained encoder gives every pair the same cosine: its correlation is undefined.
    untrained = next(one for one in result.differences if one.baseline == "ours, untrained")
    assert all(map(math.isnan, (untrained.value, untrained.low, untrained.high)))
    record = json.loads(json.dumps(result.to_dict()))
    assert record["systems"][1]["rows"][0]["pearson"] is None
    assert "ours - overlap" in result.format() and "ours, untrained" in result.format()
    with pytest.raises(ConfigError, match="'untrained' names 'theirs'"):
        evaluate_sts({"ours": Overlap()}, folder, untrained={"theirs": Constant()})
    with pytest.raises(ConfigError, match="no encoder"):
        evaluate_sts({}, folder)


def test_several_encoders_are_side_by_side(folder):
    result = evaluate_sts({"one": Overlap(), "two": Constant()}, folder, overlap=False)
    assert result.rows == result.system("one").rows
    assert not result.differences
    text = result.format()
    assert "one " in text and "two " in text and "95 %" not in text
    with pytest.raises(DataError, match="system 'three' not found; the systems are one, two"):
        result.system("three")


def test_the_bootstrap_draws_the_same_pairs_for_every_system():
    draw = np.random.default_rng(0)
    scores = draw.normal(size=50)
    similarities = np.stack([scores + draw.normal(size=50), draw.normal(size=50), np.ones(50)])
    result = resampled_pearson(scores, similarities, 120, seed=7, task=3)
    rng = generator(7, 3)
    for start in (0, 100):
        for row, sample in enumerate(rng.integers(0, 50, (min(100, 120 - start), 50)), start):
            for k in (0, 1):
                expected = stats.pearsonr(scores[sample], similarities[k, sample]).statistic * 100
                assert result[row, k] == pytest.approx(expected, abs=1e-9)
    assert not result[:, 2].any()


def test_mtebs_tasks_pool_the_pairs_that_mteb_pools(tmp_path):
    sizes = {"train": 5, "trial": 3, "test": 4}
    (tmp_path / "sick2014").mkdir()
    draw = np.random.default_rng(1)
    scores = {name: draw.normal(size=n) for name, n in sizes.items()}
    for name, values in scores.items():
        lines = [f"{value}\tab\t{'ab' if i % 2 else 'ac'}\n" for i, value in enumerate(values)]
        (tmp_path / f"sick2014/SICK.{name}.tsv").write_text("".join(lines))
    result = evaluate_sts(Overlap(), tmp_path)
    assert [row.subset for row in result.rows] == ["test"]
    (row,) = result.mteb
    assert (row.task, row.n) == ("SICK-R", 12)
    cosines = np.concatenate([np.resize([0.5, 1.0], n) for n in sizes.values()])
    expected = stats.spearmanr(np.concatenate(list(scores.values())), cosines).statistic * 100
    assert row.spearman == pytest.approx(expected)
    (tmp_path / "sick2014/SICK.train.tsv").unlink()
    assert evaluate_sts(Overlap(), tmp_path).mteb == ()


def test_a_folder_without_tasks_is_an_error(tmp_path):
    with pytest.raises(DataError, match="similarity tasks not found"):
        evaluate_sts(Overlap(), tmp_path)


def test_an_unknown_task_is_named_with_the_nearest_one():
    with pytest.raises(ConfigError, match="did you mean '2012/MSRpar'"):
        select_tasks(["2012/MSRpa"])


def test_cosine_of_a_zero_vector_is_zero():
    assert paired_cosines(np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32)) == 0


def test_the_real_tasks_have_their_published_sizes(data: Path):
    sizes = {task.name: len(read_task(data / "sts", task).scores) for task in TASKS if not task.optional}
    for name, size in {"STS12": 3108, "STS13": 1500, "STS14": 3750, "STS15": 3000, "SICK-R": 9927}.items():
        assert sum(sizes[task] for task in MTEB_TASKS[name]) == size  # as MTEB counts them
    assert [sizes[f"2012/{name}"] for name in ("MSRpar", "MSRvid", "SMTeuroparl", "OnWN", "SMTnews")] == [
        750,
        750,
        459,
        750,
        399,
    ]
    assert (sizes["STS-B/dev"], sizes["STS-B/train"]) == (1500, 5749)
    assert (sizes["SICK/test"], sizes["PIT/test"], sizes["PIT/dev"]) == (4927, 972, 4727)
