"""How many of the kept pairs are paraphrases? Draws samples for people to read, and counts what they found.

    python benchmarks/paraphrase_samples.py pairs news --translator de-en -o news.parquet
    python benchmarks/paraphrase_samples.py draw news.parquet -o news.tsv --seed 1
    python benchmarks/paraphrase_samples.py collect READER_1.tsv READER_2.tsv --key news.key.tsv -o readings.tsv
    python benchmarks/paraphrase_samples.py count benchmarks/readings/*.tsv
    python benchmarks/paraphrase_samples.py auc benchmarks/readings/news.tsv --pairs news.parquet

`pairs` back-translates and scores 3,000 lines of news (newstest2014), or 3,000 captions (Multi30k: the first 2,000 of
the training set, and the test set of 2016). `draw` takes such pairs, or the stage `scored` of `paraloom quickstart`,
applies each filter of `filters`, and writes 60 pairs of each, drawn by seed and shuffled, so that a reader does not
know which filter kept a pair. The reader fills in the columns `meaning` (k: keeps the meaning, p: partly, w: wrong)
and `copy` (y: nearly a copy). `collect` puts the verdicts of two readers, who did not see each other's, into one file,
without the sentences where their license does not allow to pass them on. `count` prints shares with 95 % intervals
(Wilson), and how far the readers agree (Cohen's kappa). `auc` prints how well each score tells the pairs that both
readers accept from the others.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from blind_sheets import agreement, rows_of, table, write_table

import paraloom
from paraloom.bundled import PARAPHRASE_MODEL, bundled_path
from paraloom.core.seeds import generator
from paraloom.core.stats import wilson_interval
from paraloom.evaluate.discrimination import evaluate_discrimination
from paraloom.pairs.scoring.paraphrase_model import ParaphraseModel
from paraloom.pairs.scoring.table import COLUMNS as COLUMNS_OF_SCORES

OLD_FILTERS = {
    "no filter": "true",
    "low overlap": "trigram_overlap <= 0.7 and tgt_tokens between 3 and 30",
    "ParaNMT": "paraphrase_score between 0.4 and 0.95 and trigram_overlap <= 0.7 and tgt_tokens between 5 and 30",
}
"""What the presets are compared with: the README of version 0.1, and the scores that ParaNMT is filtered by."""

SCORES = ("common", "chrf", "ratio", "mismatch", "meaning")
LABELS = {"k": "keeps the meaning", "p": "partly", "w": "wrong"}
SIZE = 60
READINGS = ("number", "pair_id", "filters", "meaning_1", "copy_1", "meaning_2", "copy_2")
COLUMNS = ("number", "src", "tgt", "meaning", "copy")
KEY = ("number", "pair_id", "filters")


def filters() -> dict[str, str]:
    """Name → condition, with the presets of the bundled model."""
    folder = bundled_path(PARAPHRASE_MODEL)
    assert folder is not None
    presets = ParaphraseModel.load(folder).presets
    return {**OLD_FILTERS, **{name: preset.where for name, preset in presets.items()}}


def make_pairs(kind: str, data: Path, translator: str, output: Path) -> None:
    """Back-translate and score the pairs of one kind of text."""
    captions = data / "bitext/multi30k/task1"
    sources = {
        "news": [(data / "bitext/wmt-news/de-en.tsv.gz", 3000)],
        "captions": [(captions / "train.{de,en}.gz", 2000), (captions / "test_2016_flickr.{de,en}.gz", 1000)],
    }
    bitext = [
        {"src": row["src"], "tgt": row["tgt"], "src_lang": "de", "tgt_lang": "en", "origin": kind}
        for path, limit in sources[kind]
        for row in paraloom.read_pairs(path, src_lang="de", tgt_lang="en", limit=limit)
    ]
    started = time.monotonic()
    translated = paraloom.backtranslate(bitext, translator, decode="beam:12")
    scored = translated.score(SCORES, encoder="english", reverse_translator="en-de")
    print(scored.score(["chrf"], paraphrase_model=PARAPHRASE_MODEL).write(output).format())
    print(f"{len(bitext):,} pairs in {time.monotonic() - started:.0f} seconds")


def draw(pairs: Path, sheet: Path, seed: int) -> None:
    """Write a sheet to fill in, and its key: which filters each pair is a sample of."""
    source = paraloom.read_pairs(pairs)
    total = len(source)
    chosen: dict[str, dict[str, str]] = {}
    samples: dict[str, list[str]] = {}
    for number, (name, condition) in enumerate(filters().items()):
        rows = source.filter(condition).to_list()
        print(f"{name}: keeps {len(rows):,} of {total:,} pairs ({len(rows) / max(total, 1):.1%}) · {condition}")
        picked = generator(seed, number).permutation(len(rows))[:SIZE]
        samples[name] = [rows[index]["pair_id"] for index in picked]
        chosen |= {rows[index]["pair_id"]: rows[index] for index in picked}
    ids = sorted(chosen)
    ids = [ids[index] for index in generator(seed, len(samples)).permutation(len(ids))]
    write_table(
        sheet, COLUMNS, [(i, chosen[key]["src"], chosen[key]["tgt"], "", "") for i, key in enumerate(ids, start=1)]
    )
    members = {key: ",".join(name for name, sample in samples.items() if key in sample) for key in ids}
    write_table(sheet.with_suffix(".key.tsv"), KEY, [(i, key, members[key]) for i, key in enumerate(ids, start=1)])


def collect(sheets: list[Path], key: Path, output: Path, *, text: bool) -> None:
    """Write the verdicts of two readers with the filters that each pair is a sample of."""
    first, second = (rows_of(sheet, "number") for sheet in sheets)
    keys = rows_of(key, "number")
    if not keys.keys() == first.keys() == second.keys():
        raise SystemExit("the sheets and the key have other rows")
    rows: list[Sequence[object]] = []
    for number, row in keys.items():
        verdicts = [reader[number][column] for reader in (first, second) for column in ("meaning", "copy")]
        if not {verdicts[0], verdicts[2]} <= LABELS.keys():
            raise SystemExit(f"row {number} has no verdict")
        sentences = (first[number]["src"], first[number]["tgt"]) if text else ()
        rows.append((number, row["pair_id"], row["filters"], *verdicts, *sentences))
    write_table(output, (*READINGS, *(("src", "tgt") if text else ())), rows)


def count(readings: Path) -> None:
    """Print the share of each verdict by filter, and the agreement of the readers."""
    rows = table(readings)
    columns = ["filter", "pairs read"]
    columns += [f"{label}, {reader}" for label in LABELS.values() for reader in ("reader 1", "reader 2")]
    print(f"\n{readings.name}\n| {' | '.join(columns)} | of those kept by both, near copies |")
    print("| --- |" + " ---: |" * len(columns))
    for name in filters():
        print(table_row(name, [row for row in rows if name in row["filters"].split(",")]))
    first, second = ([row[f"meaning_{reader}"] for row in rows] for reader in (1, 2))
    agreed, kappa = agreement(first, second)
    print(f"\nAgreement on {len(rows)} pairs: {agreed:.1%}, kappa {kappa:.2f}")


def areas(readings: Path, pairs: Path) -> None:
    """Print the area under the ROC curve of each score, of the pairs that both readers accept against the others."""
    verdicts = {row["pair_id"]: row for row in table(readings)}
    rows = [row for row in paraloom.read_pairs(pairs) if row["pair_id"] in verdicts]
    right = [verdicts[row["pair_id"]]["meaning_1"] == verdicts[row["pair_id"]]["meaning_2"] == "k" for row in rows]
    names = [name for name in COLUMNS_OF_SCORES if name in rows[0]]
    scores = {name: [np.nan if row[name] is None else float(row[name]) for row in rows] for name in names}
    lower = [name for name in names if COLUMNS_OF_SCORES[name].direction == "lower"]
    result = evaluate_discrimination(scores, [int(value) for value in right], [readings.stem] * len(rows),
                                     lower_is_better=lower)  # fmt: skip
    print(result.format())


def table_row(name: str, rows: list[dict[str, str]]) -> str:
    """One line of the table; an interval for the share of pairs that keep the meaning."""
    if not rows:
        return f"| {name} | 0 |" + " – |" * 7
    cells = []
    for label in LABELS:
        for reader in (1, 2):
            count = sum(row[f"meaning_{reader}"] == label for row in rows)
            low, high = wilson_interval(count, len(rows))
            cells.append(f"{count / len(rows):.0%}" + (f" [{low:.0%}, {high:.0%}]" if label == "k" else ""))
    kept = [row for row in rows if row["meaning_1"] == row["meaning_2"] == "k"]
    copies = sum(row[f"copy_{reader}"] == "y" for row in kept for reader in (1, 2)) / max(1, 2 * len(kept))
    return f"| {name} | {len(rows)} | {' | '.join(cells)} | {copies:.0%} |"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("pairs")
    making.add_argument("kind", choices=["news", "captions"])
    making.add_argument("--translator", default="de-en")
    making.add_argument("--data", type=Path, default=os.environ.get("PARALOOM_DATA", "."))
    making.add_argument("-o", "--output", type=Path, default=Path("pairs.parquet"))
    drawing = commands.add_parser("draw")
    drawing.add_argument("pairs", type=Path)
    drawing.add_argument("-o", "--output", type=Path, default=Path("sheet.tsv"))
    drawing.add_argument("--seed", type=int, default=1)
    collecting = commands.add_parser("collect")
    collecting.add_argument("sheets", type=Path, nargs=2)
    collecting.add_argument("--key", type=Path, required=True)
    collecting.add_argument("--without-text", action="store_true")
    collecting.add_argument("-o", "--output", type=Path, default=Path("readings.tsv"))
    measuring = commands.add_parser("auc")
    measuring.add_argument("readings", type=Path)
    measuring.add_argument("--pairs", type=Path, required=True)
    counting = commands.add_parser("count")
    counting.add_argument("readings", type=Path, nargs="+")
    arguments = parser.parse_args()
    if arguments.command == "pairs":
        make_pairs(arguments.kind, Path(arguments.data), arguments.translator, arguments.output)
    elif arguments.command == "draw":
        draw(arguments.pairs, arguments.output, arguments.seed)
    elif arguments.command == "collect":
        collect(arguments.sheets, arguments.key, arguments.output, text=not arguments.without_text)
    elif arguments.command == "auc":
        areas(arguments.readings, arguments.pairs)
    else:
        for readings in arguments.readings:
            count(readings)


if __name__ == "__main__":
    main()
