"""Measure tree kernels on Penn Treebank trees, on one core, next to plain recursion and BBH22's script.

    python benchmarks/diversity_trees.py

Pairs are random trees of NLTK's sample.  `fresh`: both trees of every pair are parsed from their brackets, as BBH22's
script does.  `groups`: groups of three, each tree parsed once for its two pairs, as Paraloom compares BBH22's triples.
Both use batches of 900 trees.  The plain recursion parses both trees as well.
Each figure is the best of several rounds, by wall-clock time and by processor time, which depends less on other load.
Compiling kernels is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from paraloom.evaluate.diversity.tree_differences import tree_kernel_difference
from paraloom.evaluate.diversity.tree_kernels import BBH22, TreeKernel, failures, kernel
from paraloom.evaluate.diversity.trees import read_trees
from paraloom.syntax.treebank import read_brackets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from plain_trees import Prepared, parse, subset_kernel

SETTINGS = {"st": TreeKernel("st"), "sst": TreeKernel("sst"), "bbh22": BBH22}
BATCH = 900
SCRIPT = 640
"""Pairs per second of BBH22's script on these trees (subset trees); it fails on 1.5 % of them."""


def fresh(texts: list[str], setting: TreeKernel) -> None:
    """The kernel of each pair of successive trees."""
    for i in range(0, len(texts), BATCH):
        batch = texts[i : i + BATCH]
        assert not np.isnan(kernel(read_trees(batch[::2]), read_trees(batch[1::2]), setting)).any()


def groups(texts: list[str], setting: TreeKernel) -> None:
    """The kernels of the pairs in each group of three."""
    for i in range(0, len(texts), BATCH):
        trees = read_trees(texts[i : i + BATCH])
        assert not np.isnan(tree_kernel_difference(trees, np.arange(len(trees)) // 3, setting)).any()


def plain(texts: list[str], setting: TreeKernel) -> None:
    """As `fresh`, by plain recursion."""
    for first, second in zip(texts[::2], texts[1::2], strict=True):
        a, b = Prepared(parse(first)), Prepared(parse(second))
        for x, y in ((a, b), (a, a), (b, b)):
            subset_kernel(x, y, setting.decay, int(setting.kind == "sst"), setting.bare_words)


def rates(call: Callable[[], None], pairs: int, rounds: int) -> dict[str, float]:
    """Pairs per second by wall-clock time and by processor time."""
    seconds, own = [], []
    for _ in range(rounds):
        start, own_start = time.perf_counter(), time.process_time()
        call()
        seconds.append(time.perf_counter() - start)
        own.append(time.process_time() - own_start)
    return {"clock": pairs / min(seconds), "processor": pairs / min(own)}


def main() -> None:
    """Print a line for each kernel and way, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trees", type=int, default=60_000)
    parser.add_argument("--plain-trees", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    path = Path(os.environ["PARALOOM_DATA"]) / "treebank/nltk-ptb-sample/wsj_0001-0199.mrg.gz"
    sample = [text for _, text in read_brackets(path)]
    trees = read_trees(sample)
    print(f"{len(sample)} trees, {len(trees.labels) / len(trees):.1f} nodes each; failed: {trees.failures() or 'none'}")
    drawn = np.random.default_rng(1).integers(len(sample), size=arguments.trees)
    texts = [sample[i] for i in drawn]
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for name, setting in SETTINGS.items():
        assert not failures(trees, setting)
        fresh(texts[:60], setting)
        groups(texts[:60], setting)
        few = texts[: arguments.plain_trees]
        figures[name] = {
            "fresh": rates(lambda: fresh(texts, setting), len(texts) // 2, arguments.rounds),  # noqa: B023
            "groups": rates(lambda: groups(texts, setting), len(texts), arguments.rounds),  # noqa: B023
            "plain": rates(lambda: plain(few, setting), len(few) // 2, 2),  # noqa: B023
        }
        for way in ("fresh", "groups"):
            ours, peer = figures[name][way], figures[name]["plain"]
            line = f"{name:<6} {way:<7} {ours['clock']:>9,.0f} pairs/s, {ours['processor']:>9,.0f} by processor time"
            line += f"   plain recursion {peer['processor']:>6,.0f}, ratio {ours['processor'] / peer['processor']:6.0f}"
            if name in ("sst", "bbh22"):
                line += f"   BBH22's script {SCRIPT}, ratio {ours['clock'] / SCRIPT:5.0f}"
            print(line, flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
