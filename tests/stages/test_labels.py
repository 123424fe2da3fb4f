"""Labeled pairs: read, made of right pairs, trained on, tested with; by stages, functions and commands; bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import Command

import paraloom as library
from paraloom.api import evaluate_lookalikes, evaluate_scores, train_paraphrase_model
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.stage import StageContext
from paraloom.io import Corpus
from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel
from paraloom.stages.bitext import CommonTranslations, JoinPairs
from paraloom.stages.labels import (
    LabelPairs,
    MakeLookalikes,
    ReadLabeledPairs,
    read_labeled,
    signs_of,
)

CONTEXT = StageContext(seed=1)
NOUNS = ("dog", "cat", "man", "girl", "bird", "horse", "boy", "woman", "cow", "pig", "fox", "bear")
RIGHT = [
    (f"The {a} has {n} friends in Rome.", f"In Rome the {a} has got {n} friends.")
    for n, a in enumerate(NOUNS, start=12)
]


def batch_of(pairs: list[tuple[str, str]]) -> pa.RecordBatch:
    rows = [
        {"pair_id": f"toy:{i}", "src": a, "tgt": b, "src_lang": "en", "tgt_lang": "en", "origin": "toy"}
        for i, (a, b) in enumerate(pairs)
    ]
    return pa.RecordBatch.from_pylist(rows)


def write_labeled(path: Path) -> Path:
    """Right pairs, look-alikes, and each first side with the second side of the next pair, scored."""
    right = library.as_pairs(RIGHT, src_lang="en", tgt_lang="en")
    neighbors = [(a, b) for (a, _), (_, b) in zip(RIGHT, [*RIGHT[1:], RIGHT[0]], strict=True)]
    mismatched = library.as_pairs(neighbors, src_lang="en", tgt_lang="en")
    parts = [
        right.then(LabelPairs()),
        right.then(MakeLookalikes()),
        mismatched.then(LabelPairs(label=0, kind="neighbor")),
    ]
    tables = [part.score(["bleu1", "chrf", "meaning"]).to_arrow() for part in parts]
    tables[1] = tables[1].select(tables[0].schema.names)
    pq.write_table(pa.concat_tables([table.select(tables[0].schema.names) for table in tables]), path)
    return path


def test_labeled_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "set.tsv").write_text("YES\t7\ta b\tb a\nNO\t8\tc\td\nMAYBE\t9\te\tf\n", encoding="utf-8")
    stage = ReadLabeledPairs(
        source=tmp_path / "set.tsv", labeled_set="toy", label_column=1, src_column=3, tgt_column=4, right=("YES",),
        wrong=("NO",),
    )  # fmt: skip
    rows = pa.Table.from_batches(list(stage.batches(CONTEXT))).to_pylist()
    assert [(row["pair_id"], row["src"], row["tgt"], row["label"]) for row in rows] == [
        ("toy:1", "a b", "b a", 1),
        ("toy:2", "c", "d", 0),
    ]


@pytest.mark.parametrize(
    ("content", "message"), [("1\ta\n", "row 1: expected 3 fields or more, got 2"), ("7\ta\tb\n", "no row has one of")]
)
def test_labeled_files_that_do_not_fit(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "set.tsv").write_text(content, encoding="utf-8")
    stage = ReadLabeledPairs(source=tmp_path / "set.tsv", labeled_set="toy", label_column=1, src_column=2, tgt_column=3)
    with pytest.raises(DataError, match=message):
        list(stage.batches(CONTEXT))


def test_contradicting_labels_are_refused() -> None:
    with pytest.raises(ConfigError, match="both right and wrong"):
        ReadLabeledPairs(source="x", labeled_set="toy", right=("1",), wrong=("1",))


def test_lookalikes_are_kept_and_pairs_without_one_rejected() -> None:
    batch = batch_of([("It is late.", "It is late now."), ("Yes", "Yes!")])
    rows = MakeLookalikes(kinds=("negation",)).apply(batch, CONTEXT).to_pylist()
    assert [(row["tgt"], row["kind"], row["label"], row["keep"], row["_source"]) for row in rows] == [
        ("It is not late now.", "negation", 0, True, 0),
        ("Yes!", None, 0, False, 1),
    ]
    copies = MakeLookalikes(kinds=("negation",), changed="src").apply(batch, CONTEXT).to_pylist()
    assert (copies[0]["tgt"], copies[0]["kind"]) == ("It is not late.", "negation, copy")
    with pytest.raises(ConfigError, match="unknown kind"):
        MakeLookalikes(kinds=("nagation",))


def test_common_translations_need_no_model(tmp_path: Path) -> None:
    rows = [("Danke!", "Thanks!"), ("Danke!", "Thank you!"), ("Danke!", "thanks"), ("Ja.", "Yes."), ("Nein", "No")]
    library.as_pairs(rows, src_lang="de", tgt_lang="en").write(tmp_path / "bitext")
    context = StageContext(seed=1, inputs={"bitext": tmp_path / "bitext"})
    for limit, wanted in ((0, 2), (1, 1)):
        stage = CommonTranslations(bitext="bitext", max_pairs=5, limit=limit)
        pairs = [row for batch in stage.batches(context) for row in batch.to_pylist()]
        assert len(pairs) == wanted  # "Thanks!" and "thanks" are the same words
        assert {(row["pivot"], row["pivot_lang"], row["src_lang"]) for row in pairs} == {("Danke!", "de", "en")}
    with pytest.raises(ConfigError):
        CommonTranslations(bitext="bitext", max_pairs=0)


def test_joined_corpora_keep_what_all_of_them_have(tmp_path: Path) -> None:
    library.as_pairs([("a", "b")]).score(["bleu1", "chrf"]).write(tmp_path / "one")
    library.as_pairs([("c", "d")]).score(["chrf"]).write(tmp_path / "two")
    context = StageContext(seed=1, inputs={"corpora.0": tmp_path / "one", "corpora.1": tmp_path / "two"})
    for keep, further in ((False, []), (True, ["chrf"])):
        batches = list(JoinPairs(corpora=("one", "two"), keep_columns=keep).batches(context))
        assert [batch.schema.names[6:] for batch in batches] == [further, further]


def test_a_model_is_trained_and_filters_by_its_presets(tmp_path: Path) -> None:
    labeled = write_labeled(tmp_path / "labeled.parquet")
    features = ("bleu1", "quantity_mismatch", "negation_mismatch")
    train_paraphrase_model(labeled, tmp_path / "model", features=features, fallbacks=[features[1:]], l2=0.1)
    model = ParaphraseModel.load(tmp_path / "model")
    assert set(model.models[0].names) <= set(features) and "bleu1" not in model.models[1].names
    assert all(feature.weight < 0 for part in model.models for feature in part.features if feature.name != "bleu1")
    assert model.card["trained_on"]["memory"]["right"] == len(RIGHT)

    pairs = library.as_pairs([*RIGHT, ("He has 12 dogs.", "He has 13 dogs."), ("a dog", "a dog")])
    kept = pairs.filter(preset=f"loose?model={tmp_path / 'model'}").to_list()
    assert 0 < len(kept) < len(pairs) and all(row["p_paraphrase"] > 0.2 for row in kept)
    with pytest.raises(ConfigError, match="did you mean 'strict'"):
        pairs.filter(preset=f"strickt?model={tmp_path / 'model'}")
    with pytest.raises(ConfigError, match="the preset 'strict' has no setting 'modle'"):
        pairs.filter(preset=f"strict?modle={tmp_path / 'model'}")
    with pytest.raises(ConfigError, match="for a preset"):
        pairs.filter("chrf > 1", encoder="english")


def test_scores_are_evaluated_from_files(tmp_path: Path, paraloom: Command) -> None:
    labeled = write_labeled(tmp_path / "labeled.parquet")
    result = evaluate_scores(labeled, scores=["quantity_mismatch", "bleu1"])
    cells = {(row.set, row.score): row.auc.value for row in result.rows}
    assert cells["memory: number", "quantity_mismatch"] == 1
    status, out, _ = paraloom("evaluate", "scores", labeled, "--json")
    assert status == 0 and any(row["score"] == "quantity_mismatch" for row in json.loads(out)["rows"])

    corpus = tmp_path / "corpus"
    library.read_pairs(labeled).write(corpus)
    assert read_labeled([Corpus.open(corpus)], ["bleu1", "edit_distance"]).scores["edit_distance"].shape


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "no column 'label'"),
        ({"label": [1, 1]}, "only pairs labeled as right"),
        ({"label": [0, 3]}, "neither 1"),
    ],
)
def test_pairs_that_cannot_be_evaluated(
    tmp_path: Path, paraloom: Command, columns: dict[str, list[int]], message: str
) -> None:
    table = library.as_pairs([("a", "b"), ("c", "d")]).score(["bleu1"]).to_arrow()
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values, pa.int8()))
    pq.write_table(table, tmp_path / "pairs.parquet")
    status, _, err = paraloom("evaluate", "scores", tmp_path / "pairs.parquet")
    assert status == 1 and message in err


@pytest.mark.slow
def test_lookalikes_of_ones_own_pairs(tmp_path: Path, paraloom: Command) -> None:
    library.as_pairs(RIGHT, src_lang="en", tgt_lang="en").write(tmp_path / "mine.en-en.tsv")
    result = evaluate_lookalikes(RIGHT, scores=["chrf", "quantity_mismatch"], kinds=["number"])
    assert {row.score: row.preferred.value for row in result.rows} == {"chrf": 0.0, "quantity_mismatch": 0.0}
    copies = evaluate_lookalikes(RIGHT, scores=["chrf"], kinds=["number"], changed="src")
    assert copies.rows[0].preferred.value == 1.0  # a near copy is more alike than a paraphrase

    status, out, err = paraloom(
        *("evaluate", "lookalikes", "mine.en-en.tsv", "--with", "chrf,meaning", "--kinds", "number,role"),
        *("-o", "labeled.parquet"),
    )
    assert status == 0 and "0 is best" in out, err
    written = pq.read_table(tmp_path / "labeled.parquet").to_pylist()
    assert sum(row["label"] for row in written) == len(RIGHT) and len(written) > len(RIGHT)
    assert {row["kind"] for row in written if row["label"] == 0} <= {"number", "role"}
    assert {row["labeled_set"] for row in written} == {"memory"}

    status, _, err = paraloom("evaluate", "lookalikes", "mine.en-en.tsv", "--kinds", "quantifier")
    assert status == 1 and "no look-alike can be made" in err


def test_the_bundled_model_explains_itself(paraloom: Command) -> None:
    status, out, _ = paraloom("scores", "--paraphrase-model", "paraphrases-en")
    assert status == 0 and "--preset strict" in out and "reverse_cost" in out
    status, _, err = paraloom("scores", "--paraphrase-model", "none")
    assert status == 1 and "no paraphrase model" in err


def test_signs_follow_from_directions() -> None:
    assert signs_of(["chrf", "reverse_cost", "paraphrase_score", "src_tokens"]) == {
        "chrf": 1, "reverse_cost": -1, "paraphrase_score": 1, "src_tokens": 0,
    }  # fmt: skip
