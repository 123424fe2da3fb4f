"""Speed of scoring a million pairs, compared with the libraries that define the scores, on the same pairs and cores.

    python benchmarks/scores.py --pairs 1000000 --peer-pairs 20000

The pairs are captions of the same Multi30k picture, two by two, repeated. Paraloom is timed from Arrow text to Arrow
columns, in two processes; each library from Python strings to a list of numbers, in two processes as well. Kernels are
compiled, and libraries imported, before the clock starts.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import resource
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraloom.pairs.scoring.table import score

BATCH = 5000
OURS = {
    "together": ["overlap", "bleu1", "repetition", "length", "ratio"],
    "overlap": ["overlap"],
    "bleu1": ["bleu1"],
    "repetition": ["src_repeats", "tgt_repeats"],
    "length": ["src_words", "tgt_words"],
    "ratio": ["word_ratio"],
    "chrf": ["chrf"],
    "edit_distance": ["edit_distance"],
}
RULES = ("meaning",)
"""Groups that no other library has: timed without a peer."""


def captions(count: int) -> list[tuple[str, str]]:
    """`count` pairs of captions of the same picture."""
    folder = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task2"
    columns = [
        gzip.decompress((folder / f"train.{number}.en.gz").read_bytes()).decode().splitlines()
        for number in (1, 2, 3, 4)
    ]
    pairs = [*zip(columns[0], columns[1], strict=True), *zip(columns[2], columns[3], strict=True)]
    return list(itertools.islice(itertools.cycle(pairs), count))


def sacrebleu_sentence_bleu(pairs: list[tuple[str, str]]) -> list[float]:
    """sacreBLEU's sentence BLEU, its own tokenizer."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(effective_order=True)
    return [metric.sentence_score(b, [a]).score for a, b in pairs]


def sacrebleu_chrf(pairs: list[tuple[str, str]]) -> list[float]:
    """sacreBLEU's sentence chrF."""
    from sacrebleu.metrics import CHRF

    metric = CHRF()
    return [metric.sentence_score(b, [a]).score for a, b in pairs]


def counter_overlap(pairs: list[tuple[str, str]]) -> list[float]:
    """Overlap of 1-, 2- and 3-grams with Counters."""
    overlaps = []
    for a, b in pairs:
        first, second = a.lower().split(), b.lower().split()
        for n in (1, 2, 3):
            x, y = (Counter(zip(*(side[i:] for i in range(n)), strict=False)) for side in (first, second))
            overlaps.append((x & y).total() / max(1, min(x.total(), y.total())))
    return overlaps


def opusfilter_scores(name: str) -> Callable[[list[tuple[str, str]]], list[Any]]:
    """The scores of one of OpusFilter's filters, by its class name."""
    from opusfilter import filters

    return lambda pairs: list(getattr(filters, name)().score(pairs))


def opusfilter_repetition(pairs: list[tuple[str, str]]) -> list[Any]:
    """OpusFilter's RepetitionFilter."""
    return opusfilter_scores("RepetitionFilter")(pairs)


def opusfilter_length(pairs: list[tuple[str, str]]) -> list[Any]:
    """OpusFilter's LengthFilter."""
    return opusfilter_scores("LengthFilter")(pairs)


def opusfilter_ratio(pairs: list[tuple[str, str]]) -> list[Any]:
    """OpusFilter's LengthRatioFilter."""
    return opusfilter_scores("LengthRatioFilter")(pairs)


def rapidfuzz_distance(pairs: list[tuple[str, str]]) -> list[float]:
    """rapidfuzz's Levenshtein distance, pair by pair."""
    from rapidfuzz.distance import Levenshtein

    return [Levenshtein.normalized_distance(a, b) for a, b in pairs]


PEERS: dict[str, Callable[[list[tuple[str, str]]], list[Any]]] = {
    "overlap": counter_overlap,
    "bleu1": sacrebleu_sentence_bleu,
    "repetition": opusfilter_repetition,
    "length": opusfilter_length,
    "ratio": opusfilter_ratio,
    "chrf": sacrebleu_chrf,
    "edit_distance": rapidfuzz_distance,
}
TOGETHER = ("overlap", "bleu1", "repetition", "length", "ratio")


def ours(names: list[str], pairs: int, part: int, parts: int) -> float:
    """Score this process's share of the pairs; returns the seconds, without those of reading the text."""
    rows = captions(pairs)[part::parts]
    batches = [
        pa.RecordBatch.from_pydict(
            {"src": [a for a, _ in rows[i : i + BATCH]], "tgt": [b for _, b in rows[i : i + BATCH]]}
        )
        for i in range(0, len(rows), BATCH)
    ]
    score(batches[0], names)
    start = time.perf_counter()
    for batch in batches:
        score(batch, names)
    return time.perf_counter() - start


def peer(name: str, pairs: int, part: int, parts: int) -> float:
    """The same with another library."""
    rows = captions(pairs)[part::parts]
    PEERS[name](rows[:10])
    start = time.perf_counter()
    PEERS[name](rows)
    return time.perf_counter() - start


def rate(pool: ProcessPoolExecutor, function: Callable[..., float], what: Any, pairs: int, parts: int) -> float:
    """Pairs per second, by the slowest process."""
    jobs = [pool.submit(function, what, pairs, part, parts) for part in range(parts)]
    return pairs / max(job.result() for job in jobs)


def main() -> None:
    """Print a line per score, then all together, then the speed for growing corpora, and the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--peer-pairs", type=int, default=20_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--growth", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    arguments = parser.parse_args()
    result: dict[str, Any] = {"pairs": arguments.pairs, "scores": {}, "growth": {}}
    with ProcessPoolExecutor(arguments.processes) as pool:
        for name, call in PEERS.items():
            own = rate(pool, ours, OURS[name], arguments.pairs, arguments.processes)
            other = rate(pool, peer, name, arguments.peer_pairs, arguments.processes)
            result["scores"][name] = {"ours": own, "peer": other}
            print(
                f"{name:<14} ours {own:>12,.0f} pairs/s   {call.__doc__} {other:>10,.0f}   ratio {own / other:6.1f}",
                flush=True,
            )
        for name in RULES:
            result["scores"][name] = {"ours": rate(pool, ours, [name], arguments.pairs, arguments.processes)}
            print(f"{name:<14} ours {result['scores'][name]['ours']:>12,.0f} pairs/s", flush=True)
        own = rate(pool, ours, OURS["together"], arguments.pairs, arguments.processes)
        other = 1 / sum(1 / result["scores"][name]["peer"] for name in TOGETHER)
        result["together"] = {"ours": own, "peers": other, "ratio": own / other}
        ratio = own / other
        print(f"together       ours {own:>12,.0f} pairs/s   the libraries in turn {other:>10,.0f}   ratio {ratio:6.1f}")
        for size in arguments.growth:
            result["growth"][size] = rate(pool, ours, OURS["together"], size, arguments.processes)
            print(f"{size:>12,} pairs {result['growth'][size]:>12,.0f} pairs/s")
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest process {memory:,.0f} MiB (including the text of its share)")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
