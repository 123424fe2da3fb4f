"""augment_labels with made-up paraphrasers: rows, labels, other columns, placeholders, balance, and bad input."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraloom
from paraloom.api.label_augmentation import PROVENANCE, LabelAugmentation, _selector, augment_labels
from paraloom.api.paraphrase_evaluation import ParaphraserEvaluation
from paraloom.api.paraphrase_sources import (
    RoundTripParaphraser,
    as_paraphraser,
    open_paraphraser,
    open_selector,
)
from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.paraphrasing import augmentation, protection, selection
from paraloom.paraphrasing.selection_config import SELECTION_PRESETS, SelectionConfig

ROWS = [
    {"id": 7, "text": "the red car is fast", "label": "car"},
    {"id": 8, "text": "the old car stopped at 5 on @joe", "label": "car"},
    {"id": 9, "text": "a loud car passed the gate", "label": "car"},
    {"id": 10, "text": "one tree lost its leaves", "label": "tree"},
]
CHANGED = SelectionConfig(difference=0.1)
SYNONYMS = {"red": "crimson", "fast": "quick", "old": "ancient", "loud": "noisy", "leaves": "foliage", "lost": "shed"}


def reword(texts: list[str]) -> list[list[str]]:
    """For each text: a copy, and one variant for each number of synonyms."""
    groups = []
    for text in texts:
        words, group = text.split(), [text]
        for row, word in enumerate(words):
            if word in SYNONYMS:
                words = [*words[:row], SYNONYMS[word], *words[row + 1 :]]
                group.append(" ".join(words))
        groups.append(group)
    return groups


class Fixed:
    """An encoder for which all texts are alike but those with a word of its list."""

    signature, dimension = "fixed", 2

    def __init__(self, *others: str) -> None:
        self.others = set(others)

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        other = [bool(self.others & set(text.split())) for text in sentences]
        return np.array([[0, 1] if one else [1, 0] for one in other], np.float32)


def write(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    else:
        with path.open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t" if path.suffix == ".tsv" else ","))


def run(
    folder: Path, paraphraser: Any = reword, rows: list[dict[str, Any]] = ROWS, **options: Any
) -> tuple[LabelAugmentation, list[dict[str, Any]]]:
    options = {"encoder": None, "selection": CHANGED, **options}
    result = augment_labels(write(folder / "set.jsonl", rows), paraphraser, folder / "more.jsonl", **options)
    return result, read(folder / "more.jsonl")


@pytest.mark.parametrize("source", ["set.jsonl", "set.csv", "set.tsv", "set.parquet"])
@pytest.mark.parametrize("output", ["more.jsonl", "more.csv", "more.tsv", "more.parquet"])
def test_all_formats(tmp_path: Path, source: str, output: str) -> None:
    result = augment_labels(write(tmp_path / source), reword, tmp_path / output, encoder=None, selection=CHANGED)
    rows = read(tmp_path / output)
    assert list(rows[0]) == ["id", "text", "label", *PROVENANCE]
    assert [{name: row[name] for name in ("id", "text", "label")} for row in rows[:4]] == [
        {**row, "id": row["id"] if "csv" not in f"{source}{output}".replace("tsv", "csv") else str(row["id"])}
        for row in ROWS
    ]
    assert {row["augmented_from"] for row in rows[:4]} <= {None, ""}
    assert [(str(row["id"]), row["text"], row["label"], int(row["augmented_from"])) for row in rows[4:]] == [
        ("7", "the crimson car is quick", "car", 1),
        ("8", "the ancient car stopped at 5 on @joe", "car", 2),
        ("9", "a noisy car passed the gate", "car", 3),
        ("10", "one tree shed its foliage", "tree", 4),
    ]
    assert (result.rows, result.new, result.written, result.text, result.label) == (4, 4, 8, "text", "label")


def test_scores_and_method(tmp_path: Path) -> None:
    result, rows = run(tmp_path, encoder=Fixed())
    assert rows[4]["augmented_meaning"] == 1.0 and rows[4]["augmented_difference"] == 0.4
    assert rows[4]["augmented_fluency"] is None  # a function does not say how probable its texts are
    assert {row["augmented_by"] for row in rows[4:]} == {result.method}
    assert result.method.startswith("paraphrase#")


def test_why_candidates_are_dropped(tmp_path: Path) -> None:
    result, rows = run(tmp_path, encoder=Fixed("quick", "foliage"), n=2)
    assert [row["text"] for row in rows[4:]] == [
        "the crimson car is fast",
        "the ancient car stopped at 5 on @joe",
        "a noisy car passed the gate",
        "one tree shed its leaves",
    ]
    assert result.dropped == {selection.COPY: 4, selection.DRIFT: 2}
    assert [(one.label, one.rows, one.wanted, one.new) for one in result.labels] == [
        ("car", 3, 6, 3),
        ("tree", 1, 2, 1),
    ]


def test_the_paraphraser_sees_placeholders(tmp_path: Path) -> None:
    seen: list[str] = []

    def drop_the_number(texts: list[str]) -> list[list[str]]:
        seen.extend(texts)
        return [
            [text.replace("A1", "noon").replace("old", "ancient"), *group]
            for text, group in zip(texts, reword(texts), strict=True)
        ]

    result, rows = run(tmp_path, drop_the_number)
    assert seen[1] == "the old car stopped at A1 on A2"
    assert result.dropped[protection.LOST] == 1
    assert [row["text"] for row in rows if row["augmented_from"] == 2] == ["the ancient car stopped at 5 on @joe"]


def test_paraphrases_have_no_line_breaks_that_the_text_has_not(tmp_path: Path) -> None:
    source, output = write(tmp_path / "a.tsv"), tmp_path / "b.tsv"
    augment_labels(
        source,
        lambda texts: [text.replace("car", "vehicle \n or so").replace("tree", "plant\tor so") for text in texts],
        output,
        encoder=None,
    )
    assert [row["text"] for row in read(output)[4:]][::3] == [
        "the red vehicle or so is fast",
        "one plant or so lost its leaves",
    ]


def test_values_that_parquet_cannot_hold(tmp_path: Path) -> None:
    source = write(tmp_path / "a.jsonl", [*ROWS, {**ROWS[0], "id": "x"}])
    with pytest.raises(DataError, match=r"a\.jsonl: column 'id' has values that one type of Parquet cannot hold"):
        augment_labels(source, reword, tmp_path / "b.parquet", encoder=None)


def test_texts_of_placeholders_only(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": 11, "text": "@joe 5", "label": "car"}]
    result, written = run(tmp_path, rows=rows)
    assert result.unused == 1 and "1 texts have too few words" in result.format()
    assert 5 not in [row["augmented_from"] for row in written]


def test_a_paraphrase_that_the_set_has_is_left_out(tmp_path: Path) -> None:
    rows = [*ROWS, {"id": 11, "text": "The crimson car is quick.", "label": "tree"}]
    result, written = run(tmp_path, rows=rows)
    assert result.dropped[augmentation.KNOWN] == 1
    assert written[5]["text"] == "the crimson car is fast"

    def same(texts: list[str]) -> list[str]:
        return ["the same words for all"] * len(texts)

    result, written = run(tmp_path, same)
    assert (result.new, result.dropped) == (1, {augmentation.KNOWN: 2, protection.LOST: 1})


def test_balance_fills_the_rarest_labels(tmp_path: Path) -> None:
    result, _ = run(tmp_path, balance=True, n=5)
    assert [(one.label, one.wanted, one.new) for one in result.labels] == [("car", 0, 0), ("tree", 2, 2)]
    with pytest.warns(UserWarning, match="same number of rows: nothing was wanted"):
        run(tmp_path, balance=True, rows=[ROWS[0], ROWS[3]])


@pytest.mark.parametrize("labels", [[0, 1], [True, False], [["a"], ["a", "b"]], [0.5, 1.0], ["0", "1"]])
def test_labels_of_all_types(tmp_path: Path, labels: list[Any]) -> None:
    rows = [{"text": row["text"], "label": labels[number % 2]} for number, row in enumerate(ROWS)]
    written = run(tmp_path, rows=rows)[1]
    assert [row["label"] for row in written[4:]] == [rows[row["augmented_from"] - 1]["label"] for row in written[4:]]


def test_columns_are_noticed(tmp_path: Path) -> None:
    rows = [{"Intent": row["label"], "utterance": row["text"], "title": "x"} for row in ROWS]
    result, written = run(tmp_path, rows=rows)
    assert (result.text, result.label) == ("utterance", "Intent")
    assert written[4]["title"] == "x"
    with pytest.raises(ConfigError, match=r"column 'utterence' not found; did you mean 'utterance'"):
        run(tmp_path, rows=rows, text="utterence")
    with pytest.raises(ConfigError, match=r"column of the label was not noticed among a, b\."):
        run(tmp_path, rows=[{"a": "x y z", "text": "b", "b": 3}])
    with pytest.raises(ConfigError, match=r"column of the text was not noticed among a, label"):
        run(tmp_path, rows=[{"a": "x y z", "label": "b"}])


def test_a_table_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "set.tsv").write_text("".join(f"{row['label']}\t{row['text']}\n" for row in ROWS))
    augment_labels(
        tmp_path / "set.tsv", reword, tmp_path / "more.tsv", text=2, label=1, encoder=None, selection=CHANGED
    )
    lines = (tmp_path / "more.tsv").read_text().splitlines()
    assert len(lines) == 8 and lines[0] == "car\tthe red car is fast\t\t\t\t\t"
    assert lines[4].startswith("car\tthe crimson car is quick\t1\tparaphrase#")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "  ", "label": "a"}, "the text, 'text', is empty"),
        ({"text": None, "label": "a"}, "the text, 'text', is empty"),
        ({"label": "a"}, "the text, 'text', is empty"),
        ({"text": 5, "label": "a"}, "'text' must be text, got 5"),
        ({"text": "a b", "label": ""}, "the label, 'label', is missing"),
        ({"text": "a b", "label": None}, "the label, 'label', is missing"),
        ({"text": "a b", "label": float("nan")}, "the label, 'label', is missing"),
    ],
)
def test_bad_rows(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        run(tmp_path, rows=[*ROWS, row])
    assert caught.value.row == 5 and "--on-error reject" in str(caught.value)
    assert not (tmp_path / "more.jsonl").exists()
    with pytest.warns(UserWarning, match="1 row was rejected"):
        result, written = run(tmp_path, rows=[*ROWS, row], on_error="reject")
    assert (result.rows, len(written)) == (4, 8)
    rejected = [json.loads(line) for line in (tmp_path / "more.rejected.jsonl").read_text().splitlines()]
    assert [(one["row"], one["reason"]) for one in rejected] == [(5, message)]


def test_a_row_that_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path / "set.jsonl")
    with (tmp_path / "set.jsonl").open("a") as stream:
        stream.write("{\n")
    options: dict[str, Any] = {"encoder": None, "selection": CHANGED}
    with pytest.raises(DataError, match="row 5: the line is not valid JSON"):
        augment_labels(tmp_path / "set.jsonl", reword, tmp_path / "more.jsonl", **options)
    with pytest.warns(UserWarning, match=r"row 5 of .*set\.jsonl: the line is not valid JSON"):
        augment_labels(tmp_path / "set.jsonl", reword, tmp_path / "more.jsonl", on_error="reject", **options)


def test_sets_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="all 3 rows have the label 'car'"):
        run(tmp_path, rows=ROWS[:3])
    with pytest.raises(ConfigError, match="column 'augmented_from': it was augmented before"):
        run(tmp_path, rows=[{**row, "augmented_from": None} for row in ROWS])
    with pytest.raises(ConfigError, match="the output is also an input"):
        augment_labels(write(tmp_path / "set.jsonl"), reword, tmp_path / "set.jsonl")
    with pytest.raises(ConfigError, match=r"unknown format '.txt'"):
        augment_labels(write(tmp_path / "set.jsonl"), reword, tmp_path / "more.txt")
    with pytest.raises(DataError, match="file not found"):
        augment_labels(tmp_path / "other.jsonl", reword, tmp_path / "more.jsonl")


class English:
    """A paraphraser that says its language."""

    signature, language = "english-only", "en"

    def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[Variant]]:
        return [[Variant(text, -1.0, 1)] for text in texts]


GERMAN = [
    "Das ist nicht der Hund, den wir gesehen haben.",
    "Ich habe sie mit dir in der Stadt getroffen.",
    "Wir sind auch nicht zu ihm in das Haus gegangen.",
]


def test_another_language(tmp_path: Path) -> None:
    rows = [{"text": text, "label": label} for label in "ab" for text in GERMAN * 3]
    with pytest.raises(DataError, match=r"set\.jsonl: the texts are German, the paraphraser is for English"):
        run(tmp_path, English(), rows=rows)
    with pytest.warns(UserWarning, match="no paraphrase was kept; the commonest reasons: near copy"):
        result, _ = run(tmp_path, English(), rows=rows, check_languages=False)
    assert result.new == 0


def test_an_encoder_of_another_language() -> None:
    with pytest.raises(ConfigError, match="the encoder 'english' does not read German"):
        open_selector(language="de")
    assert open_selector(language="de", encoder="none").encoder is None
    with pytest.raises(ConfigError, match="--meaning needs an encoder"):
        open_selector(encoder=None, meaning=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "'n' must be 1 or more"),
        ({"selection": "stricter"}, "did you mean 'strict'"),
    ],
)
def test_options_out_of_range(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run(tmp_path, **options)
    assert not (tmp_path / "more.jsonl").exists()


def test_a_paraphraser_that_loses_texts(tmp_path: Path) -> None:
    class Short(English):
        def paraphrase(self, texts: Sequence[str], *, n: int = 5, seed: int = 0) -> list[list[Variant]]:
            return [[]]

    with pytest.raises(DataError, match="returned 1 lists of paraphrases for 4 texts"):
        run(tmp_path, Short())
    assert not (tmp_path / "more.jsonl").exists()


def test_a_function_may_have_no_paraphrase_of_a_text(tmp_path: Path) -> None:
    some = as_paraphraser(lambda texts: [[] if "car" in text else [f"{text} today"] for text in texts])
    assert [[one.text for one in group] for group in some.paraphrase(["a car", "a tree"])] == [[], ["a tree today"]]
    with pytest.raises(DataError, match=r"the function .*<lambda> returned 1 results for 2 texts"):
        as_paraphraser(lambda texts: texts[:1]).paraphrase(["a car", "a tree"])


def test_features_of_the_datasets_library_are_extended(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS)
    features = {"info": {"features": {"label": {"names": ["a"], "_type": "ClassLabel"}}}}
    pq.write_table(table.replace_schema_metadata({"huggingface": json.dumps(features)}), tmp_path / "set.parquet")
    augment_labels(tmp_path / "set.parquet", reword, tmp_path / "more.parquet", encoder=None)
    described = json.loads(pq.read_schema(tmp_path / "more.parquet").metadata[b"huggingface"])["info"]["features"]
    assert described["augmented_from"] == {"dtype": "int64", "_type": "Value"}
    assert described["augmented_by"]["dtype"] == "string" and described["label"]["names"] == ["a"]


def test_what_names_a_paraphraser(tmp_path: Path) -> None:
    english = English()
    assert as_paraphraser(english) is english
    function: Callable[[list[str]], list[str]] = list
    assert as_paraphraser(lambda texts: function(texts)).paraphrase(["a"])[0][0].text == "a"
    with pytest.raises(TypeError, match="got int"):
        as_paraphraser(5)  # type: ignore[arg-type]
    for reference, message in (
        ([], "a paraphraser is missing"),
        ("round-trip:en-de", "needs a translator for each direction"),
        ("round-trip:en-de,en-de", "do not lead back"),
        ("http://127.0.0.1:9/v1", "needs the name of a model"),
    ):
        with pytest.raises(ConfigError, match=message):
            open_paraphraser(reference)
    assert paraloom.augment_labels is augment_labels


def test_the_presets_of_paraphrases_and_labeled_sets_are_one_gate() -> None:
    own, other = RoundTripParaphraser("en-de", "de-en"), as_paraphraser(lambda texts: texts)
    evaluation = ParaphraserEvaluation({"round trip": own}, preset="strict")
    assert evaluation.selector is not None
    for selector in (
        _selector(own, "strict", None), open_selector("strict", judge=None, language="en"), evaluation.selector
    ):  # fmt: skip
        assert selector.judge is not None and selector.config == SELECTION_PRESETS["strict"]
    assert _selector(own, SelectionConfig(probability=0.3), None).config.probability == 0.3
    # Of writers that are seldom wrong, the judge would drop more right candidates than wrong ones.
    assert _selector(other, "strict", None).judge is None
