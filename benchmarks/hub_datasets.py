"""Pairs to `hf://` and back, against a server of this machine that speaks the hub's protocol: cut off, overtaken.

    PARALOOM_DATA=… python benchmarks/hub_datasets.py --pairs 20000
    PARALOOM_DATA=… python benchmarks/hub_datasets.py --write

The server is that of the tests, asked by huggingface_hub as the hub is; an upload is cut off by an error in its middle.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from large_run import MakePairs
from results_pages import FOLDER, put_result

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from datasets_server import URL, Datasets, datasets_server

import paraloom
from paraloom.api import publish, publishing
from paraloom.core.errors import ParaloomError
from paraloom.core.stage import StageContext
from paraloom.io.corpus import write_corpus

FILES = 10


def refused(source: Path, hub: Datasets) -> str:
    """What is said instead of writing, and that nothing was written."""
    before = dict(hub.files)
    try:
        publish(source, URL, license="cc-by-4.0")
    except ParaloomError as error:
        return f"“{error.what}”; files that changed: {sum(hub.files.get(name) != before[name] for name in before)}"
    sys.exit("it was written")


def measure(source: Path) -> Iterator[tuple[str, str]]:
    """Rows of the table."""
    with datasets_server() as hub:
        began = time.process_time()
        publish(source, URL, license="cc-by-4.0")
        whole = dict(hub.files)
        size = sum(map(len, whole.values())) / 1e6
        yield "written: files, MB, processor, s", f"{len(whole)}, {size:.0f}, {time.process_time() - began:.1f}"
        began = time.process_time()
        read, written = paraloom.read_pairs(URL), paraloom.read_pairs(source)
        same = all(list(read[side]) == list(written[side]) for side in ("src", "tgt"))
        seconds = time.process_time() - began
        yield "read: pairs, the same texts, processor, s", f"{len(read):,}, {'yes' if same else 'no'}, {seconds:.1f}"
        fetched = len(hub.read)
        paraloom.read_pairs(URL).head(1)
        again = sum(one.startswith("data/") for one in hub.read[fetched:])
        yield "read again: files that are fetched again", str(again)
    with datasets_server() as hub:
        hub.cuts = FILES // 2
        kept = refused(source, hub)
        sent = len(hub.sent)
        yield f"cut off at file {FILES // 2} of {FILES}: files to be seen", str(len(hub.files))
        publish(source, URL, license="cc-by-4.0")
        yield "resumed: files sent, of which sent before", f"{len(hub.sent) - sent}, {len(hub.sent) - FILES}"
        yield "the same files as without the cut", "yes" if hub.files == whole else f"no ({kept})"
        hub.meanwhile = 1
        yield "somebody else commits meanwhile", refused(source, hub)
        hub.meanwhile, hub.files, hub.tags = 0, {"theirs.csv": b"1"}, []
        yield "a data set of somebody else", refused(source, hub)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--write", action="store_true", help="put the table on the page of results")
    options = parser.parse_args()
    publishing._SHARD_ROWS = -(-options.pairs // FILES)
    captions = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task2"
    rows = []
    with tempfile.TemporaryDirectory(prefix="paraloom-hub-") as name:
        os.environ["PARALOOM_CACHE"] = f"{name}/cache"
        source = Path(name) / "pairs"
        batches = MakePairs(captions=captions, pairs=options.pairs).batches(StageContext.__new__(StageContext))
        write_corpus(source, batches, kind="PAIRS")
        for row in measure(source):
            rows.append(list(row))
            print(" | ".join(row), flush=True)
    if options.write:
        put_result(
            FOLDER / "distribution.json",
            {
                "heading": "Data sets on a hub",
                "command": ["python benchmarks/hub_datasets.py --write"],
                "machine": "cores",
                "columns": ["", ""],
                "align": "ll",
                "rows": rows,
            },
        )


if __name__ == "__main__":
    main()
