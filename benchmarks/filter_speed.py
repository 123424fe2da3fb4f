"""`paraloom filter` beside one line of DuckDB, by processor time: the same condition over the same file, in turn.

    python benchmarks/filter_speed.py                        # 1,000,000 rows, five rounds
    python benchmarks/filter_speed.py --rows 100000 --rounds 1

DuckDB reads the file, filters, and writes Parquet with zstd, in a process of its own with as many threads. Its one line
keeps neither the rejected rows with their reasons nor digests, and does not resume. Both must keep the same rows. The
sentences are made of a vocabulary by a seed, with Zipf's frequencies, so that they compress as text does.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WHERE = "judge >= 0.5 and overlap <= 0.7 and tgt_tokens between 4 and 30"
DUCKDB = """
import duckdb
database = duckdb.connect(config={{"threads": {workers}}})
database.execute("copy (select * from '{source}' where {where}) to '{output}' (format parquet, compression zstd)")
"""
_PART = 50_000


def write_rows(path: Path, count: int) -> None:
    """Pairs with four scores."""
    draw = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = np.array(["".join(draw.choice(letters, draw.integers(2, 9))) for _ in range(20_000)])
    weights = 1 / np.arange(1, len(words) + 1)
    writer = None
    for start in range(0, count, _PART):
        rows = min(_PART, count - start)
        lengths = draw.integers(4, 20, 2 * rows)
        chosen = draw.choice(words, lengths.sum(), p=weights / weights.sum()).tolist()
        ends = np.cumsum(lengths).tolist()
        texts = [" ".join(chosen[low:high]) for low, high in zip([0, *ends], ends, strict=False)]
        table = pa.table(
            {
                "pair_id": [f"made:{start + row}" for row in range(rows)],
                "src": texts[:rows], "tgt": texts[rows:],
                "src_lang": ["en"] * rows, "tgt_lang": ["en"] * rows, "origin": ["made"] * rows,
                "tgt_tokens": pa.array(lengths[rows:], pa.int32()),
                **{name: pa.array(draw.random(rows), pa.float32()) for name in ("judge", "overlap", "cosine")},
            }
        )  # fmt: skip
        writer = writer or pq.ParquetWriter(path, table.schema, compression="zstd")
        writer.write_table(table)
    assert writer is not None
    writer.close()


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds of the processor, and on the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, ours, theirs = folder / "scored.parquet", folder / "kept.parquet", folder / "duckdb.parquet"
        write_rows(source, options.rows)
        line = DUCKDB.format(workers=options.workers, source=source, where=WHERE, output=theirs)
        commands = {
            "paraloom filter": [
                *(sys.executable, "-m", "paraloom", "filter", str(source), "--where", WHERE, "-o", str(ours)),
                *("--workers", str(options.workers), "--json"),
            ],
            "duckdb": [sys.executable, "-c", line],
        }
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                ours.unlink(missing_ok=True)
                times[name].append(measured(command))
                if name == "paraloom filter":
                    kept = pq.read_table(ours, columns=["pair_id"]).column(0)
                    size = ours.stat().st_size
        if kept.to_pylist() != pq.read_table(theirs, columns=["pair_id"]).column(0).to_pylist():
            sys.exit("the two keep different rows")
        sizes = {"paraloom filter": size, "duckdb": theirs.stat().st_size}
        print(f"{options.rows:,} rows, {source.stat().st_size / 1e6:.0f} MB; {len(kept):,} kept by both")
        for name, rounds in times.items():
            processor, clock = zip(*rounds, strict=True)
            print(
                f"{name}: {statistics.median(processor):.1f} s of the processor ({min(processor):.1f} to "
                f"{max(processor):.1f}), {statistics.median(clock):.1f} s, {sizes[name] / 1e6:.0f} MB written"
            )
        ratios = [a[0] / b[0] for a, b in zip(*times.values(), strict=True)]
        print(f"ratio of processor time: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


if __name__ == "__main__":
    main()
