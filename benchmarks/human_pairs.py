"""What encoders learn from pairs of people, by the training and at the sizes that back-translations were measured by.

    PARALOOM_DATA=… python benchmarks/human_pairs.py -o build/human-pairs --record

Pairs: those of people of examples/paraphrase_pairs.py, captions of one picture, and Quora's duplicates, as many of
each; without pairs of which a side is near a test of STS (`paraloom research decontaminate`). Then those of one kind.
Training, seeds and table are those of examples/backtranslated_encoder.py: random vectors damped by frequency, one
epoch. *Shared*: words that both sides of a pair have, in per cent of all its words, mean of the pairs.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import numpy as np
from decontamination import DATA, ROOT
from results_pages import FOLDER, put_result, read_topic, write_pages
from trained_without_twins import near_tests, sts_tests

from paraloom import Pipeline
from paraloom.core.stage import Stage
from paraloom.io import read_lines
from paraloom.stages import EvaluateSts, ReadPairs, TrainEncoder

sys.path.insert(0, str(ROOT / "examples"))
from backtranslated_encoder import ENCODER, SEEDS, SIZES, YEARS, by_year, row
from paraphrase_pairs import captions, human

HEADING = "What pairs of people teach"
TEXT = (
    "The training of the table above, from random vectors of the same kind, on pairs that people wrote: English "
    "sentences with a common translation, captions of one picture, duplicate questions, and simplified news, split "
    "sentences, verses and more (*other*), as many of each in *all kinds*; no side of them is near a test of STS. The "
    "vocabulary, and so the start, is that of 100,000 of these pairs. *Shared*: words that both sides have, of all "
    "words of a pair, mean. Pearson × 100; means of the seeds, lowest and highest in brackets."
)
OF_KIND = 30_000
"""Pairs of one kind."""


Pair = tuple[str, str]


def pairs_by_kind() -> dict[str, list[Pair]]:
    """Pairs of people, shuffled, none near a test."""
    of_people = human(DATA)
    questions = (line.split("\t") for line in read_lines(DATA / "paraphrase/quora-50k/train.tsv.gz"))
    kinds = {
        "everyday sentences (Tatoeba)": of_people.pop("tatoeba"),
        "captions of one picture": captions(DATA),
        "questions (Quora)": [(one, other) for one, other in questions],
        "other": [pair for of_kind in of_people.values() for pair in of_kind],
    }
    tests = sts_tests()
    for kind, pairs in kinds.items():
        near = np.logical_or(*(near_tests([pair[side] for pair in pairs], tests) for side in (0, 1)))
        print(f"{kind}: {len(pairs):,} pairs, near {near.sum():,}", flush=True)
        kinds[kind] = [pair for pair, is_near in zip(pairs, near, strict=True) if not is_near]
        random.Random(kind).shuffle(kinds[kind])
    return kinds


def shared(pairs: list[Pair]) -> float:
    """Words that both sides have, in per cent of all words of a pair, mean."""
    words = [tuple({*side.lower().split()} for side in pair) for pair in pairs]
    return 100 * float(np.mean([len(one & other) / max(1, len(one | other)) for one, other in words]))


def main() -> None:
    """Train, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=Path("build/human-pairs"))
    parser.add_argument("--record", action="store_true", help="put the table into docs/explanations/results")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    kinds = pairs_by_kind()
    share = SIZES[-1] // len(kinds)
    mixed = [pair for pairs in kinds.values() for pair in pairs[:share]]
    random.Random(1).shuffle(mixed)
    sets = {f"all kinds, {size:,}": mixed[:size] for size in SIZES}
    sets |= {kind: pairs[:OF_KIND] for kind, pairs in kinds.items() if len(pairs) >= OF_KIND}
    stages: list[Stage] = []
    for number, pairs in enumerate([mixed, *sets.values()]):
        file = options.output / f"{number}.tsv"
        file.write_text("".join(f"{one}\t{other}\n" for one, other in pairs), encoding="utf-8")
        stages.append(ReadPairs(name=f"pairs-{number}", source=file, src_lang="en", tgt_lang="en"))
    for seed in SEEDS:
        for number in range(len(sets) + 1):
            name = f"{number}-{seed}"
            # The start has the vocabulary of all; so low a rate leaves its vectors as they are.
            how = ENCODER | ({"init_from": f"encoder-0-{seed}"} if number else {"relative_learning_rate": 1e-15})
            stages += [
                TrainEncoder(name=f"encoder-{name}", pairs=(f"pairs-{number}",), **how),
                EvaluateSts(name=f"sts-{name}", encoder=f"encoder-{name}", sts=str(DATA / "sts")),
            ]
    result = Pipeline(stages, name="human-pairs", seed=1).run(options.output / "run")
    figures = [[by_year(result, f"sts-{number}-{seed}") for seed in SEEDS] for number in range(len(sets) + 1)]
    start = float(np.mean([of_seed[-1] for of_seed in figures[0]]))
    lines = [row("*nothing: untrained*", " | ", figures[0], start)]
    lines += [
        row(title, f"{len(pairs):,} | {shared(pairs):.0f}", of_set, start)
        for (title, pairs), of_set in zip(sets.items(), figures[1:], strict=True)
    ]
    print("\n".join(lines))
    if options.record:
        page = FOLDER / "encoder-training.json"
        before = next((one for one in read_topic(page)["results"] if one.get("heading") == HEADING), {})
        result = {
            **{"heading": HEADING, "text": [TEXT], "machine": "bfloat16", "seeds": str(len(SEEDS))},
            "command": [
                "PARALOOM_DATA=/path/to/corpora python benchmarks/human_pairs.py -o build/human-pairs --record"
            ],
            "columns": ["trained on", "pairs", "shared words, %", *YEARS, "mean", "difference from untrained"],
            **{"align": "l" + "r" * 8, "rows": [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]},
            "notes": before.get("notes", []),
        }
        put_result(page, result)
        write_pages()
