"""Three languages (PARK17 §5): Korean and a third language aligned in English, whose translators are retrained.

    PARALOOM_DATA=… python benchmarks/third_language.py --third fr cs -o runs/third-language

The documents are passages of a game's texts (Shattered Pixel Dungeon), 20 strings each, in Korean, English and the
third language; in each, lines are joined with the one before (8 %) or dropped (3 %) at random, so that the gold beads
of any two languages are known.  BC⁰ is 1,500 pairs of GNOME's help for each of the two translators into English, which
are phrase-based.  Rows: Korean and the third language aligned *directly*, without English, by PARK17's aligner (the
texts share names and numbers only), by lengths and by all evidence; then *in English*, by round.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from paraloom.core.schema import DOCUMENTS
from paraloom.evaluate.alignment import PrecisionRecall
from paraloom.io import Corpus, write_corpus
from paraloom.papers.park17.selftraining import selftrain
from paraloom.pipeline.runner import run_pipeline
from paraloom.pipeline.toml import pipeline_from_tables

PASSAGES, STRINGS, BITEXT, ROUNDS = 60, 20, 1500, 2
JOINED, DROPPED = 0.08, 0.03


class Line(NamedTuple):
    """A line of a document, and the strings that it is made of."""

    text: str
    strings: frozenset[int]


def read_pairs(data: Path, name: str, lang: str) -> list[tuple[str, str]]:
    """Pairs of a language and English."""
    with gzip.open(data / f"bitext/{name}/{lang}-en.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        return [(row[0], row[1]) for row in (line.rstrip("\n").split("\t") for line in lines)]


def passages(data: Path, third: str) -> list[list[tuple[str, str, str]]]:
    """Passages of strings in Korean, the third language and English."""
    others = {english: text for text, english in read_pairs(data, "shattered-pixel-dungeon", third)}
    strings = [
        (korean, others[english], english)
        for korean, english in read_pairs(data, "shattered-pixel-dungeon", "ko")
        if english in others and len(english.split()) > 3
    ]
    return [strings[start : start + STRINGS] for start in range(0, PASSAGES * STRINGS, STRINGS)]


def cut(texts: Sequence[str], rng: random.Random) -> list[Line]:
    """Lines, some joined with the next, some dropped."""
    lines: list[Line] = []
    for number, text in enumerate(texts):
        chance = rng.random()
        if chance < DROPPED and len(texts) > 1:
            continue
        if chance < DROPPED + JOINED and lines and number - 1 in lines[-1].strings:
            lines[-1] = Line(f"{lines[-1].text} {text}", lines[-1].strings | {number})
        else:
            lines.append(Line(text, frozenset([number])))
    return lines


def gold_pairs(source: Sequence[Line], target: Sequence[Line]) -> Iterator[tuple[str, str]]:
    """The texts of the beads that have both sides: lines that have strings in common, directly or through others."""
    beads: list[tuple[set[int], set[int], set[int]]] = []
    for side, lines in enumerate((source, target)):
        for index, line in enumerate(lines):
            touching = [bead for bead in beads if bead[2] & line.strings]
            merged: tuple[set[int], set[int], set[int]] = (set(), set(), set(line.strings))
            merged[side].add(index)
            for bead in touching:
                beads.remove(bead)
                for mine, other in zip(merged, bead, strict=True):
                    mine |= other
            beads.append(merged)
    for sources, targets, _ in beads:
        if sources and targets:
            yield (
                " ".join(source[index].text for index in sorted(sources)),
                " ".join(target[index].text for index in sorted(targets)),
            )


def beads_f1(corpus: Corpus, gold: set[tuple[str, str]]) -> float:
    """F1 of sentence pairs whose texts are exactly those of a gold bead."""
    pairs = {(row["src"], row["tgt"]) for batch in corpus.batches(["src", "tgt"]) for row in batch.to_pylist()}
    correct = len(pairs & gold)
    return PrecisionRecall.of_counts(correct, len(pairs), correct, len(gold)).f1


def run(data: Path, folder: Path, third: str, seed: int) -> Iterator[tuple[str, dict[str, float]]]:
    """The rows of a third language."""
    rng = random.Random(seed)
    documents = [[cut(texts, rng) for texts in zip(*strings, strict=True)] for strings in passages(data, third)]
    folder.mkdir(parents=True, exist_ok=True)
    for side, lang in enumerate(("ko", third, "en")):
        texts = ["\n".join(line.text for line in document[side]) for document in documents]
        rows = [{"doc_id": f"{lang}{i}", "lang": lang, "text": text, "images": []} for i, text in enumerate(texts)]
        rng.shuffle(rows)
        if not (folder / lang).exists():
            batch = pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)
            write_corpus(folder / lang, [batch], kind="DOCUMENTS")
    for a, b in (("ko", "en"), (third, "en"), (third, "ko")):
        lines = (f"{a}{i}\t{b}{i}\n" for i in range(len(documents)))
        (folder / f"{a}-{b}.tsv").write_text("".join(lines), encoding="utf-8")
    gold = {pair for korean, other, _ in documents for pair in gold_pairs(other, korean)}
    with_english = {pair for _, other, english in documents for pair in gold_pairs(other, english)}
    yield from direct(folder, third, gold)
    for lang in ("ko", third):
        pairs = read_pairs(data, "gnome-help", lang)[:BITEXT]
        for side, suffix in enumerate((lang, "en")):
            text = "".join(f"{pair[side]}\n" for pair in pairs)
            (folder / f"bitext-{lang}.{suffix}").write_text(text, encoding="utf-8")
    (folder / "loop.toml").write_text(loop_file(folder, third, seed), encoding="utf-8")
    rounds = {row["round"]: row for row in selftrain(folder / "loop.toml", folder / "run", workers=1)}
    stages = {stage["name"]: stage for stage in json.loads((folder / "run/run.json").read_text())["stages"]}
    for number in range(1, ROUNDS + 1):
        corpora = {
            name: Corpus.open(folder / "run" / stages[name]["folder"])
            for name in (f"third-pairs-{number}", f"third-target-{number}-all")
        }
        yield (
            f"in English, MT{'⁰¹²'[number - 1]}",
            {
                "documents": rounds[number]["third_documents_f1"],
                "beads": beads_f1(corpora[f"third-pairs-{number}"], gold),
                "with English": rounds[number]["third_target_documents_f1"],
                "beads with English": beads_f1(corpora[f"third-target-{number}-all"], with_english),
            },
        )


def direct(folder: Path, third: str, gold: set[tuple[str, str]]) -> Iterator[tuple[str, dict[str, float]]]:
    """Korean and the third language without English: documents by all evidence, beads by each method."""
    sides: dict[str, Any] = {"source": third, "target": "ko"}
    stages: list[dict[str, Any]] = [
        {"name": "documents", "use": "align-documents", **sides, "gold": f"{third}-ko.tsv"},
        *(
            {"name": name, "use": "align-document-sentences", **sides, "pairs": "documents", "method": name}
            for name in ("park17", "length", "evidence")
        ),
    ]
    definition = pipeline_from_tables(stages, name="direct", seed=1, base=folder)
    documents, *aligned = run_pipeline(definition, folder / "direct", workers=1).stages
    for stage in aligned:
        figures = {"documents": float(documents.figures["f1"]), "beads": beads_f1(Corpus.open(stage.folder), gold)}
        yield f"directly, {stage.name}", figures


def loop_file(folder: Path, third: str, seed: int) -> str:
    """The loop as TOML: PARK17's aligner, documents by all evidence."""
    return f"""
seed = {seed}
rounds = {ROUNDS}
source = '{folder}/ko'
target = '{folder}/en'
gold_documents = '{folder}/ko-en.tsv'
[[bitext]]
source = '{folder}/bitext-ko.{{ko,en}}'
[development]
source = '{folder}/bitext-ko.{{ko,en}}'
limit = 50
[sentences]
method = 'park17'
[translator]
use = 'train-phrase-translator'
[third_language]
input = '{folder}/{third}'
gold = '{folder}/{third}-ko.tsv'
gold_target = '{folder}/{third}-en.tsv'
[[third_language.bitext]]
source = '{folder}/bitext-{third}.{{{third},en}}'
"""


def main() -> None:
    """Print a table for each third language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--third", nargs="+", default=["fr", "cs"], help="third languages: fr, cs, de, tr")
    parser.add_argument("--seed", type=int, default=1, help="of what is joined and dropped")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/third-language"), help="folder of the runs")
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", "")).absolute()
    columns = ("documents", "beads", "with English", "beads with English")
    for third in arguments.third:
        print(f"\n| Korean and {third} | documents, F1 | beads, F1 | {third} and English | beads, F1 |")
        print("|---|---:|---:|---:|---:|")
        for name, figures in run(data, arguments.output.absolute() / third, third, arguments.seed):
            cells = [f"{figures[column]:.4f}" if column in figures else "" for column in columns]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
