"""Stages that pair documents which say the same: by their own evidence, and by what further languages say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from paraloom.align.document_features import open_documents
from paraloom.align.document_pairs import NamedPair, named, read_document_pairs, write_document_pairs
from paraloom.align.documents import EVIDENCE, DocumentsConfig, align_documents
from paraloom.align.pivot import agree, turned_as_met
from paraloom.core.errors import ConfigError, DataError, nearest
from paraloom.core.stage import Fit, Json, Ref, StageContext
from paraloom.evaluate.alignment import score_documents
from paraloom.io import Corpus

PAIRS_FILE = "pairs.tsv"
"""In the artifact of align-documents and agree-documents: a pair of documents a line."""


@dataclass(frozen=True, kw_only=True)
class AlignDocuments(Fit):
    """Pairs the documents of two languages that say the same (PARK17 §3, MNEWS §4).

    source, target: corpora of documents; one with a column `translation` is compared by that, too.  evidence: words,
    pictures, topics, scores, all, or several of them, as 'words,pictures'.  how, by, threshold, candidates, rounds:
    see align.documents.DocumentsConfig.  gold: a file of true pairs, target name first where `gold_turned`; it is read
    after the pairs were written, and measures them, as far as both documents are there.  pivot: the translations of
    both are into a third language, and are compared in the place of the texts (PARK17 §5).
    """

    inputs: ClassVar[tuple[str, ...]] = ("source", "target")
    version: ClassVar[str] = "1"

    source: Ref
    target: Ref
    evidence: str = "all"
    how: str = "one-to-one"
    by: Literal["margin", "score"] = "margin"
    threshold: float = 0.0
    candidates: int = 16
    rounds: int = 2
    gold: Path | None = None
    gold_turned: bool = False
    pivot: bool = False

    def validate(self) -> None:
        self.settings.check()

    @property
    def settings(self) -> DocumentsConfig:
        """How documents are paired."""
        return DocumentsConfig(
            weights=evidence_of(self.evidence),
            candidates=self.candidates,
            how=self.how,
            by=self.by,
            threshold=self.threshold,
            rounds=self.rounds,
        )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write pairs.tsv; figures: how many, and with `gold` precision, recall and F1."""
        source, target = (
            open_documents(Corpus.open(context.inputs[side]), pivot=self.pivot) for side in ("source", "target")
        )
        found = align_documents(source, target, self.settings, seed=context.seed)
        pairs = list(named(found, source.ids, target.ids))
        write_document_pairs(folder / PAIRS_FILE, pairs)
        figures: dict[str, Json] = {"documents": [len(source), len(target)], "pairs": len(found)}
        if self.gold is not None:
            figures |= against_gold(self.gold, self.gold_turned, pairs, (set(source.ids), set(target.ids)))
        return figures


@dataclass(frozen=True, kw_only=True)
class AgreeDocuments(Fit):
    """Checks and completes pairs of documents by further languages (align.agreement).

    pairs: of source and target, by align-documents or a file.  there, back: for each further language the pairs of
    source and that language, and of that language and target, in either direction where names tell it.  gold: as for
    align-documents; all of its pairs count.
    """

    inputs: ClassVar[tuple[str, ...]] = ("pairs", "there", "back")

    pairs: Ref
    there: tuple[Ref, ...]
    back: tuple[Ref, ...]
    gold: Path | None = None
    gold_turned: bool = False

    def validate(self) -> None:
        if not self.there or len(self.there) != len(self.back):
            raise ConfigError(
                f"there are {len(self.there)} pairs of the source and {len(self.back)} of the target",
                remedy="For each further language name both: with the source in 'there', with the target in 'back'.",
            )

    def fit(self, folder: Path, context: StageContext) -> dict[str, Json]:
        """Write pairs.tsv; figures: pairs before and after, and with `gold` precision, recall and F1."""
        direct = read_pairs(context.inputs["pairs"])
        names = {pair.source for pair in direct}
        through = []
        for there, back in zip(context.paths("there"), context.paths("back"), strict=True):
            try:
                through.append(turned_as_met(read_pairs(there), read_pairs(back), names))
            except DataError as error:
                raise error.at(file=f"{there} and {back}") from None
        found = agree(direct, through)
        write_document_pairs(folder / PAIRS_FILE, found)
        before = {(pair.source, pair.target) for pair in direct}
        stood = sum((pair.source, pair.target) in before for pair in found)
        figures: dict[str, Json] = {"read": len(direct), "fell": len(before) - stood, "brought": len(found) - stood}
        figures["pairs"] = len(found)
        if self.gold is not None:
            figures |= against_gold(self.gold, self.gold_turned, found)
        return figures


def read_pairs(listed: Path) -> list[NamedPair]:
    """The pairs in a file, or in the artifact of a stage that made some."""
    return read_document_pairs(listed / PAIRS_FILE if listed.is_dir() else listed)


def against_gold(
    gold: Path, turned: bool, found: Iterable[NamedPair], there: tuple[set[str], set[str]] | None = None
) -> dict[str, Json]:
    """Precision, recall and F1; turned: the target's name stands first in the gold.

    there: names of the documents of source and target; true pairs with others do not count.
    """
    true = [(pair.source, pair.target) for pair in read_document_pairs(gold)]
    true = [(b, a) for a, b in true] if turned else true
    if there is not None:
        true = [(a, b) for a, b in true if a in there[0] and b in there[1]]
    figures = score_documents(true, [(pair.source, pair.target) for pair in found])
    return {**{name: round(value, 4) for name, value in figures._asdict().items()}, "gold": len(true)}


def evidence_of(text: str) -> dict[str, float]:
    """Weights of the kinds of evidence that are named, one or several; raises ConfigError for an unknown name.

    >>> evidence_of("words,pictures")
    {'words': 1.0, 'pictures': 0.3}
    """
    weights: dict[str, float] = {}
    for name in (part.strip() for part in text.split(",")):
        if name not in EVIDENCE:
            raise ConfigError(f"there is no evidence '{name}'{nearest(name, list(EVIDENCE))}")
        weights |= EVIDENCE[name]
    return weights
