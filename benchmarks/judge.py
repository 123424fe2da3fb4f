"""How well the judge of meaning tells right pairs from wrong ones, compared with the other scores.

    PARALOOM_DATA=/path/to/corpora python benchmarks/judge.py sets -o runs/judge/sets.parquet
    PARALOOM_DATA=/path/to/corpora python benchmarks/judge.py measure runs/judge/sets.parquet -o runs/judge/figures.json

`sets` makes the pairs: sentences of Tatoeba, of news, questions and captions that no training saw, whose real
paraphrases are right and come back with one change of each kind, and sets that people labeled. `measure` scores them
and writes areas under the ROC curve, and the shares of right and wrong pairs above thresholds.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import importlib.util
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paraloom.pairs.judging.changes import KINDS, Words, change
from paraloom.pairs.lookalikes import names_in

ROOT = Path(__file__).resolve().parents[1]
Row = dict[str, Any]
SEED = 20


def recipe() -> Any:
    """The module that makes the training pairs, for its rule of what is held out."""
    spec = importlib.util.spec_from_file_location("judge_recipe", ROOT / "examples/judge.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fields(path: Path) -> Iterator[list[str]]:
    """Cells of a tab-separated file, plain or compressed."""
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


def right_pairs(data: Path, made: Any) -> dict[str, list[tuple[str, str]]]:
    """Real paraphrases of four kinds of text that no training saw."""
    tatoeba = {pair for pair, count in made.common_translations(data).items() if count >= 2 and made.agree(*pair)}
    news = [(row[3], row[4]) for row in fields(data / "bitext/wmt-news/en-two-references.tsv.gz")]
    questions = [(row[0], row[1]) for row in fields(data / "paraphrase/quora-50k/test.tsv.gz") if row[2] == "new"]
    pairs, relations = (list(fields(data / f"sts/sick2014/SICK.test{part}.tsv")) for part in ("", ".entailment"))
    captions = [(a, b) for (score, a, b), (_, relation) in zip(pairs, relations, strict=True)
                if float(score) >= 4.5 and relation == "ENTAILMENT"]  # fmt: skip
    return {
        "Tatoeba": [pair for pair in sorted(tatoeba) if (made.is_held_out(pair[0]) or made.is_held_out(pair[1]))
                    and min(map(len, pair)) > 20],
        "news": [(a, b) for a, b in news if a.lower() != b.lower()],
        "questions": [(a, b) for a, b in questions if a.lower() != b.lower()],
        "captions": captions,
    }  # fmt: skip


def labeled(data: Path) -> Iterator[Row]:
    """Sets that people labeled."""
    def row(name: str, a: str, b: str, label: bool) -> Row:
        return {"set": name, "kind": "", "src": a, "tgt": b, "label": int(label)}

    for label, a, b in fields(data / "paraphrase/paws-wiki/test.half1.tsv.gz"):
        yield row("PAWS-Wiki", a, b, label == "1")
    for label, _, _, a, b in fields(data / "paraphrase/mrpc/msr_paraphrase_test.tsv"):
        yield row("MRPC", a, b, label == "1")
    for votes, a, b in fields(data / "paraphrase/twitter-url/test.votes.tsv.gz"):
        if votes != "3":
            yield row("Twitter", a, b, int(votes) >= 4)
    for part in ("train", "validation"):
        for cells in fields(data / f"paraphrase/parade/{part}.tsv.gz"):
            yield row("PARADE", cells[3], cells[4], cells[1] == "1")
    for label, a, b in fields(data / "paraphrase/apt-human/train.tsv.gz"):
        yield row("APT", a, b, label == "1")
    pairs, relations = (list(fields(data / f"sts/sick2014/SICK.test{part}.tsv")) for part in ("", ".entailment"))
    for (score, a, b), (_, relation) in zip(pairs, relations, strict=True):
        if relation == "ENTAILMENT" and float(score) >= 4.5:
            yield row("SICK", a, b, True)
        elif relation == "CONTRADICTION" or float(score) < 3.5:
            yield row("SICK", a, b, False)
    with (ROOT / "benchmarks/readings/quickstart.tsv").open(encoding="utf-8") as file:
        for cells in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield row("quickstart, read", cells["src"], cells["tgt"], cells["meaning_1"] == cells["meaning_2"] == "k")


def make_sets(data: Path, limit: int = 1500) -> list[Row]:
    """All pairs with label, set and kind of change."""
    made, random = recipe(), np.random.default_rng(SEED)
    tatoeba = {pair for pair in made.common_translations(data) if made.agree(*pair)}
    right = right_pairs(data, made)
    texts = [text for pairs in right.values() for pair in pairs for text in pair]
    pool = texts + [row[-1] for row in fields(data / "bitext/tatoeba-2/es-en.tsv.gz")]
    near, synonyms = made.near_words(data, tatoeba, pool)
    rows: list[Row] = []
    for name, pairs in right.items():
        chosen = [pairs[i] for i in random.permutation(len(pairs))[:limit].tolist()]
        words = Words(names_in([text for pair in chosen for text in pair]), near, synonyms)
        for a, b in chosen:
            rows.append({"set": name, "kind": "", "src": a, "tgt": b, "label": 1})
        for kind in KINDS:
            count = 0
            for a, b in chosen:
                changed = change(b, kind, random, words)
                if changed is not None and changed.lower() != a.lower() and count < 500:
                    rows.append({"set": name, "kind": kind, "src": a, "tgt": changed, "label": 0})
                    count += 1
    rows += labeled(data)
    return [row for row in rows if row["src"].strip() and row["tgt"].strip()]


def auc(values: np.ndarray, labels: np.ndarray) -> float:
    """Probability that a right pair has the better value; ties count half."""
    from scipy.stats import rankdata

    right = labels == 1
    if not right.any() or right.all():
        return float("nan")
    ranks = rankdata(values)
    n, m = right.sum(), (~right).sum()
    return float((ranks[right].sum() - n * (n + 1) / 2) / (n * m))


def main() -> None:
    """Make the sets, or measure on them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    sets = commands.add_parser("sets")
    sets.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    rows = make_sets(Path(os.environ["PARALOOM_DATA"]))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), arguments.output)


if __name__ == "__main__":
    main()
