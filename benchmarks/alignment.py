"""Sentence alignment at growing lengths: lines a second, memory, and how much of the truth is found.

    PARALOOM_DATA=… python benchmarks/alignment.py --lines 1000 10000 100000

The text is German and English news, then everyday sentences, one below the other; one line in ten is joined with the
next on one side, one in fifty is dropped from one side, so the true beads are known.  No translation is given: the
aligner has lengths, what both texts share, and the lexicon it finds.  Every length has a process of its own.
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
    """German and English, news first."""
    found: list[tuple[str, str]] = []
    for name in ("wmt-news/de-en.tsv.gz", "tatoeba/de-en.tsv.gz"):
        path = data / "bitext" / name
        if not path.is_file():
            sys.exit(f"{path} is not there: set PARALOOM_DATA to the folder of real corpora")
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                source, target = line.rstrip("\n").split("\t")[:2]
                found.append((source, target))
                if len(found) == count:
                    return found
    return found


def cut(sentences: list[tuple[str, str]], seed: int = 1) -> tuple[list[str], list[str], list[Bead]]:
    """Lines joined and dropped by chance, and the true beads."""
    rng = random.Random(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    gold = []
    at = 0
    while at < len(sentences):
        chance = rng.random()
        took = 2 if chance < 0.1 else 1
        part = sentences[at : at + took]
        at += took
        places = []
        for side in (0, 1):
            texts = [pair[side] for pair in part]
            if (chance < 0.05 and side == 0) or (0.05 <= chance < 0.1 and side == 1):
                texts = [" ".join(texts)]
            if (0.1 <= chance < 0.11 and side == 0) or (0.11 <= chance < 0.12 and side == 1):
                texts = []
            places.append(tuple(range(len(sides[side]), len(sides[side]) + len(texts))))
            sides[side].extend(texts)
        gold.append(Bead(places[0], places[1]))
    return sides[0], sides[1], gold


def measure(data: Path, count: int) -> dict[str, float]:
    """One length, in this process."""
    from paraloom.align.sentences import align
    from paraloom.evaluate.alignment import AlignmentScore

    align(*cut(pairs(data, 50))[:2])  # what is compiled once
    source, target, gold = cut(pairs(data, count))
    start = time.perf_counter()
    found = align(source, target)
    seconds = time.perf_counter() - start
    score = AlignmentScore()
    score.add(gold, found)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"lines": len(source), "seconds": seconds, "MiB": peak, "strict": score.strict.f1, "lax": score.lax.f1}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    if arguments.one:
        print(json.dumps(measure(data, arguments.one)))
        return
    for count in arguments.lines:
        ran = subprocess.run(
            [sys.executable, __file__, "--one", str(count)], check=True, capture_output=True, text=True
        )
        found = json.loads(ran.stdout)
        rate = found["lines"] / found["seconds"]
        print(
            f"{found['lines']:8,.0f} lines  {found['seconds']:8.1f} s  {rate:7,.0f} lines/s"
            f"  {found['MiB']:7,.0f} MiB  F1 strict {found['strict']:.4f} lax {found['lax']:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
