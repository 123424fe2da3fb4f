"""What the pages of `paraloom explore` take, over made-up scored pairs: processor time and memory.

    python benchmarks/explore.py --rows 100000 1000000
    python benchmarks/explore.py --rows 100000 1000000 10000000 100000000 --write     # the page of results

Sentences are drawn from 20,000 words with Zipf's frequencies, and half of each target's phrases are its source's. More
than two million pairs are those of two million again, by links to the same shards. Each number of pairs is opened by a
process of its own. Every request goes through HTTP, once for each of several values that no request before it had. An
answer about many rows may be of those searched so far: then the page is asked to search on until it has searched all.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from results_pages import FOLDER, put_result

from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus
from paraloom.web.explorer import opened
from paraloom.web.library import Library

SCORES = [f"score_{letter}" for letter in "abcdefghij"]
BATCH = 100_000
SHARD_ROWS, DISTINCT_ROWS = 50_000, 2_000_000
HEADING = "The pages of `explore`"
CONTINUE = 'data-continue="'
"""In a page, before the address that searches on."""

SELECTION = {"where": "score_a > 0.{0} and score_b <= 0.8", "sort": "-score_b"}
REQUESTS: list[tuple[str, str, dict[str, str]]] = [
    ("the first page", "/pairs", {}),
    ("sorted by a score", "/pairs", {"sort": "-score_a"}),
    ("two conditions, sorted", "/pairs", SELECTION),
    ("search: a rare word", "/pairs", {"search": "w199{0}"}),
    ("condition on texts", "/pairs", {"where": "length(src) > 8{1} and score_d > 0.5", "sort": "score_d"}),
    ("histograms of a condition", "/scores", {"where": "score_e > 0.{0}"}),
    ("threshold, dragged", "/threshold", {"score": "score_f", "where": "score_e > 0.5", "at": "0.{0}"}),
]  # fmt: skip
SEARCHED_TO_THE_END = ("sorted by a score", "two conditions, sorted", "search: a rare word", "condition on texts")


def batches(rows: int, seed: int = 1) -> Iterator[pa.RecordBatch]:
    """Made-up pairs with ten scores."""
    draw = np.random.default_rng(seed)
    weights = 1 / np.arange(1, 20_001)
    phrases = [
        " ".join(f"w{word}" for word in words)
        for words in draw.choice(20_000, size=(100_000, 5), p=weights / weights.sum())
    ]
    pool = pa.array(phrases)
    fields = [*PAIRS, *(pa.field(name, pa.float32(), metadata={"signature": "made up"}) for name in SCORES)]
    for start in range(0, rows, BATCH):
        n = min(BATCH, rows - start)
        numbers = draw.integers(0, len(phrases), (5, n))
        src = pc.binary_join_element_wise(*(pool.take(pa.array(part)) for part in numbers[:3]), " ")
        tgt = pc.binary_join_element_wise(*(pool.take(pa.array(part)) for part in numbers[[0, 3, 4]]), " ")
        ids = pa.array([f"made-up:{row}" for row in range(start, start + n)])
        origin = pa.array([f"corpus-{i}" for i in range(9)]).take(pa.array(draw.integers(0, 9, n)))
        language = pa.array(["en"] * n)
        scores = [pa.array(draw.beta(2, 2, n).astype(np.float32)) for _ in SCORES]
        columns = [ids, src, tgt, language, language, origin, *scores]
        yield pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def write_pairs(folder: Path, rows: int) -> None:
    """A corpus of made-up pairs."""
    distinct = min(rows, DISTINCT_ROWS)
    corpus = write_corpus(folder, batches(distinct), kind="PAIRS", shard_rows=SHARD_ROWS)
    description = folder / "corpus.json"
    corpus_facts = json.loads(description.read_text())
    entries = corpus_facts["shards"]
    for number in range(len(entries), rows // SHARD_ROWS):
        entry = {**entries[number % len(corpus.shards)], "file": f"part-{number:05d}.parquet"}
        os.link(corpus.shards[number % len(corpus.shards)], folder / entry["file"])
        entries.append(entry)
    corpus_facts["rows"] = sum(entry["rows"] for entry in entries)
    description.write_text(json.dumps(corpus_facts))


class Client:
    """A browser of a page that this process serves."""

    def __init__(self, url: str, cookie: str) -> None:
        self.url, self.cookie = url, cookie

    def get(self, address: str) -> tuple[str, float, float]:
        """The answer, its seconds by the clock, and those of all processors."""
        request = urllib.request.Request(f"{self.url}{address}", headers={"Cookie": self.cookie})
        start, used = time.perf_counter(), time.process_time()
        with urllib.request.urlopen(request) as response:
            body = response.read().decode()
        seconds = time.perf_counter() - start, time.process_time() - used
        assert 'role="alert"' not in body, body[-3000:]
        return body, *seconds

    def searched(self, page: str) -> float:
        """Seconds of processors until a page has searched all rows."""
        used = 0.0
        while CONTINUE in page:
            page, _, seconds = self.get(unescape(page.partition(CONTINUE)[2].partition('"')[0]))
            used += seconds
        return used


def memory() -> dict[str, int]:
    """MiB of this process: at most so far, and now what is its own."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return {name: int(status[name].split()[0]) >> 10 for name in ("VmHWM", "RssAnon")}


def measured(folder: Path, repeats: int) -> dict[str, Any]:
    """What opening and each request take in this process."""
    start, used = time.perf_counter(), time.process_time()
    with opened(Library(folder, scratch=folder.parent)) as server:
        results: dict[str, Any] = {
            "opened": [time.process_time() - used, time.perf_counter() - start],
            "start of Python": used,
        }
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = Client(f"http://127.0.0.1:{server.port}", f"{server.cookie}={server.token}")
        for name, path, query in REQUESTS:
            answers = []
            for i in range(repeats):
                values = {key: value.format(11 + 7 * i, 1 + i) for key, value in query.items()}
                answers.append(client.get(f"{path}?{urlencode(values)}"))
            rest = client.searched(answers[-1][0]) if name in SEARCHED_TO_THE_END else 0.0
            results[name] = {
                "processor": [answer[2] for answer in answers],
                "clock": [answer[1] for answer in answers],
                "all": rest + answers[-1][2] if rest else 0.0,
                "memory": memory()["VmHWM"],
            }
        server.shutdown()
    return {**results, "memory": memory()}


def cell(result: dict[str, Any]) -> str:
    """Median and slowest answer in ms of processors, and seconds of them for all rows where the answer was of some."""
    seconds = result["processor"]
    text = f"{1000 * median(seconds):.0f} ({1000 * max(seconds):.0f})"
    return f"{text}; {result['all']:.1f} s" if result["all"] else text


def main() -> None:
    """Print a table: a row for each request, a column for each number of pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=3, help="requests of each kind")
    parser.add_argument(
        "--scratch",
        type=Path,
        default=Path("explore-pairs"),
        help="folder for pairs and figures; what is there is kept",
    )
    parser.add_argument("--write", action="store_true", help="put the figures on the page of results")
    parser.add_argument("--open", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        print(json.dumps(measured(options.open, options.repeats)))
        return
    options.scratch.mkdir(parents=True, exist_ok=True)
    columns = []
    for rows in options.rows:
        known = options.scratch / f"explore-{rows}.json"
        if not known.exists():
            folder = Path(tempfile.mkdtemp(dir=options.scratch))
            try:
                write_pairs(folder / "pairs", rows)
                command = [sys.executable, __file__, "--open", str(folder / "pairs"), "--repeats", str(options.repeats)]
                known.write_text(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            finally:
                shutil.rmtree(folder)
        columns.append(json.loads(known.read_text().splitlines()[-1]))
    rows = [
        ["opened: processor, s; by the clock", *(f"{one['opened'][0]:.1f}; {one['opened'][1]:.1f}" for one in columns)],
        *([name, *(cell(one[name]) for one in columns)] for name, *_ in REQUESTS),
        ["at most, MiB", *(f"{one['memory']['VmHWM']:,}" for one in columns)],
    ]
    heads = ["", *(f"{rows:,} pairs" for rows in options.rows)]
    print(*("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows)), sep="\n")
    if options.write:
        sizes = " ".join(map(str, options.rows))
        put_result(
            FOLDER / "runs.json",
            {
                "heading": HEADING,
                "command": [f"python benchmarks/explore.py --rows {sizes} --write"],
                "machine": "cores",
                "columns": heads,
                "align": "l" + "r" * len(columns),
                "rows": rows,
            },
        )


if __name__ == "__main__":
    main()
