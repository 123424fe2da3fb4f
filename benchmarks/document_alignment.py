"""Measure document alignment on LibreOffice's help pages, with pages added that have no counterpart.

    PARALOOM_DATA=… python benchmarks/document_alignment.py cs de ko --setting recombined:2 split:2 -o work

Settings: `all` is the pages as they are; `recombined:N` adds N times as many pages a side, of paragraphs of others;
`split:N` takes counterparts away, so that there are N pages a side without one for each pair. Rows: the default, with
its floor; the same without a floor (margin of 0 or more); TF-IDF of surface words, mutual best. F1 has a 95 % interval,
from 1,000 resamples of the pairs. Pages are extracted to the folder of -o, once.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from paraloom.alignment.document_features import Documents
from paraloom.alignment.document_pairs import read_document_pairs
from paraloom.alignment.documents import DocumentAlignerConfig, align_documents
from paraloom.alignment.images import ImageKey
from paraloom.core.seeds import generator
from paraloom.io import Corpus
from paraloom.workflows.extract import ExtractConfig, extract_documents

Page = dict[str, Any]
Pairs = set[tuple[str, str]]

ROWS = {
    "default": DocumentAlignerConfig(),
    "without a floor": DocumentAlignerConfig(threshold=0.0),
    "surface words, mutual": DocumentAlignerConfig(
        weights={"words": 1.0}, rounds=0, assignment="mutual", threshold=-9.0
    ),
}


def read_pages(data: Path, work: Path, lang: str) -> list[Page]:
    """The pages of a language, extracted at the first call."""
    corpus = work / f"documents-{lang}"
    if not corpus.is_dir():
        for name in (f"pages.{lang}", "media"):
            with tarfile.open(data / f"{name}.tar.xz") as archive:
                archive.extractall(work, filter="data")
        config = ExtractConfig(main_text="site", keep_languages=True, min_characters=1, media=(work / "media",))
        extract_documents([str(work / lang)], corpus, config)
    return [row for batch in Corpus.open(corpus).batches(["doc_id", "text", "images"]) for row in batch.to_pylist()]


def recombined(pages: list[Page], count: int, seed: int) -> list[Page]:
    """Pages of as many paragraphs as real ones have, in runs from three or more of them."""
    rng = random.Random(seed)
    texts = [[line for line in page["text"].split("\n") if line.strip()] for page in pages]
    new_pages = []
    for number in range(count):
        size = len(rng.choice(texts))
        lines: list[str] = []
        while len(lines) < size:
            text = rng.choice(texts)
            length = min(-(-size // 3), size - len(lines), len(text))
            start = rng.randrange(len(text) - length + 1)
            lines += text[start : start + length]
        new_pages.append({"doc_id": f"made-{seed}-{number}", "text": "\n".join(lines), "images": []})
    return new_pages


def set_up(source: list[Page], target: list[Page], gold: Pairs, setting: str) -> tuple[list[Page], list[Page], Pairs]:
    """The pages of both sides in a setting, and their true pairs."""
    kind, _, ratio = setting.partition(":")
    if kind == "recombined":
        count = int(float(ratio) * len(source))
        return source + recombined(source, count, 11), target + recombined(target, count, 12), gold
    if kind == "split":
        pairs = sorted(gold)
        random.Random(1).shuffle(pairs)
        both = int(len(pairs) / (1 + 2 * float(ratio)))
        middle = both + (len(pairs) - both) // 2
        removed = {a for a, _ in pairs[both:middle]}, {b for _, b in pairs[middle:]}
        sides = [
            [page for page in pages if page["doc_id"] not in gone]
            for pages, gone in ((source, removed[0]), (target, removed[1]))
        ]
        return sides[0], sides[1], set(pairs[:both])
    return source, target, gold


def documents(pages: list[Page]) -> Documents:
    images = [[ImageKey(image["sha256"], image["phash"]) for image in page["images"]] for page in pages]
    return Documents.from_texts([page["text"] for page in pages], ids=[page["doc_id"] for page in pages], images=images)


def interval(pairs: Pairs, gold: Pairs) -> tuple[float, float]:
    """95 % interval of F1 over resamples of the pairs that are in either set."""
    items = sorted(pairs | gold)
    kinds = np.array([(item in pairs, item in gold, item in pairs and item in gold) for item in items], float)
    drawn = generator(1).integers(0, len(items), (1000, len(items)))
    counts = np.array([kinds[rows].sum(axis=0) for rows in drawn])
    low, high = np.percentile(2 * counts[:, 2] / (counts[:, 0] + counts[:, 1]), [2.5, 97.5])
    return float(low), float(high)


def main() -> None:
    """Print one line for each language, setting and row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+", help="cs, de, ko; each is aligned with English")
    parser.add_argument("--setting", nargs="+", default=["all"], help="all, recombined:N, split:N")
    parser.add_argument("--rows", nargs="+", default=list(ROWS), choices=list(ROWS), help="configurations")
    parser.add_argument("--output", "-o", type=Path, required=True, help="folder for the pages")
    options = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", "")) / "documents" / "libreoffice-help"
    if not data.is_dir():
        sys.exit(f"{data} not found: set PARALOOM_DATA to the folder of real corpora")
    options.output.mkdir(parents=True, exist_ok=True)
    english = read_pages(data, options.output, "en")
    for lang in options.languages:
        pages = read_pages(data, options.output, lang)
        gold = {(pair.target, pair.source) for pair in read_document_pairs(data / f"gold.documents.en-{lang}.tsv")}
        for setting in options.setting:
            source, target, true = set_up(pages, english, gold, setting)
            sides = documents(source), documents(target)
            for row in options.rows:
                start = time.perf_counter()
                chosen = {(pair.source, pair.target) for pair in align_documents(*sides, ROWS[row]).pairs()}
                seconds = time.perf_counter() - start
                right = len(chosen & true)
                low, high = interval(chosen, true)
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                print(
                    f"{lang}  {setting:13} {len(source):6,} {len(target):6,}  {row:22}"
                    f" P {right / max(1, len(chosen)):.4f} R {right / len(true):.4f}"
                    f" F1 {2 * right / (len(chosen) + len(true)):.4f} ({low:.4f} to {high:.4f})"
                    f"  {seconds:6.1f} s  {memory:6,.0f} MiB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
