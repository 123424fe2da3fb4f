"""Score and filter beside datatrove, Ray Data, DuckDB and OpusFilter, by processor time: the same rule, in turn.

    PARALOOM_DATA=… python benchmarks/peer_pipelines.py --rounds 3
    PARALOOM_DATA=… python benchmarks/peer_pipelines.py --python datatrove=other-venv/bin/python --write

The pairs are those of large_run.py in lower-case letters, so that words are what blanks part for everybody. Each tool
reads them from Parquet (OpusFilter: from two text files), computes the ratio of words and the overlap of trigrams, and
writes the pairs that pass. Where a tool runs Python, it runs the same function; DuckDB does it in SQL, with sets of
trigrams in place of multisets. Each has one worker, and a process of its own. Processor time is that of all processes
that a tool starts, sampled ten times a second.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROWS = "pairs.parquet"
OVERLAP, RATIO = 0.051, 1.21
"""Highest values; no ratio of small numbers is equal to one of them."""
HEADING = "Score and filter beside other tools"

OVERLAP_FILTER = """
from opusfilter import FilterABC, CLEAN_LOW
from peer_pipelines import OVERLAP, measure

class OverlapFilter(FilterABC):
    score_direction = CLEAN_LOW
    accept_threshold = 2
    reject_threshold = -1

    def score(self, pairs):
        for src, tgt in pairs:
            yield measure(src, tgt)[1]

    def accept(self, score):
        return score <= OVERLAP
"""

DUCKDB = """
create macro trigrams(words) as list_distinct(list_transform(
    range(1, len(words) - 1), lambda i: words[i] || ' ' || words[i + 1] || ' ' || words[i + 2]));
copy (
    select * exclude (a, b) from (
        select *, greatest(len(a), len(b)) / least(len(a), len(b)) as word_ratio,
            len(list_intersect(trigrams(a), trigrams(b))) / (least(len(a), len(b)) - 2) as trigram_overlap
        from (select *, string_split(src, ' ') as a, string_split(tgt, ' ') as b from '{source}')
    ) where word_ratio <= {ratio} and trigram_overlap <= {overlap}
) to '{output}' (format parquet, compression zstd)
"""


def measure(src: str, tgt: str) -> tuple[float, float]:
    """Ratio of words, and overlap of trigrams: shared ones over those of the side with fewer."""
    a, b = src.split(), tgt.split()
    ratio = max(len(a), len(b)) / max(1, min(len(a), len(b)))
    first, second = (Counter(zip(words, words[1:], words[2:], strict=False)) for words in (a, b))
    fewer = min(len(a), len(b)) - 2
    return ratio, sum(min(count, second[part]) for part, count in first.items()) / fewer if fewer > 0 else 0.0


def with_paraloom(folder: Path) -> int:
    from paraloom import Pipeline
    from paraloom.stages import Filter, ReadPairs, Score

    languages = {"src_lang": "en", "tgt_lang": "en"}
    stages = [
        ReadPairs(source=folder / ROWS, src_column="src", tgt_column="tgt", shard_rows=50_000, **languages),
        Score(scores=("word_ratio", "trigram_overlap")),
        Filter(where=f"word_ratio <= {RATIO} and trigram_overlap <= {OVERLAP}"),
    ]
    result = Pipeline(stages).run(folder / "paraloom", engine="inline")
    return result.stages[-1].counts.kept


def with_duckdb(folder: Path) -> int:
    import duckdb

    database = duckdb.connect(config={"threads": 1})
    output = folder / "duckdb.parquet"
    for statement in DUCKDB.format(source=folder / ROWS, output=output, ratio=RATIO, overlap=OVERLAP).split(";"):
        database.execute(statement)
    return _rows(output)


def with_ray(folder: Path) -> int:
    import pyarrow as pa
    import ray

    def select(table: pa.Table) -> pa.Table:
        scores = [measure(*pair) for pair in zip(table["src"].to_pylist(), table["tgt"].to_pylist(), strict=True)]
        ratio, overlap = map(pa.array, zip(*scores, strict=True))
        table = table.append_column("word_ratio", ratio).append_column("trigram_overlap", overlap)
        return table.filter(pa.array([a <= RATIO and b <= OVERLAP for a, b in scores]))

    # On a busy machine it starts slowly.
    os.environ.update(RAY_raylet_start_wait_time_s="600", RAY_agent_register_timeout_ms="600000")
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    rows = ray.data.read_parquet(str(folder / ROWS)).map_batches(select, batch_format="pyarrow", batch_size=None)
    rows.write_parquet(str(folder / "ray"))
    ray.shutdown()
    return sum(map(_rows, (folder / "ray").glob("*.parquet")))


def with_datatrove(folder: Path) -> int:
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.filters import LambdaFilter
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter

    def passes(document: Any) -> bool:
        ratio, overlap = measure(document.text, document.metadata["tgt"])
        document.metadata.update(word_ratio=ratio, trigram_overlap=overlap)
        return ratio <= RATIO and overlap <= OVERLAP

    LocalPipelineExecutor(
        [
            ParquetReader(str(folder), glob_pattern=ROWS, text_key="src", id_key="pair_id"),
            LambdaFilter(passes),
            ParquetWriter(str(folder / "datatrove")),
        ],
        logging_dir=str(folder / "datatrove-logs"),
    ).run()
    return sum(map(_rows, (folder / "datatrove").glob("*.parquet")))


def with_opusfilter(folder: Path) -> int:
    from opusfilter.opusfilter import OpusFilter

    (folder / "overlap_filter.py").write_text(OVERLAP_FILTER, encoding="utf-8")
    sys.path.append(str(folder))
    parameters = {
        "inputs": ["src.txt", "tgt.txt"],
        "outputs": ["opus.src.txt", "opus.tgt.txt"],
        "filters": [
            {"LengthRatioFilter": {"unit": "word", "threshold": RATIO}},
            {"OverlapFilter": {}, "module": "overlap_filter"},
        ],
    }
    steps = [{"type": "filter", "parameters": parameters}]
    OpusFilter({"common": {"output_directory": str(folder)}, "steps": steps}).execute_steps()
    with (folder / "opus.src.txt").open("rb") as stream:
        return sum(1 for _ in stream)


TOOLS = {
    "Paraloom": with_paraloom,
    "DuckDB": with_duckdb,
    "Ray Data": with_ray,
    "datatrove": with_datatrove,
    "OpusFilter": with_opusfilter,
}
OUTPUTS = ("paraloom", "duckdb.parquet", "ray", "datatrove", "datatrove-logs", "opus.src.txt", "opus.tgt.txt")


def _rows(path: Path) -> int:
    import pyarrow.parquet as pq

    count: int = pq.read_metadata(path).num_rows
    return count


def write_pairs(folder: Path, count: int) -> None:
    """The pairs as Parquet and as two text files."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from large_run import MakePairs

    from paraloom.core.stage import StageContext

    data = Path(os.environ.get("PARALOOM_DATA") or sys.exit("set PARALOOM_DATA to the folder of real corpora"))
    batches = MakePairs(captions=data / "bitext/multi30k/task2", pairs=count).batches(StageContext(1))
    letters = re.compile("[^a-z]+")
    with (folder / "src.txt").open("w") as src, (folder / "tgt.txt").open("w") as tgt:
        writer = None
        for batch in batches:
            sides = {
                name: [letters.sub(" ", text.lower()).strip() for text in batch.column(name).to_pylist()]
                for name in ("src", "tgt")
            }
            table = pa.table({"pair_id": batch.column("pair_id"), **sides})
            writer = writer or pq.ParquetWriter(folder / ROWS, table.schema, compression="zstd")
            writer.write_table(table)
            for stream, name in ((src, "src"), (tgt, "tgt")):
                stream.writelines(f"{text}\n" for text in sides[name])
        assert writer is not None
        writer.close()


def run_tool(name: str, folder: Path, python: str) -> tuple[float, int, int]:
    """Processor seconds, memory and kept rows of a tool in a process of its own."""
    from large_run import Meter

    for output in OUTPUTS:
        subprocess.run(["rm", "-rf", str(folder / output)], check=True)
    with (folder / "output.txt").open("w+") as output:
        command = [python, __file__, "--tool", name, "--folder", str(folder)]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        meter = Meter(process.pid, folder / "none")
        while process.poll() is None:
            meter.sample()
            time.sleep(0.1)
        output.seek(0)
        lines = output.read().splitlines()
    if process.returncode:
        sys.exit(f"{name} failed:\n" + "\n".join(lines[-20:]))
    return meter.processor.total(), max(meter.peaks.values()), int(lines[-1].rpartition(" ")[2])


def table(times: dict[str, list[tuple[float, int, int]]]) -> list[list[str]]:
    """A row for each tool, of the processor seconds and memory of its rounds."""
    ours = [used for used, _, _ in times["Paraloom"]]
    rows = []
    for name, rounds in times.items():
        used = [used for used, _, _ in rounds]
        ratios = [a / b for a, b in zip(used, ours, strict=True)]
        rows.append(
            [
                name,
                f"{statistics.median(used):.1f} ({min(used):.1f} to {max(used):.1f})",
                f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
                f"{max(memory for _, memory, _ in rounds) >> 20:,}",
            ]
        )
    return rows


def main() -> None:
    """Print a line for each tool and round, then a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--python", nargs="*", default=[], metavar="TOOL=PYTHON", help="an interpreter of its own")
    parser.add_argument("--tools", nargs="*", default=list(TOOLS))
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    parser.add_argument("--tool", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        print("kept", TOOLS[options.tool](options.folder))
        return
    pythons = dict(pair.split("=", 1) for pair in options.python)
    times: dict[str, list[tuple[float, int, int]]] = {name: [] for name in options.tools}
    with tempfile.TemporaryDirectory() as scratch:
        write_pairs(Path(scratch), options.rows)
        for _ in range(options.rounds):
            for name in options.tools:
                times[name].append(run_tool(name, Path(scratch), pythons.get(name, sys.executable)))
                print(name, times[name][-1], flush=True)
    rows = table(times)
    print(json.dumps(rows, indent=1))
    if options.write:
        write(options, rows)


def write(options: argparse.Namespace, rows: list[list[str]]) -> None:
    """Put the table into runs.json."""
    from results_pages import FOLDER, put_result

    put_result(
        FOLDER / "runs.json",
        {
            "heading": HEADING,
            "command": [
                f"python benchmarks/peer_pipelines.py --rounds {options.rounds} --tools Paraloom DuckDB datatrove "
                "OpusFilter",
                f"python benchmarks/peer_pipelines.py --rounds {options.rounds} --tools Paraloom 'Ray Data'",
            ],
            "machine": "cores",
            "columns": ["", "processor, s (rounds)", "to Paraloom's", "memory, MiB"],
            "align": "lrrr",
            "rows": rows,
        },
    )


if __name__ == "__main__":
    main()
