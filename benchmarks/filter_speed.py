"""`paraloom filter` beside one line of DuckDB, by processor time: the same condition over the same file, in turn.

    python benchmarks/filter_speed.py                        # 1,000,000 rows, five rounds
    python benchmarks/filter_speed.py --rows 100000 --long-rows 2000 --rounds 1
    python benchmarks/filter_speed.py --rounds 3 --write     # the page of results

DuckDB reads the file, filters, and writes Parquet with zstd, in a process of its own with as many threads: with its own
settings, and with the level of compression and the row groups of Paraloom. Its one line neither counts reasons nor
checks digests, and does not resume. All must keep the same rows. The sentences, and then texts of some 5,000
characters, are made of a vocabulary by a seed, with Zipf's frequencies, so that they compress as text does. Then the
parts of the command are measured one by one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from results_pages import FOLDER, put_result

from paraloom.core.digests import file_digest
from paraloom.io.shards import read_batches, write_shard
from paraloom.pairs.filtering.filters import Criteria, select

OURS, DUCK, DUCK_AS_OURS = "`paraloom filter`", "DuckDB", "DuckDB, level 1 and groups of 50,000"
WHERE = "judge >= 0.5 and overlap <= 0.7 and tgt_tokens between 4 and 30"
DUCKDB = """
import duckdb
database = duckdb.connect(config={{"threads": {workers}}})
database.execute("copy (select * from '{source}' where {where}) to '{output}' (format parquet, compression zstd{more})")
"""
MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""  # by a small process, whose memory does not count for that of its child
AS_OURS = ", compression_level 1, row_group_size 50000"
LONG = 65  # times the words of a sentence: 5,000 characters
_PART = 50_000


def write_rows(path: Path, count: int, times: int = 1) -> None:
    """Pairs with four scores, of texts that are so many times as long as a sentence."""
    draw = np.random.default_rng(1)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = np.array(["".join(draw.choice(letters, draw.integers(2, 9))) for _ in range(20_000)])
    weights = 1 / np.arange(1, len(words) + 1)
    writer = None
    part = _PART // min(times, 10)
    for start in range(0, count, part):
        rows = min(part, count - start)
        lengths = draw.integers(4, 20, 2 * rows)
        chosen = draw.choice(words, times * lengths.sum(), p=weights / weights.sum()).tolist()
        ends = np.cumsum(times * lengths).tolist()
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
    """Seconds of the processor, and MiB of memory at most."""
    # Bytecode is kept, as it is of what is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    measuring = [sys.executable, "-c", MEASURE, *command]
    seconds, memory = subprocess.run(measuring, check=True, env=environment, stdout=subprocess.PIPE).stdout.split()
    return float(seconds), float(memory)


def seconds_of(call: Callable[[], object]) -> float:
    """Processor seconds of a call in this process."""
    began = time.process_time()
    call()
    return time.process_time() - began


def parts(source: Path, kept: Path, folder: Path, start: list[str]) -> dict[str, float]:
    """Processor seconds of what `paraloom filter` does, each by itself."""
    batches = [batch for batch in read_batches(source, batch_rows=50_000)]
    criteria, table = Criteria(where=WHERE), pq.read_table(kept)
    target = folder / "part.parquet"
    return {
        "start, with 1,000 rows,": measured(start)[0],
        "digests of input and output": seconds_of(lambda: [file_digest(path) for path in (source, kept)]),
        "reading": seconds_of(lambda: sum(batch.num_rows for batch in read_batches(source, batch_rows=50_000))),
        "condition": seconds_of(lambda: [select(criteria, batch).num_rows for batch in batches]),
        "writing the output": seconds_of(lambda: write_shard(target, table, table.schema, 50_000)),
    }


def spread(values: Sequence[float]) -> str:
    """The median, and the range."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def compared(source: Path, what: str, folder: Path, workers: int, rounds: int) -> tuple[list[list[str]], Path, int]:
    """A row of the table for each program that filters a file, what Paraloom writes, and how many rows it keeps."""
    ours = folder / f"{source.stem}-kept.parquet"
    command = [sys.executable, "-m", "paraloom", "filter", "--where", WHERE, "--workers", str(workers)]
    commands, outputs = {OURS: [*command, str(source), "-o", str(ours), "--json", "--force"]}, {OURS: ours}
    for label, more in ((DUCK, ""), (DUCK_AS_OURS, AS_OURS)):
        outputs[label] = folder / f"{source.stem}-{len(outputs)}.parquet"
        line = DUCKDB.format(workers=workers, source=source, where=WHERE, output=outputs[label], more=more)
        commands[label] = [sys.executable, "-c", line]
    used: dict[str, list[tuple[float, float]]] = {label: [] for label in commands}
    for _ in range(rounds):
        for label, one in commands.items():
            used[label].append(measured(one))
    ids = [pq.read_table(output, columns=["pair_id"]).column(0) for output in outputs.values()]
    if any(not one.equals(ids[0]) for one in ids[1:]):
        sys.exit("they keep different rows")
    rows = []
    for label, figures in used.items():
        seconds = [second for second, _ in figures]
        ratios = [here / second for (here, _), second in zip(used[OURS], seconds, strict=True)]
        memory = f"{statistics.median(memory for _, memory in figures):.0f}"
        rows.append([f"{what}: {label}", spread(seconds), spread(ratios) if label != OURS else "", memory])
    return rows, ours, len(ids[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--long-rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, long, few = (folder / f"{part}.parquet" for part in ("sentences", "long", "few"))
        write_rows(source, options.rows)
        write_rows(long, options.long_rows, LONG)
        write_rows(few, 1_000)
        rows, ours, kept = compared(source, "sentences", folder, options.workers, options.rounds)
        rows += compared(long, "long texts", folder, options.workers, options.rounds)[0]
        start = [sys.executable, "-m", "paraloom", "filter", "--where", WHERE, "--workers", "1", str(few)]
        start += ["-o", str(folder / "few-kept.parquet"), "--json"]
        alone = [f"{part} {value:.2f} s" for part, value in parts(source, ours, folder, start).items()]
        megabytes = [path.stat().st_size / 1e6 for path in (source, long)]
    print(f"{kept:,} sentences kept; MB of the files: {megabytes}", *rows, *alone, sep="\n")
    if options.write:
        put_result(
            FOLDER / "runs.json",
            {
                "heading": "`filter` beside DuckDB",
                "command": [f"python benchmarks/filter_speed.py --rounds {options.rounds} --write"],
                "machine": "cores",
                "columns": ["", f"processor, s ({options.rounds} rounds)", "`filter` to it", "memory, MiB"],
                "align": "lrrr",
                "rows": rows,
            },
        )


if __name__ == "__main__":
    main()
