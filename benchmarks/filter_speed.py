"""`paraloom filter` beside one line of DuckDB, by processor time: the same condition over the same file, in turn.

    python benchmarks/filter_speed.py                        # 1,000,000 rows, five rounds
    python benchmarks/filter_speed.py --rows 100000 --rounds 1
    python benchmarks/filter_speed.py --rounds 3 --write     # the page of results

DuckDB reads the file, filters, and writes Parquet with zstd, in a process of its own with as many threads: with its own
settings, and with the level of compression and the row groups of Paraloom. Its one line neither counts reasons nor
checks digests, and does not resume. All must keep the same rows. The sentences are made of a vocabulary by a seed, with
Zipf's frequencies, so that they compress as text does. Then the parts of the command are measured one by one.
"""

from __future__ import annotations

import argparse
import os
import resource
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
AS_OURS = ", compression_level 1, row_group_size 50000"
GROUPS = (5_000, 50_000, 122_880)
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
    # Bytecode is kept, as it is of what is installed.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - began


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


def group_sizes(source: Path, folder: Path) -> dict[str, tuple[float, float]]:
    """Processor seconds and MB of all rows, written with row groups of several sizes."""
    table, target = pq.read_table(source), folder / "groups.parquet"
    sizes = {}
    for rows in GROUPS:
        seconds = seconds_of(lambda rows=rows: write_shard(target, table, table.schema, rows))
        sizes[f"{rows:,}"] = seconds, target.stat().st_size / 1e6
    return sizes


def spread(values: Sequence[float]) -> str:
    """The median, and the range."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, few, ours = folder / "scored.parquet", folder / "few.parquet", folder / "kept.parquet"
        write_rows(source, options.rows)
        write_rows(few, 1_000)
        with_settings = {DUCK: ("", folder / "duckdb.parquet"), DUCK_AS_OURS: (AS_OURS, folder / "as-ours.parquet")}
        command = [sys.executable, "-m", "paraloom", "filter", "--where", WHERE, "--workers", str(options.workers)]
        commands = {OURS: [*command, str(source), "-o", str(ours), "--json", "--force"]}
        outputs = {OURS: ours}
        for label, (more, output) in with_settings.items():
            line = DUCKDB.format(workers=options.workers, source=source, where=WHERE, output=output, more=more)
            commands[label], outputs[label] = [sys.executable, "-c", line], output
        times: dict[str, list[float]] = {label: [] for label in commands}
        for _ in range(options.rounds):
            for label, one in commands.items():
                times[label].append(measured(one)[0])
        ids = [pq.read_table(output, columns=["pair_id"]).column(0) for output in outputs.values()]
        if any(not one.equals(ids[0]) for one in ids[1:]):
            sys.exit("they keep different rows")
        rows = []
        for label, seconds in times.items():
            ratios = [one / other for one, other in zip(times[OURS], seconds, strict=True)]
            size = f"{outputs[label].stat().st_size / 1e6:.0f}"
            rows.append([label, spread(seconds), spread(ratios) if label != OURS else "", size])
        start = [*command, str(few), "-o", str(folder / "few-kept.parquet"), "--json"]
        alone = [f"{part} {value:.2f} s" for part, value in parts(source, ours, folder, start).items()]
        sizes = [
            f"{size} ({seconds:.1f} s, {megabytes:.1f} MB)"
            for size, (seconds, megabytes) in group_sizes(source, folder).items()
        ]
        rows_read = f"{options.rows:,} made pairs with scores ({source.stat().st_size / 1e6:.0f} MB of Parquet)"
        kept = f"{len(ids[0]):,}"
    print(rows_read, kept, *rows, *alone, *sizes, sep="\n")
    if options.write:
        text = (
            f"One condition of three clauses over {rows_read}, by `paraloom filter` with one worker and by one line of "
            "DuckDB with one thread, in turn, each a process of its own: as DuckDB is, and with zstd's level 1 and row "
            f"groups of 50,000, as Paraloom writes. All keep the same {kept} rows. Processor time: the machine had "
            f"other work. Parts of the command by themselves, once: {', '.join(alone)}. All rows written by Paraloom "
            f"in row groups of {', '.join(sizes)}."
        )
        put_result(
            FOLDER / "runs.json",
            {
                "heading": "`filter` beside DuckDB",
                "text": [text],
                "command": [f"python benchmarks/filter_speed.py --rounds {options.rounds} --write"],
                "machine": "cores",
                "columns": ["", f"processor, s ({options.rounds} rounds)", "`filter` to it", "output, MB"],
                "align": "lrrr",
                "rows": rows,
            },
        )


if __name__ == "__main__":
    main()
