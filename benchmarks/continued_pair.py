"""Compare translators of a run of examples/continued_pair.py with those that they started from, on every kind of text.

    python benchmarks/continued_pair.py runs/continued --models en-de de-en
    python benchmarks/continued_pair.py runs/continued --models trained/en-de --texts '*-development' sample

Each row has chrF and BLEU of a text, `beam:5`, and the difference to the translator that was started from, with 95 %
intervals of 1,000 paired bootstrap samples of the sentences. Of translators with commas in between, which differ in
their seed, it is the difference of the mean.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from utilities import Corpus

from paraloom.bundled import bundled_path
from paraloom.mt import Translator


def translations(folder: Path, sources: list[str]) -> list[str]:
    """What a translator makes of sentences, by a beam of 5."""
    return [group[0].text for group in Translator.load(folder, decode="beam:5", check_costs=False).translate(sources)]


def mean_gains(corpus: Corpus, models: list[list[str]]) -> dict[str, Any]:
    """The mean of each metric over some translators, and its difference to the baseline with an interval."""
    gains: dict[str, Any] = {}
    statistics = [corpus.statistics(texts) for texts in models]
    for name, base in corpus.base.items():

        def mean(parts: list[np.ndarray], counts: np.ndarray, name: str = name) -> np.ndarray:
            return np.mean([[corpus.score(name, row) for row in counts @ part] for part in parts], axis=0)

        ours, whole = [one[name] for one in statistics], np.ones((1, len(corpus.references)), dtype=int)
        drawn = mean(ours, corpus.counts) - mean([base], corpus.counts)
        value, before = float(mean(ours, whole)[0]), float(mean([base], whole)[0])
        gains[name] = {
            **{"before": before, "after": value, "difference": value - before},
            "interval": np.percentile(drawn, [2.5, 97.5]).tolist(),
        }
    return gains


def main() -> None:
    """Translate each text, and print and write a row for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="run folder")
    parser.add_argument("--models", nargs="+", required=True, help="folders in it, whose names have en-de or de-en")
    parser.add_argument("--start", type=Path, help="folder with de-en and en-de (default: the bundled ones)")
    parser.add_argument("--texts", nargs="+", default=["*-test"], help="of the folder `data` (default: %(default)s)")
    parser.add_argument("--limit", type=int, help="sentences of a text, at most, evenly spaced")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    files = [file for name in options.texts for file in sorted((options.run / "data").glob(f"{name}.tsv.gz"))]
    for file in files:
        text = file.name.removesuffix(".tsv.gz").removesuffix("-test").removesuffix("-development")
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            pairs = [line.rstrip("\n").split("\t") for line in stream]
        pairs = pairs[:: -(-len(pairs) // options.limit) if options.limit else 1]
        for direction in ("de-en", "en-de"):
            models = [name for name in options.models if direction in Path(name).name]
            if len(pairs) < 30 or not models:
                continue
            sources, references = (
                list(side) for side in zip(*(row if direction == "de-en" else row[::-1] for row in pairs), strict=True)
            )
            start = options.start / direction if options.start else Path(str(bundled_path(direction)))
            corpus = Corpus(references, translations(start, sources))
            for names in models:
                texts = [translations(options.run / name, sources) for name in names.split(",")]
                rows.append({"text": text, "sentences": len(pairs), "translators": names, **mean_gains(corpus, texts)})
                cells = (
                    f"{name} {one['before']:.1f} → {one['after']:.1f} ({one['difference']:+.2f} "
                    f"[{one['interval'][0]:+.2f}, {one['interval'][1]:+.2f}])"
                    for name, one in rows[-1].items()
                    if isinstance(one, dict)
                )
                print(f"{names:<20} {text:<18} {len(pairs):>5}  " + "   ".join(cells), flush=True)
    for names in options.models:
        means = [
            np.mean([row[metric]["difference"] for row in rows if row["translators"] == names])
            for metric in ("chrf", "bleu")
        ]
        print(f"{names:<20} mean of {len(files)} texts: chrF {means[0]:+.2f}, BLEU {means[1]:+.2f}")
    if options.output:
        options.output.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
