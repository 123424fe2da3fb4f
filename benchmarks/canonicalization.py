"""Does a paraphrase bring noisy text nearer to its standard form than rules and words alone?

    python benchmarks/canonicalization.py

Clean sentences of MASC and ABC news with noise by a seed: words abbreviated, apostrophes and the mark at the end left
out, small letters, and a letter of one word in sixteen left out, doubled or swapped with the next. Rows: nothing;
`paraloom research canonicalize`, which knows the abbreviations; the best output that `paraloom paraphrase` keeps
(`strict`), or the text; and one after the other. Word errors are edits by words of the clean sentence, with 95 %
intervals of 1,000 bootstrap samples.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein

from paraloom.api.canonicalization import open_canonicalizer
from paraloom.api.paraphrase_sources import as_paraphraser, open_selector
from paraloom.io import read_lines
from paraloom.paraphrasing.candidates import SelectingParaphraser
from paraloom.paraphrasing.selection_config import CandidateSelection
from paraloom.paraphrasing.spelling import ABBREVIATIONS

CANONICAL = "`canonicalize`"
CLEAN = ("mixed.masc", "news.nltk-abc")
_EDITED = re.compile(r"[A-Z].*[a-z].*[.!?]")
_WORD = re.compile(r"[a-z]{3,}", re.IGNORECASE)
_SHORTENED = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(ABBREVIATIONS, key=len, reverse=True)))})\b", re.I)
_RESAMPLES = 1000

System = Callable[[list[str]], list[str]]


def noisy(text: str, random: np.random.Generator) -> str:
    """A sentence as people type it in a hurry."""

    def shortened(match: re.Match[str]) -> str:
        return str(random.choice(ABBREVIATIONS[match[0].lower()])) if random.random() < 0.4 else match[0]

    def mistyped(match: re.Match[str]) -> str:
        word, at = match[0], int(random.integers(1, len(match[0]) - 1))
        wrong = (
            word[:at] + word[at + 1 :],
            word[: at + 1] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
        return wrong[random.integers(3)] if random.random() < 1 / 16 else word

    ended, apostrophes, small = random.random(3) < (0.6, 0.5, 0.5)
    text = _WORD.sub(mistyped, _SHORTENED.sub(shortened, text))
    text = text.rstrip(".!?") if ended else text
    text = text.replace("'", "") if apostrophes else text
    return text.lower() if small else text


def clean_sentences(rows: int, seed: int) -> list[str]:
    """Sentences of 4 to 40 words that begin with a capital and end with a mark, and are not headlines."""
    folder = Path(os.environ["PARALOOM_DATA"]) / "sentences-en"
    lines = dict.fromkeys(line.strip() for name in CLEAN for line in read_lines(folder / f"{name}.txt.xz"))
    edited = [
        line for line in lines
        if _EDITED.fullmatch(line) and 4 <= (count := len(line.split())) <= 40
        and 2 * sum(word[0].isupper() for word in line.split()) <= count
    ]  # fmt: skip
    return [edited[row] for row in np.random.default_rng(seed).permutation(len(edited))[:rows]]


def main() -> None:
    """Print a row of the table for each system."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=300, help="sentences (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    canonicalizer = open_canonicalizer()
    paraphraser = SelectingParaphraser(
        as_paraphraser("english"),
        open_selector("strict", judge=None, language="en"),
        n=1,
        candidates=CandidateSelection.candidates,
    )

    def canonical(texts: list[str]) -> list[str]:
        return [one.text for one in canonicalizer.canonicalize(texts)]

    def paraphrased(texts: list[str]) -> list[str]:
        kept = paraphraser.answer(texts)[1].kept
        return [group[0].text if group else text for text, group in zip(texts, kept, strict=True)]

    systems: dict[str, System] = {
        "nothing": list,
        CANONICAL: canonical,
        "`paraphrase`": paraphrased,
        "`canonicalize`, then `paraphrase`": lambda texts: paraphrased(canonical(texts)),
    }
    clean = clean_sentences(options.rows, options.seed)
    random = np.random.default_rng(options.seed)
    texts = [noisy(text, random) for text in clean]
    lengths = np.array([len(text.split()) for text in clean])
    drawn = random.integers(0, len(clean), (_RESAMPLES, len(clean)))
    outputs_of = {name: system(texts) for name, system in systems.items()}
    errors_of = {
        name: np.array([Levenshtein.distance(*map(str.split, pair)) for pair in zip(outputs, clean, strict=True)])
        for name, outputs in outputs_of.items()
    }
    for name, system in systems.items():
        outputs, errors, base = outputs_of[name], errors_of[name], errors_of[CANONICAL]
        rates = errors[drawn].sum(axis=1) / lengths[drawn].sum(axis=1)
        gains = 100 * (errors - base)[drawn].sum(axis=1) / lengths[drawn].sum(axis=1)
        exact = np.mean([output == text for output, text in zip(outputs, clean, strict=True)])
        changed = np.mean([output != text for output, text in zip(outputs, texts, strict=True)])
        alone = np.mean([output == text for output, text in zip(system(clean), clean, strict=True)])
        low, high, first, last = (*np.percentile(rates, [2.5, 97.5]), *np.percentile(gains, [2.5, 97.5]))
        gain = 100 * (errors - base).sum() / lengths.sum()
        print(
            f"| {name} | {errors.sum() / lengths.sum():.3f} [{low:.3f}, {high:.3f}] | {gain:+.1f} [{first:+.1f}, "
            f"{last:+.1f}] | {exact:.0%} | {changed:.0%} | {alone:.0%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
