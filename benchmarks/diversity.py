"""Diversity of variants beside the peers that define it, one after another on the same groups and one processor.

    python benchmarks/diversity.py --groups 30000 --peer-groups 300

Captions: three of the descriptions of one picture (Multi30k task 2), as many triples as BBH22 samples.  News: two
translations of one sentence.  Ours counts from Arrow text to figures, in one batch; sacreBLEU from Python strings, a
pair at a time, on a part of the groups spread over all, its scorers made once.  Kernels are compiled, and peers
imported, before the clock starts.
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

from paraloom.diversity.lexical import LexicalDiversity, signatures
from paraloom.diversity.overlap_metrics import overlap_of_groups

Groups = list[list[str]]


def captions() -> Groups:
    """Three descriptions of each picture."""
    columns = [lines(f"multi30k/task2/train.{n}.en.gz") + lines(f"multi30k/task2/val.{n}.en.gz") for n in (1, 2, 3)]
    return [list(each) for each in zip(*columns, strict=True)]


def news() -> Groups:
    """Two references of each sentence."""
    return [line.split("\t")[3:5] for line in lines("wmt-news/en-two-references.tsv.gz")]


def lines(name: str) -> list[str]:
    """Of a file of the bitext folder."""
    path = Path(os.environ["PARALOOM_DATA"]) / "bitext" / name
    return gzip.decompress(path.read_bytes()).decode().splitlines()


def sacrebleu_pair_by_pair(groups: Groups) -> list[tuple[float, float]]:
    """sacreBLEU, a pair at a time"""
    from sacrebleu.metrics import BLEU, CHRF

    metrics = (BLEU(lowercase=True, effective_order=True), CHRF())
    found = []
    for group in groups:
        pairs = list(itertools.permutations(group, 2))
        bleu, chrf = (100 - np.mean([metric.sentence_score(a, [b]).score for a, b in pairs]) for metric in metrics)
        found.append((float(bleu), float(chrf)))
    return found


def overlap(asked: argparse.Namespace) -> dict[str, Any]:
    """i-BLEU and i-chrF: a line a corpus, and whether both say the same."""
    figures: dict[str, Any] = {}
    overlap_of_groups(["a", "b"], [0, 2])
    sacrebleu_pair_by_pair([["a", "b"]])
    for name, read in (("captions", captions), ("news", news)):
        groups = read()[: asked.groups]
        texts = pa.array(list(itertools.chain.from_iterable(groups)), pa.large_string())
        bounds = np.cumsum([0, *map(len, groups)])
        part = range(0, len(groups), max(1, len(groups) // asked.peer_groups))
        (own, found), (other, expected) = in_turn(
            [
                lambda texts=texts, bounds=bounds: overlap_of_groups(texts, bounds),
                lambda groups=groups, part=part: sacrebleu_pair_by_pair([groups[i] for i in part]),
            ],
            asked.times,
        )
        apart = np.abs(np.stack([found.ibleu, found.ichrf], 1)[part] - expected).max()
        rates = len(groups) / own, len(part) / other
        means = {key: str(figure) for key, figure in LexicalDiversity.of(found).figures().items()}
        figures[name] = {
            **{"groups": len(groups), "seconds": own, "ours": rates[0], "peer": rates[1]},
            **{"ratio": rates[0] / rates[1], "largest_difference": apart, "figures": means},
        }
        print(
            f"{name:<9} {len(groups):>6,} groups in {own:5.2f} s   ours {rates[0]:>9,.0f} groups/s   "
            f"{sacrebleu_pair_by_pair.__doc__} {rates[1]:>6,.0f}   ratio {rates[0] / rates[1]:6.1f}   "
            f"apart {apart:.1e} at most   {means}",
            flush=True,
        )
    return figures | {"signatures": signatures()}


def in_turn(calls: list[Callable[[], Any]], times: int) -> list[tuple[float, Any]]:
    """The seconds of each call's fastest time, and what it gives; one after another, so that all meet the same load."""
    seconds: list[list[float]] = [[] for _ in calls]
    found: list[Any] = [None for _ in calls]
    for _ in range(times):
        for i, call in enumerate(calls):
            begun = time.perf_counter()
            found[i] = call()
            seconds[i].append(time.perf_counter() - begun)
    return [(min(each), result) for each, result in zip(seconds, found, strict=True)]


SECTIONS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {"overlap": overlap}


def main() -> None:
    """Print each section's lines, and all as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", default=list(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--groups", type=int, default=30_000)
    parser.add_argument("--peer-groups", type=int, default=300)
    parser.add_argument("--times", type=int, default=5, help="calls of each, the fastest of which counts")
    asked = parser.parse_args()
    print(json.dumps({name: SECTIONS[name](asked) for name in asked.sections}))


if __name__ == "__main__":
    main()
