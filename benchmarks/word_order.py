"""Order and negation: how often an encoder puts a paraphrase above a sentence with one fact changed, and PAWS.

    PARALOOM_DATA=… python benchmarks/word_order.py english english-small

Accuracy: MRPC's right test pairs (a, b), and a with one change, by the rules of `paraloom evaluate lookalikes`: the
share in which b is nearer to a than a changed is. PAWS-Wiki test: area under the ROC curve. 95 % intervals by Wilson
and DeLong. `overlap` is that of rare words and trigrams. An edit keeps nearly all words, a paraphrase does not.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from paraloom.core.seeds import generator
from paraloom.core.stats import wilson_interval
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.discrimination import auc
from paraloom.evaluate.sts import System, similarities
from paraloom.evaluate.tfidf import Overlap
from paraloom.io import read_lines
from paraloom.pairs.lookalikes import KINDS, lookalike, names_in

DATA = Path(os.environ.get("PARALOOM_DATA", ""))


def main() -> None:
    """Print a row for each encoder, and for overlap."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="+")
    options = parser.parse_args()
    mrpc = [line.split("\t") for line in read_lines(DATA / "paraphrase/mrpc/msr_paraphrase_test.tsv")]
    right = [(row[3], row[4]) for row in mrpc if row[0] == "1"]
    paws = [line.split("\t") for line in read_lines(DATA / "paraphrase/paws-wiki/test.half1.tsv.gz")]
    names, draw = names_in([text for pair in right for text in pair]), generator(1)
    sets: dict[str, list[tuple[str, str, str]]] = {}
    for kind in KINDS:
        changes = [(a, b, lookalike(a, kind, draw, names)) for a, b in right]
        sets[kind] = [(a, b, changed) for a, b, changed in changes if changed]
    systems: dict[str, System] = {
        "overlap": Overlap.count([text for pair in right for text in pair]),
        **{name: open_encoder(name) for name in options.encoders},
    }
    print("|  |", " | ".join(f"{kind} ({len(rows)})" for kind, rows in sets.items()), f"| PAWS ({len(paws)}) |")
    for name, system in systems.items():
        cells = []
        for rows in sets.values():
            a, b, changed = (list(side) for side in zip(*rows, strict=True))
            won = int((similarities(system, a, b) > similarities(system, a, changed)).sum())
            low, high = wilson_interval(won, len(rows))
            cells.append(f"{100 * won / len(rows):.1f} [{100 * low:.1f}, {100 * high:.1f}]")
        values, labels = (
            similarities(system, [row[1] for row in paws], [row[2] for row in paws]),
            [row[0] for row in paws],
        )
        truth = np.array(labels) == "1"
        area = auc(values[truth], values[~truth])
        cells.append(f"{area.value:.3f} [{area.low:.3f}, {area.high:.3f}]")
        print("|", name, "|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
