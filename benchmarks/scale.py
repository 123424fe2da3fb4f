"""Score and filter 10⁵, 10⁶ and 10⁷ pairs: time and memory, with 20 kills of the largest run, and beside a bare loop.

    PARALOOM_DATA=… python benchmarks/scale.py --sizes 100000 1000000 10000000 --kills 20

A pair is two captions of one image of Multi30k, followed by two of another: all are distinct, and made as they are
written. The pipeline reads them, adds the common scores and that of an encoder, and filters by two conditions.

Memory is the largest sum of proportional set sizes of the command and its workers (shared memory counts once), sampled
twice a second. The largest size is run twice: in one go, and killed (SIGKILL, its process group) at random moments
until it has been killed --kills times; both must have the same digest.

Two loops in one process do the same work by the same scorers, without manifests and digests, in turns with the pipeline
(one worker, called from Python, without the report page), all on one core. One writes what each stage of the pipeline
writes; the other makes one pass, and writes the kept pairs. Processor time, of a process and its workers, is compared
beside wall time, which other work disturbs.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import itertools
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from memory import proportional, tree

SHARD_ROWS = 50_000
WHERE = "paraphrase_score between 0.4 and 0.95 and trigram_overlap <= 0.6"
PIPELINE = f"""
name = "scale"
seed = 1

[[stage]]
name = "pairs"
use = "read-pairs"
source = "{{pairs}}"
src_column = "a"
tgt_column = "b"
src_lang = "en"
tgt_lang = "en"
shard_rows = {SHARD_ROWS}

[[stage]]
name = "scored"
use = "score"
encoder = "english"

[[stage]]
name = "kept"
use = "filter"
where = "{WHERE}"
"""


_ENGINE = """
import sys
import paraloom
paraloom.Pipeline.from_toml(sys.argv[1]).run(sys.argv[2], workers=int(sys.argv[3]))
"""


def pairs(data: Path) -> Iterator[tuple[str, str]]:
    """Distinct pairs of descriptions, without end."""
    columns = []
    for number in range(1, 6):
        path = data / "bitext/multi30k/task2" / f"train.{number}.en.gz"
        if not path.is_file():
            sys.exit(f"{path} not found: set PARALOOM_DATA to the folder of real corpora")
        columns.append(gzip.decompress(path.read_bytes()).decode().splitlines())
    images = len(columns[0])
    for offset in itertools.count(1):
        for image in range(images):
            other = (image + offset) % images
            first, second = offset % 5, (offset + 1 + offset // 5 % 4) % 5
            yield (
                f"{columns[first][image]} {columns[second][other]}",
                f"{columns[second][image]} {columns[first][other]}",
            )


def write_pairs(path: Path, data: Path, count: int) -> None:
    """A tab-separated file of `count` pairs, with a header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.write("a\tb\n")
        for a, b in itertools.islice(pairs(data), count):
            stream.write(f"{a.replace(chr(9), ' ')}\t{b.replace(chr(9), ' ')}\n")


def on_one_core() -> None:
    """Keep this process, and those that it starts, on the first core."""
    os.sched_setaffinity(0, {0})


@contextmanager
def measured(row: dict[str, float], name: str) -> Iterator[None]:
    """Note wall time and processor time of the processes that are started in the block, and that end in it."""

    def processor_time() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    wall, processor = time.perf_counter(), processor_time()
    yield
    row[f"{name}_seconds"] = round(time.perf_counter() - wall, 1)
    row[f"{name}_cpu"] = round(processor_time() - processor, 1)


class Run:
    """A run of the pipeline in a process group of its own."""

    def __init__(self, pipeline: Path, folder: Path, workers: int, *, one_core: bool = False) -> None:
        command = [sys.executable, "-m", "paraloom", "run", str(pipeline), "-o", str(folder), "--workers", str(workers)]
        if one_core:
            command = [sys.executable, "-c", _ENGINE, str(pipeline), str(folder), str(workers)]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=on_one_core if one_core else None,
        )
        self.start = time.perf_counter()
        self.peak = 0

    def wait(self, seconds: float | None = None) -> float | None:
        """Seconds until its end, or None if it was killed after `seconds`."""
        while self.process.poll() is None:
            self.peak = max(self.peak, sum(map(proportional, tree(self.process.pid))))
            if seconds is not None and time.perf_counter() - self.start > seconds:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                return None
            time.sleep(0.5 if seconds is None else 0.05)
        if self.process.returncode:
            sys.exit(f"the run ended with exit status {self.process.returncode}")
        return time.perf_counter() - self.start


def digest_of(folder: Path) -> str:
    """The digest of a run that has ended."""
    digest: str = json.loads((folder / "run.json").read_text(encoding="utf-8"))["digest"]
    return digest


def read_shards(path: Path) -> Iterator[pa.RecordBatch]:
    """The pairs of a file, `SHARD_ROWS` at a time."""
    with path.open(encoding="utf-8", newline="") as stream:
        lines = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        next(lines)
        for number in itertools.count():
            rows = list(itertools.islice(lines, SHARD_ROWS))
            if not rows:
                return
            sources, targets = zip(*rows, strict=True)
            names = [f"{number}:{row}" for row in range(len(rows))]
            yield pa.RecordBatch.from_pydict({"pair_id": names, "src": sources, "tgt": targets})


def write_shard(batch: pa.RecordBatch, path: Path) -> None:
    """Write a file as the pipeline's are compressed."""
    pq.write_table(pa.Table.from_batches([batch]), path, compression="zstd")


def split_kept(marked: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The rows that are kept, and the others with their reasons."""
    keep = marked.column("keep")
    kept, rejected = marked.filter(keep), marked.filter(pc.invert(keep))
    return kept.drop_columns(["keep", "reason"]), rejected.drop_columns(["keep"])


def bare_loop(path: Path, folder: Path, each_stage: bool) -> float:
    """Seconds that the same work takes without an engine.

    Args:
        path: The pairs.
        folder: A new folder.
        each_stage: Write what the pipeline writes: all pairs, all scored pairs, all kept and all rejected ones, each
            stage reading what the one before wrote. Otherwise one pass, which writes the kept pairs only.
    """
    import paraloom
    from paraloom.pairs.filtering.filters import Criteria, select
    from paraloom.pairs.scoring.models import encoder_scorers
    from paraloom.pairs.scoring.table import find_scorers, score

    start = time.perf_counter()
    folder.mkdir()
    scorers = [*find_scorers(["common"]), *encoder_scorers(paraloom.Encoder.load("english", threads=1))]
    criteria = Criteria(where=WHERE)
    if not each_stage:
        for number, batch in enumerate(read_shards(path)):
            write_shard(split_kept(select(criteria, score(batch, scorers)))[0], folder / f"kept-{number}.parquet")
        return time.perf_counter() - start

    def stage(before: str, after: str, work: Callable[[pa.RecordBatch], tuple[pa.RecordBatch, ...]]) -> None:
        for file in sorted(folder.glob(f"{before}-*.parquet")):
            (batch,) = pq.read_table(file).combine_chunks().to_batches()
            for name, output in zip((after, "rejected"), work(batch), strict=False):
                write_shard(output, folder / file.name.replace(before, name))

    for number, batch in enumerate(read_shards(path)):
        write_shard(batch, folder / f"pairs-{number:05}.parquet")
    stage("pairs", "scored", lambda batch: (score(batch, scorers),))
    stage("scored", "kept", lambda batch: split_kept(select(criteria, batch)))
    return time.perf_counter() - start


def main() -> None:
    """Print a line for each size, one for the kills, one for the bare loop, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--kills", type=int, default=20, help="of the largest size")
    parser.add_argument("--loop-pairs", type=int, default=500_000, help="pairs of the comparison with the bare loop")
    parser.add_argument("--rounds", type=int, default=3, help="of the comparison with the bare loop")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--bare-loop", nargs=3, metavar=("PAIRS", "FOLDER", "KIND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare_loop:
        pairs_file, target, kind = options.bare_loop
        print(bare_loop(Path(pairs_file), Path(target), kind == "stages"))
        return
    data = Path(os.environ.get("PARALOOM_DATA") or sys.exit("set PARALOOM_DATA to the folder of real corpora"))
    rows: list[dict[str, object]] = []

    def note(**row: object) -> None:
        rows.append(row)
        print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pipeline = folder / "scale.toml"

        def prepare(count: int) -> Path:
            path = folder / f"pairs-{count}.tsv"
            write_pairs(path, data, count)
            pipeline.write_text(PIPELINE.format(pairs=path), encoding="utf-8")
            return path

        for size in sorted(options.sizes):
            path = prepare(size)
            run = Run(pipeline, folder / f"run-{size}", options.workers)
            seconds = run.wait() or 0.0
            digest = digest_of(folder / f"run-{size}")
            note(
                pairs=size, seconds=round(seconds, 1), peak_mib=run.peak >> 20, per_second=round(size / seconds),
                digest=digest[:16],
            )  # fmt: skip
        if options.kills:
            draw, kills, peak, began = random.Random(1), 0, 0, time.perf_counter()
            while True:
                run = Run(pipeline, folder / "killed", options.workers)
                limit = 3 + 2 * draw.random() * seconds / options.kills if kills < options.kills else None
                ended = run.wait(limit)
                peak = max(peak, run.peak)
                if ended is not None:
                    break
                kills += 1
            same = digest_of(folder / "killed") == digest
            note(
                pairs=size, kills=kills, seconds=round(time.perf_counter() - began, 1), peak_mib=peak >> 20,
                same_digest=same,
            )  # fmt: skip
        path.unlink()
        path = prepare(options.loop_pairs if options.rounds else 0)
        turns: list[dict[str, float]] = []
        for turn in range(options.rounds):
            row: dict[str, float] = {}
            for kind in ("stages", "pass"):
                command = [sys.executable, __file__, "--bare-loop", path, folder / f"bare-{kind}-{turn}", kind]
                with measured(row, kind):
                    subprocess.run(
                        list(map(str, command)), check=True, stdout=subprocess.DEVNULL, preexec_fn=on_one_core
                    )
            with measured(row, "engine"):
                Run(pipeline, folder / f"turn-{turn}", workers=1, one_core=True).wait()
            turns.append(row)
            note(pairs=options.loop_pairs, **row)
        for unit in ("seconds", "cpu") if turns else ():
            ratios = {
                f"engine_to_{kind}": round(
                    statistics.median(row[f"engine_{unit}"] / row[f"{kind}_{unit}"] for row in turns), 3
                )
                for kind in ("stages", "pass")
            }
            note(pairs=options.loop_pairs, unit=unit, **ratios)
    print(json.dumps({"workers": options.workers, "shard_rows": SHARD_ROWS, "rows": rows}))


if __name__ == "__main__":
    main()
