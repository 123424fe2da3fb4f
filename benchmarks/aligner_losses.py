"""Which beads a translator makes the sentence aligner lose or win: recall of gold beads by the kind of their text.

    PARALOOM_DATA=… python benchmarks/aligner_losses.py --language ko --train 1000 4000
    python benchmarks/aligner_losses.py --documents gold.jsonl --translators runs/…/artifact

With --language, the documents are those of the help pages, and translators of phrases are trained on so many
paragraphs of other pages.  The aligner by all evidence and PARK17's formula run without a translator and with each.
A gold bead belongs to the first of these kinds that fits: *without a counterpart*, *joined* (more than one sentence on
a side), *untranslated* (half of its source words are in the target), *short* (at most three words on a side), or
*other* one-to-one.  Beside the recall of a kind are the beads that are lost and won against no translator; above the
tables is the share of beads whose translation has no word of the target.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from paraloom.alignment.methods import aligner_config, fit_method
from paraloom.alignment.text_pairs import TextPair
from paraloom.core.beads import Bead, join_sentences
from paraloom.evaluate.alignment import AlignmentScore
from paraloom.io.formats.alignments import GoldDocument, read_gold_documents
from paraloom.mt.loading import open_translator
from paraloom.papers.park17.phrase_translator import train_phrase_translator
from paraloom.stages.documents import text_pairs
from paraloom.text.tokens import words

KINDS = ("without a counterpart", "joined", "untranslated", "short", "other")
SHORT = 3

Key = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Document, source and target sentences of a bead."""


def kind_of(document: GoldDocument, bead: Bead) -> str:
    """The kind of a gold bead."""
    if not (bead.source and bead.target):
        return "without a counterpart"
    if len(bead.source) + len(bead.target) > 2:
        return "joined"
    source, target = (
        words(join_sentences(side, indices), punctuation=False)
        for side, indices in ((document.source, bead.source), (document.target, bead.target))
    )
    if 2 * len(set(source) & set(target)) >= max(1, len(set(source))):
        return "untranslated"
    return "short" if min(len(source), len(target)) <= SHORT else "other"


def correct_beads(
    documents: Sequence[GoldDocument], pairs: Sequence[TextPair], method: str
) -> tuple[set[Key], AlignmentScore]:
    """The gold beads that the aligner finds, and its score."""
    aligner = fit_method(method, pairs, aligner_config(method, 3))
    correct: set[Key] = set()
    score = AlignmentScore()
    for number, (document, pair) in enumerate(zip(documents, pairs, strict=True)):
        beads = aligner.align(pair)
        score.add(document.gold, beads)
        predicted = {(bead.source, bead.target) for bead in beads}
        correct |= {(number, *bead[:2]) for bead in document.gold if bead[:2] in predicted}
    return correct, score


def useless(documents: Sequence[GoldDocument], pairs: Sequence[TextPair]) -> Counter[str]:
    """One-to-one beads whose translation shares no word with the target, by kind."""
    counts: Counter[str] = Counter()
    for document, pair in zip(documents, pairs, strict=True):
        for bead in document.gold:
            if len(bead.source) == len(bead.target) == 1:
                translation = set(words(pair.source_translations[0][bead.source[0]], punctuation=False))
                counts[kind_of(document, bead)] += not translation & set(words(document.target[bead.target[0]]))
    return counts


def paragraphs(data: Path, language: str, tests: Path) -> list[tuple[str, str]]:
    """Paragraphs of the help pages that are in none of the test documents, each once, in random order."""
    with gzip.open(tests, "rt", encoding="utf-8") as lines:
        tested = {json.loads(line)["document"].partition("-")[2] for line in lines}
    pages = data / f"documents/libreoffice-help/gold.paragraphs.en-{language}.tsv.gz"
    with gzip.open(pages, "rt", encoding="utf-8", newline="\n") as rows:
        fields = [row.rstrip("\n").split("\t") for row in rows]
    pairs = {(source, target) for _, page, target, source in fields if Path(page).stem not in tested}
    return random.Random(1).sample(sorted(pairs), len(pairs))


def main() -> None:
    """Print a table for each method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=Path, help="JSON lines with gold beads")
    parser.add_argument("--translators", nargs="+", default=[], help="folders or names")
    parser.add_argument("--language", help="of the help pages: cs, de or ko")
    parser.add_argument("--train", type=int, nargs="+", default=[], help="paragraphs that translators are trained on")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/aligner-losses"), help="folder of translators")
    parser.add_argument("--limit", type=int, default=0, help="documents, from the beginning")
    arguments = parser.parse_args()
    translators = list(arguments.translators)
    if arguments.language:
        data = Path(os.environ.get("PARALOOM_DATA", ""))
        arguments.documents = data / f"sentences/libreoffice-help/{arguments.language}-en.jsonl.gz"
        for size in arguments.train:
            folder = arguments.output / f"{arguments.language}-{size}"
            if not folder.exists():
                pairs = paragraphs(data, arguments.language, arguments.documents)[:size]
                train_phrase_translator([a for a, _ in pairs], [b for _, b in pairs], folder)
            translators.append(str(folder))
    documents = read_gold_documents(arguments.documents)[: arguments.limit or None]
    kinds = {
        (number, *bead[:2]): kind_of(document, bead)
        for number, document in enumerate(documents)
        for bead in document.gold
    }
    gold = Counter(kinds.values())
    print("gold beads: " + ", ".join(f"{kind} {gold[kind]}" for kind in KINDS))
    bare = text_pairs(documents)
    translated = {name: text_pairs(documents, open_translator(name, "beam:1")) for name in translators}
    for name, pairs in translated.items():
        shares = useless(documents, pairs)
        print(f"{name}: translations without a word of the target: ", end="")
        print(", ".join(f"{kind} {shares[kind] / max(1, gold[kind]):.2f}" for kind in KINDS[2:]))
    for method in ("evidence", "park17"):
        print(f"\n| {method} | F1 | {' | '.join(KINDS)} |\n|---|---:|{'---:|' * len(KINDS)}")
        before, score = correct_beads(documents, bare, method)
        for name, pairs in {"none": bare, **translated}.items():
            correct, score = (before, score) if name == "none" else correct_beads(documents, pairs, method)
            cells = []
            for kind in KINDS:
                own = [key for key in kinds if kinds[key] == kind]
                lost = sum(key in before and key not in correct for key in own)
                won = sum(key in correct and key not in before for key in own)
                cells.append(f"{sum(key in correct for key in own) / max(1, len(own)):.3f} (-{lost} +{won})")
            print(f"| {name} | {score.exact.f1:.4f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
