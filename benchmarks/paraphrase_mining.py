"""Mining of paraphrases by cosine and by margin: pairs that are known to be right, hidden among other sentences.

    PARALOOM_DATA=… python benchmarks/paraphrase_mining.py english english-small

Two sentences of each of 2,500 groups of paraphrases, and one of each other group (30,000 sentences at most): duplicate
questions of Quora, captions of a picture of COCO, English sentences of Tatoeba that share translations; of MRPC all
sentences, whose other pairs are wrong but alike. *Whole groups*: all sentences of the groups of three and more of Quora
and Tatoeba, 30,000 sentences at most, where a sentence has several paraphrases. Candidates are the five nearest of each
sentence. Beside the encoders TF-IDF of words. By margin, as `search` has it: the cosine over the mean of both
sentences' means with their four nearest. Best F1, precision where half of the pairs are found (0 where they are not),
and that of the pairs of a cosine of at least .8; intervals and differences by a paired bootstrap over the groups. Pairs
without a label count as wrong.

`--copies` repeats one line in ten one to five times, as crawled text does, and measures the files that `mine` writes:
best F1 of Quora's and Tatoeba's pairs in their order, of each line once, of lines with their copies, and of these
where copies count as lines of their own (as they did up to commit 6684b672). A pair that is repeated is right once.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.feature_extraction.text import TfidfVectorizer

from paraloom.api.search import mine_lines
from paraloom.embed.encoder import open_encoder
from paraloom.embed.search import NEIGHBORS, mine_pairs, search
from paraloom.io import read_lines

DATA = Path(os.environ.get("PARALOOM_DATA", "")) / "paraphrase"
SENTENCES, GROUPS, CANDIDATES, RESAMPLES, BLOCK, DEFAULT = 30_000, 2500, 5, 1000, 500, 0.8
FIGURES = ("best F1", "precision at half", "best F1 from .8")

Texts = tuple[list[str], set[tuple[int, int]]]
Nearest = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def groups(name: str) -> list[list[str]]:
    """Groups of sentences that paraphrase each other, in the order of the file."""
    rows = [line.split("\t") for line in read_lines(DATA / name)]
    if "captions" in name:
        of_image = defaultdict(list)
        for image, caption in rows:
            of_image[image].append(caption)
        return [list(dict.fromkeys(of)) for of in of_image.values()]
    group: dict[str, list[str]] = {}
    for first, second in (row[:2] for row in rows):
        a, b = group.setdefault(first, [first]), group.setdefault(second, [second])
        if a is not b:
            a.extend(b)
            group.update((text, a) for text in b)
    return list({id(of): of for of in group.values()}.values())


def whole_groups(of_set: list[list[str]], draw: random.Random) -> Texts:
    """Groups of three and more, with all of their sentences."""
    draw.shuffle(of_set)
    texts: list[str] = []
    pairs: set[tuple[int, int]] = set()
    for group in of_set:
        if len(texts) + len(group) <= SENTENCES:
            pairs.update(itertools.combinations(range(len(texts), len(texts) + len(group)), 2))
            texts += group
    return texts, pairs


def hidden(name: str, *, whole: bool, seed: int = 1) -> Texts:
    """Sentences, and the rows of the pairs that are right."""
    if name.startswith("mrpc"):
        rows = [line.split("\t") for part in ("train", "test") for line in read_lines(DATA / name.format(part))]
        number: dict[str, int] = {}
        pairs = [(row[0], *(number.setdefault(text, len(number)) for text in row[3:5])) for row in rows]
        return list(number), {(min(a, b), max(a, b)) for label, a, b in pairs if label == "1" and a != b}
    draw = random.Random(seed)
    if whole:
        return whole_groups([of for of in groups(name) if len(of) > 2], draw)
    several = [of for of in groups(name) if len(of) > 1]
    draw.shuffle(several)
    texts = [text for of in several[:GROUPS] for text in draw.sample(of, 2)]
    texts += [draw.choice(of) for of in several[GROUPS : GROUPS + SENTENCES - len(texts)]]
    return texts, {(k, k + 1) for k in range(0, 2 * GROUPS, 2)}


SETS = {
    "Quora": "quora-50k/train.tsv.gz",
    "COCO": "coco-captions-val/captions.tsv.gz",
    "Tatoeba": "tatoeba-pivot/pairs.tsv.gz",
    "MRPC": "mrpc/msr_paraphrase_{}.tsv",
}
WHOLE = ("Quora", "Tatoeba")


def nearest(texts: list[str], encoder: str) -> Nearest:
    """The nearest other sentences of each, one more than the margin's neighbors, and their cosines."""
    k = max(CANDIDATES, NEIGHBORS) + 1
    if encoder == "TF-IDF":
        vectors = TfidfVectorizer(token_pattern=r"\w+", sublinear_tf=True).fit_transform(texts)
        rows, cosines = np.empty((len(texts), k), np.int64), np.empty((len(texts), k))
        for start in range(0, len(texts), BLOCK):
            block = (vectors[start : start + BLOCK] @ vectors.T).toarray()
            best = np.argsort(-block, axis=1, kind="stable")[:, :k]
            rows[start : start + BLOCK], cosines[start : start + BLOCK] = best, np.take_along_axis(block, best, 1)
    else:
        vectors = open_encoder(encoder).encode(texts)
        cosines, rows = search(vectors, vectors, k, neighbors=0)
    others = np.where(rows == np.arange(len(texts))[:, None], np.inf, -cosines).argsort(axis=1, kind="stable")
    return np.take_along_axis(rows, others, 1)[:, :-1], np.take_along_axis(cosines, others, 1)[:, :-1].astype(float)


def scored(neighbors: Nearest) -> tuple[npt.NDArray[np.int64], dict[str, npt.NDArray[np.float64]]]:
    """Candidates, and their scores by cosine and by margin."""
    rows, cosines = neighbors
    means = cosines[:, :NEIGHBORS].mean(axis=1)
    first = np.repeat(np.arange(len(rows)), CANDIDATES)
    second = rows[:, :CANDIDATES].ravel()
    pairs, places = np.unique(np.sort(np.stack([first, second], 1)), axis=0, return_index=True)
    cosine = cosines[:, :CANDIDATES].ravel()[places]
    mean = means[pairs].mean(axis=1)
    return pairs, {"cosine": cosine, "margin": np.where(mean > 0, cosine / np.maximum(mean, 1e-9), 0)}


def figures(order: npt.NDArray[np.int64], right: Any, weights: Any, total: float) -> list[float]:
    """Best F1 and precision at half of the recall of candidates in an order, with the weight of each."""
    hits, all_ = np.cumsum((right * weights)[order]), np.cumsum(weights[order])
    if not len(order):
        return [0.0, 0.0]
    half = np.flatnonzero(hits >= total / 2)
    return [100 * (2 * hits / (all_ + total)).max(), 100 * hits[half[0]] / all_[half[0]] if len(half) else 0.0]


def measure(name: str, encoder: str, *, whole: bool) -> dict[str, Any]:
    """Figures of both orders, and their difference, with intervals."""
    texts, true = hidden(SETS[name], whole=whole)
    pairs, scores = scored(nearest(texts, encoder))
    right = np.array([tuple(pair) in true for pair in pairs.tolist()])
    gold = np.array(sorted(true))
    group = np.arange(len(texts))
    np.minimum.at(group, gold[:, 1], gold[:, 0])  # a group's first sentence, but of some in MRPC
    near = scores["cosine"] >= DEFAULT
    orders = {by: np.argsort(-score, kind="stable") for by, score in scores.items()}
    drawn = np.random.default_rng(1)
    samples: dict[str, list[list[float]]] = {by: [] for by in orders}
    for sample in range(RESAMPLES + 1):
        counts = np.ones(len(texts)) if not sample else drawn.poisson(1, len(texts))
        weights, total = counts[group[pairs[:, 0]]], counts[group[gold[:, 0]]].sum()
        for by, order in orders.items():
            default = figures(order[near[order]], right, weights, total)[:1]
            samples[by].append([*figures(order, right, weights, total), *default])
    result: dict[str, Any] = {"sentences": len(texts), "pairs": len(true), "candidates": float(right.sum() / len(true))}
    values = {by: np.array(of) for by, of in samples.items()}
    values["difference"] = values["margin"] - values["cosine"]
    for by, of in values.items():
        for k, figure in enumerate(FIGURES):
            result[f"{by}, {figure}"] = [of[0, k], *np.percentile(of[1:, k], [2.5, 97.5])]
    return result


def with_copies(texts: list[str], draw: random.Random) -> list[str]:
    """One line in ten again, one to five times, at random places."""
    copies = [text for text in texts if draw.random() < 0.1 for _ in range(draw.randint(1, 5))]
    lines = [*texts, *copies]
    draw.shuffle(lines)
    return lines


def measure_copies(name: str, encoder: str) -> None:
    """Print what `mine` finds with and without copies."""
    texts, true = hidden(SETS[name], whole=False)
    right = {frozenset((texts[a], texts[b])) for a, b in true}
    lines = with_copies(texts, random.Random(1))
    model = open_encoder(encoder)

    def report(title: str, pairs: Iterable[tuple[str, str]]) -> None:
        unseen = set(right)
        hits = []
        for pair in map(frozenset, pairs):
            hits.append(pair in unseen)
            unseen.discard(pair)
        best = (200 * np.cumsum(hits) / (np.arange(1, len(hits) + 1) + len(right))).max()
        print(f"| {name} | {title} | {len(hits):,} | {sum(hits):,} | {best:.1f} |", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for title, of in (("each line once", texts), ("copies", lines)):
            text, mined = Path(folder) / "text.txt", Path(folder) / "mined.tsv"
            text.write_text("".join(f"{line}\n" for line in of), encoding="utf-8")
            mine_lines(model, text, str(mined))
            report(title, (tuple(line.split("\t")[:2]) for line in itertools.islice(read_lines(mined), 1, None)))
        pairs = mine_pairs(model.encode(lines), Path(folder), below=0.99)
        sides = zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
        report("copies as lines", ((lines[a], lines[b]) for a, b in sides if lines[a] != lines[b]))


def main() -> None:
    """Print a row for each set and encoder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoders", nargs="+")
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--copies", action="store_true", help="measure texts with repeated lines")
    options = parser.parse_args()
    if options.copies:
        for name, encoder in itertools.product([name for name in WHOLE if name in options.sets], options.encoders):
            measure_copies(name, encoder)
        return
    parts = [(name, whole) for whole in (False, True) for name in options.sets if not whole or name in WHOLE]
    for name, whole in parts:
        for encoder in ["TF-IDF", *options.encoders]:
            result = measure(name, encoder, whole=whole)
            cells = [
                " | ".join("{:.1f} [{:.1f}, {:.1f}]".format(*result[f"{by}, {figure}"]) for figure in FIGURES)
                for by in ("cosine", "margin", "difference")
            ]
            title = f"{name}, whole groups" if whole else name
            print("|", title, "|", encoder, "|", " | ".join(cells), "|", flush=True)
            print("   ", json.dumps({key: result[key] for key in ("sentences", "pairs", "candidates")}), flush=True)


if __name__ == "__main__":
    main()
