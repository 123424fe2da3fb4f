"""How well is noisy text written in its standard form? Beside doing nothing and simple rules; and what tweets become.

    python benchmarks/canonicalization.py --model paraphraser-en -o canonicalization.json
    python benchmarks/canonicalization.py --rows 200 --tweets 0

First, clean sentences, which the model must not have been trained on (`--clean`, by default of MASC and ABC news:
those of 4 to 40 words that begin with a capital, end with punctuation and are not headlines), with noise by a seed
(`paraloom.paraphrasing.noise`). Rows: *nothing*; *rules*: the first letter becomes a capital, a full stop is added, and
abbreviations and contractions are written in full by the lists that the noise is made with; *rules and words*:
`paraloom canonicalize`; if a model is given, *model alone* (`--no-rules`) and *rules, words, model* (`--model`).
Columns, with 95 % bootstrap intervals: word error rate and chrF to the clean sentence, the share that is restored
exactly, and the share of clean sentences that the system leaves as they are. The model was trained on noise of the same
kind, and the rules know its lists: both are at an advantage that real text does not give.

Then, tweets of $PARALOOM_DATA/sentences-en: how many each system changes, and the cosine of what it changed to the
tweet by an encoder (`--judge`) that does not choose; outputs of the model, drawn by seed and not picked.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.api import Paraphraser, open_canonicalizer
from paraloom.core.seeds import generator
from paraloom.embed.encoder import open_encoder
from paraloom.evaluate.bootstrap import mean_scores, sample_counts, with_interval
from paraloom.evaluate.restoration import measure_restoration, restoration_table
from paraloom.io import read_lines
from paraloom.io.atomic import atomic_write
from paraloom.paraphrasing.canonicalization import Canonicalizer, CanonicalText
from paraloom.paraphrasing.noise import NoiseConfig, add_noise, expand_abbreviations, is_edited
from paraloom.paraphrasing.selection import text_cosines

CLEAN = ("mixed.masc", "news.nltk-abc")
TWEETS = ("tweets.tweeteval", "tweets.crisislex")
BATCH = 128
ALONE = "model alone"

System = Callable[[Sequence[str]], list[str]]


def rules(text: str) -> str:
    """A text with a capital first, abbreviations in full, and a full stop at its end."""
    text = expand_abbreviations(text.strip())
    text = text[:1].upper() + text[1:]
    return text if not text or text[-1] in ".!?…\"”'’)" else f"{text}."


def texts_of(canonicalizer: Canonicalizer) -> System:
    """The forms alone."""
    return lambda texts: [one.text for one in canonicalizer.canonicalize(texts)]


def draw(texts: Sequence[str], count: int, seed: int) -> list[str]:
    """So many texts, in a random order; all for 0."""
    order = generator(seed, len(texts)).permutation(len(texts))
    return [texts[row] for row in order[: count or None]]


def read(names: Sequence[str]) -> list[str]:
    """The distinct lines of corpora by name, or of files."""
    lines: dict[str, None] = {}
    for name in names:
        path = Path(name)
        if not path.is_file():
            path = Path(os.environ["PARALOOM_DATA"]) / "sentences-en" / f"{name}.txt.xz"
        lines |= dict.fromkeys(line.strip() for line in read_lines(path) if line.strip())
    return list(lines)


def in_batches(function: Callable[[Sequence[str]], list[Any]], texts: Sequence[str]) -> list[Any]:
    """What a function returns for texts, asked batch by batch."""
    return [one for start in range(0, len(texts), BATCH) for one in function(texts[start : start + BATCH])]


def report_tweets(
    tweets: Sequence[str], systems: dict[str, System], forms: Sequence[CanonicalText], judge: str, samples: int
) -> dict[str, Any]:
    """Print what became of tweets."""
    counts, encoder, figures = sample_counts(len(tweets)), open_encoder(judge), dict[str, Any]()
    print("\n| system | changed | cosine of what was changed |\n| --- | --- | --- |")
    for name, system in systems.items():
        outputs = in_batches(system, tweets)
        changed = [row for row, (one, other) in enumerate(zip(outputs, tweets, strict=True)) if one != other]
        share = with_interval(mean_scores([float(a != b) for a, b in zip(outputs, tweets, strict=True)], counts))
        cosines = text_cosines(encoder, [tweets[row] for row in changed], [outputs[row] for row in changed])
        known = cosines[~np.isnan(cosines)]
        figures[name] = {"changed": share.to_dict()}
        cell = ""
        if len(known):
            kept = with_interval(mean_scores(known.tolist(), sample_counts(len(known))))
            figures[name]["meaning"] = kept.to_dict()
            cell = kept.format()
        print(f"| {name} | {share.format()} | {cell} |", flush=True)
    if forms:
        reasons = Counter(f"{one.status}{f': {one.reason}' if one.reason else ''}" for one in forms)
        figures["statuses"] = dict(reasons)
        print("\n" + "; ".join(f"{count:,} {reason}" for reason, count in reasons.most_common()) + "\n")
        for one in forms[:samples]:
            print(f"- {one.source}\n  {one.text if one.text != one.source else f'= ({one.reason or one.status})'}")
    return figures


def main() -> None:
    """Print the tables, and write the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a paraphraser that was trained with noisy examples")
    parser.add_argument("--clean", nargs="*", default=list(CLEAN), help="corpora of sentences-en, or files")
    parser.add_argument("--noisy", nargs="*", default=list(TWEETS), help="the same, of real noisy text")
    parser.add_argument("--rows", type=int, default=500, help="clean sentences; 0: all (default: %(default)s)")
    parser.add_argument("--tweets", type=int, default=500, help="0: none (default: %(default)s)")
    parser.add_argument("--samples", type=int, default=30, help="outputs to print (default: %(default)s)")
    parser.add_argument("--encoder", default="english", help="of the choice (default: %(default)s)")
    parser.add_argument("--meaning", type=float, help="minimum cosine of the choice")
    parser.add_argument("--language-model", help="of the choice: a folder of train language-model, or an ARPA file")
    parser.add_argument("--judge", default="english-small", help="measures meaning of tweets (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, help="write the figures as JSON")
    arguments = parser.parse_args()

    systems: dict[str, System] = {
        "nothing": lambda texts: list(texts),
        "rules": lambda texts: [rules(text) for text in texts],
    }
    canonicalizers = {"rules and words": open_canonicalizer()}
    if arguments.model is not None:
        paraphraser = Paraphraser.load(arguments.model)
        for name, with_rules in ((ALONE, False), ("rules, words, model", True)):
            canonicalizers[name] = open_canonicalizer(
                paraphraser,
                rules=with_rules,
                encoder=arguments.encoder,
                language_model=arguments.language_model,
                meaning=arguments.meaning,
            )
    for name, one in canonicalizers.items():
        print(f"{name}: {one.signature}")
        systems[name] = texts_of(one)

    edited = [text for text in read(arguments.clean) if is_edited(text) and 4 <= len(text.split()) <= 40]
    clean = draw(edited, arguments.rows, arguments.seed)
    config = NoiseConfig(clean_share=0.0)
    noisy = [add_noise(text, config, generator(arguments.seed, row)) for row, text in enumerate(clean)]
    print(f"\n{len(clean)} sentences with noise, seed {arguments.seed}\n")
    results = {
        name: measure_restoration(in_batches(system, noisy), clean, in_batches(system, clean))
        for name, system in systems.items()
    }
    print(restoration_table(results), flush=True)
    figures: dict[str, Any] = {"noise": {name: result.to_dict() for name, result in results.items()}}
    if arguments.tweets:
        tweets = draw(read(arguments.noisy), arguments.tweets, arguments.seed)
        *_, (last, canonicalizer) = canonicalizers.items()
        forms = in_batches(canonicalizer.canonicalize, tweets)
        print(f"\n{len(tweets)} tweets")
        known = {one.source: one.text for one in forms}
        systems[last] = lambda texts: [known[text] for text in texts]
        figures["tweets"] = report_tweets(tweets, systems, forms, arguments.judge, arguments.samples)
    if arguments.output is not None:
        with atomic_write(arguments.output) as temporary:
            temporary.write_text(json.dumps(figures, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
