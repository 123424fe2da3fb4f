"""Reproduced tables: from pairs and from a run of the loop, next to the published figures."""

from __future__ import annotations

import json
import math
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from commands import Command

from paraloom.core.schema import PAIRS
from paraloom.core.stats import Estimate
from paraloom.evaluate.sts_tasks import TASKS
from paraloom.io import write_corpus
from paraloom.papers import pair_tables, reproduce_tables
from paraloom.papers.measurements import Accuracies
from paraloom.papers.pnmt.rating_tables import range_orders
from paraloom.papers.provenance import _code
from paraloom.papers.published import PAPERS
from paraloom.papers.runner import (
    DOCUMENT_TABLES,
    LABEL_TABLES,
    LOOP_TABLES,
    PAIR_TABLES,
    PHRASE_TABLES,
    RESULT_TABLES,
)
from paraloom.papers.study import Study
from paraloom.papers.tables import movement
from paraloom.papers.verdicts import OUTCOMES, Order, summarize_verdicts
from paraloom.papers.w17.classifier_tables import ClassifierTraining, classifier_accuracies, classifier_orders

NOUNS = ["dog", "cat", "man", "child", "horse", "woman", "bird", "boy"]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """References that differ in length, and translations that repeat their last words and know fewer nouns."""
    folder = tmp_path_factory.mktemp("corpus") / "pairs"
    rows = []
    for i in range(600):
        middle = " and ".join(f"the {NOUNS[(i + k) % 8]} of house {i + k}" for k in range(1 + i % 9))
        translated = middle.replace("child", "boy").replace("woman", "man").replace("house", "home")
        rows.append(
            {
                "pair_id": str(i),
                "src": f"there stands {middle}",
                "tgt": f"there is {translated} there is",
                "src_lang": "en",
                "tgt_lang": "en",
                "origin": "toy",
                "logprob": -3.0 - i % 7,
                "tokens": 12,
            }
        )
    schema = pa.schema([*PAIRS, ("logprob", pa.float32()), ("tokens", pa.int32())])
    write_corpus(folder, [pa.RecordBatch.from_pylist(rows, schema=schema)], kind="PAIRS", shard_rows=300)
    return folder


@pytest.fixture(scope="module")
def sts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tasks, with eight pairs each; those for development have others than the tests."""
    folder = tmp_path_factory.mktemp("tasks") / "sts"
    for number, task in enumerate(TASKS):
        first = 0 if task.default and task.name != "STS-B/dev" else 100
        lines = [
            f"{(i + number) % 6}\tthe {NOUNS[i]} of {i + first} sleeps\tthe {NOUNS[(i * number) % 8]} naps at {i}\n"
            for i in range(8)
        ]
        (folder / task.file).parent.mkdir(parents=True, exist_ok=True)
        (folder / task.file).write_text("".join(lines), encoding="utf-8")
    return folder


def test_every_published_table_can_be_reproduced() -> None:
    tables = [*PAIR_TABLES, *LOOP_TABLES, *DOCUMENT_TABLES, *PHRASE_TABLES, *LABEL_TABLES, *RESULT_TABLES]
    assert sorted(tables) == sorted(PAPERS)
    for table in PAPERS.values():
        assert all(len(row) == len(table.columns) for _, row in table.rows)


@pytest.mark.slow
def test_tables_of_statistics(paraloom: Command, pairs: Path, tmp_path: Path) -> None:
    pytest.importorskip("varikn", reason="training needs VariKN: pip install 'paraloom[language]'")
    pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    call = ["--pairs", f"toy={pairs}", "--sts", "nowhere", "-o", "tables", "--workers", 1]
    status, out, err = paraloom("papers", "run", "w17-9", "w17-10", "pnmt-1", "pnmt-3", *call)
    assert status == 0, err
    assert "| all ten corpora, paper | 0.46 | 0.74 | -2.80 | -2.26 |" in out
    # Translations repeat 'there is' and have fewer nouns: more repetition and less entropy than the references.
    entropy, repetition = (
        next(line for line in out.splitlines() if line.startswith(f"| toy: {claim} |"))
        for claim in ("references have more unigram entropy", "translations repeat more words")
    )
    assert entropy.endswith("| agrees |  |") and repetition.endswith("| agrees |  |")
    assert "| toy |" in (tmp_path / "tables/pnmt-1.md").read_text(encoding="utf-8")
    assert (tmp_path / "tables/pnmt-3/sheet.tsv").is_file()
    status, _, err = paraloom("papers", "run", "w17-11", *call)
    assert status == 1 and "w17-1" in err


@pytest.mark.slow
def test_a_table_of_classifiers(paraloom: Command, pairs: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the classifier needs torch: pip install 'paraloom[train]'")
    call = ["w17-8", "--sts", "nowhere", "-o", "tables", "--workers", 1, "--seeds", 1, "--classifier-pairs", 160]
    status, _, err = paraloom("papers", "run", *call, "--pairs", f"toy={pairs}")
    assert status == 0, err
    # A second source: the first one's classifiers are not trained again.
    (weights,) = (tmp_path / "tables/w17-8/toy").glob("*-lstm-random-l2-1e6-1/artifact/classifier.safetensors")
    trained = weights.stat().st_mtime_ns
    status, out, err = paraloom("papers", "run", *call, "--pairs", f"toy={pairs}", "--pairs", f"more={pairs}")
    assert status == 0, err
    assert "| references to train on | 40,000 | toy 160, more 160 |" in out
    assert "| references to test on | 5,000 | toy 20, more 20 |" in out
    rows = [line for line in out.splitlines() if line.startswith(("| LSTM, toy |", "| AVG, more |"))]
    assert len(rows) == 2 and all(0 <= float(row.split("|")[2].split()[0]) <= 100 for row in rows)
    assert weights.stat().st_mtime_ns == trained


@pytest.mark.slow
def test_a_table_of_selections(paraloom: Command, pairs: Path, sts: Path) -> None:
    call = ["--pairs", f"toy={pairs}", "--sts", sts, "--size", 50, "--epochs", 1, "--seeds", 1, "--recurrent-size", 0]
    status, out, err = paraloom("papers", "run", "w17-6", *call, "-o", "tables")
    assert status == 0, err
    assert "| AVG, paper | 65.5 | 66.0 |" in out and "| AVG, ours |" in out and "GRAN, ours" not in out
    assert "| AVG, untrained |" in out and "| overlap |" in out
    assert "| toy: random (50 pairs), tuned length tgt_tokens" in out
    assert "tables: Of 1 order of the papers" in out


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.1, 0.5, "agrees"),
        (-0.5, -0.1, "disagrees"),
        (-0.1, 0.5, "undecided"),
        (0.0, 0.5, "undecided"),
        (-0.5, 0.9, "no power"),
        (math.nan, math.nan, "no power"),
    ],
)
def test_orders_are_judged_by_their_interval(low: float, high: float, outcome: str) -> None:
    order = Order("tuned length above random", 0.5, Estimate(0.2, low, high))
    assert order.outcome == outcome and order.to_dict()["outcome"] == outcome
    again = Order.from_dict(json.loads(json.dumps(order.to_dict())))
    assert again.outcome == outcome and again.ours.value == 0.2


def test_verdicts_of_all_tables_in_a_folder_are_counted(tmp_path: Path) -> None:
    assert summarize_verdicts(tmp_path) == ""
    for name, outcomes in {"w17-4": ["agrees", "disagrees"], "pnmt-9": ["agrees"], "pnmt-1": []}.items():
        table = {"orders": [{"outcome": outcome} for outcome in outcomes]}
        (tmp_path / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
    sentence = summarize_verdicts(tmp_path)
    assert sentence == "Of 3 orders of the papers, 2 agree, 1 disagrees, 0 are undecided, 0 had no power."


def test_what_would_decide_an_order_is_how_many_times_as_much() -> None:
    # Half the interval is .4: four times as much halves it to the paper's .2; nine times as much would show our .1333.
    assert Order("a above b", 0.2, Estimate(0.0, -0.4, 0.4)).decided_by == "4 ×"
    powerful = Order("a above b", 0.5, Estimate(0.4 / 3, 0.4 / 3 - 0.4, 0.4 / 3 + 0.4))
    assert (powerful.outcome, powerful.decided_by) == ("undecided", "9 ×")
    # An interval may be narrow because training changed nothing.
    still = Order("a above b", 0.5, Estimate(0.0, -0.01, 0.01), moved=0.1)
    assert (still.outcome, still.decided_by) == ("no power", "training, which moved figures by 0.10")
    assert Order("a above b", 0.5, Estimate(0.3, 0.2, 0.4), moved=0.1).outcome == "agrees"


def test_how_far_training_moved_figures_is_read_from_rows_and_columns() -> None:
    rows = [("AVG, ours", [(60.0, 59.0, 61.0), 58.0]), ("AVG, untrained", [59.0, 59.5]), ("overlap", [1.0, 2.0])]
    assert movement(rows, ["2012", "2013"]) == 1.25
    assert movement([("news, ours", [60.0, 58.0]), ("talks", [1.0, None])], ["AVG", "AVG, untrained"]) == 2
    assert movement([("M = 1, ours", [60.0]), ("untrained", [57.0])], ["WORD"]) == 3
    assert movement([("news", [1.0])], ["IDF"]) is None


def test_the_central_claim_of_bbh22_is_judged_by_the_results(paraloom: Command, tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "docs/explanations/results"
    status, _, err = paraloom("papers", "run", "bbh22-2", "bbh22-4", "--results", results, "-o", "tables")
    assert status == 0, err
    table = json.loads((tmp_path / "tables/bbh22-2.json").read_text(encoding="utf-8"))
    orders = {order["claim"]: order for order in table["orders"]}
    mean = orders["mean of the settings: nucleus above base"]
    assert mean["outcome"] == "disagrees" and mean["published"] == pytest.approx(0.64)
    values = [order["value"] for claim, order in orders.items() if claim.endswith("nucleus above base")]
    assert len(values) == 6 and max(values) < 0 and mean["value"] == pytest.approx(sum(values[:5]) / 5)
    # Three seeds are known by their mean, lowest and highest: 22.82, 23.11 and 23.40.
    base = dict((row[0], row[2]) for row in table["ours"]["rows"])["English to German, 10,000 pairs"]
    assert base == pytest.approx([23.11, 22.82, 23.40, 22.82, 23.11, 23.40])
    assert set(table["inputs"]) == {"results backtranslation", "code"}
    status, _, err = paraloom("papers", "run", "bbh22-2", "--results", tmp_path)
    assert status == 1 and "the result 'English to German, one kind of text' cannot be read" in " ".join(err.split())


def test_tables_say_whether_they_are_what_today_s_code_makes(paraloom: Command, tmp_path: Path) -> None:
    results = Path(__file__).parents[2] / "docs/explanations/results"
    paraloom("papers", "run", "bbh22-2", "bbh22-4", "--results", results, "-o", "tables")
    status, out, _ = paraloom("papers", "check", "tables")
    assert status == 0 and [line.split() for line in out.splitlines()] == [
        ["bbh22-2", "current"],
        ["bbh22-4", "current"],
    ]
    path = tmp_path / "tables/bbh22-4.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**table, "inputs": {**table["inputs"], "code": "another"}}), encoding="utf-8")
    given = ["--input", f"results backtranslation={results / 'index.json'}"]
    status, out, _ = paraloom("papers", "check", "tables", "--json", *given)
    assert status == 1
    assert [(row["state"], row["why"]) for row in json.loads(out)] == [
        ("stale", "results backtranslation"),
        ("stale", "code"),
    ]
    path.write_text(json.dumps({**table, "inputs": {}}), encoding="utf-8")
    assert "untraced" in paraloom("papers", "check", "tables")[1]
    assert paraloom("papers", "check", results)[0] == 1


def test_park17_is_judged_by_the_results_of_its_own_loop(tmp_path: Path) -> None:
    columns = ["", "documents, F1", "beads, F1", "BLEU", "BLEU, +BC⁰"]
    alone, first, second = (
        "lengths alone, true documents",
        "PARK17 (topics, θ .5, published λ), aligned by MT⁰",
        "PARK17, aligned by MT¹",
    )
    rows = [[name, *["shown"] * 4] for name in (alone, first, second)] + [
        ["gold beads (oracle)", "", "", "2.00 ± 0.10", "**2.00** ± 0.10"]
    ]
    draws = {
        alone: {"beads, F1": [0.85, 0.87, 0.89], "BLEU": [1.0, 1.1, 1.2], "BLEU, +BC⁰": [1.5, 1.6, 1.7]},
        first: {
            "documents, F1": [0.08, 0.10, 0.12],
            "beads, F1": [0.89, 0.90, 0.91],
            "BLEU": [1.0, 1.1, 1.2],
            "BLEU, +BC⁰": [1.0, 1.1, 1.2],
        },
        second: {
            "documents, F1": [0.18, 0.20, 0.25],
            "beads, F1": [0.89, 0.91, 0.93],
            "BLEU": [1.2, 1.3, 1.4],
            "BLEU, +BC⁰": [1.0, 1.2, 1.1],
        },
    }
    result = {"heading": "PARK17's own test, JHE", "seeds": "3", "columns": columns, "rows": rows, "draws": draws}
    (tmp_path / "self-training.json").write_text(json.dumps({"results": [result]}), encoding="utf-8")
    tables = list(reproduce_tables(["park17-2", "park17-4", "park17-6"], results=tmp_path, folder=tmp_path / "tables"))
    assert [(len(table.orders), table.seeds) for table in tables] == [(1, 3), (2, 3), (4, 3)]
    # Three draws rise by .10, .10 and .13: their mean ± 4.303 (2 df) · .01732 / √3 = .0430.
    documents = tables[0].orders[0]
    assert (documents.claim, documents.outcome) == ("F1: after self-training above first translator", "agrees")
    assert documents.published == pytest.approx(0.0432)
    assert documents.ours.to_dict() == pytest.approx({"value": 0.11, "low": 0.0670, "high": 0.1530}, abs=1e-4)
    beads = dict(tables[1].rows)
    assert beads["after self-training, ours"] == [pytest.approx((0.91, 0.89, 0.93, 0.89, 0.91, 0.93))]
    assert [order.outcome for order in tables[2].orders] == ["undecided", "disagrees", "agrees", "undecided"]
    assert dict(tables[2].rows)["gold beads (oracle)"] == [pytest.approx((2, 1.9, 2.1))] * 2


def test_code_is_compared_without_comments_docstrings_and_layout() -> None:
    one = 'def f(x):\n    """Docs."""\n    return x  # why\n'
    assert _code(one) == _code("def f(x):\n\n    return (x)\n") != _code("def f(x):\n    return -x\n")


def test_an_order_of_two_judges_agrees_where_both_say_so() -> None:
    def row(name: str, *judges: float) -> tuple[str, list[Any]]:
        return name, [None] * 6 + [(value, value - 2, value + 2) for value in judges]

    rows = [
        row("range -0.1 to 0.2", 10.0, 10.0),
        row("range 0.2 to 0.4", 20.0, 11.0),
        row("range 0.4 to 0.6", 30.0, 30.0),
    ]
    orders = range_orders(rows)
    assert [order.outcome for order in orders] == ["undecided", "agrees"]
    assert [order.ours.value for order in orders] == [1.0, 10.0]
    assert [order.published for order in orders] == [13, 18]


@pytest.mark.slow
def test_a_table_of_encoders(paraloom: Command, pairs: Path, sts: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="GRAN needs torch: pip install 'paraloom[train]'")
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{noun} {i} 1 {i % 3}\n" for i, noun in enumerate(NOUNS)), encoding="utf-8")
    human = tmp_path / "human.tsv"
    human.write_text("".join(f"a {a} sleeps\tthe {a} naps\n" for a in NOUNS), encoding="utf-8")
    call = ["--pairs", f"toy={pairs}", "--sts", sts, "--size", 50, "--recurrent-size", 40, "--epochs", 1]
    call += ["--seeds", 2, "--vectors", vectors, "--simple-wikipedia", human, "--ppdb", human]
    status, out, err = paraloom("papers", "run", "w17-4", *call, "-o", "tables")
    assert status == 0, err
    assert "| Simple Wikipedia, paper | 67.2 | 65.8 |" in out and "| toy, ours |" in out and "| PPDB, ours |" in out
    assert "| given vectors averaged |" in out and "AVG, 40 pairs" in out
    assert "GRAN above AVG on toy" in out and "GRAN: Simple Wikipedia above PPDB" in out
    written = json.loads((tmp_path / "tables/w17-4.json").read_text(encoding="utf-8"))
    assert {order["outcome"] for order in written["orders"]} <= set(OUTCOMES)
    assert written["seeds"] == 2 and written["baselines"]["untrained"] == "rows or columns of that name"
    # What is done is not done again.
    again, repeated, _ = paraloom("papers", "run", "w17-4", *call, "-o", "tables")
    assert again == 0 and repeated == out


def loop_run(folder: Path) -> None:
    """Write the files of a run of the loop that its table is made from."""
    figures = {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    stages = [{"name": f"sentences-{n}", "folder": f"{n}0-sentences-{n}", "figures": figures} for n in (2, 3)]
    kinds = {"1:1": {"f1": 0.95, "gold": 80}, "1:2": {"f1": 0.85, "gold": 40}, "3:3": {"f1": 0.1, "gold": 2}}
    (folder / "30-sentences-3" / "artifact").mkdir(parents=True)
    (folder / "30-sentences-3" / "artifact" / "result.json").write_text(json.dumps({"kinds": kinds}))
    (folder / "run.json").write_text(json.dumps({"name": "toy", "seed": 1, "digest": "d" * 64, "stages": stages}))


def test_tables_of_a_run_of_the_loop(paraloom: Command, tmp_path: Path) -> None:
    loop_run(tmp_path / "run")
    status, out, _ = paraloom("papers", "run", "all", "--loop", "run", "-o", "tables")
    assert status == 0
    assert "1 of the 2 kinds that the gold alignment has 30 times or more have an F1 of .90 or more." in out
    assert (tmp_path / "tables" / "park17-5.md").is_file()


def test_the_table_of_a_run_that_aligned_documents(tmp_path: Path) -> None:
    figures = {"documents": [8, 10], "precision": 0.5, "recall": 0.4, "f1": 0.4444, "gold": 7}
    stages = [{"name": name, "folder": name, "figures": figures} for name in ("de-all", "de-multinews", "de-topics")]
    run = {"name": "toy", "seed": 1, "digest": "d" * 64, "stages": stages}
    (tmp_path / "run.json").write_text(json.dumps(run))
    (table,) = reproduce_tables("multinews-2", documents=tmp_path, folder=tmp_path / "tables")
    first, last = table.to_dict()["ours"]["rows"]
    assert first == ["German, MultiNews as published, S + W + N of all pages, ours", 0.5, 0.4, 0.4444, 7.0]
    assert last[0].startswith("German, all evidence") and "one page of 10" in table.baselines["random"]


def phrase_run(folder: Path, seed: int) -> None:
    """Write the files of a run of examples/pgru.toml: more pairs and more contrasting phrases are better."""
    stages = []
    for k, share in product((9, 29, 99), (1, 10, 100)):
        stages.append((f"k{k}-of-{share}", 40 + k / 9 + 10 * math.log10(share), 60.0))
    stages += [("task-semeval", 50.0, 70.0), ("task-turney", 50.0, 70.0)]
    tasks = ("SemEval2013", "Turney2012(5)", "Turney2012(10)")
    for stage, choosing, accuracy in stages:
        (folder / stage / "artifact").mkdir(parents=True)
        trained = {"choosing among 100": choosing + seed / 10, "rows": rows_of(tasks, accuracy + seed)}
        average = {"choosing among 100": 45.0, "rows": rows_of(tasks, 65.0)}
        result = {"pairs": {"used": 20_000}, "test": 2_000, "trained": trained, "average": average}
        (folder / stage / "artifact" / "result.json").write_text(json.dumps(result))
    listed = [{"name": stage, "folder": stage} for stage, _, _ in stages]
    (folder / "run.json").write_text(json.dumps({"name": "pgru", "seed": seed, "digest": "e" * 64, "stages": listed}))


def rows_of(tasks: tuple[str, ...], accuracy: float) -> list[dict[str, object]]:
    return [{"task": task, "accuracy": accuracy, "n": 1_500} for task in tasks]


def test_tables_of_runs_with_phrases(paraloom: Command, tmp_path: Path) -> None:
    call = []
    for seed in (1, 2, 3):
        phrase_run(tmp_path / f"run-{seed}", seed)
        call += ["--phrases", f"run-{seed}"]
    status, out, err = paraloom("papers", "run", "all", *call, "-o", "tables")
    assert status == 0, err
    assert "| k = 99, ours | 51.20 [51.10, 51.30] | 61.20 [61.10, 61.30] | 71.20 [71.10, 71.30] |" in out
    assert "| average of the same vectors, not trained | 45.00 [45.00, 45.00] |" in out
    assert "| k = 9: 10 % of the pairs above 1 % |  | +10.00 [" in out
    # 62 below 65 and 72 above it, of 1,500 items; one point between k = 9 and 29 is within two standard errors.
    written = json.loads((tmp_path / "tables/pgru-1.json").read_text(encoding="utf-8"))
    outcomes = {order["claim"]: order["outcome"] for order in written["orders"]}
    assert outcomes["SemEval 2013: task-specific GRU above average"] == "agrees"
    assert outcomes["Turney (5): GRU(PPDB) above average"] == "no power"
    assert written["seeds"] == 3 and written["signature"].startswith("pgru|seeds:1+2+3|")


def test_runs_without_the_tasks_training_sets_have_no_row_of_them(tmp_path: Path) -> None:
    phrase_run(tmp_path / "run", 1)
    run = json.loads((tmp_path / "run/run.json").read_text(encoding="utf-8"))
    for stage in run["stages"]:
        stage |= {"folder": None, "state": "to do"} if stage["name"].startswith("task") else {"state": "done"}
    (tmp_path / "run/run.json").write_text(json.dumps(run), encoding="utf-8")
    (table,) = reproduce_tables("pgru-1", phrases=[tmp_path / "run"], folder=tmp_path / "tables")
    assert [name for name, _ in table.rows] == [
        "average of the same vectors, not trained",
        "GRU of phrase pairs alone, ours",
    ]
    assert len(table.orders) == 3


def test_tables_of_pairs_have_orders_and_idf_in_nats(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def estimate(value: float) -> dict[str, float]:
        return {"value": value, "low": value - 0.1, "high": value + 0.1}

    def statistics(length: float, parse_entropy: float) -> dict[str, Any]:
        return {
            "reference": {"length": estimate(length), "idf": estimate(math.log(8)), "unigram_entropy": estimate(6.0)},
            "paraphrase_score": estimate(0.8),
            "spearman_of_reference_probability": {"tgt_idf": estimate(0.3), "tgt_tokens": estimate(0.2)},
            "parse_entropy": parse_entropy,
        }

    sources = {"talks": statistics(8.0, 3.0), "news": statistics(20.0, 2.0)}
    parsed = {name: {"reference": {"parse_entropy": estimate(row["parse_entropy"])}} for name, row in sources.items()}
    monkeypatch.setattr(pair_tables, "_statistics", lambda study: sources)
    monkeypatch.setattr(pair_tables, "_parsed_statistics", lambda study: (parsed, 100))
    monkeypatch.setattr(pair_tables, "_judged_statistics", lambda study, seed: sources)
    study = Study(sources={"talks": "a", "news": "b"}, sts="sts", folder=tmp_path, word_frequencies="words.txt")
    table = pair_tables.source_statistics(study, "pnmt-1")
    assert table.rows[0][1][1] == pytest.approx((math.log(8), math.log(8) - 0.1, math.log(8) + 0.1))
    assert "of sentences of 21 words, expected from the counts of words.txt; nats" in table.format()
    (order,) = table.orders
    assert "(talks) has more parse entropy than news" in order.claim and order.outcome == "agrees"
    outcomes = {order.claim: order.outcome for order in pair_tables.reference_correlations(study, "w17-10").orders}
    assert outcomes["news: p(reference) rises with the mean IDF"] == "agrees"
    assert outcomes["news: p(reference) falls with the length"] == "disagrees"


def test_classifiers_have_the_negatives_that_are_better_on_development_references() -> None:
    def figures(development: float, accuracy: float) -> dict[str, float]:
        shares = dict.fromkeys(("accuracy", "reference_accuracy", "translation_accuracy"), accuracy)
        return {**shares, "development_accuracy": development, "test_sentences": 1000}

    measured = classifier_accuracies(
        {
            ClassifierTraining("lstm", "news", "random", 1): figures(0.80, 0.90),
            ClassifierTraining("lstm", "news", "random", 2): figures(0.80, 0.90),
            ClassifierTraining("lstm", "news", "hardest", 1): figures(0.85, 0.86),
            ClassifierTraining("lstm", "news", "hardest", 2): figures(0.83, 0.88),
            ClassifierTraining("avg", "news", "random", 1): figures(0.70, 0.80),
            ClassifierTraining("avg", "news", "random", 2): figures(0.70, 0.82),
        }
    )
    accuracy, references, _ = measured["lstm", "news"]
    assert accuracy.values == pytest.approx([86, 88]) and (accuracy.items, references.items) == (1000, 500)
    (order,) = classifier_orders(measured)
    # The paper's mean over ten corpora: 81.57 for the LSTM, 79.85 for AVG.
    assert order.published == pytest.approx(1.72) and order.ours.value == pytest.approx(6)
    assert order.claim == "LSTM above AVG on news"


def test_a_difference_of_accuracies_has_an_interval_over_items_and_seeds() -> None:
    # The variance of 60 and 50 per cent of 1,000 items is (60 · 40 + 50 · 50) / 1000 = 4.9; 1.96 · √4.9 = 4.339.
    alone = Accuracies([60.0], 1000).above(Accuracies([50.0], 1000))
    assert alone.value == 10 and alone.high - 10 == pytest.approx(4.339, abs=0.001)
    # Welch's interval of 59, 60, 61 and 49, 50, 51 has a half width of 2.267.
    seeds = Accuracies([59.0, 60.0, 61.0], 1000).above(Accuracies([49.0, 50.0, 51.0], 1000))
    assert seeds.high - 10 == pytest.approx((4.339**2 + 2.267**2) ** 0.5, abs=0.001)


def test_a_table_converts_to_a_dictionary(tmp_path: Path) -> None:
    loop_run(tmp_path / "run")
    (table,) = reproduce_tables("park17-5", loop=tmp_path / "run", folder=tmp_path / "tables")
    row = table.to_dict()
    assert row["ours"]["rows"][0][3:5] == [0.95, 0.85] and row["ours"]["rows"][0][1] is None
    assert row["paper"]["rows"][0][:3] == ["after self-training", 1.0, 1.0]
    order = row["orders"][0]
    assert order["claim"] == "1:2 easier than 1:1" and order["value"] == pytest.approx(-0.1)
    assert order["low"] < -0.1 < order["high"] and order["outcome"] == "undecided"
    assert (tmp_path / "tables/park17-5.md").read_text(encoding="utf-8") == table.format()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["park17-5"], "table 'park17-5' needs a run of `paraloom research selftrain`"),
        (["w17-9"], "table 'w17-9' needs pairs and similarity tasks"),
        (["all"], "'all' tables need pairs or a run"),
        (["multinews-2"], "table 'multinews-2' needs a run of examples/help-documents.toml"),
        (["pgru-1"], "table 'pgru-1' needs runs of examples/pgru.toml"),
        (["pgru-1", "--phrases", "run"], "the run has no stage 'k99-of-100'"),
        (["pgru-1", "--phrases", "nowhere"], "run.json cannot be read"),
        (["park17-2"], "table 'park17-2' needs the files of results"),
        (["park17-5", "--loop", "nowhere"], "not that of a run of the loop"),
        (["park17-3", "--loop", "run"], "did you mean 'park17-"),
        (["park17-5", "--loop", "run"], "did not evaluate its sentences"),
        (["pnmt-scrambling", "--pairs", "a=b", "--sts", "c", "--recurrent-size", "0"], "needs recurrent encoders"),
        (["w17-4", "--pairs", "a=b", "--sts", "c", "--seeds", "0"], "'seeds' is 0; expected 1 or more"),
    ],
)
def test_missing_inputs_and_unknown_tables(paraloom: Command, tmp_path: Path, call: list[str], message: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"name": "a", "seed": 1, "digest": "d", "stages": []}))
    status, _, err = paraloom("papers", "run", *call)
    assert status == 1 and message in " ".join(err.split())
