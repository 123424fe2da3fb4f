"""A hundred million made pairs through score, filter and near-duplicates, killed at random moments: seconds, memory.

    PARALOOM_DATA=… python benchmarks/large_run.py --pairs 1000000 -o /tmp/large-6
    PARALOOM_DATA=… python benchmarks/large_run.py --pairs 100000000 --kills 50 --every 60 -o /tmp/large-8
    python benchmarks/large_run.py --write /tmp/large-*/summary.json
    python benchmarks/large_run.py --figure

The pairs are made by a seed as they are written: two captions of one image of Multi30k, followed by two of another. One
in fifty is a copy of an earlier pair with a sentence of one word behind it: near-duplicates whose number is known.

The run is killed (SIGKILL, its process group) after random times of `--every` seconds in the mean, and resumed, until
it has been killed so often or has ended. This command may itself be stopped and called again: what it has measured is
in attempts.jsonl. Processor time is sampled from all processes of the run, and counted for the stage they work at;
memory is the largest sum of their proportional set sizes. Both are sampled every half second.

`shards.sha256` has the digest of each shard of pairs, scored, kept and rejected rows: a smaller run with the same seed
begins with the same shards. At the end the readers of such a run are measured, one after the other.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from memory import proportional, tree
from results_pages import FOLDER, put_result, read_topic, standalone

from paraloom import Pipeline
from paraloom.core.schema import PAIRS
from paraloom.core.stage import Source, StageContext
from paraloom.io import Corpus, read_lines
from paraloom.stages import DropDuplicates, Filter, FindDuplicates, Score
from paraloom.web.charts import Curve, curves

SHARD_ROWS = 50_000
WHERE = "paraphrase_score between 0.6 and 0.95 and trigram_overlap <= 0.2"
COPIES = 50
"""One in so many pairs is a copy of an earlier one."""
CLOCK = os.sysconf("SC_CLK_TCK")
FIGURE = FOLDER.parents[1] / "_static/large-run.svg"
HEADING = "Score, filter, near-duplicates"
READERS = {
    "head": ["head", "{run}"],
    "report": ["report", "{run}", "-o", "{folder}/report.html"],
    "stats": ["research", "stats", "{run}/50-distinct", "--json"],
}


@dataclass(frozen=True, kw_only=True)
class MakePairs(Source):
    """Makes pairs of captions.

    Args:
        captions: Folder of `train.1.en.gz` to `train.5.en.gz`, five descriptions of each image.
        pairs: How many.
    """

    output_schema: ClassVar[str] = "PAIRS"

    captions: Path
    pairs: int

    def files(self) -> tuple[Path, ...]:
        """The captions."""
        return tuple(self.captions / f"train.{number}.en.gz" for number in range(1, 6))

    def configuration(self) -> dict[str, object]:
        """Without the number: it does not change the pairs, and the first shards of a smaller run are the same."""
        return {name: value for name, value in super().configuration().items() if name != "pairs"}

    def batches(self, context: StageContext) -> Iterator[pa.RecordBatch]:
        """One batch for each distance between the two images."""
        order = np.random.default_rng(1).permutation(29_000)
        captions = [pa.array(list(read_lines(str(path)))).take(pa.array(order)) for path in self.files()]
        images, row, distance = len(order), 0, 0
        copies = np.arange(COPIES - 1, images, COPIES)
        while row < self.pairs:
            distance += 1
            src, tgt = _texts(captions, distance, np.arange(images))
            if distance > 1:
                earlier = 1 + distance * 7919 % (distance - 1)
                copied, beside = _texts(captions, earlier, copies - 1)
                places = np.arange(images)
                places[copies] = images + np.arange(len(copies))
                src = pa.concat_arrays([src, pc.binary_join_element_wise(copied, "Indeed.", " ")]).take(places)
                tgt = pa.concat_arrays([tgt, beside]).take(places)
            ids = pc.binary_join_element_wise("made", pa.array(np.arange(row, row + images)).cast(pa.string()), ":")
            constant = [pa.array([value], pa.string()).take(np.zeros(images, int)) for value in ("en", "en", "made")]
            batch = pa.record_batch([ids, src, tgt, *constant], schema=PAIRS)
            yield batch.slice(0, self.pairs - row)
            row += images


def _texts(captions: list[pa.Array], distance: int, images: np.ndarray) -> tuple[pa.Array, pa.Array]:
    """Both sides of the pairs of some images."""
    others = (images + distance) % len(captions[0])
    first, second = distance % 5, (distance + 1 + distance // 5 % 4) % 5
    near, far = pa.array(images), pa.array(others)
    return (
        pc.binary_join_element_wise(captions[first].take(near), captions[second].take(far), " "),
        pc.binary_join_element_wise(captions[second].take(near), captions[first].take(far), " "),
    )


def pipeline(captions: Path, pairs: int) -> Pipeline:
    """Made pairs, their scores, the better ones, without near-duplicates."""
    return Pipeline(
        [
            MakePairs(name="pairs", captions=captions, pairs=pairs, shard_rows=SHARD_ROWS),
            Score(name="scored", encoder="english"),
            Filter(name="kept", where=WHERE),
            FindDuplicates(name="duplicates", pairs="kept"),
            DropDuplicates(name="distinct", input="kept", duplicates="duplicates"),
        ],
        name="large-run",
    )


class Meter:
    """Processor seconds, by the stage that a run works at, and the largest memory of a group of processes."""

    def __init__(self, root: int, run: Path) -> None:
        self.root, self.run = root, run
        self.peak = 0
        self.processor: Counter[str] = Counter()
        self.peaks: Counter[str] = Counter()
        self._known: dict[int, float] = {}

    def sample(self) -> None:
        """Add what was used since the last sample."""
        stages = sorted(path.name for path in self.run.glob("[0-9]*-*"))
        stage = stages[-1] if stages else "start"
        memory = 0
        for process in tree(self.root):
            memory += proportional(process)
            used = _processor_seconds(process)
            self.processor[stage] += max(0.0, used - self._known.get(process, 0.0))
            self._known[process] = max(used, self._known.get(process, 0.0))
        self.peaks[stage] = max(self.peaks[stage], memory)


def _processor_seconds(process: int) -> float:
    """Of a process, without its children."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / CLOCK


def attempt(folder: Path, options: argparse.Namespace, limit: float | None) -> dict[str, object]:
    """Start or resume the run, and kill it after `limit` seconds; what it used."""
    command = [sys.executable, __file__, "--pairs", str(options.pairs), "-o", str(folder), "--run"]
    command += ["--workers", str(options.workers)]
    began = time.perf_counter()
    with (folder / "output.txt").open("a") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True)
    meter = Meter(process.pid, folder / "run")
    killed = False
    while process.poll() is None:
        meter.sample()
        if limit is not None and time.perf_counter() - began > limit:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            killed = True
            break
        time.sleep(0.5)
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor": {stage: round(value, 1) for stage, value in meter.processor.items()},
        "memory": dict(meter.peaks),
        "killed": killed,
        "status": process.returncode,
    }


def measured(command: list[str]) -> dict[str, float]:
    """Seconds, processor seconds and memory of a command."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    meter = Meter(process.pid, Path("/nonexistent"))
    while process.poll() is None:
        meter.sample()
        time.sleep(0.2)
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor": round(meter.processor.total(), 1),
        "memory": max(meter.peaks.values(), default=0),
        "status": process.returncode,
    }


def shard_digests(run: Path) -> Iterator[str]:
    """Digest and name of the shards that do not depend on later ones."""
    for stage in ("10-pairs", "20-scored", "30-kept", "30-kept/rejected"):
        for path in sorted((run / stage).glob("part-*.parquet")):
            with path.open("rb") as stream:
                yield f"{hashlib.file_digest(stream, 'sha256').hexdigest()}  {path.relative_to(run)}"


def summarize(folder: Path, options: argparse.Namespace, attempts: list[dict[str, object]]) -> dict[str, object]:
    """What the run and its readers took."""
    run = folder / "run"
    result = json.loads((run / "run.json").read_text(encoding="utf-8"))
    processor: Counter[str] = Counter()
    memory: Counter[str] = Counter()
    for part in attempts:
        processor.update(part["processor"])
        memory |= Counter(part["memory"])  # the larger ones
    files = [path for path in run.rglob("*") if path.is_file()]
    finished = attempts[-1]["status"] == 0
    if finished:
        (folder / "shards.sha256").write_text("".join(f"{line}\n" for line in shard_digests(run)))
    readers = {
        name: measured([sys.executable, "-m", "paraloom", *(part.format(run=run, folder=folder) for part in command)])
        for name, command in READERS.items()
        if finished and name not in options.without
    }
    return {
        "pairs": options.pairs,
        "finished": finished,
        "digest": result.get("digest"),
        "counts": {
            path.parent.name.partition("-")[2]: Corpus.open(path.parent).rows for path in run.glob("*/corpus.json")
        },
        "seconds": round(sum(part["seconds"] for part in attempts), 1),
        "processor": {stage: round(value, 1) for stage, value in processor.items()},
        "memory": dict(memory),
        "kills": sum(part["killed"] for part in attempts),
        "files": len(files),
        "bytes": sum(path.stat().st_size for path in files),
        "readers": readers,
    }


STAGES = {
    "10-pairs": "made and written", "20-scored": "scored", "30-kept": "filtered",
    "40-duplicates": "near-duplicates found", "50-distinct": "left out",
}  # fmt: skip


def planned(known: list[tuple[int, float]], pairs: int) -> float:
    """Processor seconds of a size, on the line through the two largest sizes that are known."""
    (small, low), (large, high) = sorted(known)[-2:]
    return low + (high - low) * (pairs - small) / (large - small)


def write(files: list[Path]) -> None:
    """Put runs of several sizes into the table of the page of results, and print what can be said of them.

    What people have written around the table stays.
    """
    runs = sorted((json.loads(path.read_text(encoding="utf-8")) for path in files), key=lambda run: run["pairs"])
    done = [run for run in runs if run.get("finished", True)]
    totals = [(run["pairs"], sum(run["processor"].values())) for run in done]

    def row(name: str, cell: Callable[[dict], str]) -> list[str]:
        return [name, *map(cell, runs)]

    def reader(name: str) -> Callable[[dict], str]:
        def cell(run: dict) -> str:
            part = run["readers"].get(name)
            known = part is not None and not part["status"]
            return f"{part['processor']:,.0f}; {part['memory'] >> 20:,}" if known else ""

        return cell

    def stage_cell(stage: str) -> Callable[[dict], str]:
        # Of a stage that is not finished nothing is said: the last one of a run that has not ended.
        return lambda run: (
            f"{run['processor'][stage]:,.1f}; {run['memory'][stage] >> 20:,}"
            if stage in run["processor"] and (run in done or stage != max(run["processor"].keys() & STAGES.keys()))
            else ""
        )

    rows = [
        *(row(name, stage_cell(stage)) for stage, name in STAGES.items()),
        row("**processor in all, s**", lambda run: f"**{sum(run['processor'].values()):,.0f}**" if run in done else ""),
        row(
            "**microseconds of it for a pair**",
            lambda run: f"**{1e6 * sum(run['processor'].values()) / run['pairs']:.0f}**" if run in done else "",
        ),
        row("by the clock, min", lambda run: f"{run['seconds'] / 60:,.1f}" if run in done else ""),
        row("killed", lambda run: str(run["kills"])),
        row("files; GB", lambda run: f"{run['files']:,}; {run['bytes'] / 1e9:.2f}" if run in done else ""),
        *(row(f"`{name}`", reader(name)) for name in READERS),
    ]
    sentences = []
    if len(done) > 2:
        guess = planned(totals[:-1], totals[-1][0])
        sentences.append(
            f"On the line through {totals[-3][0]:,} and {totals[-2][0]:,} pairs, {totals[-1][0]:,} would take "
            f"{guess:,.0f} s of a processor: the run, its {done[-1]['kills']} kills included, took "
            f"{totals[-1][1] / guess:.2f} of that. On the line through the two largest, a billion would take "
            f"{planned(totals, 10**9) / 3600:,.1f} hours of one processor."
        )
    sentences += [
        f"{run['pairs']:,} pairs: the run was stopped before its end, in the stage of the row *"
        f"{STAGES[max(run['processor'].keys() & STAGES.keys())]}*."
        for run in runs
        if run not in done
    ]
    digests = [
        set(part.read_text().splitlines()) for path in files if (part := path.with_name("shards.sha256")).exists()
    ]
    if len(digests) > 1:
        *smaller, largest = sorted(digests, key=len)
        same = sum(len(part & largest) for part in smaller)
        sentences.append(
            f"{same:,} of the {sum(map(len, smaller)):,} shards of smaller runs have the bytes of the largest."
        )
    print(*sentences, sep="\n")
    page = FOLDER / "runs.json"
    result = next(one for one in read_topic(page)["results"] if one.get("heading") == HEADING)
    earlier = [f"{result['commit']} {result['date']}", *result.get("earlier", [])]
    columns = ["", *(f"{run['pairs']:,} pairs" for run in runs)]
    table = {"columns": columns, "align": "l" + "r" * len(runs), "rows": rows, "earlier": earlier}
    put_result(page, {**result, **table})


def drawn_page() -> str:
    """The figure of what the page says: microseconds of a processor for a pair, by stage and number of pairs."""
    table = next(one for one in read_topic(FOLDER / "runs.json")["results"] if one.get("heading") == HEADING)
    sizes = [int(column.split()[0].replace(",", "")) for column in table["columns"][1:]]
    rows = {row[0].strip("*"): row[1:] for row in table["rows"]}
    lines = []
    for name in (*STAGES.values(), "processor in all, s"):
        seconds = [float(cell.strip("*").split(";")[0].replace(",", "")) for cell in rows[name]]
        points = [(math.log10(size), 1e6 * value / size) for size, value in zip(sizes, seconds, strict=True)]
        lines.append(Curve(name.removesuffix(", s"), points))
    title = "Microseconds of a processor for a pair, by stage"
    return standalone(curves(title, lines, "pairs, as a power of ten", logarithmic=True))


def main() -> None:
    """Print what was measured, and write summary.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--every", type=float, default=150, help="seconds between kills, in the mean")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--without", nargs="*", default=[], help="readers that are not measured")
    parser.add_argument("-o", "--folder", type=Path)
    parser.add_argument("--so-far", action="store_true", help="sum up a run that has not ended, in another process")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--figure", action="store_true", help="draw what the page of results says")
    parser.add_argument("--write", type=Path, nargs="+", help="put what these files hold on the page of results")
    options = parser.parse_args()
    if options.figure:
        FIGURE.write_text(drawn_page(), encoding="utf-8")
        return
    if options.write:
        write(options.write)
        return
    folder: Path = options.folder
    if options.run:
        data = Path(os.environ.get("PARALOOM_DATA") or sys.exit("set PARALOOM_DATA to the folder of real corpora"))
        pipeline(data / "bitext/multi30k/task2", options.pairs).run(folder / "run", workers=options.workers)
        return
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "attempts.jsonl"
    attempts = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    while not options.so_far and (not attempts or attempts[-1]["status"] != 0):
        kills = sum(part["killed"] for part in attempts)
        # Another sequence of moments after this command was stopped, too.
        draw = random.Random(kills)
        limit = 5 + draw.expovariate(1 / options.every) if kills < options.kills else None
        attempts.append(attempt(folder, options, limit))
        with log.open("a") as stream:
            stream.write(json.dumps(attempts[-1]) + "\n")
        print(attempts[-1], flush=True)
        if attempts[-1]["status"] not in (0, -signal.SIGKILL):
            sys.exit(f"the run failed: see {folder / 'output.txt'}")
    summary = summarize(folder, options, attempts)
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
