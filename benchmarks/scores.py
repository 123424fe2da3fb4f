"""Speed of the scores beside the libraries that define them, on the same pairs, in turn, by processor time.

    PARALOOM_DATA=… python benchmarks/scores.py --write

The pairs are captions of the same Multi30k picture, two by two, each once. Paraloom is timed from Arrow text to Arrow
columns, each library from Python strings to a list of numbers, in the same process, one after the other in each round.
Kernels are compiled, and libraries imported, before.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import os
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from results_pages import FOLDER, put_result

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
    return pairs[:count]


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
    """rapidfuzz, all pairs in one call."""
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    firsts, seconds = zip(*pairs, strict=True)
    distances: list[float] = cpdist(firsts, seconds, scorer=Levenshtein.normalized_distance).tolist()
    return distances


PEERS: dict[str, Callable[[list[tuple[str, str]]], list[Any]]] = {
    "overlap": counter_overlap,
    "bleu1": sacrebleu_sentence_bleu,
    "repetition": opusfilter_repetition,
    "length": opusfilter_length,
    "ratio": opusfilter_ratio,
    "chrf": sacrebleu_chrf,
    "edit_distance": rapidfuzz_distance,
}
NAMES = {
    "overlap": ("n-gram overlap, 1 to 3", "Counters in plain Python"),
    "bleu1": ("BLEU+1", "sacreBLEU's sentence BLEU"),
    "repetition": ("repetition", "OpusFilter"),
    "length": ("length", "OpusFilter"),
    "ratio": ("length ratio", "OpusFilter"),
    "chrf": ("chrF", "sacreBLEU's sentence chrF"),
    "edit_distance": ("edit distance", "rapidfuzz, all pairs in one call"),
}
TOGETHER = ("overlap", "bleu1", "repetition", "length", "ratio")


def ours(names: list[str], pairs: list[tuple[str, str]]) -> Callable[[], None]:
    """Score the pairs, in batches, from Arrow text."""
    batches = [
        pa.RecordBatch.from_pydict({"src": [a for a, _ in part], "tgt": [b for _, b in part]})
        for part in (pairs[start : start + BATCH] for start in range(0, len(pairs), BATCH))
    ]

    def work() -> None:
        for batch in batches:
            score(batch, names)

    score(batches[0], names)
    return work


def theirs(name: str, pairs: list[tuple[str, str]]) -> Callable[[], None]:
    """Score the pairs by a library."""
    PEERS[name](pairs[:10])
    return lambda: PEERS[name](pairs) and None


def microseconds(work: Callable[[], None], pairs: int) -> float:
    """Processor time for a pair, that of all threads."""
    gc.collect()  # not within what is timed
    start = time.process_time()
    work()
    return (time.process_time() - start) / pairs * 1e6


def shown(values: list[float]) -> str:
    """Median and range."""
    low, middle, high = min(values), statistics.median(values), max(values)
    digits = 2 if middle < 10 else 1 if middle < 100 else 0
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def main() -> None:
    """Print, and write, a line per score, then all together."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=58_000)
    parser.add_argument("--peer-pairs", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    pairs = captions(arguments.pairs)
    few = pairs[: arguments.peer_pairs]
    rows, times = [], {}
    for name, (what, library) in NAMES.items():
        own, other = ours(OURS[name], pairs), theirs(name, few)
        rounds = [
            (microseconds(own, len(pairs)), microseconds(other, len(few))) for _ in range(arguments.rounds)
        ]  # in turn
        times[name] = rounds
        rows.append(_row(what, library, rounds))
    together = ours(OURS["together"], pairs)
    rounds = [
        (microseconds(together, len(pairs)), sum(times[name][number][1] for name in TOGETHER))
        for number in range(arguments.rounds)
    ]
    rows.append(_row("all but the last two, together", "these one after another", rounds))
    rules = ours(list(RULES), pairs)
    rows.append(
        [
            "the rules of `meaning`",
            f"{statistics.median(microseconds(rules, len(pairs)) for _ in rounds):.3g}",
            "",
            "",
            "",
        ]
    )
    for row in rows:
        print(*row, sep="   ")
    if arguments.write:
        put_result(FOLDER / "scores.json", {**DESCRIPTION, "rows": rows})


def _row(what: str, library: str, rounds: list[tuple[float, float]]) -> list[str]:
    own, other = ([both[side] for both in rounds] for side in (0, 1))
    medians = [f"{statistics.median(values):.3g}" for values in (own, other)]
    return [what, medians[0], library, medians[1], shown([there / here for here, there in rounds])]


DESCRIPTION: dict[str, Any] = {
    "heading": "Speed",
    "command": ["python benchmarks/scores.py --write"],
    "machine": "cores",
    "columns": ["score", "µs", "peer", "µs", "peer / Paraloom"],
    "align": "lrlrr",
}


if __name__ == "__main__":
    main()
