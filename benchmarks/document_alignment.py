"""Measure document alignment on LibreOffice's help pages, with pages added that have no counterpart.

    PARALOOM_DATA=… python benchmarks/document_alignment.py cs de ko --setting recombined:2 split:2 -o work
    for name in cs de en-us ko; do apt-get download libreoffice-help-$name; done
    for package in libreoffice-help-*.deb; do dpkg -x $package packages; done
    python benchmarks/document_alignment.py cs --packages packages --rows content "addresses alone" "links alone" \\
        "content and links" --weights .1 .3 1 3 -o work

Settings: `all` is the pages as they are; `recombined:N` adds N times as many pages a side, of paragraphs of others;
`split:N` takes counterparts away, so that there are N pages a side without one for each pair. Rows: the default, with
its floor; the same without a floor (margin of 0 or more); TF-IDF of surface words, mutual best; the default with an
encoder of both languages (--encoder), and with the links of pages, at each of the --weights. F1 has a 95 % interval,
from 1,000 resamples of the pairs. Pages are extracted to the folder of -o, once.

The pages in PARALOOM_DATA have opaque names and no links. --packages is a folder with Debian's packages of the same
pages (7.4), where they have both; names are the same in all languages, and a page's counterpart has the same path.
Pages of the same text are left out, and a tenth of the others in each language, at random, as in PARALOOM_DATA; so is
the link of each page to its source code, which has the page's own path.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paraloom.alignment.document_features import Documents
from paraloom.alignment.document_pairs import read_document_pairs
from paraloom.alignment.documents import DocumentAlignerConfig, align_documents
from paraloom.alignment.images import ImageKey
from paraloom.api.extract import ExtractConfig, extract_documents
from paraloom.core.protocols import EncoderLike
from paraloom.core.seeds import generator
from paraloom.embed.store import load_encoder
from paraloom.io import Corpus

Page = dict[str, Any]
Pairs = set[tuple[str, str]]

SOURCE_CODE = "opengrok.libreoffice.org"
"""Where each page links to its own source code."""


class Row(NamedTuple):
    """A configuration.

    Args:
        config: The settings.
        shown: What the pages show beside their content: addresses, links, an encoder's vectors.
        swept: The kind of evidence that has each of the --weights.
    """

    config: DocumentAlignerConfig = DocumentAlignerConfig()
    shown: tuple[str, ...] = ()
    swept: str | None = None


ROWS = {
    "default": Row(shown=("addresses", "links")),
    "without a floor": Row(DocumentAlignerConfig(threshold=0.0), ("addresses", "links")),
    "surface words, mutual": Row(
        DocumentAlignerConfig(weights={"words": 1.0}, rounds=0, assignment="mutual", threshold=-9.0)
    ),
    "content": Row(),
    "addresses alone": Row(DocumentAlignerConfig(weights={"addresses": 1.0}), ("addresses",)),
    "links alone": Row(DocumentAlignerConfig(weights={"links": 1.0}), ("links",)),
    "content and links": Row(shown=("links",), swept="links"),
    "content and encoder": Row(shown=("encoder",), swept="encoder"),
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
    return read_rows(corpus, ["doc_id", "text", "images"])


def read_packages(packages: Path, work: Path, lang: str) -> list[Page]:
    """The pages of a language from Debian's package, nine tenths of those that have a text of their own."""
    corpus = work / f"packages-{lang}"
    if not corpus.is_dir():
        folder = packages / "usr" / "share" / "libreoffice" / "help" / {"en": "en-US"}.get(lang, lang)
        if not folder.is_dir():
            sys.exit(f"{folder} not found: unpack libreoffice-help-{lang} to the folder of --packages with dpkg -x")
        extract_documents([str(folder)], corpus, ExtractConfig(main_text="site", keep_languages=True, min_characters=1))
    rows = read_rows(corpus, ["doc_id", "text", "url", "links"])
    counts = Counter(row["text"] for row in rows)
    pages = [
        {**row, "images": [], "links": [link for link in row["links"] or [] if SOURCE_CODE not in link]}
        for row in rows
        if counts[row["text"]] == 1
    ]
    missing = set(random.Random(lang).sample(range(len(pages)), len(pages) // 10))
    return [page for index, page in enumerate(pages) if index not in missing]


def read_rows(corpus: Path, columns: list[str]) -> list[Page]:
    return [row for batch in Corpus.open(corpus).batches(columns) for row in batch.to_pylist()]


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


def documents(pages: list[Page], lang: str, encoder: EncoderLike | None) -> Documents:
    """The pages with all that they may show."""
    images = [[ImageKey(image["sha256"], image["phash"]) for image in page["images"]] for page in pages]
    addressed = all("url" in page for page in pages)
    return Documents.from_texts(
        [page["text"] for page in pages],
        ids=[page["doc_id"] for page in pages],
        images=images,
        encoder=encoder,
        language=lang,
        addresses=[page["url"] for page in pages] if addressed else None,
        links=[page["links"] for page in pages] if addressed else None,
    )


def show(side: Documents, shown: tuple[str, ...]) -> Documents:
    """The documents with what a row shows of them."""
    hidden: dict[str, Any] = {name: None for name in ("addresses", "links", "encoder") if name not in shown}
    if "encoder" in hidden:
        hidden["vectors"] = None
    return replace(side, **hidden)


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
    parser.add_argument("--rows", nargs="+", default=list(ROWS)[:3], choices=list(ROWS), help="configurations")
    parser.add_argument("--weights", nargs="+", type=float, default=[0.3], help="of links, or of the encoder")
    parser.add_argument("--encoder", type=Path, help="an encoder of all languages: a folder, or a bundled name")
    parser.add_argument("--packages", type=Path, help="folder of Debian's packages, for addresses and links")
    parser.add_argument("--output", "-o", type=Path, required=True, help="folder for the pages")
    options = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", "")) / "documents" / "libreoffice-help"
    if not (options.packages or data.is_dir()):
        sys.exit(f"{data} not found: set PARALOOM_DATA to the folder of real corpora")
    options.output.mkdir(parents=True, exist_ok=True)
    encoder = None if options.encoder is None else load_encoder(options.encoder)
    read = read_packages if options.packages else read_pages
    english = read(options.packages or data, options.output, "en")
    for lang in options.languages:
        pages = read(options.packages or data, options.output, lang)
        if options.packages:
            paths = {page["doc_id"] for page in pages} & {page["doc_id"] for page in english}
            gold = {(path, path) for path in paths}
        else:
            gold = {(pair.target, pair.source) for pair in read_document_pairs(data / f"gold.documents.en-{lang}.tsv")}
        for setting in options.setting:
            source, target, true = set_up(pages, english, gold, setting)
            sides = documents(source, lang, encoder), documents(target, "en", encoder)
            for row in options.rows:
                shown = ROWS[row].shown
                for name, config in configurations(row, options.weights):
                    start = time.perf_counter()
                    alignment = align_documents(show(sides[0], shown), show(sides[1], shown), config)
                    chosen = {(pair.source, pair.target) for pair in alignment.pairs()}
                    seconds = time.perf_counter() - start
                    report(f"{lang}  {setting:13} {len(source):6,} {len(target):6,}  {name:24}", chosen, true, seconds)


def configurations(row: str, weights: list[float]) -> Iterator[tuple[str, DocumentAlignerConfig]]:
    """The configurations of a row by their names: one for each of the weights, where one is swept."""
    config, _, swept = ROWS[row]
    if swept is None:
        yield row, config
        return
    for weight in weights:
        yield f"{row} × {weight:g}", replace(config, weights={**config.weights, swept: weight})


def report(name: str, chosen: Pairs, true: Pairs, seconds: float) -> None:
    """Print the figures of a row."""
    right = len(chosen & true)
    low, high = interval(chosen, true)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{name} P {right / max(1, len(chosen)):.4f} R {right / len(true):.4f}"
        f" F1 {2 * right / (len(chosen) + len(true)):.4f} ({low:.4f} to {high:.4f})"
        f"  {seconds:6.1f} s  {memory:6,.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    main()
