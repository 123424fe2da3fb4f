"""Statistics of pairs: the same at any sharding, of all rows and of a sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paraloom.api import pair_statistics
from paraloom.core.schema import PAIRS
from paraloom.core.stage import StageContext
from paraloom.io import write_corpus
from paraloom.stages import analysis
from paraloom.stages.analysis import PairStatistics


@pytest.mark.parametrize("sample", [300, 5000])
def test_statistics_do_not_depend_on_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample: int) -> None:
    monkeypatch.setattr(analysis, "_BATCH_ROWS", 128)
    rows = [
        {
            **{"pair_id": str(n), "src_lang": "en", "tgt_lang": "en", "origin": "x"},
            "src": " ".join(["word"] * (n % 7) + [str(n % 89)]),
            "tgt": f"a word {n % 53} or {n}",
        }
        for n in range(1000)
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=PAIRS)
    results = []
    for shard_rows in (37, 1000):
        folder = tmp_path / str(shard_rows)
        write_corpus(folder, [batch], kind="PAIRS", shard_rows=shard_rows)
        context = StageContext(seed=3, inputs={"pairs": folder})
        PairStatistics(pairs="x", sample=sample).fit(folder, context)
        results.append((folder / "result.json").read_bytes())
    assert results[0] == results[1] and f'"pairs": {min(sample, 1000)}'.encode() in results[0]


@pytest.mark.parametrize("pairs", [[("a b", "c d")], [("a b", "c d"), ("e", "f")]])
def test_figures_that_few_short_sentences_do_not_define_are_left_out(pairs: list[tuple[str, str]]) -> None:
    def refuse(constant: str) -> Any:
        raise AssertionError(constant)

    figures = pair_statistics(pairs)
    assert json.loads(json.dumps(figures), parse_constant=refuse) == figures
    assert figures["pairs"] == len(pairs) and "trigram_repetition" not in figures["reference_minus_translation"]
    length = figures["reference_minus_translation"]["length"]
    assert length["value"] == 0 and (length["low"] is None) == (len(pairs) == 1)
