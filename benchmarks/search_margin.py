"""Search across languages by margin and by cosine: captions whose translation is the first of 1,000, both directions.

    PARALOOM_DATA=… python benchmarks/search_margin.py multilingual --languages fr cs de

Multi30k's test set of 2016, with Wilson intervals, and processor seconds of the search alone.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from paraloom.core.stats import wilson_interval
from paraloom.embed.encoder import open_encoder
from paraloom.embed.search import NEIGHBORS, search
from paraloom.io import read_lines

CAPTIONS = Path(os.environ.get("PARALOOM_DATA", "")) / "bitext/multi30k/task1"


def main() -> None:
    """Print a row for each language and direction."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder")
    parser.add_argument("--languages", nargs="+", default=["fr", "cs", "de"])
    options = parser.parse_args()
    encoder = open_encoder(options.encoder)
    english = encoder.encode(list(read_lines(CAPTIONS / "test_2016_flickr.en.gz")))
    for language in options.languages:
        foreign = encoder.encode(list(read_lines(CAPTIONS / f"test_2016_flickr.{language}.gz")))
        for title, queries, corpus in (("into English", foreign, english), ("from English", english, foreign)):
            cells = []
            for neighbors in (0, NEIGHBORS):
                began = time.process_time()
                rows = search(queries, corpus, 1, neighbors=neighbors).rows[:, 0]
                seconds, right = time.process_time() - began, int((rows == np.arange(len(rows))).sum())
                low, high = wilson_interval(right, len(rows))
                cells.append(f"{100 * right / len(rows):.1f} [{100 * low:.1f}, {100 * high:.1f}], {seconds:.2f} s")
            print("|", language, title, "|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
