"""Quality and speed of minimum Bayes risk decoding, beside beams and a single sample; speed of its pairwise chrF.

    python benchmarks/mbr.py                                  # the bundled de-en translator
    python benchmarks/mbr.py FOLDER --pairs test.tsv --lines 300

Without --pairs it translates captions (Multi30k, test 2016) and sentences of Tatoeba that the bundled translators held
out, every fourth of them.  BLEU and chrF have 95 % intervals of 1,000 bootstrap samples.  Decoding runs on one core;
speed is measured in seconds of its processor, because other load disturbs that less than the clock.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paraloom.evaluate.translation import evaluate_translation, format_margin
from paraloom.mt import Translator
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.text.normalize import normalize
from paraloom.text.utility import expected_utility

DECODINGS = ("beam:1", "beam:5", "sampling", "mbr:chrf,samples=16", "mbr:chrf,samples=64")
HELD_OUT_SHARE = 0.007


def pairs_of_file(path: Path, lines: int) -> list[tuple[str, str]]:
    """The first pairs of a file of two columns."""
    rows = [tuple(line.split("\t")[:2]) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(source, target) for source, target in rows[:lines]]


def captions(lines: int) -> list[tuple[str, str]]:
    """German captions and their English originals."""
    folder = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task1"
    sides = [
        gzip.decompress((folder / f"test_2016_flickr.{language}.gz").read_bytes()).decode().splitlines()
        for language in ("de", "en")
    ]
    return list(zip(*sides, strict=True))[:lines]


def tatoeba(lines: int) -> list[tuple[str, str]]:
    """Pairs whose English side the bundled translators were not trained on."""
    path = Path(os.environ["PARALOOM_DATA"]) / "bitext/tatoeba/de-en.tsv.gz"
    rows = [line.split("\t")[:2] for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    targets = normalize([target for _, target in rows]).to_pylist()
    kept = [
        (source, target)
        for (source, target), text in zip(rows, targets, strict=True)
        if is_held_out(text, HELD_OUT_SHARE)
    ]
    return kept[::4][:lines]


def decoded(translator: Translator, pairs: list[tuple[str, str]], decodings: list[str], seed: int) -> Iterator[Any]:
    """Scores and speed of each decoding."""
    sources, references = [source for source, _ in pairs], [target for _, target in pairs]
    for decode in decodings:
        translator.translate(sources[:2], decode=decode)  # loads the model, compiles kernels
        start = time.process_time()
        translations = [variants[0].text for variants in translator.translate(sources, decode=decode, seed=seed)]
        rate = len(pairs) / (time.process_time() - start)
        yield {"decode": decode, "sentences_per_second": rate} | evaluate_translation(
            translations, references
        ).to_dict()


def chrf_seconds(translator: Translator, sources: list[str], samples: int) -> dict[str, float]:
    """Seconds per sentence for chrF of each sample against each: ours, and sacreBLEU's for the first five sentences."""
    from sacrebleu.metrics import CHRF

    groups = [
        [variant.text for variant in variants]
        for variants in translator.translate(sources, decode=f"sampling,nbest={samples}", seed=1)
    ]
    expected_utility(groups[:1], groups[:1])
    start = time.process_time()
    values = expected_utility(groups, groups)
    ours = (time.process_time() - start) / len(groups)
    metric, few = CHRF(), groups[:5]
    start = time.process_time()
    theirs = [[sum(metric.sentence_score(a, [b]).score for b in group) / len(group) for a in group] for group in few]
    peer = (time.process_time() - start) / len(few)
    gap = max(abs(a - b) for mine, their in zip(values, theirs, strict=False) for a, b in zip(mine, their, strict=True))
    return {"samples": samples, "ours": ours, "sacrebleu": peer, "ratio": peer / ours, "largest_difference": float(gap)}


def main() -> None:
    """Print a line per text and decoding, then the speed of pairwise chrF, and the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator", nargs="?", default="de-en", help="name or folder (default: %(default)s)")
    parser.add_argument("--pairs", type=Path, nargs="*", help="files of two columns, source and reference")
    parser.add_argument("--lines", type=int, default=300, help="pairs of each file (default: %(default)s)")
    parser.add_argument("--decode", nargs="+", default=DECODINGS, help="decodings to measure")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    translator = Translator.load(arguments.translator, check_costs=False)
    texts = (
        {path.name: pairs_of_file(path, arguments.lines) for path in arguments.pairs}
        if arguments.pairs
        else {"captions": captions(arguments.lines), "tatoeba": tatoeba(arguments.lines)}
    )
    result: dict[str, Any] = {"decodings": [], "chrf": []}
    for name, pairs in texts.items():
        for row in decoded(translator, pairs, arguments.decode, arguments.seed):
            result["decodings"].append({"text": name, **row})
            print(
                f"{name:<12} {row['decode']:<24} BLEU {row['bleu']:5.2f}{format_margin(row['bleu_interval'], 2)}   "
                f"chrF {row['chrf']:5.2f}{format_margin(row['chrf_interval'], 2)}   "
                f"{row['sentences_per_second']:7.1f} sentences/s",
                flush=True,
            )
    sources = [source for source, _ in next(iter(texts.values()))][:100]
    for samples in (16, 64):
        row = chrf_seconds(translator, sources, samples)
        result["chrf"].append(row)
        print(
            f"chrF of {samples} samples against each other: ours {1000 * row['ours']:.2f} ms/sentence, "
            f"sacreBLEU {1000 * row['sacrebleu']:.0f} ms, ratio {row['ratio']:.0f}, "
            f"largest difference {row['largest_difference']:.1e}",
            flush=True,
        )
    print(json.dumps({"translator": str(arguments.translator), "lines": arguments.lines, **result}))


if __name__ == "__main__":
    main()
