"""Utilities that choose among candidate translations: gain over the beam, share of the oracle's gain, seconds.

    PARALOOM_DATA=/path/to/corpora python benchmarks/utilities.py -o runs/utilities.json
    PARALOOM_DATA=/path/to/corpora python benchmarks/utilities.py --chosen-on -o runs/utilities-chosen-on.json

Captions (Multi30k, rows 501 to 700 of test 2016) and news (150 sentences of newstest2019), in both directions of the
bundled translators. Candidates: 16 samples and the best of a beam of 5, or the 16 hypotheses of a beam of 16. Each row
compares the choice with the best of a beam of 5: chrF and BLEU of the corpus, with 95 % intervals of 1,000 paired
bootstrap samples. The oracle takes the candidate with the highest chrF against the reference. Seconds are of processor
time for each sentence, the candidates included. `--chosen-on` takes the texts that chose the sums: rows 1 to 150 of
val, and 100 sentences of newstest2018.
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
from sacrebleu.metrics import BLEU, CHRF

from paraloom.core.protocols import Variant
from paraloom.mt import Translator
from paraloom.mt.choice import distinct_texts
from paraloom.mt.utility import candidate_scores, sum_of_scores
from paraloom.pairs.scoring.judge import bundled_judge

SUMS = (
    *("forward", "reverse", "chrf", "forward+reverse", "reverse+chrf", "forward+reverse+chrf"),
    *("judge", "reverse+chrf+judge", "forward+reverse+chrf+judge"),
)
SAMPLES, BEAM = "16 samples and the beam", "beam of 16"
RESAMPLES = 1000
Groups = list[list[Variant]]


def captions(part: str, first: int, last: int) -> list[tuple[str, str]]:
    """German captions and their English originals."""
    folder = Path(os.environ["PARALOOM_DATA"]) / "bitext/multi30k/task1"
    sides = [
        gzip.decompress((folder / f"{part}.{code}.gz").read_bytes()).decode().splitlines() for code in ("de", "en")
    ]
    return list(zip(*sides, strict=True))[first:last]


def news(name: str, count: int) -> list[tuple[str, str]]:
    """German and English sentences of a test set, evenly spaced."""
    folder = Path(os.environ["PARALOOM_DATA"]) / "bitext/wmt-news"
    sets = [line.split("\t") for line in (folder / "de-en.sets.tsv").read_text().splitlines()[1:]]
    first, last = next((int(row[1]) - 1, int(row[2])) for row in sets if row[0] == name)
    lines = gzip.decompress((folder / "de-en.tsv.gz").read_bytes()).decode().splitlines()[first:last]
    rows = [(line.split("\t")[0], line.split("\t")[1]) for line in lines]
    return rows[:: len(rows) // count][:count]


def merged(*parts: Groups) -> Groups:
    """The candidates of each sentence, each text once."""
    groups = [[variant for part in of_sentence for variant in part] for of_sentence in zip(*parts, strict=True)]
    return [[group[number] for number in distinct_texts(group)] for group in groups]


def judged(candidates: Groups, compared: Groups) -> list[np.ndarray]:
    """Mean probability, 0 to 100, that each candidate says what each text that it is compared with says."""
    pairs = [(b.text, a.text) for ours, theirs in zip(candidates, compared, strict=True) for a in ours for b in theirs]
    values = bundled_judge().predict([a for a, _ in pairs], [b for _, b in pairs])
    means, at = [], 0
    for ours, theirs in zip(candidates, compared, strict=True):
        count = len(ours) * len(theirs)
        means.append(100 * np.nan_to_num(values[at : at + count]).reshape(len(ours), len(theirs)).mean(axis=1))
        at += count
    return means


class Corpus:
    """Statistics of chrF and BLEU of each sentence, and their differences to those of a baseline."""

    def __init__(self, references: list[str], baseline: list[str]) -> None:
        self.metrics = {"chrf": CHRF(), "bleu": BLEU(force=True)}
        self.references = references
        rows = np.random.default_rng(1).integers(0, len(references), (RESAMPLES, len(references)))
        self.counts = np.stack([np.bincount(row, minlength=len(references)) for row in rows])
        self.base = self.statistics(baseline)

    def statistics(self, texts: list[str]) -> dict[str, np.ndarray]:
        """Statistics of each metric, one row for each sentence."""
        return {
            name: np.array(metric._extract_corpus_statistics(texts, [self.references]))
            for name, metric in self.metrics.items()
        }

    def score(self, name: str, sums: np.ndarray) -> float:
        """The score of summed statistics."""
        return float(self.metrics[name]._compute_score_from_stats(sums.tolist()).score)

    def gains(self, texts: list[str]) -> dict[str, list[float]]:
        """Difference of each metric to the baseline, with its interval."""
        gains = {}
        for name, own in self.statistics(texts).items():
            ours, theirs = self.counts @ own, self.counts @ self.base[name]
            drawn = [self.score(name, a) - self.score(name, b) for a, b in zip(ours, theirs, strict=True)]
            value = self.score(name, own.sum(axis=0)) - self.score(name, self.base[name].sum(axis=0))
            gains[name] = [value, *np.percentile(drawn, [2.5, 97.5]).tolist()]
        return gains


def rows_of(
    name: str, pairs: list[tuple[str, str]], source: str, target: str, *, judge: bool
) -> Iterator[dict[str, Any]]:
    """A row for each kind of candidates and each utility."""
    ordered = pairs if source == "de" else [pair[::-1] for pair in pairs]
    sources, references = (list(side) for side in zip(*ordered, strict=True))
    forward, reverse = (Translator.load(one, check_costs=False) for one in (f"{source}-{target}", f"{target}-{source}"))
    forward.translate(sources[:2])  # loads the models
    reverse.score(sources[:1], sources[:1])
    clock = time.process_time
    start = clock()
    best = forward.translate(sources, decode="beam:5")
    beam_seconds = clock() - start
    corpus = Corpus(references, [group[0].text for group in best])
    about = {"text": name, "direction": f"{source} → {target}", "sentences": len(pairs)}
    about |= {"beam": {metric: corpus.score(metric, own.sum(axis=0)) for metric, own in corpus.base.items()}}
    about["beam_seconds"] = beam_seconds / len(pairs)
    chrf = CHRF()
    for kind, decode in ((SAMPLES, "nucleus:0.9,within=50,nbest=16"), (BEAM, "beam:16,nbest=16")):
        start = clock()
        drawn = forward.translate(sources, decode=decode, seed=1)
        seconds = {"candidates": clock() - start + (beam_seconds if kind == SAMPLES else 0.0)}
        candidates = merged(drawn, best) if kind == SAMPLES else merged(drawn)
        scores: dict[str, list[np.ndarray]] = {}
        for term in ("forward", "reverse", "chrf"):
            start = clock()
            values = candidate_scores(term, candidates, drawn, sources, reverse)
            scores[term], seconds[term] = [one[term] for one in values], clock() - start
        if target == "en" and judge:
            start = clock()
            scores["judge"], seconds["judge"] = judged(candidates, drawn), clock() - start
        oracle = [
            max(group, key=lambda one: chrf.sentence_score(one.text, [reference]).score).text
            for group, reference in zip(candidates, references, strict=True)
        ]
        possible = corpus.gains(oracle)
        yield {**about, "candidates": kind, "utility": "oracle", **possible}
        for utility in SUMS:
            terms = utility.split("+")
            if not set(terms) <= set(scores):
                continue
            chosen = [
                group[int(np.argmax(sum_of_scores({term: scores[term][row] for term in terms})))].text
                for row, group in enumerate(candidates)
            ]
            gains = corpus.gains(chosen)
            spent = sum(seconds[part] for part in ("candidates", *terms)) / len(pairs)
            yield {**about, "candidates": kind, "utility": utility, **gains, "seconds": spent,
                   "share": gains["chrf"][0] / possible["chrf"][0]}  # fmt: skip


def main() -> None:
    """Measure, print a line for each row, and write all rows as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--texts", nargs="+", default=["captions", "news"], help="texts to measure on")
    parser.add_argument("--without-judge", action="store_true", help="leave out the sums with the judge, the slowest")
    parser.add_argument("--chosen-on", action="store_true", help="the texts that chose the sums")
    arguments = parser.parse_args()
    texts = (
        {"captions": captions("val", 0, 150), "news": news("deu-eng/newstest2018", 100)}
        if arguments.chosen_on
        else {"captions": captions("test_2016_flickr", 500, 700), "news": news("deu-eng/newstest2019", 150)}
    )
    rows = []
    for name, pairs in ((name, texts[name]) for name in arguments.texts):
        for source, target in (("en", "de"), ("de", "en")):
            for row in rows_of(name, pairs, source, target, judge=not arguments.without_judge):
                rows.append(row)
                gain, low, high = row["chrf"]
                print(f"{name:<9} {row['direction']} {row['candidates']:<24} {row['utility']:<28} chrF {gain:+.2f} "
                      f"[{low:+.2f}, {high:+.2f}]  BLEU {row['bleu'][0]:+.2f}  {row.get('seconds', 0):.3f} s  "
                      f"{row.get('share', 1):.0%}", flush=True)  # fmt: skip
                arguments.output.parent.mkdir(parents=True, exist_ok=True)
                arguments.output.write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
