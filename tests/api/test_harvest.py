"""The harvest of a stage, which looks at batches, compared with the definitions, row by row."""

from __future__ import annotations

import heapq
import random
from math import isnan
from pathlib import Path

import pyarrow as pa
import pytest

from paraloom.api.harvest import harvest_of
from paraloom.core.reasons import not_sampled
from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus

SCHEMA = pa.schema([*PAIRS, ("judge", pa.float32()), ("reason", pa.string())])


def rows_of(seed: int, reasons: tuple[str, ...]) -> list[dict[str, object]]:
    """Scores repeat, also as they are shown; some are missing."""
    draw = random.Random(seed)
    scores = [None, float("nan"), *(draw.random() for _ in range(20)), *(0.5 + i / 1000 for i in range(20))]
    constant = {"src_lang": "en", "tgt_lang": "en", "origin": "made"}
    return [
        {
            **{"pair_id": str(i), "src": f"A {i // 2}", "tgt": f"B {i // 3}", **constant},
            **{"judge": draw.choice(scores), "reason": draw.choice(reasons)},
        }
        for i in range(1000)
    ]


def highest(rows: list[dict[str, object]], count: int) -> list[dict[str, object]]:
    known = [row for row in rows if row["judge"] is not None and not isnan(row["judge"])]
    return heapq.nlargest(count, known, key=lambda row: round(row["judge"], 2))


@pytest.mark.parametrize("seed", range(5))
def test_the_best_kept_pairs_and_the_best_of_each_reason(tmp_path: Path, seed: int) -> None:
    reasons = ("not: chrf <= 60", not_sampled(0.5), "not: judge >= 0.5", "not: length_ratio <= 2")
    parts = {"kept": rows_of(seed, ("",)), "rejected": rows_of(seed + 100, reasons)}
    for name, folder in (("kept", tmp_path), ("rejected", tmp_path / "rejected")):
        table = pa.Table.from_pylist(parts[name], SCHEMA)
        write_corpus(folder, table.to_batches(max_chunksize=70), kind="PAIRS", shard_rows=150)
        parts[name] = table.to_pylist()  # their scores in single precision
    harvest = harvest_of(tmp_path, 2000, kept=8, lost=2)
    assert harvest is not None and harvest.by == "judge"

    expected, seen = [], set()
    for row in highest(parts["kept"], 160):
        if not {row["src"].casefold(), row["tgt"].casefold()} & seen:
            seen |= {row["src"].casefold(), row["tgt"].casefold()}
            expected.append((row["src"], row["tgt"], row["judge"]))
    assert [(pair.src, pair.tgt, pair.score) for pair in harvest.kept] == expected[:8]

    best: dict[object, dict[str, object]] = {}
    for row in parts["rejected"]:
        if row["reason"] == not_sampled(0.5):
            continue
        if row["judge"] is None or isnan(row["judge"]):
            row = {**row, "judge": -1.0}
        if row["reason"] not in best or row["judge"] > best[row["reason"]]["judge"]:
            best[row["reason"]] = row
    lost = [(pair.src, pair.tgt, pair.score) for pair in harvest.lost]
    assert lost == [(row["src"], row["tgt"], row["judge"]) for row in highest(list(best.values()), 2)]
