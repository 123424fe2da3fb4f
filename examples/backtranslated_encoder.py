"""What do encoders learn from our own back-translations alone, and from how many?

    PARALOOM_DATA=/path/to/corpora python examples/backtranslated_encoder.py -o runs/backtranslated-encoder \\
        --bundled runs/bundled-de-en --general runs/general-translator

The German sides of every bitext at hand, and of English text that was translated into German first, are translated
into English by sampling. `--bundled` is the run of bundled-de-en.toml, for its translations into German, and
`--general` that of general-translator.toml, for the translator and the other bitext. Pairs that cost the translator
more than 0.9 nats per subword, and copies, are left out.

Encoders start from random vectors, damped by frequency, which are the row "untrained" of their seed. Then come
changes of the training, each on the same 100,000 pairs, of the first seed. Printed: Pearson × 100, mean over the
subsets of each year of STS 2012 to 2015, of three seeds. Half an hour on two cores.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from paraloom import Pipeline
from paraloom.core.stage import Stage
from paraloom.pipeline.result import RunResult
from paraloom.stages import BackTranslate, EvaluateSts, Filter, JoinPairs, TrainEncoder

BITEXT = {
    "captions": "general/*-captions-clean",
    "news": "general/*-news",
    "commentary": "general/*-commentary-clean",
    "talks": "general/*-talks-clean",
    "stories": "general/*-stories-clean",
    "software": "general/*-software-clean",
    "europarl": "general/*-europarl",
    "gnome": "bundled/*-gnome",
    "help": "bundled/*-help",
    "tatoeba": "bundled/*-tatoeba",
    "coco": "bundled/*-captions-bitext",
    "headlines": "bundled/*-headlines-bitext",
    "posts": "bundled/*-posts-bitext",
    "prose": "bundled/*-prose-bitext",
    "everyday": "bundled/*-everyday-bitext",
}
"""Kinds of text, and where in the two runs they are."""

DECODE = "nucleus:0.9,within=20,shortlist=1"
LIKELY = "-logprob <= 0.9 * tokens and lower(src) <> lower(tgt)"
SIZES = (10_000, 30_000, 100_000)
SEEDS = (1, 2, 3)
YEARS = ("2012", "2013", "2014", "2015")
ENCODER: dict[str, Any] = {"epochs": 1, "max_tokens": 50, "keep": "last"}
ABLATION: dict[str, dict[str, Any]] = {
    "all vectors at the same rate, 10⁻³ (the papers')": {"relative_learning_rate": 0.0},
    "the same at 3·10⁻⁴": {"relative_learning_rate": 0.0, "learning_rate": 3e-4},
    "one weight per unit, no vectors": {"epochs": 0, "weight_epochs": 1, "weight_learning_rate": 0.005},
    "weights, then vectors": {"weight_epochs": 1, "weight_learning_rate": 0.005},
    "softmax over 500 pairs, τ .05": {"loss": "softmax", "batch_size": 500},
    "pulled to the start (λ = 10⁻³)": {"embedding_l2": 1e-3},
    "three epochs": {"epochs": 3},
}
"""Changes of the training on `ABLATED` pairs."""

ABLATED = 100_000

PASSES = (3, 10)
"""Numbers of epochs over all pairs, beside one."""


def folder_of(pattern: str, runs: dict[str, Path]) -> str:
    """The folder of a corpus; the last one, where the pattern fits several."""
    run, name = pattern.split("/")
    return str(sorted(runs[run].glob(name), key=lambda folder: int(folder.name.split("-")[0]))[-1].absolute())


def pairs(runs: dict[str, Path]) -> list[Stage]:
    """The back-translated pairs, `likely`."""
    translator = folder_of("general/*-de-en", runs) + "/artifact"
    stages: list[Stage] = [
        BackTranslate(name=kind, input=folder_of(pattern, runs), translator=translator, decode=DECODE)
        for kind, pattern in BITEXT.items()
    ]
    stages += [Filter(name=f"{kind}-likely", input=kind, where=LIKELY) for kind in BITEXT]
    return [*stages, JoinPairs(name="likely", corpora=tuple(f"{kind}-likely" for kind in BITEXT))]


def encoders(sts: str) -> list[Stage]:
    """For each seed the start, and encoders of samples and of all pairs."""
    stages: list[Stage] = []
    for seed in SEEDS:
        # So low a rate leaves the vectors as they are; their vocabulary is that of all pairs.
        start = TrainEncoder(
            name=f"start-{seed}", pairs=("likely",), relative_learning_rate=1e-15, epochs=1, max_tokens=50
        )
        stages += [start, EvaluateSts(name=f"start-{seed}-sts", encoder=start.name, sts=sts)]
        for size in (*SIZES, 0):
            name = f"{size}-{seed}" if size else f"all-{seed}"
            if size:
                stages.append(Filter(name=f"pairs-{name}", input="likely", sample=size))
            corpus = f"pairs-{name}" if size else "likely"
            stages += [
                TrainEncoder(name=f"encoder-{name}", pairs=(corpus,), init_from=f"start-{seed}", **ENCODER),
                EvaluateSts(name=f"sts-{name}", encoder=f"encoder-{name}", sts=sts),
            ]
    for number, changes in enumerate(ABLATION.values()):
        name, settings = f"change-{number}-{SEEDS[0]}", {**ENCODER, **changes}
        corpus, start = f"pairs-{ABLATED}-{SEEDS[0]}", f"start-{SEEDS[0]}"
        stages += [
            TrainEncoder(name=f"encoder-{name}", pairs=(corpus,), init_from=start, **settings),
            EvaluateSts(name=f"sts-{name}", encoder=f"encoder-{name}", sts=sts),
        ]
    for seed in SEEDS:
        for epochs in PASSES:
            name, settings = f"{epochs}-epochs-{seed}", {**ENCODER, "epochs": epochs}
            stages += [
                TrainEncoder(name=f"encoder-{name}", pairs=("likely",), init_from=f"start-{seed}", **settings),
                EvaluateSts(name=f"sts-{name}", encoder=f"encoder-{name}", sts=sts),
            ]
    return stages


def by_year(result: RunResult, stage: str) -> list[float]:
    """Mean Pearson × 100 of each year, and of the years."""
    means: dict[str, float] = result.stage(stage).figures["pearson_mean"]  # type: ignore[assignment]
    years = [means[year] for year in YEARS]
    return [*years, float(np.mean(years))]


def row(name: str, count: str, figures: list[list[float]], start: float) -> str:
    """A line of the table: means over the seeds, and the lowest and the highest of the last column."""
    means = np.mean(figures, axis=0)
    last = [figure[-1] for figure in figures]
    spread = f"{means[-1]:.2f} ({min(last):.2f} to {max(last):.2f})"
    years = " | ".join(f"{mean:.1f}" for mean in means[:-1])
    return f"| {name} | {count} | {years} | {spread} | {means[-1] - start:+.2f} |"


def main() -> None:
    """Run the pipeline and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA"), help="the data folder")
    parser.add_argument("--bundled", type=Path, required=True, help="run folder of bundled-de-en.toml")
    parser.add_argument("--general", type=Path, required=True, help="run folder of general-translator.toml")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/backtranslated-encoder"), help="run folder")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data, or set PARALOOM_DATA")
    stages = [
        *pairs({"bundled": options.bundled, "general": options.general}),
        *encoders(str(Path(options.data) / "sts")),
    ]
    result = Pipeline(stages, name="backtranslated-encoder", seed=1).run(options.output)
    print("| trained on | pairs | 2012 | 2013 | 2014 | 2015 | mean | difference from untrained |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    untrained = [by_year(result, f"start-{seed}-sts") for seed in SEEDS]
    start = float(np.mean([figures[-1] for figures in untrained]))
    print(row("*nothing: untrained*", "", untrained, start))
    for size in (*SIZES, 0):
        names = [f"{size}-{seed}" if size else f"all-{seed}" for seed in SEEDS]
        used = result.stage(f"encoder-{names[0]}").figures["pairs"]["used"]  # type: ignore[index, call-overload]
        print(row("back-translations", f"{used:,}", [by_year(result, f"sts-{name}") for name in names], start))
    for epochs in PASSES:
        figures = [by_year(result, f"sts-{epochs}-epochs-{seed}") for seed in SEEDS]
        print(row(f"back-translations, {epochs} epochs", f"{used:,}", figures, start))
    for number, change in enumerate(ABLATION):
        figures = [by_year(result, f"sts-change-{number}-{SEEDS[0]}")]
        print(row(change, f"{ABLATED:,}", figures, untrained[0][-1]))


if __name__ == "__main__":
    main()
