"""Compare the speed and values of diversity measures with sacreBLEU, on the same groups and one processor.

    python benchmarks/diversity.py --groups 30000 --peer-groups 300

Captions: three descriptions of each image (Multi30k task 2), as many triples as BBH22 samples.  News: two translations
of each sentence.  Ours is timed from Arrow text to figures, in one batch; sacreBLEU from Python strings, pair by pair,
on an evenly spaced part of the groups.  Compiling kernels and importing sacreBLEU are not counted.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paraloom.evaluate.diversity.lexical import LexicalDiversity, group_overlaps, signatures

Groups = list[list[str]]


def captions() -> Groups:
    """Three descriptions of each image."""
    columns = [lines(f"multi30k/task2/train.{n}.en.gz") + lines(f"multi30k/task2/val.{n}.en.gz") for n in (1, 2, 3)]
    return [list(group) for group in zip(*columns, strict=True)]


def news() -> Groups:
    """Two references of each sentence."""
    return [line.split("\t")[3:5] for line in lines("wmt-news/en-two-references.tsv.gz")]


def lines(name: str) -> list[str]:
    """The lines of a file in the bitext folder."""
    path = Path(os.environ["PARALOOM_DATA"]) / "bitext" / name
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def sacrebleu_pair_by_pair(groups: Groups) -> list[tuple[float, float]]:
    """sacreBLEU, pair by pair"""
    from sacrebleu.metrics import BLEU, CHRF

    metrics = (BLEU(lowercase=True, effective_order=True), CHRF())
    values = []
    for group in groups:
        pairs = list(itertools.permutations(group, 2))
        bleu, chrf = (100 - np.mean([metric.sentence_score(a, [b]).score for a, b in pairs]) for metric in metrics)
        values.append((float(bleu), float(chrf)))
    return values


def overlap(options: argparse.Namespace) -> dict[str, Any]:
    """i-BLEU and i-chrF: one line per corpus, with the largest difference between both implementations."""
    figures: dict[str, Any] = {}
    group_overlaps(["a", "b"], [0, 2])
    sacrebleu_pair_by_pair([["a", "b"]])
    for name, read in (("captions", captions), ("news", news)):
        groups = read()[: options.groups]
        texts = pa.array(list(itertools.chain.from_iterable(groups)), pa.large_string())
        bounds = np.cumsum([0, *map(len, groups)])
        part = range(0, len(groups), max(1, len(groups) // options.peer_groups))
        (own, values), (other, expected) = in_turn(
            [
                lambda texts=texts, bounds=bounds: group_overlaps(texts, bounds),
                lambda groups=groups, part=part: sacrebleu_pair_by_pair([groups[i] for i in part]),
            ],
            options.times,
        )
        difference = np.abs(np.stack([values.ibleu, values.ichrf], 1)[part] - expected).max()
        rates = len(groups) / own, len(part) / other
        means = {key: str(figure) for key, figure in LexicalDiversity.of(values).figures().items()}
        figures[name] = {
            **{"groups": len(groups), "seconds": own, "ours": rates[0], "peer": rates[1]},
            **{"ratio": rates[0] / rates[1], "largest_difference": difference, "figures": means},
        }
        print(
            f"{name:<9} {len(groups):>6,} groups in {own:5.2f} s   ours {rates[0]:>9,.0f} groups/s   "
            f"{sacrebleu_pair_by_pair.__doc__} {rates[1]:>6,.0f}   ratio {rates[0] / rates[1]:6.1f}   "
            f"largest difference {difference:.1e}   {means}",
            flush=True,
        )
    return figures | {"signatures": signatures()}


def in_turn(calls: list[Callable[[], Any]], times: int) -> list[tuple[float, Any]]:
    """The shortest duration and the result of each call; calls alternate, so that all meet the same load."""
    seconds: list[list[float]] = [[] for _ in calls]
    results: list[Any] = [None for _ in calls]
    for _ in range(times):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            results[i] = call()
            seconds[i].append(time.perf_counter() - start)
    return [(min(durations), result) for durations, result in zip(seconds, results, strict=True)]


SECTIONS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {"overlap": overlap}


def main() -> None:
    """Print each section, then all figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--groups", type=int, default=30_000)
    parser.add_argument("--peer-groups", type=int, default=300)
    parser.add_argument("--times", type=int, default=5, help="calls of each; the fastest one counts")
    options = parser.parse_args()
    print(json.dumps({name: SECTIONS[name](options) for name in options.sections}))


if __name__ == "__main__":
    main()
