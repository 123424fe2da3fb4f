"""Do better pairs train a better encoder? The presets of `paraloom filter` against as many random pairs.

    PARALOOM_DATA=/path/to/corpora python examples/selected_pairs.py -o runs/selected-pairs

Captions (Multi30k) and news (WMT 2015 to 2020) are back-translated from German by the bundled translator, which was
trained on neither. Encoders start from the same random vectors, which are the row "untrained". Each preset is compared
with as many random pairs, the loosest also with the filters of version 0.1's README and of ParaNMT; three seeds each.
Printed: mean Pearson × 100 over the tasks of STS 2012 to 2015, lowest and highest seed in brackets, and the difference
from the untrained vectors.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from paraloom import Pipeline
from paraloom.bundled import PARAPHRASE_MODEL, bundled_path
from paraloom.core.stage import Stage
from paraloom.io import Corpus
from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel
from paraloom.pipeline.result import RunResult
from paraloom.stages import BackTranslate, EvaluateSts, Filter, JoinPairs, ReadPairs, Score, TrainEncoder

LENGTH = "tgt_tokens between 3 and 30 and src_tokens between 3 and 30"
OLD = "trigram_overlap <= 0.7 and tgt_tokens between 3 and 30"
PARANMT = "paraphrase_score between 0.4 and 0.95 and trigram_overlap <= 0.7 and tgt_tokens between 5 and 30"
SEEDS = (1, 2, 3)
ENCODER: dict[str, Any] = {"relative_learning_rate": 0.0, "learning_rate": 3e-4, "epochs": 2}


def selections() -> dict[str, str]:
    """Name → condition: all pairs, the filter of version 0.1's README, ParaNMT's, and the presets."""
    folder = bundled_path(PARAPHRASE_MODEL)
    assert folder is not None
    presets = ParaphraseModel.load(folder).presets
    return {
        "random": LENGTH,
        "low overlap": OLD,
        "ParaNMT": PARANMT,
        **{name: f"{preset.where} and {LENGTH}" for name, preset in presets.items()},
    }


def pairs(data: Path, translator: str) -> list[Stage]:
    """Back-translated and scored pairs, `scored`."""
    german: dict[str, Any] = {"src_lang": "de", "tgt_lang": "en"}
    news = data / "bitext/wmt-news/de-en.tsv.gz"
    return [
        ReadPairs(name="captions", source=data / "bitext/multi30k/task1/train.{de,en}.gz", origin="captions", **german),
        ReadPairs(name="news", source=news, origin="news", skip=3003, **german),
        JoinPairs(name="bitext", corpora=("captions", "news")),
        BackTranslate(name="backtranslated", input="bitext", translator=translator, decode="beam:5,shortlist=1"),
        Score(name="scored-by-rules", input="backtranslated", encoder="english", reverse_translator="en-de",
              scores=("common", "chrf", "ratio", "mismatch", "meaning")),
        Score(name="scored", input="scored-by-rules", scores=("chrf",), paraphrase_model=PARAPHRASE_MODEL),
    ]  # fmt: skip


def counts(result: RunResult) -> dict[str, int]:
    """How many pairs each selection has."""
    return {name: Corpus.open(result.stage(f"all-{number}").folder).rows for number, name in enumerate(selections())}


def comparisons(sizes: dict[str, int]) -> list[tuple[str, int]]:
    """The selections and sizes to train on: each preset whole, and others cut down to the size of a preset."""
    presets = [name for name in sizes if name not in ("random", "low overlap", "ParaNMT")]
    rows = [(name, sizes[preset]) for preset in presets for name in ("random", preset)]
    return [*rows, ("low overlap", sizes[presets[-1]]), ("ParaNMT", sizes[presets[-1]])]


def encoders(data: Path, rows: list[tuple[str, int]]) -> list[Stage]:
    """Untrained vectors for all, then trainings from them on samples of the selections, and their evaluations."""
    names = list(selections())
    stages: list[Stage] = [
        # So low a rate leaves the vectors as they are.
        TrainEncoder(name="untrained", pairs=("scored",), relative_learning_rate=1e-15, epochs=1),
        EvaluateSts(name="untrained-sts", encoder="untrained", sts=str(data / "sts")),
    ]
    for row, (selection, size) in enumerate(rows):
        for seed in SEEDS:
            name = f"{row}-{seed}"
            stages += [
                Filter(name=f"sample-{name}", input=f"all-{names.index(selection)}", sample=size),
                TrainEncoder(name=f"encoder-{name}", pairs=(f"sample-{name}",), init_from="untrained", **ENCODER),
                EvaluateSts(name=f"sts-{name}", encoder=f"encoder-{name}", sts=str(data / "sts")),
            ]
    return stages


def mean_of_years(result: RunResult, stage: str) -> float:
    """Mean Pearson × 100 over the tasks of 2012 to 2015, each year counting the same."""
    means: dict[str, float] = result.stage(stage).figures["pearson_mean"]  # type: ignore[assignment]
    return float(np.mean([means[year] for year in ("2012", "2013", "2014", "2015")]))


def main() -> None:
    """Run the pipeline in two steps, the pairs and then the encoders, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("--translator", default="de-en", help="a German–English translator: name or folder")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/selected-pairs"), help="run folder")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    data = Path(options.data)
    stages = pairs(data, options.translator)
    for number, condition in enumerate(selections().values()):
        stages.append(Filter(name=f"all-{number}", input="scored", where=condition))
    selected = Pipeline(stages, name="selected-pairs", seed=1).run(options.output)
    sizes = counts(selected)
    rows = comparisons(sizes)
    result = Pipeline([*stages, *encoders(data, rows)], name="selected-pairs", seed=1).run(options.output)
    untrained = mean_of_years(result, "untrained-sts")
    print("; ".join(f"{name}: {count:,} pairs" for name, count in sizes.items()), "\n")
    print("| trained on | pairs | STS 2012–15 | difference from untrained |")
    print("| --- | ---: | ---: | ---: |")
    print(f"| *nothing: untrained* | | {untrained:.1f} | |")
    for row, (name, size) in enumerate(rows):
        values = [mean_of_years(result, f"sts-{row}-{seed}") for seed in SEEDS]
        spread = f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})"
        print(f"| {name} | {size:,} | {spread} | {np.mean(values) - untrained:+.2f} |")


if __name__ == "__main__":
    main()
