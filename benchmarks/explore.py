"""Print how quickly the pages of `paraloom explore` answer, over made-up scored pairs.

    python benchmarks/explore.py --rows 100000 1000000 10000000 --scratch /tmp/explore

Sentences are drawn from 20,000 words with Zipf's frequencies, and half of each target's phrases are its source's. Every
request goes through HTTP, once for each of several values that no request before it had; the median and the slowest
count, by the clock and in time of processors, which a busy machine does not distort. The page may sort its row numbers
first (`prepared`); it answers without that too, the first time more slowly.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paraloom.core.schema import PAIRS
from paraloom.io import write_corpus
from paraloom.web.explorer import opened

SCORES = [f"score_{letter}" for letter in "abcdefghij"]
BATCH = 100_000

SELECTION = {"where": "score_a > 0.{0} and score_b <= 0.8", "sort": "-score_b"}
REQUESTS: list[tuple[str, str, dict[str, str]]] = [
    ("the first page", "/pairs", {}),
    ("sorted by a score", "/pairs", {"sort": "-score_a"}),
    ("two conditions, sorted", "/pairs", SELECTION),
    ("the same, page 1,000", "/pairs", {**SELECTION, "page": "1000"}),
    ("one source, a condition", "/pairs", {"where": "origin = 'corpus-{1}' and score_c < 0.4"}),
    ("search: a frequent word", "/pairs", {"search": "w1{1} "}),
    ("search: a rare word", "/pairs", {"search": "w199{0}"}),
    ("condition on texts", "/pairs", {"where": "length(src) > 8{1} and score_d > 0.5", "sort": "score_d"}),
    ("histograms of a condition", "/scores", {"where": "score_e > 0.{0}"}),
    ("threshold of a condition", "/threshold", {"score": "score_f", "where": "score_e > 0.{0}", "at": "0.5"}),
    ("threshold, dragged", "/threshold", {"score": "score_f", "where": "score_e > 0.5", "at": "0.{0}"}),
    ("a single row", "/row", {"row": "7{0}77"}),
]  # fmt: skip


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


def measure(url: str, path: str, query: dict[str, str], repeats: int, cookie: str) -> list[tuple[float, float]]:
    """Seconds of each of some requests that differ in a number: by the clock, and of all processors."""
    seconds = []
    for i in range(repeats):
        values = {name: value.format(11 + 7 * i, 1 + i) for name, value in query.items()}
        request = urllib.request.Request(f"{url}{path}?{urlencode(values)}", headers={"Cookie": cookie})
        start, used = time.perf_counter(), time.process_time()
        with urllib.request.urlopen(request) as response:
            body = response.read()
        seconds.append((time.perf_counter() - start, time.process_time() - used))
        assert b'role="alert"' not in body, body.decode()[-3000:]
    return seconds


def resident() -> tuple[float, float]:
    """GB of this process in memory: its own, and of files, which the system takes back where it needs the memory."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    own, mapped = (int(status[name].split()[0]) / 1e6 for name in ("RssAnon", "RssFile"))
    return own, mapped


def report(rows: int, scratch: Path, repeats: int) -> dict[str, str]:
    """Name of each request → median and slowest time in ms."""
    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        corpus = write_corpus(folder / "pairs", batches(rows), kind="PAIRS", shard_rows=500_000)
        start = time.perf_counter()
        with opened(corpus.folder, scratch=folder) as server:
            results = {"opened (s)": f"{time.perf_counter() - start:.1f}"}
            start = time.perf_counter()
            dataset = server.app.library.get().dataset
            copied = sum(batch.nbytes for batch in dataset.table.to_batches())
            dataset.warm_up()
            copied += 8 * len(dataset.scores) * rows  # Values and row numbers of each score
            results["prepared (s)"] = f"{time.perf_counter() - start:.1f}"
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url, cookie = f"http://127.0.0.1:{server.port}", f"{server.cookie}={server.token}"
            for name, path, query in REQUESTS:
                seconds = measure(url, path, query, repeats, cookie)
                results[f"{name} (ms)"] = " / ".join(
                    f"{1000 * median(part):.0f} ({1000 * max(part):.0f})" for part in zip(*seconds, strict=True)
                )
            server.shutdown()
        results["peak memory (GB)"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f}"
        results["of it at the end its own; mapped files (GB)"] = "; ".join(f"{part:.2f}" for part in resident())
        results["files in the scratch folder (GB)"] = f"{copied / 1e9:.2f}"
        return results
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Print a table: a row for each request, a column for each number of pairs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=5, help="requests of each kind")
    parser.add_argument("--scratch", type=Path, default=Path(tempfile.gettempdir()), help="folder for the pairs")
    options = parser.parse_args()
    options.scratch.mkdir(parents=True, exist_ok=True)
    columns = [report(rows, options.scratch, options.repeats) for rows in options.rows]
    print(
        "| median (slowest) by the clock / of processors | "
        + " | ".join(f"{rows:,} pairs" for rows in options.rows)
        + " |"
    )
    print("| --- |" + " ---: |" * len(options.rows))
    for name in columns[0]:
        print(f"| {name} | " + " | ".join(column[name] for column in columns) + " |")


if __name__ == "__main__":
    main()
