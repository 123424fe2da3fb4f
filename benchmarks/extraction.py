"""Measure web extraction: pages per second, and gold paragraphs extracted unchanged, for each main-text method.

    PARALOOM_DATA=… python benchmarks/extraction.py en ko

The pages are the help pages of LibreOffice; the gold paragraphs are those with a counterpart in another language.
"""

from __future__ import annotations

import argparse
import gzip
import os
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from paraloom.api.extract import ExtractConfig, extract_documents
from paraloom.io import Corpus


def gold_paragraphs(folder: Path, lang: str) -> dict[str, set[str]]:
    """Page → its paragraphs with a counterpart; English ones with a German counterpart."""
    pair, side = ("en-de", 0) if lang == "en" else (f"en-{lang}", 1)
    paragraphs: dict[str, set[str]] = defaultdict(set)
    with gzip.open(folder / f"gold.paragraphs.{pair}.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            paragraphs[fields[side]].add(" ".join(fields[2 + side].split()))
    return paragraphs


def main() -> None:
    """Print one line for each language and method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="+", help="en, cs, de, ko")
    parser.add_argument("--main-text", nargs="+", default=["site", "trafilatura", "justext"], help="methods")
    options = parser.parse_args()
    folder = Path(os.environ.get("PARALOOM_DATA", "")) / "documents" / "libreoffice-help"
    if not folder.is_dir():
        sys.exit(f"{folder} not found: set PARALOOM_DATA to the folder of real corpora")
    with tempfile.TemporaryDirectory() as scratch:
        for lang in options.languages:
            with tarfile.open(folder / f"pages.{lang}.tar.xz") as archive:
                archive.extractall(scratch, filter="data")
            gold = gold_paragraphs(folder, lang)
            wanted = sum(map(len, gold.values()))
            for main_text in options.main_text:
                start = time.perf_counter()
                output = f"{scratch}/{lang}-{main_text}"
                counts = extract_documents(
                    [f"{scratch}/{lang}"], output, ExtractConfig(main_text=main_text, keep_languages=True)
                )
                seconds = time.perf_counter() - start
                whole = 0
                for batch in Corpus.open(output).batches(["doc_id", "text"]):
                    for name, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                        whole += len(gold.get(name, set()) & set(text.split("\n")))
                rate = f"{counts.read / seconds:5.0f} pages/s without images"
                print(f"{lang}  {main_text:12} {whole / wanted:6.1%} of {wanted:,} paragraphs  {rate}", flush=True)


if __name__ == "__main__":
    main()
