"""Measure sentence aligners at increasing lengths: lines per second, memory, and F1.

    paraloom train encoder -o de-en-encoder $(for corpus in news-commentary-v8 europarl-sample ted-sample yast \\
        gnome-help; do echo --bitext $PARALOOM_DATA/bitext/$corpus/de-en.tsv.gz; done)
    PARALOOM_DATA=… python benchmarks/alignment.py --lines 1000 10000 100000 --encoder de-en-encoder

The text is German and English news, followed by everyday sentences; beyond 190,186 rows by those of other languages and
manuals, and beyond 535,000 by the same again.  One line in ten is joined with the next on one side, and one in fifty is
dropped from one side, so that the true beads are known.  No translation is given: the aligner has lengths, tokens that
both texts share, and the lexicon that it learns.  Each row of each length runs in a process of its own; memory is its
peak, and what it had before the alignment.  Rows of other methods are in alignment_peers.py; what is not installed is
left out.  An encoder must not have
seen the text, which is why wmt-news and tatoeba are not in the command above; the bundled `--encoder multilingual` has
seen the everyday sentences, which begin at line 20,374.  Encoding counts as time.
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
from itertools import cycle
from pathlib import Path

from alignment_peers import by_position, hunalign, like_hunalign, like_vecalign

from paraloom.alignment.methods import aligner_config
from paraloom.api.alignment import align
from paraloom.core.beads import MAX_BEAD_SIZE, Bead
from paraloom.embed.average import SentenceEncoder
from paraloom.embed.store import load_encoder
from paraloom.evaluate.alignment import AlignmentScore

BITEXTS = (
    *("wmt-news/de-en.tsv.gz", "tatoeba/de-en.tsv.gz", "tatoeba/fr-en.tsv.gz", "tatoeba-2/es-en.tsv.gz"),
    *("python-docs/es-en.tsv.gz", "python-docs/fr-en.tsv.gz"),
)
"""Bitexts whose rows follow each other in the texts."""


def pairs(data: Path, count: int) -> list[tuple[str, str]]:
    """The first `count` pairs, German and English news first."""
    rows: list[tuple[str, str]] = []
    for name in cycle(BITEXTS):
        path = data / "bitext" / name
        if not path.is_file():
            sys.exit(f"{path} not found: set PARALOOM_DATA to the folder of real corpora")
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                source, target = line.rstrip("\n").split("\t")[:2]
                rows.append((source, target))
                if len(rows) == count:
                    return rows
    raise AssertionError("no bitext has a row")


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


def align_by(row: str, source: list[str], target: list[str], encoder: SentenceEncoder | None) -> list[Bead] | None:
    """The beads by a row of ROWS; None where its program is not installed."""
    if encoder is not None:
        if row == "like vecalign":
            return like_vecalign(encoder.encode(source), encoder.encode(target))
        return align(source, target, encoder=encoder)
    if row == "ours, lengths alone":
        return align(source, target, encoder=None, config=aligner_config("length", MAX_BEAD_SIZE))
    return PROGRAMS[row](source, target)


PROGRAMS = {
    "nothing: line by line": by_position,
    "like hunalign": like_hunalign,
    "hunalign": hunalign,
    "ours": align,
}
"""Aligners that need nothing but two texts."""

WITH_ENCODER = ("like vecalign", "ours, with the encoder")
"""Rows that need an encoder of both languages."""

ROWS = ("nothing: line by line", "ours, lengths alone", "like hunalign", "hunalign", "ours", *WITH_ENCODER)


def measure(data: Path, row: str, count: int, folder: Path | None) -> dict[str, float] | None:
    """Align one length in this process; None where the program of the row is not installed."""
    encoder = None if folder is None else load_encoder(folder)
    if align_by(row, *cut(pairs(data, 50))[:2], encoder) is None:  # compiles the kernels
        return None
    source, target, gold = cut(pairs(data, count))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start, processor = time.perf_counter(), time.process_time()
    beads = align_by(row, source, target, encoder)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    score = AlignmentScore()
    score.add(gold, beads or [])
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    return {
        **{"lines": len(source), "seconds": seconds, "processor": processor},
        **{"before": before, "MiB": peak},
        **{"strict": score.strict.f1, "lax": score.lax.f1},
    }


def main() -> None:
    """Print one line for each row and length."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, nargs="+", default=[1000, 10_000, 100_000], help="lengths in lines")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=ROWS, help="aligners")
    parser.add_argument("--encoder", type=Path, help="an encoder of both languages: a folder, or a bundled name")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    if options.one:
        print(json.dumps(measure(data, options.rows[0], options.lines[0], options.encoder)))
        return
    for row in options.rows:
        if row in WITH_ENCODER and options.encoder is None:
            print(f"{row:24} left out: give --encoder, an encoder of both languages")
            continue
        encoder = ["--encoder", str(options.encoder)] if row in WITH_ENCODER else []
        for count in options.lines:
            command = [sys.executable, __file__, "--one", "--rows", row, "--lines", str(count), *encoder]
            result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            if result is None:
                print(f"{row:24} left out: the program is not installed")
                break
            print(
                f"{row:24} {result['lines']:8,.0f} lines  {result['seconds']:8.1f} s"
                f"  {result['lines'] / max(result['seconds'], 1e-9):9,.0f} lines/s"
                f"  {result['processor']:8.1f} s of processor"
                f"  {result['MiB']:7,.0f} MiB, {result['before']:,.0f} before"
                f"  F1 strict {result['strict']:.4f} lax {result['lax']:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
