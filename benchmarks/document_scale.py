"""Measure document alignment at increasing numbers of pages: seconds, memory, and F1.

    PARALOOM_DATA=… python benchmarks/document_scale.py --pages 1000 10000 100000 -o work

A page is made of sections of three or more of LibreOffice's help pages (runs of up to six paragraphs of which the other
language has the counterparts), and has as many paragraphs as some real page; its counterpart is made of the same
sections. A tenth of the pages is missing on each side. Among 100,000 pages, a paragraph occurs in some fifty of them.
Pages are written to the folder of -o, and each number of pages is measured in a process of its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from paraloom.alignment.document_features import open_documents
from paraloom.alignment.documents import align_documents
from paraloom.core.schema import DOCUMENTS
from paraloom.io import Corpus, write_corpus

Paragraphs = list[tuple[str, str]]
"""Paragraphs of a page, with their counterparts."""

SIDES = ("source", "target")

# Paragraphs of a section, pages that are missing on each side (one in so many), and pages of a batch.
_SECTION, _MISSING, _BATCH = 6, 10, 500


def read_paragraphs(path: Path) -> list[Paragraphs]:
    """The paragraphs of each pair of pages that the gold standard has in both languages, the foreign one first."""
    pages = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            page, _, english, foreign = line.rstrip("\n").split("\t")
            pages[page].append((foreign, english))
    return list(pages.values())


def make_page(pages: list[Paragraphs], number: int) -> Paragraphs:
    """The page of a number: three or more sections of real pages, each at most a third of it."""
    rng = random.Random(number)
    size = len(rng.choice(pages))
    paragraphs: Paragraphs = []
    while len(paragraphs) < size:
        page = rng.choice(pages)
        length = min(_SECTION, -(-size // 3), size - len(paragraphs), len(page))
        start = rng.randrange(len(page) - length + 1)
        paragraphs += page[start : start + length]
    return paragraphs


def numbers(count: int, side: int) -> list[int]:
    """The pages that a side has, in an order of its own."""
    rng = random.Random(f"{count} {side}")
    order = rng.sample(range(count), count)
    return order[: count - count // _MISSING]


def batches(pages: list[Paragraphs], order: list[int], side: int, lang: str) -> Iterator[pa.RecordBatch]:
    """The pages of one side as rows of DOCUMENTS."""
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        texts = ["\n".join(pair[side] for pair in make_page(pages, number)) for number in part]
        rows = [
            {"doc_id": str(number), "lang": lang, "url": "", "title": "", "text": text, "images": []}
            for number, text in zip(part, texts, strict=True)
        ]
        yield pa.RecordBatch.from_pylist(rows, schema=DOCUMENTS)


def measure(folder: Path, count: int) -> dict[str, float]:
    """Align the pages in this process."""
    start, processor = time.perf_counter(), time.process_time()
    sides = [open_documents(Corpus.open(folder / f"{count}-{side}")) for side in SIDES]
    features = time.perf_counter() - start
    chosen = {(pair.source, pair.target) for pair in align_documents(sides[0], sides[1]).pairs()}
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    right = sum(source == target for source, target in chosen)
    gold = len(set(sides[0].ids) & set(sides[1].ids))
    return {
        **{"pages": len(sides[0]), "features": features, "seconds": seconds, "processor": processor},
        **{"precision": right / max(1, len(chosen)), "recall": right / gold, "f1": 2 * right / (len(chosen) + gold)},
        "MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    """Print one line for each number of pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[1000, 10_000, 100_000], help="pages with counterpart")
    parser.add_argument("--language", default="cs", help="cs, de, ko; aligned with English")
    parser.add_argument("--output", "-o", type=Path, required=True, help="folder for the pages")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = options.output / options.language
    if options.one:
        print(json.dumps(measure(folder, options.pages[0])))
        return
    path = Path(os.environ.get("PARALOOM_DATA", "")) / "documents" / "libreoffice-help"
    path /= f"gold.paragraphs.en-{options.language}.tsv.gz"
    if not path.is_file():
        sys.exit(f"{path} not found: set PARALOOM_DATA to the folder of real corpora")
    pages = read_paragraphs(path)
    for count in options.pages:
        for index, (side, lang) in enumerate(zip(SIDES, (options.language, "en"), strict=True)):
            corpus = folder / f"{count}-{side}"
            if not corpus.is_dir():
                write_corpus(corpus, batches(pages, numbers(count, index), index, lang), kind="DOCUMENTS")
        command = [sys.executable, __file__, "--one", "--pages", str(count), "--language", options.language]
        command += ["-o", str(options.output)]
        row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        print(
            f"{options.language}  {row['pages']:8,} pages  P {row['precision']:.4f} R {row['recall']:.4f}"
            f" F1 {row['f1']:.4f}  {row['features']:7.1f} s features  {row['seconds']:8.1f} s in all"
            f"  {row['processor']:8.1f} s of processor  {1000 * row['processor'] / row['pages']:6.2f} ms a page"
            f"  {row['MiB']:7,.0f} MiB",
            flush=True,
        )


if __name__ == "__main__":
    main()
