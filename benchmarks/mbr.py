"""Quality and speed of minimum Bayes risk decoding, beside beams and a single sample; speed of its pairwise chrF.

    python benchmarks/mbr.py                                  # the bundled de-en translator
    python benchmarks/mbr.py FOLDER --pairs test.tsv --lines 300
    python benchmarks/mbr.py --quasi-sources --lines 150

Without --pairs it translates captions (Multi30k, test 2016) and sentences of Tatoeba that the bundled translators held
out, every fourth of them.  BLEU and chrF have 95 % intervals of 1,000 bootstrap samples.  Decoding runs on one core;
speed is measured in seconds of its processor, because other load disturbs that less than the clock.

`--quasi-sources`: English into German, paraphrases of the source beside it (Lyu et al. 2025), up to four that a
preset keeps, or that the network writes. Candidates are 16 samples and the best of a beam of 5. *reverse*: the mean
probability of source and paraphrases given the candidate; *chrf*: against 16 samples and 16 more, of the paraphrases,
or of the source again where it has none. Differences of chrF of the corpus have paired intervals.
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

import numpy as np
from judged_paraphrases import PRESETS
from utilities import Corpus, Groups, merged

from paraloom.api.paraphrase_sources import open_selector
from paraloom.api.paraphrasers import Paraphraser
from paraloom.evaluate.translation import evaluate_translation, format_margin
from paraloom.mt import Translator
from paraloom.mt.utility import candidate_scores
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.paraphrasing.candidates import SelectingParaphraser, candidates_of
from paraloom.paraphrasing.selection_config import NO_SELECTION, CandidateSelection
from paraloom.text.normalize import normalize
from paraloom.text.utility import expected_utility

DECODINGS = ("beam:1", "beam:5", "sampling", "mbr:chrf,samples=16", "mbr:chrf,samples=64")
HELD_OUT_SHARE = 0.007
QUASI, SAMPLES = 4, "nucleus:0.9,within=50,nbest=16"
"""Quasi-sources of a source at most, and how candidates are drawn."""


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


def quasi_sources(sources: list[str], preset: str) -> list[list[str]]:
    """Paraphrases of each source that a preset keeps."""
    selector = None if preset == NO_SELECTION else open_selector(preset, judge=None, language="en")
    trained = candidates_of(Paraphraser.load("english"), selects=selector is not None)
    paraphraser = SelectingParaphraser(trained, selector, n=QUASI, candidates=CandidateSelection.candidates)
    return [[one.text for one in group] for group in paraphraser.answer(sources)[1].kept]


def quasi_rows(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str, list[float]]]:
    """Of each utility and kind of quasi-sources: how many sources have one, and the gain of chrF over none."""
    sources, references = [english for _, english in pairs], [german for german, _ in pairs]
    forward, reverse = (Translator.load(name, check_costs=False) for name in ("en-de", "de-en"))
    beam = forward.translate(sources, decode="beam:5")
    drawn, again = (forward.translate(sources, decode=SAMPLES, seed=seed) for seed in (1, 2))
    candidates = merged(drawn, beam)

    def chosen(values: list[np.ndarray]) -> list[str]:
        return [group[int(np.argmax(row))].text for group, row in zip(candidates, values, strict=True)]

    def reverse_of(of_sources: list[str]) -> list[np.ndarray]:
        return [one["reverse"] for one in candidate_scores("reverse", candidates, drawn, of_sources, reverse)]

    def chrf_of(further: Groups) -> list[np.ndarray]:
        compared = [[*group, *more] for group, more in zip(drawn, further, strict=True)]
        return [one["chrf"] for one in candidate_scores("chrf", candidates, compared)]

    own = reverse_of(sources)
    alone = {"reverse": chosen(own), "chrf": chosen(chrf_of([[] for _ in sources]))}
    for utility, texts in alone.items():
        yield utility, "none, over the beam", Corpus(references, [one[0].text for one in beam]).gains(texts)["chrf"]
    corpora = {utility: Corpus(references, texts) for utility, texts in alone.items()}
    yield "chrf", "16 more samples of the source", corpora["chrf"].gains(chosen(chrf_of(again)))["chrf"]
    for preset in (*PRESETS, NO_SELECTION):
        quasi = quasi_sources(sources, preset)
        known = sum(map(bool, quasi))
        ranks = [reverse_of([group[rank] if rank < len(group) else "" for group in quasi]) for rank in range(QUASI)]
        means = [
            np.mean([first, *(of_rank[row] for of_rank in ranks[: len(quasi[row])])], axis=0)
            for row, first in enumerate(own)
        ]
        name = f"{preset}: {known} of {len(sources)} have {sum(map(len, quasi)) / max(1, known):.1f}"
        yield "reverse", name, corpora["reverse"].gains(chosen(means))["chrf"]
        flat = [text for group in quasi for text in group]
        samples = iter(forward.translate(flat, decode=SAMPLES, seed=2))
        groups = [[next(samples) for _ in group] for group in quasi]
        further = [
            [one for sampled in zip(*group, strict=False) for one in sampled][: len(more)] if group else more
            for group, more in zip(groups, again, strict=True)
        ]
        yield "chrf", name, corpora["chrf"].gains(chosen(chrf_of(further)))["chrf"]


def main() -> None:
    """Print a line per text and decoding, then the speed of pairwise chrF, and the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator", nargs="?", default="de-en", help="name or folder (default: %(default)s)")
    parser.add_argument("--pairs", type=Path, nargs="*", help="files of two columns, source and reference")
    parser.add_argument("--lines", type=int, default=300, help="pairs of each file (default: %(default)s)")
    parser.add_argument("--decode", nargs="+", default=DECODINGS, help="decodings to measure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quasi-sources", action="store_true", help="paraphrases of the source beside it")
    arguments = parser.parse_args()
    if arguments.quasi_sources:
        for text, pairs in (("captions", captions(arguments.lines)), ("tatoeba", tatoeba(arguments.lines))):
            for utility, name, (gain, low, high) in quasi_rows(pairs):
                print(f"| {text} | {utility} | {name} | {gain:+.2f} [{low:+.2f}, {high:+.2f}] |", flush=True)
        return
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
