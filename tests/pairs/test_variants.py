"""Translations of texts as rows, and pairs to train on made of them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from paraloom.core.errors import ConfigError, DataError
from paraloom.core.protocols import Variant
from paraloom.core.schema import PAIRS, VARIANTS, require, signature_of
from paraloom.pairs.variants import TrainingPairs, training_pairs, variant_rows


def originals(*texts: str) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "pair_id": [f"news:{i}" for i in range(len(texts))],
            "original": list(texts),
            "original_lang": ["en"] * len(texts),
            "origin": ["news"] * len(texts),
        }
    )


def variants(*groups: list[str], tokens: int = 4) -> list[list[Variant]]:
    return [[Variant(text, -1.0 - rank, tokens) for rank, text in enumerate(group)] for group in groups]


def reason_of(text: str, original: str = "a dog sleeps here", tokens: int = 4, **config: object) -> str | None:
    rows = variant_rows(originals(original), variants([text], tokens=tokens), "beam").drop_columns(["_source"])
    pairs = training_pairs(rows, TrainingPairs(**config))  # type: ignore[arg-type]
    assert pairs["keep"].to_pylist() == [pairs["reason"][0].as_py() is None]
    return pairs["reason"][0].as_py()


def test_variants_are_ranked_and_repeated_ones_are_marked() -> None:
    groups = variants(["rako", "rako ", "mili"], [""], [], ["same", "same", "same"])
    rows = variant_rows(originals("a dog", "", "nothing", "b"), groups, "nucleus", signature="made|by")
    require(rows.schema, VARIANTS)
    assert rows["rank"].to_pylist() == [0, 1, 2, 0, 0, 1, 2]
    assert rows["pair_id"].to_pylist() == ["news:0"] * 3 + ["news:1"] + ["news:3"] * 3
    assert rows["repeated"].to_pylist() == [False, True, False, False, False, True, True]
    assert rows["_source"].to_pylist() == [0, 0, 0, 1, 3, 3, 3]
    assert rows["original"].to_pylist()[3:5] == ["", "b"]
    assert {signature_of(rows.schema.field(name)) for name in ("text", "logprob", "tokens")} == {"made|by"}


def test_equal_variants_of_two_originals_are_not_repeated() -> None:
    rows = variant_rows(originals("a", "b"), variants(["x"], ["x"]), "beam")
    assert rows["repeated"].to_pylist() == [False, False]


def test_the_schema_does_not_depend_on_the_rows() -> None:
    empty = variant_rows(originals("a"), [[]], "beam", signature="s")
    rows = variant_rows(originals("a"), variants(["x"]), "beam", signature="s")
    assert empty.num_rows == 0 and empty.schema.equals(rows.schema, check_metadata=True)


def test_missing_translations_are_an_error() -> None:
    with pytest.raises(DataError, match="translations of 2 texts, got those of 1"):
        variant_rows(originals("a", "b"), [[]], "beam")


def test_a_pair_has_the_variant_as_source_and_the_original_as_target() -> None:
    rows = variant_rows(originals("a dog sleeps"), variants(["rako eins", "rako zwei"]), "beam")
    pairs = training_pairs(rows.drop_columns(["_source"]), TrainingPairs(src_lang="kal", tag="<BT>"))
    require(pairs.schema, PAIRS)
    assert pairs.select(PAIRS.names).to_pylist()[1] == {
        "pair_id": "news:0/1", "src": "<BT> rako zwei", "tgt": "a dog sleeps", "src_lang": "kal", "tgt_lang": "en",
        "origin": "news",
    }  # fmt: skip
    assert pairs["rank"].to_pylist() == [0, 1]
    assert pairs["method"].to_pylist() == ["beam", "beam"]


UNLIKE = "abcdefghijklmnopqrstuvwxyz0123456789ABCDE"
"""41 different characters."""

REASONS = [
    ("rako nuta", {}, None),
    ("", {}, "empty"),
    (" \u00a0 ", {}, "empty"),
    ("rako", {"original": ""}, "the original is empty"),
    ("rako", {"tokens": 256}, "cut off at 256 sub-words"),
    ("rako", {"tokens": 255}, None),
    ("rako", {"tokens": 256, "max_length": 0}, None),
    ("a dog  sleeps here", {}, "a copy of the original"),
    (UNLIKE[:40], {"original": "ab"}, None),  # exempt: at most 40 characters
    (UNLIKE, {"original": "ab"}, "a side more than 5 times as long as the other"),
    ("x", {"original": "sehr lang " * 5}, "a side more than 5 times as long as the other"),
    ("rako " * 6, {"original": "the old dog sleeps"}, "repeats itself 5 times or more"),
]


@pytest.mark.parametrize(("text", "values", "reason"), REASONS)
def test_unfit_variants_are_rejected_with_a_reason(text: str, values: dict[str, object], reason: str | None) -> None:
    assert reason_of(text, **values) == reason  # type: ignore[arg-type]


def test_truncated_variants_are_rejected_whatever_their_length() -> None:
    translations = [[Variant("rako", -1.0, 4, cut) for cut in (True, False)]]
    rows = variant_rows(originals("a dog"), translations, "beam").drop_columns(["_source"])
    for config in (TrainingPairs(), TrainingPairs(max_length=0)):
        assert training_pairs(rows, config)["reason"].to_pylist() == ["cut off before its end", None]
    # VARIANTS of other programs lack the column.
    assert training_pairs(rows.drop_columns(["cut"]), TrainingPairs())["keep"].to_pylist() == [True, True]


def test_repeated_variants_are_kept() -> None:
    rows = variant_rows(originals("a dog"), variants(["x", "x", "x"]), "beam").drop_columns(["_source"])
    assert training_pairs(rows, TrainingPairs())["keep"].to_pylist() == [True] * 3


def test_null_counts_as_an_empty_text() -> None:
    rows = variant_rows(originals("a dog"), variants(["x"]), "beam").drop_columns(["_source"])
    rows = rows.set_column(rows.schema.get_field_index("text"), "text", pa.nulls(1, pa.string()))
    assert training_pairs(rows, TrainingPairs(tag="<BT>"))["reason"].to_pylist() == ["empty"]


@pytest.mark.parametrize(
    "values",
    [{"tag": "two words"}, {"tag": " <BT>"}, {"max_length": -1}],
)
def test_values_out_of_range_are_errors(values: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=f"'{next(iter(values))}' must be"):
        TrainingPairs(**values)  # type: ignore[arg-type]


def test_variants_without_originals_are_an_error() -> None:
    with pytest.raises(DataError, match="original"):
        training_pairs(pa.RecordBatch.from_pylist([], schema=VARIANTS), TrainingPairs())
