"""How fast are parsers? Sentences per second on one core, of 1,000 sentences of MASC with 9 to 49 words.

    python benchmarks/parsers.py runs/grammar runs/spans

Reads $PARALOOM_DATA/sentences-en. Loading, and the first sentences, which compile what numba compiles, do not count.
The median of the rounds, by the clock and by the processor's time, which other work on the machine disturbs less.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from statistics import median

from paraloom.io.compression import read_lines
from paraloom.syntax.parsers.loading import load_parser

SENTENCES = 1000


def sentences(data: Path) -> list[str]:
    """The sentences."""
    lines = read_lines(data / "sentences-en/mixed.masc.txt.xz")
    return list(islice((line for line in lines if 8 < len(line.split()) < 50), SENTENCES))


def main() -> None:
    """Print a row for each parser."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="of `paraloom train parser`")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    texts = sentences(Path(os.environ["PARALOOM_DATA"]))
    clocks: dict[str, Callable[[], float]] = {"clock": time.perf_counter, "processor": time.process_time}
    print("| parser | sentences/s, by the clock | of processor time |\n| --- | ---: | ---: |")
    for folder in args.folders:
        model = load_parser(folder)
        model.parse(texts[:40])
        seconds: dict[str, list[float]] = {name: [] for name in clocks}
        for _ in range(args.rounds):
            started = {name: clock() for name, clock in clocks.items()}
            model.parse(texts)
            for name, clock in clocks.items():
                seconds[name].append(clock() - started[name])
        print(f"| {folder} | " + " | ".join(f"{len(texts) / median(values):.0f}" for values in seconds.values()) + " |")


if __name__ == "__main__":
    main()
