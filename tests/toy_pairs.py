"""Scored pairs for the tests of the explorer: made-up sentences, odd and hostile texts, two sources, a null score."""

from __future__ import annotations

import json
import random
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa

from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus, write_shard, write_table
from paraloom.pairs.filtering.filters import Criteria, select
from paraloom.pairs.scoring.table import score
from paraloom.pipeline.splits import split

HOSTILE = [
    ('<script>document.title = "hacked"</script>', "<img src=x onerror=\"document.title='hacked'\">"),
    ("</table><svg onload=alert(1)>", "javascript:alert(1) \" onclick='x' `"),
    ("שלום עולם", "مرحبا بالعالم"),
    ("NUL\x00 and 👩‍👩‍👧", "bell \x07"),
]
ODD_NAMES = ["", "'", '"', "a b", "a]b", "*?", "%41", "..", "<script>x</script>", "x" * 300, "\x01", "😀", "--", "Src"]
ODD_COLUMNS = {
    "list": pa.array([["a", "b"], [], None, ["c"]] * 10),
    "infinite": pa.array([float("inf"), -float("inf"), None, float("nan")] * 10),
    "int64": pa.array([2**63 - 1, -(2**63), None, 2**53 + 1] * 10),
    "uint64": pa.array([2**64 - 1, 0, None, 1] * 10, pa.uint64()),
    "decimal": pa.array([Decimal("1.5"), None, Decimal("-9e30"), Decimal(0)] * 10, pa.decimal128(38, 2)),
    "half": pa.array(np.float16([0.5, 1, 2, 3] * 10)),
    "date": pa.array([date(1, 1, 1), None, date(9999, 12, 31), date(2020, 2, 29)] * 10),
    "time": pa.array([2**62, None, -(2**62), 0] * 10, pa.timestamp("ns", "UTC")),
    "binary": pa.array([b"\xff", None, b"", b"a"] * 10),
    "struct": pa.array([{"a": 1}, None, {"a": None}, {"a": 3}] * 10),
    "null": pa.nulls(40),
    "flags": pa.array([True, False, None, True] * 10),
    "coded": pa.array(["a", "b", None, "a"] * 10).dictionary_encode(),
    "undefined": pa.nulls(40, pa.float64()),
    "src_parse": pa.array(["(S (NP x))", "(S (NP", "(" * 30_000, "(A " * 9000 + "x" + ")" * 9000] * 10),
}
_WORDS = ["the", "a", "old", "man", "reads", "letter", "station", "before", "meeting", "garden", "report", "keys"]


def toy_pairs(rows: int = 300, seed: int = 3) -> pa.RecordBatch:
    """Pairs with the columns trigram_overlap, bleu1, src_tokens, tgt_tokens and quality, null in the third row."""
    draw = random.Random(seed)
    records = []
    for i in range(rows):
        words = draw.choices(_WORDS, k=draw.randint(4, 12))
        changed = [draw.choice(_WORDS) if draw.random() < 0.3 else word for word in words]
        src, tgt = (" ".join(words), " ".join(changed)) if i >= len(HOSTILE) else HOSTILE[i]
        origin = "news" if draw.random() < 0.7 else "it's <b>"
        record = {"pair_id": f"toy:{i}", "src": src, "tgt": tgt, "src_lang": "en", "tgt_lang": "en", "origin": origin}
        records.append(record)
    batch = score(pa.RecordBatch.from_pylist(records, schema=PAIRS), ["trigram_overlap", "bleu1", "length"])
    quality = [None if i == 2 else round(draw.random(), 3) for i in range(rows)]
    field = pa.field("quality", pa.float32(), metadata={"signature": "toy"})
    return batch.append_column(field, pa.array(quality, pa.float32()))


def write_toy_pairs(path: Path, rows: int = 300) -> Path:
    """Write them to a file."""
    write_table(toy_pairs(rows), path)
    return path


def write_odd_pairs(path: Path) -> Path:
    """Write pairs with columns of hostile names, and of all types."""
    pairs = toy_pairs(40)
    for number, name in enumerate(ODD_NAMES):
        values = [None, "x", "y", "z"] if number % 2 else [float(number), None, 2.0, -1e300]
        pairs = pairs.append_column(name, pa.array(values * 10))
    for name, column in ODD_COLUMNS.items():
        pairs = pairs.append_column(name, column)
    write_table(pairs, path)
    return path


def write_toy_run(root: Path, rows: int = 300, *, finished: bool = True) -> Path:
    """Write a run of two stages: `10-read`, and `20-filter` with kept and rejected rows; by hand, without running one.

    Args:
        root: The run folder.
        rows: Number of pairs.
        finished: Whether the second stage is done; otherwise it has one shard so far.
    """
    pairs = toy_pairs(rows)
    chosen = select(Criteria(where="quality >= 0.3 and src_tokens <= 10"), pairs)
    kept, rejected = split(chosen)
    assert rejected is not None
    write_corpus(root / "10-read", [pairs], kind="PAIRS")
    if finished:
        write_corpus(root / "20-filter", [kept], kind="PAIRS")
    else:
        write_shard(root / "20-filter" / "part-00000.parquet", kept, kept.schema)
    write_shard(root / "20-filter" / "rejected" / "part-00000.parquet", rejected, rejected.schema)
    counts = {"read": rows, "kept": kept.num_rows, "rejected": rejected.num_rows, "failed": 0, "out": kept.num_rows}
    read = {"name": "read", "use": "read-pairs", "folder": "10-read", "kind": "source", "state": "done"}
    done = {"name": "filter", "use": "filter", "folder": "20-filter", "kind": "map", "counts": counts, "state": "done"}
    stages = [
        {**read, "counts": {"read": rows, "kept": rows, "rejected": 0, "failed": 0, "out": rows}, "seconds": 1.5},
        {**done, "seconds": 2.5} if finished else {"name": "filter", "use": "filter", "state": "to do"},
    ]
    (root / "run.json").write_text(json.dumps({"name": "toy", "seed": 1, "stages": stages}), encoding="utf-8")
    return root
