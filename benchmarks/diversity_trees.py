"""Tree kernels of Penn Treebank trees, from strings to numbers on one core, beside plain recursion and BBH22's script.

    python benchmarks/diversity_trees.py

Pairs are trees of NLTK's sample, drawn by chance.  `fresh`: both trees of every pair are read from their brackets for
it, as BBH22's script does.  `groups`: groups of three, each tree read once for its two pairs, which is how BBH22's
triples are compared here.  Both work in batches of 900 trees.  The plain recursion reads both trees, too.
Each figure is the best of some rounds, by the clock and by this process's own time: on a machine that others use the
latter is the steadier.  Kernels are compiled before the clock starts.
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

from paraloom.diversity.tree_differences import differences
from paraloom.diversity.tree_kernels import BBH22, TreeKernel, failures, kernel
from paraloom.diversity.trees import read_trees
from paraloom.syntax.treebank import read_brackets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from plain_trees import Prepared, parse, partial_kernel_by_length, subset_kernel

SETTINGS = {"st": TreeKernel("st"), "sst": TreeKernel("sst"), "ptk": TreeKernel("ptk"), "bbh22": BBH22}
BATCH = 900
SCRIPT = 640
"""Pairs a second of BBH22's script on these trees, subset trees; it fails on 1.5 % of them."""


def fresh(texts: list[str], setting: TreeKernel) -> None:
    """Each tree with the next, two by two."""
    for i in range(0, len(texts), BATCH):
        batch = texts[i : i + BATCH]
        assert not np.isnan(kernel(read_trees(batch[::2]), read_trees(batch[1::2]), setting)).any()


def groups(texts: list[str], setting: TreeKernel) -> None:
    """Each tree with the two others of its three."""
    for i in range(0, len(texts), BATCH):
        trees = read_trees(texts[i : i + BATCH])
        assert not np.isnan(differences(trees, np.arange(len(trees)) // 3, setting)).any()


def plain(texts: list[str], setting: TreeKernel) -> None:
    """As `fresh`, by recursion."""
    for first, second in zip(texts[::2], texts[1::2], strict=True):
        a, b = Prepared(parse(first)), Prepared(parse(second))
        for x, y in ((a, b), (a, a), (b, b)):
            if setting.kind == "ptk":
                partial_kernel_by_length(x, y, setting.decay, setting.height_decay)
            else:
                subset_kernel(x, y, setting.decay, int(setting.kind == "sst"), setting.bare_words)


def rates(call: Callable[[], None], pairs: int, rounds: int) -> dict[str, float]:
    """Pairs a second by the clock and by processor time."""
    seconds, own = [], []
    for _ in range(rounds):
        begun, begun_own = time.perf_counter(), time.process_time()
        call()
        seconds.append(time.perf_counter() - begun)
        own.append(time.process_time() - begun_own)
    return {"clock": pairs / min(seconds), "processor": pairs / min(own)}


def main() -> None:
    """Print a line a kernel and way, and the same as JSON."""
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
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name, setting in SETTINGS.items():
        assert not failures(trees, setting)
        fresh(texts[:60], setting)
        groups(texts[:60], setting)
        few = texts[: arguments.plain_trees]
        found[name] = {
            "fresh": rates(lambda: fresh(texts, setting), len(texts) // 2, arguments.rounds),  # noqa: B023
            "groups": rates(lambda: groups(texts, setting), len(texts), arguments.rounds),  # noqa: B023
            "plain": rates(lambda: plain(few, setting), len(few) // 2, 2),  # noqa: B023
        }
        for way in ("fresh", "groups"):
            ours, peer = found[name][way], found[name]["plain"]
            line = f"{name:<6} {way:<7} {ours['clock']:>9,.0f} pairs/s, {ours['processor']:>9,.0f} by own time"
            line += f"   plain recursion {peer['processor']:>6,.0f}, ratio {ours['processor'] / peer['processor']:6.0f}"
            if name in ("sst", "bbh22"):
                line += f"   BBH22's script {SCRIPT}, ratio {ours['clock'] / SCRIPT:5.0f}"
            print(line, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
