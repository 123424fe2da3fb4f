"""A fuzzer of the scorers: a value for every pair, the same for a pair alone and among others."""

from __future__ import annotations

import pyarrow as pa
import pytest
from fuzzing import SECONDS, fuzz
from hypothesis import strategies as st

from paraloom.pairs.scoring.table import GROUPS, score

pytestmark = pytest.mark.slow

words = st.lists(
    st.sampled_from(
        [
            "a",
            "the",
            "dog",
            "Hund",
            "1",
            "1,5",
            "?",
            "...",
            "'",
            "“x”",
            "-",
            "Ä",
            "é",
            "👍",
            "日本",
            "\u202e",
            "\x00",
            "\t",
        ]
    ),
    max_size=12,
).map(" ".join)
texts = st.one_of(
    st.text(max_size=30), words, st.sampled_from(["", " ", "word " * 2000, "x" * 20_000, "\u2028", "(a (b)", "\ufeff"])
)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=6)


def batch_of(rows: list[tuple[str, str]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(
        [
            {"pair_id": f"x:{i}", "src": src, "tgt": tgt, "src_lang": "en", "tgt_lang": "en", "origin": "x"}
            for i, (src, tgt) in enumerate(rows)
        ]
    )


def check(rows: list[tuple[str, str]]) -> None:
    batch = batch_of(rows)
    scored = score(batch, ["all"])
    assert scored.num_rows == len(rows)
    assert scored.select(batch.schema.names).equals(batch)
    alone = pa.Table.from_batches([score(batch.slice(row, 1), ["all"]) for row in range(len(rows))])
    for name in GROUPS["all"]:
        # As text: NaN is equal to NaN, and a number to itself to the last digit.
        assert list(map(str, scored.column(name).to_pylist())) == list(map(str, alone.column(name).to_pylist())), name


def test_scorers_return_a_value_for_every_pair() -> None:
    got = fuzz(check, pairs, SECONDS)
    assert not got["error"]
