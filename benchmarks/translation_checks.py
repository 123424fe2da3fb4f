"""What the checks of input find: costs and warnings by kind of text, and false alarms of the check of languages.

    PARALOOM_DATA=/path/to/corpora python benchmarks/translation_checks.py costs --translator de-en
    PARALOOM_DATA=/path/to/corpora python benchmarks/translation_checks.py languages

`costs` translates up to 1,000 rows of each German–English corpus, drawn by seed, prints BLEU and quantiles of the costs
(nats per token), and in how many of 500 random samples of 50 a warning would come with several limits, or if the lower
quartile had to be above the median of the development text, and of 100 with that of the package. The first texts chose
the limit; none of their rows is among those of the others. Rows of Tatoeba, the help pages and Europarl are those that
examples/bundled-de-en.toml holds out from training. `languages` draws 500 samples of each bitext, in the right
direction and swapped, and counts how often the check of languages stops.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from paraloom.bundled import KINDS_OF_TEXT, SAMPLE
from paraloom.core.errors import DataError
from paraloom.core.protocols import Variant
from paraloom.evaluate.translation import evaluate_translation
from paraloom.mt.costs import HIGH_SHARE, CostDistribution, cost_warning
from paraloom.mt.streams import best_variants
from paraloom.mt.translator import Translator
from paraloom.pairs.filtering.held_out import is_held_out
from paraloom.stages.input_checks import Direction, SampledRows, check_languages
from paraloom.text.normalize import normalize

Rows = list[tuple[str, str]]

DRAWS = 500
LIMITS = (0.75, 0.8, 0.85, 0.9)  # quantiles of the costs of the development text
BITEXT = (
    "wmt-news", "yast", "ted-sample", "news-commentary-v8", "shattered-pixel-dungeon",
)  # fmt: skip


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file, which may be compressed."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") if path.suffix == ".gz" else path.open() as stream:
        yield from (line.rstrip("\n") for line in stream)


def read_table(path: Path, source: int = 0, target: int = 1) -> Rows:
    """Two columns of a table without a header."""
    rows = (line.split("\t") for line in read_lines(path))
    return [(row[source], row[target]) for row in rows if len(row) > max(source, target)]


def captions(data: Path, part: str, language: str) -> Rows:
    """Multi30k's captions."""
    sides = (read_lines(data / f"bitext/multi30k/task1/{part}.{name}.gz") for name in (language, "en"))
    return list(zip(*sides, strict=True))


def held_out(data: Path) -> dict[str, Rows]:
    """The rows of the bundled translators' sources that they were not trained on, by source."""
    sources = {
        "Tatoeba": (read_table(data / "bitext/tatoeba/de-en.tsv.gz"), 0.007),
        "LibreOffice help": (
            read_table(data / "documents/libreoffice-help/gold.paragraphs.en-de.tsv.gz", 3, 2), 0.007,
        ),
        "GNOME help": (read_table(data / "bitext/gnome-help/de-en.tsv.gz"), 0.05),
        "Europarl, lower-cased": (read_table(data / "bitext/europarl-sample/de-en.tsv.gz"), 0.02),
    }  # fmt: skip
    chosen = {}
    for name, (rows, share) in sources.items():
        usable = [(src, tgt) for src, tgt in rows if src != tgt and tgt and 0.4 <= len(src) / len(tgt) <= 2.5]
        targets = normalize([target for _, target in usable]).to_pylist()
        chosen[name] = [row for row, target in zip(usable, targets, strict=True) if is_held_out(target, share)]
    return chosen


def chosen_on(data: Path) -> dict[str, Rows]:
    """The texts that the limit of the warning was chosen on."""
    texts: dict[str, Rows] = {"quickstart": read_table(SAMPLE)[1:]}
    texts["captions, development"] = captions(data, "val", "de")[300:]
    for line in list(read_lines(KINDS_OF_TEXT))[1:]:
        kind, german, english, *_ = line.split("\t")
        texts.setdefault(f"{kind}, bundled", []).append((german, english))
    return texts


def costs(data: Path, translator: str, seed: int, words: list[str]) -> None:
    """Print a line for each kind of text."""
    model = Translator.load(translator, decode="beam:5", check_costs=False)
    assert model.costs is not None, "the translator has no costs.json: paraloom evaluate translator … --save-costs"
    corpora = chosen_on(data)
    chose = {row for rows in corpora.values() for row in rows}
    for name, rows in held_out(data).items():
        corpora[f"{name}, held out"] = [row for row in rows if row not in chose]
    corpora["captions 2016"] = captions(data, "test_2016_flickr", "de")
    draw = random.Random(seed)
    for name in BITEXT:
        corpora[name] = draw.sample(read_table(data / f"bitext/{name}/de-en.tsv.gz"), 1000)
    print(f"development text: median {model.costs.median:.2f}, limit {model.costs.quantile(HIGH_SHARE):.2f}")
    columns = [*(f"50 above {limit:.0%}" for limit in LIMITS), "50, quartile", "warns, 100"]
    print(f"| text | rows | BLEU | 10 % | 25 % | 50 % | 75 % | 90 % | {' | '.join(columns)} |")
    for name, rows in corpora.items():
        if words and not any(word in name for word in words):
            continue
        sides = rows if model.source == "de" else [row[::-1] for row in rows]
        best = best_variants(model, [source for source, _ in sides])
        bleu = evaluate_translation([variant.text for variant in best], [target for _, target in sides]).bleu.score
        values = np.array([-variant.logprob / variant.tokens for variant in best if variant.tokens])
        quantiles = " | ".join(f"{value:.2f}" for value in np.quantile(values, (0.1, 0.25, 0.5, 0.75, 0.9)))
        alarms = [f"{share_above(values, model.costs.quantile(limit), 50, seed):.1%}" for limit in LIMITS]
        alarms.append(f"{share_above(values, model.costs.median, 50, seed, 0.25):.1%}")
        alarms.append(f"{share_of_warnings(values, model.costs, 100, seed):.1%}" if len(values) > 100 else "–")
        print(f"| {name} | {len(rows)} | {bleu:.1f} | {quantiles} | {' | '.join(alarms)} |", flush=True)


def samples(values: np.ndarray, size: int, seed: int) -> Iterator[CostDistribution]:
    """Costs of random samples of a text."""
    draw = np.random.default_rng([seed, size])
    for _ in range(DRAWS):
        sample = draw.choice(values, size, replace=False)
        yield CostDistribution.of(Variant("", -10 * value, 10) for value in sample)


def share_above(values: np.ndarray, limit: float, size: int, seed: int, quantile: float = 0.5) -> float:
    """In how many samples of a text a quantile is above a limit."""
    return sum(one.quantile(quantile) > limit for one in samples(values, size, seed)) / DRAWS


def share_of_warnings(values: np.ndarray, reference: CostDistribution, size: int, seed: int) -> float:
    """In how many samples of a text the warning of high costs comes."""
    return sum("expect wrong" in cost_warning(one, reference) for one in samples(values, size, seed)) / DRAWS


def languages(data: Path, seed: int) -> None:
    """Print, for each bitext, how often samples are stopped in the right direction and swapped."""
    corpora: dict[str, tuple[str, Callable[[], Rows]]] = {}
    for path in sorted(data.glob("bitext/*/??-en.tsv.gz")):
        first = 1 if path.parent.name == "ntrex" else 0
        corpora[f"{path.parent.name} {path.name[:2]}-en"] = (
            path.name[:2],
            lambda p=path, f=first: read_table(p, f, f + 1),
        )  # type: ignore[misc]
    for language in ("cs", "de", "ko"):
        path = data / f"documents/libreoffice-help/gold.paragraphs.en-{language}.tsv.gz"
        corpora[f"LibreOffice help {language}-en"] = (language, lambda p=path: read_table(p, 3, 2))  # type: ignore[misc]
    for language in ("cs", "de", "fr"):
        corpora[f"captions {language}-en"] = (language, lambda name=language: captions(data, "train", name))  # type: ignore[misc]
    print("| bitext | rows of a sample | right direction: stopped | swapped: stopped |")
    draw = random.Random(seed)
    for name, (language, read) in corpora.items():
        rows = read()
        for size in (20, 50):
            stopped = [0, 0]
            for _ in range(DRAWS):
                sample = draw.sample(rows, min(size, len(rows)))
                columns = {"src": [source for source, _ in sample], "tgt": [target for _, target in sample]}
                for swapped, direction in enumerate((Direction(language, "en"), Direction("en", language))):
                    try:
                        check_languages(SampledRows([""] * len(sample), columns), "src", direction, "tgt")
                    except DataError:
                        stopped[swapped] += 1
            shares = " | ".join(f"{count / DRAWS:.1%}" for count in stopped)
            print(f"| {name} | {size} | {shares} |", flush=True)


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("costs", "languages"))
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PARALOOM_DATA", "data")))
    parser.add_argument("--translator", default="de-en")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", nargs="*", default=[], help="those with one of these words (default: all)")
    options = parser.parse_args()
    if options.table == "costs":
        costs(options.data, options.translator, options.seed, options.texts)
    else:
        languages(options.data, options.seed)


if __name__ == "__main__":
    main()
