"""Measure sentence alignment at increasing lengths: lines per second, memory, and F1.

    PARALOOM_DATA=… python benchmarks/alignment.py --lines 1000 10000 100000

The text is German and English news, followed by everyday sentences.  One line in ten is joined with the next on one
side, and one in fifty is dropped from one side, so that the true beads are known.  No translation is given: the aligner
has lengths, tokens that both texts share, and the lexicon that it learns.  Each length runs in a process of its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path

from paraloom.core.beads import Bead


def pairs(data: Path, count: int) -> list[tuple[str, str]]:
    """The first `count` German–English pairs, news first."""
    rows: list[tuple[str, str]] = []
    for name in ("wmt-news/de-en.tsv.gz", "tatoeba/de-en.tsv.gz"):
        path = data / "bitext" / name
        if not path.is_file():
            sys.exit(f"{path} not found: set PARALOOM_DATA to the folder of real corpora")
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                source, target = line.rstrip("\n").split("\t")[:2]
                rows.append((source, target))
                if len(rows) == count:
                    return rows
    return rows


def cut(sentences: list[tuple[str, str]], seed: int = 1) -> tuple[list[str], list[str], list[Bead]]:
    """The lines of both sides, some joined or dropped at random, and the true beads."""
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    gold = []
    start = 0
    while start < len(sentences):
        chance = rng.random()
        size = 2 if chance < 0.1 else 1
        part = sentences[start : start + size]
        start += size
        indices = []
        for side in (0, 1):
            texts = [pair[side] for pair in part]
            if (chance < 0.05 and side == 0) or (0.05 <= chance < 0.1 and side == 1):
                texts = [" ".join(texts)]
            if (0.1 <= chance < 0.11 and side == 0) or (0.11 <= chance < 0.12 and side == 1):
                texts = []
            indices.append(tuple(range(len(sides[side]), len(sides[side]) + len(texts))))
            sides[side].extend(texts)
        gold.append(Bead(indices[0], indices[1]))
    return sides[0], sides[1], gold


def measure(data: Path, count: int) -> dict[str, float]:
    """Align one length in this process."""
    from paraloom.alignment.sentences import align
    from paraloom.evaluate.alignment import AlignmentScore

    align(*cut(pairs(data, 50))[:2])  # compiles the kernels
    source, target, gold = cut(pairs(data, count))
    start = time.perf_counter()
    beads = align(source, target)
    seconds = time.perf_counter() - start
    score = AlignmentScore()
    score.add(gold, beads)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"lines": len(source), "seconds": seconds, "MiB": peak, "strict": score.strict.f1, "lax": score.lax.f1}


def main() -> None:
    """Print one line for each length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10_000, 100_000], help="lengths in lines")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    if arguments.one:
        print(json.dumps(measure(data, arguments.one)))
        return
    for count in arguments.lines:
        ended = subprocess.run(
            [sys.executable, __file__, "--one", str(count)], check=True, capture_output=True, text=True
        )
        row = json.loads(ended.stdout)
        rate = row["lines"] / row["seconds"]
        print(
            f"{row['lines']:8,.0f} lines  {row['seconds']:8.1f} s  {rate:7,.0f} lines/s"
            f"  {row['MiB']:7,.0f} MiB  F1 strict {row['strict']:.4f} lax {row['lax']:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
