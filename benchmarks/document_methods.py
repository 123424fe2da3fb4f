"""PARK17's and MultiNews' document pairs as published, beside ours, on the same pages.

    PARALOOM_DATA=… python benchmarks/document_methods.py --languages cs de ko --extracted work
    PARALOOM_DATA=… python benchmarks/document_methods.py --news --translator TRANSLATOR

The help pages are extracted by the commands in `examples/help-documents.toml` (--extracted: their folder `work-all`).
A tenth of the pages of each side has no counterpart.  --news: NTREX's 123 documents, Korean and English, all with a
counterpart, where topics can tell texts apart; θ is swept.  *random* pairs each page with any other.

MultiNews takes the best of all targets by S + W + N; its pictures are a further column.  PARK17 takes the best of all
targets by the cosine of topics, if it is θ or more; the source is translated where a translator is given, or else the
lexicon that our aligner makes translates it word by word.  --corpora: any documents, such as those that a loop
translated.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from paraloom.alignment.document_evidence import words_in_other_language
from paraloom.alignment.document_features import Documents, open_documents
from paraloom.alignment.document_pairs import DocumentPair, read_document_pairs
from paraloom.alignment.documents import EVIDENCE, DocumentAlignerConfig, align_documents
from paraloom.evaluate.alignment import score_documents
from paraloom.io import Corpus
from paraloom.mt.loading import open_translator
from paraloom.mt.streams import best_translations
from paraloom.papers.multinews.document_pairs import all_scores, best_pairs, pair_by_scores
from paraloom.papers.park17.topic_pairs import pair_by_topics

Gold = list[tuple[str, str]]
Row = tuple[str, list[DocumentPair]]

METHODS = ("multinews", "ours", "park17")
THETAS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9)


def rows(
    source: Documents, target: Documents, methods: Sequence[str], topics: Sequence[int], seed: int
) -> Iterator[Row]:
    """The pairs by each method."""
    rng = random.Random(seed)
    yield "random", [DocumentPair(name, rng.choice(target.ids)) for name in source.ids]
    if "multinews" in methods:
        yield from multinews_rows(source, target)
    learned = None
    if "ours" in methods:
        words = DocumentAlignerConfig(weights=EVIDENCE["words"])
        yield "ours, words", align_documents(source, target, words, seed=seed).pairs()
        ours = align_documents(source, target, DocumentAlignerConfig(weights=EVIDENCE["all"]), seed=seed)
        yield "ours, all evidence", ours.pairs()
        learned = ours.aligner.learned[0] if ours.aligner else None
    if "park17" in methods:
        translated = source
        if source.translations is None:
            translated = replace(source, translations=words_in_other_language(source, learned))
        for number in topics:
            pairs = pair_by_topics(translated, target, 0.0, number, seed)
            for theta in THETAS:
                yield f"PARK17, {number} topics, θ {theta}", [pair for pair in pairs if pair.score >= theta]


def multinews_rows(source: Documents, target: Documents) -> Iterator[Row]:
    """MultiNews' scores one by one, together, with lines in the place of sentences, and with pictures."""
    for name in ("sentences", "words", "entities"):
        pairs: list[DocumentPair] = []
        for block in all_scores(source, target):
            scores: npt.NDArray[np.float64] = getattr(block, name)
            pairs += best_pairs(source, target, block.first, scores)
        yield f"MultiNews, {name} alone", pairs
    yield "MultiNews as published, S + W + N", pair_by_scores(source, target)
    lines = [side.paragraph_counts.astype(np.float64) for side in (source, target)]
    pairs = []
    for block in all_scores(source, target):
        counts = lines[0][block.first : block.first + len(block.words), None]
        ratio = np.minimum(counts, lines[1]) / np.maximum(np.maximum(counts, lines[1]), 1)
        pairs += best_pairs(source, target, block.first, ratio + block.words + block.entities)
    yield "MultiNews, S of lines", pairs
    yield "MultiNews and pictures", pair_by_scores(source, target, EVIDENCE["pictures"]["pictures"])


def help_pages(data: Path, extracted: Path, language: str) -> tuple[Documents, Documents, Gold]:
    """The help pages of a language and of English, and the true pairs."""
    source, target = (open_documents(Corpus.open(extracted / f"documents-{lang}")) for lang in (language, "en"))
    gold = read_document_pairs(data / f"documents/libreoffice-help/gold.documents.en-{language}.tsv")
    return source, target, [(pair.target, pair.source) for pair in gold]


def corpora(source: Path, target: Path, gold: Path) -> tuple[Documents, Documents, Gold]:
    """Two corpora of documents, the source's perhaps translated, and their true pairs."""
    sides = (open_documents(Corpus.open(path)) for path in (source, target))
    return *sides, [(pair.source, pair.target) for pair in read_document_pairs(gold)]  # type: ignore[return-value]


def news(data: Path, translator: str | None) -> tuple[Documents, Documents, Gold]:
    """NTREX's documents in Korean and in English, shuffled, and the true pairs."""
    texts: dict[str, tuple[list[str], list[str]]] = {}
    with gzip.open(data / "bitext/ntrex/ko-en.tsv.gz", "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            name, source, target = line.rstrip("\n").split("\t")
            for side, sentence in zip(texts.setdefault(name, ([], [])), (source, target), strict=True):
                side.append(sentence)
    names = list(texts)
    order = random.Random(1).sample(names, len(names))
    korean = [texts[name][0] for name in names]
    translations = None
    if translator is not None:
        model = open_translator(translator, "beam:1")
        translated = iter(best_translations(model, [line for document in korean for line in document]))
        translations = ["\n".join(next(translated) or line for line in document) for document in korean]
    source = Documents.from_texts(["\n".join(lines) for lines in korean], ids=names, translations=translations)
    target = Documents.from_texts(["\n".join(texts[name][1]) for name in order], ids=order)
    return source, target, [(name, name) for name in names]


def main() -> None:
    """Print a table for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--languages", nargs="*", default=[], help="languages of help pages: cs, de, ko")
    parser.add_argument("--extracted", type=Path, default=Path("work"), help="folder of the extracted documents")
    parser.add_argument("--news", action="store_true", help="NTREX's documents")
    parser.add_argument("--translator", help="folder or name of a translator from Korean, for --news")
    parser.add_argument("--corpora", type=Path, nargs=3, metavar=("SOURCE", "TARGET", "GOLD"), help="other documents")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS, help="only these methods")
    parser.add_argument("--topics", type=int, nargs="+", default=[100], help="numbers of topics")
    parser.add_argument("--seed", type=int, default=1, help="of the topic model")
    arguments = parser.parse_args()
    data = Path(os.environ.get("PARALOOM_DATA", ""))
    tasks = [(language, help_pages(data, arguments.extracted, language)) for language in arguments.languages]
    if arguments.news:
        tasks.append(("NTREX", news(data, arguments.translator)))
    if arguments.corpora:
        tasks.append((str(arguments.corpora[0]), corpora(*arguments.corpora)))
    for name, (source, target, gold) in tasks:
        print(f"{name}: {len(source)} and {len(target)} documents, {len(gold)} pairs")
        print("| | P | R | F1 |\n|---|---:|---:|---:|")
        for row, pairs in rows(source, target, arguments.methods, arguments.topics, arguments.seed):
            score = score_documents(gold, [(pair.source, pair.target) for pair in pairs])
            print(f"| {row} | {score.precision:.4f} | {score.recall:.4f} | {score.f1:.4f} |", flush=True)


if __name__ == "__main__":
    main()
