"""What a weighted sum of scores gains as a utility: weights fitted on other rows, and on the measured rows themselves.

    PARALOOM_DATA=/path/to/corpora python benchmarks/fitted_utility.py runs/fitted-utility

Candidates are the distinct hypotheses of a beam of 16, texts and oracle those of utilities.py; weights are fitted on
300 captions (Multi30k val, rows 151 to 450) and 300 sentences of newstest2018. Weights that are fitted to the measured
rows, for each column its own, show how far these scores can go; a local search finds them, so the limit may be a little
higher. chrF minus that of a beam of 5, with the share of the oracle's gain, and the mean difference to `reverse+chrf`
over the columns, with 95 % intervals of 1,000 paired bootstrap samples. Candidates and probabilities are kept in the
folder, and read from there when it is run again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sacrebleu.metrics import BLEU, CHRF
from utilities import RESAMPLES, captions, merged, news

from paraloom import Encoder
from paraloom.mt import Translator
from paraloom.mt.utility import candidate_scores
from paraloom.text.utility import expected_utility

DEVELOPMENT: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "captions": lambda: captions("val", 150, 450),
    "news": lambda: news("deu-eng/newstest2018", 300),
}
TEST: dict[str, Callable[[], list[tuple[str, str]]]] = {
    "captions": lambda: captions("test_2016_flickr", 500, 700),
    "news": lambda: news("deu-eng/newstest2019", 150),
}
SCORES = ("reverse", "chrf", "forward", "probability", "cosine", "coverage", "length", "copied", "repeated")
STEPS, LEAST = 4000, 1e-12
Metric: TypeAlias = Callable[[np.ndarray], np.ndarray]


def scored(pairs: list[tuple[str, str]], source: str, target: str) -> list[dict[str, Any]]:
    """The hypotheses of a beam of 16 for each sentence, with their probabilities in both directions."""
    ordered = pairs if source == "de" else [pair[::-1] for pair in pairs]
    sources = [pair[0] for pair in ordered]
    forward, reverse = (Translator.load(one, check_costs=False) for one in (f"{source}-{target}", f"{target}-{source}"))
    best = forward.translate(sources, decode="beam:5")
    candidates = merged(forward.translate(sources, decode="beam:16,nbest=16"))
    scores = candidate_scores("forward+reverse", candidates, candidates, sources, reverse)
    return [
        {"source": pair[0], "reference": pair[1], "beam": beam[0].text, "texts": [one.text for one in group],
         "logprob": [one.logprob for one in group], **{name: one.tolist() for name, one in of_group.items()}}
        for pair, beam, group, of_group in zip(ordered, best, candidates, scores, strict=True)
    ]  # fmt: skip


def features(row: dict[str, Any], encoder: Encoder) -> np.ndarray:
    """Standard scores of the candidates of a sentence, one column for each of SCORES."""
    texts, source = row["texts"], row["source"]
    vectors = unit(encoder.encode([source, *texts]))
    words = [text.lower().split() for text in (source, *texts)]
    of_words = [unit(encoder.encode(one)) for one in words]
    columns = {
        "reverse": np.log(np.maximum(row["reverse"], LEAST)),
        "chrf": np.log(np.maximum(expected_utility([texts], [texts])[0], LEAST)),
        "forward": np.log(row["forward"]),
        "probability": np.array(row["logprob"]),
        "cosine": vectors[1:] @ vectors[0],
        # The mean, over the words of the source, of the cosine of the nearest word of the candidate.
        "coverage": np.array([(of_words[0] @ one.T).max(axis=1).mean() for one in of_words[1:]]),
        "length": np.log([len(text) for text in texts]),
        "copied": np.array([np.mean([word in words[0] for word in one]) for one in words[1:]]),
        "repeated": np.array([len(set(one)) / len(one) for one in words[1:]]),
    }
    assert tuple(columns) == SCORES
    table = np.stack([np.asarray(column, np.float64) for column in columns.values()], axis=1)
    spread = table.std(axis=0)
    return np.where(spread > LEAST, (table - table.mean(axis=0)) / np.maximum(spread, LEAST), 0.0)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), LEAST)


def chrf_of(sums: np.ndarray) -> np.ndarray:
    """The chrF of summed statistics: first, for each order, n-grams of the candidate, of the reference, and of both."""
    ours, theirs, both = np.moveaxis(sums[..., :18].reshape(*sums.shape[:-1], 6, 3), -1, 0)
    precision, recall = (both / ours).mean(axis=-1), (both / theirs).mean(axis=-1)
    return 100 * 5 * precision * recall / (4 * precision + recall)


def bleu_of(sums: np.ndarray) -> np.ndarray:
    """The BLEU of summed statistics: last, lengths of candidate and reference, matches and n-grams of each order."""
    ours, theirs, matches, total = sums[..., 18], sums[..., 19], sums[..., 20:24], sums[..., 24:]
    return 100 * np.exp(np.log(matches / total).mean(axis=-1) + np.minimum(0.0, 1 - theirs / ours))


class Column:
    """Candidates of the sentences of one kind in one direction: their scores and their statistics."""

    def __init__(self, rows: list[dict[str, Any]], encoder: Encoder) -> None:
        chrf, bleu = CHRF(), BLEU(force=True)
        shape = (len(rows), max(len(row["texts"]) for row in rows))
        self.scores, self.missing = np.zeros((*shape, len(SCORES))), np.ones(shape, np.bool_)
        self.sentence_chrf, self.statistics = np.zeros(shape), np.zeros((*shape, 28))
        self.beam = np.zeros((len(rows), 28))
        for number, row in enumerate(rows):
            texts, count = [*row["texts"], row["beam"]], len(row["texts"])
            references = [[row["reference"]] * len(texts)]
            own = np.hstack([metric._extract_corpus_statistics(texts, references) for metric in (chrf, bleu)])
            self.statistics[number, :count], self.beam[number] = own[:-1], own[-1]
            self.sentence_chrf[number, :count] = [
                chrf._compute_score_from_stats(one).score for one in own[:-1, :18].tolist()
            ]
            self.scores[number, :count], self.missing[number, :count] = features(row, encoder), False
        drawn = np.random.default_rng(1).integers(0, len(rows), (RESAMPLES, len(rows)))
        self.counts = np.stack([np.bincount(one, minlength=len(rows)) for one in (np.arange(len(rows)), *drawn)])

    def choice(self, values: np.ndarray) -> np.ndarray:
        """Statistics of the candidates with the highest values."""
        best = np.where(self.missing, -np.inf, values).argmax(axis=1)
        return self.statistics[np.arange(len(best)), best]

    def gain(self, chosen: np.ndarray, other: np.ndarray, metric: Metric = chrf_of) -> np.ndarray:
        """Difference to the beam of 5 or another choice: of all sentences, then of each bootstrap sample."""
        return metric(self.counts @ chosen) - metric(self.counts @ other)

    def reached(self, weights: np.ndarray) -> float:
        """The chrF of the choice by a weighted sum."""
        return float(chrf_of(self.choice(self.scores @ weights).sum(axis=0)))


def weights_of(names: str) -> np.ndarray:
    """Weights of 1 for the scores that are named."""
    return np.array([float(name in names.split("+")) for name in SCORES])


def fit_weights(columns: Sequence[Column], without: str = "") -> np.ndarray:
    """Weights with a high mean chrF over columns, by random steps from those of `reverse+chrf`."""
    generator = np.random.default_rng(1)
    weights = weights_of("reverse+chrf")
    best = sum(column.reached(weights) for column in columns)
    for _ in range(STEPS):
        step = generator.normal(size=len(SCORES)) * (generator.random(len(SCORES)) < 0.4) * (1 - weights_of(without))
        changed = weights + step * 0.3 * np.exp(generator.normal())
        value = sum(column.reached(changed) for column in columns)
        if value >= best:
            best, weights = value, changed / np.abs(changed).max()
    return weights


def interval(gains: np.ndarray) -> str:
    """A difference with its 95 % interval."""
    low, high = np.percentile(gains[1:], [2.5, 97.5])
    return f"{gains[0]:+.2f} [{low:+.2f}, {high:+.2f}]"


def report(name: str, columns: Sequence[Column], weights: Sequence[np.ndarray]) -> None:
    """Print what weights gain in each column, and the mean differences to `reverse+chrf`."""
    gains, differences = list[str](), list[list[np.ndarray]]()
    for column, own in zip(columns, weights, strict=True):
        chosen = column.choice(column.scores @ own)
        ours, possible = (column.gain(texts, column.beam) for texts in (chosen, column.choice(column.sentence_chrf)))
        gains.append(f"{interval(ours)} {ours[0] / possible[0]:.0%}")
        other = column.choice(column.scores @ weights_of("reverse+chrf"))
        differences.append([column.gain(chosen, other, metric) for metric in (chrf_of, bleu_of)])
    of_chrf, of_bleu = np.mean(differences, axis=0)
    print(
        f"{name:<31} {'  '.join(gains)}\n{'':<31} to reverse+chrf: chrF {interval(of_chrf)}, BLEU {interval(of_bleu)}"
    )


def main() -> None:
    """Generate candidates that are not in the folder, fit weights and print what they gain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="for candidates and their probabilities")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    encoder = Encoder.load("multilingual")
    parts: dict[str, list[Column]] = {}
    for part, texts in (("development", DEVELOPMENT), ("test", TEST)):
        for name, read in texts.items():
            for source, target in (("en", "de"), ("de", "en")):
                file = folder / f"{part}.{name}.{source}-{target}.json"
                if not file.exists():
                    file.write_text(json.dumps(scored(read(), source, target)), encoding="utf-8")
                parts.setdefault(part, []).append(Column(json.loads(file.read_text(encoding="utf-8")), encoder))
    by_development, without_length = (fit_weights(parts["development"], one) for one in ("", "length"))
    for part, columns in parts.items():
        print(f"{part}: captions en → de, de → en, news en → de, de → en")
        for name in ("reverse+chrf", "reverse+chrf+cosine"):
            report(name, columns, [weights_of(name)] * 4)
        report("fitted on development", columns, [by_development] * 4)
        report("the same, without length", columns, [without_length] * 4)
        report("fitted on these rows", columns, [fit_weights([column]) for column in columns])
    for weights in (by_development, without_length):
        print(dict(zip(SCORES, weights.round(2).tolist(), strict=True)))


if __name__ == "__main__":
    main()
