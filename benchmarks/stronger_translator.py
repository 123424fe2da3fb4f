"""What a translator that knows a text changes in what the presets keep of it.

    export PARALOOM_DATA=/path/to/corpora
    python benchmarks/stronger_translator.py train --model de-en --steps 500 -o runs/stronger
    python benchmarks/stronger_translator.py train --model en-de --steps 400 -o runs/stronger
    python benchmarks/stronger_translator.py keep -o runs/stronger
    python benchmarks/stronger_translator.py count -o runs/stronger --readings benchmarks/readings/stronger/reader-*.tsv

`train` continues the training of a bundled translator on captions, in updates of 3,000 subwords: 11 minutes of a core.
The license of the captions does not allow to distribute it. `keep` translates captions that it did not learn from, and
the quickstart's sentences, with the bundled `de-en` or the continued one, scores the pairs with the bundled `en-de` or
(*both*) the continued one, prints what each preset keeps, and writes 40 captions of each, and 40 of those that `strict`
and `balanced` keep, to `sheet.tsv`: shuffled, without translator or preset. Readers fill in a table
of its identifiers (`id`) and `verdict`: k (keeps the meaning), p (partly) or w (wrong); `count` prints the shares.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from blind_sheets import identifier, rows_of, write_table
from gate_readings import kept, shuffled

import paraloom
from paraloom.bundled import SAMPLE, bundled_path
from paraloom.core.batches import batched
from paraloom.core.stats import wilson_interval
from paraloom.mt.config import TranslatorConfig
from paraloom.mt.training import train_translator
from paraloom.text.normalize import normalize

MEASURED = 2000
"""Captions that are translated, the first of the training set, from which it does not learn."""
SETTINGS: dict[str, Any] = {
    **{"batch_tokens": 3000, "warmup_steps": 10, "subword_sampling": 0.0, "patience": 0, "keep_last": True},
    **{"threads": 1, "evaluate_every": 50, "muon_learning_rate": 0.006, "adam_learning_rate": 0.0015},
}
SCORES = ("chrf", "ratio", "overlap", "bleu1", "mismatch", "meaning", "translation_cost")
PRESETS = ("all", "strict", "balanced")
SIZE = 40


def captions(data: Path, part: str) -> list[dict[str, Any]]:
    """German and English captions of Multi30k."""
    path = data / f"bitext/multi30k/task1/{part}.{{de,en}}.gz"
    return paraloom.read_pairs(path, src_lang="de", tgt_lang="en").to_list()


def train(data: Path, folder: Path, name: str, steps: int) -> None:
    """Continue the training of a bundled translator, `de-en` or `en-de`."""
    rows = captions(data, "train")
    texts = normalize([row["tgt"] for row in rows]).to_pylist()
    measured = set(texts[:MEASURED])
    learned = [row for row, text in zip(rows[MEASURED:], texts[MEASURED:], strict=True) if text not in measured]
    sides = ("src", "tgt") if name == "de-en" else ("tgt", "src")
    pairs = [(row[sides[0]], row[sides[1]]) for row in shuffled(learned, 3)]
    development = [([row[sides[0]]], [row[sides[1]]]) for row in captions(data, "val")[:300]]
    start = Path(str(bundled_path(name)))
    saved = json.loads((start / "training.json").read_text(encoding="utf-8"))["config"]
    config = replace(TranslatorConfig.from_saved(saved), **SETTINGS, steps=steps)
    batches = [([a for a, _ in part], [b for _, b in part]) for part in batched(pairs, 1000)]
    print(train_translator(lambda: batches, development, config, folder / name, seed=1, init_from=start))


def translated(data: Path, kind: str, folder: Path, translator: str) -> paraloom.Pairs:
    """Pairs with scores, from the file if it is there."""
    file = folder / f"{kind}-{translator}.parquet"
    if not file.is_file():
        rows = captions(data, "train")[:MEASURED]
        if kind == "quickstart":
            rows = paraloom.read_pairs(SAMPLE, src_column="de", tgt_column="en", src_lang="de", tgt_lang="en").to_list()
        rows = [{name: row[name] for name in ("src", "tgt", "src_lang", "tgt_lang")} for row in rows]
        model = "de-en" if translator == "bundled" else str(folder / "de-en")
        reverse = str(folder / "en-de") if translator == "both" else "en-de"
        paraloom.backtranslate(rows, model, decode="beam:12").score(SCORES, reverse_translator=reverse).write(file)
    return paraloom.read_pairs(file)


def keep(data: Path, folder: Path, kinds: Sequence[str], translators: Sequence[str]) -> None:
    """Print what each preset keeps, and write the sheet."""
    sheet: dict[str, tuple[str, str]] = {}
    key: dict[str, Any] = {}
    for kind in kinds:
        for translator in translators:
            cells = kept(translated(data, kind, folder, translator))
            order = {row["pair_id"]: number for number, row in enumerate(shuffled(cells["all"], 1))}
            for preset in PRESETS:
                rows = sorted(cells[preset], key=lambda row: order[row["pair_id"]])
                chrf = np.mean([row["chrf"] for row in rows]) if rows else np.nan
                total = len(cells["all"])
                print(
                    f"{kind}, {translator}, {preset}: {len(rows)} of {total}: {len(rows) / total:.1%}, chrF {chrf:.1f}"
                )
                if kind == "captions":
                    pairs = {identifier(row["src"], row["tgt"]): (row["src"], row["tgt"]) for row in rows[:SIZE]}
                    key[f"{translator}, {preset}"] = list(pairs)
                    sheet |= pairs
    (folder / "key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")
    write_table(
        folder / "sheet.tsv", ("id", "source", "output"), [(name, *sheet[name]) for name in shuffled(sorted(sheet), 2)]
    )


def count(folder: Path, readings: Sequence[Path]) -> None:
    """Print the share of pairs that keep the meaning, by reader."""
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    for file in readings:
        verdicts = {name: row["verdict"] for name, row in rows_of(file).items()}
        for cell, names in key.items():
            read = [verdicts[name] for name in names if name in verdicts]
            if read:
                right = read.count("k")
                low, high = wilson_interval(right, len(read))
                print(f"{file.name}, {cell}: {right} of {len(read)}: {right / len(read):.0%} [{low:.0%}, {high:.0%}]")


def main() -> None:
    """Take one step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("train", "keep", "count"))
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder of the run")
    parser.add_argument("--model", choices=("de-en", "en-de"), default="de-en", help="to train (default: %(default)s)")
    parser.add_argument("--steps", type=int, default=500, help="updates (default: %(default)s)")
    parser.add_argument("--kinds", nargs="*", default=["captions", "quickstart"])
    parser.add_argument("--translators", nargs="*", default=["bundled", "continued", "both"])
    parser.add_argument("--readings", type=Path, nargs="*", default=[])
    options = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", "."))
    options.output.mkdir(parents=True, exist_ok=True)
    if options.step == "train":
        train(data, options.output, options.model, options.steps)
    elif options.step == "keep":
        keep(data, options.output, options.kinds, options.translators)
    else:
        count(options.output, options.readings)


if __name__ == "__main__":
    main()
